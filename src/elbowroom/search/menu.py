"""The closest answer with one change, two, three, ..., and the fewest changes near the closest of all.

Let D(k) be the distance of the closest centre with at most k changes, D = D(all columns) that of the closest of all.
More changes are allowed, never demanded, so D(1) >= D(2) >= ... >= D. Hence:

* a bound for k + 1 (or for all) holds for k, and if none exists for k + 1, none exists for k;
* an optimal centre for k + 1 that has at most k changes is optimal for k: nothing needs to be searched;
* with k* the number of changes of a closest centre of all, D(k) = D for k >= k*: k = 1 .. k* - 1 are all there is to ask.

The closest of all comes first, then k* - 1, ..., 1, so that every question starts from the bound of the one before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from elbowroom.problem import AtMost
from elbowroom.result import NoRegion, Region, Status, Step
from elbowroom.result.few import Few
from elbowroom.search.contract import Clock, OnProgress
from elbowroom.search.frontier import INTERRUPTED, Known

WITHOUT_A_FIRST = 3  # so many changes at most are tried where the closest of all was not found


class Ask(Protocol):
    """One question: at most so many changes (None: any number), from what is known, within a number of seconds. A bound
    above ``enough`` says all that is wanted."""

    def __call__(
        self, most: int | None, known: Known, seconds: float, enough: float = math.inf
    ) -> Region | NoRegion: ...


class Until(Clock):
    """A clock that ends when the bound is above ``enough``: whatever exists is too far."""

    def __init__(self, time_limit: float, on_progress: OnProgress | None, nominal: float, enough: float) -> None:
        super().__init__(time_limit, on_progress, nominal)
        self.enough = enough

    def report(
        self,
        lower_bound: float | None = None,
        best_distance: float | None = None,
        certified_radius: float | None = None,
        note: str = "",
    ) -> None:
        super().report(lower_bound, best_distance, certified_radius, note)
        if self.lower_bound > self.enough:
            self.deadline = min(self.deadline, time.perf_counter())


Count = Callable[[Region], int]  # the changes of a region, as AtMost counts them


@dataclass(frozen=True, eq=False)
class Courses:
    """The closest of all, and the answers for at most 1, 2, ... changes."""

    free: Region | NoRegion
    limited: tuple[Region | NoRegion, ...]


def courses(ask: Ask, count: Count, clock: Clock, most: int | None) -> Courses:
    """Half of the time for the closest of all, what is left evenly for the others."""
    free = ask(None, Known(), max(clock.remaining, 0.0) / 2)
    if isinstance(free, Region):
        last = count(free) - 1
        if most is not None:
            last = min(last, most)
    else:
        last = 0 if free.status is Status.NONE_EXISTS else min(most or WITHOUT_A_FIRST, WITHOUT_A_FIRST)
    limited: list[Region | NoRegion] = []
    before = free
    for k in range(last, 0, -1):
        if before.method == INTERRUPTED:
            break
        answer = _from(before, k, count)
        if answer is None:
            bound = max(before.lower_bound, free.lower_bound)
            answer = ask(k, Known(bound), max(clock.remaining, 0.0) / k)
        limited.append(answer)
        before = answer
    return Courses(free, tuple(reversed(limited)))


def report_with(note: str, clock: Clock, on_progress: OnProgress | None) -> OnProgress | None:
    """Progress of one question within the whole: seconds since the start, and a note that names it."""
    if on_progress is None:
        return None

    def tell(step: Step) -> None:
        on_progress(replace(step, seconds=clock.seconds, note=note + (f": {step.note}" if step.note else "")))

    return tell


def _from(before: Region | NoRegion, k: int, count: Count) -> Region | NoRegion | None:
    """What the answer for more changes says about at most k; None if it settles nothing."""
    rules = (*(rule for rule in before.rules if not _is_limit(rule, k)), AtMost(k))
    if isinstance(before, Region):
        settled = before.status is Status.OPTIMAL and count(before) <= k
        return replace(before, rules=rules) if settled else None
    if before.status is not Status.NONE_EXISTS:
        return None
    return replace(before, rules=rules, reason="none exists with more changes, either")


def _is_limit(rule: object, k: int) -> bool:
    return isinstance(rule, AtMost) and rule.changes > k


def fewest(free: Region, ask: Ask, count: Count, clock: Clock, share: float) -> Region:
    """Among the answers within a share of the closest, one with the fewest changes, and the closest of those."""
    limit, changes, proven = (1.0 + share) * free.distance, count(free), True
    chosen = free
    for k in range(1, changes):
        answer = ask(k, Known(free.lower_bound), max(clock.remaining, 0.0) / (changes - k), limit)
        if isinstance(answer, Region) and answer.distance <= limit:
            chosen = answer
            break
        proven = proven and answer.lower_bound > limit
        if answer.method == INTERRUPTED or clock.expired:
            proven = proven and k == changes - 1
            break
    closest = min(
        free, chosen, key=lambda region: region.distance
    )  # within its gap, one with fewer changes may be closer
    few = Few(share, closest.distance, min(free.lower_bound, closest.distance), count(closest), proven)
    return replace(chosen, few=few, seconds=clock.seconds)


def worth_showing(limited: tuple[Region | NoRegion, ...], free: Region | NoRegion, close: float) -> tuple[Region, ...]:
    """Each region that is closer than all those with fewer changes."""
    kept: list[Region] = []
    best = math.inf
    for answer in (*limited, free):
        if isinstance(answer, Region) and answer.distance < best * (1.0 - close):
            kept.append(answer)
            best = answer.distance
    return tuple(kept)
