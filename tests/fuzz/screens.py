"""The oracle of everything that the program prints: its exit code is a documented one, no traceback leaves it, nothing on
the screen obeys the input, and nothing claims validity unless the exit code does."""

from __future__ import annotations

import random
from typing import Final

from elbowroom.present.cli import Exit
from tests.support.hostile_text import lines_of, unsafe_characters
from tests.support.programs import Ran

CODES: Final = frozenset(int(code) for code in Exit) - {
    1,
    130,
}  # nothing here is the machine's fault, and nobody stops it
ENCODINGS: Final = ("utf-8", "utf-8", "utf-8", "utf-8", "ascii", "cp1252", "latin-1", "cp437")


def random_screen(rng: random.Random) -> dict[str, object]:
    """Options of `run_program`: mostly a pipe in UTF-8, sometimes a terminal or an old encoding."""
    return {"encoding": rng.choice(ENCODINGS), "terminal": rng.random() < 0.25}


def trouble_on_screen(ran: Ran, terminal: bool = False) -> str | None:
    """What is wrong with an output, whatever the input was; None if nothing is."""
    if ran.fault is not None:
        lines = ran.fault.strip().splitlines()
        where = [line.strip() for line in lines if line.lstrip().startswith("File ")][-3:]
        return f"traceback: {lines[-1][:200]} from {' | '.join(where)}"
    if "Traceback (most recent call last)" in ran.said:
        return f"traceback on the screen: {ran.said.strip().splitlines()[-1][-200:]}"
    if ran.code not in CODES:
        return f"exit code {ran.code} is not documented"
    unsafe = unsafe_characters(ran.said, colours=terminal)
    if unsafe:
        return f"spoof: {sorted(set(unsafe))!r:.100} on the screen"
    if ran.code != Exit.REGION:
        claims = [line for line in lines_of(ran.said) if line.strip().startswith(("Valid", "✓ every point"))]
        if any(line.strip().startswith("Valid") for line in claims):
            return f"spoof: a line says {claims[0].strip()[:80]!r} with exit code {ran.code}"
    if ran.code == Exit.BAD_INPUT and not ran.said.strip():
        return "silent: exit code 2 without a word"
    if len(ran.said) > 200_000:
        return f"flood: {len(ran.said)} characters on the screen"
    return None
