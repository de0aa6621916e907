"""Feed-forward ReLU networks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elbowroom.models.base import ModelInfo, fingerprint_of
from elbowroom.models.linear import Affine
from elbowroom.numerics import Floats


@dataclass(frozen=True, eq=False)
class ReluNetwork:
    """scores(x) = A_L(relu(A_{L-1}(... relu(A_1(x))))) with at least one hidden layer."""

    info: ModelInfo
    layers: tuple[Affine, ...]

    def scores(self, X: Floats) -> Floats:
        hidden = X
        for layer in self.layers[:-1]:
            hidden = np.maximum(layer(hidden), 0.0)
        return self.layers[-1](hidden)

    @property
    def n_neurons(self) -> int:
        return sum(layer.bias.size for layer in self.layers[:-1])

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_of(self.info, *(array for layer in self.layers for array in layer.arrays))
