"""The part of the search space that a node still covers, and what the moves may do inside it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.problem import Distance
from elbowroom.search.network.limits import ALMOST_A_STEP, FEW_ROUNDINGS, MOVED
from elbowroom.search.network.moves import Moves


@dataclass(frozen=True, eq=False)
class Part:
    """Moves with low <= v <= high; ``used`` are blocks that count as changed (for at-most rules)."""

    low: Floats
    high: Floats
    used: frozenset[int] = frozenset()

    @classmethod
    def everything(cls, moves: Moves) -> Part:
        """All moves that the limits allow; forced moves count as changes."""
        used = frozenset(int(b) for b in moves.block[moves.low > 0.0])
        return cls(moves.low, moves.high, used)._closed(moves)

    def _closed(self, moves: Moves) -> Part:
        """With all allowed changes counted, no other block moves."""
        if moves.most_changes is None or len(self.used) < moves.most_changes:
            return self
        high = np.where(np.isin(moves.block, list(self.used)), self.high, 0.0)
        return replace(self, high=high)

    def within(self, moves: Moves, cutoff: float) -> Reach | None:
        """The moves of this part with distance at most the cutoff; None if there are none."""
        forced = moves.measure(self.low)
        if forced > cutoff or (self.low > self.high).any():
            return None
        if moves.most_changes is not None and len(self.used) > moves.most_changes:
            return None
        priced = moves.cost > 0.0
        match moves.distance:
            case Distance.L1:
                budget = max(cutoff - forced, 0.0)
                reach = np.where(priced, self.low + budget, np.inf)
            case Distance.L2:
                left = max(cutoff * cutoff - forced * forced, 0.0)
                reach = np.where(priced, np.sqrt(left + self.low * self.low), np.inf)
                budget = float(np.sqrt(left * max(moves.n_blocks, 1)))
            case Distance.LINF:
                reach = np.where(priced, cutoff, np.inf)
                budget = np.inf
        grow = 1.0 + FEW_ROUNDINGS  # rounded outwards: a wider part only weakens the bounds
        return Reach(self.low, np.maximum(np.minimum(self.high, reach * grow), self.low), budget * grow, moves.cost)

    def split(self, moves: Moves, i: int, at: float) -> tuple[Part, Part]:
        """Two parts: move i at most ``at``; move i at least ``at`` (one whole step more for whole moves)."""
        high = self.high.copy()
        low = self.low.copy()
        if moves.whole[i]:
            steps = np.floor(at / moves.step[i] + ALMOST_A_STEP)
            high[i], low[i] = steps * moves.step[i], (steps + 1.0) * moves.step[i]
        else:
            high[i] = low[i] = at
        above = self.high.copy()
        if low[i] > 0.0:  # the other moves of the block exclude this one
            above[(moves.block == moves.block[i]) & (np.arange(moves.size) != i)] = 0.0
        return replace(self, high=high), replace(self, low=low, high=above)

    def one_sided(self, i: int, k: int) -> tuple[Part, Part]:
        """Two parts for two moves of one block that cannot both happen."""
        first, second = self.high.copy(), self.high.copy()
        first[i] = 0.0
        second[k] = 0.0
        return replace(self, high=first), replace(self, high=second)

    def counted(self, moves: Moves, block: int) -> tuple[Part, Part]:
        """Two parts for an at-most rule: the block stays as it is; the block counts as changed."""
        still = self.high.copy()
        still[moves.block == block] = 0.0
        return replace(self, high=still), replace(self, used=self.used | {block})._closed(moves)

    def polished(self, moves: Moves, v: Floats) -> Part:
        """This part with whole moves and unchanged blocks fixed where v has them: what is left is continuous."""
        step = np.where(moves.whole, moves.step, 1.0)
        fixed = np.rint(v / step) * step
        low, high = np.where(moves.whole, fixed, self.low), np.where(moves.whole, fixed, self.high)
        if moves.most_changes is not None:
            amount = np.bincount(moves.block, v, minlength=moves.n_blocks)
            high = np.where(amount[moves.block] > MOVED, high, low)
        return replace(self, low=low, high=high)

    def near(self, v: Floats, radius: float) -> Part:
        """What of this part is within a radius of v in every move."""
        return replace(self, low=np.maximum(self.low, v - radius), high=np.minimum(self.high, v + radius))


@dataclass(frozen=True, eq=False)
class Reach:
    """{v : low <= v <= high, cost . (v - low) <= budget}: contains every centre of a part within the cutoff."""

    low: Floats
    high: Floats
    budget: float
    cost: Floats
