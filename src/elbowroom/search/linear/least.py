"""Least moves: min norm(v) subject to A v >= b, lower <= v <= upper, in scaled moves v, with a proven bound.

One row through the origin's box: water filling, the dual-norm formula with caps. Several rows: a linear program (l1,
linf) or least-distance programming by nonnegative least squares (l2; Lawson and Hanson 1974, chapter 23). The bound
is never taken from a solver: it is the Lagrangian

    L(lam) = lam.b + sum_f min { price_f(v) - (A^T lam)_f v : lower_f <= v <= upper_f },   lam >= 0,

with price |v| (l1), pi_f |v| with sum pi = 1 (linf), v^2 / 2 (l2, then the distance is sqrt(2 L)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from elbowroom.numerics import Bools, Floats, gamma
from elbowroom.problem.distances import Distance
from elbowroom.search.linear.farkas import exact_multiplier
from elbowroom.search.linear.limits import (
    AS_FAR,
    BEYOND,
    CANCELLED,
    CLEAR,
    LAST_DIGIT,
    NO_PRICE,
    NOT_EMPTY,
    SAME_POINT,
    TIE,
    TIGHT,
)
from elbowroom.search.linear.nonnegative import nonnegative_least_squares
from elbowroom.search.solvers.highs import HighsLp, Triplets

Answer: TypeAlias = tuple[Floats, Floats, list[Floats]]  # moves, multipliers of the rows, prices worth trying


@dataclass(frozen=True, eq=False)
class Rows:
    """A v >= b; ``doubt`` bounds the rounding in b; ``model`` marks rows of the model (the others are rules).

    ``raw`` is A before the scaling of its columns: exact coefficients wherever a column has no limits.
    """

    A: Floats
    b: Floats
    doubt: Floats
    model: Bools
    raw: Floats


@dataclass(frozen=True, eq=False)
class Least:
    """``moves`` is None if nothing was found; then ``bound`` is inf (proven empty) or what is known.

    ``tight``: rows that hold with (near) equality at the moves; the others can be forgotten.
    """

    moves: Floats | None
    bound: float
    tight: Bools
    multiplier: Floats | None = None  # of the rows as given, nonnegative
    price: Floats | None = None  # per unit of |v| (l1, linf)
    toll: Floats | None = None  # per unit of v: a linear form that is nowhere above the distance (`slanted`)


@dataclass(frozen=True, eq=False)
class Bound:
    """A proven lower bound, with the multipliers and prices that prove it."""

    value: float
    multiplier: Floats
    price: Floats
    toll: Floats | None = None


class LeastMoves:
    """Solves the programs of one search."""

    def __init__(self, distance: Distance) -> None:
        self.distance = distance
        self._lp = HighsLp()

    def measure(self, moves: Floats, unit: Floats) -> float:
        """The distance of scaled moves; ``unit``: one of them in raw units, per column."""
        return self.distance.norm(np.abs(moves))

    def solve(self, rows: Rows, lower: Floats, upper: Floats, time_limit: float, unit: Floats | None = None) -> Least:
        scale = np.abs(rows.A).max(axis=1, initial=0.0)
        flat = scale == 0.0
        if (rows.b[flat] > rows.doubt[flat]).any():
            return Least(None, np.inf, flat)
        A = rows.A[~flat] / scale[~flat, None]
        b, doubt = rows.b[~flat] / scale[~flat], rows.doubt[~flat] / scale[~flat]
        nearest = np.clip(0.0, lower, upper)
        if (A @ nearest >= b).all() and (at_rest := self._at_rest(nearest, unit)) is not None:
            return Least(nearest, at_rest, np.zeros_like(flat))
        answer = self._answer(A, b, lower, upper, time_limit, unit)
        if answer is None or not (np.isfinite(answer[0]).all() and np.isfinite(answer[1]).all()):
            empty = self._empty(rows, lower, upper, time_limit)
            return Least(None, np.inf if empty else 0.0, flat)
        moves, multiplier, prices = answer
        bounds = (self._proven(A, b, doubt, lower, upper, multiplier, price, unit) for price in prices)
        best = max(bounds, key=lambda bound: bound.value)
        moves = np.clip(moves, lower, upper)
        tight = np.zeros_like(flat)
        tight[~flat] = A @ moves - b <= TIGHT * (1.0 + np.abs(b))
        weights = np.zeros(flat.size)
        weights[~flat] = best.multiplier / scale[~flat]
        return Least(moves, best.value, tight, weights, best.price, best.toll)

    # ---- what differs between distances: see `slanted` and `priced` -----------------------------------------------------
    def _at_rest(self, nearest: Floats, unit: Floats | None) -> float | None:
        """The distance of the point of the box that is nearest to the origin column by column, rounded down; None if that
        is not the nearest one of all."""
        return self.distance.norm(np.abs(nearest)) * (1.0 - gamma(nearest.size + 8))

    def _answer(
        self, A: Floats, b: Floats, lower: Floats, upper: Floats, time_limit: float, unit: Floats | None
    ) -> Answer | None:
        centered = bool(((lower <= 0) & (upper >= 0)).all())
        if b.size == 1 and centered:
            return _fill_one_row(self.distance, A[0], float(b[0]), lower, upper)
        if self.distance is Distance.L2:
            return _least_distance(A, b, lower, upper)
        return self._linear_program(A, b, lower, upper, time_limit)

    def _proven(
        self, A: Floats, b: Floats, doubt: Floats, lower: Floats, upper: Floats, multiplier: Floats, price: Floats, unit: Floats | None
    ) -> Bound:  # fmt: skip
        return Bound(*_dual_bound(self.distance, A, b, doubt, lower, upper, multiplier, price))

    def _linear_program(self, A: Floats, b: Floats, lower: Floats, upper: Floats, time_limit: float) -> Answer | None:
        m, n = A.shape
        if self.distance is Distance.L1:  # v = p - q
            found = self._lp.solve(
                np.ones(2 * n),
                Triplets.of(np.hstack([A, -A])),
                b,
                np.concatenate([np.maximum(lower, 0.0), np.maximum(-upper, 0.0)]),
                np.concatenate([np.maximum(upper, 0.0), np.maximum(-lower, 0.0)]),
                time_limit,
            )
            if not found.usable:
                return None
            return found.x[:n] - found.x[n:], np.maximum(found.row_dual, 0.0), [np.ones(n)]
        each, ones = np.arange(n), np.ones(n)  # rows tau - v_f >= 0 and tau + v_f >= 0
        matrix = Triplets.together(
            Triplets.of(A),
            Triplets(m + each, each, -ones),
            Triplets(m + n + each, each, ones),
            Triplets(m + np.arange(2 * n), np.full(2 * n, n), np.ones(2 * n)),
        )
        found = self._lp.solve(
            np.concatenate([np.zeros(n), [1.0]]),
            matrix,
            np.concatenate([b, np.zeros(2 * n)]),
            np.concatenate([lower, [0.0]]),
            np.concatenate([upper, [np.inf]]),
            time_limit,
        )
        if not found.usable:
            return None
        moves, multiplier = found.x[:n], np.maximum(found.row_dual[:m], 0.0)
        # A column that moves as far as the farthest one pays for it; one held back by its bounds pays nothing. One
        # that is both shares: as the solver says or, sharper but not always valid, in full. The better bound is kept.
        at_limit = (moves <= lower) | (moves >= upper)
        farthest = np.abs(moves) >= (1.0 - AS_FAR) * found.x[n]
        share = np.maximum(found.row_dual[m : m + n], 0.0) + np.maximum(found.row_dual[m + n :], 0.0)
        full = np.abs(A.T @ multiplier)
        prices = [
            np.where(at_limit, np.where(farthest, share, 0.0), full),
            np.where(at_limit & ~farthest, 0.0, full),
        ]
        return moves, multiplier, prices

    def _empty(self, rows: Rows, lower: Floats, upper: Floats, time_limit: float) -> bool:
        """Proof that no v exists: min e with A v + e >= b has a multiplier lam >= 0 with lam.b > max lam.A v."""
        scale = np.abs(rows.A).max(axis=1)
        live = scale > 0
        scale, raw, model_rows = scale[live], rows.raw[live], rows.model[live]
        A, b, doubt = rows.A[live] / scale[:, None], rows.b[live] / scale, rows.doubt[live] / scale
        m, n = A.shape
        found = self._lp.solve(
            np.concatenate([np.zeros(n), [1.0]]),
            Triplets.of(np.hstack([A, np.ones((m, 1))])),
            b,
            np.concatenate([lower, [0.0]]),
            np.concatenate([upper, [np.inf]]),
            time_limit,
        )
        if not found.usable:
            return False
        multiplier = np.maximum(found.row_dual, 0.0)
        # On open columns the rows must cancel: exactly, or, where only model rows meet, up to a few roundings. That much
        # is forgiven because the need of a model row grows with |x| by more than that (see `Affine.error_slope`), so a
        # tiny slope cannot win far away; then the contradiction must be a clear one.
        reach, spread = A.T @ multiplier, np.abs(A).T @ multiplier
        endless = ~np.isfinite(np.where(reach > 0, upper, lower))
        cancelled = endless | ((np.abs(reach) <= CANCELLED * spread) & ~(np.isfinite(lower) & np.isfinite(upper)))
        exact = exact_multiplier(raw[:, cancelled], multiplier / scale) if cancelled.any() else multiplier / scale
        ruled = np.abs(A[~model_rows]).T @ multiplier[~model_rows] > 0
        if exact is not None:
            multiplier = exact * scale
            reach, spread = A.T @ multiplier, np.abs(A).T @ multiplier
        elif (cancelled & (ruled | (np.abs(reach) > gamma(6) * spread))).any():
            return False
        best = np.where(cancelled, 0.0, np.where(reach > 0, upper, lower))
        if not np.isfinite(best).all():
            return False
        size = float(multiplier @ np.abs(b) + (spread * np.abs(best)).sum())
        clear = CLEAR if exact is None else gamma(n + m + 16)
        return bool(multiplier @ (b - doubt) - float(reach @ best) > clear * size)


def _fill_one_row(distance: Distance, a: Floats, need: float, lower: Floats, upper: Floats) -> Answer | None:
    """One row a.v >= need > 0 with 0 inside the bounds: closed form. None if even the bounds do not reach it."""
    gain = np.abs(a)
    cap = np.where(a > 0, upper, -lower)
    cap[gain == 0] = 0.0
    live = np.flatnonzero((gain > 0) & (cap > 0))
    if live.size == 0 or float((gain[live] * cap[live]).sum()) < need:
        return None
    g, k = gain[live], cap[live]
    match distance:
        case Distance.L1:  # the best gain per price first
            order = np.argsort(-g, kind="stable")
            before = np.concatenate([[0.0], np.cumsum(g[order] * k[order])[:-1]])
            last = int(np.searchsorted(before, need, side="left")) - 1
            amount = np.zeros(live.size)
            amount[order[:last]] = k[order[:last]]
            f = order[last]
            amount[f] = min((need - before[last]) / g[f], k[f])
            multiplier, price = 1.0 / float(g[f]), np.ones(a.size)
        case Distance.LINF:  # all move alike until they meet their caps
            level, free = _level(g, k, need, power=0)
            amount = np.minimum(level, k)
            multiplier = 1.0 / float(g[free].sum())
            price = np.zeros(a.size)
            price[live[free]] = multiplier * g[free]
        case Distance.L2:  # along the gradient, clipped
            level, free = _level(g, k, need, power=1)
            amount = np.minimum(level * g, k)
            multiplier, price = level, np.ones(a.size)
    moves = np.zeros(a.size)
    moves[live] = np.sign(a[live]) * amount
    return moves, np.array([multiplier]), [price]


def _level(g: Floats, k: Floats, need: float, power: int) -> tuple[float, Bools]:
    """theta with sum g min(theta g^power, k) = need, and the columns below their cap."""
    rate = g * g**power
    kink = k / g**power
    order = np.argsort(kink, kind="stable")
    full = np.concatenate([[0.0], np.cumsum((g * np.where(np.isfinite(k), k, 0.0))[order])])
    slope = np.concatenate([np.cumsum(rate[order][::-1])[::-1], [0.0]])
    at_kink = full[:-1] + slope[:-1] * np.where(np.isfinite(kink[order]), kink[order], np.inf)
    i = min(int(np.searchsorted(at_kink, need, side="left")), g.size - 1)
    theta = (need - full[i]) / slope[i]
    free = np.zeros(g.size, dtype=np.bool_)
    free[order[i:]] = True
    return float(theta), free


def _least_distance(A: Floats, b: Floats, lower: Floats, upper: Floats) -> Answer | None:
    """min |v|^2 / 2 with v = clip(A^T lam, lower, upper). None if the rows look contradictory.

    Guess which columns sit at a limit, solve for the others, guess again: this ends after a few rounds, almost always.
    If it goes in circles, the limits join as rows one after the other, which always ends.
    """
    state = np.where(lower > 0, -1, np.where(upper < 0, 1, 0))  # -1, 1: at the lower, upper limit
    for _ in range(40):
        held = np.where(state < 0, lower, np.where(state > 0, upper, 0.0))
        free = state == 0
        found = nearest_point(A[:, free], b - A[:, ~free] @ held[~free])
        if found is None:
            break
        moves, multiplier = held.copy(), found[1]
        pull = A.T @ multiplier
        new_state = np.where(pull < lower, -1, np.where(pull > upper, 1, 0))
        if np.array_equal(new_state, state):
            moves[free] = found[0]
            return moves, multiplier, [np.ones(lower.size)]
        state = new_state
    return _least_distance_by_rows(A, b, lower, upper)


def _least_distance_by_rows(A: Floats, b: Floats, lower: Floats, upper: Floats) -> Answer | None:
    """The same; limits become rows when they are violated and stay."""
    m, n = A.shape
    low, high = lower > 0, upper < 0
    for _ in range(2 * n + 2):
        lows, highs = np.flatnonzero(low), np.flatnonzero(high)
        G = np.vstack([A, np.eye(n)[lows], -np.eye(n)[highs]])
        found = nearest_point(G, np.concatenate([b, lower[lows], -upper[highs]]))
        if found is None:
            return None
        moves, multiplier = found
        new_low = (moves < lower - BEYOND * np.abs(lower)) & ~low
        new_high = (moves > upper + BEYOND * np.abs(upper)) & ~high
        if not (new_low.any() or new_high.any()):
            return moves, multiplier[:m], [np.ones(n)]
        low, high = low | new_low, high | new_high
    return None


def nearest_point(G: Floats, h: Floats) -> tuple[Floats, Floats] | None:
    """The point of {G v >= h} nearest to 0 and its multipliers, by nonnegative least squares; None if it looks empty."""
    n = G.shape[1]
    length = np.linalg.norm(G, axis=1)
    real = length > 0
    if (h[~real] > 0).any():
        return None
    G, h = G[real] / length[real, None], h[real] / length[real]
    u = nonnegative_least_squares(np.vstack([G.T, h]), np.append(np.zeros(n), 1.0))
    if u is None:
        return None
    last = float(h @ u) - 1.0
    if last > -NOT_EMPTY:
        return None
    moves = -(G.T @ u) / last
    active = np.flatnonzero(u > 0)
    if active.size:  # the equations of the active rows, solved directly, are sharper than the quotient
        sharper = np.asarray(np.linalg.lstsq(G[active], h[active], rcond=None)[0], dtype=np.float64)
        if np.abs(sharper - moves).max() <= SAME_POINT * max(1.0, float(np.abs(moves).max())):
            moves = sharper
    multiplier = np.zeros(real.size)
    multiplier[real] = u / -last / length[real]
    return moves, multiplier


def _dual_bound(
    distance: Distance,
    A: Floats,
    b: Floats,
    doubt: Floats,
    lower: Floats,
    upper: Floats,
    multiplier: Floats,
    price: Floats,
) -> tuple[float, Floats, Floats]:
    """The Lagrangian at this multiplier, rounded down, with the multiplier and prices it was taken at.

    Any nonnegative multiplier gives a valid bound.
    """
    reach = A.T @ multiplier
    blur = gamma(b.size + 8) * (np.abs(A).T @ multiplier)  # |rounding of reach|
    if distance is Distance.L2:
        best = np.clip(reach, lower, upper)
        terms = 0.5 * np.square(best) - reach * best
        size = np.square(best)
        terms -= 2.0 * blur * np.abs(best) + np.square(blur)
    else:
        # Where the column is open, or the price just balances the reach, the price must win for certain: raise it
        # (linf) and shrink everything back to a total price of 1 per unit of distance.
        open_side = (np.isinf(upper) & (reach > 0)) | (np.isinf(lower) & (reach < 0))
        tie = np.abs(np.abs(reach) - price) <= TIE * (price + np.abs(reach)) + 2.0 * blur
        steep = np.where(open_side | tie, np.abs(reach) + blur, 0.0)
        if distance is Distance.LINF:
            price = np.maximum(price, steep)
            shrink = float(price.sum()) * (1.0 + gamma(price.size + 2))
            shrink = shrink if shrink > NO_PRICE else 1.0  # a total below 1 is valid, only weak
            price = price / shrink
        else:
            shrink = max(1.0, float(steep.max(initial=0.0)))
        shrink *= 1.0 + gamma(8)
        multiplier, reach, blur = multiplier / shrink, reach / shrink, blur / shrink
        nearest = np.clip(0.0, lower, upper)
        terms = price * np.abs(nearest) - reach * nearest - blur * np.abs(nearest)
        for end in (lower, upper):
            at = np.where(np.isfinite(end) & ~(open_side | tie), end, nearest)
            terms = np.minimum(terms, price * np.abs(at) - reach * at - blur * np.abs(at))
        size = np.abs(terms) + price * np.abs(nearest)
    value = float(multiplier @ (b - doubt) + terms.sum())
    value -= gamma(lower.size + b.size + 16) * float(multiplier @ np.abs(b) + size.sum())
    if distance is Distance.L2:
        value = float(np.sqrt(2.0 * max(value, 0.0))) * (1.0 - LAST_DIGIT)
    return max(value, 0.0), multiplier, price
