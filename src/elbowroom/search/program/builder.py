"""Programs, put together block by block."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

from elbowroom.numerics import Bools, Floats, Ints
from elbowroom.search.program.norm_row import NormRow
from elbowroom.search.program.program import Program


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
            cost=joined(self.cost), lower=joined(self.lower), upper=joined(self.upper),
            whole=np.concatenate([np.zeros(0, np.bool_), *self.whole]), matrix=csr_array(matrix),
            row_lower=joined(self._low), row_upper=joined(self._high), norms=tuple(self.norms),
            constant=self.constant,
        )  # fmt: skip
