"""The first good region, soon: descents that aim at rooms which are easy to judge, then lower and lower aims.

A room with margin to spare takes the judge milliseconds, one that touches the boundary may take minutes. So the first aim is
a tenth of the margin that the factual lacks. What the judge cannot decide in a moment raises the aim, by what it was short
of; what it refutes teaches a scenario. From the first region on the aim falls with every success, but stays between what was
proven and what was left open, because wide networks need rooms with many times the usual margin. The best centre is kicked: half
of its moves are taken back, or one of them, or all shrink and a random one comes.
"""

from __future__ import annotations

import math

import numpy as np

from elbowroom.numerics import Bools, Floats
from elbowroom.result import Certificate, Counterexample, Undecided
from elbowroom.search.contract import LOOKS_PER_SECOND
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.limits import MANY_ATTEMPTS
from elbowroom.search.network.penalty import Penalty
from elbowroom.search.network.scan import scan

_AIM, _LEAST_AIM, _LARGEST_AIM = 0.1, 1e-3, 0.3  # shares of the margin that the factual lacks
_MOMENT, _LONGER, _LONGEST = (
    0.05,
    0.2,
    2.0,
)  # seconds, nominally, for a verdict: before the first region, after it, at most
_SHORT_VERDICT, _PATIENCE = (
    0.4,
    0.5,
)  # seconds of a verdict that is always affordable; share of the limit for all others
_PENDING = 3  # undecided centres that the judge is asked about again at the end
_SURPRISED, _OPEN, _WIDE_OPEN, _SHORT = 1.3, 1.6, 4.0, 0.4  # growth of aims: refuted, undecided at least and at most
_LOWER, _HIGHER, _PATIENT = 0.6, 1.5, 1.3  # aims after a success and after a failure; seconds after a failure
_FORGETTING = 0.9  # aims that were too hard, after a success
_NEARER = 1e-3  # least relative gain that is worth a verdict
_FIRST_ROUNDS, _ROUNDS, _OFFERED_ROUNDS = 25, 30, 6
_TIGHT = 8  # scenarios that are handed on
_RANDOM_MOVES = 3.0  # in a kick, on average


class FirstRegions:
    """Descents, verdicts and kicks of one question; goes on where it stopped."""

    def __init__(self, search: NetworkSearch) -> None:
        self.search, self.moves = search, search.moves
        self.penalty = Penalty(search)
        self.aim, self.seconds = _AIM, _LONGER
        self.good, self.hard = _AIM, 0.0  # aims: the last one whose room was proven, the last one that was left open
        self.kicks = self.failures = self.attempts = 0
        self.waiting: list[Floats] = []
        self._open = -np.inf  # what the judge reached when it could not decide, in the unit of aims; -inf: it decided

    def run(self, starts: int = 4, attempts: int = MANY_ATTEMPTS) -> bool:
        """Until there is a first region, or so many attempts have failed; True if there is one. ``starts``: of descents, besides
        the row itself."""
        search, low = self.search, self.moves.low
        if not self.moves.size:
            return search.best is not None
        self._try(low, first=True)
        ends = []
        for start in scan(self.penalty, self.aim * self.penalty.missing, starts):
            end = self._descend(start, self.aim, _FIRST_ROUNDS)
            if end is not None:
                ends.append(end)
        ends.sort(key=self.moves.measure)
        for end in ends[:3]:
            self.offer(end, _MOMENT)
        self.waiting += ends
        self.go_on(attempts)
        if search.best is not None:
            self._aim_lower()
        return search.best is not None

    def go_on(self, most: int = MANY_ATTEMPTS) -> None:
        """Attempts with other aims and starts, until there is a region; ``most`` counts those of earlier calls."""
        search, low = self.search, self.moves.low
        while search.best is None and self.attempts < most and low.size and not search.clock.expired:
            self.attempts += 1
            attempts = self.attempts
            if self.waiting:
                short = min(_WIDE_OPEN * self.aim, self.aim - _SHORT * self._open) if self._open > -np.inf else 0.0
                self.aim = max(_OPEN * self.aim, short) if self._open > -np.inf else _SURPRISED * self.aim
                start = self.waiting[attempts % len(self.waiting)]
            else:
                spread = search.rng.normal(0.0, self.penalty.length * (0.5 + attempts), low.size)
                few = search.rng.random(low.size) < max(0.2, 2.0 / low.size)
                start = np.clip(low + np.abs(spread) * few, low, self.moves.high)
            hard = self.aim
            self._try(start, min(1 + attempts // 4, _SHORT_VERDICT / _MOMENT))
            if search.best is None:
                self.hard = hard

    def _try(self, start: Floats, times: float = 1.0, first: bool = False) -> None:
        end = self._descend(start, self.aim, _FIRST_ROUNDS)
        if end is not None:
            self.waiting.append(end)
            if first or self.search.best is None:
                self.offer(end, _MOMENT * times)

    def improve(self, kicks: int) -> bool:
        """Kick the best centre so many times; True if it got nearer."""
        search, before = self.search, self.search.best_distance
        for _ in range(kicks):
            if search.best is None or search.clock.expired:
                break
            self._kick()
        return search.best_distance < before

    def _kick(self) -> None:
        search, moves, rng = self.search, self.moves, self.search.rng
        assert search.best is not None
        v = moves.of_center(search.best)
        moved = np.flatnonzero(v > moves.low)
        mode, self.kicks = self.kicks % 4, self.kicks + 1
        if mode == 1:
            back = moved[rng.random(moved.size) < 0.5]
            v[back] = moves.low[back]
        elif mode == 2 and moved.size:
            one = rng.choice(moved)
            v[one] = moves.low[one]
        elif mode == 3:
            added = np.where(rng.random(v.size) < _RANDOM_MOVES / v.size, np.abs(rng.normal(0.0, 0.5, v.size)), 0.0)
            v = v * rng.uniform(0.3, 0.9) + search.best_distance * added
        elif self.kicks > 8 and self.waiting:
            v = self.waiting.pop(0)
        end = self._descend(np.clip(v, moves.low, moves.high), self.aim, _ROUNDS)
        if end is not None and moves.measure(end) < search.best_distance * (1.0 - _NEARER):
            if self.offer(end, self.seconds):
                self.failures = 0
                self._aim_lower()
            else:
                self.hard = self.aim
                self.aim = min(_HIGHER * self.aim, max(math.sqrt(self.aim * self.good), _LARGEST_AIM))
                self.seconds = min(_PATIENT * self.seconds, _LONGEST)
                self.failures += 1
        else:
            self.failures += 1
            if mode == 0:
                self.aim = max(_LOWER * self.aim, _LEAST_AIM)

    def _aim_lower(self) -> None:
        """After a success: lower, but not to where the judge was lost a moment ago."""
        self.good = self.aim
        self.aim = max(_LOWER * self.aim, math.sqrt(self.hard * self.aim), _LEAST_AIM)
        self.hard *= _FORGETTING

    def settle(self, v: Floats) -> bool:
        """A relaxed answer of a lower bound: a short descent with little to spare, then the judge."""
        end = self._descend(v, max(3.0 * _LEAST_AIM, 0.1 * self.aim), _OFFERED_ROUNDS)
        return end is not None and self.offer(end, _LONGER)

    def _descend(self, v: Floats, aim: float, rounds: int) -> Floats | None:
        """The end of a descent, if no attack breaks it."""
        end, value = self.penalty.descend(v, aim * self.penalty.missing, rounds)
        most = self.moves.most_changes
        if most is not None and value > 0.0:
            allowed = self._largest(end, most)
            if (end > self.moves.low)[~allowed].any():
                start = np.where(allowed, end, self.moves.low)
                end, value = self.penalty.descend(start, aim * self.penalty.missing, rounds, allowed)
        return end if value > 0.0 else None

    def _largest(self, v: Floats, most: int) -> Bools:
        """The moves of the ``most`` blocks that move farthest, forced ones first."""
        moves = self.moves
        size = np.bincount(moves.block, v + 1e9 * (moves.low > 0.0), minlength=moves.n_blocks)
        chosen = np.argsort(-size, kind="stable")[:most]
        return np.isin(moves.block, chosen)

    def offer(self, v: Floats, seconds: float) -> bool:
        """Ask the judge, for a number of looks; True if the best got nearer."""
        search, center = self.search, self.moves.center(v)
        if search.problem.measure(center) >= search.best_distance or not search.problem.admissible(center):
            return False
        nominal = search.clock.nominal
        patience = max(_PATIENCE * nominal - search.undecided_looks / LOOKS_PER_SECOND, _SHORT_VERDICT)
        looks = LOOKS_PER_SECOND * min(seconds, patience, max(0.1 * nominal, _MOMENT))
        verdict = search.ask(center, looks)
        self._open = -np.inf
        match verdict:
            case Certificate():
                return True
            case Counterexample():
                self.penalty.pool.add(center, verdict.point)
            case Undecided():
                search.undecided = verdict.reason
                search.undecided_looks += looks
                if search.best is None:
                    search.pending = [center, *search.pending][:_PENDING]
                reached = verdict.reached / (search.size * self.penalty.missing)
                self._open = min(reached, 0.0) if np.isfinite(reached) else 0.0
        return False

    def hand_on(self) -> None:
        """The scenarios that are tight at the best centre join those of the exact search."""
        search, pool = self.search, self.penalty.pool
        center = search.best if search.best is not None else self.moves.center(self.moves.low)
        Y = pool.points(center)
        for i in np.argsort(search.network.worst(Y), kind="stable")[:_TIGHT]:
            search.scenarios.add(center, Y[i])
