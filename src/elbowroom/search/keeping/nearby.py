"""From a centre that keeps a promise to a closer one: back towards the factual, and from costly columns to helpful ones."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.problem import RecourseProblem
from elbowroom.result.kept import KeptProbability
from elbowroom.search.contract import Clock
from elbowroom.search.keeping.limits import HALVINGS, ROUNDS, STEP


class Judge(Protocol):
    """What is needed of the referee here, or of an estimate in its place."""

    @property
    def center(self) -> Floats | None:
        """The best centre that was taken so far."""

    @property
    def distance(self) -> float:
        """Its distance; inf if there is none."""

    @property
    def least(self) -> float:
        """What a centre has to keep."""

    def chance(self, center: Floats) -> KeptProbability:
        """Bounds on the chance that a slip of this centre keeps its class."""

    def takes(self, center: Floats) -> bool:
        """Ask about a centre; a better one than the best is remembered."""


def closer(problem: RecourseProblem, referee: Judge, clock: Clock) -> None:
    """Offer centres until none is better, or the time is over."""
    for _ in range(ROUNDS):
        before = referee.distance
        _pull(problem, referee, clock)
        _exchange(problem, referee, clock)
        if clock.expired or referee.distance > before * (1.0 - 1e-4):
            return


def slopes(problem: RecourseProblem, referee: Judge, center: Floats, clock: Clock) -> Floats:
    """How much the chance grows when a column moves by one standard deviation, about; 0 where nothing may move."""
    found = np.zeros(center.size)
    for f in _columns(problem):
        if clock.expired:
            break
        step = _step(problem, f)
        ends = []
        for way in (1.0, -1.0):
            other = center.copy()
            other[f] = np.clip(center[f] + way * step, problem.lower[f], problem.upper[f])
            ends.append((other[f], _middle(referee.chance(other))))
        moved = ends[0][0] - ends[1][0]
        found[f] = 0.0 if moved == 0.0 else (ends[0][1] - ends[1][1]) / moved * _unit(problem, f)
    return found


def _columns(problem: RecourseProblem) -> list[int]:
    lower, upper = problem.centers
    return [int(f) for f in np.flatnonzero((problem.space.group_of < 0) & (lower < upper))]


def _unit(problem: RecourseProblem, f: int) -> float:
    return float(problem.spread[f] if problem.spread[f] > 0.0 else problem.space.scale[f])


def _step(problem: RecourseProblem, f: int) -> float:
    step = STEP * _unit(problem, f)
    return max(1.0, float(np.round(step))) if problem.space.whole_center[f] else step


def _middle(kept: KeptProbability) -> float:
    return 0.5 * (kept.lower + kept.upper)


def _accepts(problem: RecourseProblem, referee: Judge, center: Floats) -> bool:
    if not problem.measure(center) < referee.distance:
        return False
    return referee.takes(center)


def _between(problem: RecourseProblem, start: Floats, end: Floats, share: float) -> Floats:
    """A point on the way from start to end; whole columns are rounded towards the start."""
    point = start + share * (end - start)
    rounded = np.where(end > start, np.floor(point), np.ceil(point))
    return np.where(problem.space.whole_center, rounded, point)


def towards(problem: RecourseProblem, referee: Judge, end: Floats, clock: Clock) -> None:
    """As far as possible from the best centre towards a closer point, by bisection."""
    start = referee.center
    if start is None or _accepts(problem, referee, end):
        return
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        if clock.expired:
            return
        middle = 0.5 * (low + high)
        point = _between(problem, start, end, middle)
        low, high = (middle, high) if _accepts(problem, referee, point) else (low, middle)


def _pull(problem: RecourseProblem, referee: Judge, clock: Clock) -> None:
    """All columns together, then one by one, the costliest first."""
    center = referee.center
    if center is None:
        return
    single = problem.space.group_of < 0
    towards(problem, referee, np.where(single, np.clip(problem.factual, *problem.centers), center), clock)
    moves = problem.metric.moves(problem.factual, center)[: center.size]
    for f in np.argsort(-moves, kind="stable"):
        if moves[f] > 0.0 and not clock.expired and referee.center is not None:
            end = referee.center.copy()
            end[f] = np.clip(problem.factual[f], problem.centers[0][f], problem.centers[1][f])
            towards(problem, referee, end, clock)


def _exchange(problem: RecourseProblem, referee: Judge, clock: Clock) -> None:
    """Move the most helpful column a little farther, and all others back as far as that allows."""
    center = referee.center
    if center is None:
        return
    gain = slopes(problem, referee, center, clock)
    cost = np.array([max(problem.metric.factor[f], 1e-300) * _unit(problem, f) for f in range(center.size)])
    for f in np.argsort(-np.abs(gain) / cost, kind="stable")[:2]:
        for steps in (4.0, 1.0):
            if clock.expired or gain[f] == 0.0 or referee.center is None:
                return
            end = np.where(problem.space.group_of < 0, np.clip(problem.factual, *problem.centers), referee.center)
            pushed = referee.center.copy()
            pushed[f] += np.sign(gain[f]) * steps * _step(problem, int(f))
            pushed[f] = end[f] = np.clip(pushed[f], problem.centers[0][f], problem.centers[1][f])
            low, high = 0.0, 1.0
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                point = _between(problem, pushed, end, middle)
                kept = referee.chance(point).lower >= referee.least
                low, high = (middle, high) if kept else (low, middle)
                if clock.remaining <= 0.0:
                    return
            _accepts(problem, referee, _between(problem, pushed, end, low))
