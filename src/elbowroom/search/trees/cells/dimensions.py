"""The columns that matter, divided into cells.

The cuts of a column divide its axis into cells: cell c is (cut[c - 1], cut[c]]. In columns of whole numbers the cuts
are rounded down first (x <= t iff x <= floor(t) for whole x), so that every cell holds a whole number. Only columns with
cuts become dimensions; of a one-hot group either all members or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elbowroom.models import TreeEnsemble
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import Space


@dataclass(frozen=True, eq=False)
class Dimensions:
    """The columns that matter: single columns first, then the members of each one-hot group side by side."""

    columns: Ints  # (dims,) position among the model's columns
    cuts: tuple[Floats, ...]  # (dims,) sorted, distinct, rounded down in whole columns
    group_start: Ints  # (used groups + 1,) dims of each used group
    groups: tuple[int, ...]  # which groups of the space these are

    @classmethod
    def of(cls, model: TreeEnsemble, space: Space) -> Dimensions:
        folded = [
            np.unique(np.floor(cuts)) + 0.0 if space.whole_room[f] else np.unique(cuts) + 0.0
            for f, cuts in enumerate(model.cuts)
        ]
        single = [f for f, cuts in enumerate(folded) if cuts.size and space.group_of[f] < 0]
        used = tuple(g for g, members in enumerate(space.members) if any(folded[f].size for f in members))
        blocks = [space.members[g].tolist() for g in used]
        columns = single + [f for block in blocks for f in block]
        starts = np.cumsum([len(single), *(len(block) for block in blocks)], dtype=np.int64)
        return cls(np.array(columns, dtype=np.int64), tuple(folded[f] for f in columns), starts, used)

    @cached_property
    def cell_start(self) -> Ints:
        return np.cumsum([0, *(cuts.size + 1 for cuts in self.cuts)], dtype=np.int64)

    def cells_of(self, point: Floats) -> Ints:
        """The cell of a point in every dimension."""
        return np.array(
            [np.searchsorted(cuts, point[f]) for f, cuts in zip(self.columns, self.cuts, strict=True)], dtype=np.int64
        )
