"""The judge of oblique trees: exact on straight splits, sound on slanted ones, never fooled by a needle."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom import Box, Explainer, InputError
from elbowroom.certify import certify
from elbowroom.models import ObliqueEnsemble
from elbowroom.problem import Body, Shape, Target
from elbowroom.result import Certificate, Counterexample, Undecided
from tests.support.hostile import attack, hostile_points
from tests.support.oblique_models import as_axis_aligned, random_oblique
from tests.support.small_models import body_of

SHAPES = [Shape.BOX, Shape.BALL, Shape.DIAMOND]


def _labels(model: ObliqueEnsemble, X: np.ndarray) -> np.ndarray:
    return np.array(model.info.classes)[model.info.labels_of(model.scores(X))]


def _body(rng: np.random.Generator, n: int, shape: Shape) -> Body:
    whole = rng.random(n) < 0.2
    center = rng.normal(size=n)
    center = np.where(whole, np.round(center), center)
    limits = (-2.5, 2.5) if rng.random() < 0.5 else (-np.inf, np.inf)
    center = np.clip(center, -2.0, 2.0)
    return body_of(center, shape, float(rng.uniform(0.05, 1.0)), *limits, whole=whole)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(40))
def test_verdicts_are_true(seed: int, shape: Shape) -> None:
    rng = np.random.default_rng([seed, SHAPES.index(shape)])
    n = int(rng.integers(1, 4))
    model = random_oblique(rng, n, int(rng.integers(1, 4)), 3, int(rng.choice([2, 3])))
    body = _body(rng, n, shape)
    label = _labels(model, body.center[None])[0]
    verdict = certify(model, Target(int(label)), body, 10.0)
    match verdict:
        case Certificate():
            attack(lambda X: _labels(model, X), body, label)
            dense = body.sample(3000, seed)
            assert (_labels(model, dense[body.contains(dense)]) == label).all()
        case Counterexample():
            assert body.contains(verdict.point)[0]
            assert verdict.margin < 0
            assert _labels(model, verdict.point[None])[0] != label or verdict.margin > -1e-9
        case Undecided():
            pytest.fail(f"a generic region is never within rounding of a boundary: {verdict.reason}")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(25))
def test_straight_splits_get_the_verdicts_of_the_tree_judge(seed: int, shape: Shape) -> None:
    rng = np.random.default_rng([7, seed, SHAPES.index(shape)])
    n = int(rng.integers(1, 4))
    model = random_oblique(rng, n, int(rng.integers(1, 5)), 3, axis_aligned=True)
    body = _body(rng, n, shape)
    target = Target(int(_labels(model, body.center[None])[0]))
    assert type(certify(model, target, body, 10.0)) is type(certify(as_axis_aligned(model), target, body, 10.0))


def _wedge(width: float) -> ObliqueEnsemble:
    """Class 0 only in the slanted strip 1 < x0 + x1 <= 1 + width."""
    return ObliqueEnsemble.from_arrays(
        weight=[[1, 1], [0, 0], [1, 1], [0, 0], [0, 0]],
        threshold=[1.0, 0, 1.0 + width, 0, 0],
        left=[1, -1, 3, -1, -1],
        right=[2, -1, 4, -1, -1],
        value=[[0, 0], [0, 1], [0, 0], [1, 0], [0, 1]],
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("width", [1e-3, 1e-6, 1e-9, 1e-12, 5e-16])
def test_slanted_needles_are_refused(shape: Shape, width: float) -> None:
    for rho, caught in ((0.5, True), (0.2, False)):  # the strip is 1 - 0.6 = 0.4 away along the sum of both columns
        body = body_of(np.array([0.3, 0.3]), shape, rho)
        reach = {Shape.BOX: 2.0, Shape.BALL: math.sqrt(2.0), Shape.DIAMOND: 1.0}[shape] * rho
        assert (reach > 0.4) == caught or shape is not Shape.BOX
        verdict = certify(_wedge(width), Target(1), body, 10.0)
        assert isinstance(verdict, Certificate) == (reach < 0.4)


def test_a_corner_on_the_hyperplane_is_not_certified() -> None:
    """Rounding decides the corner (0.5, 0.5) of this box: too close to tell."""
    body = body_of(np.array([0.25, 0.25]), Shape.BOX, 0.25)
    assert not certify(_wedge(1.0), Target(1), body, 10.0)
    smaller = body_of(np.array([0.25, 0.25]), Shape.BOX, 0.25 - 1e-12)
    assert isinstance(certify(_wedge(1.0), Target(1), smaller, 10.0), Certificate)


def test_two_slanted_halves_that_meet_outside_the_room() -> None:
    """Bad iff x0 + x1 > 1 and x0 - x1 > 1: each half plane meets the room, their wedge begins at (1, 0)."""
    model = ObliqueEnsemble.from_arrays(
        weight=[[1, 1], [0, 0], [1, -1], [0, 0], [0, 0]],
        threshold=[1.0, 0, 1.0, 0, 0],
        left=[1, -1, 3, -1, -1],
        right=[2, -1, 4, -1, -1],
        value=[[0, 0], [0, 1], [0, 0], [0, 1], [1, 0]],
    )
    near = body_of(np.array([0.0, 0.0]), Shape.BOX, 0.99)
    over = body_of(np.array([0.0, 0.0]), Shape.BOX, 1.01)
    assert isinstance(certify(model, Target(1), near, 10.0), Certificate)
    verdict = certify(model, Target(1), over, 10.0)
    assert isinstance(verdict, Counterexample)
    assert _labels(model, verdict.point[None])[0] == 0


def test_no_time_claims_nothing() -> None:
    rng = np.random.default_rng(0)
    model = random_oblique(rng, 3, 6, 4)
    body = body_of(np.zeros(3), Shape.BALL, 1.0)
    verdicts = [certify(model, Target(t), body, 0.0) for t in (0, 1)]
    assert not any(isinstance(v, Certificate) and len(hostile_points(body)) == 0 for v in verdicts)
    assert any(isinstance(v, (Undecided, Counterexample)) for v in verdicts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"left": [1, 0, -1]}, "one child|reached twice"),
        ({"left": [7, -1, -1]}, "does not exist"),
        ({"threshold": [0.0, 0.0]}, "2 rows"),
        ({"weight": [[np.nan, 0], [0, 0], [0, 0]]}, "finite"),
        ({"value": [[0.0], [0.0], [1.0]]}, "needs 2"),
        ({"names": ["only one"]}, "1 names"),
    ],
)
def test_arrays_that_describe_no_trees_are_refused(change: dict, message: str) -> None:
    arrays = {
        "weight": [[1, -1], [0, 0], [0, 0]],
        "threshold": [0, 0, 0],
        "left": [1, -1, -1],
        "right": [2, -1, -1],
        "value": [[0, 0], [1, 0], [0, 1]],
    }
    ObliqueEnsemble.from_arrays(**arrays)
    with pytest.raises(InputError, match=message):
        ObliqueEnsemble.from_arrays(**{**arrays, **change})


def test_the_front_door_serves_oblique_trees() -> None:
    model = ObliqueEnsemble.from_arrays(
        weight=[[1, -1], [0, 0], [0, 0]],
        threshold=[0, 0, 0],
        left=[1, -1, -1],
        right=[2, -1, -1],
        value=[[0, 0], [1, 0], [0, 1]],
        names=["income", "debt"],
        classes=["no", "yes"],
    )
    explainer = Explainer(model)
    region = explainer.explain({"income": 1.0, "debt": 2.0}, room=Box(0.25))
    assert region
    assert region.distance == pytest.approx(1.5, rel=1e-4)
    assert explainer.certify(region)
    radius = explainer.radius(region.center)
    assert radius.lower == pytest.approx(0.25, rel=1e-4)
