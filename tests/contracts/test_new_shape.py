"""A shape that no code was taught is refused by name, by every judge and every engine, before anything is computed.

Taken for a diamond, as whatever is not a ball once was, it would be certified with bad points inside.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

import elbowroom
from elbowroom import Box, Explainer, InputError, Target
from elbowroom.certify.judge import certify
from elbowroom.certify.kept import kept_probability
from elbowroom.certify.linear import judge_linear
from elbowroom.certify.nearby import judge_nearby
from elbowroom.certify.network import judge_network
from elbowroom.certify.oblique import judge_oblique
from elbowroom.certify.slips import Slip
from elbowroom.certify.trees import judge_trees
from elbowroom.models import Affine, LinearModel, Model, ObliqueEnsemble, ReluNetwork, TreeEnsemble, join
from elbowroom.models.joint import JointTrees
from elbowroom.models.nearby import NearbyLinear
from elbowroom.problem import Body, RecourseProblem, Shape, Space
from elbowroom.result import Certificate, Region
from elbowroom.search.adversarial import AdversarialEngine
from elbowroom.search.adversarial.one_leaf import OneLeafEngine
from elbowroom.search.cases import CaseEngine
from elbowroom.search.contract import Clock, Engine
from elbowroom.search.engines import engine_for
from elbowroom.search.keeping import KeepingEngine
from elbowroom.search.linear import LinearEngine
from elbowroom.search.network import NetworkEngine
from elbowroom.search.radius import largest_radius
from elbowroom.search.some_models import SomeModelsEngine
from elbowroom.search.trees import TreeEngine
from elbowroom.search.weights import WeightsEngine
from elbowroom.search.widen import widest_box
from tests.support.new_shape import new_shape, room_with
from tests.support.small_models import body_of, info

REFUSED = r"does not know the shape Shape\.ELLIPSOID; it knows Shape\."


@pytest.fixture
def shape() -> Iterator[Shape]:
    with new_shape() as member:
        assert member in list(Shape) and Shape("ellipsoid") is member
        yield member


def _linear() -> LinearModel:
    return LinearModel(info(2), Affine.exact(np.array([[1.0, 0.0]]), np.array([-0.5])))


def _stump() -> TreeEnsemble:
    return TreeEnsemble(
        info(2), np.array([0]), np.array([0, -1, -1]), np.array([0.5, 0.0, 0.0]), np.array([1, -1, -1]),
        np.array([2, -1, -1]), np.array([[0.0], [-1.0], [1.0]]), np.zeros(1),
    )  # fmt: skip


def _oblique() -> ObliqueEnsemble:
    return ObliqueEnsemble.from_arrays(
        [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]], [0.5, 0.0, 0.0], [1, -1, -1], [2, -1, -1], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    )  # fmt: skip


def _network() -> ReluNetwork:
    two = Affine.exact(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([-0.5, 0.5]))
    return ReluNetwork(info(2), (two, Affine.exact(np.array([[1.0, -1.0]]), np.zeros(1))))


# Four ways to say: class 1 iff x0 > 0.5.
FAMILIES: dict[str, Callable[[], Model]] = {
    "linear": _linear, "trees": _stump, "oblique": _oblique, "network": _network,
}  # fmt: skip
JUDGES = {"linear": judge_linear, "trees": judge_trees, "oblique": judge_oblique, "network": judge_network}


def _several() -> JointTrees:
    joined = join([_stump(), _stump()], ("one", "other"))
    assert isinstance(joined, JointTrees)
    return joined


def _question(family: str, shape: Shape) -> RecourseProblem:
    if family == "several":
        joined, wanted = _several(), Target(each=(Target(1), Target(1)), count=1)
        return RecourseProblem.ask(joined, Space.plain(joined.info.names), [0.0, 0.0], room_with(shape, 0.1), wanted)
    model = FAMILIES[family]()
    return RecourseProblem.ask(model, Space.plain(model.info.names), [0.0, 0.0], room_with(shape, 0.1))


class _Nobody:
    """A judge that must not be asked."""

    def __call__(self, *_: object) -> NoReturn:
        raise AssertionError("the judge was asked")

    def about(self, _: RecourseProblem) -> NoReturn:
        raise AssertionError("the judge was asked")


# ---- judges ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("family", FAMILIES)
def test_every_judge_refuses_it(family: str, shape: Shape) -> None:
    model, good = FAMILIES[family](), body_of(np.array([2.0, 0.0]), Shape.DIAMOND, 0.1)
    assert isinstance(certify(model, Target(model.info.classes[1]), good), Certificate)
    with pytest.raises(InputError, match=f"the judge for {type(model).__name__} {REFUSED}"):
        certify(model, Target(model.info.classes[1]), replace(good, shape=shape))


def test_the_judge_of_all_models_nearby_refuses_it(shape: Shape) -> None:
    linear, straight = _linear(), Affine.exact(np.eye(2), np.zeros(2))
    model, good = (
        NearbyLinear(linear.info, linear.affine, straight, 0.01, 0.0),
        body_of(np.array([2.0, 0.0]), Shape.BALL, 0.1),
    )
    assert isinstance(certify(model, Target(1), good), Certificate)
    with pytest.raises(InputError, match=f"the judge for NearbyLinear {REFUSED}"):
        certify(model, Target(1), replace(good, shape=shape))


def test_it_is_refused_before_anything_else_is_looked_at(shape: Shape) -> None:
    nonsense = Body(np.zeros(3), np.ones(1), np.zeros(0), shape, np.zeros(2), np.zeros(2, bool))
    with pytest.raises(InputError, match=REFUSED):
        certify(_linear(), Target("no such class"), nonsense)
    with pytest.raises(InputError, match=r"does not know the shape 'ball'; it knows Shape\.BOX, Shape\.BALL"):
        certify(_linear(), Target(1), replace(nonsense, shape="ball"))  # type: ignore[arg-type]


@pytest.mark.parametrize("family", FAMILIES)
def test_no_judge_decides_about_it_when_asked_past_the_door(family: str, shape: Shape) -> None:
    model, body = FAMILIES[family](), body_of(np.array([2.0, 0.0]), shape, 0.1)
    with pytest.raises(AssertionError, match="ELLIPSOID"):
        JUDGES[family](model, Target(model.info.classes[1]), body, np.inf)  # type: ignore[operator]


def test_the_chance_to_stay_inside_refuses_it(shape: Shape) -> None:
    center, limits = np.array([2.0, 0.0]), np.full(2, 9.0)
    slip = Slip(center, np.ones(2), -limits, limits, np.zeros(2, bool))
    with pytest.raises(InputError, match=REFUSED):
        kept_probability(_stump(), Target(1), slip, body_of(center, shape, 0.1), 1e-3, 10.0)


# ---- engines ---------------------------------------------------------------------------------------------------------
ENGINES: dict[str, tuple[tuple[str, ...], Callable[[], Engine]]] = {
    "AdversarialEngine": (tuple(FAMILIES), AdversarialEngine),
    "OneLeafEngine": (("trees",), OneLeafEngine),
    "LinearEngine": (("linear",), LinearEngine),
    "TreeEngine": (("trees",), TreeEngine),
    "NetworkEngine": (("network",), NetworkEngine),
    "CaseEngine": (("trees",), lambda: CaseEngine(TreeEngine())),
    "KeepingEngine": (("trees",), lambda: KeepingEngine(TreeEngine())),
    "SomeModelsEngine": (("several",), lambda: SomeModelsEngine(_several(), engine_for)),
    "WeightsEngine": (("linear",), lambda: WeightsEngine(LinearEngine())),
}


@pytest.mark.parametrize(
    ("engine", "family"), [(name, family) for name, (families, _) in ENGINES.items() for family in families]
)
def test_every_engine_refuses_it(engine: str, family: str, shape: Shape) -> None:
    made = ENGINES[engine][1]()
    assert made.refuses(_question(family, Shape.BALL)) is None
    assert re.search(REFUSED, str(made.refuses(_question(family, shape))))


def test_no_engine_and_no_judge_is_forgotten_here() -> None:
    found = set()
    for path in Path(elbowroom.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text())
        found |= {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert {name for name in found if name.endswith("Engine") and name != "Engine"} == set(ENGINES)
    judges = {judge.__name__ for judge in (*JUDGES.values(), judge_nearby)}
    assert {name for name in found if name.startswith("judge_")} == judges


@pytest.mark.parametrize("family", FAMILIES)
def test_the_largest_radius_refuses_it(family: str, shape: Shape) -> None:
    model = FAMILIES[family]()
    with pytest.raises(InputError, match=REFUSED):
        largest_radius(
            model,
            Space.plain(model.info.names),
            np.zeros(2),
            Target(model.info.classes[0]),
            shape,
            _Nobody(),
            Clock(10.0),
        )


def test_the_widest_box_refuses_it(shape: Shape) -> None:
    region = Explainer(_linear()).explain([0.0, 0.0], Box(0.1))
    assert isinstance(region, Region)
    other = replace(region, certificate=replace(region.certificate, body=replace(region.body, shape=shape)))
    with pytest.raises(InputError, match=REFUSED):
        widest_box(other, _question("linear", shape), None, _Nobody(), Clock(10.0))


# ---- the front door ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("family", FAMILIES)
def test_the_explainer_refuses_it(family: str, shape: Shape) -> None:
    explainer = Explainer(FAMILIES[family]())
    room = room_with(shape, 1.0)
    for ask in (
        lambda: explainer.explain([0.0, 0.0], room),
        lambda: explainer.explain([0.0, 0.0], room, method="adversarial"),
        lambda: explainer.certify([2.0, 0.0], room),
        lambda: explainer.frontier([0.0, 0.0], [0.1, 0.2], room),
    ):
        with pytest.raises(InputError, match=REFUSED):
            ask()
