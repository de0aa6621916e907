"""What a check found: things that hold, things that do not, and what nobody looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from elbowroom.present.screen import Styled
from elbowroom.problem.labels import Category


class Outcome(Enum):
    """What follows from all findings together; the value is its name in JSON."""

    VALID = "valid"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Finding:
    """One thing that was checked. ``good`` is None where nothing could be decided. A remark decides nothing at all: it
    names what was not checked, and ``fields`` the fields of the file that say so."""

    good: bool | None
    what: str
    remark: bool = False
    fields: tuple[str, ...] = ()

    def parts(self) -> tuple[str | Styled, ...]:
        mark, style = {True: ("✓", "green"), False: ("✗", "red"), None: ("·", "yellow")}[self.good]
        return Styled(f"{mark} ", style), self.what

    def as_json(self) -> dict[str, Any]:
        return {"good": self.good, "remark": self.remark, "what": self.what, "fields": list(self.fields)}


def not_checked(what: str, *fields: str) -> Finding:
    return Finding(None, f"not checked: {what}", True, fields)


@dataclass(frozen=True)
class Report:
    """All findings and what follows. ``proven`` is the sentence that the judge proved, where it did, and ``table`` the
    ranges that it refers to."""

    findings: tuple[Finding, ...]
    outcome: Outcome
    conclusion: str
    counterexample: dict[str, Category] | None = None
    proven: str | None = None
    table: str | None = None

    @property
    def holds(self) -> bool | None:
        """True: the claim was proven again; False: it does not hold; None: neither."""
        return {Outcome.VALID: True, Outcome.REFUTED: False}.get(self.outcome)

    def lines(self) -> Iterator[tuple[str | Styled, ...]]:
        """Everything that a terminal shows: the parts of each line."""
        for finding in self.findings:
            yield finding.parts()
        if self.proven is not None:
            yield (f"Proven: {self.proven}",)
        if self.table is not None:
            yield from ((line,) for line in self.table.split("\n"))
        yield (Styled(self.conclusion, "bold"),)

    def as_json(self) -> dict[str, Any]:
        return {
            "holds": self.holds,
            "outcome": self.outcome.value,
            "conclusion": self.conclusion,
            "proven": self.proven,
            "findings": [finding.as_json() for finding in self.findings],
            "counterexample": self.counterexample,
        }


def decide(findings: list[Finding]) -> Outcome:
    """One thing that does not hold refutes; one thing that could not be decided leaves the whole undecided."""
    decisive = [finding.good for finding in findings if not finding.remark]
    return Outcome.REFUTED if False in decisive else Outcome.UNDECIDED if None in decisive else Outcome.VALID
