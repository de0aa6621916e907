"""Needles: a sliver of the wrong class planted in a good region. The judge must refuse every one of 1,000."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.certify import certify
from elbowroom.models import Affine, Decision, ReluNetwork, TreeEnsemble
from elbowroom.problem import Body, Shape, Target
from elbowroom.result import Certificate, Counterexample
from tests.support.small_models import body_of, info, random_trees

WIDTHS = (0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3)  # 0: one float


def _planted(model: TreeEnsemble, low: np.ndarray, high: np.ndarray, value: float) -> TreeEnsemble:
    """One more tree: ``value`` where low < x <= high in every column, else 0."""
    feature, cut, left, right, values = [], [], [], [], []
    start = len(model.feature)
    for f in range(low.size):
        for edge, inside_right in ((low[f], True), (high[f], False)):
            here = start + len(feature)
            feature += [f, -1]
            cut += [edge, 0.0]
            left += [here + 1, -1] if inside_right else [here + 2, -1]
            right += [here + 2, -1] if inside_right else [here + 1, -1]
            values += [0.0, 0.0]
    feature.append(-1), cut.append(0.0), left.append(-1), right.append(-1), values.append(value)
    return TreeEnsemble(
        model.info,
        np.append(model.roots, start),
        np.append(model.feature, feature),
        np.append(model.cut, cut),
        np.append(model.left, left),
        np.append(model.right, right),
        np.concatenate([model.value, np.array(values)[:, None]]),
        model.base,
    )


def _good_region(rng: np.random.Generator, shape: Shape) -> tuple[TreeEnsemble, Body, float]:
    """An ensemble that is positive everywhere, and how deep a needle must be to turn any point."""
    n = int(rng.integers(1, 6))
    model = random_trees(rng, n, 6, 3, [rng.uniform(-2, 2, 6) for _ in range(n)], base=12.0)
    body = body_of(rng.uniform(-1, 1, n), shape, rng.uniform(0.2, 1.0, n))
    return model, body, 24.0


@pytest.mark.parametrize("shape", list(Shape))
def test_planted_cells_are_found(shape: Shape) -> None:
    for seed in range(220):
        rng = np.random.default_rng(seed)
        model, body, depth = _good_region(rng, shape)
        point = body.sample(1, seed)[0]
        if seed % 3 == 0:  # at the end of an axis: on the surface of every shape
            f = int(rng.integers(point.size))
            point = body.center.copy()
            point[f] = body.upper[f] if rng.random() < 0.5 else body.lower[f]
        assert body.contains(point)[0]
        width = WIDTHS[seed % len(WIDTHS)]
        before, after = rng.uniform(0, width, point.size), rng.uniform(0, width, point.size)
        low = np.minimum(point - before, np.nextafter(point, -np.inf))
        high = np.maximum(point, point + after) if width else point
        assert isinstance(certify(model, Target(1), body), Certificate)
        verdict = certify(_planted(model, low, high, -depth), Target(1), body)
        assert isinstance(verdict, Counterexample), seed
        assert body.contains(verdict.point)[0] and ((low < verdict.point) & (verdict.point <= high)).all()


@pytest.mark.parametrize("shape", list(Shape))
def test_cells_just_outside_do_no_harm(shape: Shape) -> None:
    """The same needles one float beyond the surface: the region stays good."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        model, body, depth = _good_region(rng, shape)
        f = int(rng.integers(body.center.size))
        low, high = np.full(body.center.size, -np.inf), np.full(body.center.size, np.inf)
        if seed % 2:
            low[f] = body.upper[f]
        else:
            high[f] = np.nextafter(body.lower[f], -np.inf)
        assert isinstance(certify(_planted(model, low, high, -depth), Target(1), body), Certificate), seed


def test_corner_cells_of_balls_are_judged_by_exact_arithmetic() -> None:
    """Pythagoras: (0.6, 0.8) * axes lies exactly on the ellipse for some floats, one float beyond for others."""
    inside = outside = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        scale = 2.0 ** rng.integers(-3, 4)
        body = body_of(np.zeros(2), Shape.BALL, 5.0 * scale)
        corner = np.array([3.0, 4.0]) * scale
        steps = rng.integers(-1, 2, 2)
        for i in range(2):
            corner[i] += steps[i] * np.spacing(corner[i])
        model = random_trees(rng, 2, 2, 1, [np.array([9.0])] * 2, base=9.0)
        planted = _planted(model, np.nextafter(corner, -np.inf), np.full(2, np.inf), -20.0)
        verdict = certify(planted, Target(1), body)
        if body.contains(corner)[0]:
            inside += 1
            assert isinstance(verdict, Counterexample) and np.array_equal(verdict.point, corner)
        else:
            outside += 1
            assert isinstance(verdict, Certificate)
    assert inside > 20 and outside > 20


def test_ties_go_to_the_rival() -> None:
    """A cell whose score is exactly 0: refused where a tie loses, accepted where it wins."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n = 2
        tie_wins = seed % 2 == 0
        decision = Decision.NONNEGATIVE if tie_wins else Decision.POSITIVE
        flat = random_trees(rng, n, 0, 0, [], decision=decision, base=3.0)
        flat = TreeEnsemble(
            info(n, decision=decision), *(np.zeros(0, np.int64),) * 2, np.zeros(0), *(np.zeros(0, np.int64),) * 2,
            np.zeros((0, 1)), flat.base,
        )  # fmt: skip
        body = body_of(rng.uniform(-1, 1, n), list(Shape)[seed % 3], 0.5)
        point = body.sample(1, seed)[0]
        model = _planted(flat, np.nextafter(point, -np.inf), point, -3.0)
        verdict = certify(model, Target(1), body)
        assert isinstance(verdict, Certificate if tie_wins else Counterexample), seed
        if not tie_wins:
            assert np.array_equal(verdict.point, point)


def _network(weights: list[np.ndarray], biases: list[np.ndarray], n: int) -> ReluNetwork:
    layers = tuple(Affine.exact(np.atleast_2d(w), np.atleast_1d(b)) for w, b in zip(weights, biases, strict=True))
    return ReluNetwork(info(n), layers)


@pytest.mark.parametrize("shape", list(Shape))
def test_slivers_of_a_neuron_are_found(shape: Shape) -> None:
    """score = 1 - relu(K (direction . x - edge)), with the neuron active in a sliver of 1e-12 to 1e-3 at the surface."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 5))
        body = body_of(rng.uniform(-1, 1, n), shape, rng.uniform(0.2, 1.0, n))
        direction = np.zeros(n)
        f = int(rng.integers(n))
        direction[f] = rng.choice([-1.0, 1.0])
        width = 10.0 ** -(3 + seed % 10)
        far = direction[f] * (body.upper[f] if direction[f] > 0 else body.lower[f])
        steep = 4.0 / width
        noise = rng.normal(size=(3, n)) * 0.01
        model = _network(
            [np.vstack([steep * direction, noise]), np.array([-1.0, 0.01, 0.01, -0.01])],
            [np.append(-steep * (far - width), np.zeros(3)), np.array([1.0])],
            n,
        )
        assert not certify(model, Target(1), body, 20.0), seed


@pytest.mark.parametrize("shape", list(Shape))
def test_bumps_inside_are_found(shape: Shape) -> None:
    """A roof of three neurons, 1e-9 to 1e-3 wide, somewhere inside; one that is too low to matter does no harm."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 4))
        body = body_of(rng.uniform(-1, 1, n), shape, rng.uniform(0.2, 1.0, n))
        f = int(rng.integers(n))
        width = 10.0 ** -(3 + seed % 7)
        at = body.center[f] + rng.uniform(-0.9, 0.9) * (body.upper[f] - body.center[f])
        weight = np.zeros((3, n))
        weight[:, f] = 1.0 / width
        edges = np.array([at - width, at, at + width]) / width
        for height, wrong in ((1.5, True), (0.5, False)):
            model = _network([weight, height * np.array([-1.0, 2.0, -1.0])], [-edges, np.array([1.0])], n)
            verdict = certify(model, Target(1), body, 20.0)
            assert isinstance(verdict, Counterexample if wrong else Certificate), (seed, verdict)
            if wrong:
                assert body.contains(verdict.point)[0]
                assert model.info.labels_of(model.scores(verdict.point[None]))[0] == 0
