"""Everything that a person may ask for, in combination, equal to what looking at everything finds.

`python -m benchmarks exact` asks thousands of these.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from elbowroom import AtMost, Ball, Box, Explainer, Feature, Forbidden, Group, LinearRule, NotAll, Region, Space, Status
from elbowroom.models import TreeEnsemble
from elbowroom.problem import RecourseProblem
from elbowroom.search.adversarial.center import tidy
from elbowroom.search.network.moves import Moves
from tests.support.exact import attacked, people, several, whole
from tests.support.small_models import info, random_trees
from tests.support.small_networks import network

pytestmark = pytest.mark.filterwarnings("ignore:the room is wider")


def test_rules_prices_rooms_plausibility_and_missing_values_together() -> None:
    ended = Counter(people(seed) for seed in range(80))
    assert ended["region"] >= 25 and ended["none"] >= 8, ended


def test_a_tie_of_a_forest_under_another_rule_does_not_hide_the_answer_behind_it() -> None:
    assert people(1530) == people(2464) == "within rounding of a tie"  # certified, at the true distance


@pytest.mark.parametrize(
    ("families", "count"), [(("trees",), 30), (("linear",), 30), (("network",), 4), (("oblique",), 6)]
)
def test_every_family_and_shape_on_whole_numbers(families: tuple[str, ...], count: int) -> None:
    ended = Counter(whole(seed, families) for seed in range(count))
    assert ended["region"] >= count // 5, ended


@pytest.mark.parametrize("seed", [1255, 1464, 1487, 2098])
def test_rows_of_whole_numbers_on_trees_by_algorithm_1(seed: int) -> None:
    whole(seed, ("trees",), "adversarial")


def test_a_row_of_whole_columns_is_kept_behind_a_cut() -> None:
    """x1 - x0 is at most 1, and x1 has to pass 0.25: the cell behind the cut begins at 1."""
    nodes = np.array([1, -1, -1]), np.array([0.25, 0.0, 0.0]), np.array([1, -1, -1]), np.array([2, -1, -1])
    model = TreeEnsemble(info(2), np.array([0]), *nodes, np.array([[0.0], [-1.0], [1.0]]), np.zeros(1))
    explainer = Explainer(model, Space(tuple(Feature(f"x{f}", "integer", -4, 4) for f in range(2))))
    rules = [LinearRule({"x1": 1.0, "x0": -1.0}, high=1.0)]
    answer = explainer.explain([-2.0, 0.0], Box(0.0), 1, "linf", rules, method="adversarial")
    assert answer.status is Status.OPTIMAL and answer.distance == 2.0  # to (0, 1)


def test_a_far_region_does_not_end_the_search_between_it_and_what_was_looked_at() -> None:
    """One leaf finds a region at 12.5; the master looks 5 far at first, and the closest region is at 7.5."""
    assert whole(10039, ("trees",)) == "region"


def test_menus_and_different_answers_under_rules() -> None:
    ended = Counter(several(seed) for seed in range(40))
    assert ended["several"] >= 3, ended


def several_ways() -> tuple[Explainer, np.ndarray]:
    rng = np.random.default_rng(4)
    cuts = [rng.normal(size=8) for _ in range(3)]
    explainer = Explainer(random_trees(rng, 3, 8, 3, cuts, exact=False), Space.plain(("x0", "x1", "x2")))
    for _ in range(100):
        row = rng.normal(size=3)
        if len(explainer.explain_diverse(row, 2, Box(0.05))) == 2:
            return explainer, row
    raise AssertionError("no row with two answers")


def test_different_answers_in_balls() -> None:
    """Features cannot be frozen with their room there; the rules of later answers are asked for as rules."""
    explainer, row = several_ways()
    found = explainer.explain_diverse(row, 3, Ball(0.05))
    assert len(found) > 1
    for place, region in enumerate(found):
        attacked(explainer, region)
        assert len(region.rules) == place and all(isinstance(rule, NotAll) for rule in region.rules)
        again = explainer.explain(row, Ball(0.05), rules=region.rules)
        assert isinstance(again, Region) and again.distance == pytest.approx(region.distance, rel=2e-4)


def test_a_network_leaves_a_category_that_the_rules_forbid_and_the_room_takes() -> None:
    """The room takes every category, the centre may not keep its own. Moves that do not say which other one it takes stand
    for a centre all the same: a point without any category would rule out regions that exist."""
    features = [Feature("x0", "integer", -2, 2), *(Feature(f"x{f}", "binary") for f in (1, 2, 3))]
    space = Space(tuple(features), (Group("city", ("x1", "x2", "x3")),))
    model = network(np.random.default_rng(7), 4, (4,))
    room, rules = Box(0.0, categories={"city": "any"}), (Forbidden({"city": "x1"}),)
    problem = RecourseProblem.ask(model, space, [0.0, 1.0, 0.0, 0.0], room, 1, "l1", rules)
    moves = Moves.of(problem)
    assert moves.center(moves.low)[1:].tolist() in ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
    assert problem.admissible(moves.center(moves.low))


def test_a_column_that_is_off_by_rounding_beside_a_change_of_category_is_put_back() -> None:
    """What a solver hands back, under a limit on changes: the category is the change, the column did not move."""
    features = [Feature("x0"), *(Feature(f"x{f}", "binary") for f in (1, 2))]
    space = Space(tuple(features), (Group("city", ("x1", "x2")),))
    model = network(np.random.default_rng(1), 3, (2,))
    problem = RecourseProblem.ask(model, space, [0.3, 1.0, 0.0], Box(0.0), 1, "l1", [AtMost(1)])
    off = np.array([np.nextafter(0.3, 1.0), 0.0, 1.0])
    assert problem.why_inadmissible(off) is not None
    assert tidy(problem, off).tolist() == [0.3, 0.0, 1.0]
