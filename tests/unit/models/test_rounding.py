"""Which sums are decided exactly: against rational sums and against every order of float additions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from elbowroom.models import Decision, Link, ModelInfo, TreeEnsemble
from elbowroom.models.margins import tree_margins

LEAVES = ([1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.25, 0.75], [1 / 3, 2 / 3], [2 / 3, 1 / 3], [0.3, 0.7], [0.7, 0.3])


def stumps(values: list[list[list[float]]], decision: Decision = Decision.ARGMAX, divisor: float = 1.0) -> TreeEnsemble:
    """One stump per pair of leaf values, each on a column of its own: every choice of leaves meets somewhere."""
    feature, cut, left, right, value, roots = [], [], [], [], [], []
    width = len(values[0][0])
    for k, (low, high) in enumerate(values):
        at = len(feature)
        roots.append(at)
        feature += [k, -1, -1]
        cut += [0.0, 0.0, 0.0]
        left += [at + 1, -1, -1]
        right += [at + 2, -1, -1]
        value += [[0.0] * width, low, high]
    names = tuple(f"x{k}" for k in range(len(values)))
    classes = (0, 1) if width == 1 else tuple(range(width))
    link = Link.IDENTITY if decision is Decision.ARGMAX else Link.LOGISTIC
    return TreeEnsemble(
        ModelInfo(names, classes, decision, link, "stumps"), np.array(roots), np.array(feature), np.array(cut),
        np.array(left), np.array(right), np.array(value), np.zeros(width), divisor,
    )  # fmt: skip


def labels_in_every_order(model: TreeEnsemble, leaves: np.ndarray, rng: np.random.Generator) -> set[int]:
    """What the model says when the same leaves are added in many orders."""
    parts = model.leaves.value[leaves]
    orders = [np.arange(len(parts)), np.arange(len(parts))[::-1], *(rng.permutation(len(parts)) for _ in range(30))]
    found = set()
    for order in orders:
        total = model.base.copy()
        for row in parts[order]:
            total = total + row
        found.add(int(model.info.labels_of((total / model.divisor)[None])[0]))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_what_is_proven_holds_in_every_order_and_exact_ties_are_decided(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_trees, width = int(rng.integers(1, 6)), int(rng.integers(2, 4))
    pool = [v + [0.0] * (width - 2) for v in LEAVES] + [list(rng.dirichlet([1.0] * width))]
    values = [[list(rng.permutation(pool[i])) for i in rng.integers(0, len(pool), 2)] for _ in range(n_trees)]
    model = stumps(values, divisor=float(n_trees))
    dyadic = np.array([all(Fraction(float(v)).denominator <= 64 for v in row) for row in model.leaves.value])
    for target in range(width):
        margins = tree_margins(model, target)
        assert margins.hopeful is not None
        for choice in product((0, 1), repeat=n_trees):
            reached = 2 * np.arange(n_trees) + choice
            said = labels_in_every_order(model, reached, rng)
            good, may = margins.holds(reached), margins.hopeful.holds(reached)
            assert not good or said == {target}
            assert may or target not in said
            assert margins.near_tie(reached) == (may and not good)
            if dyadic[reached].all():  # nothing to round: decided, whatever other leaves the trees have
                assert good == may == (said == {target})
            exact = [sum(Fraction(float(v)) for v in model.leaves.value[reached, k]) for k in range(width)]
            lead = min(exact[target] - exact[k] for k in range(width) if k != target)
            if abs(lead) > 1e-9:
                assert good == may == (lead > 0)


@pytest.mark.parametrize("seed", range(20))
def test_a_probability_is_reached_by_exact_sums_exactly(seed: int) -> None:
    """3 of 4 votes are 0.75 although another leaf of the forest holds thirds."""
    rng = np.random.default_rng(seed)
    n_trees = int(rng.integers(2, 6))
    values = [[list(LEAVES[i]) for i in rng.integers(0, 6, 2)] for _ in range(n_trees)]
    model = stumps(values, divisor=float(n_trees))
    dyadic = np.array([all(Fraction(float(v)).denominator <= 64 for v in row) for row in model.leaves.value])
    for probability in (0.5, 0.75, 0.7, 1 / 3, 2 / n_trees if n_trees > 2 else 0.5):
        margins = tree_margins(model, 1, probability)
        assert margins.hopeful is not None
        for choice in product((0, 1), repeat=n_trees):
            reached = 2 * np.arange(n_trees) + choice
            mean = float(model.leaves.value[reached, 1].sum()) / n_trees
            if dyadic[reached].all():
                assert margins.holds(reached) == margins.hopeful.holds(reached) == (mean >= probability)
            assert not margins.holds(reached) or mean >= probability
            assert margins.hopeful.holds(reached) or mean < probability


def test_zeros_are_no_roundings() -> None:
    """One tree per class, as in one stage of boosting without a prior: stored numbers are compared."""
    third = 1 / 3
    values = [[[-1.0, 0.0, 0.0], [0.1, 0.0, 0.0]], [[0.0, third, 0.0]] * 2, [[0.0, 0.0, third], [0.0, 0.0, 0.3]]]
    model = stumps(values)
    for target, reached, good in (
        (1, [0, 2, 4], True),
        (2, [0, 2, 4], False),
        (1, [0, 2, 5], True),
        (0, [1, 2, 5], False),
    ):
        margins = tree_margins(model, target)
        assert not margins.open_ties
        assert margins.holds(np.array(reached)) is good


@pytest.mark.parametrize(("decision", "winner"), [(Decision.POSITIVE, 0), (Decision.NONNEGATIVE, 1)])
def test_two_numbers_that_cancel_are_a_tie(decision: Decision, winner: int) -> None:
    model = stumps([[[0.1], [0.3]], [[-0.1], [0.7]]], decision)
    for target in (0, 1):
        margins = tree_margins(model, target)
        assert not margins.open_ties
        assert margins.holds(np.array([0, 2])) is (target == winner)
        assert margins.holds(np.array([1, 2])) is (target == 1)


def test_what_follows_the_sum_leaves_exact_ties_alone_only_where_the_model_says_so() -> None:
    """A score of exactly 0 is a probability of one half; any other score within the error is open."""
    model = stumps([[[0.0], [0.3]], [[0.0], [-0.3 + 1e-16]]], Decision.POSITIVE)
    error = replace(model, info=replace(model.info, evaluation_error=1e-9))
    lasting = replace(model, info=replace(model.info, evaluation_error=1e-9, ties_last=True))
    assert tree_margins(error, 0).near_tie(np.array([0, 2]))
    assert tree_margins(lasting, 0).holds(np.array([0, 2]))
    assert not tree_margins(lasting, 1).near_tie(np.array([0, 2]))
    assert tree_margins(lasting, 0).near_tie(np.array([1, 3]))
    assert tree_margins(lasting, 1).near_tie(np.array([1, 3]))
    assert not tree_margins(lasting, 0, probability=0.6).holds(np.array([0, 2]))


def test_fused_products_are_stored_numbers_only_where_nothing_is_added() -> None:
    one = stumps([[[0.1, 0.0], [0.3, 0.0]], [[0.0, 0.1], [0.0, 0.7]]])
    two = stumps([[[0.1], [0.3]], [[-0.1], [0.7]]], Decision.NONNEGATIVE)
    for model, reached, open_tie in ((one, [0, 2], False), (two, [0, 2], True)):
        fused = replace(model, info=replace(model.info, fused_products=True))
        assert not tree_margins(model, 1).open_ties
        assert tree_margins(fused, 1).near_tie(np.array(reached)) is open_tie


def test_a_probability_behind_a_link_is_never_exact() -> None:
    """One stump compares stored numbers, but a probability is computed from them."""
    model = stumps([[[0.0], [np.log(0.7) - np.log1p(-0.7)]]], Decision.NONNEGATIVE)
    assert tree_margins(model, 1, probability=0.7).near_tie(np.array([1]))
