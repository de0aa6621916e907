"""Laws that hold for every exact engine, whatever the model: checked on random small linear models and forests."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom import Box, Explainer, Feature, NoRegion, Region, Space, Status
from elbowroom.models import Affine, Decision, LinearModel, Link, Model, ModelInfo, TreeEnsemble
from tests.support.hostile import attack
from tests.support.small_models import random_trees

QUICK = settings(max_examples=25, deadline=None, derandomize=True)
seeds = st.integers(min_value=0, max_value=10**6)
families = st.sampled_from(["linear", "trees"])


def random_model(family: str, rng: np.random.Generator, n: int = 3) -> Model:
    if family == "linear":
        info = ModelInfo(tuple(f"x{i}" for i in range(n)), (0, 1), Decision.POSITIVE, Link.LOGISTIC, "random")
        return LinearModel(info, Affine.exact(rng.normal(size=(1, n)), rng.normal(size=1)))
    cuts = [np.sort(rng.uniform(0, 1, 6)) for _ in range(n)]
    return random_trees(rng, n, 4, 3, cuts, exact=False)


def length(answer: Region | NoRegion) -> float:
    """Distance of an optimal answer, inf if none exists; anything else fails the test."""
    assert answer.status in (Status.OPTIMAL, Status.NONE_EXISTS), answer
    return answer.distance if isinstance(answer, Region) else math.inf


def close(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b))


@QUICK
@given(families, seeds)
def test_a_larger_room_is_never_closer(family: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    explainer = Explainer(random_model(family, rng))
    row = rng.uniform(0, 1, 3)
    distances = [length(explainer.explain(row, room=Box(r))) for r in (0.0, 0.02, 0.05, 0.1)]
    assert all(a <= b * (1 + 1e-12) for a, b in pairwise(distances))


@QUICK
@given(families, seeds)
def test_wider_bounds_are_never_farther_for_a_point(family: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(family, rng)
    row = rng.uniform(0, 1, 3)
    distances = []
    for width in (0.2, 0.5, math.inf):
        space = Space(tuple(Feature(f"x{i}", lower=row[i] - width, upper=row[i] + width) for i in range(3)))
        distances.append(length(Explainer(model, space).explain(row, room=Box(0.0))))
    assert distances[0] >= distances[1] * (1 - 1e-12)
    assert distances[1] >= distances[2] * (1 - 1e-12)


@QUICK
@given(families, seeds)
def test_the_order_of_features_does_not_matter(family: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(family, rng)
    row = rng.uniform(0, 1, 3)
    order = np.array([2, 0, 1])
    if isinstance(model, LinearModel):
        moved: Model = replace(model, affine=Affine.exact(model.affine.weight[:, order], model.affine.bias))
    else:
        assert isinstance(model, TreeEnsemble)
        where = np.argsort(order)
        moved = replace(model, feature=np.where(model.feature >= 0, where[np.maximum(model.feature, 0)], -1))
    here = length(Explainer(model).explain(row, room=Box(0.03)))
    there = length(Explainer(moved).explain(row[order], room=Box(0.03)))
    assert close(here, there)


@QUICK
@given(seeds)
def test_the_order_of_trees_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model("trees", rng)
    assert isinstance(model, TreeEnsemble)
    row = rng.uniform(0, 1, 3)
    shuffled = replace(model, roots=model.roots[::-1].copy())
    assert close(
        length(Explainer(model).explain(row, room=Box(0.03))), length(Explainer(shuffled).explain(row, room=Box(0.03)))
    )


@QUICK
@given(families, seeds, st.integers(min_value=-30, max_value=30))
def test_units_that_differ_by_powers_of_two_change_nothing(family: str, seed: int, power: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(family, rng)
    row, factor = rng.uniform(0, 1, 3), 2.0**power
    if isinstance(model, LinearModel):
        scaled: Model = replace(model, affine=Affine.exact(model.affine.weight / factor, model.affine.bias))
    else:
        assert isinstance(model, TreeEnsemble)
        scaled = replace(model, cut=model.cut * factor)
    space = Space(tuple(Feature(f"x{i}", scale=factor) for i in range(3)))
    here = Explainer(model).explain(row, room=Box(0.03))
    there = Explainer(scaled, space).explain(row * factor, room=Box(0.03))
    assert close(length(here), length(there))


@QUICK
@given(seeds)
def test_swapping_the_labels_is_symmetric(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model("linear", rng)
    assert isinstance(model, LinearModel)
    row = rng.uniform(0, 1, 3)
    swapped = replace(
        model,
        info=replace(model.info, classes=(1, 0)),
        affine=Affine.exact(-model.affine.weight, -model.affine.bias),
    )
    here = Explainer(model).explain(row, room=Box(0.05))
    there = Explainer(swapped).explain(row, room=Box(0.05))
    assert close(length(here), length(there))
    assert here.target.label == there.target.label


@QUICK
@given(families, seeds)
def test_a_good_factual_moves_only_as_far_as_the_room_needs(family: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    explainer = Explainer(random_model(family, rng))
    row = rng.uniform(0, 1, 3)
    label = explainer.predict(row[None])[0]
    assert length(explainer.explain(row, room=Box(0.0), target=label)) == 0.0
    roomy = explainer.explain(row, room=Box(0.1), target=label)
    if isinstance(roomy, Region):
        attack(explainer.predict, roomy.body, label)
        free = explainer.radius(row)
        assert (roomy.distance == 0.0) == (free.lower >= 0.1) or free.lower <= 0.1 <= free.upper


@pytest.mark.parametrize("family", ["linear", "trees"])
def test_immutable_is_the_same_as_bounds_that_pin(family: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(10):
        model = random_model(family, rng)
        row = rng.uniform(0, 1, 3)
        frozen = Space((Feature("x0", immutable=True), Feature("x1"), Feature("x2")))
        pinned = Space((Feature("x0", lower=row[0], upper=row[0]), Feature("x1"), Feature("x2")))
        here = Explainer(model, frozen).explain(row, room=Box(0.03))
        there = Explainer(model, pinned).explain(row, room=Box(0.03))
        assert close(length(here), length(there))
        if isinstance(here, Region):
            assert here.lower["x0"] == here.upper["x0"] == row[0]
