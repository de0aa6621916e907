"""Bounds of networks are sound in exact arithmetic, whatever the multipliers, and tight where they should be."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from elbowroom.certify import certify
from elbowroom.certify.inputs import InputSet
from elbowroom.certify.intervals import evaluation_error, lower_bound, propagate
from elbowroom.models import Affine, ReluNetwork
from elbowroom.problem import Shape, Target
from elbowroom.result import Certificate, Counterexample, Undecided
from tests.support.small_models import body_of, info, random_network


def _exact(layers: tuple[Affine, ...], x: np.ndarray) -> list[list[Fraction]]:
    """All pre-activations of the real network at a float point."""
    values, found = [Fraction(float(v)) for v in x], []
    for layer in layers:
        values = [
            sum((Fraction(float(w)) * v for w, v in zip(row, values, strict=True)), Fraction(float(b)))
            for row, b in zip(layer.weight, layer.bias, strict=True)
        ]
        found.append(values)
        values = [max(v, Fraction(0)) for v in values]
    return found


def _set(rng: np.random.Generator, n: int, shape: Shape, scale: float = 1.0) -> InputSet:
    center = rng.normal(size=n) * scale
    body = body_of(center, shape, rng.uniform(0.1, 1.0, n) * scale, low=center - 0.3 * scale)
    return InputSet.all_of(body)


@pytest.mark.parametrize("shape", list(Shape))
def test_minima_are_sound_and_reached(shape: Shape) -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 7))
        inputs = _set(rng, n, shape, scale=float(10.0 ** rng.integers(-6, 7)))
        rows = rng.normal(size=(4, n)) * 10.0 ** rng.integers(-6, 7, (4, 1))
        bounds = inputs.minima(rows)
        points = np.concatenate([inputs.body.sample(40, seed), [inputs.minimizer(row) for row in rows]])
        points = points[inputs.body.contains(points)]
        for row, bound in zip(rows, bounds, strict=True):
            size = float(np.abs(row) @ inputs.magnitude)
            for x in points:
                real = sum(Fraction(float(w)) * Fraction(float(v)) for w, v in zip(row, x, strict=True))
                assert real >= Fraction(float(bound))
            assert float(row @ inputs.minimizer(row)) == pytest.approx(bound, abs=1e-9 * size)


@pytest.mark.parametrize("shape", list(Shape))
def test_parts_of_a_ball_have_sound_minima(shape: Shape) -> None:
    """Sub-boxes that lie off the centre, also ones that miss the shape altogether."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        inputs = _set(rng, 3, shape)
        for _ in range(3):
            f = int(rng.integers(3))
            inputs = inputs.halves(f, float(rng.uniform(inputs.lower[f], inputs.upper[f])))[int(rng.integers(2))]
        rows = rng.normal(size=(3, 3))
        bounds = inputs.minima(rows)
        points = rng.uniform(inputs.lower, inputs.upper, (300, 3))
        points = points[inputs.body.contains(points)]
        assert (points @ rows.T >= bounds - 1e-12).all()


@pytest.mark.parametrize("sizes", [(3, 6), (2, 4, 4), (3, 3, 3, 3)])
def test_bounds_hold_in_rational_arithmetic(sizes: tuple[int, ...]) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        model = random_network(rng, sizes)
        hidden, last = model.layers[:-1], model.layers[-1]
        inputs = _set(rng, sizes[0], list(Shape)[seed % 3])
        phases = [np.zeros(layer.bias.size) for layer in hidden]
        intervals = propagate(hidden, inputs, phases)
        assert intervals is not None
        error = evaluation_error(model.layers, inputs, intervals)
        bounds = [lower_bound(last.weight, last.bias, hidden, intervals, inputs)]
        for _ in range(3):  # wild multipliers give poor bounds, never wrong ones
            wild = [rng.normal(size=(1, layer.bias.size)) for layer in hidden]
            bounds.append(lower_bound(last.weight, last.bias, hidden, intervals, inputs, wild))
        for x in inputs.body.sample(15, seed):
            real = _exact(model.layers, x)
            for at, values in zip(intervals, real[:-1], strict=True):
                assert all(
                    Fraction(float(a)) <= v <= Fraction(float(b))
                    for a, v, b in zip(at.low, values, at.high, strict=True)
                )
            assert all(real[-1][0] >= Fraction(float(bound.value[0])) for bound in bounds)
            computed = Fraction(float(model.scores(x[None])[0, 0]))
            assert abs(computed - real[-1][0]) <= Fraction(float(error[0]))


def test_decided_phases_cut_intervals() -> None:
    layer = Affine.exact(np.array([[1.0], [1.0]]), np.array([0.0, -5.0]))
    inputs = InputSet.all_of(body_of(np.zeros(1), Shape.BOX, 1.0))
    on = propagate((layer,), inputs, [np.array([1.0, 0.0])])
    assert on is not None and on[0].low[0] == 0.0 and on[0].high[0] >= 1.0
    assert propagate((layer,), inputs, [np.array([0.0, 1.0])]) is None  # x >= 5 is impossible


def _smallest(layers: tuple[Affine, ...], body) -> float:
    """One hidden layer, box or diamond: the exact minimum by an LP per activation pattern."""
    first, last = layers
    n, width = body.center.size, first.bias.size
    best = np.inf
    for pattern in product((0.0, 1.0), repeat=width):
        on = np.array(pattern)
        cost = (last.weight[0] * on) @ first.weight
        sign = np.where(on > 0, -1.0, 1.0)
        rows, sides = sign[:, None] * first.weight, -sign * first.bias
        if body.shape is Shape.DIAMOND:
            signs = np.array(list(product((-1.0, 1.0), repeat=n)))
            rows = np.vstack([rows, signs / body.axes])
            sides = np.append(sides, 1.0 + (signs / body.axes) @ body.center)
        answer = linprog(cost, rows, sides, bounds=list(zip(body.lower, body.upper, strict=True)))
        if answer.status == 0:
            best = min(best, float(answer.fun + (last.weight[0] * on) @ first.bias + last.bias[0]))
    return best


@pytest.mark.parametrize("shape", [Shape.BOX, Shape.DIAMOND])
def test_four_features_against_one_program_per_pattern(shape: Shape) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        model = random_network(rng, (4, 5))
        body = body_of(rng.normal(size=4), shape, 0.8)
        truth = _smallest(model.layers, body)
        last = model.layers[-1]
        for wanted, kind in ((1e-5, Certificate), (-1e-5, Counterexample)):
            moved = Affine.exact(last.weight, last.bias + wanted - truth)
            assert isinstance(certify(ReluNetwork(model.info, (model.layers[0], moved)), Target(1), body, 20.0), kind)


def test_too_close_to_tell_is_refused() -> None:
    """score = relu(x) + 1e-17 x-free: positive in real numbers, but not safely so in floating point."""
    layers = (Affine.exact(np.array([[1e3]]), np.array([-1.0])), Affine.exact(np.array([[1.0]]), np.array([1e-17])))
    model = ReluNetwork(info(1), layers)
    assert not certify(model, Target(1), body_of(np.array([0.0]), Shape.BOX, 1.0), 5.0)


def test_overflow_and_lack_of_time_are_undecided() -> None:
    huge = (Affine.exact(np.array([[1e200]]), np.zeros(1)), Affine.exact(np.array([[1e200]]), np.ones(1)))
    body = body_of(np.array([1e100]), Shape.BOX, 1.0)
    assert not certify(ReluNetwork(info(1), huge), Target(1), body)
    model = random_network(np.random.default_rng(3), (12, 60, 60))
    hidden, last = model.layers[:-1], model.layers[-1]
    body = body_of(np.zeros(12), Shape.BOX, 0.6)
    inputs = InputSet.all_of(body)
    intervals = propagate(hidden, inputs, [np.zeros(60), np.zeros(60)])
    assert intervals is not None
    proven = float(lower_bound(last.weight, last.bias, hidden, intervals, inputs).value[0])
    # Halfway between what the first bound proves and zero: true or not, it takes more than no time to tell.
    hard = Affine.exact(last.weight, last.bias - 0.8 * proven)
    assert isinstance(certify(ReluNetwork(model.info, (*hidden, hard)), Target(1), body, 0.0), Undecided)
