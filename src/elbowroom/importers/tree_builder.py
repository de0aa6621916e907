"""Trees of any library, collected node by node into the flat arrays of a `TreeEnsemble`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.folding import Folded, InSet, Nodes
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.slanted import slanted
from elbowroom.models.base import ModelInfo
from elbowroom.models.oblique import ObliqueEnsemble
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import Bools, Floats, Ints

Trees: TypeAlias = TreeEnsemble | ObliqueEnsemble  # slanted splits behind a step that mixes columns


class TreeBuilder:
    """Collects trees; node numbers are shifted so that all trees share one set of arrays."""

    def __init__(self) -> None:
        self._roots: list[int] = []
        self._parts: list[Nodes] = []
        self._sets: dict[int, InSet] = {}
        self._routes_missing = True
        self._size = 0

    def add(
        self,
        feature: npt.ArrayLike,
        threshold: npt.ArrayLike,
        left: npt.ArrayLike,
        right: npt.ArrayLike,
        leaf: Bools,
        value: Floats,
        missing_left: npt.ArrayLike | None = None,
        sets: Mapping[int, InSet] | None = None,
    ) -> None:
        """One tree with its root at node 0, parents before children; ``value`` is (nodes, K), used at leaves only.

        ``missing_left``: where a missing number goes at each node; None: the library refuses missing numbers. ``sets``:
        nodes that split by category, with the rule of the library's own codes.
        """
        self._refuse_damage(np.asarray(feature), np.asarray(left), np.asarray(right), leaf)
        self._roots.append(self._size)
        self._routes_missing &= missing_left is not None
        goes = np.zeros(leaf.size, np.bool_) if missing_left is None else np.asarray(missing_left, dtype=np.bool_)
        self._parts.append(
            Nodes(
                np.where(leaf, -1, np.asarray(feature, dtype=np.int64)),
                np.where(leaf, 0.0, np.asarray(threshold, dtype=np.float64)),
                np.where(leaf, -1, np.asarray(left, dtype=np.int64) + self._size),
                np.where(leaf, -1, np.asarray(right, dtype=np.int64) + self._size),
                np.where(leaf[:, None], value, 0.0),
                goes,
            )
        )
        self._sets.update({node + self._size: rule for node, rule in (sets or {}).items()})
        self._size += leaf.size

    def _refuse_damage(self, feature: Ints, left: Ints, right: Ints, leaf: Bools) -> None:
        """Whoever follows a wrong index leaves the arrays or walks in circles, the original's own predict included: it must
        not be asked before this is known."""
        inner = np.flatnonzero(~leaf)
        children = np.concatenate([left[inner], right[inner]]).astype(np.int64)
        whole = (
            leaf.size > 0
            and bool((feature[inner] >= 0).all())
            and bool((children > np.tile(inner, 2)).all())
            and bool((children < leaf.size).all())
            and np.unique(children).size == children.size
        )
        if not whole:
            raise UnsupportedModel(
                f"tree {len(self._roots)} is damaged: its nodes do not form a tree; save the fitted model again"
            )

    def build(
        self,
        info: ModelInfo,
        preprocessing: Preprocessing,
        goes_left: Callable[[Floats, Floats], Bools],
        base: Floats,
        divisor: float = 1.0,
        single: bool = False,
    ) -> Trees:
        """The ensemble over inner columns: a split on a number becomes an exact float64 half line through
        ``preprocessing``, a split on a category a set of categories, a split on a mixture of numbers a hyperplane."""
        nodes = self._joined()
        folded = Folded(nodes, preprocessing, self._sets, self._routes_missing)
        folded.numbers(goes_left)
        folded.categories(goes_left)
        roots = folded.bins(goes_left, self._roots)
        nodes = folded.nodes
        made = TreeEnsemble(
            info=info, roots=np.array(roots, dtype=np.int64), feature=folded.feature, cut=folded.cut,
            left=nodes.left, right=nodes.right, value=nodes.value, base=base, divisor=float(divisor),
            sets=folded.set_splits, missing_left=nodes.missing_left if folded.may_miss.any() else None,
            may_miss=folded.may_miss if folded.may_miss.any() else None, single=single,
        )  # fmt: skip
        return slanted(made, *folded.mixtures, preprocessing.trace) if folded.by_mixture.size else made

    def _joined(self) -> Nodes:
        names = ("feature", "threshold", "left", "right", "value", "missing_left")
        return Nodes(*(np.concatenate([getattr(part, name) for part in self._parts]) for name in names))


def float32_at_most(x: Floats, threshold: Floats) -> Bools:
    """The comparison of libraries that cast rows to float32 and compare with float64 thresholds."""
    with np.errstate(over="ignore"):
        return np.asarray(x.astype(np.float32).astype(np.float64) <= threshold)


def at_most(x: Floats, threshold: Floats) -> Bools:
    """The comparison of libraries that keep float64."""
    return np.asarray(x <= threshold)
