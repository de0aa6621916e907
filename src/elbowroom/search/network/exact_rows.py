"""Affine functions with whole numbers as coefficients, and proofs that rows contradict each other: no rounding anywhere.

Doubles are whole numbers times powers of two, so that the weights of a network, its biases and every affine piece of it can be
written down exactly. A set of strict rows  a_i . x + b_i > 0  has no solution if there are y >= 0, not all zero, with

    sum_i y_i a_i = 0   and   sum_i y_i b_i <= 0                                                            (Farkas, Motzkin).

A linear program suggests y; what it suggests is solved for in whole numbers (`cancelled`). Columns have no limits of their
own here: a limit is a row, and so nothing is assumed about how far away x is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from elbowroom.numerics import Floats
from elbowroom.search.network.limits import FEASIBILITY

Whole = NDArray[Any]  # of Python's whole numbers, which have no largest one

_SUPPORT = 1e-9  # multipliers below this share of the largest are left out
_MOST_SUPPORT = 30  # rows of a proof: elimination grows with their cube, and nothing looks at the clock meanwhile
_MANTISSA = 53
_SHARES = 2**30  # multipliers that may be chosen are rounded to such parts of the smallest of them


def whole_numbers(values: Floats) -> tuple[Whole, int]:
    """Whole numbers k and an exponent e with  values = k 2^e  exactly."""
    fraction, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    digits = np.array([int(v) for v in (fraction * 2.0**_MANTISSA).ravel()], dtype=object).reshape(fraction.shape)
    power = exponent.astype(np.int64) - _MANTISSA
    least = int(power[fraction != 0.0].min()) if (fraction != 0.0).any() else 0
    lift = np.where(fraction != 0.0, power - least, 0)
    shifted = [k << int(s) for k, s in zip(digits.ravel(), lift.ravel(), strict=True)]
    return np.array(shifted, dtype=object).reshape(fraction.shape), least


@dataclass(frozen=True, eq=False)
class ExactMap:
    """x -> (matrix x + offset) 2^exponent."""

    matrix: Whole
    offset: Whole
    exponent: int

    @classmethod
    def columns(cls, base: Floats, shift: Floats, free: NDArray[np.int64]) -> ExactMap:
        """The point base + shift in all columns, plus x in those that are free (there ``base`` does not count)."""
        fixed = base.copy()
        fixed[free] = 0.0
        (a, p), (b, q) = whole_numbers(fixed), whole_numbers(shift)
        least = min(p, q, 0)
        matrix = np.zeros((base.size, free.size), dtype=object)
        matrix[free, np.arange(free.size)] = 1 << -least
        return cls(matrix, _lifted(a, p - least) + _lifted(b, q - least), least)

    def then(self, weight: tuple[Whole, int], bias: tuple[Whole, int]) -> ExactMap:
        """weight . this + bias."""
        matrix, offset = weight[0] @ self.matrix, weight[0] @ self.offset
        own = weight[1] + self.exponent
        least = min(own, bias[1])
        return ExactMap(
            _lifted(matrix, own - least), _lifted(offset, own - least) + _lifted(bias[0], bias[1] - least), least
        )

    def masked(self, on: NDArray[np.bool_]) -> ExactMap:
        """Zero where a neuron is off."""
        keep = np.array([int(k) for k in on], dtype=object)
        return ExactMap(self.matrix * keep[:, None], self.offset * keep, self.exponent)


def _lifted(values: Whole, by: int) -> Whole:
    return values * (1 << by) if by else values


@dataclass(frozen=True, eq=False)
class Row:
    """sum_k coefficient_k x_column_k + constant > 0 (``strict``) or >= 0; ``floats`` are the same numbers, the largest of the
    coefficients being 1, and ``wide`` is how much of it the room needs."""

    columns: tuple[int, ...]
    coefficients: tuple[int, ...]
    constant: int
    scale: int
    floats: Floats
    at: float
    wide: float
    strict: bool = True

    @classmethod
    def of(cls, coefficients: dict[int, int], constant: int, strict: bool = True, radius: Floats | None = None) -> Row:
        """``radius``: of the room, for columns that have one; its sum over |coefficients| is what a box needs."""
        used = {column: value for column, value in coefficients.items() if value}
        together = math.gcd(constant, *used.values()) or 1
        used, constant = {column: value // together for column, value in used.items()}, constant // together
        scale = max((abs(value) for value in used.values()), default=max(abs(constant), 1))
        floats = np.array([value / scale for value in used.values()], dtype=np.float64)
        wide = 0.0
        if radius is not None:
            inside = [(k, c) for k, c in enumerate(used) if c < radius.size]
            wide = float(sum(abs(floats[k]) * radius[c] for k, c in inside))
        return cls(tuple(used), tuple(used.values()), constant, scale, floats, _ratio(constant, scale), wide, strict)

    def negative(self) -> Row:
        """The other side."""
        return replace(
            self,
            coefficients=tuple(-v for v in self.coefficients),
            constant=-self.constant,
            floats=-self.floats,
            at=-self.at,
        )


def _ratio(number: int, scale: int) -> float:
    try:
        return number / scale
    except OverflowError:
        return np.inf if number > 0 else -np.inf


class DeepestPoint:
    """max t  s.t.  every row is at least t times what it needs  (t at most ``most``): one solver object for all programs."""

    def __init__(self, most: float) -> None:
        self.most = most
        self.programs = 0
        self.solver = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (
            ("output_flag", False), ("threads", 1), ("presolve", "off"), ("solver", "simplex"),
            ("primal_feasibility_tolerance", FEASIBILITY), ("dual_feasibility_tolerance", FEASIBILITY),
        ):  # fmt: skip
            self.solver.setOptionValue(option, value)

    def solve(self, rows: tuple[Row, ...], width: int, seconds: float) -> tuple[float, Floats | None, Floats]:
        """The depth, a point and multipliers; about, as the solver says. No point: it gave none, and the depth means nothing."""
        self.programs += 1
        solver, none = self.solver, np.zeros(0, dtype=np.int32)
        cost, high = np.zeros(width + 1), np.full(width + 1, highspy.kHighsInf)
        cost[width], high[width] = -1.0, self.most
        solver.clearModel()
        solver.addCols(width + 1, cost, np.full(width + 1, -highspy.kHighsInf), high, 0, none, none, np.zeros(0))
        sizes = np.array([len(row.columns) + 1 for row in rows])
        columns = np.array([c for row in rows for c in (*row.columns, width)], dtype=np.int32)
        values = np.concatenate([np.append(row.floats, -row.wide) for row in rows])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
        low = np.array([-row.at for row in rows])
        solver.addRows(len(rows), low, np.full(len(rows), highspy.kHighsInf), columns.size, starts, columns, values)
        solver.setOptionValue("time_limit", solver.getRunTime() + max(seconds, 0.0))
        solver.run()
        match solver.getModelStatus():
            case highspy.HighsModelStatus.kOptimal:
                found = solver.getSolution()
                x, y = np.asarray(found.col_value), np.asarray(found.row_dual)
                if np.isfinite(x).all() and np.isfinite(y).all() and y.size == len(rows):
                    return float(x[width]), x[:width], y
            case highspy.HighsModelStatus.kInfeasible:
                _, exists, ray = solver.getDualRay()  # type: ignore[attr-defined]
                ray = np.asarray(ray)
                if exists and ray.size == len(rows) and np.isfinite(ray).all():
                    return -np.inf, None, ray
        return np.nan, None, np.zeros(len(rows))


def contradict(rows: tuple[Row, ...], suggested: Floats) -> bool:
    """True only if it is proven that no x satisfies all rows."""
    for sign in (1.0, -1.0):
        y = np.maximum(sign * suggested, 0.0)
        if y.max(initial=0.0) > 0.0 and _proven(rows, y):
            return True
    return False


def _proven(rows: tuple[Row, ...], suggested: Floats) -> bool:
    largest = float(suggested.max())
    support = sorted(np.flatnonzero(suggested > _SUPPORT * largest).tolist(), key=lambda i: -suggested[i])
    if len(support) > _MOST_SUPPORT:
        return False
    chosen = [rows[i] for i in support]
    used = sorted({column for row in chosen for column in row.columns})
    entries = [dict(zip(row.columns, row.coefficients, strict=True)) for row in chosen]
    table = [[row.get(column, 0) for row in entries] for column in used]
    near = [Fraction(float(suggested[i])) / rows[i].scale for i in support]
    y = cancelled([line[:] for line in table], near)
    if y is None or any(sum(a * v for a, v in zip(line, y, strict=True)) != 0 for line in table):
        return False
    total = sum(v * row.constant for v, row in zip(y, chosen, strict=True))
    return total < 0 or (total == 0 and any(v > 0 and row.strict for v, row in zip(y, chosen, strict=True)))


def cancelled(table: list[list[int]], near: list[Fraction]) -> list[int] | None:
    """Whole y >= 0, not all zero, with table . y = 0, in proportion to ``near`` wherever a choice is left; None if there is none.

    Elimination without fractions (Bareiss): all pivots are the same determinant in the end, and every division is exact. The first
    columns become pivots: they absorb the correction.
    """
    pivots, last, size = list[int](), 1, len(near)
    for k in range(size):
        row = len(pivots)
        found = next((i for i in range(row, len(table)) if table[i][k]), None)
        if found is None:
            continue
        table[row], table[found] = table[found], table[row]
        line, head = table[row], table[row][k]
        for i, other in enumerate(table):
            if i != row:
                factor = other[k]
                table[i] = [(head * a - factor * b) // last for a, b in zip(other, line, strict=True)]
        last = head
        pivots.append(k)
    open_ = [k for k in range(size) if k not in pivots]
    if not open_:
        return None
    least = min(near[k] for k in open_)
    y = [0] * size
    for k in open_:
        y[k] = abs(last) * (1 if len(open_) == 1 else round(near[k] / least * _SHARES))
    for i, k in enumerate(pivots):
        y[k] = -sum(table[i][j] * y[j] for j in open_) // last
    return y if min(y) >= 0 else None
