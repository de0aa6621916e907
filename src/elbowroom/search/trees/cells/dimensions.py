"""The columns that matter, divided into cells.

The cuts of a column divide its axis into cells: cell c is (cut[c - 1], cut[c]]. In columns of whole numbers the cuts
are rounded down first (x <= t iff x <= floor(t) for whole x), so that every cell holds a whole number. Only columns with
cuts become dimensions, and those that rules tie to others; of a one-hot group either all members or none.

Further margins (see `problem.further`) bring cuts of their own. Those that must hold everywhere in the room are cells of the
same axes. Those of the centre alone look at another point than the room's: their columns become dimensions of a second kind,
right behind those of the room, in which the room is a point. (Members of a group that is fixed in the room are a point anyway.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elbowroom.models import TreeEnsemble
from elbowroom.numerics import Bools, Floats, Ints
from elbowroom.problem import Space
from elbowroom.problem.further import Further


@dataclass(frozen=True, eq=False)
class Dimensions:
    """The columns that matter: single columns first, then the members of each one-hot group side by side."""

    columns: Ints  # (dims,) position among the model's columns
    cuts: tuple[Floats, ...]  # (dims,) sorted, distinct, rounded down in whole columns
    group_start: Ints  # (used groups + 1,) dims of each used group
    groups: tuple[int, ...]  # which groups of the space these are

    of_center: Bools  # (dims,) True: the centre lies there, and not the room

    @classmethod
    def of(
        cls, model: TreeEnsemble, space: Space, further: Sequence[Further] = (), tied: frozenset[int] = frozenset()
    ) -> Dimensions:
        in_room = [model, *(each.model for each in further if each.everywhere)]
        at_center = [each.model for each in further if not each.everywhere]
        room, center = _folded(in_room, space), _folded(at_center, space)
        both = _folded([*in_room, *at_center], space)
        single = [
            (f, kind)
            for f in range(len(space.names))
            for kind, cuts in ((False, room), (True, center))
            if (cuts[f].size or (f in tied and not kind)) and space.group_of[f] < 0
        ]
        used = tuple(
            g for g, members in enumerate(space.members) if any(both[f].size or int(f) in tied for f in members)
        )
        blocks = [space.members[g].tolist() for g in used]
        dims = single + [(f, False) for block in blocks for f in block]
        cuts = [(center if kind else room)[f] for f, kind in single] + [both[f] for block in blocks for f in block]
        starts = np.cumsum([len(single), *(len(block) for block in blocks)], dtype=np.int64)
        columns, kinds = np.array([f for f, _ in dims], np.int64), np.array([kind for _, kind in dims], np.bool_)
        return cls(columns, tuple(cuts), starts, used, kinds)

    @cached_property
    def partner(self) -> Ints:
        """(dims,) The dimension of the other kind of the same column; -1: there is none."""
        found, n = np.full(self.columns.size, -1, dtype=np.int64), int(self.group_start[0])
        first = np.flatnonzero(self.columns[1:n] == self.columns[: max(n - 1, 0)])
        found[first], found[first + 1] = first + 1, first
        return found

    def looked_at(self, at_center: bool) -> Bools:
        """(dims,) Those that margins of the room, or of the centre, look at."""
        looked = self.of_center == at_center
        looked[int(self.group_start[0]) :] = True
        return looked

    @cached_property
    def cell_start(self) -> Ints:
        return np.cumsum([0, *(cuts.size + 1 for cuts in self.cuts)], dtype=np.int64)

    def cells_of(self, point: Floats) -> Ints:
        """The cell of a point in every dimension."""
        return np.array(
            [np.searchsorted(cuts, point[f]) for f, cuts in zip(self.columns, self.cuts, strict=True)], dtype=np.int64
        )

    def bad_range(self, point: Floats, at_center: bool = False) -> tuple[Ints, Ints]:
        """Cells that a point shows to be bad: its own, and any in the dimensions that do not matter to what it breaks."""
        cell, matters = self.cells_of(point), self.looked_at(at_center)
        last = np.array([cuts.size for cuts in self.cuts], dtype=np.int64)
        return np.where(matters, cell, 0), np.where(matters, cell, last)


def _folded(models: Sequence[TreeEnsemble], space: Space) -> list[Floats]:
    """The cuts of every column, of all models together."""
    found = []
    for f in range(len(space.names)):
        cuts = np.concatenate([np.zeros(0), *(model.cuts[f] for model in models)])
        found.append(np.unique(np.floor(cuts) if space.whole_room[f] else cuts) + 0.0)
    return found
