"""The judge of questions that promise a probability: the room as ever, and what slips of the centre keep."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np

from elbowroom.certify.kept import kept_probability, slip_of
from elbowroom.certify.kept_needs import Needed, Needs
from elbowroom.certify.slips import Slip
from elbowroom.explainer.attempt import CertifyingReferee
from elbowroom.models import ReluNetwork
from elbowroom.numerics import Floats
from elbowroom.problem.conditions import Row
from elbowroom.result import Certificate, KeptProbability, Undecided, Verdict

TOLERANCE: Final = 1e-3  # between the bounds that an answer reports
CLOSE: Final = 1e-7  # between bounds that decide about a candidate
SECONDS: Final = 2.0  # for the bounds of one candidate, at most
SHARE: Final = 0.2  # of the time that is left: networks need thousands of cells for one candidate
MOMENTS: Final = 0.2  # seconds for the bounds of a network's answer where the time limit has passed
LAST: Final = 5.0  # for those of the answer


@dataclass
class KeepingReferee(CertifyingReferee):
    """Accepts a centre if its room is certified and its promise is proven; ``kept`` are the bounds of the best one."""

    kept: KeptProbability | None = None
    _known: dict[bytes, KeptProbability] = field(default_factory=dict)

    @property
    def probability(self) -> float:
        assert self.problem.keeps is not None
        return self.problem.keeps.probability

    def __call__(self, center: Floats, looks: float = np.inf, /) -> Verdict:
        """Judge a candidate: first what is cheaper to refuse."""
        center = np.asarray(center, dtype=np.float64) + 0.0
        if self.problem.why_outside(center) is None:
            kept = self.chance(center)
            if kept.lower < self.probability:
                most = f"at most {kept.upper:.6g}" if kept.upper < self.probability else f"{kept.lower:.6g}, as proven"
                return Undecided(f"a slip keeps the class with a probability of {most}, not {self.probability:g}")
        before = self.distance
        verdict = super().__call__(center, looks)
        if isinstance(verdict, Certificate) and self.distance < before:
            self.kept = self.chance(center)
        return verdict

    @property
    def least(self) -> float:
        """What a centre has to keep: what was promised."""
        return self.probability

    def takes(self, center: Floats) -> bool:
        """Whether a candidate is accepted."""
        return isinstance(self(center), Certificate)

    def chance(self, center: Floats) -> KeptProbability:
        """Bounds that decide, if time allows, whether the promise is kept around this centre."""
        key = (center + 0.0).tobytes()
        if key not in self._known:
            left = self.clock.remaining * (SHARE if isinstance(self.problem.model, ReluNetwork) else 1.0)
            seconds = min(SECONDS, max(left, 0.05))
            slip = slip_of(self.problem, center)
            self._known[key] = kept_probability(
                self.problem.model, self.problem.target, slip, None, CLOSE, seconds, self.probability,
                self._needs.tree_margins,
            )  # fmt: skip
        return self._known[key]

    def needs(self, lower: Floats, upper: Floats) -> tuple[Row, ...] | None:
        """Rows that every centre of a box obeys that keeps the promise; None: no centre of it does."""
        found = self._needs.of_box(lower, upper, self.probability, self._deadline)
        return None if found is None else _rows(found)

    def rows_at(self, center: Floats, raised: float) -> tuple[Row, ...]:
        """What margins with the slips of this centre need to keep a promise that is raised by so much."""
        least = min(self.probability + raised, 0.5 + 0.5 * self.probability)
        return _rows(self._needs.rows(center, center, least, self._deadline))

    @property
    def _deadline(self) -> float:
        return time.perf_counter() + max(self.clock.remaining, 0.05)

    @cached_property
    def _needs(self) -> Needs:
        problem = self.problem
        limits = problem.lower, problem.upper, problem.space.whole_room
        return Needs(problem.model, problem.target, problem.spread, *limits)

    def final(self, seconds: float = np.inf) -> KeptProbability | None:
        """The bounds of the answer, as close as bounds that are asked for by themselves."""
        if self.certificate is None or self.kept is None:
            return None
        body, kept = self.certificate.body, self.kept
        slip = slip_of(self.problem, body.center)
        known = kept.upper - kept.lower <= TOLERANCE
        network = isinstance(self.problem.model, ReluNetwork)
        left = max(self.clock.remaining, MOMENTS) if network else LAST
        closer = kept if network and known else self._bounds(slip, min(left, LAST, seconds))
        lower, upper = max(closer.lower, kept.lower), min(closer.upper, kept.upper)
        reason = closer.reason if upper - lower > TOLERANCE else ""
        return replace(closer, lower=lower, upper=upper, inside=slip.inside(body), reason=reason)

    def _bounds(self, slip: Slip, seconds: float) -> KeptProbability:
        return kept_probability(self.problem.model, self.problem.target, slip, None, TOLERANCE, seconds)


def _rows(found: Needed) -> tuple[Row, ...]:
    return tuple(Row(a, least, np.inf, "the promised probability") for a, least in found)
