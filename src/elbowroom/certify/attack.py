"""Quick attempts to find a point of the wrong class before any proof is tried. Misses prove nothing."""

from __future__ import annotations

import numpy as np

from elbowroom.certify.inputs import InputSet
from elbowroom.models import Affine
from elbowroom.numerics import Floats, Ints
from elbowroom.problem.shapes import length

_STARTS = 24
_STEPS = 12
_SLID, _SLIDES, _SHORTER = 6, 10, 0.6
_SHRINKS = (0.0, 1e-15, 1e-14, 1e-12, 1e-9, 1e-6)


def attack(layers: tuple[Affine, ...], needed: Floats, inputs: InputSet) -> tuple[Floats, int]:
    """The point with the smallest margin that gradient steps to the minimizer of the local linear piece find, with its
    row: all rivals at once, the worst one at every point. Full steps first, then shorter ones from the worst points, because
    deep networks are lowest between the corners, too. Starts: the centre and points near random corners, the same ones in
    every call."""
    rng = np.random.default_rng(0)
    center = np.clip(inputs.body.center, inputs.lower, inputs.upper)
    Y = np.vstack([center[None], inputs.minimizers(rng.normal(size=(_STARTS, center.size)))])
    best, points, live = np.full(len(Y), np.inf), Y.copy(), np.arange(len(Y))
    for _ in range(_STEPS):
        value, slope, _ = _pieces(layers, needed, Y[live])
        better = value < best[live]
        live = live[better]
        if not live.size:
            break
        best[live], points[live] = value[better], Y[live]
        Y[live] = inputs.minimizers(slope[better])
    order = np.argsort(best, kind="stable")[:_SLID]
    points, best, step = points[order], best[order], 0.5
    if len(layers) > 2:
        Y = points.copy()
        for _ in range(_SLIDES):
            value, slope, _ = _pieces(layers, needed, Y)
            better = value < best
            points[better], best[better] = Y[better], value[better]
            Y = points + step * (inputs.minimizers(slope) - points)
            step *= _SHORTER
    worst = points[int(np.argmin(best))]
    return worst, int(_pieces(layers, needed, worst[None])[2][0])


def _pieces(layers: tuple[Affine, ...], needed: Floats, points: Floats) -> tuple[Floats, Floats, Ints]:
    """The smallest margin at every point, beyond what is needed, its gradient, and its row."""
    masks, hidden = [], points
    for layer in layers[:-1]:
        z = hidden @ layer.weight.T + layer.bias
        masks.append(z > 0.0)
        hidden = np.where(masks[-1], z, 0.0)
    margin = hidden @ layers[-1].weight.T + layers[-1].bias - needed
    rival = np.argmin(margin, axis=1)
    slope = layers[-1].weight[rival]
    for layer, mask in zip(reversed(layers[:-1]), reversed(masks), strict=True):
        slope = (slope * mask) @ layer.weight
    return margin[np.arange(len(points)), rival], slope, rival


def snap(inputs: InputSet, point: Floats) -> Floats | None:
    """The point itself or one nearby that lies in the body: whole where it must be, pulled towards the centre until it
    is inside a ball or diamond."""
    body, columns = inputs.body, inputs.round_columns
    center = np.clip(body.center, inputs.lower, inputs.upper)
    used = length(body.shape, np.abs(point - body.center)[columns] / body.axes[columns])
    outside = max(0.0, 1.0 - 1.0 / used) if used > 0.0 else 0.0
    for shrink in _SHRINKS:
        x = np.clip(point + (outside + shrink) * (center - point), inputs.lower, inputs.upper)
        nearest = np.where(body.whole, np.round(x), x) + 0.0
        inwards = np.where(body.whole, np.where(x > center, np.floor(x), np.ceil(x)), x) + 0.0
        for candidate in (nearest, inwards):
            if body.contains(candidate)[0]:
                return candidate
    return None
