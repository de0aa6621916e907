"""Ensembles of trees as rules keep them: one score, compared with 0, over the columns of the space.

Trees are written node by node, each before the nodes below it, left before right: so where a tree branches says where its
children are, and where it ends. ``feature`` has one number per node: a column, or -1 for a leaf, or the number of columns plus
that of a set of categories; ``cut`` one number per branch by a column; ``leaf`` one per leaf: its place in ``values``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from elbowroom.models.base import Decision, Link, ModelInfo
from elbowroom.models.sets import SetSplits
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import Floats, Ints
from elbowroom.problem.reader import Reader, number_out

MOST_NODES: Final = 2_000_000


def votes(
    model: TreeEnsemble, names: tuple[str, ...], column: Ints, value: Floats, need: float, slack: float, source: str
) -> TreeEnsemble:
    """The trees of a model with other values (one per node), over the columns ``names``, of which ``column`` are the
    model's; nodes in the order of files. 1 where the sum of values reaches ``need``, which rounding may move by ``slack``."""
    n = model.info.n_features
    order, stack = [], list(reversed(model.roots.tolist()))
    roots = set(stack)
    while stack:
        node = stack.pop()
        order.append(node)
        if model.feature[node] >= 0:
            stack += [int(model.right[node]), int(model.left[node])]
    picked = np.array(order, dtype=np.int64)
    feature = model.feature[picked]
    plain = (feature >= 0) & (feature < n)
    feature = np.where(plain, column[np.where(plain, feature, 0)], np.where(feature < 0, -1, feature - n + len(names)))
    sets = None
    if model.sets is not None:
        sides = [np.zeros((len(model.sets.left), len(names)), np.bool_) for _ in range(2)]
        sides[0][:, column], sides[1][:, column] = model.sets.left, model.sets.right
        sets = SetSplits(*sides)
    starts = np.array([i for i, node in enumerate(order) if node in roots], dtype=np.int64)
    cut = np.where(plain, model.cut[picked], 0.0)
    return _made(names, starts, feature, cut, np.where(feature < 0, value[picked], 0.0), sets, need, slack, source)


def same_trees(model: TreeEnsemble, kept: TreeEnsemble) -> bool:
    """True if an ensemble of a rule has the nodes of a model, whatever their values."""
    names = model.info.names
    ours = votes(model, names, np.arange(len(names)), np.zeros(model.feature.size), 0.0, 0.0, "")
    sets = [np.stack([e.sets.left, e.sets.right]) if e.sets is not None else np.zeros(0) for e in (ours, kept)]
    pairs = ((ours.feature, kept.feature), (ours.cut, kept.cut), (ours.roots, kept.roots), (sets[0], sets[1]))
    return names == kept.info.names and all(np.array_equal(a, b) for a, b in pairs)


def _made(
    names: tuple[str, ...], roots: Ints, feature: Ints, cut: Floats, value: Floats, sets: SetSplits | None,
    need: float, slack: float, source: str,
) -> TreeEnsemble:  # fmt: skip
    info = ModelInfo(names, (-1, 1), Decision.NONNEGATIVE, Link.NONE, source, evaluation_error=slack)
    left, right = _children(feature)
    return TreeEnsemble(
        info, roots, feature, cut + 0.0, left, right, value[:, None] + 0.0, np.array([-need]) + 0.0, sets=sets
    )


def _children(feature: Ints) -> tuple[Ints, Ints]:
    """Where the children of every node stand; raises ValueError if the last tree has no end."""
    left, right = np.full(feature.size, -1, dtype=np.int64), np.full(feature.size, -1, dtype=np.int64)
    waiting: list[int] = []  # branches whose right side has not begun
    for node, column in enumerate(feature.tolist()):
        if node and feature[node - 1] < 0 and waiting:
            right[waiting.pop()] = node
        if column >= 0:
            left[node] = node + 1
            waiting.append(node)
    if waiting or (feature.size and feature[-1] >= 0):
        raise ValueError("the last tree has no end")
    return left, right


def trees_out(model: TreeEnsemble) -> dict[str, Any]:
    n = len(model.info.names)
    leaf = model.feature < 0
    values, place = np.unique(model.value[leaf, 0], return_inverse=True)
    made: dict[str, Any] = {
        "columns": list(model.info.names),
        "feature": model.feature.tolist(),
        "cut": [number_out(c) for c in model.cut[(model.feature >= 0) & (model.feature < n)].tolist()],
        "leaf": place.reshape(-1).tolist(),
        "values": values.tolist(),
        "need": number_out(-float(model.base[0])),
        "slack": number_out(model.info.evaluation_error),
        "sets": [],
    }
    if model.sets is not None:
        made["sets"] = [
            {"left": np.flatnonzero(a).tolist(), "right": np.flatnonzero(b).tolist()}
            for a, b in zip(model.sets.left, model.sets.right, strict=True)
        ]
    return made


def trees_in(entry: Reader, source: str) -> TreeEnsemble:
    """The ensemble that `trees_out` wrote; anything else is refused by its place."""
    names = tuple(item.text() for item in entry.at("columns").items())
    n, sets = len(names), entry.at("sets").items()
    if n == 0 or len(set(names)) < n:
        raise entry.at("columns").wrong("names of columns, each once")
    feature = _whole(entry.at("feature"), -1, n + len(sets) - 1)
    by_cut, leaf = (feature >= 0) & (feature < n), feature < 0
    values = np.array([item.number() for item in entry.at("values").items()])
    place = _whole(entry.at("leaf"), 0, values.size - 1)
    cuts = entry.at("cut").items()
    if not feature.size or place.size != int(leaf.sum()) or len(cuts) != int(by_cut.sum()):
        raise entry.at("feature").wrong("a node for every entry of cut and leaf")
    cut, value = np.zeros(feature.size), np.zeros(feature.size)
    cut[by_cut], value[leaf] = [item.number(infinite=True) for item in cuts], values[place]
    slack = entry.at("slack").number()
    if slack < 0.0:
        raise entry.at("slack").wrong("a number of at least 0")
    try:
        starts = _roots(feature)
        splits = _sets_in(sets, n)
        return _made(names, starts, feature, cut, value, splits, entry.at("need").number(), slack, source)
    except ValueError:
        raise entry.at("feature").wrong("whole trees: the last one has no end") from None


def _roots(feature: Ints) -> Ints:
    """A tree ends where leaves outnumber branches by one."""
    balance = np.cumsum(np.where(feature < 0, 1, -1))
    record = np.maximum.accumulate(np.append(0, balance))[:-1]
    ends = np.flatnonzero(balance > record)
    return np.append(0, ends[:-1] + 1).astype(np.int64)


def _sets_in(sets: list[Reader], n: int) -> SetSplits | None:
    if not sets:
        return None
    sides = [np.zeros((len(sets), n), np.bool_) for _ in range(2)]
    for s, item in enumerate(sets):
        for side, key in zip(sides, ("left", "right"), strict=True):
            side[s, _whole(item.at(key), 0, n - 1)] = True
        if (sides[0][s] & sides[1][s]).any():
            raise item.wrong("two sets of columns that share none")
    return SetSplits(*sides)


def _whole(entry: Reader, low: int, high: int) -> Ints:
    """A list of whole numbers; long ones are read at once."""
    if not isinstance(entry.value, list) or len(entry.value) > MOST_NODES:
        raise entry.wrong(f"a list of at most {MOST_NODES:,} whole numbers")
    if all(type(v) is int and low <= v <= high for v in entry.value):
        return np.array(entry.value, dtype=np.int64)
    return np.array([item.whole(low, high) for item in entry.items()], dtype=np.int64)
