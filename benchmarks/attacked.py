"""Attacks on answers about networks that use nothing of the product but the region itself.

The network is read from the trained scikit-learn object. From many random starts, steps to the extreme point of the
region against the gradient (Frank-Wolfe), full ones first, then half ones; every point is labelled by
``model.predict``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elbowroom.problem import Body, Shape

STARTS = 300
FULL_STEPS, HALF_STEPS = 16, 12


def attack_network(
    model: Any, body: Body, wanted: Any, starts: int = STARTS, seed: int = 0
) -> tuple[float, np.ndarray]:
    """The smallest margin of the wanted class that was found, and the points (all inside the body) to be predicted."""
    rng = np.random.default_rng(seed)
    sign = 1.0 if wanted == model.classes_[1] else -1.0
    points = _extreme(body, rng.standard_normal((starts, body.center.size)))
    points[0] = body.center
    best, lowest = points.copy(), np.full(starts, np.inf)
    visited = [points]
    for step in [1.0] * FULL_STEPS + [0.5] * HALF_STEPS:
        value, slope = _margin(model, points, sign)
        lower = value < lowest
        best[lower], lowest[lower] = points[lower], value[lower]
        aim = _extreme(body, slope)
        points = aim if step == 1.0 else best + step * (_extreme(body, _margin(model, best, sign)[1]) - best)
        visited.append(points)
    everything = np.unique(np.concatenate([*visited, best]), axis=0)
    everything = everything[body.contains(everything)]
    return float(_margin(model, everything, sign)[0].min()), everything


def _margin(model: Any, points: np.ndarray, sign: float) -> tuple[np.ndarray, np.ndarray]:
    """Signed logit and its gradient."""
    hidden, active = points, []
    for weight, bias in zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True):
        hidden = hidden @ weight + bias
        active.append(hidden > 0.0)
        hidden = hidden * active[-1]
    value = sign * (hidden @ model.coefs_[-1] + model.intercepts_[-1])[:, 0]
    slope = np.broadcast_to(sign * model.coefs_[-1][:, 0], hidden.shape)
    for weight, on in zip(model.coefs_[-2::-1], active[::-1], strict=True):
        slope = (slope * on) @ weight.T
    return value, slope


def _extreme(body: Body, slope: np.ndarray) -> np.ndarray:
    """The corner of a box against the slope; for balls the steepest point, clipped to the limits (still inside)."""
    if body.shape is Shape.BOX:
        return np.where(slope > 0.0, body.lower, np.where(slope < 0.0, body.upper, body.center))
    scaled = slope * body.axes
    length = np.sqrt(np.square(scaled).sum(axis=1, keepdims=True))
    shift = scaled / np.maximum(length, 1e-300) * body.axes * (1.0 - 1e-12)
    return np.clip(body.center - shift, body.lower, body.upper)
