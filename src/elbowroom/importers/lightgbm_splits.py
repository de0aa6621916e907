"""LightGBM's splits as plain cuts with a side for missing numbers, and as sets of codes.

With ``zero_as_missing`` zeros and NaN go to the default side wherever the cut t is. If that is the side of the cut on which 0
lies, a plain cut says it. Otherwise the numbers fall into four pieces, from below

    default left, t < 0:    left up to t,        right below 0,     left at 0 (and NaN), right above
    default right, t > 0:   left below 0,        right at 0 (NaN),  left up to t,        right above

and the split becomes three cuts. Every piece gets its own copy of the side it goes to; in a copy only those splits are kept
that its piece leaves open, so that a column is cut into less than zero, zero and more than zero once on every path.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.lightgbm_model import BELOW_ZERO, NAN_IS_MISSING, ZERO, ZERO_IS_MISSING, TextTree, in_set
from elbowroom.importers.tree_builder import TreeBuilder
from elbowroom.numerics import Bools, Floats, Ints

_MOST_COPIES: Final = 20  # nodes of the copy for each node of a tree,
_FEW_NODES: Final = 20_000  # unless the copy is small anyway


def goes_left(x: Floats, threshold: Floats) -> Bools:
    """Float64 comparison, after numbers of at most 1e-35 have become 0."""
    return np.asarray(np.where(np.abs(x) <= ZERO, 0.0, x) <= threshold)


class Flat(NamedTuple):
    """A tree with leaves behind splits, or in any order with parents first; ``source`` is the split or ~leaf of a node."""

    source: Ints
    threshold: Floats
    left: Ints
    right: Ints
    missing_left: Bools


def add_tree(builder: TreeBuilder, tree: TextTree, number: int, n_scores: int, source: str) -> None:
    """Tree ``number``, which adds to the score of its turn."""
    flat, pieces = _flat(tree), _pieces(tree)
    if pieces.any():
        most = max(_MOST_COPIES * len(flat.source), _FEW_NODES)
        copy = _Copy(tree, flat, pieces).made(most)
        if copy is None:
            raise UnsupportedModel(
                f"{source}, tree {number}: with zero_as_missing=True its splits cut columns below and above 0, and the copy "
                f"exceeds {most:,} nodes; replace zeros by NaN in the table and fit with zero_as_missing=False, which is the "
                "same model"
            )
        flat = copy
    leaf = flat.source < 0
    split, end = np.where(leaf, 0, flat.source), np.where(leaf, ~flat.source, 0)
    feature = tree.feature[split] if tree.feature.size else np.zeros(1, dtype=np.int64)
    by_set = ~leaf & (tree.by_set[split] if tree.feature.size else False)
    sets = {int(node): _members(tree, int(flat.source[node])) for node in np.flatnonzero(by_set)}
    value = np.zeros((len(leaf), n_scores))
    value[:, number % n_scores] = np.where(leaf, tree.value[end], 0.0)
    builder.add(
        feature, flat.threshold, flat.left, flat.right, leaf, value, missing_left=flat.missing_left, sets=sets or None
    )


def _members(tree: TextTree, split: int) -> _InSet:
    return _InSet(tree.sets[int(tree.threshold[split])])


class _InSet:
    """A set of codes as a rule: these go left, and all other codes, NaN included, right."""

    def __init__(self, members: Bools) -> None:
        self.members = members

    def __call__(self, codes: Floats) -> Bools:
        return in_set(self.members, codes)


def _flat(tree: TextTree) -> Flat:
    """Splits first, then leaves. Cuts of zero-type splits are those of the docstring, where one cut is enough."""
    n_splits, n_leaves = len(tree.feature), len(tree.value)
    threshold, zero_type = tree.threshold, tree.missing == ZERO_IS_MISSING
    # a cut between -1e-35 and 1e-35 with zeros on its other side moves to that side of 0
    small = zero_type & (np.abs(threshold) <= ZERO)
    threshold = np.where(small, np.where(tree.default_left, 0.0, BELOW_ZERO), threshold)
    follows_default = zero_type | (tree.missing == NAN_IS_MISSING)
    missing_left = np.where(follows_default, tree.default_left, tree.threshold >= 0.0) & ~tree.by_set
    children = (np.where(side < 0, n_splits + ~side, side) for side in (tree.left, tree.right))
    none, zeros = np.full(n_leaves, -1), np.zeros(n_leaves)
    left, right = (np.concatenate([side, none]) for side in children)
    source = np.concatenate([np.arange(n_splits), ~np.arange(n_leaves)])
    return Flat(source, np.concatenate([threshold, zeros]), left, right, np.concatenate([missing_left, zeros > 0]))


def _pieces(tree: TextTree) -> Bools:
    """Splits that need three cuts."""
    beyond = np.where(tree.default_left, tree.threshold < -ZERO, tree.threshold > ZERO)
    return np.asarray((tree.missing == ZERO_IS_MISSING) & ~tree.by_set & beyond)


class _Open(NamedTuple):
    """What a path leaves open of one column: numbers in (low, high], by cuts, and whether NaN."""

    low: float = -np.inf
    high: float = np.inf
    nan: bool = True


class _Cut(NamedTuple):
    """One cut: the nodes below it; ``right`` is None where the next cut of a chain follows."""

    threshold: float
    left: int
    right: int | None
    missing_left: bool

    def decided(self, known: _Open) -> bool | None:
        """Left or right, if only one of them is possible."""
        cut = _settled(self.threshold)
        left = known.low < cut or (known.nan and self.missing_left)
        right = cut < known.high or (known.nan and not self.missing_left)
        return None if left and right else left

    def narrowed(self, known: _Open, left: bool) -> _Open:
        cut, nan = _settled(self.threshold), known.nan and self.missing_left == left
        return _Open(known.low, min(known.high, cut), nan) if left else _Open(max(known.low, cut), known.high, nan)


def _settled(threshold: float) -> float:
    """The same cut for all thresholds that part the numbers alike: those within 1e-35 of 0."""
    return threshold if abs(threshold) > ZERO else 0.0 if threshold >= 0.0 else BELOW_ZERO


class _Copy:
    """The tree with three cuts for each split of ``pieces``, followed from the root."""

    def __init__(self, tree: TextTree, flat: Flat, pieces: Bools) -> None:
        self.tree, self.flat, self.pieces = tree, flat, pieces
        self.watched = set(tree.feature[pieces].tolist())

    def made(self, most: int) -> Flat | None:
        """The copy, or None if it has more than ``most`` nodes."""
        nodes: list[tuple[int, float, bool]] = []
        children: list[list[int]] = []
        todo: list[tuple[int, tuple[_Cut, ...], dict[int, _Open], list[int], int]] = [(0, (), {}, [0], 0)]
        while todo:
            node, cuts, known, parent, side = todo.pop()
            node, cuts = self._undecided(node, cuts, known)
            if len(nodes) > most:
                return None
            parent[side] = len(nodes)
            children.append([-1, -1])
            split = int(self.flat.source[node])
            nodes.append((split, cuts[0].threshold, cuts[0].missing_left) if cuts else (split, 0.0, False))
            if cuts:
                cut, column = cuts[0], self._column(split)
                right = (node, cuts[1:]) if cut.right is None else (cut.right, ())
                opened = known.get(column, _Open())
                for place, (below, rest) in ((1, right), (0, (cut.left, ()))):
                    then = known if column < 0 else {**known, column: cut.narrowed(opened, place == 0)}
                    todo.append((below, rest, then, children[-1], place))
        source, threshold, missing_left = zip(*nodes, strict=True)
        left, right_side = np.array(children, dtype=np.int64).T
        return Flat(np.array(source), np.array(threshold), left, right_side, np.array(missing_left, dtype=np.bool_))

    def _column(self, split: int) -> int:
        """The column of a split by a cut, if it is watched; else -1."""
        column = -1 if split < 0 or self.tree.by_set[split] else int(self.tree.feature[split])
        return column if column in self.watched else -1

    def _undecided(self, node: int, cuts: tuple[_Cut, ...], known: dict[int, _Open]) -> tuple[int, tuple[_Cut, ...]]:
        """The first cut from here on that the path has not decided yet, or a leaf."""
        while (split := int(self.flat.source[node])) >= 0:
            cuts = cuts or self._cuts(node, split)
            column = self._column(split)
            side = None if column < 0 else cuts[0].decided(known.get(column, _Open()))
            if side is None:
                return node, cuts
            target = cuts[0].left if side else cuts[0].right
            node, cuts = (node, cuts[1:]) if target is None else (target, ())
        return node, ()

    def _cuts(self, node: int, split: int) -> tuple[_Cut, ...]:
        """One cut, or the four pieces of a split as three cuts; NaN goes with 0."""
        t, left, right = float(self.flat.threshold[node]), int(self.flat.left[node]), int(self.flat.right[node])
        if not self.pieces[split]:
            return (_Cut(t, left, right, bool(self.flat.missing_left[node])),)
        if self.tree.default_left[split]:
            return (_Cut(t, left, None, False), _Cut(BELOW_ZERO, right, None, False), _Cut(0.0, left, right, True))
        return (_Cut(BELOW_ZERO, left, None, False), _Cut(0.0, right, None, True), _Cut(t, left, right, False))
