"""Rules, prices, further margins and rooms on some columns, the way of large models forced upon small ones."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.models import TreeEnsemble
from elbowroom.models.margins import tree_margins
from elbowroom.problem import Box, Forbidden, LinearRule, RecourseProblem, Steps
from elbowroom.problem.domains import Domain, Values
from elbowroom.search.contract import Clock
from elbowroom.search.trees.first import size
from elbowroom.search.trees.first.asked import asked_of
from elbowroom.search.trees.first.climb import climb
from elbowroom.search.trees.first.forest import Forest
from elbowroom.search.trees.first.profile import line_for
from elbowroom.search.trees.first.stand import stand_at_home
from elbowroom.search.trees.large import First, Standing
from tests.support.hostile import attack
from tests.support.referee import Referee
from tests.support.small_questions import hard_question, random_question
from tests.unit.search.test_rules_truth import compare, compare_rows
from tests.unit.search.test_some_columns import ask_trees
from tests.unit.search.trees.boxes.test_further import check, question_with


@pytest.fixture
def all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size, "LARGE", 0)


@pytest.mark.usefixtures("all_are_large")
def test_rules_and_prices_equal_brute_force() -> None:
    ended = [compare(seed) for seed in range(500, 540)]
    assert ended.count("found") > 5


@pytest.mark.usefixtures("all_are_large")
def test_rows_equal_brute_force() -> None:
    assert [compare_rows(seed) for seed in range(30)].count("found") > 3


@pytest.mark.usefixtures("all_are_large")
def test_room_on_some_columns_equals_brute_force() -> None:
    ask_trees(range(2000, 2040))


@pytest.mark.usefixtures("all_are_large")
@pytest.mark.parametrize("kinds", [(True,), (False,), (True, False)], ids=str)
def test_further_margins_equal_brute_force(kinds: tuple[bool, ...]) -> None:
    assert sum(check(question_with(seed, kinds)) for seed in range(700, 712)) > 3


def _found(problem: RecourseProblem) -> Referee:
    """The first region alone, without any search in cells."""
    referee = Referee(problem)
    assert First(problem, Standing.of(problem), referee, Clock(60.0), 0).find()
    return referee


def _rules(center: np.ndarray, factual: np.ndarray) -> list[tuple[Forbidden | LinearRule | Steps, ...]]:
    """Rules that a centre breaks, if it changes two columns or more."""
    moved = np.flatnonzero(center != factual)[:2]
    there = {f"x{f}": (center[f], None) if center[f] > factual[f] else (None, center[f]) for f in moved}
    a, b = moved
    row = {f"x{a}": float(np.sign(factual[a] - center[a])), f"x{b}": float(np.sign(factual[b] - center[b]))}
    least = sum(row[f"x{f}"] * factual[f] for f in moved)
    return [(Forbidden(there),), (LinearRule(row, low=float(least)),), (Steps({f"x{a}": 0.25, f"x{b}": 0.25}),)]


@pytest.mark.parametrize("seed", range(4))
def test_a_first_region_obeys_the_rule_that_the_plain_one_breaks(seed: int) -> None:
    plain = hard_question(seed, radius=0.05)
    center = _found(plain).center
    assert center is not None
    if (center != plain.factual).sum() < 2:
        return
    for rules in _rules(center, plain.factual):
        problem = hard_question(seed, radius=0.05, rules=rules)
        assert problem.why_inadmissible(center) is not None
        found = _found(problem)
        assert found.center is not None and problem.why_inadmissible(found.center) is None
        info, model = problem.model.info, problem.model
        assert isinstance(model, TreeEnsemble)
        body = problem.body(found.center)
        attack(lambda X, m=model: m.info.labels_of(m.scores(X)), body, problem.target_index, model.cuts)  # type: ignore[misc]
        assert info.n_features == 6


@pytest.mark.parametrize("on", ["all", "changed", "kept"])
@pytest.mark.parametrize("seed", range(15))
def test_what_a_stand_promises_holds_in_its_room(seed: int, on: str) -> None:
    """S at a position is a lower bound of the margin everywhere in the room that the question has there."""
    rng = np.random.default_rng([31, seed])
    problem = random_question(rng)
    room = problem.room
    assert isinstance(room, Box)
    problem = RecourseProblem.ask(
        problem.model,
        problem.space,
        problem.factual,
        Box(room.radius, room.low, room.high, on=on),
        problem.target.label,
    )
    model = problem.model
    assert isinstance(model, TreeEnsemble)
    margins = tree_margins(model, problem.target_index, None)
    forest = Forest.of(model, problem.space, margins)
    asked = asked_of(problem, forest)
    if asked is None:
        return
    stand, line = stand_at_home(forest, asked, 0), line_for(forest)
    single = np.flatnonzero(asked.is_group == 0)
    for _ in range(30):
        for b in single:
            f = int(asked.block_column[asked.block_start[b]])
            mine = np.flatnonzero(forest.feature == f)
            places = [
                asked.home[f],
                *(x for x in asked.above[mine] if x > asked.home[f]),
                *(x for x in asked.below[mine] if x < asked.home[f]),
            ]
            lower, upper = problem.centers
            stand.x[f] = rng.choice([x for x in places if lower[f] <= x <= upper[f] and np.isfinite(x)])
        center = stand.x[: problem.factual.size] + 0.0
        assert problem.why_inadmissible(center) is None
        climb(forest, asked, stand, line, np.inf, 0.0, 1.0, 0)  # looks, and goes nowhere
        points = problem.body(center).sample(200, seed=int(rng.integers(1 << 30)))
        values = margins.base + margins.value[model.leaf_order.place[model.apply(points)]].sum(axis=1)
        assert (values.min(axis=0) >= stand.sums - 1e-9).all()


def test_many_places_share_the_next_allowed_value() -> None:
    rng = np.random.default_rng(0)
    for domain in (Domain(0, ((-1.0, 0.5), (2.0, 2.0)), None, "some"), Domain(0, (), None, "none")):
        for whole in (False, True):
            values = Values((domain,), whole)
            places = np.round(rng.normal(0.0, 2.0, 200), 2)
            assert values.nearest_of(places, True, 3.0).tolist() == [values.at_or_above(x, 3.0) for x in places]
            assert values.nearest_of(places, False, -3.0).tolist() == [values.at_or_below(x, -3.0) for x in places]
