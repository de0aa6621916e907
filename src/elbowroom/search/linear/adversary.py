"""The worst shift of the room against one row at a given centre, in plain floats.

For columns with gains a_f, semi-axes r_f and caps k_f (room to the edge of the limits on the bad side):
R(c) = max sum a_f t_f over t in the shape with t_f <= cap_f. R is concave in the caps; its slopes are what a polish step
needs for a tangent. Nothing here is trusted: the judge repeats it with proofs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, assert_never

import numpy as np

from elbowroom.numerics import Bools, Floats
from elbowroom.problem.shapes import NO_BUDGET, Shape, is_round, spent, spent_exactly
from elbowroom.search.linear.limits import LAST_DIGIT, MOST_NODES, ON_THE_SURFACE, WHOLE_SHIFT
from elbowroom.search.linear.question import Question

Fill: TypeAlias = "Callable[[Floats, Floats, Floats, Floats], tuple[Floats, Floats] | None]"


@dataclass(frozen=True, eq=False)
class Attack:
    """Shift t >= 0 per column (towards the bad side), the loss it causes, and the value lost per unit of cap."""

    shift: Floats
    loss: float
    cap_slope: Floats


class Adversary:
    """One row of a question: signs, gains, edges; answers `attack` for any centre."""

    def __init__(self, question: Question, row: int) -> None:
        weight = question.weight[row]
        self.gain = np.abs(weight)
        self.sign = np.where(weight < 0, -1.0, 1.0)
        bad_edge = np.where(weight < 0, question.room_upper, question.room_lower)
        self.edge = np.where(weight != 0, self.sign * (bad_edge - question.start), -np.inf)  # k_f, relative
        self.axes = np.where(weight < 0, question.axes_up, question.axes_down)
        self.shape = question.shape if row < question.n_model_rows else Shape.BOX
        if row >= question.n_model_rows:
            self.axes = np.zeros_like(self.axes)  # rules speak about the centre alone
        self.moving = (self.gain > 0) & (self.axes > 0) & ~(question.whole & (self.axes < 1.0))
        self.whole = question.whole
        self.start = question.start
        self._last: tuple[bytes, Attack] | None = None

    def relative(self, values: Floats) -> Floats:
        """e = sign (c - factual)."""
        return np.asarray(self.sign * (values - self.start))

    def kept(self, e: Floats, shift: Floats) -> float:
        """sum a max(e - t, k): what the columns add to the row under a fixed shift."""
        return float((self.gain * np.maximum(e - shift, self.edge)).sum())

    def attack(self, values: Floats) -> Attack:
        """The worst shift at a centre; the last answer is remembered, because several steps ask about the same one."""
        key = values.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = (key, self._attack(values))
        return self._last[1]

    def _attack(self, values: Floats) -> Attack:
        e = self.relative(values)
        shift, cap_slope = np.zeros_like(e), np.zeros_like(e)
        m = self.moving
        cap = np.maximum(e[m] - self.edge[m], 0.0)
        if not m.any():
            return Attack(shift, 0.0, cap_slope)
        if not is_round(self.shape):
            shift[m] = self.axes[m]
            cap_slope[m] = np.where(cap < self.axes[m], self.gain[m], 0.0)
        else:
            t, slope = _with_whole(
                _fill(self.shape), self.gain[m], self.axes[m], np.minimum(cap, self.axes[m]), self.whole[m]
            )
            shift[m], cap_slope[m] = t, np.where(cap < self.axes[m], slope, 0.0)  # a cap beyond the axis is idle
        loss = float((self.gain[m] * np.minimum(shift[m], cap)).sum())
        return Attack(shift, loss, cap_slope)


def _fill(shape: Shape) -> Fill:
    match shape:
        case Shape.BALL:
            return _ball
        case Shape.DIAMOND:
            return _diamond
        case Shape.BOX:
            raise ValueError(NO_BUDGET)
        case _:
            assert_never(shape)


def _ball(gain: Floats, axes: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats] | None:
    """Water filling t = r clip(theta a r, low / r, high / r) with sum (t / r)^2 = 1; slopes a - t / (theta r^2)."""
    z_low, z_high, value = low / axes, high / axes, gain * axes
    if not _reachable(Shape.BALL, z_low, low, axes):
        return None
    if float(np.square(z_high).sum()) <= 1.0:
        return high.copy(), gain.copy()
    kinks = np.unique(np.concatenate([z_low / value, z_high / value]))
    first, last = 0, kinks.size - 1
    while last - first > 1:
        middle = (first + last) // 2
        if float(np.square(np.clip(kinks[middle] * value, z_low, z_high)).sum()) <= 1.0:
            first = middle
        else:
            last = middle
    between = 0.5 * (kinks[first] + kinks[last])
    free = (between * value > z_low) & (between * value < z_high)
    rest = 1.0 - float(np.square(np.clip(between * value, z_low, z_high)[~free]).sum())
    steep = float(np.square(value[free]).sum())
    theta = float(np.sqrt(max(rest, 0.0) / steep)) if steep > 0 else float(kinks[first])
    z = np.clip(theta * value, z_low, z_high)
    capped = theta * value >= z_high
    slope = np.where(capped, gain - (z / (theta * axes) if theta > 0 else 0.0), 0.0)
    return np.where(capped, high, z * axes), np.maximum(slope, 0.0)


def _diamond(gain: Floats, axes: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats] | None:
    """Fractional knapsack by a r; slopes a - (value of the last column) / r where capped."""
    z_low, value = low / axes, gain * axes
    left = 1.0 - float(z_low.sum())
    if not _reachable(Shape.DIAMOND, z_low, low, axes):
        return None
    t, slope = low.copy(), np.zeros_like(gain)
    filled: list[int] = []
    marginal = 0.0
    for f in np.argsort(-value, kind="stable"):
        room = float(high[f] - low[f]) / float(axes[f])
        if room > left:
            t[f] += max(left, 0.0) * axes[f]
            marginal = float(value[f])
            break
        t[f] = high[f]
        filled.append(int(f))
        left -= room
    slope[filled] = np.maximum(gain[filled] - marginal / axes[filled], 0.0)
    return t, slope


def _reachable(shape: Shape, z: Floats, low: Floats, axes: Floats) -> bool:
    """Are the least shifts inside the shape? Decided exactly where rounding could matter: a whole shift on the surface
    belongs to the room or does not, and the distance may jump with it."""
    used = float(spent(shape, z))
    if abs(used - 1.0) > ON_THE_SURFACE:
        return used < 1.0
    parts = (Fraction(float(t)) / Fraction(float(r)) for t, r in zip(low, axes, strict=True) if t > 0)
    return spent_exactly(shape, parts) <= 1


def _with_whole(fill: Fill, gain: Floats, axes: Floats, cap: Floats, whole: Bools) -> tuple[Floats, Floats]:
    """Branch and bound over the whole shifts around the continuous answer."""
    if not whole.any():
        answer = fill(gain, axes, np.zeros_like(cap), cap)
        assert answer is not None
        return answer[0], answer[1]
    # A cap between whole numbers (a relaxed centre) may be overshot: the loss counts up to the cap.
    high = np.where(whole, np.minimum(np.ceil(cap - WHOLE_SHIFT), np.floor(axes)), cap)
    best: tuple[Floats, Floats] = (np.zeros_like(cap), np.zeros_like(cap))
    best_loss = 0.0
    stack = [(np.zeros_like(cap), high)]
    nodes = 0
    while stack and nodes < MOST_NODES:
        nodes += 1
        low, high = stack.pop()
        answer = fill(gain, axes, low, high)
        if answer is None:
            continue
        t, slope = answer
        if float(gain @ t) <= best_loss * (1.0 + LAST_DIGIT):
            continue
        rounded = np.where(whole, np.floor(t + WHOLE_SHIFT), t)
        loss = float(gain @ np.minimum(rounded, cap))
        if loss > best_loss:
            best, best_loss = (rounded, slope), loss
        fraction = np.where(whole, np.abs(t - np.round(t)), 0.0)
        f = int(np.argmax(fraction))
        if fraction[f] <= WHOLE_SHIFT:
            continue
        left_high, right_low = high.copy(), low.copy()
        left_high[f], right_low[f] = np.floor(t[f]), np.ceil(t[f])
        stack += [(low, left_high), (right_low, high)]
    return best
