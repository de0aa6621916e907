"""The closest good box on small trees, found by looking at everything.

Every column (or one-hot group) is an axis. Its cells are listed, the model is asked once in every cell of the product,
and every centre from a finite list of candidates is tried; bad cells under a box are counted with a summed-area table.
Candidate centres come from exact rational arithmetic, rooms from `RecourseProblem.body`. Plain numpy, no search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TypeAlias

import numpy as np

from elbowroom.models.margins import tree_margins
from elbowroom.problem import AtMost, Distance, Feature, RecourseProblem
from elbowroom.problem.on import On


@dataclass
class Axis:
    """Sample values of all cells, and candidate centres with their move and the range of cells of their room."""

    columns: np.ndarray
    samples: np.ndarray  # (cells, columns)
    centers: np.ndarray  # (candidates, columns)
    moves: np.ndarray  # (candidates,) weighted length of the move
    changed: np.ndarray  # (candidates,) whether the centre differs from the factual at all
    first: np.ndarray  # (candidates,) cells that the room covers
    final: np.ndarray
    always: np.ndarray | None = None  # cells of a free group that every room covers


Good: TypeAlias = Callable[[np.ndarray], np.ndarray]  # which of the points are good


def closest(
    problem: RecourseProblem,
    good_points: Good | None = None,
    *,
    more: Mapping[int, Sequence[float]] | None = None,
    obeys: Callable[[np.ndarray], bool] | None = None,
) -> float:
    """The smallest distance of a centre whose whole box is good; inf if there is none. What is good is said by the margins
    of what can be proven, unless somebody else is asked, such as the model's own predict. Rules besides `AtMost` need
    further candidates (``more``, by column) and somebody who says which centres obey them."""
    if (problem.lower > problem.upper).any():
        return math.inf
    axes = _axes(problem, more or {})
    if any(len(a.centers) == 0 for a in axes):
        return math.inf
    shape = tuple(len(a.samples) for a in axes)
    points = np.zeros((math.prod(shape), len(problem.space.names)))
    for axis, index in zip(axes, np.unravel_index(np.arange(len(points)), shape), strict=True):
        points[:, axis.columns] = axis.samples[index]
    good = (provable(problem, points) if good_points is None else good_points(points)).reshape(shape)
    for i, axis in enumerate(axes):
        if axis.always is not None:
            good = np.take(good, axis.always, axis=i).all(axis=i, keepdims=True)
    table = np.zeros(tuple(n + 1 for n in good.shape), dtype=np.int64)
    table[(slice(1, None),) * good.ndim] = ~good
    for i in range(good.ndim):
        table = table.cumsum(axis=i)
    bad = np.zeros(tuple(len(a.centers) for a in axes), dtype=np.int64)
    for corner in product((0, 1), repeat=len(axes)):
        index = [a.first if side else a.final + 1 for a, side in zip(axes, corner, strict=True)]
        bad += (-1) ** sum(corner) * table[np.ix_(*index)]
    shape = bad.shape
    moves = [a.moves.reshape([-1 if i == j else 1 for j in range(len(axes))]) for i, a in enumerate(axes)]
    match problem.distance:
        case Distance.L1:
            total = sum(moves, np.zeros(shape))
        case Distance.L2:
            total = np.sqrt(sum((m**2 for m in moves), np.zeros(shape)))
        case Distance.LINF:
            total = np.zeros(shape)
            for m in moves:
                total = np.maximum(total, m)
    allowed = bad == 0
    for rule in problem.rules:
        if not isinstance(rule, AtMost):
            assert obeys is not None
            continue
        counts = [a.changed.reshape([-1 if i == j else 1 for j in range(len(axes))]) for i, a in enumerate(axes)]
        allowed &= sum((c.astype(int) for c in counts), np.zeros(shape, dtype=int)) <= rule.changes
    if obeys is None:
        return float(total[allowed].min()) if allowed.any() else math.inf
    found = np.argwhere(allowed)
    for place in found[np.argsort(total[allowed], kind="stable")]:
        center = np.zeros(len(problem.space.names))
        for axis, i in zip(axes, place, strict=True):
            center[axis.columns] = axis.centers[i]
        if obeys(center):
            return float(total[tuple(place)])
    return math.inf


def _axes(problem: RecourseProblem, more: Mapping[int, Sequence[float]]) -> list[Axis]:
    axes = [_single(problem, f, more.get(f)) for f in range(len(problem.space.names)) if problem.space.group_of[f] < 0]
    return axes + [_group(problem, g) for g in range(len(problem.space.groups))]


def _single(problem: RecourseProblem, f: int, more: Sequence[float] | None) -> Axis:
    whole = bool(problem.space.whole_center[f])
    cuts = np.unique(np.floor(problem.model.cuts[f]) if whole else problem.model.cuts[f])
    after = cuts[-1:] + 1.0 if whole else np.nextafter(cuts[-1:], np.inf)
    samples = np.concatenate([cuts, after]) if cuts.size else problem.factual[f : f + 1]
    lower, upper = problem.lower[f], problem.upper[f]
    down, up = problem.walls.down[f], problem.walls.up[f]
    home = float(np.clip(problem.factual[f], lower, upper))
    centers = {home}
    for t in cuts:
        right = [
            c
            for c in _near(t + down, whole)
            if Fraction(c) - Fraction(down) > Fraction(t) and (c >= home or more is not None)
        ]
        left = [c for c in _near(t - up, whole) if _left(c, up, t, whole) and (c <= home or more is not None)]
        centers |= {min(right)} if right else set()
        centers |= {max(left)} if left else set()
    if problem.walls.on is not On.ALL:
        centers = _many(problem, f, centers, cuts, whole)
    centers |= {float(c) + 0.0 for c in more or () if not whole or c == math.floor(c)}
    inside = np.array(sorted(c for c in centers if lower <= c <= upper))
    first, final = [], []
    for c in inside:
        center = np.clip(problem.factual, problem.lower, problem.upper)
        center[f] = c
        body = problem.body(center)
        first.append(int((cuts < body.lower[f]).sum()))
        final.append(int((cuts < body.upper[f]).sum()))
    moves = np.array([price_of(problem.space.features[f], float(problem.factual[f]), float(c)) for c in inside])
    changed = inside != problem.factual[f]
    return Axis(np.array([f]), samples[:, None], inside[:, None], moves, changed, np.array(first), np.array(final))


def _many(problem: RecourseProblem, f: int, centers: set[float], cuts: np.ndarray, whole: bool) -> set[float]:
    """Everything near a cut, near a room's width from one, and near the least change; what on="kept" forbids is left out."""
    factual, down, up = float(problem.factual[f]), float(problem.walls.down[f]), float(problem.walls.up[f])
    lower, upper = float(problem.lower[f]), float(problem.upper[f])
    around = {c for t in cuts if np.isfinite(t) for x in (t, t + down, t - up) for c in _near(float(x), whole)}
    around |= {c for x in (factual, *(factual + s * w for s in (-1, 1) for w in (down, up))) for c in _near(x, whole)}
    around |= centers | {x for x in (lower, upper) if math.isfinite(x)}
    if problem.walls.on is On.CHANGED or not lower <= factual <= upper:
        return around
    least = Fraction(max(down, up))

    def is_far(c: float) -> bool:
        """At least the room away, or the last float that is not farther."""
        beyond = math.nextafter(c, math.copysign(math.inf, c - factual))
        return abs(Fraction(c) - Fraction(factual)) >= least or (
            not whole and abs(Fraction(beyond) - Fraction(factual)) > least
        )

    return {c for c in around if c == factual or (math.isfinite(c) and is_far(c))}


def price_of(feature: Feature, factual: float, value: float) -> float:
    """What a column costs: each piece of the move at its own price, or the share of rows that it passes, and the change."""
    move = value - factual
    if feature.percentiles is not None:
        return feature.weight * (
            abs(_share(feature, value) - _share(feature, factual)) + (move != 0) * feature.price_change
        )
    slopes = feature.price_up if move > 0 else feature.price_down
    pairs = ((0.0, slopes),) if isinstance(slopes, float) else slopes
    ends = [start for start, _ in pairs[1:]] + [math.inf]
    long = sum(slope * max(0.0, min(abs(move), end) - start) for (start, slope), end in zip(pairs, ends, strict=True))
    return feature.weight * (long / feature.scale + (move != 0) * feature.price_change)


def _share(feature: Feature, x: float) -> float:
    """The share of rows below x, straight on beyond the data."""
    assert feature.percentiles is not None
    values, shares = zip(*feature.percentiles, strict=True)
    average = (shares[-1] - shares[0]) / (values[-1] - values[0])
    return float(np.interp(x, values, shares)) + average * (max(0.0, x - values[-1]) - max(0.0, values[0] - x))


def _left(center: float, up: float, cut: float, whole: bool) -> bool:
    """True if no value of the room lies above the cut."""
    edge = Fraction(center) + Fraction(up)
    return math.floor(edge) <= cut if whole else edge < Fraction(float(np.nextafter(cut, np.inf)))


def _near(x: float, whole: bool) -> list[float]:
    if whole:
        return [float(math.floor(x) + k) for k in range(-3, 4)]
    found = [x]
    for _ in range(4):
        found = [float(np.nextafter(found[0], -np.inf)), *found, float(np.nextafter(found[-1], np.inf))]
    return found


def _group(problem: RecourseProblem, g: int) -> Axis:
    members = problem.space.members[g]
    samples = np.eye(members.size)
    allowed = [
        c
        for c in range(members.size)
        if ((samples[c] >= problem.lower[members]) & (samples[c] <= problem.upper[members])).all()
    ]
    price = problem.space.groups[g].weight
    moves = np.array([0.0 if (samples[c] == problem.factual[members]).all() else price for c in allowed])
    if g in problem.walls.free_groups:
        zeros = np.zeros(len(allowed), dtype=int)
        return Axis(members, samples, samples[allowed], moves, moves > 0, zeros, zeros, np.array(allowed, dtype=int))
    cells = np.array(allowed, dtype=int)
    return Axis(members, samples, samples[allowed], moves, moves > 0, cells, cells)


def provable(problem: RecourseProblem, points: np.ndarray) -> np.ndarray:
    """Points whose margins reach their slack."""
    margins = tree_margins(problem.model, problem.target_index, problem.target.need)
    leaves = problem.model.leaves
    total = np.zeros((len(points), margins.base.size))
    for row in range(0, len(points), 500):
        x = points[row : row + 500, None]
        reached = ((leaves.lower < x) & (x <= leaves.upper)).all(axis=2)
        total[row : row + 500] = margins.base + reached.astype(float) @ margins.value
    return (total >= margins.slack).all(axis=1)
