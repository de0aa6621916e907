"""Programs as plain arrays: min cost.x, row_lower <= A x <= row_upper, lower <= x <= upper, some columns whole, and norm
rows || weight * x - offset ||_2 <= x[bound_column] (or <= bound). No solver is named here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array, vstack

from elbowroom.numerics import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class NormRow:
    """|| weight * x[columns] - offset ||_2 <= x[bound_column], or <= bound where bound_column is negative."""

    columns: Ints
    weight: Floats
    offset: Floats
    bound_column: int = -1
    bound: float = 1.0

    def allowed(self, x: Floats) -> float:
        """The bound at x."""
        return float(x[self.bound_column]) if self.bound_column >= 0 else self.bound

    def excess(self, x: Floats) -> float:
        """How far the norm is above its bound."""
        return float(np.linalg.norm(self.weight * x[self.columns] - self.offset)) - self.allowed(x)

    def tangent(self, x: Floats) -> tuple[Ints, Floats, float] | None:
        """The row n.(weight * x - offset) <= bound, n the unit vector at x: implied by the norm row wherever it holds."""
        v = self.weight * x[self.columns] - self.offset
        length = float(np.linalg.norm(v))
        if not length > 0.0:
            return None
        n = v / length * (1.0 - 1e-15 * (v.size + 4))  # not longer than 1: the cut stays implied
        columns, values, limit = self.columns, n * self.weight, float(n @ self.offset)
        if self.bound_column >= 0:
            return np.append(columns, self.bound_column), np.append(values, -1.0), limit
        return columns, values, limit + self.bound


@dataclass(frozen=True, eq=False)
class Program:
    """One program; immutable."""

    cost: Floats
    lower: Floats
    upper: Floats
    whole: Bools
    matrix: csr_array
    row_lower: Floats
    row_upper: Floats
    norms: tuple[NormRow, ...] = ()
    constant: float = 0.0

    @property
    def n_columns(self) -> int:
        return int(self.cost.size)

    def with_rows(self, rows: list[tuple[Ints, Floats, float]]) -> Program:
        """The same program with further rows values.x[columns] <= limit."""
        if not rows:
            return self
        owner = np.repeat(np.arange(len(rows)), [r[0].size for r in rows])
        columns = np.concatenate([r[0] for r in rows])
        values = np.concatenate([r[1] for r in rows])
        extra = csr_array(coo_array((values, (owner, columns)), shape=(len(rows), self.n_columns)))
        return replace(
            self,
            matrix=csr_array(vstack([self.matrix, extra], format="csr")),
            row_lower=np.concatenate([self.row_lower, np.full(len(rows), -np.inf)]),
            row_upper=np.concatenate([self.row_upper, [r[2] for r in rows]]),
        )


@dataclass(eq=False)
class Builder:
    """Collects columns and rows block by block."""

    cost: list[Floats] = field(default_factory=list)
    lower: list[Floats] = field(default_factory=list)
    upper: list[Floats] = field(default_factory=list)
    whole: list[Bools] = field(default_factory=list)
    norms: list[NormRow] = field(default_factory=list)
    constant: float = 0.0
    _row: list[Ints] = field(default_factory=list)
    _column: list[Ints] = field(default_factory=list)
    _value: list[Floats] = field(default_factory=list)
    _low: list[Floats] = field(default_factory=list)
    _high: list[Floats] = field(default_factory=list)
    n_columns: int = 0
    n_rows: int = 0

    def columns(
        self,
        size: int,
        lower: npt.ArrayLike = 0.0,
        upper: npt.ArrayLike = 1.0,
        whole: npt.ArrayLike = False,
        cost: npt.ArrayLike = 0.0,
    ) -> Ints:
        """New columns; their indices."""
        self.lower.append(np.broadcast_to(np.asarray(lower, dtype=np.float64), size))
        self.upper.append(np.broadcast_to(np.asarray(upper, dtype=np.float64), size))
        self.whole.append(np.broadcast_to(np.asarray(whole, dtype=np.bool_), size))
        self.cost.append(np.broadcast_to(np.asarray(cost, dtype=np.float64), size))
        first = self.n_columns
        self.n_columns += size
        return np.arange(first, self.n_columns)

    def row(self, columns: npt.ArrayLike, values: npt.ArrayLike, low: float = -np.inf, high: float = np.inf) -> None:
        """low <= values.x[columns] <= high; a column may occur more than once."""
        columns = np.asarray(columns, dtype=np.int64)
        self.block(np.zeros(columns.size, dtype=np.int64), columns, values, np.array([low]), np.array([high]))

    def block(self, row: Ints, columns: Ints, values: npt.ArrayLike, low: Floats, high: Floats) -> None:
        """Many rows at once: entry i belongs to row ``row[i]`` of the block."""
        self._row.append(np.asarray(row, dtype=np.int64) + self.n_rows)
        self._column.append(np.asarray(columns, dtype=np.int64))
        self._value.append(np.broadcast_to(np.asarray(values, dtype=np.float64), self._column[-1].shape))
        self._low.append(np.asarray(low, dtype=np.float64))
        self._high.append(np.asarray(high, dtype=np.float64))
        self.n_rows += self._low[-1].size

    def program(self) -> Program:
        def joined(parts: list[Floats]) -> Floats:
            return np.concatenate([np.zeros(0), *parts])

        row = np.concatenate([np.zeros(0, np.int64), *self._row])
        column = np.concatenate([np.zeros(0, np.int64), *self._column])
        matrix = coo_array((joined(self._value), (row, column)), shape=(self.n_rows, self.n_columns))
        return Program(
            joined(self.cost),
            joined(self.lower),
            joined(self.upper),
            np.concatenate([np.zeros(0, np.bool_), *self.whole]),
            csr_array(matrix),
            joined(self._low),
            joined(self._high),
            tuple(self.norms),
            self.constant,
        )
