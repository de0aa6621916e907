"""Centres whose room touches a bad region to the last bit: settled by the judge, not by rounding."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom import Ball, Diamond, Explainer, Feature, Region, Space, Status
from elbowroom.models import TreeEnsemble
from elbowroom.search.trees.balls.geometry import Geometry
from elbowroom.search.trees.balls.ties import ways_out
from tests.support.hostile import attack
from tests.support.small_models import info


def stripe(cuts: list[float], values: list[float]) -> TreeEnsemble:
    """One tree over one feature: values[i] between cuts[i - 1] and cuts[i]."""
    feature, cut, left, right, value = [], [], [], [], []
    for i, c in enumerate(cuts):
        feature += [0, -1]
        cut += [c, 0.0]
        left += [2 * i + 1, -1]
        right += [2 * i + 2, -1]
        value += [0.0, values[i]]
    feature.append(-1), cut.append(0.0), left.append(-1), right.append(-1), value.append(values[-1])
    ints = [np.array(a, dtype=np.int64) for a in (feature, left, right)]
    return TreeEnsemble(
        info(1), np.array([0]), ints[0], np.array(cut), ints[1], ints[2], np.array(value)[:, None], np.zeros(1)
    )


@pytest.mark.parametrize("room", [Ball(1.0), Diamond(1.0)])
def test_whole_numbers_exactly_one_room_apart_do_not_count_as_good(room: Ball | Diamond) -> None:
    """5 is good but 4 and 6 are not; 10 to 12 are good: with room for one step the nearest centre is 11."""
    model = stripe([4.5, 5.5, 9.5, 12.5], [-1.0, 1.0, -1.0, 1.0, -1.0])
    explainer = Explainer(model, Space((Feature("x0", "integer"),)))
    answer = explainer.explain(np.array([0.0]), room)
    assert isinstance(answer, Region)
    assert answer.status is Status.OPTIMAL
    assert answer.distance == 11.0
    attack(explainer.predict, answer.body, 1, model.cuts)


@pytest.mark.parametrize("room", [Ball(0.25), Diamond(0.25)])
def test_a_gap_as_wide_as_the_room_is_decided_by_the_last_bit(room: Ball | Diamond) -> None:
    """Good for 0.5 < x <= 1, half a unit wide: around 0.75 the closed room holds 0.5; one float farther it does not."""
    explainer = Explainer(stripe([0.5, 1.0, 2.0], [-1.0, 1.0, -1.0, 1.0]))
    answer = explainer.explain(np.array([0.0]), room)
    assert isinstance(answer, Region)
    assert answer.status is Status.OPTIMAL
    assert answer.distance == np.nextafter(0.75, 1.0)
    attack(explainer.predict, answer.body, 1, explainer.model.cuts)


@pytest.mark.parametrize("room", [Ball(0.25), Diamond(0.25)])
def test_a_gap_one_bit_too_narrow_is_passed_by(room: Ball | Diamond) -> None:
    model = stripe([0.5, float(np.nextafter(1.0, 0.0)), 2.0], [-1.0, 1.0, -1.0, 1.0])
    explainer = Explainer(model)
    answer = explainer.explain(np.array([0.0]), room)
    assert isinstance(answer, Region)
    assert answer.status is Status.OPTIMAL
    assert 2.25 <= answer.distance <= 2.25 * (1 + 1e-4)
    assert answer.lower_bound <= 2.25
    attack(explainer.predict, answer.body, 1, model.cuts)


@pytest.mark.parametrize("square", [True, False])
def test_every_centre_outside_of_all_children_is_bad(square: bool) -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        whole = rng.integers(0, 2, 3)
        axis = rng.choice([1.0, 2.0, 2.5], 3)
        geometry = _geometry(whole, axis, square)
        first = rng.integers(-3, 3, 3).astype(float)
        last = first + rng.integers(0, 3, 3)
        x = np.clip(rng.integers(-5, 6, 3), first - 1, last + 1).astype(float)
        if _used(x, first, last, axis, square) > 1.0:
            continue
        low, high = x - rng.integers(0, 4, 3), x + rng.integers(0, 4, 3)
        children = ways_out(geometry, first, last, low, high, x)
        points = rng.uniform(low, high, (300, 3))
        for point in np.where(whole == 1, np.round(points), points):
            holds = sum(bool(((a <= point) & (point <= b)).all()) for a, b in children)
            assert holds <= 1
            assert holds == 1 or _used(point, first, last, axis, square) <= 1.0


def _used(x: np.ndarray, first: np.ndarray, last: np.ndarray, axis: np.ndarray, square: bool) -> float:
    ratio = np.maximum(0.0, np.maximum(first - x, x - last)) / axis
    return float((ratio**2 if square else ratio).sum())


def _geometry(whole: np.ndarray, axis: np.ndarray, square: bool) -> Geometry:
    nothing, zero = np.zeros(3), np.zeros(3, np.int64)
    return Geometry(
        nothing, nothing, zero, whole, axis, np.ones(3), nothing, nothing, nothing, zero, zero, zero, nothing,
        nothing, square, 0,
    )  # fmt: skip
