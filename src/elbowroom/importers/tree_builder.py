"""Trees of any library, collected node by node into the flat arrays of a `TreeEnsemble`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.models.base import ModelInfo
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import Bools, Floats, Ints


class TreeBuilder:
    """Collects trees; node numbers are shifted so that all trees share one set of arrays."""

    def __init__(self) -> None:
        self._roots: list[int] = []
        self._parts: list[tuple[Ints, Floats, Ints, Ints, Floats]] = []
        self._size = 0

    def add(
        self,
        feature: npt.ArrayLike,
        threshold: npt.ArrayLike,
        left: npt.ArrayLike,
        right: npt.ArrayLike,
        leaf: Bools,
        value: Floats,
    ) -> None:
        """One tree with its root at node 0, parents before children; ``value`` is (nodes, K), used at leaves only."""
        self._refuse_damage(np.asarray(feature), np.asarray(left), np.asarray(right), leaf)
        feature = np.where(leaf, -1, np.asarray(feature, dtype=np.int64))
        threshold = np.where(leaf, 0.0, np.asarray(threshold, dtype=np.float64))
        left = np.where(leaf, -1, np.asarray(left, dtype=np.int64) + self._size)
        right = np.where(leaf, -1, np.asarray(right, dtype=np.int64) + self._size)
        value = np.where(leaf[:, None], value, 0.0)
        self._roots.append(self._size)
        self._parts.append((feature, threshold, left, right, value))
        self._size += len(feature)

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
    ) -> TreeEnsemble:
        """The ensemble over raw columns: every split becomes an exact float64 half line through ``preprocessing``."""
        feature, threshold, left, right, value = (np.concatenate(arrays) for arrays in zip(*self._parts, strict=True))
        inner = feature >= 0
        cut = np.zeros(len(feature))
        feature[inner], cut[inner] = preprocessing.cuts(feature[inner], threshold[inner], goes_left)
        return TreeEnsemble(
            info=info, roots=np.array(self._roots, dtype=np.int64), feature=feature, cut=cut, left=left, right=right,
            value=value, base=base, divisor=float(divisor),
        )  # fmt: skip


def float32_at_most(x: Floats, threshold: Floats) -> Bools:
    """The comparison of libraries that cast rows to float32 and compare with float64 thresholds."""
    with np.errstate(over="ignore"):
        return np.asarray(x.astype(np.float32).astype(np.float64) <= threshold)


def at_most(x: Floats, threshold: Floats) -> Bools:
    """The comparison of libraries that keep float64."""
    return np.asarray(x <= threshold)
