"""Set splits: both sides are boxes on one-hot vectors, and every vector reaches exactly one leaf of every tree."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from elbowroom.importers.inputs import Column, Inputs
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.tree_builder import TreeBuilder, at_most
from elbowroom.models.base import Decision, Link, ModelInfo
from elbowroom.models.trees import TreeEnsemble

LABELS = ("a", "b", "c", "d", "e")
INPUTS = Inputs((Column("x"), Column("g", LABELS), Column("h", ("p", "q", "r"))), as_frame=True)


def random_ensemble(seed: int, trees: int = 3, depth: int = 4) -> TreeEnsemble:
    """Trees that split on a number, on sets of one column of categories and on single categories of another."""
    rng = np.random.default_rng(seed)
    builder = TreeBuilder()
    for _ in range(trees):
        n = 2**depth - 1
        leaf = np.arange(n) >= 2 ** (depth - 1) - 1
        feature = rng.integers(3, size=n)
        sets = {}
        for i in np.flatnonzero(~leaf & (feature > 0)):
            chosen = np.flatnonzero(rng.random(5) < 0.5).astype(float)
            sets[int(i)] = lambda codes, chosen=chosen: np.isin(codes, chosen)
        builder.add(
            feature, rng.choice([0.0, 1.0, 2.0], n), 2 * np.arange(n) + 1, 2 * np.arange(n) + 2, leaf,
            rng.normal(size=(n, 1)), missing_left=rng.random(n) < 0.5, sets=sets,
        )  # fmt: skip
    info = ModelInfo(INPUTS.names, (0, 1), Decision.POSITIVE, Link.NONE, "made")
    takes = INPUTS.columns
    return builder.build(info, Preprocessing(INPUTS).before(takes, {}), at_most, np.zeros(1))


def all_rows() -> np.ndarray:
    rows = []
    for x, g, h in itertools.product([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0], range(5), range(3)):
        rows.append(np.concatenate([[x], np.eye(5)[g], np.eye(3)[h]]))
    return np.array(rows)


@pytest.mark.parametrize("seed", range(12))
def test_leaves_are_boxes_that_divide_the_one_hot_vectors(seed: int) -> None:
    model = random_ensemble(seed)
    assert model.sets is not None
    X, leaves = all_rows(), model.leaves
    reached = model.value[model.apply(X)]
    for row, values in zip(X, reached, strict=True):
        inside = ((leaves.lower < row) & (row <= leaves.upper)).all(axis=1)
        for k in range(model.n_trees):
            mine = np.flatnonzero(inside[leaves.offsets[k] : leaves.offsets[k + 1]]) + leaves.offsets[k]
            assert mine.size == 1
            assert leaves.value[mine[0], 0] == values[k, 0]


@pytest.mark.parametrize("seed", range(6))
def test_what_is_missing_goes_where_the_node_says(seed: int) -> None:
    model = random_ensemble(seed)
    assert model.may_miss is not None and model.may_miss.tolist() == [True] + [False] * 8
    X = all_rows()
    X[:, 0] = np.nan
    gone = np.array([True] + [False] * 8)
    special = model.with_missing(gone)
    anything = np.where(gone, np.random.default_rng(seed).normal(size=X.shape), X)
    assert np.array_equal(special.scores(anything), model.scores(X))
    assert special.fingerprint != model.fingerprint
    assert special.cuts[0].size == 0


def test_a_set_of_one_is_a_plain_cut() -> None:
    builder = TreeBuilder()
    leaf = np.array([False, True, True])
    value = np.array([[0.0], [1.0], [-1.0]])
    builder.add([1, 0, 0], [0.0] * 3, [1, -1, -1], [2, -1, -1], leaf, value, sets={0: lambda codes: codes == 3.0})
    info = ModelInfo(INPUTS.names, (0, 1), Decision.POSITIVE, Link.NONE, "made")
    model = builder.build(info, Preprocessing(INPUTS).before(INPUTS.columns, {}), at_most, np.zeros(1))
    assert model.sets is None
    row = np.concatenate([[0.0], np.eye(5)[3], np.eye(3)[0]])
    other = np.concatenate([[0.0], np.eye(5)[2], np.eye(3)[0]])
    assert model.scores(np.array([row, other])).ravel().tolist() == [1.0, -1.0]


def test_sums_in_float32_are_bit_equal_and_need_more_slack() -> None:
    from dataclasses import replace

    from elbowroom.models.margins import tree_margins

    model = random_ensemble(3, trees=40)
    rounded = replace(model, value=model.value.astype(np.float32).astype(np.float64), single=True)
    X = all_rows()
    total = np.zeros(len(X), np.float32)
    leaf = rounded.apply(X)
    for k in range(rounded.n_trees):
        total = total + rounded.value[leaf[:, k], 0].astype(np.float32)
    assert np.array_equal(rounded.scores(X)[:, 0], total.astype(np.float64))
    assert np.array_equal(rounded.scores(X)[:5], rounded.scores(X[:5]))
    single, double = tree_margins(rounded, 1), tree_margins(replace(rounded, single=False), 1)
    assert single.slack[0] > 1e6 * double.slack[0] > 0
