"""The network of the open neurons: every value of its kernels is a proof in exact arithmetic, whatever the node holds."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest

from elbowroom.certify import certify
from elbowroom.certify.compact import Reduced, reduce_network
from elbowroom.certify.compact_kernels import (
    ALPHA,
    HIGH,
    LOW,
    NODE_ROWS,
    PRICE,
    SCRATCH_ROWS,
    SIGN,
    climb,
    look,
    refresh,
)
from elbowroom.certify.inputs import InputSet
from elbowroom.certify.intervals import propagate
from elbowroom.certify.open_neurons import OpenNeurons
from elbowroom.models import Affine, Decision, ReluNetwork
from elbowroom.problem import Shape, Target
from elbowroom.result import Certificate, Counterexample, Undecided
from tests.support.hostile import attack, hostile_points
from tests.support.small_models import body_of, random_network

NEEDED = np.array([0.1, 0.0, 0.03])
SIZES = [(3, 6), (3, 5, 5), (2, 4, 4, 4), (6, 10, 8)]


def exactly(layers: tuple[Affine, ...], x: np.ndarray) -> list[list[Fraction]]:
    """All pre-activations of the real network at a float point."""
    values, found = [Fraction(float(v)) for v in x], []
    for layer in layers:
        rows = zip(layer.weight, layer.bias, strict=True)
        values = [
            sum((Fraction(float(w)) * v for w, v in zip(row, values, strict=True)), Fraction(float(b)))
            for row, b in rows
        ]
        found.append(values)
        values = [max(v, Fraction(0)) for v in values]
    return found


def setting(seed: int, sizes: tuple[int, ...], shape: Shape) -> tuple[ReluNetwork, InputSet, Reduced | None]:
    """A room with some fixed columns and some limits, in units from 1e-6 to 1e6, far from 0 or not."""
    rng = np.random.default_rng(seed)
    model = random_network(rng, sizes, 3, Decision.ARGMAX)
    scale = 10.0 ** rng.integers(-6, 7, sizes[0])
    first = Affine.exact(model.layers[0].weight / scale, model.layers[0].bias)
    layers = (first, *model.layers[1:])
    center = (rng.normal(size=sizes[0]) + rng.choice([0.0, 100.0])) * scale
    shifted = Affine.exact(first.weight, first.bias - first.weight @ center + 0.2 * rng.normal(size=first.bias.size))
    layers = (shifted, *model.layers[1:])
    radius = rng.uniform(0.2, 1.5, sizes[0]) * scale
    low = center - rng.uniform(0.05, 2.0, sizes[0]) * scale
    body = body_of(center, shape, radius, low=low)
    fixed = {0: float(center[0])} if seed % 4 == 0 and shape is Shape.BOX else None
    inputs = InputSet.all_of(body, fixed)
    intervals = propagate(layers[:-1], inputs, [np.zeros(layer.bias.size) for layer in layers[:-1]])
    assert intervals is not None
    model = ReluNetwork(model.info, layers)
    return model, inputs, reduce_network(layers, inputs, intervals, np.array([0, 2]), NEEDED)


def root(reduced: Reduced) -> np.ndarray:
    node = np.zeros((NODE_ROWS, reduced.net.size))
    node[LOW], node[HIGH] = reduced.at.low, reduced.at.high
    node[ALPHA] = 0.5
    return node


def holds(reduced: Reduced, node: np.ndarray, real: list[list[Fraction]]) -> bool:
    """Does a point have the decided signs?"""
    return all(sign == 0.0 or sign * real[k][q] >= 0 for (k, q), sign in zip(reduced.places, node[SIGN], strict=True))


@pytest.mark.parametrize("shape", list(Shape))
@pytest.mark.parametrize("sizes", SIZES)
def test_every_value_is_a_proof(sizes: tuple[int, ...], shape: Shape) -> None:
    """Nodes with random signs and wild multipliers, against the real network at hostile points, in rational numbers."""
    checked = 0
    for seed in range(8):
        model, inputs, reduced = setting(seed, sizes, shape)
        if reduced is None or not reduced.net.size:
            continue
        rng = np.random.default_rng(seed)
        points = hostile_points(inputs.body)
        points = points[((points >= inputs.lower) & (points <= inputs.upper)).all(axis=1)]
        points = points[rng.permutation(len(points))[:40]]
        reals = [exactly(model.layers, x) for x in points]
        scratch = np.zeros((SCRATCH_ROWS, max(reduced.net.size, inputs.lower.size)))
        for trial in range(6):
            node = root(reduced)
            like = reals[int(rng.integers(len(reals)))]  # signs that some point has
            for i in rng.permutation(reduced.net.size)[: int(rng.integers(0, reduced.net.size + 1))]:
                layer, neuron = reduced.places[i]
                node[SIGN, i] = 1.0 if like[layer][neuron] >= 0 else -1.0
                node[LOW if node[SIGN, i] > 0 else HIGH, i] = 0.0
            node[ALPHA] = rng.random(reduced.net.size)
            node[PRICE] = rng.exponential(10.0 ** rng.integers(-3, 4), reduced.net.size)
            assert refresh(reduced.net, node, scratch, 0) == 1  # it has a point
            mine = [real for real in reals if holds(reduced, node, real)]
            for real in mine:
                for (k, q), low, high in zip(reduced.places, node[LOW], node[HIGH], strict=True):
                    assert Fraction(float(low)) <= real[k][q] <= Fraction(float(high))
            for row, rival in enumerate((0, 2)):
                value = climb(reduced.net, node, scratch, row, 1 + 7 * (trial % 2), 0.3)
                for real in mine:
                    assert real[-1][rival] - Fraction(float(NEEDED[rival])) >= Fraction(float(value))
                    checked += 1
    assert checked > 100


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e308])
def test_nonsense_in_a_node_proves_nothing(wrong: float) -> None:
    for seed in range(6):
        _, inputs, reduced = setting(seed, (3, 5, 5), Shape.BOX)
        if reduced is None or not reduced.net.size:
            continue
        scratch = np.zeros((SCRATCH_ROWS, max(reduced.net.size, inputs.lower.size)))
        honest = climb(reduced.net, root(reduced), scratch, 0, 200, 0.3)
        node = root(reduced)
        node[SIGN], node[PRICE] = 1.0, wrong
        node[LOW] = 0.0
        value = climb(reduced.net, node, scratch, 0, 1, 0.3)
        assert not value > 0.0 or value < np.inf
        if not np.isfinite(wrong):
            assert not np.isfinite(value) or value <= honest


@pytest.mark.parametrize("shape", list(Shape))
@pytest.mark.parametrize("sizes", [(4, 12, 12), (5, 8, 8, 8)])
def test_verdicts_are_right_near_the_smallest_margin(sizes: tuple[int, ...], shape: Shape) -> None:
    """The last bias is moved until the smallest margin is about 0: what is certified withstands attacks, and what is refused
    has a point that shows it."""
    certified = refuted = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        model = random_network(rng, sizes)
        body = body_of(rng.normal(size=sizes[0]), shape, 0.7, low=-1.0 if seed % 2 else -np.inf)
        points = np.concatenate([hostile_points(body), body.sample(4000, seed)])
        lowest = float(model.scores(points).min())
        last = model.layers[-1]
        for wanted in (-0.05, -1e-6, 1e-9, 1e-3, 0.05, 0.5):
            moved = ReluNetwork(
                model.info, (*model.layers[:-1], Affine.exact(last.weight, last.bias + wanted - lowest))
            )
            verdict = certify(moved, Target(1), body, 30.0)
            assert not isinstance(verdict, Undecided)
            if wanted < 0.0:
                assert isinstance(verdict, Counterexample)
            if isinstance(verdict, Certificate):
                certified += 1
                attack(lambda X, m=moved: m.info.labels_of(m.scores(X)), body, 1)  # type: ignore[misc]
                assert (moved.scores(points) > 0.0).all()
            else:
                refuted += 1
                assert body.contains(verdict.point)[0]
                if not verdict.near_tie:
                    assert moved.scores(verdict.point[None])[0, 0] <= 0.0
    assert certified > 5 and refuted > 5


def test_a_limit_is_kept_and_what_was_reached_is_told() -> None:
    """Few looks are not enough for a hard room; the bound so far is negative, and no certificate comes of it."""
    rng = np.random.default_rng(3)
    model = random_network(rng, (12, 60, 60))
    body = body_of(np.zeros(12), Shape.BOX, 0.6)
    points = np.concatenate([hostile_points(body), body.sample(4000, 0)])
    last = model.layers[-1]
    hard = Affine.exact(last.weight, last.bias - float(model.scores(points).min()) + 0.5)
    verdict = certify(ReluNetwork(model.info, (*model.layers[:-1], hard)), Target(1), body, 60.0, looks=2.0)
    if isinstance(verdict, Undecided):
        assert -np.inf < verdict.reached < 0.0
    else:
        assert isinstance(verdict, Counterexample)


def test_waiting_nodes_are_bounded_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """With next to no room for waiting nodes the search goes depth first, and ends the same."""
    _, inputs, reduced = setting(1, (6, 10, 8), Shape.BOX)
    assert reduced is not None and reduced.net.size
    ends = []
    for numbers in (2.5e7, 1.0):
        monkeypatch.setattr("elbowroom.certify.open_neurons._MOST_NUMBERS", numbers)
        left: list[bytes] = []

        def finish(rival: int, signs: np.ndarray, left: list[bytes] = left) -> float:
            left.append(bytes([rival]) + signs.tobytes())
            return np.inf

        search = OpenNeurons(
            reduced, inputs.lower.copy(), lambda x, r: None, finish, np.inf, time.perf_counter() + 60.0
        )
        assert search.settle(np.array([0, 2])).reached is None
        ends.append(bool(left))
    assert ends[0] == ends[1]


def test_nothing_is_left_to_split_when_all_is_decided() -> None:
    _, inputs, reduced = setting(2, (3, 5, 5), Shape.BOX)
    assert reduced is not None and reduced.net.size
    node = root(reduced)
    node[LOW] = 0.0
    scratch = np.zeros((SCRATCH_ROWS, max(reduced.net.size, inputs.lower.size)))
    assert look(reduced.net, node, scratch, 0, 4) == -1
