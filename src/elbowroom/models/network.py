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
    """scores(x) = A_L(relu(A_{L-1}(... relu(A_1(x))))) with at least one hidden layer.

    Attributes:
        info: Names, classes, and how scores become a class.
        layers: A_1 to A_L, each with a bound on the error of the original's own arithmetic.

    Examples:
        >>> from sklearn.neural_network import MLPClassifier
        >>> read_model(MLPClassifier((4,), max_iter=5).fit(X, model.predict(X))).n_neurons
        4
    """

    info: ModelInfo
    layers: tuple[Affine, ...]

    def scores(self, X: Floats) -> Floats:
        """What the model computes before it decides.

        Args:
            X: Rows of inner floats.

        Returns:
            One row of scores per row.
        """
        hidden = X
        for layer in self.layers[:-1]:
            hidden = np.maximum(layer(hidden), 0.0)
        return self.layers[-1](hidden)

    @property
    def n_neurons(self) -> int:
        """In all hidden layers."""
        return sum(layer.bias.size for layer in self.layers[:-1])

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything that decides about its outputs."""
        return fingerprint_of(self.info, *(array for layer in self.layers for array in layer.arrays))
