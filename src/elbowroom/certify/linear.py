"""The judge for linear models.

A row asks for w.x + b >= needed at every point x of the body, where needed covers the original's rounding: at the
largest |x| of the body, and for boxes at the worst end of each column alone (see `_magnitude`). Let c be the centre
and t_f >= 0 the shift of column f towards the side that hurts
(down where w_f > 0, up where w_f < 0). The row holds iff

    max { sum_f |w_f| t_f : t in the shape, 0 <= t_f <= cap_f }  <=  spare  =  w.c + b - needed,

with cap_f the room of the bounding box on that side. ``spare`` is an exact rational number. Boxes: t = cap, exact.
Balls and diamonds: weak duality in floats, rounded outwards; whole columns by branch and bound over their shifts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, assert_never

import numpy as np

from elbowroom.certify.linear_shapes import ShiftProblem, ShiftVerdict, largest_gain
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.margins import AffineMargins, linear_margins
from elbowroom.numerics import SMALLEST, Bools, Floats, exact_dot
from elbowroom.problem.body import Body
from elbowroom.problem.shapes import Shape, is_round
from elbowroom.problem.target import Target
from elbowroom.result.certificate import Certificate, Counterexample, Undecided, Verdict

SHAPES: Final = (Shape.BOX, Shape.BALL, Shape.DIAMOND)
_SHRINKS: Final = (0.0, 2e-16, 1e-15, 1e-14, 1e-13, 1e-12)  # tried in turn, until a point is inside the body
_WHOLE_ENOUGH: Final = 1e-9  # a shift this little short of a whole number is that number; never used in a proof
ASSUMPTIONS = (
    "rows are handed to the model as float64 numbers",
    "every summation order of the model's float64 arithmetic is covered",
    "the model adds products as float64 numbers; no single operation loses more than half a unit in the last place",
)


@dataclass(frozen=True, eq=False)
class _Row:
    """One rival: the weights, and how much may be lost between the centre and the worst point."""

    weight: Floats
    bias: float
    needed: Fraction
    spare: Fraction
    worst_category: dict[int, int]  # free group -> member column with the smallest weight

    def margin(self, point: Floats) -> Fraction:
        """Exactly w.x + b - needed."""
        return exact_dot(self.weight, point) + Fraction(self.bias) - self.needed


def judge_linear(model: LinearModel, target: Target, body: Body, deadline: float) -> Verdict:
    """Certificate, a point of the body that fails (or is too close to tell), or Undecided at the deadline."""
    start = time.perf_counter()
    margins = linear_margins(model, target.index(model.info), target.need)
    affine, largest = margins.affine, np.maximum(np.abs(body.lower), np.abs(body.upper))
    with np.errstate(over="ignore", invalid="ignore"):
        needed = np.array(
            [affine.error(_magnitude(affine, j, body))[j] + margins.slack[j] for j in range(margins.slack.size)]
        )
        size = np.abs(affine.weight) @ largest + np.abs(affine.bias) + affine.error(largest)
    if not (np.isfinite(needed).all() and np.isfinite(size).all()):
        return Undecided("the scores overflow float64 inside the region", time.perf_counter() - start)
    smallest = Fraction(10) ** 400
    reason = ""
    for j in range(needed.size):
        row = _read_row(affine.weight[j], float(affine.bias[j]), float(needed[j]), body)
        gain = _worst_gain(row, body, deadline)
        if gain.point is not None:
            label = model.info.says(model.scores(gain.point[None]))[0]
            margin, seconds = min(_down(row.margin(gain.point)), -SMALLEST), time.perf_counter() - start
            return Counterexample(gain.point, label, margin, seconds, _near_tie(margins, gain.point))
        if gain.lost is None:
            reason = gain.reason
            continue
        smallest = min(smallest, row.spare - gain.lost)
    seconds = time.perf_counter() - start
    if reason:
        return Undecided(reason, seconds)
    margin = max(0.0, _down(smallest))
    return Certificate(model.fingerprint, target, body, _method(body.shape), margin, seconds, ASSUMPTIONS)


def _near_tie(margins: AffineMargins, point: Floats) -> bool:
    """True if no rival is ahead by more than rounding at a point that was refused."""
    doubt = margins.affine.error(np.abs(point)) + margins.slack
    return bool((margins.affine(point) >= -doubt).all())


def _method(shape: Shape) -> str:
    match shape:
        case Shape.BOX:
            return "linear: exact rational value at the worst corner"
        case Shape.BALL | Shape.DIAMOND:
            return f"linear: weak duality over the clipped {shape.value}"
        case _:
            assert_never(shape)


def _magnitude(affine: Affine, j: int, body: Body) -> Floats:
    """The |x| at which the rounding of row j must be covered.

    In a box the columns are independent. Let u be the end of column f that hurts and e <= |w| the slope of the error:
    every x on the other side of u has w (x - u) = |w| |x - u| >= e (|x| - |u|), it gains at least what it adds in
    rounding. So the rounding at u is enough. Otherwise, and in round shapes, it is counted at the largest |x|.
    """
    largest = np.maximum(np.abs(body.lower), np.abs(body.upper))
    if is_round(body.shape):
        return largest
    weight = affine.weight[j]
    steep = (np.abs(weight) >= affine.error_slope[j]) & (weight != 0.0)
    for members in body.free_groups:
        steep[members] = False
    return np.where(steep, np.abs(np.where(weight > 0.0, body.lower, body.upper)), largest)


def _read_row(weight: Floats, bias: float, needed: float, body: Body) -> _Row:
    """Exact value at the centre, free groups at their worst category."""
    grouped = np.zeros(weight.size, dtype=np.bool_)
    worst: dict[int, int] = {}
    for g, members in enumerate(body.free_groups):
        grouped[members] = True
        possible = members[_possible(body.lower[members], body.upper[members])]
        worst[g] = int(possible[np.argmin(weight[possible])])
    value = Fraction(bias) + exact_dot(weight[~grouped], body.center[~grouped])
    for member in worst.values():
        value += Fraction(float(weight[member]))
    wanted = Fraction(needed)
    return _Row(weight, bias, wanted, value - wanted, worst)


def _possible(lower: Floats, upper: Floats) -> Bools:
    """Categories that the bounds allow: the member may be 1 and every other member may be 0."""
    others_may_be_zero = (lower > 0).sum() - (lower > 0) == 0
    return np.asarray((upper >= 1) & others_may_be_zero, dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class _Gain:
    """``lost``: a proven upper bound on the loss, not above the row's spare; or a failing point; or neither."""

    lost: Fraction | None = None
    point: Floats | None = None
    reason: str = ""


def _worst_gain(row: _Row, body: Body, deadline: float) -> _Gain:
    columns = body.round_columns
    columns = columns[row.weight[columns] != 0]
    down = row.weight[columns] > 0
    edge = np.where(down, body.lower[columns], body.upper[columns])
    if not is_round(body.shape):
        lost = exact_dot(row.weight[columns], body.center[columns]) - exact_dot(row.weight[columns], edge)
        if lost <= row.spare:
            return _Gain(lost)
        return _Gain(point=_point_at(row, body, columns, edge))
    cap = np.abs(edge - body.center[columns])
    cap = np.where(body.whole[columns], cap, np.nextafter(cap, np.inf))  # the real difference is not larger
    question = ShiftProblem(np.abs(row.weight[columns]), body.axes[columns], cap, body.whole[columns], body.shape)

    def failing_point(shift: Floats) -> Floats | None:
        return _inside(row, body, columns, np.where(down, -1.0, 1.0), shift)

    answer: ShiftVerdict = largest_gain(question, row.spare, failing_point, deadline)
    return _Gain(answer.bound, answer.point, answer.reason)


def _point_at(row: _Row, body: Body, columns: np.ndarray, values: Floats) -> Floats:
    point = body.center.copy()
    point[columns] = values
    for g, members in enumerate(body.free_groups):
        point[members] = 0.0
        point[row.worst_category[g]] = 1.0
    return point


def _inside(row: _Row, body: Body, columns: np.ndarray, sign: Floats, shift: Floats) -> Floats | None:
    """A float point of the body near centre + sign * shift at which the row fails, or None.

    A shift on the surface of the shape may round to the outside: real-valued columns shrink a little until it does not.
    """
    whole = body.whole[columns]
    for shrink in _SHRINKS:
        real = body.center[columns] + sign * shift * (1.0 - shrink)
        values = np.where(whole, body.center[columns] + sign * np.floor(shift + _WHOLE_ENOUGH), real)
        values = np.clip(values, body.lower[columns], body.upper[columns])
        point = _point_at(row, body, columns, values)
        if body.contains(point)[0]:
            return point if row.margin(point) < 0 else None
    return None


def _down(value: Fraction) -> float:
    """The value as a float, not rounded up."""
    if abs(value) > Fraction(10) ** 300:
        return 1e300 if value > 0 else -1e300
    near = float(value)
    return near if Fraction(near) <= value else float(np.nextafter(near, -np.inf))
