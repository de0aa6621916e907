"""Nodes of CatBoost's trees, as arrays for a `TreeBuilder`.

A symmetric tree asks the same d questions on every path: 2^d leaves. Many of them cannot be reached, because a question is
decided by the earlier ones: income > 30 after income > 50. Here a node is made only where both answers are possible. The
possible values of a column are split into *atoms*, on which every question of the tree is constant: the cells between its
borders, or the known categories. Every path keeps the atoms that are left, and a question whose atoms are all on one side
is skipped. NaN is a value below all borders, or above all of them, by the column: it never disagrees with a skipped one.
Last, two leaves of one node that hold the same value are one leaf (unused leaves are all 0).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from elbowroom.importers.catboost_model import Nested, Split, Symmetric
from elbowroom.numerics import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Nodes:
    """One tree, root first, parents before children; ``split`` -1 is a leaf, else the position among ``splits``."""

    splits: tuple[Split, ...]
    split: Ints
    left: Ints
    right: Ints
    value: Floats

    @property
    def leaves(self) -> int:
        return int((self.split < 0).sum())


def of_nested(tree: Nested) -> Nodes:
    splits = tuple(split for split in tree.split if split is not None)
    inner = np.array([split is not None for split in tree.split])
    number = np.where(inner, np.cumsum(inner) - 1, -1)
    return Nodes(splits, number, np.array(tree.left), np.array(tree.right), tree.value)


def of_symmetric(tree: Symmetric, hashes: Mapping[int, Ints]) -> Nodes:
    """``hashes`` are those of the known categories, by column."""
    paths, atoms = _Paths(), _Atoms(tree.splits, hashes)
    index, slot = np.zeros(1, dtype=np.int64), np.full(1, -1, dtype=np.int64)
    remaining = np.ones((1, atoms.count), dtype=np.bool_)
    for bit in range(len(tree.splits)):
        goes_left = atoms.left[bit]
        mine = atoms.of_split[bit]
        can_left = (remaining & (mine & goes_left)).any(axis=1)
        can_right = (remaining & (mine & ~goes_left)).any(axis=1)
        both = can_left & can_right
        made = paths.make(bit, slot[both])
        alone = ~both
        index = np.concatenate(
            [index[alone] | (can_right[alone].astype(np.int64) << bit), index[both], index[both] | (1 << bit)]
        )
        slot = np.concatenate([slot[alone], 2 * made, 2 * made + 1])
        here = remaining[both]
        remaining = np.concatenate([remaining[alone], here & (goes_left | ~mine), here & ~(goes_left & mine)])
    return paths.finish(tree, index, slot)


class _Atoms:
    """Side by side the atoms of all columns of one tree, and for every split those that it is about and those on its left."""

    def __init__(self, splits: Sequence[Split], hashes: Mapping[int, Ints]) -> None:
        start: dict[int, int] = {}
        borders: dict[int, list[float]] = {}
        self.count = 0
        for split in splits:
            if split.column in start:
                continue
            start[split.column] = self.count
            of_column = sorted({s.border for s in splits if s.column == split.column})
            borders[split.column] = of_column
            self.count += len(of_column) + 1 if split.category is None else len(hashes[split.column])
        self.left = np.zeros((len(splits), self.count), dtype=np.bool_)
        self.of_split = np.zeros((len(splits), self.count), dtype=np.bool_)
        for i, split in enumerate(splits):
            first = start[split.column]
            if split.category is None:
                cells = len(borders[split.column]) + 1
                left = np.arange(cells) <= borders[split.column].index(split.border)
            else:
                left = hashes[split.column] != split.category
            self.left[i, first : first + left.size] = left
            self.of_split[i, first : first + left.size] = True


class _Paths:
    """The nodes made so far, level by level; slot 2 n + s is side s of node n, slot -1 the root."""

    def __init__(self) -> None:
        self.levels: list[Ints] = []  # the numbers of the nodes of every level
        self.split: list[Ints] = []
        self.child = np.empty(0, dtype=np.int64)
        self.size = 0

    def make(self, split: int, slot: Ints) -> Ints:
        """A new node for every slot; their numbers."""
        made = self.size + np.arange(slot.size)
        self._hang(slot, made)
        self.child = np.concatenate([self.child, np.full(2 * slot.size, -1, dtype=np.int64)])
        self.levels.append(made)
        self.split.append(np.full(slot.size, split, dtype=np.int64))
        self.size += slot.size
        return made

    def _hang(self, slot: Ints, nodes: Ints) -> None:
        below = slot >= 0
        self.child[slot[below]] = nodes[below]

    def finish(self, tree: Symmetric, index: Ints, slot: Ints) -> Nodes:
        """Hang up the leaves; join siblings of equal value from below; number what is left."""
        leaves = self.make(-1, slot)
        split = np.concatenate(self.split)
        left, right = self.child[0::2].copy(), self.child[1::2].copy()
        value = np.zeros((self.size, tree.value.shape[1]))
        value[leaves] = tree.value[index]
        for level in reversed(self.levels[:-1]):
            a, b = left[level], right[level]
            equal = (split[a] < 0) & (split[b] < 0) & (value[a] == value[b]).all(axis=1)
            joined = level[equal]
            split[joined], value[joined] = -1, value[left[joined]]
        reached = self._reached(split, left, right)
        number = np.cumsum(reached) - 1
        inner = split[reached] >= 0
        return Nodes(
            tree.splits,
            split[reached],
            np.where(inner, number[left[reached]], -1),
            np.where(inner, number[right[reached]], -1),
            np.where(inner[:, None], 0.0, value[reached]),
        )

    def _reached(self, split: Ints, left: Ints, right: Ints) -> Bools:
        reached = np.zeros(self.size, dtype=np.bool_)
        reached[0] = True
        for level in self.levels[:-1]:
            inner = level[reached[level] & (split[level] >= 0)]
            reached[left[inner]] = True
            reached[right[inner]] = True
        return reached
