"""What every column that a model sees is made of.

A transformed column t_j is, up to rounding, one of five things:

* STRAIGHT: a line F_j x_v + O_j of one raw number, |computed t_j - (F_j x_v + O_j)| <= slope_j |x_v| + constant_j;
* CURVE: another monotone function of one raw number, known only through the original's own ``transform``;
* LOOKED: a table over the categories of one raw column;
* BINNED: a table over the bins of one raw number;
* MIXED: an affine map of several inner columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.inputs import Inputs
from elbowroom.importers.midway import Midway
from elbowroom.models.linear import Affine
from elbowroom.numerics import TINY, Floats, Ints, gamma
from elbowroom.visible import named

SEVERAL = -1  # the variable of a mixed column


class Way(IntEnum):
    STRAIGHT = 0
    CURVE = 1
    LOOKED = 2
    MIXED = 3
    BINNED = 4


def _picked(pick: Callable[[Any, Ints], Any], columns: Ints, table: Any) -> Any:
    return pick(table, columns)


@dataclass(frozen=True, eq=False)
class Trace:
    """One entry per transformed column; ``factor`` to ``constant`` are meant for straight ones only."""

    way: Ints
    variable: Ints  # the raw column it depends on
    factor: Floats
    offset: Floats
    slope: Floats
    constant: Floats
    sense: Ints  # of numbers: 1 rising, -1 falling, 0 neither (constant)
    by: tuple[str, ...]  # curves: the step that made them
    mixed: tuple[Affine | None, ...]  # mixed columns: one row over the inner columns
    width_inside: int  # number of inner columns
    place: Ints  # (raw columns,) the first inner column of each
    bins: tuple[
        Floats | None, ...
    ] = ()  # binned columns: the last raw number of every bin but the last one; (): no bins
    midway: Midway | None = None  # the table that arrives here

    @classmethod
    def of(cls, inputs: Inputs) -> Trace:
        """The raw columns themselves."""
        n = len(inputs.columns)
        ones, zero = np.ones(n), np.zeros(n)
        way = np.where(inputs.is_number, int(Way.STRAIGHT), int(Way.LOOKED)).astype(np.int64)
        none: tuple[Affine | None, ...] = (None,) * n
        sense = np.ones(n, np.int64)
        return cls(
            way, np.arange(n), ones, zero, zero, zero, sense, ("",) * n, none, inputs.width, inputs.starts[:-1],
            midway=Midway(inputs, inputs.table),
        )  # fmt: skip

    @property
    def width(self) -> int:
        return len(self.way)

    def bins_of(self, variable: int, name: str) -> Floats:
        """The bins of one raw number; a number that several steps bin in different ways is refused."""
        found = [c for c, v in zip(self.bins, self.variable, strict=True) if v == variable and c is not None]
        if any(not np.array_equal(cuts, found[0]) for cuts in found):
            raise UnsupportedModel(
                f"column {named(name)} is binned in two different ways at once, which cannot be read exactly; use one "
                "KBinsDiscretizer for it, or give the second one a copy of the column"
            )
        return found[0]

    def take(self, columns: Ints) -> Trace:
        return Trace(
            self.way[columns], self.variable[columns], self.factor[columns], self.offset[columns], self.slope[columns],
            self.constant[columns], self.sense[columns], tuple(self.by[i] for i in columns),
            tuple(self.mixed[i] for i in columns), self.width_inside, self.place,
            tuple(self.bins[i] for i in columns) if self.bins else (),
        )  # fmt: skip

    def chosen(self, columns: Ints, pick: Callable[[Any, Ints], Any]) -> Trace:
        """Some columns, and tables of them."""
        midway = None if self.midway is None else self.midway.behind(partial(_picked, pick, columns))
        return replace(self.take(columns), midway=midway)

    @property
    def rows_of_mixtures(self) -> dict[int, Affine]:
        return {j: row for j, row in enumerate(self.mixed) if row is not None and self.way[j] == Way.MIXED}

    @staticmethod
    def side_by_side(parts: list[Trace]) -> Trace:
        arrays = ("way", "variable", "factor", "offset", "slope", "constant", "sense")
        joined: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in arrays}
        by = tuple(name for part in parts for name in part.by)
        mixed = tuple(row for part in parts for row in part.mixed)
        bins = tuple(cut for part in parts for cut in part.bins or (None,) * part.width)
        return Trace(
            **joined, by=by, mixed=mixed, width_inside=parts[0].width_inside, place=parts[0].place, bins=bins
        )  # fmt: skip

    def then(self, factor: Floats, offset: Floats) -> Trace:
        """A scaler behind this, y = factor t + offset, computed with at most two roundings.

        (t - c) / s and t * f + o are both off by at most gamma(4) (|factor t| + |offset|), where ``factor`` and
        ``offset`` are themselves rounded once; multiplying out costs three roundings more.
        """
        slack = gamma(8)
        size = np.abs(factor)
        mixed = tuple(
            None if row is None else row.then(Affine.exact(np.array([[factor[i]]]), np.array([offset[i]])))
            for i, row in enumerate(self.mixed)
        )
        return replace(
            self,
            factor=factor * self.factor,
            offset=factor * self.offset + offset,
            slope=size * self.slope + slack * size * (np.abs(self.factor) + self.slope),
            constant=size * self.constant
            + slack * (size * (np.abs(self.offset) + self.constant) + np.abs(offset))
            + TINY,
            sense=self.sense * np.sign(factor).astype(np.int64),
            mixed=mixed,
        )

    def bent(self, by: str, sense: int = 1) -> Trace:
        """Behind a monotone function of each column: numbers become curves, tables stay tables."""
        self.refuse_mixed(by)
        number = ~np.isin(self.way, (Way.LOOKED, Way.BINNED))  # tables stay tables
        return replace(
            self,
            way=np.where(number, int(Way.CURVE), self.way),
            sense=self.sense * sense,
            by=tuple(by if n else old for n, old in zip(number, self.by, strict=True)),
        )

    def binned(self, source: Ints, cuts: Sequence[Floats], by: str) -> Trace:
        """Several columns per input column, each a table over its bins; only raw numbers can be cut into bins exactly."""
        plain = (self.way == Way.STRAIGHT) & (self.factor == 1.0) & (self.offset == 0.0)
        if not (plain | (self.way == Way.LOOKED)).all():
            raise UnsupportedModel(
                f"{by} makes 0/1 columns of numbers that another step has changed before; put {by} in front of the other "
                'steps, or fit it with encode="ordinal"'
            )
        taken = self.take(source)
        number = taken.way == Way.STRAIGHT
        return replace(
            taken,
            way=np.where(number, int(Way.BINNED), taken.way),
            by=(by,) * source.size,
            bins=tuple(cuts[i] if is_number else None for i, is_number in zip(source, number, strict=True)),
        )

    def constants(self, offset: Floats) -> Trace:
        """Columns that are constant for every number (an indicator of missing values): only the variable is kept."""
        zero = np.zeros(self.width)
        way = np.where(self.way == Way.CURVE, int(Way.STRAIGHT), self.way)
        none: tuple[Affine | None, ...] = (None,) * self.width
        return replace(
            self, way=way, factor=zero, offset=offset, slope=zero, constant=zero,
            sense=np.zeros(self.width, np.int64), mixed=none,
        )  # fmt: skip

    def refuse_mixed(self, by: str) -> None:
        if (self.way == Way.MIXED).any():
            raise UnsupportedModel(
                f"{by} comes after a step that mixes columns, such as PCA; what it does to a mixture of columns cannot be "
                f"folded exactly: put {by} before that step, or leave that step out"
            )

    def refuse_curves(self, inputs: Inputs, model: str) -> None:
        """Linear models and networks need lines."""
        bent = np.flatnonzero(np.isin(self.way, (Way.CURVE, Way.BINNED)))
        if bent.size:
            j = int(bent[0])
            name = inputs.columns[self.variable[j]].name
            raise UnsupportedModel(
                f"{model}: {self.by[j]} bends column {name!r}, and a linear model or a network behind it is not piecewise "
                f"linear in {name!r}; use a model of trees behind {self.by[j]}, or explain the transformed columns"
            )

    def affine(self, weight: Floats, bias: Floats, inputs: Inputs, tables: Floats, model: str) -> Affine:
        """The map W t + b of the transformed columns as a map of the inner columns.

        ``tables`` holds the transformed row of every category, one row per inner column. An inner column that is used
        several times collects its weights. The products W F, their sums, the original's dot product over the
        transformed columns and its addition of b are all covered by gamma(2 n + 16).
        """
        self.refuse_curves(inputs, model)
        weight, bias = np.array(weight, dtype=np.float64), np.array(bias, dtype=np.float64)
        slack = gamma(2 * weight.shape[1] + 16)
        line = np.flatnonzero(self.way == Way.STRAIGHT)
        size = np.abs(weight[:, line])
        slope = size * (self.slope + slack * (np.abs(self.factor) + self.slope))[line]
        constant = size @ (self.constant + slack * (np.abs(self.offset) + self.constant))[line]
        raw_weight, raw_slope = np.zeros((len(weight), inputs.width)), np.zeros((len(weight), inputs.width))
        place = inputs.starts[self.variable[line]]
        np.add.at(raw_weight.T, place, (weight[:, line] * self.factor[line]).T)
        np.add.at(raw_slope.T, place, slope.T)
        raw_bias = weight[:, line] @ self.offset[line] + bias
        for j in np.flatnonzero(self.way == Way.LOOKED):
            members = inputs.members(int(self.variable[j]))
            part = weight[:, [j]] * tables[members, j]
            raw_weight[:, members] += part
            raw_slope[:, members] += slack * np.abs(part)
        for j in np.flatnonzero(self.way == Way.MIXED):
            row = self.mixed[j]
            assert row is not None
            part = np.abs(weight[:, [j]])
            raw_weight += weight[:, [j]] * row.weight
            raw_bias = raw_bias + weight[:, j] * row.bias[0]
            raw_slope += part * (row.error_slope + slack * (np.abs(row.weight) + row.error_slope))
            constant = constant + part[:, 0] * (
                row.error_constant[0] + slack * (abs(row.bias[0]) + row.error_constant[0])
            )
        return Affine(raw_weight, raw_bias, raw_slope, constant + slack * np.abs(bias))
