"""The closest valid centre for any family of models in two continuous columns, by looking at the whole plane.

Whole columns and categories are enumerated. For every value d of them the plane is cut into convex pieces on which the
model's scores are affine (trees: constant); the wrong points among them are convex polygons P. A centre (c, u) is valid iff
the plane point u keeps the distance r(c, d) from every P of every d in its room, where r is what the discrete move leaves
of the radius; distances in units of the room, in its own norm. So u must stay out of the sums P + r * room, which are polygons
(boxes, diamonds) or polygons with round corners (balls). The nearest such u lies at the factual, where two boundary curves
meet, or where the distance along one curve is smallest: a finite list, all of which is tried. Only `model.scores` is asked;
nothing of the search, the judge or the margins is used. Floats without proof: correct to about 1e-9.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from elbowroom.models import Decision, LinearModel, ObliqueEnsemble, ReluNetwork, TreeEnsemble
from elbowroom.problem import Distance, RecourseProblem, Shape
from tests.support.polygons import half_planes, hull, rectangle, side, split

WINDOW = 500.0  # how far unlimited columns are looked at, from the factual, in raw units
TOUCH = 1e-9  # a boundary may be touched; in units of the room
SAFE = 400.0  # nothing that the window cuts off can matter nearer than this (raw units)


@dataclass(frozen=True)
class Truth:
    """The smallest distance (inf: none in what was looked at), and how far everything was looked at (inf: everywhere)."""

    distance: float
    looked: float

    @property
    def certain(self) -> bool:
        return self.distance < self.looked or self.looked == math.inf


def closest_in_the_plane(problem: RecourseProblem) -> Truth:
    """The smallest distance of a valid centre."""
    if problem.trouble is not None:
        return Truth(math.inf, math.inf)
    assert not problem.rules
    plane = np.flatnonzero(~problem.space.whole_center & (problem.space.group_of < 0))
    assert plane.size == 2
    assert (problem.walls.up[plane] > 0).all()
    assert np.array_equal(problem.walls.down, problem.walls.up)
    low = np.maximum(problem.lower[plane], problem.factual[plane] - WINDOW)
    high = np.minimum(problem.upper[plane], problem.factual[plane] + WINDOW)
    unit = problem.walls.up[plane]
    bad = {}
    for d in _discrete(problem):
        point = problem.factual.copy()
        point[list(d)] = list(d.values())
        bad[tuple(d.values())] = [p / unit for p in _wrong(problem, plane, point, rectangle(low, high))]
    field = _Field(problem, plane, low / unit, high / unit)
    best = math.inf
    centers = sorted(_discrete(problem), key=lambda c: _fixed_move(problem, c))
    for c in centers:
        fixed = _fixed_move(problem, c)
        if fixed >= best:
            break
        obstacles = [
            (polygon, radius)
            for d in _discrete(problem)
            if (radius := _left_of_the_radius(problem, c, d)) is not None
            for polygon in bad[tuple(d.values())]
        ]
        nearest = field.nearest(obstacles)
        if nearest < math.inf:
            best = min(best, problem.distance.norm(np.array([fixed, nearest])))
    everything = bool(np.isfinite(problem.lower[plane]).all() and np.isfinite(problem.upper[plane]).all())
    return Truth(best, math.inf if everything else SAFE * float(problem.metric.factor[plane].min()))


# ---- the discrete part ------------------------------------------------------------------------------------------------
def _discrete(problem: RecourseProblem) -> Iterator[dict[int, float]]:
    """All values of whole columns and all categories within the limits."""
    parts: list[list[dict[int, float]]] = []
    for f in np.flatnonzero(problem.space.whole_center & (problem.space.group_of < 0)):
        parts.append([{int(f): float(v)} for v in np.arange(problem.lower[f], problem.upper[f] + 1.0)])
    for members in problem.space.members:
        rows = [
            r
            for r in np.eye(members.size)
            if (r >= problem.lower[members]).all() and (r <= problem.upper[members]).all()
        ]
        parts.append([dict(zip(members.tolist(), row.tolist(), strict=True)) for row in rows])
    for choice in product(*parts):
        yield {f: v for d in choice for f, v in d.items()}


def _fixed_move(problem: RecourseProblem, c: dict[int, float]) -> float:
    point = problem.factual.copy()
    point[list(c)] = list(c.values())
    return problem.distance.norm(problem.metric.moves(problem.factual, point))


def _left_of_the_radius(problem: RecourseProblem, c: dict[int, float], d: dict[int, float]) -> float | None:
    """What is left of the radius 1 for the plane when the discrete part moves from c to d; None if d is out of the room."""
    walls, shares = problem.walls, []
    for f in c:
        if problem.space.group_of[f] >= 0:
            if c[f] != d[f] and problem.space.group_of[f] not in walls.free_groups:
                return None
        elif c[f] != d[f]:
            if abs(c[f] - d[f]) > walls.up[f]:
                return None
            shares.append(abs(c[f] - d[f]) / walls.up[f])
    match walls.shape:
        case Shape.BOX:
            left = 1.0
        case Shape.BALL:
            left = 1.0 - sum(s * s for s in shares)
        case Shape.DIAMOND:
            left = 1.0 - sum(shares)
    if left < 0.0:
        return None
    return math.sqrt(left) if walls.shape is Shape.BALL else left


# ---- wrong points -----------------------------------------------------------------------------------------------------
def _wrong(problem: RecourseProblem, plane: np.ndarray, base: np.ndarray, window: np.ndarray) -> list[np.ndarray]:
    """Convex polygons whose interiors are the points without the wanted class."""
    model, found = problem.model, []
    for piece in _pieces(model, plane, base, window):
        scores, slope = _affine(model, plane, base, piece)
        if np.abs(slope).max(initial=0.0) == 0.0:
            label = int(model.info.labels_of(scores[None])[0])
            found += [] if label == problem.target_index else [piece]
            continue
        for row, value in _rivals(problem, scores, slope):  # wrong where value + row . (p - middle) < 0
            part = side(piece, row, float(row @ piece.mean(axis=0)) - value)
            found += [] if part is None else [part]
    return found


def _rivals(problem: RecourseProblem, scores: np.ndarray, slope: np.ndarray) -> list[tuple[np.ndarray, float]]:
    t = problem.target_index
    if problem.model.info.decision is Decision.ARGMAX:
        return [(slope[t] - slope[j], float(scores[t] - scores[j])) for j in range(scores.size) if j != t]
    sign = 1.0 if t == 1 else -1.0
    return [(sign * slope[0], sign * float(scores[0]))]


def _affine(model: object, plane: np.ndarray, base: np.ndarray, piece: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The scores at the middle of a piece, and their slope there."""
    middle = piece.mean(axis=0)
    if isinstance(model, (TreeEnsemble, ObliqueEnsemble)):
        return _scores(model, plane, base, middle[None])[0], np.zeros((1, 2))
    corner = np.argsort(-np.linalg.norm(piece - middle, axis=1))[:1]
    directions = [piece[corner[0]] - middle]
    across = max(piece, key=lambda p: abs(float(np.linalg.det(np.array([directions[0], p - middle])))))
    directions.append(across - middle)
    steps = middle + 0.5 * np.array(directions)
    values = _scores(model, plane, base, np.vstack([middle, steps]))
    slope = np.linalg.solve(0.5 * np.array(directions), values[1:] - values[0]).T
    return values[0], slope


def _scores(model: object, plane: np.ndarray, base: np.ndarray, points: np.ndarray) -> np.ndarray:
    X = np.broadcast_to(base, (len(points), base.size)).copy()
    X[:, plane] = points
    return np.asarray(model.scores(X))  # type: ignore[attr-defined]


def _pieces(model: object, plane: np.ndarray, base: np.ndarray, window: np.ndarray) -> list[np.ndarray]:
    """Pieces of the window on which the scores are affine."""
    pieces, rest = [window], base.copy()
    rest[plane] = 0.0
    match model:
        case LinearModel():
            return pieces
        case TreeEnsemble():
            for axis, f in enumerate(plane):
                for cut in np.unique(model.cuts[f][np.isfinite(model.cuts[f])]):
                    pieces = split(pieces, np.eye(2)[axis], float(cut))
            return pieces
        case ObliqueEnsemble():
            for i in np.flatnonzero(model.left >= 0):
                pieces = split(pieces, model.weight[i, plane], float(model.threshold[i] - model.weight[i] @ rest))
            return pieces
        case ReluNetwork():
            first = model.layers[0]
            start = [(window, first.weight[:, plane], first.weight @ rest + first.bias)]
            for after in model.layers[1:]:
                start = [(p, *_through(after, m, o, p)) for q, m, o in start for p in _by_hinges(q, m, o)]
            return [piece for piece, _, _ in start]
    raise TypeError(f"no brute force for {type(model).__name__}")


def _by_hinges(polygon: np.ndarray, matrix: np.ndarray, offset: np.ndarray) -> list[np.ndarray]:
    pieces = [polygon]
    for row, value in zip(matrix, offset, strict=True):
        pieces = split(pieces, row, -float(value))
    return pieces


def _through(after: object, matrix: np.ndarray, offset: np.ndarray, piece: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The next layer's affine form on a piece where every neuron of this one is on or off."""
    on = (matrix @ piece.mean(axis=0) + offset > 0).astype(float)
    weight = after.weight * on  # type: ignore[attr-defined]
    return weight @ matrix, weight @ offset + after.bias  # type: ignore[attr-defined]


# ---- the nearest point that keeps away from all of them ---------------------------------------------------------------
ROOM = {
    Shape.BOX: np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]),
    Shape.DIAMOND: np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]),
}


class _Field:
    """The plane in units of the room, with limits and the distance from the factual."""

    def __init__(self, problem: RecourseProblem, plane: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        unit = problem.walls.up[plane]
        self.shape, self.distance = problem.walls.shape, problem.distance
        self.factual, self.price = problem.factual[plane] / unit, problem.metric.factor[plane] * unit
        self.low, self.high = low, high

    def costs(self, points: np.ndarray) -> np.ndarray:
        moves = self.price * np.abs(points - self.factual)
        match self.distance:
            case Distance.L1:
                return np.asarray(moves.sum(axis=1))
            case Distance.L2:
                return np.asarray(np.sqrt(np.square(moves).sum(axis=1)))
            case Distance.LINF:
                return np.asarray(moves.max(axis=1))

    def nearest(self, obstacles: list[tuple[np.ndarray, float]]) -> float:
        normals, offsets = [np.eye(2), np.eye(2)], [self.low, self.high]
        circles: list[tuple[np.ndarray, float]] = []
        grown: list[np.ndarray] = []
        for polygon, radius in obstacles:
            if self.shape is Shape.BALL:
                normal, offset = half_planes(polygon)
                normals.append(normal)
                offsets.append(offset + radius)
                circles += [(vertex, radius) for vertex in polygon]
            else:
                grown.append(hull((polygon[:, None] + radius * ROOM[self.shape][None]).reshape(-1, 2)))
                normal, offset = half_planes(grown[-1])
                normals.append(normal)
                offsets.append(offset)
        lines = _unlike(np.concatenate([np.concatenate(normals), np.concatenate(offsets)[:, None]], axis=1))
        guides = self._guides()
        parts = [np.clip(self.factual, self.low, self.high)[None], self._feet(lines)]
        parts.append(_line_meets_line(np.concatenate([lines, guides])))
        if circles:
            centers = _unlike(np.array([[*c, r] for c, r in circles]))
            parts.append(_circle_meets_line(centers, np.concatenate([lines, guides])))
            parts.append(_circle_meets_circle(centers))
            parts.append(self._on_circles(centers))
        points = np.concatenate(parts)
        points = points[((points >= self.low - TOUCH) & (points <= self.high + TOUCH)).all(axis=1)]
        order = np.argsort(self.costs(points), kind="stable")
        for start in range(0, len(order), 200):
            block = points[order[start : start + 200]]
            free = np.ones(len(block), dtype=bool)
            for i, (polygon, radius) in enumerate(obstacles):
                if not free.any():
                    break
                if self.shape is Shape.BALL:
                    free[free] = _euclidean(block[free], polygon) >= radius - TOUCH
                else:
                    normal, offset = half_planes(grown[i])
                    free[free] = (block[free] @ normal.T - offset).max(axis=1) >= -TOUCH
            if free.any():
                return float(self.costs(block[free]).min())
        return math.inf

    def _guides(self) -> np.ndarray:
        """Lines on which the smallest l1 or linf distance along a curve may lie: through the factual."""
        a, b = self.price
        rows = [np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([a, -b]), np.array([a, b])]
        rows = [r / np.linalg.norm(r) for r in rows]
        return np.array([[*r, float(r @ self.factual)] for r in rows])

    def _feet(self, lines: np.ndarray) -> np.ndarray:
        """The l2-nearest point of every line."""
        if self.distance is not Distance.L2:
            return np.empty((0, 2))
        normal = lines[:, :2] / self.price
        away = lines[:, 2] - lines[:, :2] @ self.factual
        foot = normal * (away / np.square(normal).sum(axis=1))[:, None]
        return np.asarray(self.factual + foot / self.price)

    def _on_circles(self, circles: np.ndarray) -> np.ndarray:
        """Points of circles where the distance from the factual is stationary along the circle."""
        found = []
        a, b = self.price
        for x, y, r in circles:
            if self.distance is Distance.L1:
                directions = np.array([[s * a, t * b] for s in (1.0, -1.0) for t in (1.0, -1.0)])
            elif self.distance is Distance.LINF:
                directions = np.concatenate([np.eye(2), -np.eye(2)])
            else:  # -p sin t + q cos t + m sin t cos t = 0, in z = exp(it)
                p, q = a * a * (x - self.factual[0]), b * b * (y - self.factual[1])
                m = (b * b - a * a) * r
                roots = (
                    np.roots([m, -2 * p + 2j * q, 0.0, 2 * p + 2j * q, -m]) if max(abs(p), abs(q)) > 0 else np.ones(1)
                )
                angle = np.concatenate([np.angle(roots), np.arctan2([-q, q], [-p, p])])
                directions = np.stack([np.cos(angle), np.sin(angle)], axis=1)
            directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
            found.append(np.array([x, y]) + r * directions)
        return np.concatenate(found)


def _unlike(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows[np.unique(np.round(rows, 11), axis=0, return_index=True)[1]])


def _line_meets_line(lines: np.ndarray) -> np.ndarray:
    i, j = np.triu_indices(len(lines), 1)
    a, b = lines[i], lines[j]
    turn = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    kept = np.abs(turn) > 1e-12
    a, b, turn = a[kept], b[kept], turn[kept]
    x = (a[:, 2] * b[:, 1] - a[:, 1] * b[:, 2]) / turn
    y = (a[:, 0] * b[:, 2] - a[:, 2] * b[:, 0]) / turn
    return np.stack([x, y], axis=1)


def _circle_meets_line(circles: np.ndarray, lines: np.ndarray) -> np.ndarray:
    away = lines[None, :, 2] - circles[:, :2] @ lines[:, :2].T
    half = np.square(circles[:, 2])[:, None] - np.square(away)
    i, j = np.nonzero(half >= -1e-12)
    root = np.sqrt(np.maximum(half[i, j], 0.0))[:, None]
    foot = circles[i, :2] + away[i, j][:, None] * lines[j, :2]
    along = np.stack([-lines[j, 1], lines[j, 0]], axis=1)
    return np.concatenate([foot + root * along, foot - root * along])


def _circle_meets_circle(circles: np.ndarray) -> np.ndarray:
    i, j = np.triu_indices(len(circles), 1)
    a, b = circles[i], circles[j]
    way = b[:, :2] - a[:, :2]
    gap = np.linalg.norm(way, axis=1)
    kept = (gap > 1e-12) & (gap <= a[:, 2] + b[:, 2] + 1e-12)
    a, b, way, gap = a[kept], b[kept], way[kept], gap[kept]
    along = (np.square(gap) + np.square(a[:, 2]) - np.square(b[:, 2])) / (2 * gap)
    half = np.square(a[:, 2]) - np.square(along)
    real = half >= -1e-12
    unit = way[real] / gap[real][:, None]
    foot = a[real, :2] + along[real][:, None] * unit
    across = np.sqrt(np.maximum(half[real], 0.0))[:, None] * np.stack([-unit[:, 1], unit[:, 0]], axis=1)
    return np.concatenate([foot + across, foot - across])


def _euclidean(points: np.ndarray, polygon: np.ndarray) -> np.ndarray:
    """The distance of points from a convex polygon; 0 inside."""
    normal, offset = half_planes(polygon)
    inside = (points @ normal.T - offset <= 0.0).all(axis=1)
    best = np.full(len(points), np.inf)
    for a, b in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        way = b - a
        share = np.clip((points - a) @ way / max(float(way @ way), 1e-300), 0.0, 1.0)
        best = np.minimum(best, np.linalg.norm(points - a - share[:, None] * way, axis=1))
    return np.where(inside, 0.0, best)
