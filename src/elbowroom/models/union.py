"""Several ensembles as one: the same nodes side by side, with values that say what each leaf adds to the common sum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elbowroom.models.base import ModelInfo
from elbowroom.models.oblique import ObliqueEnsemble
from elbowroom.models.sets import HALF, SetSplits
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import Floats, Ints


def join_trees(
    info: ModelInfo, parts: Sequence[TreeEnsemble], values: Sequence[Floats], base: Floats, divisor: float = 1.0
) -> TreeEnsemble:
    """All trees of all parts, in order. ``values[i]`` replaces the leaf values of part i, one row per node."""
    if any(part.single for part in parts):
        raise ValueError("sums in float32 do not join others")
    starts = _starts([part.feature.size for part in parts])
    width = len(info.names)
    first_set = _starts([0 if part.sets is None else len(part.sets.left) for part in parts])
    feature = [
        np.where(part.feature >= width, part.feature + start, part.feature)
        for part, start in zip(parts, first_set, strict=False)
    ]
    sets = [part.sets for part in parts if part.sets is not None]
    may_miss = np.logical_and.reduce([np.zeros(width, np.bool_) if p.may_miss is None else p.may_miss for p in parts])
    missing_left = [np.zeros(p.feature.size, np.bool_) if p.missing_left is None else p.missing_left for p in parts]
    return TreeEnsemble(
        info=info,
        roots=_shifted([part.roots for part in parts], starts),
        feature=np.concatenate(feature),
        cut=np.concatenate([part.cut for part in parts]),
        left=_shifted([part.left for part in parts], starts),
        right=_shifted([part.right for part in parts], starts),
        value=np.concatenate(list(values)),
        base=base,
        divisor=float(divisor),
        sets=SetSplits(*(np.concatenate([getattr(s, side) for s in sets]) for side in ("left", "right")))
        if sets
        else None,
        missing_left=np.concatenate(missing_left) if may_miss.any() else None,
        may_miss=may_miss if may_miss.any() else None,
    )


def join_oblique(
    info: ModelInfo, parts: Sequence[ObliqueEnsemble], values: Sequence[Floats], base: Floats, divisor: float = 1.0
) -> ObliqueEnsemble:
    """The same for trees with hyperplanes; each split keeps its own error."""
    starts = _starts([part.left.size for part in parts])
    return ObliqueEnsemble(
        info=info,
        roots=_shifted([part.roots for part in parts], starts),
        weight=np.concatenate([part.weight for part in parts]),
        threshold=np.concatenate([part.threshold for part in parts]),
        left=_shifted([part.left for part in parts], starts),
        right=_shifted([part.right for part in parts], starts),
        value=np.concatenate(list(values)),
        base=base,
        divisor=float(divisor),
        error_slope=np.concatenate([_or_zero(part.error_slope, part.weight) for part in parts]),
        error_constant=np.concatenate([_or_zero(part.error_constant, part.threshold) for part in parts]),
    )


def as_oblique(trees: TreeEnsemble) -> ObliqueEnsemble:
    """Axis-parallel splits as hyperplanes. A set split counts the ones on its right side; an infinite cut asks nothing."""
    n, nodes = len(trees.info.names), trees.feature.size
    weight, threshold = (
        np.zeros((nodes, n)),
        np.where(np.isfinite(trees.cut), trees.cut, np.where(trees.cut > 0, 0.0, -1.0)),
    )
    by_cut = np.flatnonzero((trees.feature >= 0) & (trees.feature < n) & np.isfinite(trees.cut))
    weight[by_cut, trees.feature[by_cut]] = 1.0
    if trees.sets is not None:
        by_set = np.flatnonzero(trees.feature >= n)
        weight[by_set], threshold[by_set] = trees.sets.right[trees.feature[by_set] - n], HALF
    return ObliqueEnsemble(
        info=trees.info, roots=trees.roots, weight=weight, threshold=threshold, left=trees.left, right=trees.right,
        value=trees.value, base=trees.base, divisor=trees.divisor,
    )  # fmt: skip


def _or_zero(error: Floats | None, like: Floats) -> Floats:
    return np.zeros_like(like) if error is None else error


def _starts(sizes: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _shifted(arrays: list[Ints], starts: Ints) -> Ints:
    """Node numbers of all parts; -1 (no child) stays."""
    return np.concatenate([np.where(a < 0, a, a + start) for a, start in zip(arrays, starts, strict=False)])
