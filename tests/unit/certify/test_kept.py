"""The chance that a slipped centre keeps its class: against all cells, closed forms and Monte Carlo."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import special
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Ball, Box, Diamond, Explainer, Feature, InputError, Space, Target, UnsupportedModel
from elbowroom.certify.kept import kept_probability
from elbowroom.certify.slips import Slip
from elbowroom.models import Affine, LinearModel, TreeEnsemble
from tests.support.oblique_models import random_oblique
from tests.support.small_models import info
from tests.support.small_questions import random_question


def phi(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def values_of(slip: Slip, f: int, cuts: np.ndarray) -> list[tuple[float, float]]:
    """Sample values of column f with their probabilities, straight from the definition."""
    c, sigma, low, high = slip.center[f], slip.sigma[f], slip.lower[f], slip.upper[f]
    if sigma == 0.0 or low == high:
        return [(c, 1.0)]
    if slip.whole[f]:
        reach = math.ceil(10 * sigma) + 2
        chances: dict[float, float] = {}
        for k in range(-reach, reach + 1):
            inner, outer = (abs(k), abs(k) + 1)
            share = phi(1 / sigma) - phi(-1 / sigma) if k == 0 else phi(outer / sigma) - phi(inner / sigma)
            value = min(max(c + k, low), high)
            chances[value] = chances.get(value, 0.0) + share
        return list(chances.items())
    edges = np.unique(cuts[(cuts >= low) & (cuts < high)])
    ends = [-math.inf, *edges.tolist(), math.inf]
    sampled = []
    for a, b in pairwise(ends):
        value = min(max(b if math.isfinite(b) else math.nextafter(a, math.inf) if math.isfinite(a) else c, low), high)
        sampled.append((value, phi((b - c) / sigma) - phi((a - c) / sigma)))
    return sampled


def truth_of(model: TreeEnsemble, target: int, slip: Slip) -> float:
    axes = [values_of(slip, f, model.cuts[f]) for f in range(slip.center.size)]
    points = np.array([[v for v, _ in cell] for cell in product(*axes)])
    mass = np.array([math.prod(p for _, p in cell) for cell in product(*axes)])
    return float(mass[model.info.labels_of(model.scores(points)) == target].sum())


@pytest.mark.parametrize("seed", range(30))
def test_small_trees_equal_the_sum_over_all_cells(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_question(rng)
    center = np.clip(problem.factual, problem.space.lower, problem.space.upper)
    for members in problem.space.members:
        center[members] = np.eye(members.size)[0]
    fixed = problem.immutable | (problem.space.group_of >= 0)
    sigma = np.where(fixed, 0.0, rng.choice([0.0, 0.1, 0.7, 3.0], center.size))
    slip = Slip(center, sigma, problem.space.lower, problem.space.upper, problem.space.whole_room)
    truth = truth_of(problem.model, problem.target_index, slip)
    found = kept_probability(problem.model, Target(problem.target.label), slip, None, 0.0, 20.0)
    assert found.lower <= truth + 1e-12 and truth <= found.upper + 1e-12
    if found.exact:
        assert found.upper - found.lower < 1e-9
    coarse = kept_probability(problem.model, Target(problem.target.label), slip, None, 0.3, 20.0)
    assert coarse.lower <= truth + 1e-12 and truth <= coarse.upper + 1e-12
    assert coarse.upper - coarse.lower <= 0.3 + 1e-9 or not found.exact


def test_a_cut_far_away_does_not_blur_the_near_ones() -> None:
    X = np.array([[0.0], [1.0], [1e15], [3e15]])
    tree = DecisionTreeClassifier(random_state=0).fit(X, [0, 1, 1, 0])
    kept = Explainer(tree).probability_kept([1.0], 0.25, tolerance=0.0)
    assert kept.exact and kept.upper - kept.lower < 1e-11
    assert kept.lower <= phi(2.0) + 1e-7 and kept.upper >= phi(2.0) - 1e-7


def test_ties_are_counted_as_the_model_counts_them() -> None:
    """Two equal votes: the first class wins the tie; half of the mass is a tie."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    forest = RandomForestClassifier(2, max_depth=1, random_state=3, bootstrap=False, max_features=1)
    forest.fit(X, [0, 1, 1, 1])
    explainer = Explainer(forest)
    for label in (0, 1):
        kept = explainer.probability_kept([0.5, 0.5], 0.3, target=label, tolerance=0.0)
        rng = np.random.default_rng(0)
        slipped = np.array([0.5, 0.5]) + 0.3 * rng.normal(size=(40_000, 2))
        share = (forest.predict(slipped) == label).mean()
        assert kept.exact and abs(float(kept) - share) < 5 * math.sqrt(0.25 / 40_000)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, y


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(20, max_depth=3, random_state=0),
        GradientBoostingClassifier(n_estimators=10, random_state=0),
        LogisticRegression(max_iter=500),
    ],
    ids=["tree", "forest", "boosting", "linear"],
)
def test_three_classes_against_monte_carlo(model, iris) -> None:
    X, y = iris
    model = model.fit(X, y)
    explainer = Explainer(model, Space.from_frame(_frame(X), bounds="none"))
    rng = np.random.default_rng(0)
    for i in (60, 70, 120):
        kept = explainer.probability_kept(X[i], 0.05, time_limit=5.0)
        slipped = X[i] + 0.05 * explainer.space.scale * rng.normal(size=(40_000, 4))
        share = (model.predict(slipped) == model.predict(X[i : i + 1])).mean()
        error = 5 * math.sqrt(max(share * (1 - share), 1e-4) / 40_000)
        assert kept.lower - error <= share <= kept.upper + error
        assert kept.upper - kept.lower <= 2e-3


def _frame(X: np.ndarray):
    import pandas as pd

    return pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])


# ---- linear models --------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def line():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 3))
    return LogisticRegression().fit(X, (X @ [1.0, -2.0, 0.5] > 0.3).astype(int)), X


def test_linear_closed_form(line) -> None:
    model, X = line
    explainer = Explainer(model)
    w, b = model.coef_[0], model.intercept_[0]
    for row in X[:10]:
        kept = explainer.probability_kept(row, {"x0": 0.5, "x1": 0.2}, target=1)
        truth = special.ndtr((w @ row + b) / math.hypot(0.5 * w[0], 0.2 * w[1]))
        assert kept.exact and kept.lower <= truth <= kept.upper and kept.upper - kept.lower < 1e-9


def test_linear_with_limits_and_whole_numbers(line) -> None:
    model, _ = line
    features = (Feature("x0", lower=-0.5, upper=0.7), Feature("x1"), Feature("x2", "integer", lower=-2, upper=3))
    explainer = Explainer(model, Space(features))
    center, sigma = np.array([0.4, -0.1, 1.0]), np.array([0.6, 0.3, 1.3])
    kept = explainer.probability_kept(center, sigma, target=1)
    slip = sigma * np.random.default_rng(1).normal(size=(200_000, 3))
    slip[:, 2] = np.trunc(slip[:, 2])
    slipped = np.clip(center + slip, explainer.space.lower, explainer.space.upper)
    share = (model.predict(slipped) == 1).mean()
    assert kept.lower - 0.006 <= share <= kept.upper + 0.006
    assert 0.0 < kept.upper - kept.lower <= 1e-3 and not kept.exact


def test_linear_grid_bounds_hold_against_exact_enumeration() -> None:
    """Whole columns only: finitely many values, so the truth is a finite sum."""
    rng = np.random.default_rng(2)
    X = rng.integers(-5, 6, (300, 2)).astype(float)
    model = LogisticRegression().fit(X, (X @ [1.0, -1.3] > 0.4).astype(int))
    space = Space((Feature("x0", "integer", -4, 6), Feature("x1", "integer", -7, 5)))
    explainer = Explainer(model, space)
    for center in ([0.0, 0.0], [2.0, 1.0], [-4.0, -3.0]):
        kept = explainer.probability_kept(center, {"x0": 1.5, "x1": 2.0}, target=1, tolerance=1e-4)
        slip = Slip(np.array(center), np.array([1.5, 2.0]), space.lower, space.upper, space.whole_room)
        truth = 0.0
        for (a, p), (b, q) in product(values_of(slip, 0, np.zeros(0)), values_of(slip, 1, np.zeros(0))):
            truth += p * q * float(model.predict([[a, b]])[0] == 1)
        assert kept.lower <= truth <= kept.upper


@pytest.mark.parametrize("seed", range(12))
def test_linear_bounds_hold_with_a_clipped_and_a_whole_column(seed: int) -> None:
    """Given the whole column, the clipped one passes a threshold with a probability in closed form."""
    rng = np.random.default_rng(seed)
    w, b = rng.normal(size=2), 0.3 * rng.normal()
    model = LinearModel(info(2), Affine.exact(w[None], np.array([b])))
    low, high = np.array([-rng.random(), -3.0]), np.array([rng.random(), 4.0])
    center = np.array([rng.uniform(low[0], high[0]), float(rng.integers(-3, 5))])
    slip = Slip(center, rng.choice([0.1, 0.5, 2.0], 2), low, high, np.array([False, True]))
    truth = 0.0
    for value, share in values_of(slip, 1, np.zeros(0)):
        edge = -(b + w[1] * value) / w[0]  # w0 x0 > -(b + w1 x1) iff x0 lies beyond the edge, on the side of w0's sign
        below = 1.0 if edge >= high[0] else 0.0 if edge < low[0] else phi((edge - center[0]) / slip.sigma[0])
        truth += share * (1.0 - below if w[0] > 0 else below)
    found = kept_probability(model, Target(1), slip, None, 1e-3, 20.0)
    assert found.lower <= truth <= found.upper and found.upper - found.lower <= 1e-3


# ---- regions and rooms ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("room", [Box, Ball, Diamond])
def test_a_room_made_for_a_probability_keeps_its_word(room, iris) -> None:
    X, y = iris
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    explainer = Explainer(tree, Space.from_frame(_frame(X)))
    wanted = room.for_probability(0.9, 0.01, space=explainer.space)
    region = explainer.explain(X[100], wanted, target=1, time_limit=20.0)
    assert region
    kept = explainer.probability_kept(region, 0.01, tolerance=0.0)
    assert kept.inside is not None and kept.inside >= 0.9 - 1e-9
    assert kept.exact and kept.lower >= kept.inside


def test_the_room_of_another_model_proves_nothing(iris) -> None:
    X, y = iris
    first = Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y))
    other = Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, (y + 1) % 3))
    region = first.explain(X[100], Box(0.05), target=1)
    kept = other.probability_kept(region, 0.001, tolerance=0.0)
    assert kept.inside is None and kept.upper < 0.01


def test_immutable_features_and_categories_do_not_slip() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(200), rng.random(200), rng.integers(0, 2, 200)])
    X = np.column_stack([X, 1 - X[:, 2]])
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, (X[:, 0] + 0.5 * X[:, 2] > 0.8).astype(int))
    space = Space.from_frame(_frame(X), immutable=["x0"], one_hot={"g": ["x2", "x3"]}, bounds="none")
    assert float(Explainer(tree, space).probability_kept(X[0], 5.0, tolerance=0.0)) > 1.0 - 1e-9
    free = Space.from_frame(_frame(X), one_hot={"g": ["x2", "x3"]}, bounds="none")
    assert Explainer(tree, free).probability_kept(X[0], 5.0, tolerance=0.0).upper < 0.9


def test_no_time_still_gives_true_bounds(iris) -> None:
    X, y = iris
    forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    explainer = Explainer(forest)
    quick = explainer.probability_kept(X[70], 0.3, time_limit=0.0, tolerance=0.0)
    share = (forest.predict(X[70] + 0.3 * np.random.default_rng(0).normal(size=(5000, 4))) == y[70]).mean()
    assert 0.0 <= quick.lower <= share + 0.03 and share - 0.03 <= quick.upper <= 1.0


def test_a_search_without_a_time_limit_ends_when_the_bounds_are_close(iris) -> None:
    X, y = iris
    explainer = Explainer(RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y))
    patient = explainer.probability_kept(X[70], 0.3, time_limit=math.inf)
    assert patient.upper - patient.lower <= 1e-3
    assert patient.lower == explainer.probability_kept(X[70], 0.3, time_limit=60.0).lower


def test_slips_below_the_last_digit_of_the_centre_are_not_called_exact() -> None:
    tree = Explainer(DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]))
    kept = tree.probability_kept([1.0], 5e-324)
    assert not kept.exact or kept.upper - kept.lower <= 1e-9
    assert "exact" not in str(kept) or kept.lower > 0.5


def test_words() -> None:
    """The cut lies at 0.5, and a little beyond, because the tree rounds to float32: Phi(2) to eight digits."""
    tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    kept = Explainer(tree).probability_kept([1.0], 0.25)
    assert str(kept).startswith("kept with probability 0.97724986")


def test_refusals(iris) -> None:
    X, y = iris
    tree = Explainer(DecisionTreeClassifier(max_depth=2).fit(X, y))
    oblique = Explainer(random_oblique(np.random.default_rng(0), 4, 2, 2))
    with pytest.raises(UnsupportedModel, match="certify a room"):
        oblique.probability_kept(X[0], 0.1, target=0)
    for sigma in (-1.0, math.nan, True, "much", {"nobody": 1.0}, [0.1]):
        with pytest.raises(InputError, match="sigma"):
            tree.probability_kept(X[0], sigma)
    for tolerance in (-0.1, 1.0, math.nan, "x", True):
        with pytest.raises(InputError, match="tolerance"):
            tree.probability_kept(X[0], 0.1, tolerance=tolerance)
    with pytest.raises(InputError, match="label"):
        tree.probability_kept(X[0], 0.1, target=Target(1, probability=0.6))
    bounded = Explainer(DecisionTreeClassifier(max_depth=2).fit(X, y), Space.from_frame(_frame(X)))
    with pytest.raises(InputError, match="outside"):
        bounded.probability_kept([100.0, 3.0, 3.0, 1.0], 0.1)
