"""Multipliers for balls: known optima of one neuron, never worse than where the climb began."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.certify.dual_ascent import climb
from elbowroom.certify.inputs import InputSet
from elbowroom.certify.intervals import LinearBound, lower_bound, propagate
from elbowroom.models import Affine
from elbowroom.problem import Shape
from tests.support.small_models import body_of, random_network


def climbed(first: Affine, last: Affine, inputs: InputSet) -> tuple[float, float]:
    """The bound by CROWN's multipliers and by those that the climb ends at."""
    at = propagate((first,), inputs, [np.zeros(first.bias.size)])
    assert at is not None
    start = lower_bound(last.weight, last.bias, (first,), at, inputs)
    found = climb(start.multipliers[0], start.slopes[0], first, at[0], inputs)
    end = lower_bound(last.weight, last.bias, (first,), at, inputs, [found])
    return float(start.value[0]), float(end.value[0])


@pytest.mark.parametrize("slope", [2.0, -2.0])
@pytest.mark.parametrize("bias", [-3.0, -0.4, 0.0, 0.4, 3.0])
def test_one_neuron_is_bounded_by_its_true_minimum(slope: float, bias: float) -> None:
    """slope relu(w.x + b) over a ball: z runs through b -+ |w axes|, and the least value is at one of its ends."""
    w, axes = np.array([[0.6, -0.8]]), np.array([0.5, 2.0])
    inputs = InputSet.all_of(body_of(np.zeros(2), Shape.BALL, axes))
    reach = float(np.linalg.norm(w[0] * axes))
    first, last = Affine.exact(w, np.array([bias])), Affine.exact(np.array([[slope]]), np.zeros(1))
    truth = slope * max(bias - reach if slope > 0 else bias + reach, 0.0)
    assert climbed(first, last, inputs)[1] == pytest.approx(truth, abs=1e-9)


def test_two_neurons_that_share_the_ball_are_bounded_together() -> None:
    """-relu(x) - relu(y) on the unit disc shifted to where both are positive: -(x + y), least at the corner of sqrt 2."""
    first = Affine.exact(np.eye(2), np.full(2, 5.0))
    last = Affine.exact(-np.ones((1, 2)), np.zeros(1))
    inputs = InputSet.all_of(body_of(np.zeros(2), Shape.BALL, 1.0))
    assert climbed(first, last, inputs)[1] == pytest.approx(-10.0 - np.sqrt(2.0), abs=1e-9)


def test_a_limit_that_clips_the_ball_counts() -> None:
    """relu(x + y) on the unit disc with x >= 0 clipped off below: its values there begin at y = -1, where relu is 0; of
    relu(x + y + 2) the least value is 2 - 1 instead of 2 - sqrt 2."""
    first, last = Affine.exact(np.ones((1, 2)), np.array([2.0])), Affine.exact(np.ones((1, 1)), np.zeros(1))
    whole = InputSet.all_of(body_of(np.zeros(2), Shape.BALL, 1.0))
    half = InputSet.all_of(body_of(np.zeros(2), Shape.BALL, 1.0, low=np.array([0.0, -9.0])))
    assert climbed(first, last, whole)[1] == pytest.approx(2.0 - np.sqrt(2.0), abs=1e-9)
    assert climbed(first, last, half)[1] == pytest.approx(1.0, abs=1e-6)


def test_the_climb_is_sound_and_often_better() -> None:
    better = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        first, last = random_network(rng, (4, 6)).layers
        body = body_of(rng.normal(size=4), Shape.BALL, rng.uniform(0.3, 1.0, 4))
        start, end = climbed(first, last, InputSet.all_of(body))
        lowest = float((np.maximum(first(body.sample(500)), 0.0) @ last.weight[0] + last.bias[0]).min())
        assert start - 1e-9 <= end <= lowest
        better += end > start + 1e-3
    assert better >= 8


@pytest.mark.parametrize("seed", range(12))
def test_climbing_in_a_clipped_ball_ends_at_the_top(seed: int) -> None:
    """The bound is concave in the multipliers of one hidden layer: none nearby, at any scale, may be better. Also in
    parts of the ball that lie off its centre."""
    rng = np.random.default_rng(seed)
    n = 5
    first, last = random_network(rng, (n, 6)).layers
    center = rng.normal(size=n)
    inputs = InputSet.all_of(body_of(center, Shape.BALL, rng.uniform(0.1, 1.0, n), low=center - 0.3))
    if seed % 2:
        inputs = inputs.halves(0, float(inputs.body.center[0] + 0.3 * inputs.body.axes[0]))[1]
    intervals = propagate((first,), inputs, [np.zeros(6)])
    assert intervals is not None

    def bound(multipliers: np.ndarray | None) -> LinearBound:
        given = None if multipliers is None else [multipliers]
        return lower_bound(last.weight, last.bias, (first,), intervals, inputs, given)

    start = bound(None)
    climbed = climb(start.multipliers[0], start.slopes[0], first, intervals[0], inputs)
    top = float(bound(climbed).value[0])
    assert top >= float(start.value[0]) - 1e-9
    size = float(np.abs(climbed).max()) + 1.0
    for scale in (1e-4, 1e-2, 1e-1, 1.0):
        for _ in range(60):
            other = climbed + scale * size * rng.normal(size=climbed.shape) * (rng.random(climbed.shape) < 0.5)
            assert float(bound(other).value[0]) <= top + 1e-5 * size
