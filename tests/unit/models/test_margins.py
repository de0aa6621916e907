"""Margins: the label is guaranteed where every margin reaches its slack, and only the slack is given away."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from elbowroom.models import Affine, Decision, LinearModel, Link, ModelInfo, ReluNetwork, TreeEnsemble
from elbowroom.models.base import class_index
from elbowroom.models.margins import linear_margins, network_margins, tree_margins


def forest(values: list[list[float]], decision: Decision, base: list[float], divisor: float = 1.0) -> TreeEnsemble:
    """Stumps on one feature: tree k cuts at k and has the two given leaf values (scalars or rows)."""
    k_scores = len(base)
    link = Link.IDENTITY if decision is Decision.ARGMAX else Link.LOGISTIC
    info = ModelInfo(("x",), tuple(range(max(2, k_scores))), decision, link, "stumps")
    roots, feature, cut, left, right, value = [], [], [], [], [], []
    for k, leaves in enumerate(values):
        at = len(feature)
        roots.append(at)
        feature += [0, -1, -1]
        cut += [float(k), 0.0, 0.0]
        left += [at + 1, -1, -1]
        right += [at + 2, -1, -1]
        value += [[0.0] * k_scores, np.broadcast_to(leaves[0], k_scores), np.broadcast_to(leaves[1], k_scores)]
    arrays = (np.array(a, dtype=np.int64) for a in (roots, feature, left, right))
    roots_, feature_, left_, right_ = arrays
    return TreeEnsemble(
        info, roots_, feature_, np.array(cut), left_, right_, np.array(value, dtype=float), np.array(base), divisor
    )


def margins_at(model: TreeEnsemble, target: int, x: np.ndarray) -> np.ndarray:
    view = tree_margins(model, target)
    leaves = model.leaves
    total = np.broadcast_to(view.base, (len(x), view.base.size)).copy()
    for k in range(leaves.n_trees):
        for leaf in range(leaves.offsets[k], leaves.offsets[k + 1]):
            inside = (x[:, 0] > leaves.lower[leaf, 0]) & (x[:, 0] <= leaves.upper[leaf, 0])
            total[inside] += view.value[leaf]
    return total - view.slack


@pytest.mark.parametrize("decision", [Decision.POSITIVE, Decision.NONNEGATIVE])
@pytest.mark.parametrize("target", [0, 1])
def test_ties_of_exact_sums_go_where_the_model_sends_them(decision: Decision, target: int) -> None:
    model = forest([[-1.0, 1.0], [-0.5, 0.5], [0.5, -1.5]], decision, [0.0])
    x = np.linspace(-1, 4, 41)[:, None]
    labels = model.info.labels_of(model.scores(x))
    assert ((margins_at(model, target, x)[:, 0] >= 0) == (labels == target)).all()
    assert (model.scores(x) == 0).any()


def test_votes_that_tie_go_to_the_first_class() -> None:
    model = forest([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]], Decision.ARGMAX, [0.0, 0.0], 2.0)
    x = np.array([[-1.0], [0.5], [2.0]])
    assert model.info.labels_of(model.scores(x)).tolist() == [0, 1, 0]
    for target in (0, 1):
        good = (margins_at(model, target, x) >= 0).all(axis=1)
        assert good.tolist() == [int(v) == target for v in [0, 1, 0]]


def test_inexact_sums_keep_a_distance_from_the_tie() -> None:
    model = forest([[0.1, 0.2], [0.2, -0.3]], Decision.POSITIVE, [0.1])
    view = tree_margins(model, 1)
    assert 0 < view.slack[0] < 1e-13


def test_a_single_tree_reaches_its_probability_exactly() -> None:
    model = forest([[[0.3, 0.7], [0.6, 0.4]]], Decision.ARGMAX, [0.0, 0.0])
    view = tree_margins(model, 1, probability=0.7)
    assert (view.value[:, 0] + view.base[0] >= view.slack[0]).tolist() == [True, False]


@pytest.mark.parametrize("votes", [1, 3, 5, 6, 7, 9, 10])
@pytest.mark.parametrize("n_trees", [10, 7, 49])
def test_votes_reach_a_probability_exactly_where_the_computed_mean_does(votes: int, n_trees: int) -> None:
    """Seven of ten votes are a probability of 0.7, in spite of 0.7 * 10 != 7 in real numbers."""
    model = forest([[[1.0, 0.0], [0.0, 1.0]]] * n_trees, Decision.ARGMAX, [0.0, 0.0], float(n_trees))
    for wanted in (votes / n_trees, votes / 10, np.nextafter(votes / n_trees, 1.0)):
        if not 0.0 < wanted < 1.0:
            continue
        view = tree_margins(model, 1, probability=float(wanted))
        for reached in range(n_trees + 1):
            good = bool(reached + view.base[0] >= view.slack[0])
            assert good == (reached / n_trees >= wanted)


def test_a_model_of_nothing_but_zeros_keeps_its_tie_from_the_other_class() -> None:
    """Balanced boosting that learned nothing scores exactly 0 everywhere, which is the second class and not the first."""
    model = forest([[0.0, 0.0], [0.0, 0.0]], Decision.NONNEGATIVE, [0.0])
    x = np.array([[0.5]])
    assert (margins_at(model, 1, x) >= 0).all()
    assert not (margins_at(model, 0, x) >= 0).any()


def test_rivals_of_a_multi_class_forest() -> None:
    rng = np.random.default_rng(1)
    trees = [[list(rng.dirichlet([1] * 3)), list(rng.dirichlet([1] * 3))] for _ in range(5)]
    model = forest(trees, Decision.ARGMAX, [0.0] * 3, 5.0)
    x = rng.uniform(-1, 6, (200, 1))
    labels = model.info.labels_of(model.scores(x))
    for target in range(3):
        assert ((margins_at(model, target, x) >= 0).all(axis=1) == (labels == target)).all()


def test_labels_are_found_by_equality_but_not_across_types() -> None:
    def info(*classes: object) -> ModelInfo:
        return ModelInfo(("x",), classes, Decision.POSITIVE, Link.NONE, "")  # type: ignore[arg-type]

    assert class_index(info(1, 2), np.int64(2)) == 1
    assert class_index(info(1, 2), 2.0) == 1
    assert class_index(info("1", "2"), 2) is None
    assert class_index(info(False, True), 1) is None
    assert class_index(info(False, True), np.True_) == 1
    assert class_index(info(0, 1), True) is None


def test_affine_composition_covers_both_errors() -> None:
    rng = np.random.default_rng(3)
    first = Affine.exact(rng.normal(size=(4, 3)), rng.normal(size=4))
    second = Affine.exact(rng.normal(size=(2, 4)), rng.normal(size=2))
    both = first.then(second)
    for x in rng.normal(size=(200, 3)) * 100:
        step_by_step = second(first(x[None]))[0]
        assert (np.abs(step_by_step - both(x[None])[0]) <= both.error(np.abs(x))).all()


def test_linear_and_network_margins_agree_with_labels() -> None:
    rng = np.random.default_rng(4)
    info = ModelInfo(("a", "b"), ("u", "v", "w"), Decision.ARGMAX, Link.SOFTMAX, "")
    linear = LinearModel(info, Affine.exact(rng.normal(size=(3, 2)), rng.normal(size=3)))
    hidden = Affine.exact(rng.normal(size=(5, 2)), rng.normal(size=5))
    network = ReluNetwork(info, (hidden, Affine.exact(rng.normal(size=(3, 5)), rng.normal(size=3))))
    x = rng.normal(size=(300, 2)) * 3
    for target, model in itertools.product(range(3), (linear, network)):
        labels = model.info.labels_of(model.scores(x))
        if isinstance(model, LinearModel):
            margins = linear_margins(model, target).affine(x)
        else:
            layers = network_margins(model, target).layers
            margins = layers[1](np.maximum(layers[0](x), 0))
        assert ((margins > 0).all(axis=1) == (labels == target)).all()
