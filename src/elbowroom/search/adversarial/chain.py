"""One column of a centre as a chain of binaries u_b = [x <= b], b increasing; exact in floats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import Floats, Ints, next_down, next_up, two_sum
from elbowroom.problem import RecourseProblem
from elbowroom.search.adversarial.limits import CELL_ROUNDING
from elbowroom.search.adversarial.scenario import Scenario
from elbowroom.search.program import Builder


def breakpoints(problem: RecourseProblem, scenario: Scenario, feature: Ints, cut: Floats) -> Floats:
    """For every (column, cut): the largest centre whose scenario point is <= cut; +-inf for always and never.

    Upward shifts are rounded down: down(x + s) <= t iff x + s < next(t). Downward ones are rounded up: up(x + s) <= t iff
    x + s <= t. Clipping to the limits makes the answer constant where t is outside of them.
    """
    shift, whole = scenario.shift[feature], problem.space.whole_center[feature]
    edge = np.where(shift >= 0, next_up(cut), cut)
    total, error = two_sum(edge, -shift)
    strictly_below = np.where(error > 0, total, next_down(total))
    at_most = np.where(error >= 0, total, next_down(total))
    found = np.where(shift >= 0, strictly_below, at_most)
    found = np.where(whole, np.floor(np.where(shift == 0, cut, found)), np.where(shift == 0, cut, found))
    found = np.where(problem.upper[feature] <= cut, np.inf, found)
    found = np.where(problem.lower[feature] > cut, -np.inf, found)
    for group, member in scenario.category.items():
        members = problem.space.members[group]
        mine = np.isin(feature, members)
        value = np.where(feature == member, 1.0, 0.0)
        found = np.where(mine, np.where(value <= cut, np.inf, -np.inf), found)
    return found + 0.0


@dataclass(frozen=True, eq=False)
class CellAxis:
    """Cells of one column: (-inf, b_0], (b_0, b_1], ..., (b_last, inf), within the limits."""

    columns: Ints  # of u
    breaks: Floats
    low: Floats  # smallest and largest float of every cell
    high: Floats
    nearest: Floats  # the float of every cell that is nearest to the factual
    factual: float
    factor: float

    @classmethod
    def of(
        cls, builder: Builder, problem: RecourseProblem, f: int, breaks: Floats, lower: float, upper: float
    ) -> CellAxis:
        factual = float(problem.factual[f])
        after = breaks + 1.0 if problem.space.whole_center[f] else next_up(breaks)
        low, high = np.concatenate([[lower], after]), np.concatenate([breaks, [upper]])
        columns = builder.columns(breaks.size, 0.0, 1.0, True)
        rows = np.arange(breaks.size - 1)
        builder.block(
            np.concatenate([rows, rows]),
            np.concatenate([columns[:-1], columns[1:]]),
            np.concatenate([np.ones(rows.size), -np.ones(rows.size)]),
            np.full(rows.size, -np.inf),
            np.zeros(rows.size),
        )
        nearest = np.clip(factual, low, high)
        return cls(columns, breaks, low, high, nearest, factual, float(problem.metric.factor[f]))

    def cell(self, x: Floats) -> int:
        """Which cell a solution chose."""
        return int((np.round(x[self.columns]) < 0.5).sum())

    def literals(self, value: float) -> Floats:
        """The binaries of a centre."""
        return np.asarray(value <= self.breaks, dtype=np.float64)

    def value(self, x: Floats) -> float:
        return float(self.nearest[self.cell(x)])

    def clamp(self, x: Floats, value: float) -> float:
        cell = self.cell(x)
        return float(np.clip(value, self.low[cell], self.high[cell]))

    def moves(self, squared: bool = False) -> tuple[Ints, Floats, float]:
        """The weighted move as columns, values and a constant: cost_last - sum over b of (cost after - cost before) u_b."""
        cost = self.factor * np.abs(self.nearest - self.factual)
        if squared:
            cost = cost * cost
        return self.columns, -np.diff(cost), float(cost[-1])

    def changed(self) -> tuple[Ints, Floats, float]:
        """1 if the centre leaves the cell of the factual (or cannot be at it), as columns, values and a constant."""
        home = int((self.breaks < self.factual).sum())
        if self.nearest[home] != self.factual:
            return self.columns[:0], np.zeros(0), 1.0
        columns, values, constant = [], [], 0.0
        if home > 0:
            columns.append(self.columns[home - 1])
            values.append(1.0)
        if home < self.breaks.size:
            columns.append(self.columns[home])
            values.append(-1.0)
            constant = 1.0
        return np.array(columns, dtype=np.int64), np.array(values), constant

    def link(self, builder: Builder, x: int, lower: float, upper: float) -> None:
        """Tie the centre's column to the chain: x lies in the (closed) cell that u describes. Whole numbers behind a break
        begin at the next one."""
        starts = np.where(self.low[1:] - self.breaks >= 1.0, self.low[1:], self.breaks)
        low = np.clip(np.concatenate([[lower], starts]), lower, upper)
        high = np.clip(np.concatenate([self.breaks, [upper]]), lower, upper)
        # x <= high_last - sum (high_{k+1} - high_k) u_k  and  x >= low_last - sum (low_{k+1} - low_k) u_k
        linked = np.append(self.columns, x)
        builder.row(linked, np.append(np.diff(high), 1.0), -np.inf, upper + CELL_ROUNDING * abs(upper))
        builder.row(linked, np.append(np.diff(low), 1.0), float(low[-1]) - CELL_ROUNDING * abs(low[-1]))
