"""Programs as plain arrays: min cost.x, row_lower <= A x <= row_upper, lower <= x <= upper, some columns whole, and norm
rows || weight * x - offset ||_2 <= x[bound_column] (or <= bound). No solver is named here."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array, csr_array, vstack

from elbowroom.numerics import Bools, Floats, Ints
from elbowroom.search.program.norm_row import NormRow


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
    most_nodes: int | None = None  # of the solver's search; None: as many as the time allows

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
