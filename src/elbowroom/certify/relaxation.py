"""The triangle relaxation of a network as a linear program: good multipliers and a likely worst point.

Nothing of the solver's answer is believed: its dual values go through `intervals.lower_bound`, which turns any numbers
into a proof, and its point is evaluated. Statuses play no role. Variables: y (inputs in units of the region), and per
hidden neuron z, h, and an elastic e >= 0 of high price that keeps the program feasible when decided phases contradict
each other (the price then shows in the bound).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import assert_never

import highspy
import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array

from elbowroom.certify.inputs import InputSet
from elbowroom.certify.intervals import Interval
from elbowroom.models import Affine
from elbowroom.numerics import Floats
from elbowroom.problem import Shape
from elbowroom.problem.shapes import is_round

_MOST_STEPS = 100_000  # of the simplex method in one program
_OUTSIDE = 1e-7  # how far outside the ball, relatively, a solution may lie before another tangent is added


@dataclass(frozen=True, eq=False)
class Relaxed:
    """What the program suggests."""

    point: Floats  # x
    multipliers: list[Floats]  # one row (1, neurons) per hidden layer
    before: list[Floats]  # z
    inside: bool = True  # False: outside the ball, and a tangent that cuts it off was added


@dataclass(eq=False)
class _Rows:
    """A sparse matrix in the making."""

    row: list[npt.NDArray[np.int64]] = field(default_factory=list)
    column: list[npt.NDArray[np.int64]] = field(default_factory=list)
    value: list[Floats] = field(default_factory=list)
    low: list[Floats] = field(default_factory=list)
    high: list[Floats] = field(default_factory=list)
    count: int = 0

    def add(self, low: Floats, high: Floats, *blocks: tuple[npt.NDArray[np.int64], Floats]) -> None:
        """Rows low <= sum of value * column <= high; blocks are (rows, width) columns and values, or one per row."""
        size = low.size
        if size == 0:
            return
        for columns, values in blocks:
            columns, values = columns.reshape(size, -1), np.asarray(values, dtype=np.float64).reshape(size, -1)
            self.row.append(np.repeat(np.arange(self.count, self.count + size), columns.shape[1]))
            self.column.append(columns.ravel())
            self.value.append(np.broadcast_to(values, columns.shape).ravel())
        self.low.append(low)
        self.high.append(high)
        self.count += size


def relax(
    row: Floats,
    hidden: tuple[Affine, ...],
    intervals: list[Interval],
    phases: list[Floats],
    inputs: InputSet,
    tangents: list[Floats],
    price: float,
    seconds: float,
) -> Relaxed | None:
    """Minimize row . h_last over the relaxation; ``tangents`` approximate the ball, and grow with every call."""
    frame = _Frame.of(inputs)
    solution = _solve(
        row=row, hidden=hidden, intervals=intervals, phases=phases, inputs=inputs, frame=frame, tangents=tangents,
        price=price, seconds=seconds,
    )  # fmt: skip
    if solution is not None and _needs_tangents(inputs.body.shape):
        y = _budget_coordinates(inputs, solution.point)
        length = float(np.sqrt(y @ y))
        if length > 1.0 + _OUTSIDE:
            tangents.append(y / length)
            return replace(solution, inside=False)
    return solution


def _needs_tangents(shape: Shape) -> bool:
    """Boxes and diamonds are described by their faces; a ball has none."""
    match shape:
        case Shape.BOX | Shape.DIAMOND:
            return False
        case Shape.BALL:
            return True
        case _:
            assert_never(shape)


@dataclass(frozen=True, eq=False)
class _Frame:
    """Inputs as x = origin + unit y in the moving columns, so that the program does not see the features' units."""

    columns: npt.NDArray[np.int64]
    base: Floats  # x at y = 0, all columns
    unit: Floats
    low: Floats  # of y
    high: Floats

    @classmethod
    def of(cls, inputs: InputSet) -> _Frame:
        columns, base = inputs.moving, np.clip(inputs.body.center, inputs.lower, inputs.upper)
        if is_round(inputs.body.shape):
            base[columns], unit = inputs.body.center[columns], inputs.body.axes[columns]
        else:
            base[columns] = (inputs.lower / 2 + inputs.upper / 2)[columns]
            unit = np.maximum(inputs.upper - base, base - inputs.lower)[columns]
        low, high = ((end - base)[columns] / unit for end in (inputs.lower, inputs.upper))
        return cls(columns, base, unit, low, high)


def _budget_coordinates(inputs: InputSet, x: Floats) -> Floats:
    """y over all columns of the model; 0 where a column does not count towards the ball."""
    y = np.zeros(x.size)
    columns = inputs.round_columns
    y[columns] = (x[columns] - inputs.body.center[columns]) / inputs.body.axes[columns]
    return y


def _solve(
    row: Floats,
    hidden: tuple[Affine, ...],
    intervals: list[Interval],
    phases: list[Floats],
    inputs: InputSet,
    frame: _Frame,
    tangents: list[Floats],
    price: float,
    seconds: float,
) -> Relaxed | None:
    columns, base, unit = frame.columns, frame.base, frame.unit
    n_inputs = count = columns.size
    rows = _Rows()
    cost, low, high = [np.zeros(n_inputs)], [frame.low], [frame.high]
    places: list[tuple[npt.NDArray[np.int64], int]] = []
    previous = np.arange(n_inputs)
    for k, (layer, at) in enumerate(zip(hidden, intervals, strict=True)):
        n = at.low.size
        z, h, e = (np.arange(count + i * n, count + (i + 1) * n) for i in range(3))
        count += 3 * n
        last = k == len(hidden) - 1
        cost.append(np.concatenate([np.zeros(n), row if last else np.zeros(n), np.full(n, price)]))
        inactive, active = at.high <= 0.0, at.low >= 0.0
        free = np.full(n, np.inf)
        low.append(np.concatenate([-free, np.where(active & ~inactive, -np.inf, 0.0), np.zeros(n)]))
        high.append(np.concatenate([free, np.where(inactive, 0.0, np.inf), free]))
        places.append((z, rows.count))
        weight = layer.weight[:, columns] * unit if k == 0 else layer.weight
        bias = layer.weight @ base + layer.bias if k == 0 else layer.bias
        rows.add(bias, bias, (z, np.ones(n)), (np.broadcast_to(previous, (n, previous.size)), -weight))
        bounded = at.unstable | (phases[k] != 0)
        some = np.flatnonzero(bounded)
        rows.add(at.low[some], free[some], (z[some], np.ones(some.size)), (e[some], np.ones(some.size)))
        rows.add(-free[some], at.high[some], (z[some], np.ones(some.size)), (e[some], -np.ones(some.size)))
        same = np.flatnonzero(active & ~inactive)
        rows.add(
            np.zeros(same.size), np.zeros(same.size), (h[same], np.ones(same.size)), (z[same], -np.ones(same.size))
        )
        open_ = np.flatnonzero(at.unstable)
        rows.add(np.zeros(open_.size), free[open_], (h[open_], np.ones(open_.size)), (z[open_], -np.ones(open_.size)))
        slope = at.high[open_] / (at.high[open_] - at.low[open_])
        rows.add(
            -free[open_],
            -slope * at.low[open_],
            (h[open_], np.ones(open_.size)),
            (z[open_], -slope),
            (e[open_], -np.ones(open_.size)),
        )
        previous = h
    count = _budget_rows(rows, cost, low, high, inputs, columns, count)
    for tangent in tangents:
        rest = _budget_coordinates(inputs, base)
        rest[columns] = 0.0
        rows.add(np.array([-np.inf]), np.array([1.0 - tangent @ rest]), (np.arange(n_inputs), tangent[columns]))
    values, duals = _minimize(np.concatenate(cost), np.concatenate(low), np.concatenate(high), rows, seconds)
    if values is None or duals is None:
        return None
    x = base.copy()
    x[columns] = np.clip(base[columns] + unit * values[:n_inputs], inputs.lower[columns], inputs.upper[columns])
    return Relaxed(
        x,
        [duals[None, at : at + z.size] for z, at in places],
        [values[z] for z, _ in places],
    )


def _budget_rows(
    rows: _Rows,
    cost: list[Floats],
    low: list[Floats],
    high: list[Floats],
    inputs: InputSet,
    columns: npt.NDArray[np.int64],
    count: int,
) -> int:
    """Diamonds: |y_f| <= d_f, sum d_f <= 1 minus what fixed columns use. Boxes: none. Balls: the tangents, elsewhere."""
    shape = inputs.body.shape
    match shape:
        case Shape.BOX | Shape.BALL:
            return count
        case Shape.DIAMOND:
            pass
        case _:
            assert_never(shape)
    round_ = np.flatnonzero(np.isin(columns, inputs.round_columns))
    d = np.arange(count, count + round_.size)
    n = round_.size
    cost.append(np.zeros(n))
    low.append(np.zeros(n))
    high.append(np.full(n, np.inf))
    for sign in (1.0, -1.0):
        rows.add(np.zeros(n), np.full(n, np.inf), (d, np.ones(n)), (round_, np.full(n, sign)))
    fixed = _budget_coordinates(inputs, np.clip(inputs.body.center, inputs.lower, inputs.upper))
    fixed[columns] = 0.0
    rows.add(np.array([-np.inf]), np.array([1.0 - np.abs(fixed).sum()]), (d, np.ones(n)))
    return count + n


def _minimize(
    cost: Floats, low: Floats, high: Floats, rows: _Rows, seconds: float
) -> tuple[Floats | None, Floats | None]:
    """Primal and dual values, unchecked."""
    matrix = coo_array(
        (np.concatenate(rows.value), (np.concatenate(rows.row), np.concatenate(rows.column))),
        shape=(rows.count, cost.size),
    ).tocsr()
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("simplex_iteration_limit", _MOST_STEPS)
    solver.setOptionValue("time_limit", max(seconds, 0.01))
    none = np.zeros(0, dtype=np.int32)
    solver.addCols(cost.size, cost, low, high, 0, none, none, np.zeros(0))
    solver.addRows(
        rows.count, np.concatenate(rows.low), np.concatenate(rows.high), matrix.nnz, matrix.indptr[:-1], matrix.indices,
        matrix.data,
    )  # fmt: skip
    solver.run()
    solution = solver.getSolution()
    values, duals = np.array(solution.col_value), np.array(solution.row_dual)
    if values.size != cost.size or duals.size != rows.count or not np.isfinite(values).all():
        return None, None
    return values, np.where(np.isfinite(duals), duals, 0.0)
