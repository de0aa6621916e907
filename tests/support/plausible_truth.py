"""The closest plausible box on small trees, found by looking at everything.

Every column gets the cuts of all ensembles, every candidate centre that any of them (in the room, or at the centre alone) makes
worth looking at, and every cell of the product is asked once. Plain numpy; the engine's code is not used.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from elbowroom.models import TreeEnsemble
from elbowroom.models.margins import tree_margins
from elbowroom.problem import Distance, RecourseProblem
from elbowroom.problem.further import Further


def good(model: TreeEnsemble, index: int, need: object, points: np.ndarray) -> np.ndarray:
    """Points whose margins reach their slack."""
    margins = tree_margins(model, index, need)  # type: ignore[arg-type]
    leaves = model.leaves
    total = np.zeros((len(points), margins.base.size))
    for row in range(0, len(points), 500):
        x = points[row : row + 500, None]
        reached = ((leaves.lower < x) & (x <= leaves.upper)).all(axis=2)
        total[row : row + 500] = margins.base + reached.astype(float) @ margins.value
    return np.asarray((total >= margins.slack).all(axis=1))


def closest_plausible(problem: RecourseProblem) -> float:
    """The smallest distance of an allowed centre; inf if there is none."""
    if (problem.lower > problem.upper).any():
        return math.inf
    further = problem.conditions.further
    axes = [_single(problem, f, further) for f in range(len(problem.space.names)) if problem.space.group_of[f] < 0]
    axes += [_group(problem, g) for g in range(len(problem.space.groups))]
    best = math.inf
    for choice in product(*axes):
        center = np.zeros(len(problem.space.names))
        for columns, values in choice:
            center[columns] = values
        distance = problem.measure(center)
        if distance >= best:
            continue
        at_center = [each for each in further if not each.everywhere]
        if not all(_holds(each, center[None]) for each in at_center):
            continue
        points = _points(problem, center, further)
        if not good(problem.model, problem.target_index, problem.target.need, points).all():  # type: ignore[arg-type]
            continue
        if all(_holds(each, points) for each in further if each.everywhere):
            best = distance
    return best


def _holds(each: Further, points: np.ndarray) -> bool:
    return bool(good(each.model, each.target.index(each.model.info), each.target.need, points).all())


def _cuts(problem: RecourseProblem, f: int, further: tuple[Further, ...]) -> np.ndarray:
    models = [problem.model, *(each.model for each in further)]
    return np.unique(np.concatenate([model.cuts[f] for model in models]))  # type: ignore[union-attr]


def _single(problem: RecourseProblem, f: int, further: tuple[Further, ...]) -> list[tuple[np.ndarray, np.ndarray]]:
    """All floats near an end of the room, or of the point, at a cut."""
    whole, lower, upper = bool(problem.space.whole_center[f]), problem.lower[f], problem.upper[f]
    home = float(np.clip(problem.factual[f], lower, upper))
    found = {home}
    for t in _cuts(problem, f, further):
        for edge in (t, t + problem.walls.down[f], t - problem.walls.up[f]):
            if whole:
                found |= {float(math.floor(edge) + k) for k in (-2, -1, 0, 1, 2)}
            else:
                around = [edge]
                for _ in range(3):
                    around = [np.nextafter(around[0], -np.inf), *around, np.nextafter(around[-1], np.inf)]
                found |= {float(v) for v in around}
    kept = sorted(v for v in found if lower <= v <= upper)
    # of neighbours that see the same cells, the nearest to home is enough
    seen: dict[tuple[int, ...], float] = {}
    cuts = _cuts(problem, f, further)
    for value in sorted(kept, key=lambda v: abs(v - home)):
        center = np.clip(problem.factual, problem.lower, problem.upper)
        center[f] = value
        body = problem.body(center)
        key = tuple(int((cuts < e).sum()) for e in (body.lower[f], value, body.upper[f]))
        seen.setdefault(key, value)
    return [(np.array([f]), np.array([value])) for value in seen.values()]


def _group(problem: RecourseProblem, g: int) -> list[tuple[np.ndarray, np.ndarray]]:
    members = problem.space.members[g]
    found = []
    for category in np.eye(members.size):
        if ((category >= problem.lower[members]) & (category <= problem.upper[members])).all():
            found.append((members, category))
    return found


def _points(problem: RecourseProblem, center: np.ndarray, further: tuple[Further, ...]) -> np.ndarray:
    """A point of every cell of the room."""
    body = problem.body(center)
    axes = []
    for f in range(center.size):
        if problem.space.group_of[f] >= 0:
            continue
        cuts = _cuts(problem, f, further)
        inside = cuts[(cuts >= body.lower[f]) & (cuts < body.upper[f])]
        values = [body.lower[f], body.upper[f], center[f]]
        values += [math.floor(c) + 1.0 if body.whole[f] else float(np.nextafter(c, np.inf)) for c in inside]
        axes.append([([f], np.array([v])) for v in sorted(set(values)) if body.lower[f] <= v <= body.upper[f]])
    for g, members in enumerate(problem.space.members):
        categories = [center[members]]
        if g in problem.walls.free_groups:
            categories = [
                c for c in np.eye(members.size) if (c <= body.upper[members]).all() and (c >= body.lower[members]).all()
            ]
        axes.append([(members, c) for c in categories])
    points = []
    for choice in product(*axes):
        point = center.copy()
        for columns, values in choice:
            point[columns] = values
        points.append(point)
    return np.array(points)


def same_distance(problem: RecourseProblem, found: float, truth: float) -> bool:
    if math.isinf(truth) or math.isinf(found):
        return found == truth
    scale = max(1.0, abs(truth)) if problem.distance is not Distance.L2 else max(1.0, truth)
    return abs(found - truth) <= 1e-9 * scale
