"""The distance as an objective of linear programs over moves.

l1 is linear. linf and l2 get a column tau with rows tau >= u . blocks(v), ||u||_* <= 1: one row per block for linf,
tangents of the Euclidean length for l2, added where the program's own point is longer than its tau.
"""

from __future__ import annotations

import time

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.problem import Distance
from elbowroom.search.network.limits import KEPT_TANGENTS, LENGTH_GAP, LENGTH_ROUNDING, MOST_TANGENTS, UNIT_ROUNDING
from elbowroom.search.network.moves import Moves
from elbowroom.search.network.program import INFINITY, LinearProgram, Solved, SparseRows


class MoveProgram(LinearProgram):
    """min distance(v) s.t. G v >= h, group and rule rows, low <= v <= high; further columns may follow v.

    Columns: v, then the extra columns, then tau (unless l1).
    """

    def __init__(self, moves: Moves) -> None:
        super().__init__()
        self.moves = moves
        self._tangents: list[Floats] = []  # the latest ones: the next program's answer is often near
        self._has_tau = moves.distance is not Distance.L1 and moves.size > 0

    def start(
        self, G: Floats | SparseRows, row_low: Floats, low: Floats, high: Floats, cutoff: float, row_high: Floats | None = None,
        as_given: bool = False,
    ) -> None:  # fmt: skip
        """Begin with these rows over v and extra columns; ``cutoff``: no interesting centre is farther.

        ``as_given`` hands the solver the upper limits as they are; else limits that only the cutoff implies stay open.
        """
        m, extra = self.moves.size, low.size - self.moves.size
        limit = np.where(self.moves.cost > 0.0, np.minimum(high[:m], max(cutoff, 0.0)), high[:m])
        proven = np.concatenate([np.maximum(limit, low[:m]), high[m:]])
        rows = [
            SparseRows.of(self.moves.rows),
            G if isinstance(G, SparseRows) else SparseRows.of(G.reshape(len(row_low), low.size)),
        ]
        lows = np.concatenate([self.moves.row_low, row_low])
        highs = np.full(lows.size, INFINITY)
        if row_high is not None:
            highs[self.moves.row_low.size :] = row_high
        cost = np.concatenate([self.moves.cost, np.zeros(extra)])
        given = proven if as_given else high
        if self._has_tau:
            tangents = [np.eye(self.moves.n_blocks)[b] for b in np.unique(self.moves.block)] + self._tangents
            norm_rows = np.vstack([self._tangent_row(u, low.size) for u in tangents])
            rows = [SparseRows.of(norm_rows), *rows]
            lows = np.concatenate([np.zeros(len(norm_rows)), lows])
            highs = np.concatenate([np.full(len(norm_rows), INFINITY), highs])
            cost = np.append(np.zeros(low.size), 1.0)
            low, proven = np.append(low, 0.0), np.append(proven, max(cutoff, 0.0))
            given = np.append(given, INFINITY)
        self.load(cost, low, proven, SparseRows.join(rows), lows, highs, given)

    def _tangent_row(self, u: Floats, columns: int) -> Floats:
        row = np.zeros(columns + 1)
        row[: self.moves.size] = -u[self.moves.block] * self.moves.cost
        row[-1] = 1.0
        return row

    def cut(self, g: Floats, row_low: float) -> None:
        """Add g . (v, extra) >= row_low."""
        self.add_row(np.append(g, 0.0) if self._has_tau else g, row_low)

    def nearest(self, seconds: float = np.inf) -> Solved:
        """Solve; for l2 add tangents until tau is the length. The point comes without tau."""
        deadline = time.perf_counter() + seconds
        solved = self.solve(seconds)
        if not self._has_tau:
            return solved
        columns = self.cost.size - 1
        for _ in range(MOST_TANGENTS if self.moves.distance is Distance.L2 else 0):
            if solved.x is None:
                break
            v = solved.x[: self.moves.size]
            length = self.moves.measure(v)
            if length <= float(solved.x[-1]) * (1.0 + LENGTH_GAP) + LENGTH_ROUNDING:
                break
            blocks = self.moves.blocks(v)
            unit = blocks / (float(np.sqrt(np.square(blocks).sum())) * (1.0 + UNIT_ROUNDING))
            self.add_row(self._tangent_row(unit, columns), 0.0)
            self._tangents = [*self._tangents[-KEPT_TANGENTS:], unit]
            solved = self.solve(deadline - time.perf_counter())
        return Solved(solved.bound, None if solved.x is None else solved.x[:columns])
