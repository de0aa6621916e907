"""What a kind of hostile input is, and what became of one try."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol


class Verdict(Enum):
    """What the program did with a hostile input."""

    REFUSED = "refused"  # said so, with an exit code or an error in words
    ACCEPTED = "accepted"  # answered, and the answer is true
    FAILED = "failed"  # a traceback, a hang, a spoof, a silent acceptance, a lost file


@dataclass(frozen=True)
class Outcome:
    """One try: what was done to the input, what came of it, and, if it failed, why that is a failure."""

    verdict: Verdict
    story: str
    trouble: str | None = None


def refused(story: str) -> Outcome:
    return Outcome(Verdict.REFUSED, story)


def accepted(story: str) -> Outcome:
    return Outcome(Verdict.ACCEPTED, story)


def failed(story: str, trouble: str) -> Outcome:
    return Outcome(Verdict.FAILED, story, trouble)


class Kind(Protocol):
    """One kind of hostile input. Everything random comes from the given generator, so that a try can be repeated by its
    seed and its number alone."""

    name: str

    def prepare(self, folder: Path) -> None:
        """Make honest inputs, once; ``folder`` is empty and belongs to this kind."""

    def attempt(self, rng: random.Random) -> Outcome: ...
