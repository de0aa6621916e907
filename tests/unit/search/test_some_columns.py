"""Room on changed or kept columns only: equal to enumeration for trees, linear models and networks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.models import TreeEnsemble
from elbowroom.problem import AtMost, Ball, Box, Feature, LinearRule, RecourseProblem, Space
from tests.support.brute import closest
from tests.support.hostile import attack
from tests.support.linear_problems import linear_model
from tests.support.linear_reference import reference_distance
from tests.support.referee import Engine, Run, run_engine
from tests.support.small_networks import network, truth_on_whole_numbers
from tests.support.small_questions import random_question

ONS = ("changed", "kept")


def check(run: Run, truth: float, gap: float = 1e-9) -> None:
    """The distance is the true one, the bound is no higher, and every point of the room is good."""
    problem = run.problem
    assert run.lower_bound <= truth * (1.0 + 1e-9) + 1e-12
    if math.isinf(truth):
        assert run.center is None and math.isinf(run.lower_bound)
        return
    assert run.distance == pytest.approx(truth, rel=gap, abs=1e-9)
    assert run.center is not None and problem.admissible(run.center)
    body, info = problem.body(run.center), problem.model.info
    labels = np.array(info.classes)
    cuts = problem.model.cuts if isinstance(problem.model, TreeEnsemble) else None
    attack(lambda X: labels[info.labels_of(problem.model.scores(X))], body, info.classes[problem.target_index], cuts)


def tree_question(seed: int, on: str) -> RecourseProblem:
    problem = random_question(np.random.default_rng([16, seed]))
    room = problem.room
    assert isinstance(room, Box)
    return replace(problem, room=Box(room.radius, room.low, room.high, on=on))


def ask_trees(seeds: range) -> None:
    moved = 0
    for seed in seeds:
        for on in ONS:
            problem = tree_question(seed, on)
            truth = closest(problem)
            check(run_engine(Engine.BOXES, problem), truth)
            moved += 0.0 < truth < math.inf
    assert moved > len(seeds) // 4


def test_trees_equal_brute_force() -> None:
    ask_trees(range(60))


@pytest.mark.long
def test_many_trees_equal_brute_force() -> None:
    ask_trees(range(60, 1060))


def linear_question(seed: int, on: str) -> RecourseProblem:
    """Two or three numeric columns and a whole one, binary; limits, directions and weights as they come."""
    rng = np.random.default_rng([17, seed])
    n = int(rng.integers(2, 4))
    features, row = [], []
    for i in range(n):
        whole = i == 0 and rng.random() < 0.5
        value = float(rng.integers(-2, 3)) if whole else float(rng.normal())
        low = value - float(rng.integers(0, 4)) if rng.random() < 0.4 else -math.inf
        high = value + float(rng.integers(0, 4)) if rng.random() < 0.4 else math.inf
        if whole:
            low, high = value - float(rng.integers(0, 4)), value + float(rng.integers(0, 4))
        way = str(rng.choice(["any", "any", "increasing", "decreasing"]))
        kind = "integer" if whole else "numeric"
        features.append(Feature(f"x{i}", kind, low, high, direction=way, weight=float(rng.choice([1.0, 2.0, 0.5]))))
        row.append(value)
    model = linear_model(rng.normal(size=(1, n)), rng.normal(size=1))
    factual = np.array(row)
    target = 1 - int(model.info.labels_of(model.scores(factual[None]))[0])
    rules = (AtMost(int(rng.integers(1, n + 1))),) if rng.random() < 0.3 else ()
    room = Box(float(rng.choice([0.1, 0.5, 1.0])), on=on)
    distance = str(rng.choice(["l1", "l2", "linf"]))
    return RecourseProblem.ask(model, Space(tuple(features)), factual, room, target, distance, rules)


def by_all_decisions(problem: RecourseProblem) -> float:
    """Every column is kept or changed (above or below): ordinary questions without rooms of kept columns, whose worst
    value is put into the bias of the model."""
    weight, bias = problem.model.affine.weight, problem.model.affine.bias
    sign = 1.0 if problem.target_index == 1 else -1.0
    kept_low, kept_high = problem.kept_ends
    changed = problem.walls.on.value == "changed"
    best = math.inf
    for ways in product(range(2 if changed else 3), repeat=problem.factual.size):
        W, b, widths = weight.copy(), bias.copy(), []
        features = list(problem.space.features)
        for f, way in enumerate(ways):
            lower, upper, value = float(problem.lower[f]), float(problem.upper[f]), float(problem.factual[f])
            if way == 0:
                if not lower <= value <= upper:
                    break
                ends = (value, value) if changed else (kept_low[f], kept_high[f])
                b[0] += sign * min(sign * W[0, f] * end for end in ends)
                W[0, f], lower, upper = 0.0, value, value
            elif not changed:
                least = float(problem.walls.up[f])
                lower, upper = (max(lower, value + least), upper) if way == 1 else (lower, min(upper, value - least))
                if lower > upper:
                    break
            widths.append(float(problem.walls.up[f]) if changed and way else 0.0)
            features[f] = replace(features[f], lower=lower, upper=upper, direction="any")
        else:
            model = linear_model(W, b)
            asked = RecourseProblem(
                model, Space(tuple(features)), problem.factual, problem.target, Box(tuple(widths)), problem.distance,
                problem.rules,
            )  # fmt: skip
            best = min(best, reference_distance(asked))
    return best


def ask_linear(seeds: range) -> None:
    for seed in seeds:
        for on in ONS:
            problem = linear_question(seed, on)
            check(run_engine(Engine.LINEAR, problem), by_all_decisions(problem), 1e-8)


def test_linear_models_equal_enumeration() -> None:
    ask_linear(range(25))


@pytest.mark.long
def test_many_linear_models_equal_enumeration() -> None:
    ask_linear(range(25, 525))


def network_question(seed: int, on: str) -> RecourseProblem:
    rng = np.random.default_rng([18, seed])
    model = network(rng, 3, (4,) if rng.random() < 0.6 else (3, 3))
    features = tuple(
        Feature(f"x{i}", "integer", -3, 3, scale=float(rng.choice([1.0, 2.0])), weight=float(rng.choice([1.0, 3.0])))
        for i in range(3)
    )
    row = rng.integers(-3, 4, 3).astype(float)
    target = 1 - int(model.info.labels_of(model.scores(row[None]))[0])
    distance = str(rng.choice(["l1", "l2", "linf"]))
    return RecourseProblem.ask(model, Space(features), row, Box(float(rng.choice([1.0, 2.0])), on=on), target, distance)


def ask_networks(seeds: Iterable[int]) -> None:
    for seed in seeds:
        for on in ONS:
            problem = network_question(seed, on)
            check(run_engine(Engine.NETWORK, problem), truth_on_whole_numbers(problem), 1e-6)


def test_networks_equal_enumeration() -> None:
    ask_networks((1, 3, 7))  # the quick ones: each is asked in both ways, and enumerated


@pytest.mark.long
def test_many_networks_equal_enumeration() -> None:
    ask_networks(range(36))


def test_a_changed_column_of_a_network_has_its_room_and_others_none() -> None:
    rng = np.random.default_rng(5)
    model = network(rng, 4, (6,))
    row = rng.normal(size=4)
    target = 1 - int(model.info.labels_of(model.scores(row[None]))[0])
    space = Space.plain(model.info.names)
    found = [
        run_engine(Engine.NETWORK, RecourseProblem.ask(model, space, row, room, target))
        for room in (Box(0.0), Box(0.1, on="changed"), Box(0.1))
    ]
    point, changed, everywhere = (run.distance for run in found)
    assert point <= changed * (1 + 1e-6) and changed <= everywhere * (1 + 1e-6)
    center = found[1].center
    assert center is not None
    body = found[1].problem.body(center)
    assert np.array_equal(body.lower < body.upper, center != row)


def test_engines_that_cannot_refuse_by_name() -> None:
    problem = tree_question(3, "changed")
    with pytest.raises(InputError, match="Algorithm 1 does not take rooms with on='changed'"):
        run_engine(Engine.ADVERSARIAL, problem)
    linear = linear_question(1, "kept")
    ruled = replace(linear, rules=(LinearRule({"x0": 1.0, "x1": 1.0}, high=9.0),))
    with pytest.raises(InputError, match="on='kept' together with LinearRule"):
        run_engine(Engine.LINEAR, ruled)


def test_only_boxes_know_on() -> None:
    with pytest.raises(TypeError):
        Ball(0.1, on="changed")  # type: ignore[call-arg]
    with pytest.raises(InputError, match='use "changed", "kept" or "all"'):
        Box(0.1, on="moved")
    with pytest.raises(InputError, match="opens a category"):
        Box(0.1, categories={"city": "any"}, on="kept")
