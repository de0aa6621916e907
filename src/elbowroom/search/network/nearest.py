"""The nearest answer that a bound on a simplex leaves: min theta . dist  s.t.  theta . F >= 0  on the unit simplex.

It is attained at a vertex or on an edge. Vertices may lie beyond a limit of a column: points of the simplex inside the limits
also satisfy  theta . (F - price * excess) >= 0  for every price >= 0 on how far beyond a vertex lies; a few prices are tried.
"""

from __future__ import annotations

import numpy as np

from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.kernels.warm import is_loaded, without_collection
from elbowroom.numerics import EPS, Floats

_LIMITS = 4  # that are priced, one after the other
_PRICES = (0.3, 0.6, 1.0, 1.5, 2.5, 5.0)
_INSIDE = 1e-9  # relative to the range of a column in the simplex


def nearest_answer(
    F: Floats, distance: Floats, V: Floats, low: Floats, high: Floats, bounded: bool
) -> tuple[float, int, int, float]:
    """The bound (inf: no point is left), and where it is attained: the edge from a to b, the share of b."""
    if not bounded:
        found = np.empty(4)
        nearest(F, distance, found)
        return float(found[0]), int(found[1]), int(found[2]), float(found[3])
    found, trial, work = np.empty(4), np.empty(4), np.empty((3, F.size))
    within_limits(F, distance, np.ascontiguousarray(V), low, high, found, trial, work, np.array(_PRICES))
    return float(found[0]), int(found[1]), int(found[2]), float(found[3])


@inner_kernel
def _edges(F: Floats, distance: Floats, found: Floats) -> None:
    n = F.size
    found[0], found[1], found[2], found[3] = np.inf, 0.0, 0.0, 0.0
    for a in range(n):
        if not F[a] < 0.0 and distance[a] < found[0]:  # NaN counts as good
            found[0], found[1], found[2] = distance[a], a, a
    for a in range(n):
        if F[a] < 0.0:
            continue
        for b in range(n):
            if F[b] < 0.0 and distance[b] < found[0]:
                share = F[a] / (F[a] - F[b])
                value = distance[a] + share * (distance[b] - distance[a])
                if value < found[0]:
                    found[0], found[1], found[2], found[3] = value, a, b, share


@kernel
def nearest(F: Floats, distance: Floats, found: Floats) -> None:
    """``found``: value, a, b, share."""
    _edges(F, distance, found)


@kernel
def within_limits(
    F: Floats, distance: Floats, V: Floats, low: Floats, high: Floats, found: Floats, trial: Floats, work: Floats,
    prices: Floats,
) -> None:  # fmt: skip
    """The same with limits: the column that the answer leaves most is priced, while that raises the bound."""
    n, columns = V.shape
    for j in range(n):
        work[0, j] = F[j]
    _edges(work[0], distance, found)
    for _ in range(_LIMITS):
        if not found[0] < np.inf:
            return
        a, b, share = int(found[1]), int(found[2]), found[3]
        most, column, side = 0.0, -1, 1.0
        for f in range(columns):
            at = (1.0 - share) * V[a, f] + share * V[b, f]
            for way in (1.0, -1.0):
                limit = high[f] if way > 0.0 else low[f]
                beyond = way * (at - limit)
                wide = abs(V[a, f] - V[b, f]) + abs(V[a, f] - limit)
                if beyond > _INSIDE * wide and beyond > most:
                    most, column, side = beyond, f, way
        if column < 0:
            return
        limit = high[column] if side > 0.0 else low[column]
        beyond = max(side * (V[a, column] - limit), _INSIDE * most)
        unit = max(work[0, a], 1e-9) / beyond
        best = found[0]
        improved = False
        for price in prices:
            for j in range(n):
                excess = price * unit * (side * (V[j, column] - limit))
                size = price * unit * (abs(V[j, column]) + abs(limit))
                work[1, j] = work[0, j] - excess + 8.0 * EPS * (abs(work[0, j]) + size)
            _edges(work[1], distance, trial)
            if trial[0] > best:
                best, improved = trial[0], True
                for j in range(n):
                    work[2, j] = work[1, j]
                for j in range(4):
                    found[j] = trial[j]
        if not improved:
            return
        for j in range(n):
            work[0, j] = work[2, j]


def prepare_nearest() -> None:
    """Load, or compile once, the kernels."""
    if is_loaded(nearest):
        return
    line, square = np.array([-1.0, 1.0]), np.zeros((2, 2))
    with without_collection():
        nearest_answer(line, np.ones(2), square, -line * 0, np.ones(2), False)
        nearest_answer(line, np.ones(2), square, -line * 0, np.ones(2), True)
