"""What one column costs as a function of its move, with both ways in one table, and its convex envelope on an interval.

p(0) = 0, p grows away from 0, is linear between bends and may jump at 0 (`problem.pieces`). Its value at 0 is the lower one, so
p is lower semicontinuous: on an interval, p(v) - slope v is smallest at a bend or at an end, and the envelope goes through such
points. All numbers are relative to the factual, in raw units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.problem.pieces import Pieces
from elbowroom.search.linear.limits import PIECE_ROUNDING, STEEPEST


class Way(NamedTuple):
    """Segments of an envelope away from its base, in order: how long each is, and what a unit of it costs."""

    lengths: Floats
    slopes: Floats


NOTHING: Final = Way(np.zeros(0), np.zeros(0))


@dataclass(frozen=True, eq=False)
class Envelope:
    """The convex envelope of a price on an interval: its base is the point nearest to 0."""

    base: float
    cost: float  # of the base
    up: Way
    down: Way

    def of(self, move: float) -> float:
        """Its value."""
        way, length = (self.up, move - self.base) if move >= self.base else (self.down, self.base - move)
        before = np.concatenate([[0.0], np.cumsum(way.lengths)[:-1]]) if way.lengths.size else way.lengths
        return self.cost + float((np.clip(length - before, 0.0, way.lengths) * way.slopes).sum())


@dataclass(frozen=True, eq=False)
class Ladder:
    """Prices of both ways."""

    up: Pieces
    down: Pieces
    up_bends: Floats  # where pieces end, from 0 on, and the price there, with the jump
    up_costs: Floats
    down_bends: Floats
    down_costs: Floats

    @classmethod
    def straight(cls, price: float) -> Ladder:
        """The same for every unit."""
        pieces = Pieces(0.0, np.zeros(1), np.array([price]))
        return cls.of(pieces, pieces)

    @classmethod
    def of(cls, up: Pieces, down: Pieces) -> Ladder:
        return cls(up, down, *_corners(up), *_corners(down))

    def cost(self, move: float) -> float:
        """p(move)."""
        pieces = self.up if move >= 0.0 else self.down
        return float(pieces.of(np.array([abs(move)]))[0])

    def typical(self, low: float, high: float) -> float:
        """What a unit costs on average, the whole way to the farther end; for scaling."""
        far = high if high >= -low else low
        slopes = self.up.slopes if far == high else self.down.slopes
        return self.cost(far) / abs(far) if np.isfinite(far) and far != 0.0 else float(slopes[-1])

    def reach(self, budget: float) -> tuple[float, float]:
        """How far down and up a budget lasts, rounded outwards a little."""
        down = _lasts(self.down, self.down_bends, self.down_costs, budget)
        return -down, _lasts(self.up, self.up_bends, self.up_costs, budget)

    def points(self, low: float, high: float) -> tuple[Floats, Floats]:
        """Where p may be cheapest on [low, high] after a linear form is taken away: ends that are finite, bends, and 0."""
        inner = np.concatenate([-self.down_bends[::-1], self.up_bends])
        costs = np.concatenate([self.down_costs[::-1], self.up_costs])
        costs[self.down_bends.size - 1 : self.down_bends.size + 1] = 0.0  # at 0 itself nothing is paid
        inside = (inner > low) & (inner < high)
        ends = [end for end in (low, high) if np.isfinite(end)]
        return np.concatenate([inner[inside], ends]), np.concatenate([costs[inside], [self.cost(e) for e in ends]])

    def envelope(self, low: float, high: float) -> Envelope:
        """The largest convex function below p on [low, high]; its base is the only point of the interval beside which there is
        anything to either side."""
        base = min(max(0.0, low), high)
        cost = self.cost(base)
        up = _hull(base, cost, high, self.up_bends, self.up_costs, self.up) if base >= 0.0 else NOTHING
        down = _hull(-base, cost, -low, self.down_bends, self.down_costs, self.down) if base <= 0.0 else NOTHING
        return Envelope(base, cost, up, down)

    def piece(self, move: float) -> tuple[float, float]:
        """The stretch around a move on which p is linear, both neighbours where it lies at a bend; a column that has not moved
        stays so if any change costs something."""
        if move == 0.0:
            return (
                0.0 if self.down.jump else -float(np.append(self.down_bends, np.inf)[1]),
                0.0 if self.up.jump else float(np.append(self.up_bends, np.inf)[1]),
            )
        bends, length = (self.up_bends, move) if move > 0.0 else (self.down_bends, -move)
        blur = PIECE_ROUNDING * length
        before, behind = bends[bends < length - blur], bends[bends > length + blur]
        near, far = (float(before[-1]) if before.size else 0.0), (float(behind[0]) if behind.size else np.inf)
        return (near, far) if move > 0.0 else (-far, -near)


def _corners(pieces: Pieces) -> tuple[Floats, Floats]:
    costs = pieces.of(pieces.starts)
    costs[0] = pieces.jump
    return pieces.starts, costs


def _lasts(pieces: Pieces, bends: Floats, costs: Floats, budget: float) -> float:
    """The longest move one way that costs no more than the budget."""
    if budget < pieces.jump:
        return 0.0
    k = int(np.searchsorted(costs, budget, side="right")) - 1
    return float(bends[k] + (budget - costs[k]) / pieces.slopes[k]) * (1.0 + PIECE_ROUNDING)


def _hull(first: float, cost: float, last: float, bends: Floats, costs: Floats, pieces: Pieces) -> Way:
    """One way from the base at ``first`` with its cost up to ``last``, lengths counted away from 0."""
    if last <= first * (1.0 + PIECE_ROUNDING):  # a sliver is a point
        return NOTHING
    inside = (bends > first) & (bends < last)
    at, of = [first], [cost]
    inside &= bends - first > PIECE_ROUNDING * bends
    points = list(zip(bends[inside].tolist(), costs[inside].tolist(), strict=True))
    if np.isfinite(last):
        points.append((last, float(pieces.of(np.array([last]))[0])))
    for x, c in points:
        while len(at) > 1 and (of[-1] - of[-2]) * (x - at[-1]) >= (c - of[-1]) * (at[-1] - at[-2]):
            del at[-1], of[-1]
        at.append(x)
        of.append(c)
    endless = float(pieces.slopes[-1])
    while np.isinf(last) and len(at) > 1 and of[-1] - of[-2] >= endless * (at[-1] - at[-2]):
        del at[-1], of[-1]
    lengths = np.diff(at)
    with np.errstate(over="ignore", divide="ignore"):
        slopes = np.diff(of) / lengths
    usable = slopes <= STEEPEST * float(
        pieces.slopes.max()
    )  # a jump over a sliver is left out: bounds look at its end anyway
    lengths, slopes = lengths[usable], slopes[usable]
    return Way(np.append(lengths, np.inf), np.append(slopes, endless)) if np.isinf(last) else Way(lengths, slopes)
