"""Affine maps with a bound on how far the original's floating-point evaluation may stray from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

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

    The bound holds while nothing overflows. Where the original computes in float32 that is not everywhere: then no number
    on the way leaves its range if range_slope |x| + range_constant <= 1, and elsewhere the error counts as infinite.
    """

    weight: Floats  # (outputs, inputs)
    bias: Floats  # (outputs,)
    error_slope: Floats  # (outputs, inputs), >= 0
    error_constant: Floats  # (outputs,), >= 0
    missing_value: Floats | None = None  # (outputs, inputs)
    missing_error: Floats | None = None
    range_slope: Floats | None = None  # (inputs,), >= 0; None: the original computes in float64
    range_constant: float = 0.0

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
            range_slope=self.range_slope,
            range_constant=self.range_constant,
        )

    def error(self, magnitude: Floats) -> Floats:
        """Bound on the evaluation error for all inputs with |x_f| <= magnitude_f."""
        if self.overflows(magnitude):
            return np.full(self.bias.size, np.inf)
        return (self.error_slope @ magnitude + self.error_constant) * (1.0 + gamma(magnitude.size + 4))

    def overflows(self, magnitude: Floats) -> bool:
        """True if the original's own numbers may leave their range for an input with |x_f| <= magnitude_f."""
        if self.range_slope is None:
            return False
        share = float(self.range_slope @ magnitude) + self.range_constant
        return not share * (1.0 + gamma(magnitude.size + 4)) <= 1.0  # NaN overflows, too

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
            **self._range_then(after),
        )

    def _range_then(self, after: Affine) -> dict[str, Any]:
        """Both maps must stay in range, the second one for what the first one hands on; sums of sizes are generous by a
        thousandth, far more than their own rounding."""
        slope, constant = self.range_slope, self.range_constant
        if after.range_slope is None:
            return {"range_slope": slope, "range_constant": constant}
        passed = after.range_slope @ (np.abs(self.weight) + self.error_slope)
        more = float(after.range_slope @ (np.abs(self.bias) + self.error_constant)) + after.range_constant
        slope = (passed if slope is None else slope + passed) * 1.001
        return {"range_slope": slope, "range_constant": (constant + more) * 1.001}

    @cached_property
    def row_lengths(self) -> Floats:
        """Euclidean lengths of the rows of W, up to rounding; no square is computed that could overflow or vanish."""
        return np.asarray(np.hypot.reduce(self.weight, axis=1))

    @cached_property
    def spectral_norm(self) -> float:
        """The largest factor by which W lengthens a vector, up to rounding."""
        return float(np.linalg.norm(self.weight, 2)) if self.weight.size else 0.0

    @property
    def arrays(self) -> tuple[Floats, ...]:
        optional = self.missing_value, self.missing_error, self.range_slope
        constant = () if self.range_slope is None else (np.array([self.range_constant]),)
        known = (array for array in optional if array is not None)
        return self.weight, self.bias, self.error_slope, self.error_constant, *known, *constant


@dataclass(frozen=True, eq=False)
class LinearModel:
    """scores(x) = W x + b.

    Attributes:
        info: Names, classes, and how scores become a class.
        affine: W and b, with a bound on the error of the original's own arithmetic.

    Examples:
        >>> from sklearn.linear_model import LogisticRegression
        >>> read_model(LogisticRegression().fit(X, model.predict(X))).affine.weight.shape
        (1, 3)
    """

    info: ModelInfo
    affine: Affine

    def scores(self, X: Floats) -> Floats:
        """What the model computes before it decides.

        Args:
            X: Rows of inner floats.

        Returns:
            One row of scores per row.
        """
        return self.affine(X)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything that decides about its outputs."""
        return fingerprint_of(self.info, *self.affine.arrays)
