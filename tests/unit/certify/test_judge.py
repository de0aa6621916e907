"""The door of the judge: what is refused as no set of points at all, and what a verdict says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from elbowroom.certify import certify
from elbowroom.errors import InputError
from elbowroom.models import Affine, LinearModel, ReluNetwork, TreeEnsemble
from elbowroom.models.margins import tree_margins
from elbowroom.problem import Body, Shape, Target
from elbowroom.result import Certificate, Counterexample
from tests.support.small_models import body_of, info, random_trees


def _stump() -> TreeEnsemble:
    """Class 1 iff x0 > 0.5."""
    return TreeEnsemble(
        info(2), np.array([0]), np.array([0, -1, -1]), np.array([0.5, 0.0, 0.0]), np.array([1, -1, -1]),
        np.array([2, -1, -1]), np.array([[0.0], [-1.0], [1.0]]), np.zeros(1),
    )  # fmt: skip


def _all_families() -> list[LinearModel | TreeEnsemble | ReluNetwork]:
    """Three ways to say: class 1 iff x0 > 0.5."""
    line = Affine.exact(np.array([[1.0, 0.0]]), np.array([-0.5]))
    two = Affine.exact(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([-0.5, 0.5]))
    back = Affine.exact(np.array([[1.0, -1.0]]), np.zeros(1))
    return [LinearModel(info(2), line), _stump(), ReluNetwork(info(2), (two, back))]


@pytest.mark.parametrize("shape", list(Shape))
@pytest.mark.parametrize("family", range(3))
def test_every_family_has_a_judge(family: int, shape: Shape) -> None:
    model = _all_families()[family]
    good, bad = body_of(np.array([1.0, 0.0]), shape, 0.4999), body_of(np.array([1.0, 0.0]), shape, 0.51)
    verdict = certify(model, Target(1), good)
    assert isinstance(verdict, Certificate) and bool(verdict)
    assert verdict.body is good and verdict.fingerprint == model.fingerprint and verdict.target == Target(1)
    assert verdict.margin >= 0 and verdict.assumptions
    refused = certify(model, Target(1), bad)
    assert isinstance(refused, Counterexample) and not refused
    assert refused.label == 0 and refused.margin < 0 and bad.contains(refused.point)[0] and refused.point[0] <= 0.5
    assert isinstance(certify(model, Target(0), body_of(np.array([0.0, 0.0]), shape, 0.4999)), Certificate)


def test_closed_edges_of_a_split() -> None:
    """x <= 0.5 goes left: a box that starts at 0.5 is bad, one float later it is good."""
    for low, kind in ((0.5, Counterexample), (np.nextafter(0.5, 1), Certificate)):
        center = np.array([1.0, 0.0])
        body = Body(center, np.array([low, 0.0]), center, Shape.BOX, np.ones(2), np.zeros(2, bool))
        assert isinstance(certify(_stump(), Target(1), body), kind)


def test_negative_zero_and_equal_cuts() -> None:
    stump = replace(_stump(), cut=np.array([-0.0, 0.0, 0.0]))
    for center, kind in ((0.0, Counterexample), (-0.0, Counterexample), (5e-324, Certificate)):
        body = Body(
            np.array([center, 0.0]), np.array([center, 0.0]), np.array([1.0, 0.0]), Shape.BOX, np.ones(2),
            np.zeros(2, bool),
        )  # fmt: skip
        assert isinstance(certify(stump, Target(1), body), kind)


def test_single_leaf() -> None:
    leaf = random_trees(np.random.default_rng(0), 2, 1, 0, [], base=0.0)
    leaf = replace(leaf, value=np.array([[2.0]]))
    for shape in Shape:
        body = body_of(np.zeros(2), shape, 1e6)
        assert isinstance(certify(leaf, Target(1), body), Certificate)
        assert isinstance(certify(leaf, Target(0), body), Counterexample)


def _good() -> Body:
    return body_of(np.array([1.0, 3.0]), Shape.BALL, 0.25, whole=np.array([False, True]))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"center": np.array([np.nan, 3.0])}, "x0"),
        ({"upper": np.array([np.inf, 3.0])}, "finite"),
        ({"lower": np.array([1.1, 3.0])}, "outside"),
        ({"upper": np.array([0.9, 3.0])}, "outside"),
        ({"upper": np.array([1.25, 3.5])}, "whole"),
        ({"center": np.array([1.0, 3.0, 1.0])}, "shape"),
        ({"axes": np.array([0.0, 1.0])}, "semi-axis"),
        ({"axes": np.array([np.nan, 1.0])}, "semi-axis"),
        ({"free_groups": (np.array([0, 1]),)}, "one-hot"),
        ({"free_groups": (np.array([1, 7]),)}, "does not exist"),
    ],
)
def test_malformed_bodies_are_never_judged(change: dict[str, object], says: str) -> None:
    assert certify(_stump(), Target(1), _good())
    with pytest.raises(InputError, match=says):
        certify(_stump(), Target(1), replace(_good(), **change))


def test_unknown_target() -> None:
    with pytest.raises(InputError, match="not a class"):
        certify(_stump(), Target("maybe"), _good())


def test_time_limit_zero_never_certifies_what_was_not_proven() -> None:
    rng = np.random.default_rng(0)
    model = random_trees(rng, 12, 150, 7, [rng.uniform(-1, 1, 60) for _ in range(12)], exact=False, base=60.0)
    body = body_of(np.zeros(12), Shape.BOX, 0.9)
    verdict = certify(model, Target(1), body, 0.0)
    assert not isinstance(verdict, Certificate)


def test_inexact_sums_keep_their_distance() -> None:
    """0.1 + 0.2 - 0.3 is positive in floating point and depends on the order: too close to tell, refused."""
    stump = _stump()
    leaves = replace(
        stump, roots=np.array([0, 1, 2]), feature=np.full(3, -1), value=np.array([[0.1], [0.2], [-0.3]]),
    )  # fmt: skip
    assert leaves.scores(np.zeros((1, 2)))[0, 0] > 0
    assert not certify(leaves, Target(1), body_of(np.zeros(2), Shape.BOX, 1.0))
    better = replace(leaves, value=np.array([[0.1], [0.2], [-0.29]]))
    assert certify(better, Target(1), body_of(np.zeros(2), Shape.BOX, 1.0))


@pytest.mark.parametrize(("share", "kind"), [(0.5, Counterexample), (0.995, Counterexample), (1.01, Certificate)])
def test_not_a_hair_of_the_slack_is_given_away(share: float, kind: type) -> None:
    """Two trees and a base whose sum in one leaf is a given share of what rounding in any order asks for."""
    stump = _stump()
    nodes = {
        "roots": np.array([0, 3]),
        "feature": np.append(stump.feature, -1),
        "cut": np.append(stump.cut, 0.0),
        "left": np.append(stump.left, -1),
        "right": np.append(stump.right, -1),
    }

    def with_rest(rest: float) -> TreeEnsemble:
        base = 2.0**-10  # a third number: the sign of a sum of two would be exact
        return replace(
            stump, **nodes, base=np.array([base]), value=np.array([[0.0], [0.1], [1.0], [rest - 0.1 - base]])
        )

    slack = float(tree_margins(with_rest(1e-15), 1).slack[0])
    assert 0 < slack < 1e-13
    model = with_rest(share * slack)
    assert model.scores(np.zeros((1, 2)))[0, 0] == pytest.approx(share * slack, rel=0.004)
    assert isinstance(certify(model, Target(1), body_of(np.array([0.5, 0.0]), Shape.BOX, 1.0)), kind)
