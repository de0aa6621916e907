"""Affine maps with a bound on how far the original's floating-point evaluation may stray from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elbowroom.models.base import ModelInfo, fingerprint_of
from elbowroom.numerics import Floats, gamma


@dataclass(frozen=True, eq=False)
class Affine:
    """z = W x + b in real numbers, with |computed z - z| <= error_slope |x| + error_constant.

    ``computed z`` is what the original library returns for the same x, whatever its summation order, batch size, fused
    operations and scalers in front. The entries of W and b are floats; the distance between them and the real weights
    of the folded original is part of the error terms.
    """

    weight: Floats  # (outputs, inputs)
    bias: Floats  # (outputs,)
    error_slope: Floats  # (outputs, inputs), >= 0
    error_constant: Floats  # (outputs,), >= 0

    @classmethod
    def exact(cls, weight: Floats, bias: Floats) -> Affine:
        """The map of a plain dot product: n products and n additions, in any order."""
        weight = np.array(weight, dtype=np.float64)
        bias = np.array(bias, dtype=np.float64)
        slack = gamma(weight.shape[1] + 4)
        return cls(weight, bias, np.abs(weight) * slack, np.abs(bias) * slack)

    def __call__(self, x: Floats) -> Floats:
        return x @ self.weight.T + self.bias

    def error(self, magnitude: Floats) -> Floats:
        """Bound on the evaluation error for all inputs with |x_f| <= magnitude_f."""
        return (self.error_slope @ magnitude + self.error_constant) * (1.0 + gamma(magnitude.size + 4))

    def then(self, after: Affine) -> Affine:
        """The composition after(self(x)), with the errors of both and of the composition itself."""
        slack = gamma(self.weight.shape[0] + 4)
        size = np.abs(after.weight) + after.error_slope
        return Affine(
            after.weight @ self.weight,
            after.weight @ self.bias + after.bias,
            size @ self.error_slope + after.error_slope @ np.abs(self.weight) + slack * size @ np.abs(self.weight),
            size @ self.error_constant
            + after.error_slope @ np.abs(self.bias)
            + after.error_constant
            + slack * (size @ np.abs(self.bias) + np.abs(after.bias)),
        )

    @property
    def arrays(self) -> tuple[Floats, ...]:
        return self.weight, self.bias, self.error_slope, self.error_constant


@dataclass(frozen=True, eq=False)
class LinearModel:
    """scores(x) = W x + b."""

    info: ModelInfo
    affine: Affine

    def scores(self, X: Floats) -> Floats:
        return self.affine(X)

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_of(self.info, *self.affine.arrays)
