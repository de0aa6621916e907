"""Trees over a common move: what must hold for several rows at once, as one ensemble.

Row x_i goes left at a cut t after the move m iff fl(x_i + m) <= t, that is iff m <= c for one float c: the copy of the trees for
row i has the cut c there. A room is clipped to the limits of its row, so cuts beyond them are decided. The margins of every
row are rows of the merged ensemble: class 0, whose score is 0, must not be behind minus the margin of any row.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.models.base import Decision, Link, ModelInfo
from elbowroom.models.margins import Need, tree_margins
from elbowroom.models.trees import TreeEnsemble
from elbowroom.models.union import join_trees
from elbowroom.numerics import EPS, Floats, from_ordinal, next_up, ordinal


def moved_trees(
    model: TreeEnsemble, target: int, need: Need, rows: Floats, lower: Floats, upper: Floats
) -> TreeEnsemble:
    """Class 0 at m iff the row i + m has the wanted class for all i, ties within rounding included. ``lower`` and ``upper`` are
    the limits of each row."""
    strict = tree_margins(model, target, need, of=model.value)
    margins = strict.hopeful or strict
    needed = margins.base - margins.slack
    needed = np.where(needed + margins.slack == margins.base, needed, next_up(needed))
    each, count = needed.size, len(rows)
    classes = tuple(range(1 + count * each))
    info = ModelInfo(model.info.names, classes, Decision.ARGMAX, Link.NONE, f"{model.info.source}, moved")
    parts, values = [], []
    for i in range(count):
        value = np.zeros((model.feature.size, len(classes)))
        value[:, 1 + i * each : 1 + (i + 1) * each] = -margins.value
        parts.append(_moved(model, info, rows[i], lower[i], upper[i]))
        values.append(value)
    return join_trees(info, parts, values, np.concatenate([[0.0], np.tile(-needed, count)]))


def _moved(model: TreeEnsemble, info: ModelInfo, row: Floats, lower: Floats, upper: Floats) -> TreeEnsemble:
    n, cut, feature = row.size, model.cut.copy(), model.feature.copy()
    plain = np.flatnonzero((feature >= 0) & (feature < n))
    f, t = feature[plain], cut[plain]
    moved = last_move(row[f], t)
    moved = np.where(t >= upper[f], np.inf, np.where(t < lower[f], -np.inf, moved))
    cut[plain] = moved
    if model.sets is not None:
        by_set = np.flatnonzero(feature >= n)
        left = model.sets.goes_left(row[None])[0][feature[by_set] - n]
        cut[by_set], feature[by_set] = np.where(left, np.inf, -np.inf), 0
    return replace(
        model, info=info, feature=feature, cut=cut, sets=None, missing_left=None, may_miss=None, single=False, divisor=1.0
    )  # fmt: skip


def last_move(x: Floats, cut: Floats) -> Floats:
    """The largest float m with fl(x + m) <= cut, for finite cuts; infinite ones stay."""
    finite = np.isfinite(cut)
    x, t = np.where(finite, x, 0.0), np.where(finite, cut, 0.0)
    reach = 8.0 * EPS * np.maximum(np.abs(x), np.abs(t)) + 1e-300
    low, high = ordinal(t - x - reach), ordinal(t - x + reach)  # fl(x + low) <= cut < fl(x + high)
    while (high - low > 1).any():
        middle = low + (high - low) // 2
        left = x + from_ordinal(middle) <= t
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    return np.where(finite, from_ordinal(low), cut)
