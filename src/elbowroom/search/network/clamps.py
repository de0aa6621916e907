"""How scenarios follow the centre: y_s(x) - y_s(x^) as a clamp of every single move.

For an upward move u of column f, y = clip(x^ + s + u) rises only after the dead zone e = lower - (x^ + s) and stops at the
upper limit after another K: the scenario's own move is clamp(u) = min(max(u - e, 0), K). Downward moves mirror this;
moves of a one-hot group follow fully (K = inf), or not at all where the room pins the category. Every clamp is
nondecreasing with slope at most 1, so the scenario's moves stay inside the budget of the centre's moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import Bools, Floats
from elbowroom.search.network.moves import Moves
from elbowroom.search.network.scenarios import Scenarios


@dataclass(frozen=True, eq=False)
class Clamps:
    """Dead zones and lengths in units of distance, one row per scenario, and the points y_s(x^)."""

    dead: Floats  # (scenarios, moves)
    length: Floats  # (scenarios, moves)
    start: Floats  # (scenarios, columns)

    @classmethod
    def of(cls, moves: Moves, scenarios: Scenarios, first: int = 0) -> Clamps:
        which = slice(first, len(scenarios))
        lower, upper, free = scenarios.lower, scenarios.upper, scenarios.free
        shifted = moves.base + scenarios.shift[which]
        rise_dead = np.maximum(0.0, lower - shifted)
        rise = np.maximum(0.0, upper - np.maximum(lower, shifted))
        fall_dead = np.maximum(0.0, shifted - upper)
        fall = np.maximum(0.0, np.minimum(upper, shifted) - lower)
        group = (moves.plus >= 0) & (moves.minus >= 0)
        up = moves.plus >= 0
        column = np.where(up, moves.plus, moves.minus)
        dead = np.where(group, 0.0, np.where(up, rise_dead[:, column], fall_dead[:, column]))
        length = np.where(group, np.inf, np.where(up, rise[:, column], fall[:, column]))
        length = np.where(free[column], 0.0, length)
        start = np.where(free, scenarios.pinned[which], np.clip(shifted, lower, upper))
        # groups are one-hot at the factual itself; their limits are obeyed by the moves
        grouped = moves.problem.space.group_of >= 0
        start = np.where(grouped & ~free, moves.base, start)
        return cls(dead / moves.unit, length / moves.unit, start)

    def join(self, later: Clamps) -> Clamps:
        return Clamps(
            np.vstack([self.dead, later.dead]),
            np.vstack([self.length, later.length]),
            np.vstack([self.start, later.start]),
        )

    def __call__(self, v: Floats, j: int) -> Floats:
        """The moves of scenario j when the centre moves by v."""
        return np.asarray(np.clip(v - self.dead[j], 0.0, self.length[j]))

    def kinks(self, j: int, low: Floats, high: Floats) -> tuple[Bools, Bools]:
        """Moves whose clamp starts (ends) strictly inside [low, high]."""
        dead, end = self.dead[j], self.dead[j] + self.length[j]
        real = self.length[j] > 0.0
        return real & (dead > low) & (dead < high), real & (end > low) & (end < high)

    def upper_line(self, j: int, slope: Floats, low: Floats, high: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Linear functions c_i + k_i v_i >= slope_i * (clamp_i(v_i) - clamp_i(low_i)) on [low, high], good at v.

        A clamp that starts inside is convex (flat, then rising), one that ends inside is concave. Where slope * clamp is
        convex the chord is best, where it is concave the tangent at v; both kinks inside (a room wider than the limits)
        leave the constant bounds. Returns (c, k).
        """
        dead, end = self.dead[j], self.dead[j] + self.length[j]
        starts, ends = self.kinks(j, low, high)
        at_low, at_high = self(low, j), self(high, j)
        width = high - low
        chord = np.where(width > 0.0, (at_high - at_low) / np.where(width > 0.0, width, 1.0), 0.0)
        k, c = chord, -chord * low
        tangent = starts & ~ends & (slope < 0.0)  # above the convex clamp's supporting lines: 0 and v - dead
        k = np.where(tangent, v > dead, k)
        c = np.where(tangent, np.where(v > dead, -dead, 0.0), c)
        tangent = ends & ~starts & (slope > 0.0)  # below the concave clamp's supporting lines: v - low and end - low
        k = np.where(tangent, v < end, k)
        c = np.where(tangent, np.where(v < end, -low, at_high - at_low), c)
        both = starts & ends
        k = np.where(both, 0.0, k)
        c = np.where(both, np.where(slope > 0.0, at_high - at_low, 0.0), c)
        return slope * c, slope * k
