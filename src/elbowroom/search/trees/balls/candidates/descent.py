"""The nearest good centre around a given one: all columns move at once.

For a bad region R the room used up, u(x) = sum phi(gap_f / r_f), is convex in the centre x, so that

    u(y) >= u(x) + u'(x) (y - x),

and a centre y at which the right-hand side is at least 1 for every region is good, as far as those regions are known. The
cheapest such y is a linear program in y = factual + p - q with p, q >= 0. Solved again and again, around the last good
centre and with the regions that its own answers still meet, it goes down to a centre that no small common move improves,
where moves of one column at a time are stuck, and out of a corner between regions that are only just met.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize

from elbowroom.numerics import Floats
from elbowroom.search.trees.balls.geometry import KIND, NORM, Geometry
from elbowroom.search.trees.balls.limits import ENOUGH, MOST_ROWS
from elbowroom.search.trees.balls.regions import BallRegions


def nearest_around(geometry: Geometry, regions: BallRegions, x: Floats, window: float) -> Floats | None:
    """The cheapest centre within ``window`` semi-axes of x that the linear programs above allow (None: there is none).

    Only columns with room and without whole numbers move.
    """
    n_dims, rows = x.size, int(regions.count[0])
    round_dims = geometry.kind == KIND.ROUND
    moving = round_dims & (geometry.whole == 0) & (geometry.rate > 0.0)
    axis = np.where(round_dims, geometry.axis, 1.0)
    first, last = regions.first[:rows], regions.last[:rows]
    below, above = np.maximum(0.0, first - x), np.maximum(0.0, x - last)
    far = ((below + above > 0.0) & (geometry.kind == KIND.STILL)).any(axis=1)
    with np.errstate(over="ignore"):  # infinitely far, in units of a tiny semi-axis
        gap = np.where(round_dims, (above - below) / axis, 0.0)  # signed: positive above the region
        used = (gap**2 if geometry.square else np.abs(gap)).sum(axis=1)
    reach = (1.0 + window * np.sqrt(n_dims)) ** 2 if geometry.square else 1.0 + window * n_dims
    near = np.flatnonzero(~far & (used < reach))
    if near.size > MOST_ROWS:
        near = near[np.argsort(used[near], kind="stable")[:MOST_ROWS]]
    with np.errstate(over="ignore"):
        slope = (2.0 * gap[near] if geometry.square else np.sign(gap[near])) / axis
    slope[:, ~moving] = 0.0
    if not np.isfinite(slope).all():  # a semi-axis so small that its inverse is not a finite float
        return None
    low = np.where(moving, np.maximum(geometry.lower, x - window * axis), x)
    high = np.where(moving, np.minimum(geometry.upper, x + window * axis), x)
    y = _solve(geometry, x, slope, ENOUGH - used[near], low, high)
    return None if y is None else np.where(moving, np.clip(y, low, high), x)


def _solve(geometry: Geometry, x: Floats, slope: Floats, missing: Floats, low: Floats, high: Floats) -> Floats | None:
    """min cost(y) subject to slope (y - x) >= missing and low <= y <= high; squares are replaced by tangents at x."""
    n_dims, factual = x.size, geometry.factual
    price = geometry.rate
    if geometry.norm == NORM.SQUARES:
        price = geometry.rate**2 * (2.0 * np.abs(x - factual) + (high - low) / 2.0)
    up = zip(np.maximum(0.0, low - factual), np.maximum(0.0, high - factual), strict=True)
    down = zip(np.maximum(0.0, factual - high), np.maximum(0.0, factual - low), strict=True)
    bounds = [*up, *down]
    rows, right = np.hstack([-slope, slope]), -missing + slope @ (factual - x)
    cost = np.concatenate([price, price])
    if geometry.norm == NORM.LARGEST:
        lengths = np.hstack([np.diag(geometry.rate), np.diag(geometry.rate), -np.ones((n_dims, 1))])
        rows = np.vstack([np.hstack([rows, np.zeros((len(rows), 1))]), lengths])
        right = np.concatenate([right, np.zeros(n_dims)])
        bounds, cost = [*bounds, (0.0, math.inf)], np.concatenate([0.0 * cost, [1.0]])
    answer = optimize.linprog(cost, rows, right, bounds=bounds, method="highs")
    if answer.x is None or answer.status != 0:
        return None
    return np.asarray(factual + answer.x[:n_dims] - answer.x[n_dims : 2 * n_dims], dtype=np.float64)
