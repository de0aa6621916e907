"""The linear judge: exact at the boundary, sound everywhere, honest counterexamples."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from elbowroom.certify.linear import judge_linear
from elbowroom.models import Link
from elbowroom.models.margins import linear_margins
from elbowroom.numerics import next_down, next_up
from elbowroom.problem import Body, Shape, Target, Walls
from elbowroom.result import Certificate, Counterexample, Undecided
from tests.support.hostile import attack
from tests.support.linear_problems import linear_model

LATER = math.inf


def body_around(center, shape, radius, low=-np.inf, high=np.inf, whole=None, free=()):
    center = np.asarray(center, dtype=float)
    n = center.size
    width = np.broadcast_to(np.asarray(radius, dtype=float), n).copy()
    walls = Walls(shape, width, width, tuple(range(len(free))))
    limits = [np.broadcast_to(np.asarray(b, dtype=float), n).copy() for b in (low, high)]
    return Body.around(center, walls, *limits, np.zeros(n, bool) if whole is None else np.asarray(whole), tuple(free))


def exact_spare(model, target, body, points):
    """min over points and rows of margin - needed, in rational arithmetic.

    The rounding of the model is counted at the point itself in boxes, at the largest |x| of the body in round shapes.
    """
    margins = linear_margins(model, target.index(model.info), target.probability)
    largest = np.maximum(np.abs(body.lower), np.abs(body.upper))
    worst = None
    for x in points:
        needed = margins.affine.error(np.abs(x) if body.shape is Shape.BOX else largest) + margins.slack
        for w, b, need in zip(margins.affine.weight, margins.affine.bias, needed, strict=True):
            value = sum(
                (Fraction(float(a)) * Fraction(float(c)) for a, c in zip(w, x, strict=True)), Fraction(float(b))
            )
            value -= Fraction(float(need))
            worst = value if worst is None else min(worst, value)
    return worst


def corners(body):
    return list(product(*({lo, hi} for lo, hi in zip(body.lower, body.upper, strict=True))))


def predict(model):
    return lambda X: np.array(model.info.classes)[model.info.labels_of(model.scores(X))]


@pytest.mark.parametrize("seed", range(30))
def test_boxes_agree_with_rational_corners(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 5)), int(rng.choice([1, 3]))
    model = linear_model(rng.normal(size=(k, n)), rng.normal(size=k))
    body = body_around(
        rng.normal(size=n), Shape.BOX, rng.exponential(0.4, n), rng.choice([-np.inf, -2.5]), 2.5 + rng.random()
    )
    for label in model.info.classes:
        verdict = judge_linear(model, Target(label), body, LATER)
        spare = exact_spare(model, Target(label), body, corners(body))
        assert bool(verdict) == (spare >= 0)
        if verdict:
            assert Fraction(verdict.margin) <= spare
            attack(predict(model), body, label)
        else:
            assert isinstance(verdict, Counterexample)
            assert body.contains(verdict.point)[0]
            assert verdict.margin < 0
            if verdict.margin < -1e-9:
                assert verdict.label != label


@pytest.mark.parametrize("seed", range(20))
def test_one_ulp_decides_for_boxes(seed):
    """The last accepted centre and its float neighbour: the judge draws the line exactly where rationals do."""
    rng = np.random.default_rng(100 + seed)
    model = linear_model([[float(rng.uniform(0.5, 2)), -float(rng.uniform(0.5, 2))]], [float(rng.normal())])
    y, r = float(rng.normal()), float(rng.uniform(0.01, 1))
    bad, good = -50.0, 50.0

    def accepted(x):
        return bool(judge_linear(model, Target(1), body_around([x, y], Shape.BOX, r), LATER))

    assert accepted(good) and not accepted(bad)
    while float(next_up(bad)) < good:
        middle = 0.5 * (bad + good)
        if not bad < middle < good:
            break
        bad, good = (bad, middle) if accepted(middle) else (middle, good)
    for x, wanted in ((good, True), (bad, False)):
        body = body_around([x, y], Shape.BOX, r)
        assert (exact_spare(model, Target(1), body, corners(body)) >= 0) is wanted
    # the same body with its low end one float lower at the boundary centre is refused
    body = body_around([good, y], Shape.BOX, r)
    spare = exact_spare(model, Target(1), body, corners(body))
    lower = body.lower.copy()
    while (
        exact_spare(
            model,
            Target(1),
            Body(body.center, lower, body.upper, body.shape, body.axes, body.whole),
            corners(Body(body.center, lower, body.upper, body.shape, body.axes, body.whole)),
        )
        >= 0
    ):
        lower[0] = next_down(lower[0])
    planted = Body(body.center, lower, body.upper, body.shape, body.axes, body.whole)
    assert spare >= 0
    assert isinstance(judge_linear(model, Target(1), planted, LATER), Counterexample)


def largest_loss(a, r, cap, ball):
    """Reference by bisection on the multiplier (ball) or sorting (diamond)."""
    if not ball:
        left, total = 1.0, 0.0
        for f in np.argsort(-a * r):
            t = min(cap[f], left * r[f])
            total, left = total + a[f] * t, left - t / r[f]
        return total
    if np.square(cap / r).sum() <= 1:
        return float(a @ cap)
    low, high = 0.0, 1e9
    for _ in range(200):
        theta = 0.5 * (low + high)
        low, high = (theta, high) if np.square(np.minimum(theta * a * r, cap / r)).sum() <= 1 else (low, theta)
    return float(a @ (np.minimum(low * a * r, cap / r) * r))


@pytest.mark.parametrize("shape", [Shape.BALL, Shape.DIAMOND])
@pytest.mark.parametrize("seed", range(25))
def test_round_rooms_are_decided_to_rounding(shape, seed):
    """Around the exact worst value: a bias 1e-12 above is certified, 1e-12 below is refuted with a real point."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    w, center, r = rng.normal(size=n), rng.normal(size=n), rng.exponential(0.5, n) + 0.01
    low, high = center - rng.exponential(0.4, n), center + rng.exponential(0.4, n)
    cap = np.minimum(np.where(w > 0, center - low, high - center), r)
    loss = largest_loss(np.abs(w), r, cap, shape is Shape.BALL)
    for sign, wanted in ((1, True), (-1, False)):
        model = linear_model([w], [loss - w @ center + sign * 1e-12])
        body = body_around(center, shape, r, low, high)
        verdict = judge_linear(model, Target(1), body, LATER)
        assert bool(verdict) is wanted
        if wanted:
            assert 0 <= verdict.margin <= 1.1e-12
            attack(predict(model), body, 1)
        else:
            assert isinstance(verdict, Counterexample)
            assert body.contains(verdict.point)[0]
            assert float(w @ verdict.point + model.affine.bias[0]) < 1e-14


@pytest.mark.parametrize("shape", [Shape.BALL, Shape.DIAMOND])
@pytest.mark.parametrize("seed", range(25))
def test_whole_shifts_are_enumerated(shape, seed):
    """Only whole columns: the verdict equals that of every whole point of the body."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    center, radius = rng.integers(-3, 4, n).astype(float), rng.choice([1.0, 2.0, 2.5, 5.0, 3.3], n)
    low, high = center - rng.integers(0, 4, n), center + rng.integers(0, 4, n)
    body = body_around(center, shape, radius, low, high, np.ones(n, bool))
    points = np.array(list(product(*(np.arange(lo, hi + 1) for lo, hi in zip(body.lower, body.upper, strict=True)))))
    points = points[body.contains(points)]
    w = rng.normal(size=n)
    for shift in (-0.3, -1e-9, 1e-9, 0.3):
        model = linear_model([w], [shift - float((points @ w).min())])
        verdict = judge_linear(model, Target(1), body, LATER)
        assert bool(verdict) == (exact_spare(model, Target(1), body, points) >= 0)
        if verdict:
            attack(predict(model), body, 1)
        else:
            assert isinstance(verdict, Counterexample) and body.contains(verdict.point)[0]


@pytest.mark.parametrize("shape", list(Shape))
def test_mixed_columns_and_free_groups(shape):
    """Columns: real, whole, and a free group of three: the worst category and the worst shift together."""
    rng = np.random.default_rng(7)
    whole = np.array([False, True, True, True, True])
    for _ in range(40):
        w = rng.normal(size=5)
        center = np.array([rng.normal(), 2.0, 0.0, 1.0, 0.0])
        low, high = np.array([-9.0, 0, 0, 0, 0]), np.array([9.0, 4, 1, 1, 1])
        body = body_around(center, shape, np.array([0.7, 1.5, 0, 0, 0]), low, high, whole, (np.array([2, 3, 4]),))
        worst = math.inf
        for step in (-1, 0, 1):
            left = {Shape.BOX: 1.0, Shape.BALL: math.sqrt(1 - (step / 1.5) ** 2), Shape.DIAMOND: 1 - abs(step) / 1.5}[
                shape
            ]
            worst = min(worst, w[0] * center[0] + w[1] * (2 + step) - abs(w[0]) * 0.7 * left + w[2:].min())
        for extra, wanted in ((1e-11, True), (-1e-11, False)):
            model = linear_model([w], [extra - worst])
            verdict = judge_linear(model, Target(1), body, LATER)
            assert bool(verdict) is wanted
            if wanted:
                attack(predict(model), body, 1)
            else:
                assert isinstance(verdict, Counterexample) and body.contains(verdict.point)[0]


def test_limits_that_forbid_a_category_are_respected():
    model = linear_model([[0.0, 0.0, -5.0]], [1.0])
    whole, group = np.ones(3, bool), (np.array([0, 1, 2]),)
    open_body = body_around([1, 0, 0], Shape.BOX, 0, 0, 1, whole, group)
    closed = body_around([1, 0, 0], Shape.BOX, 0, 0, np.array([1.0, 1, 0]), whole, group)
    assert isinstance(judge_linear(model, Target(1), open_body, LATER), Counterexample)
    assert isinstance(judge_linear(model, Target(1), closed, LATER), Certificate)


def test_a_tie_is_never_certified():
    model = linear_model([[1.0]], [-3.0])
    assert not judge_linear(model, Target(1), body_around([3.0], Shape.BOX, 0), LATER)
    assert not judge_linear(model, Target(0), body_around([3.0], Shape.BOX, 0), LATER)


def test_summation_order_is_covered():
    """Huge terms that cancel: the label depends on the order of addition, so nothing may be certified."""
    model = linear_model([[1e16, 1.0, -1e16]], [0.0])
    body = body_around([1.0, 0.5, 1.0], Shape.BOX, 0)
    assert isinstance(judge_linear(model, Target(1), body, LATER), Counterexample)


def test_probability_target():
    model = linear_model([[1.0]], [0.0], link=Link.LOGISTIC)
    edge = math.log(0.7 / 0.3)
    target = Target(1, probability=0.7)
    assert judge_linear(model, target, body_around([edge + 0.1 + 1e-9], Shape.BOX, 0.1), LATER)
    assert not judge_linear(model, target, body_around([edge + 0.1 - 1e-9], Shape.BOX, 0.1), LATER)


def test_time_and_overflow_give_no_verdict():
    rng = np.random.default_rng(0)
    w = rng.normal(size=8)
    body = body_around(np.zeros(8), Shape.BALL, 3.7, -9, 9, np.ones(8, bool))
    points = body.sample(3000)
    model = linear_model([w], [-float((points @ w).min()) + 0.05])
    assert isinstance(judge_linear(model, Target(1), body, time.perf_counter() - 1), Undecided)
    huge = linear_model([[1e300, 1e300]], [0.0])
    assert isinstance(judge_linear(huge, Target(1), body_around([1e300, 1e300], Shape.BOX, 0), LATER), Undecided)


def test_rounding_in_boxes_is_counted_at_the_worst_corner() -> None:
    """A side that cannot hurt may be as long as it likes; and every corner still covers its own rounding."""
    certified = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 5))
        weight = rng.normal(size=(1, n)) * 10.0 ** rng.integers(-3, 4, n)
        model = linear_model(weight, rng.normal(size=1))
        center, width = rng.normal(size=n), rng.uniform(0.0, 0.5, n)
        lower, upper = center - width, center + width
        far = 10.0 ** rng.uniform(0, 14, n)
        lower, upper = np.where(weight[0] > 0, lower, center - far), np.where(weight[0] > 0, center + far, upper)
        body = Body(center, lower, upper, Shape.BOX, width, np.zeros(n, bool))
        near = Body(center, center - width, center + width, Shape.BOX, width, np.zeros(n, bool))
        verdict = judge_linear(model, Target(1), body, LATER)
        assert bool(verdict) or not judge_linear(model, Target(1), near, LATER)
        certified += bool(verdict)
        if verdict:
            margins = linear_margins(model, 1)
            for corner in product(*zip(lower, upper, strict=True)):
                exact = sum(
                    (Fraction(float(w)) * Fraction(float(x)) for w, x in zip(weight[0], corner, strict=True)),
                    Fraction(float(model.affine.bias[0])),
                )
                error = sum(
                    Fraction(float(e)) * abs(Fraction(float(x)))
                    for e, x in zip(margins.affine.error_slope[0], corner, strict=True)
                )
                assert exact >= error + Fraction(float(margins.affine.error_constant[0]))
    assert 15 < certified < 55
