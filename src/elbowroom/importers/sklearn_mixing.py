"""Selections of columns, and steps that mix columns by an affine map (PCA, TruncatedSVD)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.sklearn_common import finite, require_fitted
from elbowroom.importers.steps import Selected, run
from elbowroom.importers.trace import SEVERAL, Trace, Way
from elbowroom.models.linear import Affine
from elbowroom.numerics import EPS, EPS32, Floats, gamma


def selection_stage(step: Any) -> Selected:
    """SelectKBest and relatives, VarianceThreshold, RFE, SelectFromModel: some columns, as they are."""
    require_fitted(step)
    return Selected(step, np.asarray(step.get_support(indices=True), dtype=np.int64))


@dataclass(frozen=True, eq=False)
class _Mixed:
    """y = W t + b, where the original may subtract a mean before or after multiplying: ``size`` bounds both ways."""

    step: Any
    weight: Floats
    bias: Floats
    size: Floats  # |W| |mean|: what cancels in the bias
    single: bool  # components and mean are float32: so is their product

    def apply(self, table: Any) -> Any:
        return run(self.step, table)

    def trace(self, before: Trace) -> Trace:
        name = type(self.step).__name__
        if not np.isin(before.way, (Way.STRAIGHT, Way.LOOKED)).all():
            raise UnsupportedModel(
                f"{name} mixes columns that a step before it has bent or mixed; put {name} in front of that step, or leave one of "
                "them out"
            )
        rows = []
        slack = gamma(2 * self.weight.shape[1] + 16, EPS32 if self.single else EPS)
        for w, b, size in zip(self.weight, self.bias, self.size, strict=True):
            made = _mixture(before, w)
            constant = made.error_constant + slack * (abs(b) + size)
            rows.append(replace(made, bias=made.bias + b, error_constant=constant))
        n = len(rows)
        zero = np.zeros(n)
        return Trace(
            way=np.full(n, int(Way.MIXED)), variable=np.full(n, SEVERAL), factor=zero, offset=zero, slope=zero,
            constant=zero, sense=np.zeros(n, np.int64), by=(name,) * n, mixed=tuple(rows), width_inside=before.width_inside,
            place=before.place,
        )  # fmt: skip

    @property
    def description(self) -> str:
        return type(self.step).__name__


def _mixture(before: Trace, weight: Floats) -> Affine:
    """One row w . t of straight columns and tables over categories, as a map of the inner columns."""
    midway = before.midway
    assert midway is not None
    inputs = midway.inputs
    slack, size = gamma(2 * weight.size + 16), np.abs(weight)
    row, slope = np.zeros((2, 1, inputs.width))
    line = np.flatnonzero(before.way == Way.STRAIGHT)
    place = inputs.starts[before.variable[line]]
    np.add.at(row[0], place, (weight * before.factor)[line])
    np.add.at(slope[0], place, (size * (before.slope + slack * (np.abs(before.factor) + before.slope)))[line])
    constant = size[line] @ (before.constant + slack * (np.abs(before.offset) + before.constant))[line]
    for j in np.flatnonzero(before.way == Way.LOOKED):
        members = inputs.members(int(before.variable[j]))
        part = weight[j] * midway.by_category[members, j]
        row[0, members] += part
        slope[0, members] += slack * np.abs(part)
    bias = np.array([weight[line] @ before.offset[line]])
    return Affine(row, bias, slope, np.array([constant]), *_at_missing(before, weight, slack))


def _at_missing(before: Trace, weight: Floats, slack: float) -> tuple[Floats | None, Floats | None]:
    """What a missing number adds to w . t instead of its own share, and how far that may be off."""
    assert before.midway is not None
    inputs, values = before.midway.inputs, before.midway.at_missing
    if values is None:
        return None, None
    share, error = np.full((2, 1, inputs.width), np.nan)
    for v in np.flatnonzero(inputs.is_number):
        mine = np.flatnonzero(before.variable == v)
        filled, offset = values[v, mine], before.offset[mine]  # the offset is part of the bias
        share[0, inputs.starts[v]] = weight[mine] @ (filled - offset)
        error[0, inputs.starts[v]] = slack * (np.abs(weight[mine]) @ (np.abs(filled) + np.abs(offset)))
    return share, error


def components_stage(step: Any) -> _Mixed:
    """PCA: (x - mean) C' (whitened: divided by the square roots of the variances); TruncatedSVD: x C'."""
    require_fitted(step)
    weight = finite(step, "components_", step.components_)
    mean = getattr(step, "mean_", None)
    center = np.zeros(weight.shape[1]) if mean is None else finite(step, "mean_", mean)
    if getattr(step, "whiten", False):
        variance = finite(step, "explained_variance_", step.explained_variance_)
        least = np.finfo(np.float64).eps
        scale = np.sqrt(variance)
        if (scale < least).any():
            raise UnsupportedModel(
                f"{type(step).__name__}(whiten=True) divides by a variance of 0; use fewer components"
            )
        weight = weight / scale[:, None]
    single = np.asarray(step.components_).dtype == np.float32
    return _Mixed(step, weight, -weight @ center, np.abs(weight) @ np.abs(center), single)
