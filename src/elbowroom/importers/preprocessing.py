"""What lies between the raw columns and a model: scalers and column selections, folded exactly.

Every transformed column is one raw column t_j = F_j x_s(j) + O_j with F_j > 0, up to rounding. Cuts on t_j become cuts
on x_s(j) by bisection through the original's own ``transform``; weights are multiplied out, with every rounding counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from elbowroom.models.linear import Affine
from elbowroom.numerics import BIGGEST, TINY, Bools, Floats, Ints, gamma, last_float_where


@dataclass(frozen=True, eq=False)
class Scaling:
    """Column by column: |computed t_j - (factor_j x_source(j) + offset_j)| <= error_slope_j |x| + error_constant_j."""

    source: Ints  # raw column of each transformed column
    factor: Floats
    offset: Floats
    error_slope: Floats
    error_constant: Floats

    @classmethod
    def identity(cls, width: int) -> Scaling:
        zero = np.zeros(width)
        return cls(np.arange(width, dtype=np.int64), np.ones(width), zero, zero, zero)

    def take(self, columns: Ints) -> Scaling:
        return Scaling(
            self.source[columns], self.factor[columns], self.offset[columns],
            self.error_slope[columns], self.error_constant[columns],
        )  # fmt: skip

    @staticmethod
    def side_by_side(parts: list[Scaling]) -> Scaling:
        return Scaling(
            np.concatenate([p.source for p in parts]),
            np.concatenate([p.factor for p in parts]),
            np.concatenate([p.offset for p in parts]),
            np.concatenate([p.error_slope for p in parts]),
            np.concatenate([p.error_constant for p in parts]),
        )

    def then(self, factor: Floats, offset: Floats) -> Scaling:
        """Another scaler behind this one, y = factor t + offset, computed with at most two roundings.

        (t - c) / s and t * f + o are both off by at most gamma(4) (|factor t| + |offset|), where ``factor`` and
        ``offset`` are themselves rounded once; multiplying out costs three roundings more.
        """
        slack = gamma(8)
        size = np.abs(factor)
        return Scaling(
            self.source,
            factor * self.factor,
            factor * self.offset + offset,
            size * self.error_slope + slack * size * (np.abs(self.factor) + self.error_slope),
            size * self.error_constant
            + slack * (size * (np.abs(self.offset) + self.error_constant) + np.abs(offset))
            + TINY,
        )

    def affine(self, weight: Floats, bias: Floats, width: int) -> Affine:
        """The map W t + b of the transformed columns as a map of the ``width`` raw columns.

        A raw column that is used several times collects its weights. The products W F, their sums, the original's dot
        product over the transformed columns and its addition of b are all covered by gamma(2 n + 16).
        """
        weight = np.array(weight, dtype=np.float64)
        bias = np.array(bias, dtype=np.float64)
        slack = gamma(2 * weight.shape[1] + 16)
        size = np.abs(weight)
        slope = size * (self.error_slope + slack * (np.abs(self.factor) + self.error_slope))
        constant = size @ (self.error_constant + slack * (np.abs(self.offset) + self.error_constant))
        raw_weight, raw_slope = np.zeros((len(weight), width)), np.zeros((len(weight), width))
        np.add.at(raw_weight.T, self.source, (weight * self.factor).T)
        np.add.at(raw_slope.T, self.source, slope.T)
        return Affine(raw_weight, weight @ self.offset + bias, raw_slope, constant + slack * np.abs(bias))


class Stage(Protocol):
    """One stage of preprocessing: how it computes, and what it is in real numbers."""

    def apply(self, X: Floats) -> Floats:
        """The original's own arithmetic; overflow is cut back to the largest float, which keeps the order."""
        ...

    def scaling(self, before: Scaling) -> Scaling: ...

    @property
    def description(self) -> str: ...


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """Raw column names and the stages in front of the model that is being read."""

    names: tuple[str, ...]
    stages: tuple[Stage, ...] = ()

    @property
    def width(self) -> int:
        """Number of raw columns."""
        return len(self.names)

    def behind(self, stage: Stage) -> Preprocessing:
        return Preprocessing(self.names, (*self.stages, stage))

    @property
    def scaling(self) -> Scaling:
        scaling = Scaling.identity(self.width)
        for stage in self.stages:
            scaling = stage.scaling(scaling)
        return scaling

    def apply(self, X: Floats) -> Floats:
        """The transformed rows, by the original's own transforms."""
        for stage in self.stages:
            X = stage.apply(X)
        return X

    def source_name(self, model: object) -> str:
        """What was read, human-readable."""
        package = type(model).__module__.partition(".")[0]
        parts = [stage.description for stage in self.stages]
        name = type(model).__name__
        return f"{package} Pipeline({', '.join([*parts, name])})" if parts else f"{package} {name}"

    def affine(self, weight: Floats, bias: Floats) -> Affine:
        if not self.stages:
            return Affine.exact(weight, bias)
        return self.scaling.affine(weight, bias, self.width)

    def cuts(
        self, column: Ints, threshold: Floats, goes_left: Callable[[Floats, Floats], Bools]
    ) -> tuple[Ints, Floats]:
        """Raw column and exact cut of every split: x <= cut iff goes_left(transformed x, threshold).

        All distinct splits are bisected at once. Candidates of different raw columns share the rows of one matrix,
        because every transformed column depends on its own raw column alone.
        """
        source = self.scaling.source
        if not len(column):
            return column, threshold
        pairs, where = np.unique(np.stack([column.astype(np.float64), threshold]), axis=1, return_inverse=True)
        columns, thresholds = pairs[0].astype(np.int64), pairs[1]
        raw = source[columns]
        row = _rank_within(raw)
        matrix = np.zeros((int(row.max()) + 1, self.width))

        def holds(candidate: Floats) -> Bools:
            if not self.stages:
                return goes_left(candidate, thresholds)
            matrix[row, raw] = candidate
            return goes_left(self.apply(matrix)[row, columns], thresholds)

        with np.errstate(over="ignore"):
            edge = last_float_where(holds, len(columns), -BIGGEST, BIGGEST)
        return source[column], edge[where.ravel()]


def _rank_within(group: Ints) -> Ints:
    """For every entry: how many earlier entries have the same value."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    first = np.searchsorted(ordered, ordered, side="left")
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = np.arange(len(group)) - first
    return rank
