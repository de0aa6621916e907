"""The best multiplier for what an adversary can do to a box of centres."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from elbowroom_checker.exact import BITS
from elbowroom_checker.trees import Auction

ROUNDS: Final = 60  # of the bisection for a multiplier


@dataclass
class Offer:
    """The best multiplier for what an adversary can do."""

    auction: Auction

    def __post_init__(self) -> None:
        auction, additive = self.auction, self.auction.walker.question.norm != "linf"
        self.settled = auction.most < auction.row.least  # without a multiplier
        self.multiplier: float | None = None
        if not self.settled and auction.bound is not None and additive:
            self.multiplier = self._best()
        if self.multiplier is not None:
            self.price, self.value, self.rewards = auction.worth(self.multiplier)
            self.settled = self.value >= (auction.bound or 0)

    def _best(self) -> float | None:
        """The bound is concave in the multiplier; its slope is the deficit less what the best pieces gain."""
        auction = self.auction
        unit = 1 << (BITS * (4 if auction.walker.question.norm == "l2" else 2))
        deficit = (auction.row.least - auction.present) / (1 << BITS)
        found = [auction.pieces(f, *auction.spans[f]) for f in auction.gains]
        gains, costs = (np.full((len(found), max(map(len, found), default=0)), end) for end in (0.0, math.inf))
        for column, pieces in enumerate(found):  # shorter rows end in pieces that cost too much for any multiplier
            gains[column, : len(pieces)] = [gain / (1 << BITS) for *_, gain, _ in pieces]
            costs[column, : len(pieces)] = [cost / unit for *_, cost in pieces]
        low, high, rows = 0.0, math.inf, np.arange(len(found))
        for _ in range(ROUNDS):
            middle = (low + high) / 2 if math.isfinite(high) else (2.0 * low or 1.0)
            best = np.argmax(middle * gains - costs, axis=1) if found else rows
            slope = deficit - float(gains[rows, best].sum())
            low, high = (middle, high) if slope > 0 else (low, middle)
        return high if math.isfinite(high) and high > 0.0 else None

    def kept(self, f: int) -> tuple[float, float]:
        """The borders outside which no centre of column f is good below the limit."""
        auction = self.auction
        first, end = auction.spans[f]
        if self.multiplier is None or auction.bound is None or f not in auction.gains:
            return first, end
        needed = self.value + self.rewards[f] - auction.bound
        found = auction.pieces(f, first, end)
        left = [(a, b) for a, b, gain, cost in found if needed - self.price * gain + cost < 0]
        return (left[0][0], left[-1][1]) if left else (first, end)
