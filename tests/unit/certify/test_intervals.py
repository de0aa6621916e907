"""Intervals of neurons and linear bounds: sound at every point, cut by phases, kept where they are known better."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.certify.inputs import InputSet
from elbowroom.certify.intervals import Interval, lower_bound, propagate
from elbowroom.models import Affine
from elbowroom.numerics import Floats
from elbowroom.problem import Shape
from tests.support.small_models import body_of, random_network

SIZES = (3, 5, 4)


def setting(seed: int, shape: Shape = Shape.BOX) -> tuple[tuple[Affine, ...], InputSet, Floats]:
    """All layers of a network with two hidden ones, a set of inputs, and points of it."""
    rng = np.random.default_rng(seed)
    body = body_of(rng.normal(size=3), shape, rng.uniform(0.2, 0.8, 3))
    return random_network(rng, SIZES).layers, InputSet.all_of(body), body.sample(400, seed=seed)


def signals(layers: tuple[Affine, ...], X: Floats) -> list[Floats]:
    """z of every hidden layer at every point."""
    found = []
    for layer in layers[:-1]:
        found.append(layer(X))
        X = np.maximum(found[-1], 0.0)
    return found


def open_phases(layers: tuple[Affine, ...]) -> list[Floats]:
    return [np.zeros(layer.bias.size) for layer in layers[:-1]]


@pytest.mark.parametrize("shape", list(Shape))
def test_intervals_hold_every_neuron_and_are_reached_in_the_first_layer(shape: Shape) -> None:
    for seed in range(15):
        layers, inputs, X = setting(seed, shape)
        found = propagate(layers[:-1], inputs, open_phases(layers))
        assert found is not None
        for at, z in zip(found, signals(layers, X), strict=True):
            assert (z >= at.low).all() and (z <= at.high).all()
        ends = np.array([inputs.minimizer(row) for row in layers[0].weight])
        reached = np.array([layers[0](x)[k] for k, x in enumerate(ends)])
        assert reached == pytest.approx(found[0].low, abs=1e-9)


def test_decided_phases_hold_on_their_side_only() -> None:
    """Points with the decided sign stay inside the cut intervals, and the cut is a real one."""
    cut = 0
    for seed in range(15):
        layers, inputs, X = setting(seed)
        free = propagate(layers[:-1], inputs, open_phases(layers))
        assert free is not None
        for k, neuron in [(0, int(q)) for q in np.flatnonzero(free[0].unstable)]:
            for sign in (1.0, -1.0):
                phases = open_phases(layers)
                phases[k][neuron] = sign
                found = propagate(layers[:-1], inputs, phases)
                assert found is not None
                side = [z[sign * signals(layers, X)[k][:, neuron] >= 0.0] for z in signals(layers, X)]
                for at, z in zip(found, side, strict=True):
                    assert (z >= at.low).all() and (z <= at.high).all()
                assert (found[k].low[neuron] >= 0.0) if sign > 0 else (found[k].high[neuron] <= 0.0)
                cut += int((found[1].high - found[1].low < free[1].high - free[1].low - 1e-9).any())
    assert cut > 5


def test_known_intervals_are_kept_where_they_are_better() -> None:
    layers, inputs, _ = setting(1)
    free = propagate(layers[:-1], inputs, open_phases(layers))
    assert free is not None
    half = inputs.halves(0, float(inputs.body.center[0]))[0]
    fresh = propagate(layers[:-1], half, open_phases(layers))
    better = [Interval(at.low + 0.1, at.high - 0.1) for at in free]
    both = propagate(layers[:-1], half, open_phases(layers), better)
    untouched = propagate(layers[:-1], half, open_phases(layers), better, unchanged=1)
    assert fresh is not None and both is not None and untouched is not None
    assert (both[0].low == np.maximum(fresh[0].low, better[0].low)).all()
    assert (both[0].high == np.minimum(fresh[0].high, better[0].high)).all()
    assert (untouched[0].low == better[0].low).all()


@pytest.mark.parametrize("shape", list(Shape))
def test_any_multipliers_give_a_bound(shape: Shape) -> None:
    tight = 0
    for seed in range(15):
        layers, inputs, X = setting(seed, shape)
        rng = np.random.default_rng(seed)
        at = propagate(layers[:-1], inputs, open_phases(layers))
        assert at is not None
        last = layers[-1]
        truth = float((np.maximum(signals(layers, X)[-1], 0.0) @ last.weight[0] + last.bias[0]).min())
        crown = lower_bound(last.weight, last.bias, layers[:-1], at, inputs)
        assert float(crown.value[0]) <= truth
        again = lower_bound(last.weight, last.bias, layers[:-1], at, inputs, crown.multipliers)
        assert float(again.value[0]) == pytest.approx(float(crown.value[0]))
        tight += float(crown.value[0]) > truth - 2.0
        for _ in range(10):
            wild = [m + rng.normal(size=m.shape) for m in crown.multipliers]
            assert float(lower_bound(last.weight, last.bias, layers[:-1], at, inputs, wild).value[0]) <= truth
    assert tight > 8


def test_a_network_whose_signs_are_known_is_bounded_exactly() -> None:
    """Biases that hold every neuron above or below 0: the network is linear there, and its bound its minimum."""
    rng = np.random.default_rng(0)
    weight, sign = rng.normal(size=(4, 2)), np.array([1.0, 1.0, -1.0, -1.0])
    layers = (Affine.exact(weight, 10.0 * sign), Affine.exact(rng.normal(size=(1, 4)), np.ones(1)))
    inputs = InputSet.all_of(body_of(np.zeros(2), Shape.BOX, 0.5))
    at = propagate(layers[:1], inputs, [np.zeros(4)])
    assert at is not None and not at[0].unstable.any()
    assert at[0].activation[2:].tolist() == [0.0, 0.0]
    bound = lower_bound(layers[1].weight, layers[1].bias, layers[:1], at, inputs)
    on = layers[1].weight[0, :2]
    assert float(bound.value[0]) == pytest.approx(
        1.0 + 10.0 * on.sum() - 0.5 * np.abs(on @ weight[:2]).sum(), abs=1e-12
    )


def test_intervals_that_cross_are_empty() -> None:
    assert Interval(np.array([0.0, 2.0]), np.array([1.0, 1.0])).empty
    assert not Interval(np.zeros(2), np.zeros(2)).empty


def test_the_least_value_of_every_neuron_is_that_of_its_interval() -> None:
    """lambda relu(z) - m z over [l, u]: at an end, or at the kink 0 where it lies inside."""
    rng = np.random.default_rng(0)
    n = 40
    layer = Affine.exact(np.eye(n), np.zeros(n))
    ends = np.sort(rng.normal(size=(2, n)), axis=0)
    at = [Interval(ends[0], ends[1])]
    slopes, multipliers = rng.normal(size=(1, n)), rng.normal(size=(1, n))
    inputs = InputSet.all_of(body_of(np.zeros(n), Shape.BOX, 3.0))
    found = lower_bound(slopes, np.zeros(1), (layer,), at, inputs, [multipliers])
    z = np.linspace(ends[0], ends[1], 2001)
    z = np.vstack([z, np.clip(0.0, ends[0], ends[1])])
    brute = (slopes * np.maximum(z, 0.0) - multipliers * z).min(axis=0)
    assert found.least[0][0] == pytest.approx(brute, abs=1e-12)
    assert float(found.value[0]) == pytest.approx(brute.sum() - 3.0 * np.abs(multipliers).sum(), abs=1e-9)
