"""Boxes of centres, and how they are divided."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.models import LinearModel, TreeEnsemble
from elbowroom.models.margins import linear_margins
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import RecourseProblem, allowed_categories
from elbowroom.problem.conditions import Row
from elbowroom.problem.problem import Case
from elbowroom.search.keeping.limits import APART, FAR, NARROW, NEAR


@dataclass(frozen=True, eq=False)
class Part:
    """Centres in [lower, upper]; none of them is closer than ``bound``."""

    bound: float
    lower: Floats
    upper: Floats

    def halves(self, f: int, at: float, whole: bool) -> tuple[Part, Part]:
        """Below and above a value of a column; both have it, unless it is a whole number."""
        first, second = self.upper.copy(), self.lower.copy()
        first[f] = math.floor(at) if whole else at
        second[f] = first[f] + 1.0 if whole else at
        return replace(self, upper=first), replace(self, lower=second)


def nearest(problem: RecourseProblem, part: Part) -> Floats:
    """The point of a part that is closest to the factual; its groups are decided."""
    return np.clip(problem.factual, part.lower, part.upper)


def open_group(problem: RecourseProblem, part: Part) -> Ints | None:
    """The members of a group of which a part has several categories."""
    for members in problem.space.members:
        if not (part.lower[members] == part.upper[members]).all():
            return members
    return None


def by_category(part: Part, members: Ints) -> list[Part]:
    """One part for each category."""
    made = []
    for k in np.flatnonzero(allowed_categories(part.lower[members], part.upper[members])):
        lower, upper = part.lower.copy(), part.upper.copy()
        lower[members] = upper[members] = np.eye(members.size)[k]
        made.append(Part(part.bound, lower, upper))
    return made


def within_distance(problem: RecourseProblem, part: Part, distance: float) -> Part:
    """What a part has within a distance of the factual; a part of a prescribed size around it where that is unknown."""
    lower, upper = part.lower.copy(), part.upper.copy()
    for f in map(int, np.flatnonzero(problem.space.group_of < 0)):
        down, up = (_reach(problem, f, way, distance) for way in (-1.0, 1.0))
        if problem.space.whole_center[f]:
            down, up = math.ceil(down), math.ceil(up)
        lower[f] = max(lower[f], problem.factual[f] - down)
        upper[f] = min(upper[f], problem.factual[f] + up)
    return replace(part, lower=np.minimum(lower, upper), upper=upper)


def _reach(problem: RecourseProblem, f: int, way: float, distance: float) -> float:
    """A move of one column that costs at least the distance by itself, or the farthest that is looked at."""
    far = FAR * float(problem.space.scale[f])
    if not math.isfinite(distance):
        return far
    move, column = float(problem.space.scale[f]), np.array([f])
    now = problem.factual[column]
    while problem.metric.costs(column, now, now + way * move)[0] < distance:
        move *= 2.0
        if move > 2.0**20 * far:
            return math.inf  # it costs nothing
    return move


def asked_in(problem: RecourseProblem, part: Part, rows: tuple[Row, ...]) -> RecourseProblem:
    """The question without its promise, within a part and with rows that the promise needs."""
    conditions = replace(problem.conditions, rows=(*problem.conditions.rows, *rows))
    return replace(problem, keeps=None, case=Case(part.lower, part.upper, conditions, problem.metric))


def divided(problem: RecourseProblem, part: Part, center: Floats | None, influence: Floats) -> tuple[Part, ...]:
    """Two halves, across the column in which centres of the part differ most; none if they hardly differ."""
    model = problem.model
    if isinstance(model, LinearModel):
        return _divided_linear(problem, model, part, nearest(problem, part) if center is None else center)
    width = part.upper - part.lower
    unit = np.where(problem.spread > 0.0, problem.spread, problem.space.scale)
    worth = np.where(problem.space.group_of < 0, width / unit, 0.0) * influence
    if isinstance(model, TreeEnsemble):
        worth = np.where([c.size > 0 for c in model.cuts[: worth.size]], worth, 0.0)
    f = int(np.argmax(worth))
    if not worth[f] > NARROW:
        return ()
    return part.halves(f, 0.5 * (part.lower[f] + part.upper[f]), bool(problem.space.whole_center[f]))


def _divided_linear(problem: RecourseProblem, model: LinearModel, part: Part, center: Floats) -> tuple[Part, ...]:
    """Across the column whose clipped slips are the most optimistic at the corner that stands for the part."""
    weight = linear_margins(model, problem.target_index, problem.target.need).affine.weight
    best, gain, place = -1, 0.0, 0.0
    for f in map(int, np.flatnonzero((problem.spread > 0.0) & (part.lower < part.upper))):
        for w in weight[:, f]:
            if w == 0.0:
                continue
            corner = part.lower[f] if w > 0.0 else part.upper[f]
            more = abs(w) * abs(_mean_slip(problem, f, corner) - _mean_slip(problem, f, center[f]))
            if more > gain:
                away = min(abs(center[f] - corner) / 2.0, NEAR * problem.spread[f])
                at = center[f] - math.copysign(away, center[f] - corner)
                best, gain, place = f, more, at
    if best < 0 or gain <= APART * float(np.abs(weight).max(axis=0) @ problem.spread):
        return ()
    whole = bool(problem.space.whole_center[best])
    if whole:
        place = min(max(math.floor(place), part.lower[best]), part.upper[best] - 1.0)
    return part.halves(best, place, whole)


def _mean_slip(problem: RecourseProblem, f: int, center: float) -> float:
    """The mean of a clipped normal slip (of whole columns, about that)."""
    from scipy.special import ndtr

    sigma = problem.spread[f]
    low, high = (problem.lower[f] - center) / sigma, (problem.upper[f] - center) / sigma
    density = np.exp(-0.5 * np.square([low, high])) / math.sqrt(2.0 * math.pi)
    ends = (low * ndtr(low) if np.isfinite(low) else 0.0) + (high * ndtr(-high) if np.isfinite(high) else 0.0)
    return float(sigma * (density[0] - density[1] + ends))
