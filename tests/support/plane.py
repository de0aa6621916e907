"""The true minimum of a small network over a region with at most two continuous columns, by enumeration.

Within an activation pattern the network is affine, so that its minimum over the region lies at a crossing of two lines
(hinges of neurons, sides of the region), at a crossing of a line and the circle, or where a piece is lowest on the
circle. All such points of all patterns are evaluated; whole columns and categories are enumerated.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from elbowroom.models import Affine
from elbowroom.problem import Body, Shape


def smallest_margin(layers: tuple[Affine, ...], body: Body) -> tuple[float, np.ndarray]:
    """The smallest output (over all rows) and where; coordinates correct to about 1e-12."""
    candidates = np.concatenate([_section(layers, body, fixed) for fixed in _sections(body)])
    hidden = candidates
    for layer in layers[:-1]:
        hidden = np.maximum(layer(hidden), 0.0)
    values = layers[-1](hidden).min(axis=1)
    return float(values.min()), candidates[np.argmin(values)]


def _sections(body: Body) -> list[dict[int, float]]:
    """All values of whole columns and all categories."""
    grouped = {int(f) for members in body.free_groups for f in members}
    parts: list[list[dict[int, float]]] = []
    for f in np.flatnonzero(body.whole):
        if int(f) not in grouped:
            parts.append([{int(f): float(v)} for v in np.arange(body.lower[f], body.upper[f] + 1)])
    for members in body.free_groups:
        parts.append([dict(zip(members.tolist(), row.tolist(), strict=True)) for row in np.eye(members.size)])
    return [{f: v for d in choice for f, v in d.items()} for choice in product(*parts)]


def _section(layers: tuple[Affine, ...], body: Body, fixed: dict[int, float]) -> np.ndarray:
    """Candidate points with the given columns fixed."""
    base = body.center.copy()
    for f, value in fixed.items():
        base[f] = value
    plane = [int(f) for f in body.round_columns if int(f) not in fixed]
    assert len(plane) <= 2
    spent = np.abs((base - body.center)[[f for f in body.round_columns if f in fixed]])
    spent = spent / body.axes[[f for f in body.round_columns if f in fixed]]
    budget = 1.0
    if body.shape is Shape.BALL:
        budget = 1.0 - float(spent @ spent)
    elif body.shape is Shape.DIAMOND:
        budget = 1.0 - float(spent.sum())
    if budget < 0.0:
        return np.empty((0, base.size))
    while len(plane) < 2:  # a column that does not move completes the plane
        plane.append(next(f for f in range(base.size) if f not in plane and f not in body.round_columns))
    center = body.center[plane]
    unit = np.where(body.moving[plane], body.axes[plane] if body.shape is not Shape.BOX else 1.0, 1.0)
    low, high = (body.lower[plane] - center) / unit, (body.upper[plane] - center) / unit
    lines = [(np.array([1.0, 0.0]), low[0]), (np.array([1.0, 0.0]), high[0])]
    lines += [(np.array([0.0, 1.0]), low[1]), (np.array([0.0, 1.0]), high[1])]
    if body.shape is Shape.DIAMOND:
        lines += [(np.array([a, b]), budget) for a in (1.0, -1.0) for b in (1.0, -1.0)]
    hinges, slopes = _pieces(layers, base, plane, center, unit)
    lines += hinges
    points = [np.zeros(2)]
    for (a, s), (b, t) in combinations(lines, 2):
        matrix = np.array([a, b])
        if abs(np.linalg.det(matrix)) > 1e-12 * np.linalg.norm(a) * np.linalg.norm(b):
            points.append(np.linalg.solve(matrix, [s, t]))
    if body.shape is Shape.BALL:
        radius = np.sqrt(budget)
        for a, s in lines:
            length = np.linalg.norm(a)
            if length > 0 and abs(s) / length <= radius:
                foot, along = a * s / length**2, np.array([-a[1], a[0]]) / length
                half = np.sqrt(max(radius**2 - foot @ foot, 0.0))
                points += [foot + half * along, foot - half * along]
        points += [-radius * g / np.linalg.norm(g) for g in slopes if np.linalg.norm(g) > 0]
    y = np.array(points)
    inside = ((y >= low - 1e-12) & (y <= high + 1e-12)).all(axis=1)
    if body.shape is Shape.BALL:
        inside &= np.square(y).sum(axis=1) <= budget + 1e-12
    elif body.shape is Shape.DIAMOND:
        inside &= np.abs(y).sum(axis=1) <= budget + 1e-12
    x = np.broadcast_to(base, (int(inside.sum()), base.size)).copy()
    x[:, plane] = center + unit * y[inside]
    return x


def _pieces(layers: tuple[Affine, ...], base: np.ndarray, plane: list[int], center: np.ndarray, unit: np.ndarray):
    """Hinge lines and output slopes of every activation pattern, in the coordinates of the plane."""
    start = base.copy()
    start[plane] = center
    first = layers[0]
    matrix, offset = first.weight[:, plane] * unit, first.weight @ start + first.bias
    hinges: list[tuple[np.ndarray, float]] = []
    slopes: list[np.ndarray] = []

    def descend(k: int, matrix: np.ndarray, offset: np.ndarray) -> None:
        if k == len(layers) - 1:
            slopes.extend(matrix)
            return
        hinges.extend((row, -value) for row, value in zip(matrix, offset, strict=True) if np.abs(row).max() > 0)
        for pattern in product((0.0, 1.0), repeat=offset.size):
            on = np.array(pattern)
            after = layers[k + 1]
            descend(k + 1, (after.weight * on) @ matrix, (after.weight * on) @ offset + after.bias)

    descend(0, matrix, offset)
    unique = {(*np.round(np.append(row, value), 13),): (row, value) for row, value in hinges}
    return list(unique.values()), slopes
