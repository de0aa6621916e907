"""The closest good ball or diamond on small trees, bracketed by looking at everything.

The model is asked once in every cell of the product of all columns and categories. A centre is good iff every bad cell
within the limits is at least one room away: sum phi(gap_f / axis_f) > 1, phi(g) = g^2 for balls and g for diamonds. Boxes
of centres are halved, nearest box first; a box is out if the room of each of its centres meets one and the same bad
cell. Plain numpy: no learned regions, no bounds over trees, nothing shared with the search but the margins.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from elbowroom.models.margins import tree_margins
from elbowroom.problem import AtMost, RecourseProblem, Shape

SURE = 1e-12  # a good centre keeps this much more than its room, so that rounding plays no part


@dataclass
class Truth:
    """low <= smallest distance <= high; both inf: no good centre exists."""

    low: float
    high: float


@dataclass
class _Cells:
    """All cells of the single columns, as closed boxes of values, and which of them are bad for which category."""

    first: np.ndarray  # (cells, columns)
    last: np.ndarray


def nearest(problem: RecourseProblem, gap: float = 1e-5, most: int = 4000) -> Truth:
    """The bracket, as narrow as ``gap`` unless ``most`` boxes per choice of categories were not enough."""
    if (problem.lower > problem.upper).any():
        return Truth(math.inf, math.inf)
    choices = [_allowed(problem, members) for members in problem.space.members]
    fixed = [g for g in range(len(choices)) if g not in problem.walls.free_groups]
    low = high = math.inf
    for chosen in product(*(choices[g] for g in fixed)):
        rooms = [choices[g] if g not in fixed else [chosen[fixed.index(g)]] for g in range(len(choices))]
        if not all(rooms):
            continue
        center = np.clip(problem.factual, problem.lower, problem.upper)
        for g, room in enumerate(rooms):
            members = problem.space.members[g]
            here = int(np.argmax(problem.factual[members]))
            center[members] = np.eye(members.size)[here if here in room else room[0]]
        found = _closest(problem, center, _bad_cells(problem, rooms), gap, most)
        low, high = min(low, found.low), min(high, found.high)
    return Truth(low, high)


def _allowed(problem: RecourseProblem, members: np.ndarray) -> list[int]:
    every = np.eye(members.size)
    inside = (every >= problem.lower[members]) & (every <= problem.upper[members])
    return [int(c) for c in np.flatnonzero(inside.all(axis=1))]


def _singles(problem: RecourseProblem) -> np.ndarray:
    return np.flatnonzero(problem.space.group_of < 0)


def _bad_cells(problem: RecourseProblem, rooms: list[list[int]]) -> _Cells:
    """Cells of the single columns that hold a bad point for some category of the room."""
    singles, ranges = _singles(problem), []
    for f in singles:
        cuts = problem.model.cuts[f]
        if problem.space.whole_room[f]:
            cuts = np.unique(np.floor(cuts))
            after = cuts + 1.0
        else:
            after = np.nextafter(cuts, np.inf)
        first, last = np.concatenate([[-np.inf], after]), np.concatenate([cuts, [np.inf]])
        ranges.append(
            [(a, b) for a, b in zip(first, last, strict=True) if a <= problem.upper[f] and b >= problem.lower[f]]
        )
    cells = list(product(*ranges))
    first = np.array([[r[0] for r in cell] for cell in cells]).reshape(len(cells), singles.size)
    last = np.array([[r[1] for r in cell] for cell in cells]).reshape(len(cells), singles.size)
    points = np.zeros((len(cells), len(problem.space.names)))
    points[:, singles] = np.where(np.isfinite(last), last, np.where(np.isfinite(first), first, 0.0))
    bad = np.zeros(len(cells), dtype=bool)
    for categories in product(*rooms):
        for g, c in enumerate(categories):
            members = problem.space.members[g]
            points[:, members] = np.eye(members.size)[c]
        bad |= ~_good(problem, points)
    return _Cells(first[bad], last[bad])


def _good(problem: RecourseProblem, points: np.ndarray) -> np.ndarray:
    margins = tree_margins(problem.model, problem.target_index, problem.target.need)
    leaves = problem.model.leaves
    reached = ((leaves.lower < points[:, None]) & (points[:, None] <= leaves.upper)).all(axis=2)
    return (margins.base + reached.astype(float) @ margins.value >= margins.slack).all(axis=1)


def _used(problem: RecourseProblem, cells: _Cells, x: np.ndarray) -> np.ndarray:
    """What the gaps between x and every bad cell use of the room: (cells, columns); infinite without room."""
    singles = _singles(problem)
    gap = np.maximum(0.0, np.maximum(cells.first - x, x - cells.last))
    axis = problem.walls.up[singles]
    ratio = np.where(gap > 0.0, gap / np.where(axis > 0.0, axis, 1.0), 0.0)
    ratio = np.where((axis == 0.0) & (gap > 0.0), np.inf, ratio)
    return np.square(ratio) if problem.walls.shape is Shape.BALL else ratio


def _closest(problem: RecourseProblem, center: np.ndarray, cells: _Cells, gap: float, most: int) -> Truth:
    singles = _singles(problem)
    whole = problem.space.whole_center[singles]
    low, high = _around(problem)
    if (low > high).any():
        return Truth(math.inf, math.inf)

    def at(x: np.ndarray) -> float:
        point = center.copy()
        point[singles] = x
        return problem.measure(point)

    def valid(x: np.ndarray) -> bool:
        point = center.copy()
        point[singles] = x
        moved = int((problem.metric.moves(problem.factual, point) > 0).sum())
        if any(isinstance(rule, AtMost) and moved > rule.changes for rule in problem.rules):
            return False
        return bool((_used(problem, cells, x).sum(axis=1) > 1.0 + SURE).all())

    home = center[singles]
    best, heap, serial = math.inf, [(at(np.clip(home, low, high)), 0, low, high)], 0
    for _ in range(most):
        if not heap:
            return Truth(best, best)
        key, _, low, high = heapq.heappop(heap)
        if key >= best * (1.0 - gap):
            return Truth(min(key, best), best)
        inside = np.maximum(_used(problem, cells, low), _used(problem, cells, high)).sum(axis=1) < 1.0 - SURE
        if inside.any():
            continue
        middle = (low + high) / 2.0
        for x in (np.clip(home, low, high), np.where(whole, np.floor(middle), middle), low, high):
            if at(x) < best and valid(x):
                best = at(x)
        width = (high - low) / np.where(problem.walls.up[singles] > 0.0, problem.walls.up[singles], 1.0)
        f = int(np.argmax(width))
        if not low[f] < middle[f] < high[f] and not (whole[f] and low[f] < high[f]):
            return Truth(min(key, best), best)
        left, right = high.copy(), low.copy()
        left[f] = np.floor(middle[f]) if whole[f] else middle[f]
        right[f] = np.floor(middle[f]) + 1.0 if whole[f] else middle[f]
        for a, b in ((low, left), (right, high)):
            serial += 1
            heapq.heappush(heap, (at(np.clip(home, a, b)), serial, a, b))
    return Truth(min([heap[0][0], best] if heap else [best]), best)


def _around(problem: RecourseProblem) -> tuple[np.ndarray, np.ndarray]:
    """Beyond the outermost cuts and one room everything looks the same: the nearest such centre stands for all."""
    low, high = [], []
    for f in _singles(problem):
        home = float(np.clip(problem.factual[f], problem.lower[f], problem.upper[f]))
        cuts, beyond = problem.model.cuts[f], 1.001 * problem.walls.up[f] + 1e-6
        ends = [home, home]
        if cuts.size:
            ends = [min(home, cuts[0] - beyond), max(home, cuts[-1] + beyond)]
        if problem.space.whole_center[f]:
            ends = [math.floor(ends[0]) - 1.0, math.ceil(ends[1]) + 1.0]
        low.append(max(ends[0], problem.lower[f]))
        high.append(min(ends[1], problem.upper[f]))
    return np.array(low), np.array(high)
