"""Hostile points: where a wrong region breaks first.

Corners (all of them up to 12 moving columns, else 4,096 random ones), extremes of balls and diamonds, every cut inside
the room with its float64 neighbours, the centre and its neighbours, float32 round trips, random points; asked one by
one, in sevens and in one large batch, because the label must not depend on how the rows are batched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from elbowroom.problem.body import Body
from elbowroom.problem.shapes import Shape

MAX_CORNER_COLUMNS = 12
RANDOM_CORNERS = 4096


def hostile_points(body: Body, cuts: Sequence[np.ndarray] | None = None, seed: int = 0) -> np.ndarray:
    """Points of the body (every one satisfies `body.contains`) that are likely to be wrong if any is."""
    rng = np.random.default_rng(seed)
    columns = body.round_columns
    parts = [body.center[None], _neighbours(body), body.sample(500, seed)]
    parts += [_corners(body, columns, rng), _thresholds(body, columns, cuts or (), rng)]
    if body.shape is not Shape.BOX:
        parts.append(_surface(body, columns, rng))
    points = np.concatenate(parts)
    points = np.concatenate([points, points.astype(np.float32).astype(np.float64)])
    points = np.concatenate([points, *_all_categories(body, points, rng)])
    points = np.unique(points + 0.0, axis=0)
    return points[body.contains(points)]


def attack(
    predict: Callable[[np.ndarray], np.ndarray],
    body: Body,
    wanted: object,
    cuts: Sequence[np.ndarray] | None = None,
    seed: int = 0,
) -> int:
    """Raise AssertionError if any hostile point gets another label than ``wanted``; return how many were asked."""
    points = hostile_points(body, cuts, seed)
    assert len(points), "a region without points proves nothing"
    _check(predict, points, wanted, len(points))
    _check(predict, points[:: max(1, len(points) // 140)], wanted, 7)
    _check(predict, points[:: max(1, len(points) // 20)], wanted, 1)
    return len(points)


def _check(predict: Callable[[np.ndarray], np.ndarray], points: np.ndarray, wanted: object, batch: int) -> None:
    for start in range(0, len(points), min(batch, 10_000)):
        rows = points[start : start + min(batch, 10_000)]
        labels = np.asarray(predict(rows))
        wrong = np.flatnonzero(labels != wanted)
        assert not wrong.size, f"batch of {batch}: {rows[wrong[0]]!r} gets {labels[wrong[0]]!r}, promised {wanted!r}"


def _neighbours(body: Body) -> np.ndarray:
    points = []
    for f in body.round_columns:
        for step in (1.0,) if body.whole[f] else (np.spacing(body.center[f]), 2 * np.spacing(body.center[f])):
            for sign in (-1.0, 1.0):
                point = body.center.copy()
                point[f] += sign * step
                points.append(point)
    return np.array(points).reshape(-1, body.center.size)


def _corners(body: Body, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if columns.size <= MAX_CORNER_COLUMNS:
        sides = np.array(list(product((0, 1), repeat=columns.size)), dtype=bool).reshape(2**columns.size, columns.size)
    else:
        sides = rng.random((RANDOM_CORNERS, columns.size)) < 0.5
    points = np.broadcast_to(body.center, (len(sides), body.center.size)).copy()
    points[:, columns] = np.where(sides, body.upper[columns], body.lower[columns])
    return points


def _surface(body: Body, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Points on (or just inside) the surface: axes, diagonals of random subsets, random directions."""
    if not columns.size:
        return body.center[None]
    directions = [np.eye(columns.size), -np.eye(columns.size)]
    subsets = rng.random((500, columns.size)) < rng.uniform(0.1, 1.0, (500, 1))
    directions.append(subsets * rng.choice([-1.0, 1.0], subsets.shape))
    directions.append(rng.normal(size=(500, columns.size)))
    direction = np.concatenate(directions)
    direction = direction[np.abs(direction).sum(axis=1) > 0]
    length = np.sqrt(np.square(direction).sum(axis=1)) if body.shape is Shape.BALL else np.abs(direction).sum(axis=1)
    shift = direction / length[:, None] * body.axes[columns]
    points = []
    for shrink in (1.0, 1.0 - 1e-15, 1.0 - 1e-12, 1.0 - 1e-6):
        moved = np.broadcast_to(body.center, (len(shift), body.center.size)).copy()
        moved[:, columns] = np.clip(moved[:, columns] + shrink * shift, body.lower[columns], body.upper[columns])
        towards = np.where(moved > body.center, np.floor(moved), np.ceil(moved))
        points.append(np.where(body.whole, towards, moved))
    return np.concatenate(points)


def _thresholds(
    body: Body, columns: np.ndarray, cuts: Sequence[np.ndarray], rng: np.random.Generator, most: int = 6000
) -> np.ndarray:
    """Every cut inside the room and its neighbours, on otherwise central, cornered and random points."""
    values: list[tuple[int, float]] = []
    for f in columns if len(cuts) else ():
        for cut in cuts[f][(cuts[f] >= body.lower[f]) & (cuts[f] <= body.upper[f])]:
            if body.whole[f]:
                values += [(f, float(np.floor(cut))), (f, float(np.floor(cut)) + 1.0)]
                continue
            around = [cut]
            for _ in range(2):
                around = [np.nextafter(around[0], -np.inf), *around, np.nextafter(around[-1], np.inf)]
            values += [(f, float(v)) for v in around]
    if len(values) > most // 3:
        values = [values[i] for i in np.sort(rng.choice(len(values), most // 3, replace=False))]
    points = []
    for f, value in values:
        corner = body.center.copy()
        corner[columns] = np.where(rng.random(columns.size) < 0.5, body.lower[columns], body.upper[columns])
        for base in (body.center, corner, body.sample(1, int(rng.integers(2**31)))[0]):
            point = base.copy()
            point[f] = value
            points.append(point)
    return np.array(points).reshape(-1, body.center.size)


def _all_categories(body: Body, points: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    extra = []
    for members in body.free_groups:
        for k in range(members.size):
            chosen = points[rng.integers(len(points), size=200)].copy()
            chosen[:, members] = np.eye(members.size)[k]
            extra.append(chosen)
    return extra
