"""Several rivals of a linear model at once: against closed forms, finite sums, other integrators and Monte Carlo."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import special, stats
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from elbowroom import Explainer, Target
from elbowroom.certify.kept import kept_probability
from elbowroom.certify.kept_cells import Axis, Question, Rows, chance_of_all
from elbowroom.certify.slips import Slip
from elbowroom.models import Affine, LinearModel
from elbowroom.models.base import Decision
from elbowroom.result import KeptProbability
from tests.support.small_models import info
from tests.unit.certify.test_kept import values_of


def linear(rng: np.random.Generator, classes: int, n: int) -> LinearModel:
    return LinearModel(
        info(n, classes, Decision.ARGMAX), Affine.exact(rng.normal(size=(classes, n)), 0.3 * rng.normal(size=classes))
    )


def winner(model: LinearModel, center: np.ndarray) -> int:
    return int(np.argmax(model.scores(center[None])[0]))


def asked(model: LinearModel, slip: Slip, tolerance: float = 1e-3) -> KeptProbability:
    return kept_probability(model, Target(winner(model, slip.center)), slip, None, tolerance, math.inf)


def free(center: np.ndarray, sigma: np.ndarray) -> Slip:
    n = center.size
    return Slip(center, sigma, np.full(n, -np.inf), np.full(n, np.inf), np.zeros(n, dtype=np.bool_))


def test_three_classes_are_within_the_tolerance() -> None:
    """Three wedges that meet near the centre: the sum over rivals alone leaves 0.4 between the bounds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X @ np.array([[1, -0.5, -0.5], [0, 0.9, -0.9]])).argmax(axis=1)
    model = LogisticRegression().fit(X, y)
    point = np.array([0.02, 0.0])
    for tolerance in (1e-3, 1e-5):
        kept = Explainer(model).probability_kept(point, sigma=0.5, tolerance=tolerance, time_limit=math.inf)
        assert kept.upper - kept.lower <= tolerance and kept.reason == ""
        scores = model.coef_ @ point + model.intercept_
        best = int(np.argmax(scores))
        rows = np.delete(model.coef_[best] - model.coef_, best, axis=0)
        gaps = np.delete(scores[best] - scores, best)
        truth = stats.multivariate_normal(cov=0.25 * rows @ rows.T).cdf(gaps)
        assert kept.lower - 1e-7 <= truth <= kept.upper + 1e-7


@pytest.mark.parametrize("seed", range(12))
def test_normal_slips_agree_with_another_integrator(seed: int) -> None:
    """Any rank: fewer columns than rivals, as many, and more."""
    rng = np.random.default_rng(seed)
    classes, n = int(rng.integers(3, 6)), int(rng.integers(2, 7))
    model = linear(rng, classes, n)
    slip = free(0.3 * rng.normal(size=n), rng.choice([0.1, 0.5, 2.0], n))
    kept = asked(model, slip)
    target = winner(model, slip.center)
    rows = np.delete(model.affine.weight[target] - model.affine.weight, target, axis=0)
    scores = model.scores(slip.center[None])[0]
    spread = rows * slip.sigma
    gaps, cov = np.delete(scores[target] - scores, target), spread @ spread.T
    truth = stats.multivariate_normal.cdf(gaps, np.zeros(gaps.size), cov, allow_singular=True, maxpts=2_000_000)
    assert kept.upper - kept.lower <= 1e-3 and kept.reason == ""
    assert kept.lower - 1e-4 <= truth <= kept.upper + 1e-4


@pytest.mark.parametrize("seed", range(10))
def test_whole_columns_equal_a_finite_sum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = linear(rng, 4, 2)
    center = rng.integers(-2, 3, 2).astype(float)
    slip = Slip(
        center,
        rng.choice([0.4, 1.0, 2.0], 2),
        center - np.array([2.0, np.inf]),
        center + np.array([np.inf, 1.0]),
        np.full(2, True),
    )
    target, truth = winner(model, center), 0.0
    for (a, p), (b, q) in product(values_of(slip, 0, np.zeros(0)), values_of(slip, 1, np.zeros(0))):
        truth += p * q * (winner(model, np.array([a, b])) == target)
    kept = asked(model, slip, 1e-6)
    assert kept.lower - 1e-12 <= truth <= kept.upper + 1e-12
    assert kept.upper - kept.lower <= 1e-6


@pytest.mark.parametrize("seed", range(10))
def test_a_clipped_column_beside_a_whole_one(seed: int) -> None:
    """Given the whole column, the class is kept in an interval of the clipped one, whose chance is known."""
    rng = np.random.default_rng(seed)
    model = linear(rng, 4, 2)
    center = np.array([0.2 * rng.normal(), float(rng.integers(-1, 2))])
    low = center - np.array([0.3 * rng.random(), 3.0])
    high = center + np.array([0.5 * rng.random(), 2.0])
    slip = Slip(center, np.array([rng.choice([0.1, 0.4]), 1.0]), low, high, np.array([False, True]))
    target, truth = winner(model, center), 0.0
    weight, bias = model.affine.weight, model.affine.bias
    for value, share in values_of(slip, 1, np.zeros(0)):
        left, right = -math.inf, math.inf
        for rival in range(4):
            if rival != target:
                slope = weight[target, 0] - weight[rival, 0]
                edge = -((weight[target, 1] - weight[rival, 1]) * value + bias[target] - bias[rival]) / slope
                left, right = (max(left, edge), right) if slope > 0 else (left, min(right, edge))
        if left < right:
            below, above = slip.below(0, np.array([left, right])) if math.isfinite(left + right) else (
                0.0 if math.isinf(left) else slip.below(0, np.array([left]))[0],
                1.0 if math.isinf(right) else slip.below(0, np.array([right]))[0],
            )  # fmt: skip
            truth += share * float(above - below)
    kept = asked(model, slip, 1e-4)
    assert kept.lower - 1e-9 <= truth <= kept.upper + 1e-9
    assert kept.upper - kept.lower <= 1e-4


def test_one_column_has_a_closed_form() -> None:
    """The middle one of three classes is kept between two thresholds."""
    weight, bias = np.array([[-1.0], [0.0], [1.0]]), np.array([-0.5, 0.0, -0.25])
    model = LinearModel(info(1, 3, Decision.ARGMAX), Affine.exact(weight, bias))
    kept = asked(model, free(np.zeros(1), np.array([0.4])), 1e-9)
    truth = special.ndtr(0.25 / 0.4) - special.ndtr(-0.5 / 0.4)
    assert kept.lower <= truth <= kept.upper and kept.upper - kept.lower <= 1e-9


def test_rivals_that_hardly_ever_win_are_left_out() -> None:
    """Ten classes make nine dimensions; only the close rivals count."""
    X, y = load_digits(return_X_y=True)
    model = LogisticRegression(max_iter=200).fit(X / 16.0, y)
    explainer = Explainer(model)
    rng = np.random.default_rng(0)
    for row in (X / 16.0)[:6]:
        kept = explainer.probability_kept(row, 0.15, time_limit=math.inf)
        share = (model.predict(row + 0.15 * rng.normal(size=(20_000, 64))) == model.predict([row])[0]).mean()
        noise = 5.0 * math.sqrt(max(share * (1.0 - share), 1e-4) / 20_000)
        assert kept.lower - noise <= share <= kept.upper + noise
        assert kept.upper - kept.lower <= 1e-3 and kept.reason == ""


def test_what_is_not_reached_is_said() -> None:
    rng = np.random.default_rng(3)
    model = linear(rng, 12, 11)
    slip = free(np.zeros(11), np.full(11, 2.0))
    many = asked(model, slip)
    assert "dimensions" in many.reason and many.reason in str(many) and not many.exact
    late = kept_probability(linear(rng, 4, 3), Target(0), free(np.zeros(3), np.ones(3)), None, 1e-6, 0.0)
    assert late.reason == "time ran out" and late.upper - late.lower > 1e-6
    points = slip.center + slip.sigma * rng.normal(size=(20_000, 11))
    share = (np.argmax(model.scores(points), axis=1) == winner(model, slip.center)).mean()
    assert many.lower - 0.02 <= share <= many.upper + 0.02


@pytest.mark.parametrize("seed", range(8))
def test_every_cell_count_gives_true_bounds(seed: int) -> None:
    """Bounds at any tolerance contain those at every finer one: cells that are not yet halved are not wrong."""
    rng = np.random.default_rng(seed)
    axes = (Axis(-np.inf, np.inf), Axis(-0.5, 1.0))

    def rows(count: int) -> Rows:
        return Rows(rng.normal(size=(count, 2)), 0.5 * rng.normal(size=count), np.zeros(count))

    question = Question(axes, rows(2), rows(2), rows(int(rng.integers(0, 2))))
    found = [chance_of_all(question, tolerance, math.inf) for tolerance in (0.5, 0.1, 0.02, 0.004)]
    z = np.column_stack([rng.normal(size=100_000), np.clip(rng.normal(size=100_000), -0.5, 1.0)])
    sides = [
        special.ndtr((z @ part.slope.T + part.constant).min(axis=1)) for part in (question.upward, question.downward)
    ]
    inside = (z @ question.free.slope.T + question.free.constant > 0.0).all(axis=1)
    share = float((np.maximum(sides[0] + sides[1] - 1.0, 0.0) * inside).mean())
    for low, high, why in found:
        assert low - 0.008 <= share <= high + 0.008 and why == ""
        assert low <= found[-1][1] and found[-1][0] <= high
