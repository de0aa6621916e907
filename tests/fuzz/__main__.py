"""Hostile inputs by the thousand: ``python -m tests.fuzz [--kind K] [--tries N] [--seed S] [--jobs J] [--only NUMBER]``.

Prints one row per kind and, for each failure, the command that repeats it; the exit code is 1 if there was one.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tests.fuzz.driver import Count, Failure, fuzz, harmless
from tests.fuzz.kinds import KINDS
from tests.fuzz.worker import Task

TRIES = 20_000
SHOWN = 2  # failures of one sort that are printed


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="hostile inputs by the thousand")
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="only this kind; repeat")
    parser.add_argument("--tries", type=int, help=f"of each kind; default {TRIES:,} over all kinds")
    parser.add_argument("--seed", type=int, help="default: another one each time; it is printed")
    parser.add_argument("--new", type=int, default=0, help="of each kind, this many more with a seed of today")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one try alone, as a failure names it")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the files of the tries there")
    given = parser.parse_args(arguments)
    names = given.kind or list(KINDS)
    seed = time.time_ns() % 1_000_000 if given.seed is None else given.seed
    if given.only is not None:
        tasks = [Task(name, seed, range(given.only, given.only + 1)) for name in names]
    else:
        tasks = [Task(name, seed, range(given.tries or round(TRIES * KINDS[name].share))) for name in names]
        other = time.time_ns() % 1_000_000
        tasks += [Task(name, other, range(given.new)) for name in names if given.new]
    begun = time.monotonic()
    counts = fuzz({name: KINDS[name] for name in names}, tasks, given.jobs, given.keep)
    sys.stdout.write(table(counts, seed, time.monotonic() - begun))
    if given.only is not None:
        for name, count in counts.items():
            sys.stdout.writelines(f"{name} {given.only}: {harmless(story)}\n" for story in count.stories)
    return any(count.failures for count in counts.values())


def table(counts: Mapping[str, Count], seed: int, seconds: float) -> str:
    lines = [f"{'kind':<16}{'tries':>8}{'refused':>9}{'accepted':>10}{'failures':>10}{'seconds':>9}"]
    for name, count in counts.items():
        numbers = (
            f"{count.tries:>8}{count.refused:>9}{count.accepted:>10}{len(count.failures):>10}{count.seconds:>9.1f}"
        )
        lines.append(f"{name:<16}{numbers}")
    tries, failures = (sum(c.tries for c in counts.values()), sum(len(c.failures) for c in counts.values()))
    lines.append(f"{tries} tries with seed {seed} in {seconds:.0f} s: {failures} failures")
    for count in counts.values():
        lines += _shown(count.failures)
    return "\n".join(lines) + "\n"


def _shown(failures: list[Failure]) -> list[str]:
    """A few of each sort: a thousand failures have few reasons."""
    sorts: dict[str, list[Failure]] = {}
    for failure in failures:
        sorts.setdefault("".join(filter(str.isalpha, failure.trouble))[:50], []).append(failure)
    lines = []
    for alike in sorts.values():
        lines += map(str, alike[:SHOWN])
        if len(alike) > SHOWN:
            lines.append(f"    and {len(alike) - SHOWN} more of this sort")
    return lines


if __name__ == "__main__":
    sys.exit(main())
