"""Labels that compare a mean with a threshold: margins agree with the computed mean, sum by sum, ties included."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from elbowroom.models import Affine, Decision, LinearModel, Link, ModelInfo, TreeEnsemble
from elbowroom.models.margins import linear_margins, tree_margins
from elbowroom.models.union import as_oblique, join_oblique, join_trees


def stumps(leaves: list[list[float]], threshold: float, divisor: float, decision: Decision) -> TreeEnsemble:
    """Tree k asks column k whether it is positive."""
    n = len(leaves)
    info = ModelInfo(
        tuple(f"x{k}" for k in range(n)), ("no", "yes"), decision, Link.NONE, "stumps", threshold=threshold
    )
    start = 3 * np.arange(n)
    feature, left, right = np.full((3, 3 * n), -1)
    feature[start], left[start], right[start] = np.arange(n), start + 1, start + 2
    value = np.array([[0.0, *pair] for pair in leaves]).reshape(-1, 1)
    return TreeEnsemble(info, start, feature, np.zeros(3 * n), left, right, value, np.zeros(1), divisor)


def corners(n: int) -> np.ndarray:
    return np.array(list(itertools.product([-1.0, 1.0], repeat=n)))


def judged(model: TreeEnsemble, target: int, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows that are proven good, and rows that are not proven bad."""
    terms = model.value[model.apply(X)]
    margins = tree_margins(model, target, of=terms.reshape(-1, 1))
    assert margins.hopeful is not None
    return tuple(  # type: ignore[return-value]
        m.base[0] + m.value.reshape(terms.shape[:2]).sum(axis=1) >= m.slack[0] for m in (margins, margins.hopeful)
    )


@pytest.mark.parametrize("decision", [Decision.NONNEGATIVE, Decision.POSITIVE])
@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize("threshold", [0.7, 0.3, 0.5, 1.0, 1e-9, -0.2, 0.1])
def test_votes_are_decided_exactly(threshold: float, target: int, decision: Decision) -> None:
    """Seven votes of ten reach 0.7, whatever 0.7 * 10 is in floating point."""
    model = stumps([[0.0, 1.0]] * 10, threshold, 10.0, decision)
    X = corners(10)
    labels = model.info.labels_of(model.scores(X))
    sure, hoped = judged(model, target, X)
    assert np.array_equal(sure, labels == target) and np.array_equal(hoped, sure)
    if threshold in (0.7, 0.3, 0.5):
        assert (model.scores(X)[:, 0] == threshold).any()


@pytest.mark.parametrize("decision", [Decision.NONNEGATIVE, Decision.POSITIVE])
@pytest.mark.parametrize("target", [0, 1])
def test_no_order_of_summation_contradicts_the_margins(target: int, decision: Decision) -> None:
    """Random fractions: what is proven is so in every order; what is open is only about ties."""
    rng = np.random.default_rng(target)
    open_rows = decided = 0
    for _ in range(60):
        n = int(rng.integers(1, 6))
        grid = rng.choice([3, 7, 8, 10])
        leaves = (rng.integers(0, grid + 1, (n, 2)) / grid).tolist()
        X = corners(n)
        terms = np.array(leaves)[np.arange(n), (X > 0).astype(int)]
        threshold = float(rng.choice(terms.sum(axis=1))) / n or 0.5
        model = stumps(leaves, threshold, float(n), decision)
        sure, hoped = judged(model, target, X)
        for order in itertools.permutations(range(n)):
            total = np.zeros(len(X))
            for k in order:
                total = total + terms[:, k]
            mean = total / n if n > 1 else total
            said = (mean >= threshold if decision is Decision.NONNEGATIVE else mean > threshold) == bool(target)
            assert (said[sure]).all() and not said[~hoped].any()
        assert (hoped | ~sure).all()
        open_rows += int((hoped & ~sure).sum())
        decided += int((mean == threshold)[sure | ~hoped].sum())
    assert open_rows > 0 and decided > 0  # both kinds of ties were met


def test_a_linear_score_is_compared_with_its_threshold() -> None:
    info = ModelInfo(("x",), (0, 1), Decision.NONNEGATIVE, Link.LOGISTIC, "line", threshold=2.0)
    model = LinearModel(info, Affine.exact(np.array([[1.0]]), np.array([0.0])))
    for target, x, good in (
        (1, 2.1, True),
        (1, 1.9, False),
        (0, 1.9, True),
        (0, 2.1, False),
        (0, 2.0, False),
        (1, 2.0, False),
    ):
        margins = linear_margins(model, target)
        point = np.array([x])
        assert bool(margins.affine(point)[0] >= margins.affine.error(np.abs(point))[0] + margins.slack[0]) == good
    assert model.fingerprint != replace(model, info=replace(info, threshold=1.0)).fingerprint


def test_joined_trees_add_up_and_keep_their_splits() -> None:
    rng = np.random.default_rng(0)
    first, second = (stumps(rng.normal(size=(4, 2)).tolist(), 0.0, 1.0, Decision.POSITIVE) for _ in range(2))
    moved = replace(second, cut=second.cut + 0.25)
    both = join_trees(first.info, [first, moved], [first.value, 2.0 * moved.value], np.array([0.5]), 3.0)
    X = rng.normal(size=(500, 4))
    assert both.scores(X)[:, 0] == pytest.approx((0.5 + first.scores(X)[:, 0] + 2 * moved.scores(X)[:, 0]) / 3)
    assert both.n_trees == 8 and both.may_miss is None
    with pytest.raises(ValueError, match="float32"):
        join_trees(first.info, [first, replace(first, single=True)], [first.value] * 2, np.zeros(1))


def test_missing_numbers_are_routed_only_where_all_parts_do() -> None:
    plain = stumps([[0.0, 1.0]] * 2, 0.0, 1.0, Decision.POSITIVE)
    some = replace(plain, missing_left=plain.feature >= 0, may_miss=np.array([True, False]))
    both = join_trees(plain.info, [some, some], [some.value, some.value], np.zeros(1))
    assert both.may_miss is not None and both.may_miss.tolist() == [True, False]
    assert both.scores(np.array([[np.nan, 1.0]]))[0, 0] == 2.0
    assert join_trees(plain.info, [some, plain], [some.value, plain.value], np.zeros(1)).may_miss is None


def test_trees_as_hyperplanes_say_the_same() -> None:
    model = stumps([[-1.0, 1.0], [0.5, -0.25], [3.0, 2.0]], 0.0, 1.0, Decision.POSITIVE)
    model = replace(model, cut=np.where(model.feature == 1, np.inf, np.where(model.feature == 2, -np.inf, 0.3)))
    planes = as_oblique(model)
    X = np.vstack([corners(3), np.full((1, 3), 0.3), np.random.default_rng(1).normal(size=(200, 3))])
    assert np.array_equal(planes.scores(X), model.scores(X))
    twice = join_oblique(model.info, [planes, planes], [planes.value, planes.value], np.zeros(1))
    assert twice.scores(X) == pytest.approx(2 * model.scores(X))
