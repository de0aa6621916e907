"""Affine maps with a bound on how far the original's floating-point evaluation may stray from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elbowroom.models.base import ModelInfo, fingerprint_of
from elbowroom.numerics import Bools, Floats, gamma


@dataclass(frozen=True, eq=False)
class Affine:
    """z = W x + b in real numbers, with |computed z - z| <= error_slope |x| + error_constant.

    ``computed z`` is what the original library returns for the same x, whatever its summation order, batch size, fused
    operations and scalers in front. The entries of W and b are floats; the distance between them and the real weights
    of the folded original is part of the error terms.

    A missing number (NaN) in column f adds ``missing_value[:, f]`` instead of W_f x_f, off by at most ``missing_error[:,
    f]``; where that is NaN, or None, the original refuses missing numbers.
    """

    weight: Floats  # (outputs, inputs)
    bias: Floats  # (outputs,)
    error_slope: Floats  # (outputs, inputs), >= 0
    error_constant: Floats  # (outputs,), >= 0
    missing_value: Floats | None = None  # (outputs, inputs)
    missing_error: Floats | None = None

    @classmethod
    def exact(cls, weight: Floats, bias: Floats) -> Affine:
        """The map of a plain dot product: n products and n additions, in any order."""
        weight = np.array(weight, dtype=np.float64)
        bias = np.array(bias, dtype=np.float64)
        slack = gamma(weight.shape[1] + 4)
        return cls(weight, bias, np.abs(weight) * slack, np.abs(bias) * slack)

    def __call__(self, x: Floats) -> Floats:
        if self.missing_value is None:
            return x @ self.weight.T + self.bias
        missing = np.isnan(x)
        there = np.where(missing, 0.0, x) @ self.weight.T + self.bias
        return there + missing @ np.nan_to_num(self.missing_value).T

    @property
    def may_miss(self) -> Bools:
        """Columns in which the original takes a missing number."""
        if self.missing_value is None:
            return np.zeros(self.weight.shape[1], dtype=np.bool_)
        return np.asarray(np.isfinite(self.missing_value).all(axis=0))

    def with_missing(self, missing: Bools) -> Affine:
        """The map for rows whose ``missing`` columns hold no number: these are part of the constant."""
        if not missing.any():
            return self
        assert self.missing_value is not None  # `may_miss` was asked first
        assert self.missing_error is not None
        added, error = self.missing_value[:, missing], self.missing_error[:, missing]
        slack = gamma(self.weight.shape[1] + 4)
        size = np.abs(added).sum(axis=1) + np.abs(self.bias)
        return Affine(
            np.where(missing, 0.0, self.weight),
            self.bias + added.sum(axis=1),
            np.where(missing, 0.0, self.error_slope),
            self.error_constant + (1.0 + slack) * error.sum(axis=1) + slack * size,
        )

    def error(self, magnitude: Floats) -> Floats:
        """Bound on the evaluation error for all inputs with |x_f| <= magnitude_f."""
        return (self.error_slope @ magnitude + self.error_constant) * (1.0 + gamma(magnitude.size + 4))

    def then(self, after: Affine) -> Affine:
        """The composition after(self(x)), with the errors of both and of the composition itself."""
        slack = gamma(self.weight.shape[0] + 4)
        size = np.abs(after.weight) + after.error_slope
        missing_value = missing_error = None
        if self.missing_value is not None and self.missing_error is not None:
            missing_value = after.weight @ self.missing_value
            off = after.error_slope + slack * size
            missing_error = size @ self.missing_error + off @ np.abs(self.missing_value)
        return Affine(
            after.weight @ self.weight,
            after.weight @ self.bias + after.bias,
            size @ self.error_slope + after.error_slope @ np.abs(self.weight) + slack * size @ np.abs(self.weight),
            size @ self.error_constant
            + after.error_slope @ np.abs(self.bias)
            + after.error_constant
            + slack * (size @ np.abs(self.bias) + np.abs(after.bias)),
            missing_value,
            missing_error,
        )

    @property
    def arrays(self) -> tuple[Floats, ...]:
        plain = self.weight, self.bias, self.error_slope, self.error_constant
        if self.missing_value is None or self.missing_error is None:
            return plain
        return *plain, self.missing_value, self.missing_error


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
