"""What the kernels of both engines work on besides their own arrays: the adversary's stack, the knapsack's scratch."""

from __future__ import annotations

import numpy as np

from elbowroom.kernels.bundle import blank
from elbowroom.search.trees.bad.find import Stack
from elbowroom.search.trees.bound.gains import Scratch
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.limits import SMALL_WORK, STACK_BYTES
from elbowroom.search.trees.question.question import Question


class Adversary:
    """Sub-ranges that one call may visit: a fraction of a second also for the largest models; more if it gets stuck."""

    def __init__(self, model: Ensemble, n_dims: int) -> None:
        self._n_dims, self._n_words = n_dims, model.everything.size
        self._make(int(np.clip(STACK_BYTES // (8 * (self._n_words + 2 * n_dims + 1)), 16, 1024)))
        self.limit = int(np.clip(SMALL_WORK // (self._n_words + model.segment_mask.size + 1), 500, 20_000))

    def _make(self, depth: int) -> None:
        self.stack = blank(Stack, depth=depth, dims=self._n_dims, words=self._n_words)

    def look_longer(self) -> None:
        self.limit *= 4
        if self.stack.low.shape[0] < self.limit:
            self._make(2 * self.stack.low.shape[0])


def knapsack_scratch(model: Ensemble, question: Question) -> Scratch:
    """Large enough for every tree of the model and every position of the question."""
    leaves, entries = max(model.most_leaves, 1), max(model.most_entries, 1) + 1
    steps = int(question.pos_start[-1]) + question.home.size + 1
    return blank(
        Scratch,
        words=model.everything.size,
        dims=question.home.size,
        entries=entries,
        steps=steps,
        most=max(entries, steps),
        leaves=leaves + 2,
        breaks=2 * leaves + 4,
    )
