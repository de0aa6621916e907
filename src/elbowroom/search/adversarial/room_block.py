"""A point of the room around a fixed centre as columns of an adversary's program."""

from __future__ import annotations

from typing import assert_never

import numpy as np

from elbowroom.numerics import Floats, Ints
from elbowroom.problem import Body, Shape
from elbowroom.problem.shapes import is_euclidean, is_round, largest_sum, length
from elbowroom.search.adversarial.limits import SHRINKS
from elbowroom.search.program import Builder, NormRow


def add_room(builder: Builder, body: Body) -> Ints:
    """Columns y with y in the body (balls as a norm row)."""
    y = builder.columns(body.center.size, body.lower, body.upper, body.whole)
    for members in body.free_groups:
        builder.row(y[members], 1.0, 1.0, 1.0)
    f = body.round_columns
    if not is_round(body.shape) or not f.size:
        return y
    scale, offset = 1.0 / body.axes[f], body.center[f] / body.axes[f]
    if is_euclidean(body.shape):
        builder.norms.append(NormRow(y[f], scale, offset))
    part = builder.columns(f.size, 0.0, 1.0)  # |y_f - center_f| / axes_f
    rows = np.arange(f.size)
    for sign in (1.0, -1.0):
        builder.block(
            np.concatenate([rows, rows]),
            np.concatenate([part, y[f]]),
            np.concatenate([np.ones(f.size), -sign * scale]),
            -sign * offset,
            np.full(f.size, np.inf),
        )
    builder.row(part, 1.0, -np.inf, largest_sum(body.shape, f.size))
    return y


def into_body(body: Body, point: Floats) -> Floats | None:
    """The point itself or one slightly nearer to the centre that lies in the body exactly; None if there is none."""
    point = np.where(body.whole, np.round(point), point)
    for members in body.free_groups:
        point[members] = np.eye(members.size)[int(np.argmax(point[members]))]
    grouped = np.zeros(point.size, dtype=bool)
    for members in body.free_groups:
        grouped[members] = True
    columns = body.round_columns
    outside = 0.0
    if is_round(body.shape) and columns.size:
        used = length(body.shape, np.abs(point[columns] - body.center[columns]) / body.axes[columns])
        outside = max(0.0, 1.0 - 1.0 / used) if used > 0.0 else 0.0
    for shrink in SHRINKS:
        moved = point + (outside + shrink) * (body.center - point) if outside + shrink > 0 else point
        moved = np.where(grouped, point, np.clip(moved, body.lower, body.upper))
        moved = np.where(body.whole & ~grouped, np.where(moved > body.center, np.floor(moved), np.ceil(moved)), moved)
        if body.contains(moved + 0.0)[0]:
            return moved + 0.0
        if not is_round(body.shape):
            return None
    return None


def lowest_along(body: Body, slope: Floats, point: Floats) -> Floats:
    """Where slope . y is smallest in the body (almost: limits may cut a ball or diamond); categories as at ``point``."""
    columns, lowest = body.round_columns, point.copy()
    g, shape = slope[columns], body.shape
    match shape:
        case Shape.BOX:
            lowest[columns] = np.where(g > 0, body.lower[columns], np.where(g < 0, body.upper[columns], point[columns]))
        case Shape.BALL:
            steep = float(np.linalg.norm(g * body.axes[columns]))
            if steep > 0.0:
                lowest[columns] = body.center[columns] - g * np.square(body.axes[columns]) / steep
        case Shape.DIAMOND:
            if columns.size:
                best = int(np.argmax(np.abs(g) * body.axes[columns]))
                lowest[columns] = body.center[columns]
                lowest[columns[best]] -= np.sign(g[best]) * body.axes[columns[best]]
        case _:
            assert_never(shape)
    return np.clip(lowest, body.lower, body.upper)
