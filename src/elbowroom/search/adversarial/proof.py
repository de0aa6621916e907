"""Lower bounds that do not rely on a solver: branch and bound whose every leaf is closed by weak duality.

For any multipliers y of the rows L <= A x <= U and any box l <= x <= u,

    cost.x  >=  sum_i (y_i L_i if y_i > 0 else y_i U_i)  +  sum_j min(r_j l_j, r_j u_j),      r = cost - A^T y,

and with cost = 0 a positive right side proves that the box is empty. The right side is computed in floats and its own
rounding is subtracted. A solver suggests y; a wrong suggestion makes the bound weak, never false. Norm rows are left
out or replaced by tangents: a relaxation again.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from elbowroom.numerics import TINY, Floats, Ints, gamma
from elbowroom.search.adversarial.limits import CONSTANT_ROUNDING, MOST_TANGENTS
from elbowroom.search.program import Program
from elbowroom.search.solvers.highs_mip import HighsRelaxation
from elbowroom.search.solvers.tolerances import EPSILONS


class Relaxation(Protocol):
    """Suggests a point and multipliers for a box of columns."""

    def solve(self, lower: Floats, upper: Floats, time_limit: float) -> tuple[Floats | None, Floats | None]: ...


@dataclass(frozen=True, eq=False)
class DualBound:
    """Weak duality for one program."""

    program: Program

    def __post_init__(self) -> None:
        transposed = csr_array(self.program.matrix.T.tocsr())
        object.__setattr__(self, "_transposed", transposed)
        object.__setattr__(self, "_sizes", csr_array(abs(transposed)))

    def value(self, multipliers: Floats, lower: Floats, upper: Floats, with_cost: bool = True) -> float:
        """A proven lower bound on the objective (without cost: positive only if the box is empty); -inf if useless."""
        p = self.program
        usable = np.where(multipliers > 0, np.isfinite(p.row_lower), np.isfinite(p.row_upper))
        y = np.where(usable & np.isfinite(multipliers), multipliers, 0.0)
        side = np.where(y > 0, p.row_lower, np.where(y < 0, p.row_upper, 0.0))
        cost = p.cost if with_cost else np.zeros_like(p.cost)
        transposed: csr_array = self._transposed  # type: ignore[attr-defined]
        sizes: csr_array = self._sizes  # type: ignore[attr-defined]
        reduced = cost - transposed @ y
        noise = np.abs(cost) + sizes @ np.abs(y)
        biggest = np.maximum(np.abs(lower), np.abs(upper))
        if not np.isfinite(biggest[noise > 0]).all():
            return -math.inf
        biggest = np.where(noise > 0, biggest, 0.0)
        ends = np.where(reduced >= 0, np.where(noise > 0, lower, 0.0), np.where(noise > 0, upper, 0.0))
        error = gamma(p.row_lower.size + p.n_columns + 8) * (float(np.abs(y * side).sum()) + float(noise @ biggest))
        constant = p.constant if with_cost else 0.0
        total = float((y * side).sum()) + float(reduced @ ends) + constant
        return total - 2.0 * error - abs(constant) * CONSTANT_ROUNDING - TINY

    def best(self, multipliers: Floats | None, lower: Floats, upper: Floats, empty: bool) -> float:
        """The bound from suggested multipliers; a ray is tried both ways round, and proves emptiness (inf) or nothing."""
        if multipliers is None or multipliers.shape != self.program.row_lower.shape:
            return -math.inf
        if not empty:
            return self.value(multipliers, lower, upper)
        size = float(np.abs(multipliers[np.isfinite(multipliers)]).max(initial=0.0))
        if size == 0.0:
            return -math.inf
        for sign in (1.0, -1.0):
            if self.value(sign * multipliers / size, lower, upper, with_cost=False) > 0.0:
                return math.inf
        return -math.inf


def prove(
    program: Program,
    cutoff: float,
    seconds_left: Callable[[], float],
    relaxation: Callable[[Program], Relaxation] = HighsRelaxation,
) -> float:
    """A proven lower bound on the program's objective: at least ``cutoff`` if all goes well; inf if nothing is feasible.

    Best-first over boxes of columns; stops when the smallest open bound reaches the cutoff or time runs out. Where a
    relaxed point violates a norm row, its tangent joins the program for good.
    """
    solver, dual, order, tangents = relaxation(program), DualBound(program), count(), 0
    heap: list[tuple[float, int, Floats, Floats]] = [(-math.inf, next(order), program.lower, program.upper)]
    closed = math.inf  # smallest bound of a box that is finished
    while heap:
        bound, _, lower, upper = heapq.heappop(heap)
        if min(bound, closed) >= cutoff or closed <= bound or seconds_left() <= 0.0:
            return min(bound, closed)
        x, multipliers = solver.solve(lower, upper, seconds_left())
        bound = max(bound, dual.best(multipliers, lower, upper, empty=x is None))
        if bound == math.inf:
            continue
        if bound >= cutoff:
            closed = min(closed, bound)
            continue
        cuts = _tangents(program, x) if tangents < MOST_TANGENTS else []
        if cuts:
            tangents += len(cuts)
            program = program.with_rows(cuts)
            solver, dual = relaxation(program), DualBound(program)
            heapq.heappush(heap, (bound, next(order), lower, upper))
            continue
        column = _branching_column(program, lower, upper, x)
        if column is None:
            closed = min(closed, bound)
            continue
        middle = math.floor((lower[column] + upper[column]) / 2)
        if x is not None and np.isfinite(x[column]):
            middle = min(max(math.floor(x[column]), lower[column]), upper[column] - 1.0)
        below, above = upper.copy(), lower.copy()
        below[column], above[column] = middle, middle + 1.0
        heapq.heappush(heap, (bound, next(order), lower, below))
        heapq.heappush(heap, (bound, next(order), above, upper))
    return closed


def _tangents(program: Program, x: Floats | None) -> list[tuple[Ints, Floats, float]]:
    """Cuts for the norm rows that a relaxed point violates."""
    if x is None or not np.isfinite(x).all():
        return []
    cuts = [n.tangent(x) for n in program.norms if n.excess(x) > EPSILONS.tangent * max(n.allowed(x), EPSILONS.tangent)]
    return [c for c in cuts if c is not None]


def _branching_column(program: Program, lower: Floats, upper: Floats, x: Floats | None) -> int | None:
    free = np.flatnonzero(program.whole & (lower < upper))
    if not free.size:
        return None
    if x is None or not np.isfinite(x).all():
        return int(free[0])
    away = np.abs(x[free] - np.round(x[free]))
    if away.max() <= EPSILONS.whole:  # whole, yet not at the cutoff: the program really reaches below it
        return None
    return int(free[np.argmax(away)])
