"""`above` and `below` of every node: the same numbers as `question.positions`, found node by node.

The formulas of that module are tried first, and every result is checked against the room's own ends, and so is its
neighbour; the few that miss (limits, rounding, huge whole numbers) are left to the bisection there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.question.positions import Room, first_right_of, last_left_of


def right_of(room: Room, column: Ints, cut: Floats) -> Floats:
    """`positions.first_right_of`."""
    return _checked(room, column, cut, 1, first_right_of)


def left_of(room: Room, column: Ints, cut: Floats) -> Floats:
    """`positions.last_left_of`."""
    return _checked(room, column, cut, 0, last_left_of)


def _checked(room: Room, column: Ints, cut: Floats, right: int, slow: Callable[[Room, Ints, Floats], Floats]) -> Floats:
    found, missed = np.zeros(cut.size), np.zeros(cut.size, np.int64)
    whole = room.whole_room.astype(np.int64)
    _fill(column, cut, room.down, room.up, room.lower, room.upper, whole, right, found, missed)
    again = np.flatnonzero(missed)
    if again.size:
        found[again] = slow(room, column[again], cut[again])
    return found


@inner_kernel
def _rest(a: float, b: float, total: float) -> float:
    """a + b - fl(a + b), exactly."""
    part = total - a
    return (a - (total - part)) + (b - part)


@inner_kernel
def _low_end(center: float, down: float, lower: float, whole: int) -> float:
    low = center - down
    if _rest(center, -down, low) > 0.0:
        low = np.nextafter(low, np.inf)
    low = max(low, lower)
    return min(np.ceil(low) if whole != 0 else low, center)


@inner_kernel
def _high_end(center: float, up: float, upper: float, whole: int) -> float:
    high = center + up
    if _rest(center, up, high) < 0.0:
        high = np.nextafter(high, -np.inf)
    high = min(high, upper)
    return max(np.floor(high) if whole != 0 else high, center)


@kernel
def _fill(
    column: Ints, cut: Floats, down: Floats, up: Floats, lower: Floats, upper: Floats, whole: Ints, right: int,
    found: Floats, missed: Ints,
) -> None:  # fmt: skip
    for k in range(cut.shape[0]):
        f, t = column[k], cut[k]
        if right != 0:
            total = t + down[f]
            rest = _rest(t, down[f], total)
            if whole[f] != 0:
                guess = np.floor(total) + 1.0
                if total == np.floor(total) and rest < 0.0:
                    guess -= 1.0
                other = guess - 1.0
            else:
                guess = total if rest < 0.0 else np.nextafter(total, np.inf)
                other = np.nextafter(guess, -np.inf)
            fits = (
                _low_end(guess, down[f], lower[f], whole[f]) > t and _low_end(other, down[f], lower[f], whole[f]) <= t
            )
        else:
            beyond = np.floor(t) + 1.0 if whole[f] != 0 else np.nextafter(t, np.inf)
            total = beyond - up[f]
            rest = _rest(beyond, -up[f], total)
            if whole[f] != 0:
                guess = np.ceil(total) - 1.0
                if total == np.ceil(total) and rest > 0.0:
                    guess += 1.0
                other = guess + 1.0
            else:
                guess = total if rest > 0.0 else np.nextafter(total, -np.inf)
                other = np.nextafter(guess, np.inf)
            fits = _high_end(guess, up[f], upper[f], whole[f]) <= t and _high_end(other, up[f], upper[f], whole[f]) > t
        if guess == other or abs(guess) > 1e15 or not fits:
            missed[k] = 1
        found[k] = guess + 0.0
