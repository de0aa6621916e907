"""The margins of a network as a batch function with gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.models import NetworkMargins
from elbowroom.numerics import Floats, Ints


@dataclass(frozen=True, eq=False)
class MarginNetwork:
    """margin_r(y) = (W_L relu(... relu(W_1 y + b_1)) + b_L)_r - slack_r; wanted: >= 0 for every rival r."""

    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]

    @classmethod
    def of(cls, margins: NetworkMargins) -> MarginNetwork:
        weights = tuple(layer.weight for layer in margins.layers)
        biases = [layer.bias for layer in margins.layers]
        biases[-1] = biases[-1] - margins.slack
        return cls(weights, tuple(biases))

    def divided(self, size: float) -> MarginNetwork:
        """The same margins in units of ``size``."""
        return MarginNetwork((*self.weights[:-1], self.weights[-1] / size), (*self.biases[:-1], self.biases[-1] / size))

    @property
    def depth(self) -> int:
        """Number of hidden layers."""
        return len(self.weights) - 1

    @property
    def n_neurons(self) -> int:
        return sum(bias.size for bias in self.biases[:-1])

    @property
    def n_rivals(self) -> int:
        return int(self.biases[-1].size)

    def margins(self, Y: Floats) -> Floats:
        """(points, rivals)."""
        hidden = Y
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            hidden = np.maximum(hidden @ weight.T + bias, 0.0)
        return np.asarray(hidden @ self.weights[-1].T + self.biases[-1])

    def worst(self, Y: Floats) -> Floats:
        """The smallest margin at every point."""
        return np.asarray(self.margins(Y).min(axis=1))

    def gradient(self, Y: Floats, rival: Ints | None = None) -> tuple[Floats, Floats, Ints]:
        """Margin of one rival per point (the closest by default), its gradient, and the rival."""
        hidden = Y
        active = []
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            z = hidden @ weight.T + bias
            active.append(z > 0.0)
            hidden = z * active[-1]
        out = hidden @ self.weights[-1].T + self.biases[-1]
        if rival is None:
            rival = np.asarray(np.argmin(out, axis=1), dtype=np.int64)
        slope = self.weights[-1][rival]
        for weight, on in zip(self.weights[-2::-1], active[::-1], strict=True):
            slope = (slope * on) @ weight
        return out[np.arange(len(Y)), rival], slope, rival

    def steepness(self) -> Floats:
        """Bound on |d margin_r / d y_f| everywhere: |W_L| ... |W_1|, (rivals, columns)."""
        product = np.abs(self.weights[-1])
        for weight in self.weights[-2::-1]:
            product = product @ np.abs(weight)
        return product

    def rounding(self, magnitude: Floats) -> float:
        """How far any layer's values computed here for |y| <= magnitude may be from the real ones (generous)."""
        size, largest = magnitude, 0.0
        for weight, bias in zip(self.weights, self.biases, strict=True):
            size = np.abs(weight) @ size + np.abs(bias)
            largest = max(largest, float(size.max()))
        operations = sum(sum(weight.shape) + 8 for weight in self.weights)
        return largest * operations * 2.0**-51


def expected_error(margins: NetworkMargins, points: Floats) -> float:
    """How far the original's own margins may be from the real ones at the points, the largest of them: an estimate of what
    the judge will ask for."""
    hidden, error, length = points, np.zeros(points.shape), np.zeros(len(points))
    for k, layer in enumerate(margins.layers):
        own = (np.abs(hidden) + error) @ layer.error_slope.T + layer.error_constant
        error = np.minimum(error @ np.abs(layer.weight).T, np.outer(length, layer.row_lengths)) + own
        if k < len(margins.layers) - 1:
            grown = layer.spectral_norm * length if k else length
            length = np.minimum(grown + np.linalg.norm(own, axis=1), np.linalg.norm(error, axis=1))
            hidden = np.maximum(layer(hidden), 0.0)
    return float(error.max(initial=0.0))
