"""The adversary without a proof: batched Frank-Wolfe steps over a region, looking for its smallest margin."""

from __future__ import annotations

import math
from typing import assert_never

import numpy as np

from elbowroom.numerics import NONZERO, Bools, Floats
from elbowroom.problem import Body, Shape
from elbowroom.problem.shapes import is_round
from elbowroom.search.network.limits import FIRST_STEP, INWARDS, LAST_STEP, LEAST_DESCENT
from elbowroom.search.network.margins import MarginNetwork


def extreme_points(body: Body, gradient: Floats) -> Floats:
    """For every row of ``gradient`` a point of the body that (nearly) minimizes gradient . y: exact for boxes, exact
    for unclipped balls and diamonds; clipped ones use up the budget that clipping leaves over, greedily."""
    Y = np.broadcast_to(body.center, gradient.shape).copy()
    columns = body.round_columns
    g = gradient[:, columns]
    low, high = body.lower[columns], body.upper[columns]
    shape = body.shape
    match shape:
        case Shape.BOX:
            Y[:, columns] = np.where(g > 0.0, low, high)
        case Shape.BALL:
            Y[:, columns] = _ball_extreme(body.center[columns], body.axes[columns], low, high, g)
        case Shape.DIAMOND:
            Y[:, columns] = _diamond_extreme(body.center[columns], body.axes[columns], low, high, g)
        case _:
            assert_never(shape)
    whole = body.whole[columns]
    if whole.any() and is_round(shape):
        towards = np.where(Y[:, columns] > body.center[columns], np.floor(Y[:, columns]), np.ceil(Y[:, columns]))
        Y[:, columns] = np.where(whole, towards, Y[:, columns])
    for members in body.free_groups:
        allowed = members[body.upper[members] >= 1.0]
        chosen = allowed[np.argmin(gradient[:, allowed], axis=1)]
        Y[:, members] = 0.0
        Y[np.arange(len(Y)), chosen] = 1.0
    return Y


def _ball_extreme(center: Floats, axes: Floats, low: Floats, high: Floats, g: Floats) -> Floats:
    """Steepest point of an ellipsoid; what clipping frees is given to the other columns (a few rounds)."""
    scaled = g * axes
    room = np.where(scaled > 0.0, center - low, high - center) / axes  # in units of the semi-axes
    fixed = np.zeros(g.shape, dtype=bool)
    share = np.zeros(g.shape)
    for _ in range(4):
        budget = np.maximum(1.0 - np.square(np.where(fixed, room, 0.0)).sum(axis=1, keepdims=True), 0.0)
        free = np.where(fixed, 0.0, np.abs(scaled))
        length = np.sqrt(np.square(free).sum(axis=1, keepdims=True))
        share = np.where(fixed, room, free / np.maximum(length, NONZERO) * np.sqrt(budget))
        over = ~fixed & (share > room)
        if not over.any():
            break
        fixed |= over
    share = np.minimum(share, room)
    return np.asarray(np.clip(center - np.sign(scaled) * share * axes * (1.0 - INWARDS), low, high))


def _diamond_extreme(center: Floats, axes: Floats, low: Floats, high: Floats, g: Floats) -> Floats:
    """All of the budget to the steepest column, what its bound leaves over to the next."""
    scaled = g * axes
    room = np.minimum(np.where(scaled > 0.0, center - low, high - center) / axes, 1.0)
    order = np.argsort(-np.abs(scaled), axis=1, kind="stable")
    sorted_room = np.take_along_axis(room, order, axis=1)
    before = np.cumsum(sorted_room, axis=1) - sorted_room
    sorted_share = np.clip(1.0 - before, 0.0, sorted_room)
    share = np.zeros(g.shape)
    np.put_along_axis(share, order, sorted_share, axis=1)
    return np.asarray(np.clip(center - np.sign(scaled) * share * axes * (1.0 - INWARDS), low, high))


def find_weak_points(
    network: MarginNetwork,
    body: Body,
    rng: np.random.Generator,
    starts: int = 8,
    rounds: int = 10,
    extra: Floats | None = None,
    flips: int = 0,
    slides: int = 0,
) -> tuple[Floats, Floats]:
    """Local minima of the smallest margin over the body, worst first: margins and points. The worst ``flips`` of them are
    also improved input by input, and all of them by ``slides`` short steps (boxes only)."""
    width = body.center.size
    directions = rng.standard_normal((max(starts - 1, 0), width))
    Y = np.vstack([body.center[None], extreme_points(body, directions)])
    if extra is not None and len(extra):
        Y = np.vstack([Y, extra])
    best = np.full(len(Y), np.inf)
    points = Y.copy()
    live = np.arange(len(Y))
    for _ in range(rounds):
        value, slope, _ = network.gradient(Y[live])
        better = value < best[live] - LEAST_DESCENT
        winners = live[better]
        best[winners] = value[better]
        points[winners] = Y[winners]
        live = winners  # a full step that does not help ends this start
        if not live.size:
            break
        Y[live] = extreme_points(body, slope[better])
    order = np.argsort(best, kind="stable")
    best, points = best[order], points[order]
    if flips and not is_round(body.shape):
        best, points = _flip(network, body, best, points, flips)
    if slides and not is_round(body.shape) and not body.whole[body.lower < body.upper].any():
        best, points = _slide(network, body, best, points, slides)
    return best, points


def _slide(network: MarginNetwork, body: Body, best: Floats, points: Floats, slides: int) -> tuple[Floats, Floats]:
    """Many short steps: deep networks are lowest where neurons switch, between the corners."""
    width = body.upper - body.lower
    longest = 0.5 * math.sqrt(max(int(np.count_nonzero(width)), 1))
    Y = points.copy()
    for length in np.geomspace(FIRST_STEP, LAST_STEP, slides):
        value, slope, _ = network.gradient(Y)
        better = value < best
        best, points = np.where(better, value, best), np.where(better[:, None], Y, points)
        slope = slope * width
        size = np.sqrt(np.square(slope).sum(axis=1, keepdims=True))
        Y = np.clip(Y - (length * longest) * slope / np.maximum(size, NONZERO) * width, body.lower, body.upper)
    order = np.argsort(best, kind="stable")
    return best[order], points[order]


def _flip(network: MarginNetwork, body: Body, best: Floats, points: Floats, flips: int) -> tuple[Floats, Floats]:
    """Full steps along the gradient stop where it misleads: from the worst points go on by moving one input at a time to
    its other end, always the one that helps most. The points found come first."""
    columns = np.flatnonzero((body.lower < body.upper) & ~_grouped(body))
    if not columns.size:
        return best, points
    found, values = points[:flips].copy(), best[:flips].copy()
    live = np.arange(len(found))
    steps = np.arange(columns.size)
    for _ in range(2 * columns.size):
        ends = np.where(
            found[live][:, columns] - body.lower[columns] < body.upper[columns] - found[live][:, columns],
            body.upper[columns], body.lower[columns],
        )  # fmt: skip
        trial = np.repeat(found[live][:, None, :], columns.size, axis=1)
        trial[:, steps, columns] = ends
        margin = network.worst(trial.reshape(-1, trial.shape[2])).reshape(live.size, columns.size)
        choice = np.argmin(margin, axis=1)
        reached = margin[np.arange(live.size), choice]
        better = reached < values[live] - LEAST_DESCENT
        winners = live[better]
        if not winners.size:
            break
        found[winners], values[winners] = trial[better, choice[better]], reached[better]
        live = winners
    order = np.argsort(values, kind="stable")
    return np.concatenate([values[order], best]), np.concatenate([found[order], points])


def _grouped(body: Body) -> Bools:
    inside = np.zeros(body.center.size, dtype=bool)
    for members in body.free_groups:
        inside[members] = True
    return inside
