"""The nearest answer that rows on a simplex leave:  min theta . distance  s.t.  R theta >= 0  on the unit simplex.

Every row holds the values of one affine function at the vertices: a bound on a margin for one shift of the room, a limit of a
column, the side of a kink. The program has few rows, so a dual simplex on its dictionary needs microseconds: the nearest vertex
is a basis from which reduced costs are not negative, and rows that it violates leave one after the other.

Nothing rests on the arithmetic of the pivots. The multipliers that they end with are not negative, so all points that satisfy the
rows satisfy their weighted sum F as well, whatever the weights are. For one row the answer lies on an edge and has a closed form:
that is the bound.
"""

from __future__ import annotations

import numpy as np

from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.kernels.warm import is_loaded, without_collection
from elbowroom.numerics import EPS, Floats

_PIVOTS = 6  # times the number of rows: more are never needed but for rounding
_ZERO = 1e-11  # pivots and violations that are smaller count as none; rows are scaled to 1


def nearest_answer(R: Floats, distance: Floats) -> tuple[float, Floats, Floats]:
    """The bound (inf: no point is left), about where it is attained (shares of the vertices), multipliers of the rows."""
    rows, n = R.shape
    theta, weight, found = np.empty(n), np.empty(rows), np.empty(4)
    least(np.ascontiguousarray(R), distance, np.empty((rows + 2, n)), np.empty(rows + 1, dtype=np.int64), np.empty(n, dtype=np.int64),
          theta, weight, np.empty(n), found)  # fmt: skip
    return float(found[0]), theta, weight


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


@inner_kernel
def _pivot(T: Floats, i: int, j: int) -> None:
    """The i-th basic variable and the j-th other one change places."""
    rows, columns = T.shape
    inverse = 1.0 / T[i, j]
    for k in range(columns):
        T[i, k] *= -inverse
    T[i, j] = inverse
    for r in range(rows):
        if r != i and T[r, j] != 0.0:
            factor = T[r, j]
            for k in range(columns):
                if k != j:
                    T[r, k] += factor * T[i, k]
            T[r, j] = factor * inverse


@kernel
def least(
    R: Floats, distance: Floats, T: Floats, basis: Floats, outside: Floats, theta: Floats, weight: Floats, F: Floats, found: Floats,
) -> None:  # fmt: skip
    """``found``: the bound, and the edge of the weighted sum. Names: vertices from 0 on, then the rows' slacks."""
    rows, n = R.shape
    start = 0
    for v in range(n):
        if distance[v] < distance[start]:
            start = v
    place = 0
    for v in range(n):
        if v != start:
            outside[place] = v
            T[0, place] = -1.0
            T[rows + 1, place] = distance[v] - distance[start]
            place += 1
    basis[0], T[0, n - 1], T[rows + 1, n - 1] = start, 1.0, distance[start]
    for r in range(rows):
        largest = 0.0
        for v in range(n):
            largest = max(largest, abs(R[r, v]))
        scale = 1.0 / largest if largest > 0.0 else 1.0
        weight[r] = scale
        basis[r + 1] = n + r
        for k in range(n - 1):
            T[r + 1, k] = (R[r, outside[k]] - R[r, start]) * scale
        T[r + 1, n - 1] = R[r, start] * scale
    impossible = -1
    for _ in range(_PIVOTS * (rows + 2)):
        leaving, worst = -1, -_ZERO
        for i in range(rows + 1):
            if T[i, n - 1] < worst:
                worst, leaving = T[i, n - 1], i
        if leaving < 0:
            break
        entering, ratio = -1, np.inf
        for k in range(n - 1):
            if T[leaving, k] > _ZERO:
                trial = T[rows + 1, k] / T[leaving, k]
                if trial < ratio or (trial == ratio and T[leaving, k] > T[leaving, entering]):
                    ratio, entering = trial, k
        if entering < 0:
            impossible = leaving
            break
        _pivot(T, leaving, entering)
        basis[leaving], outside[entering] = outside[entering], basis[leaving]
    for v in range(n):
        theta[v] = 0.0
    total = 0.0
    for i in range(rows + 1):
        if basis[i] < n:
            theta[basis[i]] = max(T[i, n - 1], 0.0)
            total += theta[basis[i]]
    for v in range(n):
        theta[v] = theta[v] / total if total > 0.0 else (1.0 if v == start else 0.0)
        F[v] = 0.0
    for r in range(rows):
        scale, price = weight[r], 0.0
        for k in range(n - 1):
            if outside[k] == n + r:
                price = T[rows + 1, k] if impossible < 0 else -T[impossible, k]
        if impossible >= 0 and basis[impossible] == n + r:
            price = 1.0
        weight[r] = max(price, 0.0) * scale
    for v in range(n):
        size = 0.0
        for r in range(rows):
            F[v] += weight[r] * R[r, v]
            size += weight[r] * abs(R[r, v])
        F[v] += (rows + 4) * EPS * size
    _edges(F, distance, found)


def prepare_nearest() -> None:
    """Load, or compile once, the kernels."""
    if is_loaded(least):
        return
    with without_collection():
        nearest_answer(np.array([[-1.0, 1.0]]), np.array([0.0, 1.0]))
