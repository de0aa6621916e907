"""Quick attempts to find a point of the wrong class before any proof is tried. Misses prove nothing."""

from __future__ import annotations

import numpy as np

from elbowroom.certify.inputs import InputSet
from elbowroom.models import Affine
from elbowroom.numerics import Floats
from elbowroom.problem.shapes import length

_STARTS = 8
_STEPS = 12
_SHRINKS = (0.0, 1e-15, 1e-14, 1e-12, 1e-9, 1e-6)


def attack(layers: tuple[Affine, ...], needed: Floats, inputs: InputSet) -> tuple[Floats, int]:
    """The point with the smallest margin that gradient steps to the minimizer of the local linear piece find, with its
    row. Starts: the centre and points near random corners, the same ones in every call."""
    rng = np.random.default_rng(0)
    center = np.clip(inputs.body.center, inputs.lower, inputs.upper)
    starts = [center] + [inputs.minimizer(rng.normal(size=center.size)) for _ in range(_STARTS)]
    best, best_rival, smallest = center, 0, np.inf
    for rival in range(needed.size):
        for start in starts:
            point = start
            previous = np.inf
            for _ in range(_STEPS):
                value, gradient = _piece(layers, point, rival)
                if value - needed[rival] < smallest:
                    best, best_rival, smallest = point, rival, value - needed[rival]
                if value >= previous:
                    break
                previous = value
                point = inputs.minimizer(gradient)
    return best, best_rival


def _piece(layers: tuple[Affine, ...], point: Floats, rival: int) -> tuple[float, Floats]:
    """Value and gradient of one margin at a point."""
    masks, hidden = [], point
    for layer in layers[:-1]:
        z = layer(hidden)
        masks.append(z > 0.0)
        hidden = np.where(masks[-1], z, 0.0)
    gradient = layers[-1].weight[rival]
    value = float(gradient @ hidden + layers[-1].bias[rival])
    for layer, mask in zip(reversed(layers[:-1]), reversed(masks), strict=True):
        gradient = (gradient * mask) @ layer.weight
    return value, gradient


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
