"""Least moves where the distance is a norm of linear forms of several columns: min |S v| with A v >= b, lower <= v <= upper.

Covariances (l2) and causes (all norms). Columns are scaled so that d = |S v| >= |v_f| for each of them, see `least_factor`.
For any z and any lam >= 0, with the dual norm |z|* and the remainders r = S^T z - A^T lam,

    |z|* d >= z.S v >= lam.b + r.v,    r.v >= sum over some f of min { r_f v_f : lower_f <= v_f <= upper_f } - d sum over the others of |r_f|

because |v_f| <= d. So d >= (lam.b + sum of minima) / (|z|* + sum of |r_f|): no solver is trusted, limits may be open, and what
rounding leaves of r where it should vanish costs next to nothing.
"""

from __future__ import annotations

import numpy as np

from elbowroom.numerics import Floats, gamma
from elbowroom.problem.distances import Distance
from elbowroom.search.linear.least import Answer, Bound, LeastMoves, nearest_point
from elbowroom.search.linear.limits import BEYOND, DEPENDENT, FACTOR_ROUNDING, INVERTED, SHARPENINGS
from elbowroom.search.solvers.highs import Triplets

DUAL = {Distance.L1: np.inf, Distance.L2: 2, Distance.LINF: 1}


def least_factor(slant: Floats, distance: Distance) -> Floats:
    """(columns,): d >= factor_f |move_f| for every vector of moves, rounded down; 0 where that cannot be shown.

    With a left inverse X of S, up to E = I - X S: move = X u + E move, so |move_f| <= |X_f|* d + sum_g |E_fg| |move_g|.
    """
    X = np.linalg.pinv(slant)
    longest = np.linalg.norm(X, ord=DUAL[distance], axis=1)
    error = np.abs(np.eye(longest.size) - X @ slant) + gamma(slant.shape[0] + 2) * (np.abs(X) @ np.abs(slant))
    if not (np.isfinite(longest).all() and (longest > 0).all()):
        return np.zeros(longest.size)
    left = 1.0 - float(((error @ longest) / longest).max(initial=0.0))
    if left < INVERTED:
        return np.zeros(longest.size)
    return np.asarray(left / longest * (1.0 - FACTOR_ROUNDING))


class SlantedMoves(LeastMoves):
    """Solves the programs of one search; ``slant`` and ``factor`` are about the columns of its question."""

    def __init__(self, distance: Distance, slant: Floats, factor: Floats) -> None:
        super().__init__(distance)
        self.S = slant / factor  # of scaled moves; a common scale does not change it
        self._Q, self._R = np.linalg.qr(self.S)

    def measure(self, moves: Floats, unit: Floats) -> float:
        return self.distance.norm(np.abs(self.S @ moves))

    def _at_rest(self, nearest: Floats, unit: Floats | None) -> float | None:
        return None if nearest.any() else 0.0

    def _answer(
        self, A: Floats, b: Floats, lower: Floats, upper: Floats, time_limit: float, unit: Floats | None
    ) -> Answer | None:
        """The moves, the multipliers of the rows, and the forms z (as the "prices" to try)."""
        if self.distance is Distance.L2:
            return self._nearest(A, b, lower, upper)
        return self._program(A, b, lower, upper, time_limit)

    def _nearest(self, A: Floats, b: Floats, lower: Floats, upper: Floats) -> Answer | None:
        """Euclidean: the nearest point in u = R v; limits become rows when they are violated and stay."""
        m, n = A.shape
        inverse = np.linalg.inv(self._R)
        low, high = lower > 0, upper < 0
        for _ in range(2 * n + 2):
            lows, highs = np.flatnonzero(low), np.flatnonzero(high)
            G = np.vstack([A, np.eye(n)[lows], -np.eye(n)[highs]])
            found = nearest_with_equations(G @ inverse, np.concatenate([b, lower[lows], -upper[highs]]), _pairs(A, b))
            if found is None:
                return None
            u, multiplier = found
            moves = inverse @ u
            new_low = (moves < lower - BEYOND * np.abs(lower)) & ~low
            new_high = (moves > upper + BEYOND * np.abs(upper)) & ~high
            if not (new_low.any() or new_high.any()):
                return moves, multiplier[:m], [self._form(G.T @ multiplier)]
            low, high = low | new_low, high | new_high
        return None

    def _form(self, pull: Floats, z: Floats | None = None) -> Floats:
        """z with S^T z = pull, as exactly as repeated correction gets; near to a given one if there is one."""
        z = np.zeros(self.S.shape[0]) if z is None else z
        for _ in range(SHARPENINGS):
            z = z + self._Q @ np.linalg.solve(self._R.T, pull - self.S.T @ z)
        return z

    def _program(self, A: Floats, b: Floats, lower: Floats, upper: Floats, time_limit: float) -> Answer | None:
        """l1: min sum p + q with S v = p - q. linf: min t with -t <= S v <= t. Columns: v, then p and q or t."""
        (m, n), k = A.shape, self.S.shape[0]
        each, ones = np.arange(k), np.ones(k)
        at, of = np.nonzero(self.S)
        parts = [Triplets.of(A)]
        if self.distance is Distance.L1:
            extra = 2 * k
            signs = ((1.0, n, -1.0), (-1.0, n + k, -1.0))
            cost = np.concatenate([np.zeros(n), np.ones(extra)])
            for sign, first, _ in signs:  # p >= S v, q >= -S v
                start = m if sign > 0 else m + k
                parts += [
                    Triplets(start + at, of, -sign * self.S[at, of]),
                    Triplets(start + each, first + each, ones),
                ]
        else:
            extra = 1
            cost = np.concatenate([np.zeros(n), [1.0]])
            for sign, start in ((1.0, m), (-1.0, m + k)):
                parts += [
                    Triplets(start + at, of, -sign * self.S[at, of]),
                    Triplets(start + each, np.full(k, n), ones),
                ]
        found = self._lp.solve(
            cost,
            Triplets.together(*parts),
            np.concatenate([b, np.zeros(2 * k)]),
            np.concatenate([lower, np.zeros(extra)]),
            np.concatenate([upper, np.full(extra, np.inf)]),
            time_limit,
        )
        if not found.usable:
            return None
        dual = np.maximum(found.row_dual, 0.0)
        moves, multiplier, z = found.x[:n], dual[:m], dual[m : m + k] - dual[m + k :]
        pull, rest = A.T @ multiplier, self.S.T @ z
        at_limit = (moves <= lower) | (moves >= upper)
        return moves, multiplier, [self._form(np.where(at_limit, rest, pull), z), z]

    def _proven(
        self, A: Floats, b: Floats, doubt: Floats, lower: Floats, upper: Floats, multiplier: Floats, price: Floats, unit: Floats | None
    ) -> Bound:  # fmt: skip
        """The bound of the module; here ``price`` is the form z."""
        z, n = price, lower.size
        toll, pull = self.S.T @ z, A.T @ multiplier
        rest = toll - pull
        blur = gamma(z.size + 4) * (np.abs(self.S).T @ np.abs(z)) + gamma(b.size + 4) * (np.abs(A).T @ multiplier)
        ends = np.where(rest > 0, lower, upper)
        widest = np.where(np.abs(rest) > blur, np.abs(ends), np.maximum(np.abs(lower), np.abs(upper)))
        with np.errstate(invalid="ignore"):
            minima = np.where(rest == 0, 0.0, rest * ends) - np.where(blur == 0, 0.0, blur * widest)
        charge = (np.abs(rest) + blur) * (1.0 + gamma(4))
        height = float(np.linalg.norm(z, ord=DUAL[self.distance])) * (1.0 + gamma(z.size + 4))
        if not height > 0.0:
            return Bound(0.0, multiplier, np.zeros(n), np.zeros(n))
        total = float(multiplier @ (b - doubt))
        bounded = np.isfinite(minima)
        guess = max(total + float(minima[bounded & (charge > 0)].sum()), 0.0) / height
        kept = bounded & (minima >= -charge * guess)
        value = total + float(minima[kept].sum())
        value -= gamma(n + b.size + 16) * (float(multiplier @ np.abs(b)) + float(np.abs(minima[kept]).sum()))
        below = (height + float(charge[~kept].sum())) * (1.0 + gamma(n + 8))
        bound = max(value, 0.0) / below * (1.0 - gamma(4))
        return Bound(
            bound, multiplier / height, np.zeros(n), toll / height
        )  # also the toll of a weak bound is below the norm


def _pairs(A: Floats, b: Floats) -> list[tuple[int, int]]:
    """Rows that are two sides of one equation."""
    found: list[tuple[int, int]] = []
    for i in range(b.size):
        taken = {row for pair in found for row in pair}
        sides = [j for j in range(i + 1, b.size) if j not in taken and b[j] == -b[i] and np.array_equal(A[j], -A[i])]
        if i not in taken and sides:
            found.append((i, sides[0]))
    return found


def nearest_with_equations(G: Floats, h: Floats, pairs: list[tuple[int, int]]) -> tuple[Floats, Floats] | None:
    """The point of {G u >= h} nearest to 0 and its multipliers, where the rows of every pair say u.g = h.

    With E u = e for the pairs: u = u0 + N w, u0 the nearest point of the equations, N a basis of what they leave open. Then
    w is nearest to 0 under the other rows, and E^T nu = u - G^T lam gives the multipliers of the equations.
    """
    if not pairs:
        return nearest_point(G, h)
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    rest = np.setdiff1d(np.arange(h.size), np.concatenate([first, second]))
    E, e = G[first], h[first]
    _, sizes, basis = np.linalg.svd(E)
    rank = int((sizes > DEPENDENT * sizes.max(initial=0.0)).sum())
    u0, N = np.asarray(np.linalg.lstsq(E, e, rcond=None)[0], dtype=np.float64), basis[rank:].T
    length = np.linalg.norm(G[rest], axis=1)
    rest = rest[np.linalg.norm(G[rest] @ N, axis=1) > DEPENDENT * length]  # the equations settle the others
    found = nearest_point(G[rest] @ N, h[rest] - G[rest] @ u0)
    if found is None:
        return None
    u, multiplier = u0 + N @ found[0], np.zeros(h.size)
    multiplier[rest] = found[1]
    nu = np.linalg.lstsq(E.T, u - G[rest].T @ found[1], rcond=None)[0]
    multiplier[first], multiplier[second] = np.maximum(nu, 0.0), np.maximum(-nu, 0.0)
    return u, multiplier
