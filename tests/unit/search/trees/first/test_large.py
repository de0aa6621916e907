"""The way of large models, forced upon small ones: nothing wrong, nothing farther than brute force, every proof true."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from elbowroom import Explainer, Region
from elbowroom.errors import InputError
from elbowroom.models import TreeEnsemble
from elbowroom.models.margins import tree_margins
from elbowroom.problem import Ball, Box, Diamond, Distance, RecourseProblem, Room
from elbowroom.result.certificate import Certificate
from elbowroom.search.contract import Clock
from elbowroom.search.trees import large
from elbowroom.search.trees.first import size
from elbowroom.search.trees.first.asked import asked_of
from elbowroom.search.trees.first.collapse import Collapse
from elbowroom.search.trees.first.forest import Forest
from elbowroom.search.trees.first.rounds import Rounds
from tests.support import brute
from tests.support.referee import Engine, Referee, run_engine
from tests.support.small_questions import hard_question, random_question


@pytest.fixture
def all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size, "LARGE", 0)


def _agrees_with_brute_force(seed: int) -> None:
    problem = random_question(np.random.default_rng([17, seed]))
    if problem.trouble is not None:
        return
    found, truth = run_engine(Engine.BOXES, problem), brute.closest(problem)
    assert found.distance == pytest.approx(truth, rel=1e-9, abs=1e-12)
    assert found.lower_bound <= truth * (1 + 1e-9) + 1e-12
    if found.center is not None:
        assert isinstance(found.referee.true_verdict(found.center), Certificate)
        assert problem.why_inadmissible(found.center) is None


@pytest.mark.usefixtures("all_are_large")
@pytest.mark.parametrize("seed", range(40))
def test_every_kind_of_question_against_brute_force(seed: int) -> None:
    _agrees_with_brute_force(seed)


@pytest.mark.long
@pytest.mark.usefixtures("all_are_large")
@pytest.mark.parametrize("block", range(20))
def test_many_more_questions_against_brute_force(block: int) -> None:
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        _agrees_with_brute_force(seed)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
def test_same_closest_distance_as_on_the_whole_trees(seed: int, distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = hard_question(seed, distance=distance)
    whole = run_engine(Engine.BOXES, problem)
    monkeypatch.setattr(size, "LARGE", 0)
    large = run_engine(Engine.BOXES, problem)
    assert large.distance == pytest.approx(whole.distance, rel=1e-9)
    assert large.lower_bound == pytest.approx(whole.lower_bound, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_same_question_gets_the_same_answer(seed: int, all_are_large: None) -> None:
    problem = hard_question(seed)
    one, other = run_engine(Engine.BOXES, problem), run_engine(Engine.BOXES, problem)
    assert one.center is not None and other.center is not None
    assert one.center.tobytes() == other.center.tobytes() and one.counters == other.counters


@pytest.mark.usefixtures("all_are_large")
def test_without_memory_for_shares_the_search_alone_proves_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = hard_question(0)
    with_shares = run_engine(Engine.BOXES, problem)
    monkeypatch.setattr(large, "SHARES_BYTES", 0)
    without = run_engine(Engine.BOXES, problem)
    assert "parts" in with_shares.counters and "parts" not in without.counters
    assert without.distance == pytest.approx(with_shares.distance, rel=1e-9)
    assert without.lower_bound == pytest.approx(with_shares.lower_bound, rel=1e-9)


def _rounds(problem: RecourseProblem) -> tuple[Rounds, Referee] | None:
    model = problem.model
    assert isinstance(model, TreeEnsemble)
    forest = Forest.of(model, problem.space, tree_margins(model, problem.target_index, problem.target.need))
    asked = asked_of(problem, forest)
    if asked is None:
        return None
    referee = Referee(problem)
    return Rounds(problem, forest, asked, referee, Clock(60.0), 0), referee


@pytest.mark.parametrize("seed", range(6))
def test_rounds_never_get_worse_and_come_close(seed: int) -> None:
    problem = hard_question(seed, radius=0.05)
    made = _rounds(problem)
    assert made is not None
    rounds, referee = made
    assert rounds.first()
    first = referee.distance
    rounds.go_on(2_000_000)
    assert referee.distance <= first
    assert rounds.best == pytest.approx(referee.distance)
    best = run_engine(Engine.BOXES, problem).distance
    assert best * (1 - 1e-9) <= referee.distance <= 1.25 * best


@pytest.mark.parametrize("seed", range(40))
def test_collapsed_trees_say_the_same_wherever_a_closer_room_reaches(seed: int) -> None:
    rng = np.random.default_rng([18, seed])
    problem = random_question(rng) if seed % 2 else hard_question(seed)
    model = problem.model
    assert isinstance(model, TreeEnsemble)
    margins = tree_margins(model, problem.target_index, problem.target.need)
    forest = Forest.of(model, problem.space, margins)
    asked = asked_of(problem, forest)
    if asked is None:
        return
    idle = np.clip(problem.factual, problem.lower, problem.upper)
    power = 2 if problem.distance is Distance.L2 else 1
    for budget in (0.3, 1.0, 4.0):
        small = Collapse(model, forest, asked).below(budget**power)
        assert small.n_leaves <= int((model.feature < 0).sum())
        kept = small.margins(margins)
        assert len(kept.value) == len(small.model.leaf_order.node)
        for _ in range(20):
            center = idle + rng.normal(size=idle.size) * rng.choice([0.01, 0.1, 1.0])
            center = np.where(problem.space.whole_center, np.rint(center), center)
            center = np.clip(center, problem.lower, problem.upper)
            if problem.why_inadmissible(center) is not None or problem.measure(center) >= budget:
                continue
            points = (
                problem.body(center).sample(8, seed=int(rng.integers(1 << 30))) if _samples(problem) else center[None]
            )
            assert np.array_equal(small.model.scores(points), model.scores(points))


def _samples(problem: RecourseProblem) -> bool:
    return hasattr(problem.body(problem.factual), "sample")


def test_a_region_is_found_where_the_sum_of_smallest_values_is_too_strict() -> None:
    """Two trees that are bad in different places: no point is bad in both."""
    problem = hard_question(1, radius=0.3)
    made = _rounds(problem)
    assert made is not None
    rounds, referee = made
    if rounds.first():
        assert math.isfinite(referee.distance)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("room", [Ball(0.15), Diamond(0.15)])
def test_balls_and_diamonds_start_from_boxes(seed: int, room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = replace(hard_question(seed), room=room)
    whole = run_engine(Engine.BALLS, problem, seconds=20.0)
    monkeypatch.setattr(size, "LARGE", 0)
    large = run_engine(Engine.BALLS, problem, seconds=20.0)
    assert large.center is not None
    assert isinstance(large.referee.true_verdict(large.center), Certificate)
    assert large.lower_bound <= whole.distance * (1 + 1e-9) and whole.lower_bound <= large.distance * (1 + 1e-9)


def test_threads_at_the_door(all_are_large: None) -> None:
    """Any number of threads gives the same answer; 0 is none."""
    rng = np.random.default_rng(5)
    X = rng.uniform(size=(300, 4))
    model = RandomForestClassifier(8, max_depth=5, random_state=0).fit(X, X[:, 0] + X[:, 1] ** 2 > 0.8)
    explainer = Explainer(model)
    one, two = (explainer.explain(X[0], room=Box(0.02), n_jobs=n_jobs) for n_jobs in (1, 2))
    assert isinstance(one, Region) and isinstance(two, Region)
    assert one.center.equals(two.center) and one.lower_bound == two.lower_bound
    with pytest.raises(InputError, match="n_jobs=0 must be a whole number"):
        explainer.explain(X[0], n_jobs=0)
