"""How far the original's scores may be from the copy's, row by row: everything that rounding may do to them."""

from __future__ import annotations

import numpy as np

from elbowroom.models.linear import Affine
from elbowroom.models.oblique import ObliqueEnsemble
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import EPS, EPS32, TINY, Bools, Floats, gamma

_BLOCK = 500  # rows at a time, times all splits
_ROOM = 1.01  # norms and sums of errors are rounded, too


def off_hyperplanes(model: ObliqueEnsemble, X: Floats) -> Bools:
    """True where no rounding of the dot products changes a side."""
    inner = model.left >= 0
    off = np.ones(len(X), dtype=np.bool_)
    for start in range(0, len(X), _BLOCK):
        rows = X[start : start + _BLOCK]
        away = np.abs(rows @ model.weight[inner].T - model.threshold[inner])
        off[start : start + _BLOCK] = (away > 2.0 * model.split_error(np.abs(rows.T))[inner].T).all(axis=1)
    return off


def tree_error(model: TreeEnsemble | ObliqueEnsemble) -> Floats:
    total = np.abs(model.base) + np.maximum.reduceat(np.abs(model.value), model.roots).sum(axis=0)
    return np.asarray(2 * gamma(model.n_trees + 8, EPS32 if model.single else EPS) * total / model.divisor)


def affine_error(affine: Affine, magnitude: Floats) -> Floats:
    """`Affine.error`, row by row; a missing number has an error of its own."""
    slack = 1.0 + gamma(magnitude.shape[1] + 4)
    missing = np.isnan(magnitude)
    error = np.where(missing, 0.0, magnitude) @ affine.error_slope.T + affine.error_constant
    if affine.missing_value is not None and affine.missing_error is not None and missing.any():
        shares = np.nan_to_num(affine.missing_error + 4 * EPS * missing.shape[1] * np.abs(affine.missing_value))
        error = error + missing @ shares.T
    return np.asarray(error * slack)


def network_error(layers: tuple[Affine, ...], X: Floats) -> tuple[Floats, Floats]:
    """Outputs of ReLU layers, row by row, and how far the original's outputs may be from the ones computed here."""
    value, error, length = X, np.zeros_like(X), np.zeros((len(X), 1))  # a missing number is no error
    lost = np.zeros(len(X), dtype=np.bool_)
    for i, layer in enumerate(layers):
        if i:
            value = np.maximum(value, 0.0)  # the ReLU enlarges no error
        # the original's rounding and ours, each within the layer's own bound for inputs up to |value| + error
        own = 2 * affine_error(layer, np.abs(value) + error)
        if layer.range_slope is not None:  # beyond its range the original computes anything
            share = (np.abs(value) + error) @ layer.range_slope + layer.range_constant
            lost |= ~(share * _ROOM <= 1.0)
        # what is passed on, entry by entry or by the length of all errors together, whichever is smaller
        error = np.minimum(error @ np.abs(layer.weight).T, length * layer.row_lengths * _ROOM) + own
        if i < len(layers) - 1:
            grown = layer.spectral_norm * length * _ROOM if i else 0.0
            length = np.minimum(grown + _lengths(own), _lengths(error)) * _ROOM + TINY
        value = layer(value)
    error[lost] = np.inf
    return value, error


def _lengths(errors: Floats) -> Floats:
    return np.hypot.reduce(errors, axis=1, keepdims=True)
