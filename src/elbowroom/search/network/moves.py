"""A centre as a vector of nonnegative moves away from the factual, each priced in units of the distance.

x = x^ + A v, v >= 0. A numeric column f has two moves (up: +e_f / price_f, down: -e_f / price_f); a one-hot group has
one move per other category (e_k - e_current, scaled so that a full change costs the group's price). In these units the
distance is the norm of the block sums: a block holds the moves that exclude each other (up and down of one column, the
categories of one group), so that l1 is sum v, linf the largest block and l2 the length of the block vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import NONZERO, Bools, Floats, Ints
from elbowroom.problem import Distance, RecourseProblem
from elbowroom.problem.conditions import ROW_SLACK


@dataclass(frozen=True, eq=False)
class Moves:
    """The moves of one question and the rows A_rule x >= b that its rules and groups impose on them."""

    problem: RecourseProblem
    base: Floats  # (columns,): the factual
    plus: Ints  # (moves,): the column that goes up, or -1
    minus: Ints  # (moves,): the column that goes down, or -1
    unit: Floats  # (moves,): raw units per unit of distance
    cost: Floats  # (moves,): 1, or 0 where a group's price is 0
    low: Floats  # (moves,): forced moves (a factual outside its bounds)
    high: Floats  # (moves,): inf where open
    block: Ints  # (moves,)
    whole: Bools  # (moves,): only multiples of `step` are allowed
    step: Floats  # (moves,): distance of one whole step
    rows: Floats  # (rows, moves): group and rule rows
    row_low: Floats  # (rows,): rows @ v >= row_low
    most_changes: int | None

    @classmethod
    def of(cls, problem: RecourseProblem) -> Moves:
        """All moves that the limits allow."""
        space, factual = problem.space, problem.factual
        first, last = problem.centers
        plus: list[int] = []
        minus: list[int] = []
        unit: list[float] = []
        cost: list[float] = []
        low: list[float] = []
        high: list[float] = []
        block: list[int] = []
        step: list[float] = []
        forced_groups: list[bool] = []
        blocks = 0
        for f in range(factual.size):
            if space.group_of[f] >= 0:
                continue
            price = float(problem.metric.factor[f])
            for sign, least, most in (
                (1, first[f] - factual[f], last[f] - factual[f]),
                (-1, factual[f] - last[f], factual[f] - first[f]),
            ):
                if most <= 0.0:
                    continue
                plus.append(f if sign > 0 else -1)
                minus.append(f if sign < 0 else -1)
                unit.append(1.0 / price)
                cost.append(1.0)
                low.append(max(0.0, float(least)) * price)
                high.append(float(most) * price)
                block.append(blocks)
                step.append(price if space.whole_center[f] else 0.0)
            blocks += 1
        group_rows: list[list[int]] = []
        for g, members in enumerate(space.members):
            current = int(members[np.argmax(factual[members])])
            price = float(problem.metric.group_price[g])
            size = price if price > 0.0 else 1.0
            row: list[int] = []
            for k in members:
                if k == current or last[k] < 1.0 or first[current] > 0.0:
                    continue
                row.append(len(plus))
                plus.append(int(k))
                minus.append(current)
                unit.append(1.0 / size)
                cost.append(1.0 if price > 0.0 else 0.0)
                low.append(size if first[k] > 0.0 else 0.0)
                high.append(size)
                block.append(blocks)
                step.append(size)
            blocks += 1
            group_rows.append(row)
            forced_groups.append(bool(last[current] < 1.0))
        m = len(plus)
        made = cls(
            problem=problem, base=factual, plus=np.array(plus, dtype=np.int64), minus=np.array(minus, dtype=np.int64), unit=np.array(unit),
            cost=np.array(cost), low=np.array(low), high=np.array(high), block=np.array(block, dtype=np.int64),
            whole=np.array(step, dtype=np.float64) > 0.0, step=np.array(step, dtype=np.float64),
            rows=np.zeros((0, m)), row_low=np.zeros(0), most_changes=None,
        )  # fmt: skip
        return made._with_rows(group_rows, forced_groups)

    def _with_rows(self, groups: list[list[int]], forced: list[bool]) -> Moves:
        """Group rows (at most one category; exactly one where the current one is forbidden) and linear rules."""
        rows: list[Floats] = []
        lows: list[float] = []
        for members, must in zip(groups, forced, strict=True):
            if len(members) > 1:
                row = np.zeros(self.size)
                row[members] = -self.unit[members]
                rows.append(row)
                lows.append(-1.0)
            if must:  # even without members: then the row cannot hold, and no centre exists
                row = np.zeros(self.size)
                row[members] = self.unit[members]
                rows.append(row)
                lows.append(1.0)
        conditions = self.problem.conditions
        for rule in conditions.rows:
            pulled, size = self.pull(rule.coefficients), np.abs(rule.coefficients)
            at_factual = float(rule.coefficients @ self.base)
            # a row may be missed by a share of the size of its terms, which grow with the moves; twice that is granted
            easier = (
                2.0
                * ROW_SLACK
                * (size[self.plus] * (self.plus >= 0) + size[self.minus] * (self.minus >= 0))
                * self.unit
            )
            slack = 2.0 * ROW_SLACK * float(size @ np.abs(self.base)) + NONZERO
            if np.isfinite(rule.low):
                rows.append(pulled + easier)
                lows.append(rule.low - at_factual - slack)
            if np.isfinite(rule.high):
                rows.append(easier - pulled)
                lows.append(at_factual - rule.high - slack)
        matrix = np.array(rows).reshape(len(rows), self.size)
        imposed = {"rows": matrix, "row_low": np.array(lows), "most_changes": conditions.most_changes}
        return Moves(**{**self.__dict__, **imposed})

    @property
    def size(self) -> int:
        return int(self.plus.size)

    @property
    def distance(self) -> Distance:
        return self.problem.distance

    @property
    def n_blocks(self) -> int:
        return int(self.block.max()) + 1 if self.size else 0

    def pull(self, gradient: Floats) -> Floats:
        """Coefficients on moves of coefficients on columns: gradient @ A, along the last axis."""
        up = np.where(self.plus >= 0, gradient[..., self.plus], 0.0)
        down = np.where(self.minus >= 0, gradient[..., self.minus], 0.0)
        return np.asarray((up - down) * self.unit)

    def center(self, v: Floats) -> Floats:
        """The centre that a vector of moves stands for: clipped to the limits, whole where whole, one-hot. A group that has to
        leave its category leaves it, for the nearest one if the moves do not say which."""
        x = self.base.copy()
        amount = v * self.unit
        single = np.ones(self.size, dtype=bool)
        for members in self.problem.space.members:
            mine = np.isin(self.plus, members)
            single &= ~mine
            if mine.any():
                chosen = int(np.flatnonzero(mine)[np.argmax(amount[mine])])
                current = members[np.argmax(self.base[members])]
                if amount[chosen] > 0.5 or self.problem.centers[1][current] < 1.0:
                    x[current], x[self.plus[chosen]] = 0.0, 1.0
        up, down = single & (self.plus >= 0), single & (self.minus >= 0)
        shift = np.zeros_like(x)
        np.add.at(shift, self.plus[up], amount[up])
        np.subtract.at(shift, self.minus[down], amount[down])
        moved = x + shift
        moved = np.where(self.problem.space.whole_center, np.rint(moved), moved)
        return np.asarray(np.clip(np.where(shift != 0.0, moved, x), *self.problem.centers) + 0.0)

    def point(self, v: Floats) -> Floats:
        """x^ + A v as it is: whole columns may be fractional, groups mixed (for relaxations)."""
        x = self.base.copy()
        for column, sign in ((self.plus, 1.0), (self.minus, -1.0)):
            used = column >= 0
            np.add.at(x, column[used], sign * (v * self.unit)[used])
        return np.asarray(np.clip(x, *self.problem.centers))

    def points(self, V: Floats) -> Floats:
        """`point` of every row."""
        X = np.repeat(self.base[None], len(V), axis=0)
        for column, sign in ((self.plus, 1.0), (self.minus, -1.0)):
            used = np.flatnonzero(column >= 0)
            np.add.at(X.T, column[used], sign * (V * self.unit)[:, used].T)
        return np.asarray(np.clip(X, self.problem.lower, self.problem.upper))

    def of_center(self, x: Floats) -> Floats:
        """The moves that lead to a centre."""
        v = np.zeros(self.size)
        difference = x - self.base
        for i in range(self.size):
            p, q = int(self.plus[i]), int(self.minus[i])
            if p >= 0 and q >= 0:
                v[i] = x[p] / self.unit[i]
            else:
                v[i] = max(0.0, difference[p] if p >= 0 else -difference[q]) / self.unit[i]
        return v

    def measure(self, v: Floats) -> float:
        """The distance of a vector of moves."""
        return self.distance.norm(self.blocks(v)) if self.size else 0.0

    def blocks(self, v: Floats) -> Floats:
        """The priced sum of every block."""
        return np.asarray(np.bincount(self.block, v * self.cost, minlength=self.n_blocks), dtype=np.float64)
