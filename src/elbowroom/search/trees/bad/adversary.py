"""The adversary's stack, and how long it may look."""

from __future__ import annotations

import numpy as np

from elbowroom.search.trees.bad.find import Stack
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.limits import SMALL_WORK, STACK_BYTES


class Adversary:
    """Sub-ranges that one call may visit: a fraction of a second also for the largest models; more if it gets stuck."""

    def __init__(self, model: Ensemble, n_dims: int) -> None:
        self._n_dims, self._n_words = n_dims, model.everything.size
        depth = int(np.clip(STACK_BYTES // (8 * (self._n_words + 2 * n_dims + 1)), 16, 1024))
        self.stack = Stack.of(depth, n_dims, self._n_words)
        self.limit = int(np.clip(SMALL_WORK // (self._n_words + model.segment_mask.size + 1), 500, 20_000))

    def look_longer(self) -> None:
        self.limit *= 4
        if self.stack.low.shape[0] < self.limit:
            self.stack = Stack.of(2 * self.stack.low.shape[0], self._n_dims, self._n_words)
