"""Shares of the cost, and the bound that they prove: for the whole question (`split`) and for parts of it (`branch`)."""

from __future__ import annotations

import numpy as np

from elbowroom.numerics import Ints
from elbowroom.search.trees.first.limits import MOST_PACE, PACE
from elbowroom.search.trees.first.shares import Shares
from elbowroom.search.trees.first.split_kernels import ascend_all, best_mu, excess, value_of

ROUNDING = 1e-10  # relative to the size of all terms: many times what their sums can lose
BUDGET = 1e-9  # relative: cells are cut off only beyond a cost that is this much larger


class Dual:
    """Shares and the price of the margin; ``bound`` is the best one so far."""

    def __init__(
        self, shares: Shares, constant: float, missing: float, sizes: float, ended: Ints, mu: float = 0.0, bound: float = 0.0
    ) -> None:  # fmt: skip
        self.shares, self.constant, self.missing, self.sizes, self.ended = shares, constant, missing, sizes, ended
        self.mu, self.bound, self._pace = mu, bound, 1.0
        self._picked, self._largest = np.zeros(2), np.zeros(1)

    @property
    def n_leaves(self) -> int:
        return len(self.shares.value)

    def ascend(self, adapt: bool = True) -> None:
        """All columns once, and the best mu; policies change only if they may ``adapt``."""
        hoped = self.mu * self._pace
        ascend_all(self.shares, hoped, int(adapt), self.ended)
        self.search_mu(hoped)
        # where shares for a larger price want a price that is larger still, the next step is longer
        self._pace = min(PACE * self._pace, MOST_PACE) if self.mu > hoped else max(1.0, self._pace / PACE)
        self.bound = max(self.bound, self.now())

    def search_mu(self, start: float) -> None:
        self.mu = best_mu(self.shares, self.missing, start, self._picked)

    def now(self) -> float:
        """The bound that the present shares prove."""
        total = value_of(self.shares, self.mu, self._picked)
        over = excess(self.shares, self._largest)
        gross = self.constant + self.mu * self.missing + total - over
        sizes = abs(self.constant) + self.mu * self.sizes + self._picked[1] + self._largest[0]
        return float(gross - ROUNDING * sizes)
