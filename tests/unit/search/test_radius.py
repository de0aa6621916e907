"""Both bounds of the largest radius against brute force and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom.certify import certify
from elbowroom.models import Affine, Decision, LinearModel, ReluNetwork
from elbowroom.numerics import TOLERANCES
from elbowroom.problem import Feature, Shape, Space, Target
from elbowroom.result import Certificate, Counterexample, RadiusResult, Undecided
from elbowroom.search.contract import Clock
from elbowroom.search.radius import _Rooms, largest_radius
from tests.support.small_models import info, random_network, random_trees


def _radius(model, space, point, shape, target=None, seconds=20.0) -> RadiusResult:
    index = int(model.info.labels_of(model.scores(point[None]))[0]) if target is None else target
    clock = Clock(seconds)

    def accept(body, limit, looks):
        return certify(model, Target(index), body, limit, looks)

    return largest_radius(model, space, point, Target(index), shape, accept, clock)


def _nearest_bad_cell(model, space, point, shape, label) -> float:
    """Smallest norm of (nearest point - point) / scale over all cells of another class, by enumeration."""
    values = []
    for f, feature in enumerate(space.features):
        low, high = (point[f], point[f]) if feature.immutable else (feature.lower, feature.upper)
        if space.whole_room[f]:
            values.append(np.arange(low, high + 1))
            continue
        some = np.concatenate([model.cuts[f], np.nextafter(model.cuts[f], np.inf), [point[f]]])
        values.append(np.unique(some[(some >= low) & (some <= high)]))
    grid = np.stack(np.meshgrid(*values, indexing="ij"), axis=-1).reshape(-1, len(values))
    bad = grid[model.info.labels_of(model.scores(grid)) != label]
    lengths = np.abs(bad - point) / space.scale
    norms = {
        Shape.BOX: lengths.max(axis=1, initial=0.0),
        Shape.BALL: np.sqrt(np.square(lengths).sum(axis=1)),
        Shape.DIAMOND: lengths.sum(axis=1),
    }[shape]
    return float(norms.min(initial=np.inf))


@pytest.mark.parametrize("shape", list(Shape))
def test_trees_equal_the_nearest_bad_cell(shape: Shape) -> None:
    everywhere = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 4))
        cuts = [rng.uniform(-2, 2, 5) for _ in range(n)]
        multi = seed % 4 == 0
        model = random_trees(
            rng, n, 4, 2, cuts, 3 if multi else 2, Decision.ARGMAX if multi else Decision.POSITIVE, base=0.25
        )
        kinds = ["integer" if rng.random() < 0.3 else "numeric" for _ in range(n)]
        space = Space(
            tuple(
                Feature(
                    f"x{f}",
                    kinds[f],
                    -3,
                    3,
                    immutable=bool(n > 1 and rng.random() < 0.2),
                    scale=rng.choice([0.5, 1.0, 3.0]),
                )
                for f in range(n)
            )
        )
        point = np.where(space.whole_center, np.round(rng.uniform(-2, 2, n)), rng.uniform(-2, 2, n))
        label = int(model.info.labels_of(model.scores(point[None]))[0])
        truth = _nearest_bad_cell(model, space, point, shape, label)
        found = _radius(model, space, point, shape)
        if math.isinf(truth):
            everywhere += 1
            assert found.lower == found.upper == math.inf and found.witness is None
            continue
        assert found.norm == shape.distance.value and found.exact
        assert found.upper == np.nextafter(found.lower, np.inf)
        assert found.upper == pytest.approx(truth, rel=1e-14)
        rooms = _Rooms.around(space, point, shape)
        assert rooms.body(found.upper).contains(found.witness)[0]
        assert not rooms.body(found.lower).contains(found.witness)[0]
        assert model.info.labels_of(model.scores(found.witness[None]))[0] != label
        assert isinstance(certify(model, Target(label), rooms.body(found.lower)), Certificate)
    assert everywhere > 0


@pytest.mark.parametrize("shape", list(Shape))
def test_linear_equals_the_dual_norm(shape: Shape) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        n = 4
        weight, bias = rng.normal(size=(1, n)), rng.normal(size=1)
        scale = rng.choice([0.1, 1.0, 7.0], n)
        model = LinearModel(info(n), Affine.exact(weight, bias))
        space = Space(tuple(Feature(f"x{f}", scale=scale[f]) for f in range(n)))
        point = rng.normal(size=n)
        steep = np.abs(weight[0] * scale)
        dual = {Shape.BOX: steep.sum(), Shape.BALL: np.sqrt(steep @ steep), Shape.DIAMOND: steep.max()}[shape]
        found = _radius(model, space, point, shape)
        truth = abs(float(weight[0] @ point + bias[0])) / dual
        assert found.lower == pytest.approx(truth, rel=1e-9)
        assert found.lower <= truth * (1 + 1e-9) and found.upper >= truth * (1 - 1e-9)
        assert found.upper - found.lower <= 1e-11 * found.upper


@pytest.mark.parametrize("shape", list(Shape))
def test_networks_are_bracketed(shape: Shape) -> None:
    rng = np.random.default_rng(2)
    for _ in range(4):
        model = random_network(rng, (3, 8))
        space = Space.plain(model.info.names)
        point = rng.normal(size=3)
        found = _radius(model, space, point, shape)
        label = int(model.info.labels_of(model.scores(point[None]))[0])
        rooms = _Rooms.around(space, point, shape)
        assert isinstance(certify(model, Target(label), rooms.body(found.lower)), Certificate)
        if found.upper < math.inf:
            assert found.upper - found.lower <= 2 * TOLERANCES.radius_gap * found.upper
            assert rooms.body(found.upper).contains(found.witness)[0]


def test_point_of_another_class_has_no_radius() -> None:
    model = LinearModel(info(2), Affine.exact(np.ones((1, 2)), np.zeros(1)))
    found = _radius(model, Space.plain(model.info.names), np.array([1.0, 1.0]), Shape.BOX, target=0)
    assert found.lower == found.upper == 0.0
    assert np.array_equal(found.witness, [1.0, 1.0])


def test_class_within_all_bounds_is_unbounded() -> None:
    layers = (Affine.exact(np.ones((1, 2)), np.zeros(1)), Affine.exact(np.ones((1, 1)), np.ones(1)))
    model = ReluNetwork(info(2), layers)
    space = Space((Feature("x0", lower=0, upper=1), Feature("x1", immutable=True)))
    for shape in Shape:
        found = _radius(model, space, np.array([0.5, 3.0]), shape)
        assert found.lower == found.upper == math.inf


def test_undecided_leaves_honest_bounds() -> None:
    model = LinearModel(info(1), Affine.exact(np.ones((1, 1)), np.zeros(1)))
    point, clock = np.array([1.0]), Clock(5.0)

    def accept(body, limit, looks):
        width = float(body.upper[0] - body.center[0])
        if width <= 0.25:
            return certify(model, Target(1), body)
        return Undecided("tired") if width < 2.0 else Counterexample(body.lower.copy(), 0, -1.0)

    found = largest_radius(model, Space.plain(("x0",)), point, Target(1), Shape.BOX, accept, clock)
    assert 0.24 <= found.lower <= 0.25 and found.upper >= 1.0


def test_no_time_is_no_radius() -> None:
    model = random_network(np.random.default_rng(0), (3, 30, 30))
    found = _radius(model, Space.plain(model.info.names), np.zeros(3), Shape.BALL, seconds=0.0)
    assert 0.0 <= found.lower <= found.upper
