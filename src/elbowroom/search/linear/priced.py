"""Least moves with prices: min sum_f p_f(v_f) with A v >= b, lower <= v <= upper, where p_f is piecewise linear and may jump.

The relaxation takes the convex envelope of every p_f on its interval: a linear program over segments, for one row a knapsack
that is filled by what a segment costs per gain. Intervals are divided at bends (`bent_column`), where the envelope is below the
price. The bound is the Lagrangian with the prices themselves,

    L(lam) = lam.b + sum_f min { p_f(v) - (A^T lam)_f v : lower_f <= v <= upper_f },   lam >= 0,

whose minima lie at bends and ends. Stretches between bends on which L - min_f + (p_f(v) - reach_f v) reaches the best distance
hold nothing better, and are cut off the ends.
"""

from __future__ import annotations

import numpy as np

from elbowroom.numerics import EPS, Floats, Ints, gamma, next_down, next_up
from elbowroom.search.bends import bend
from elbowroom.search.linear.ladder import Envelope
from elbowroom.search.linear.least import Answer, Bound, LeastMoves
from elbowroom.search.linear.limits import BUDGET_ROUNDING, LAGRANGIAN_ROUNDING, MOST_KEPT, PIECE_ROUNDING
from elbowroom.search.linear.question import Question
from elbowroom.search.solvers.highs import Triplets


class PricedMoves(LeastMoves):
    """Solves the programs of one search. A scaled move is ``unit`` long; distances are scaled by unit * factor."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.problem.distance)
        self.question = question
        self._known: dict[tuple[int, float, float], tuple[Envelope, Floats, Floats]] = {}
        self._last: list[Envelope] = []

    # ---- prices on an interval ------------------------------------------------------------------------------------------
    def _on(self, f: int, low: float, high: float) -> tuple[Envelope, Floats, Floats]:
        """Envelope, points and prices of a column on an interval in raw units."""
        key = (f, low, high)
        if key not in self._known:
            if len(self._known) > MOST_KEPT:
                self._known.clear()
            ladder = self.question.ladders[f]
            self._known[key] = (ladder.envelope(low, high), *ladder.points(low, high))
        return self._known[key]

    def _all(self, lower: Floats, upper: Floats, unit: Floats) -> list[tuple[Envelope, Floats, Floats]]:
        ends = zip((lower * unit).tolist(), (upper * unit).tolist(), strict=True)
        return [self._on(f, low, high) for f, (low, high) in enumerate(ends)]

    def _scale(self, unit: Floats) -> float:
        return float(unit[0] * self.question.factor[0])

    def measure(self, moves: Floats, unit: Floats) -> float:
        costs = [ladder.cost(move) for ladder, move in zip(self.question.ladders, moves * unit, strict=True)]
        return float(sum(costs)) / self._scale(unit)

    def above(self, values: Floats) -> Floats:
        """How much more than its envelope of the last program each column costs at these values."""
        q = self.question
        moves = values - q.start
        return np.array([q.ladders[f].cost(m) - self._last[f].of(m) for f, m in enumerate(moves.tolist())])

    def pieces(self, values: Floats) -> tuple[Floats, Floats]:
        """The stretches around these values on which prices are straight."""
        q = self.question
        ends = np.array([q.ladders[f].piece(m) for f, m in enumerate((values - q.start).tolist())])
        return np.minimum(q.start + ends[:, 0], values), np.maximum(q.start + ends[:, 1], values)

    def within(self, lower: Floats, upper: Floats, budget: float) -> tuple[Floats, Floats]:
        """No column costs more than the budget leaves after the others' least costs."""
        q = self.question
        nearest = np.clip(q.start, lower, upper) - q.start
        least = np.array([ladder.cost(move) for ladder, move in zip(q.ladders, nearest.tolist(), strict=True)])
        left = np.maximum(budget - (least.sum() - least), 0.0) + BUDGET_ROUNDING * budget
        reach = np.array([ladder.reach(each) for ladder, each in zip(q.ladders, left.tolist(), strict=True)])
        return np.maximum(lower, next_down(q.start + reach[:, 0])), np.minimum(upper, next_up(q.start + reach[:, 1]))

    # ---- the program ----------------------------------------------------------------------------------------------------
    def _at_rest(self, nearest: Floats, unit: Floats | None) -> float | None:
        assert unit is not None
        q = self.question
        self._last = [ladder.envelope(m, m) for ladder, m in zip(q.ladders, (nearest * unit).tolist(), strict=True)]
        return self.measure(nearest, unit) * (1.0 - gamma(nearest.size + 8))

    def _answer(
        self, A: Floats, b: Floats, lower: Floats, upper: Floats, time_limit: float, unit: Floats | None
    ) -> Answer | None:
        assert unit is not None
        scale, self._last = self._scale(unit), [each[0] for each in self._all(lower, upper, unit)]
        of, sign, length, price = _segments(self._last)
        length, price = length / unit[of], price * unit[of] / scale
        base = np.array([envelope.base for envelope in self._last]) / unit
        gain, need = A[:, of] * sign, b - A @ base
        if b.size == 1:
            filled = _knapsack(gain[0], float(need[0]), length, price)
        else:
            found = self._lp.solve(price, Triplets.of(gain), need, np.zeros(price.size), length, time_limit)
            filled = (found.x, np.maximum(found.row_dual, 0.0)) if found.usable else None
        if filled is None:
            return None
        moves = base + np.bincount(of, weights=sign * filled[0], minlength=base.size)
        return moves, filled[1], [np.ones(base.size)]

    def _proven(
        self, A: Floats, b: Floats, doubt: Floats, lower: Floats, upper: Floats, multiplier: Floats, price: Floats, unit: Floats | None
    ) -> Bound:  # fmt: skip
        """The Lagrangian at this multiplier, rounded down. On open sides the last slope has to win: the multiplier shrinks."""
        assert unit is not None
        q, scale = self.question, self._scale(unit)
        reach, spread = A.T @ multiplier, gamma(b.size + 8) * (np.abs(A).T @ multiplier)
        last = np.array([(lad.down.slopes[-1], lad.up.slopes[-1]) for lad in q.ladders]) * (unit / scale)[:, None]
        open_side = np.isinf(np.column_stack([lower, upper])) & (np.column_stack([-reach, reach]) > 0)
        steep = np.where(open_side, (np.abs(reach) + spread)[:, None] / last, 0.0).max(initial=0.0)
        shrink = max(1.0, float(steep)) * (1.0 + gamma(8))
        multiplier, reach, spread = multiplier / shrink, reach / shrink, spread / shrink
        value, size = float(multiplier @ (b - doubt)), float(multiplier @ np.abs(b))
        minima, sizes = self._minima(reach, spread, lower, upper, unit)
        value += float(minima.sum())
        value -= gamma(lower.size + b.size + 16) * (size + float(sizes.sum()))
        return Bound(max(value, 0.0), multiplier, price)

    def _minima(
        self, reach: Floats, spread: Floats, lower: Floats, upper: Floats, unit: Floats
    ) -> tuple[Floats, Floats]:
        """min p_f(v) - reach_f v per column, rounded down by what reach may be off, and the size of the numbers in it."""
        scale, parts = self._scale(unit), self._all(lower, upper, unit)
        counts = np.array([points.size for _, points, _ in parts])
        first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        of = np.repeat(np.arange(counts.size), counts)
        points = np.concatenate([points for _, points, _ in parts]) / unit[of]
        costs = np.concatenate([costs for _, _, costs in parts]) / scale
        psi = costs - reach[of] * points
        steepest = np.array([max(lad.up.slopes.max(), lad.down.slopes.max()) for lad in self.question.ladders])
        blur = (spread[of] + 4.0 * EPS * (steepest * unit / scale)[of]) * np.abs(points)
        return np.minimum.reduceat(psi - blur, first), np.maximum.reduceat(np.abs(psi) + costs, first)

    def narrowed(
        self, A: Floats, b: Floats, multiplier: Floats, lower: Floats, upper: Floats, unit: Floats, cutoff: float
    ) -> tuple[Floats, Floats] | None:
        """Limits (scaled) without the stretches at their ends that hold nothing better than ``cutoff``; None if none is left."""
        if not (np.isfinite(lower) & np.isfinite(upper)).all():
            return lower, upper
        scale, reach = self._scale(unit), A.T @ multiplier
        tables = []
        for f, (_, points, costs) in enumerate(self._all(lower, upper, unit)):
            order = np.argsort(points, kind="stable")
            points = points[order] / unit[f]
            tables.append((points, costs[order] / scale - reach[f] * points))
        least = np.array([psi.min() for _, psi in tables])
        value, needed = float(multiplier @ b + least.sum()), float(multiplier @ np.abs(b))
        doubt = LAGRANGIAN_ROUNDING * (needed + float(np.abs(least).sum()))
        low, high = lower.copy(), upper.copy()
        for f, (points, psi) in enumerate(tables):
            if points.size < 3:
                continue
            stretches = np.minimum(psi[:-1], psi[1:])
            alive = np.flatnonzero(value - least[f] + stretches < cutoff + doubt)
            if alive.size == 0:
                return None
            if alive[0] > 0:
                low[f] = max(low[f], points[alive[0]] - PIECE_ROUNDING * abs(points[alive[0]]))
            if alive[-1] < stretches.size - 1:
                end = points[alive[-1] + 1]
                high[f] = min(high[f], end + PIECE_ROUNDING * abs(end))
        return low, high


def _segments(envelopes: list[Envelope]) -> tuple[Ints, Floats, Floats, Floats]:
    """All segments of all columns: of which column, which way, how long, and the price of a unit."""
    of: list[int] = []
    sign: list[float] = []
    length: list[Floats] = []
    price: list[Floats] = []
    for f, envelope in enumerate(envelopes):
        for way, direction in ((envelope.up, 1.0), (envelope.down, -1.0)):
            of += [f] * way.lengths.size
            sign += [direction] * way.lengths.size
            length.append(way.lengths)
            price.append(way.slopes)
    return np.array(of, dtype=np.int64), np.array(sign), np.concatenate(length), np.concatenate(price)


def _knapsack(gain: Floats, need: float, length: Floats, price: Floats) -> tuple[Floats, Floats] | None:
    """One row: segments are filled in the order of price per gain. None if all of them do not reach the need."""
    filled = np.zeros(price.size)
    if need <= 0.0:
        return filled, np.zeros(1)
    useful = np.flatnonzero((gain > 0.0) & (length > 0.0))
    order = useful[np.argsort(price[useful] / gain[useful], kind="stable")]
    before = np.concatenate([[0.0], np.cumsum(gain[order] * length[order])])
    last = int(np.searchsorted(before, need, side="left")) - 1
    if last >= order.size or order.size == 0:
        return None
    filled[order[:last]] = length[order[:last]]
    k = order[last]
    filled[k] = min((need - before[last]) / gain[k], length[k])
    return filled, np.array([price[k] / gain[k]])


def bent_column(
    question: Question, above: Floats, values: Floats, lower: Floats, upper: Floats
) -> tuple[int, float, float] | None:
    """The column whose price is farthest above its envelope, and where its interval is divided."""
    q, priced = question, question.problem.metric.priced
    for i in np.argsort(-above, kind="stable"):
        f = int(i)
        if above[f] <= 0.0:
            return None
        if f < q.singles.size and int(q.singles[f]) in priced:
            found = bend(
                q.problem.metric, int(q.singles[f]), float(q.start[f]), bool(q.whole[f]), float(lower[f]), float(upper[f]), float(values[f])
            )  # fmt: skip
            if found is not None:
                return f, *found
    return None
