"""What rules come down to: merged, tested at centres, and compared with what an engine takes."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from elbowroom import AtMost, Box, Feature, Group, LinearRule, Space
from elbowroom.problem import Conditions, RecourseProblem, Takes, allowed_categories
from elbowroom.problem.conditions import ROW_SLACK, Between, Clause, Row
from elbowroom.problem.domains import Domain, Grid
from tests.support.further_rules import InSteps, LowOrHigh
from tests.support.small_models import random_trees

SPACE = Space(
    (
        Feature("x0", lower=-10, upper=10),
        Feature("x1", "integer", 0, 9),
        *(Feature(f"x{f}", "binary") for f in (2, 3, 4)),
    ),
    (Group("city", ("x2", "x3", "x4")),),
)
FACTUAL = np.array([1.0, 4.0, 1.0, 0.0, 0.0])
EVERYTHING = Takes(rows=True, most_changes=True, domains=True, clauses=True)


def ask(*rules) -> RecourseProblem:
    model = random_trees(np.random.default_rng(0), 5, 3, 2, [np.array([0.5])] * 5)
    return RecourseProblem.ask(model, SPACE, FACTUAL, Box(0.1), 1, rules=rules)


def at(a: float = 1.0, n: float = 4.0, city: int = 0) -> np.ndarray:
    return np.array([a, n, *np.eye(3)[city]])


def test_the_smallest_limit_counts_and_everything_else_is_kept_in_order() -> None:
    conditions = ask(
        AtMost(3), LinearRule({"x0": 1}, high=2), AtMost(1), LinearRule({"x1": 2}, low=0), InSteps("x0", 0.5), AtMost(2)
    ).conditions
    assert conditions.most_changes == 1
    assert [row.coefficients.tolist() for row in conditions.rows] == [[1, 0, 0, 0, 0], [0, 2, 0, 0, 0]]
    assert [(row.low, row.high) for row in conditions.rows] == [(-math.inf, 2.0), (0.0, math.inf)]
    assert [domain.column for domain in conditions.domains] == [0] and conditions.clauses == ()
    nothing = Conditions.merged([])
    assert (nothing.rows, nothing.most_changes, nothing.domains, nothing.clauses) == ((), None, (), ())


def test_rules_are_lowered_once() -> None:
    problem = ask(LinearRule({"x0": 1}, high=2))
    assert problem.conditions is problem.conditions


def test_rows_hold_up_to_the_rounding_of_their_terms() -> None:
    row = Row(np.array([3.0, -1.0]), -math.inf, 1.0, "")
    for center in (np.array([1e6, 3e6 - 1.0]), np.array([0.4, 0.2])):
        size = float(np.abs(row.coefficients) @ np.abs(center))
        edge = center - np.array([0.0, 0.9 * ROW_SLACK * size])
        assert row.holds(center) and row.holds(edge)
        assert not row.holds(center - np.array([0.0, 1.2 * ROW_SLACK * size]))


def test_a_step_is_exact() -> None:
    grid = Domain(0, (), Grid(1.0, 100.0), "")
    for k in (-3, 0, 7, 10**12):
        value = 1.0 + 100.0 * k
        assert grid.holds(value)
        assert not grid.holds(math.nextafter(value, math.inf))
    tenth = Domain(0, (), Grid(0.0, 0.1), "")
    assert all(tenth.holds(value) for value in (0.0, 0.1, 0.2, 0.3, 0.7))  # the decimals that people write
    assert not tenth.holds(math.nextafter(0.1, 1.0)) and not tenth.holds(3 * 0.1)


def test_a_clause_needs_one_of_its_ranges_and_their_ends_belong_to_them() -> None:
    clause = Clause((Between(0, high=1.0), Between(1, low=5.0)), "")
    above = math.nextafter(1.0, 2.0)
    assert clause.holds(np.array([1.0, 0.0])) and clause.holds(np.array([above, 5.0]))
    assert not clause.holds(np.array([above, math.nextafter(5.0, 0.0)]))
    assert not Clause((), "").holds(np.zeros(2))  # nothing to choose from


@pytest.mark.parametrize(
    ("rules", "center", "named"),
    [
        ((), at(a=11), r"column 'x0': 11.0 lies outside \[-10.0, 10.0\]"),
        ((), at(a=math.inf), "column 'x0': inf"),
        ((), at(a=math.nan), "column 'x0': nan"),
        ((), at(n=2.5), "column 'x1': 2.5 is not a whole number"),
        ((), np.array([1.0, 4.0, 1.0, 1.0, 0.0]), "one-hot group 'city'.* 2.0"),
        ((AtMost(1),), at(a=2, city=1), r"AtMost \(at most one feature changes\) is broken: 2 change"),
        ((AtMost(0),), at(city=2), r"AtMost \(no feature changes\)"),
        ((LinearRule({"x0": 1, "x1": -2}, high=-6),), at(n=3), r"LinearRule \(x0 - 2 \* x1 is at most -6\).*sum is -5"),
        ((InSteps("x0", 0.25),), at(a=1.6), r"InSteps \(x0 moves in steps of 0.25\) is broken by column 'x0': 1.6"),
        ((LowOrHigh(("x0", 2.0), ("x1", 6.0)),), at(a=3, n=5), r"LowOrHigh \(.*x0 = 3.0, x1 = 5.0"),
    ],
)
def test_what_a_centre_breaks_is_named(rules, center: np.ndarray, named: str) -> None:
    problem = ask(*rules)
    reason = problem.why_inadmissible(center)
    assert reason is not None and not problem.admissible(center)
    assert re.search(named, reason), reason


def test_limits_of_the_factual_are_named() -> None:
    space = Space((Feature("x0", immutable=True), Feature("x1", lower=0.0, direction="increasing")))
    model = random_trees(np.random.default_rng(0), 2, 3, 2, [np.array([0.5])] * 2)
    problem = RecourseProblem.ask(model, space, [1.0, 2.0], Box(0.1), 1)
    assert problem.why_inadmissible(np.array([1.5, 2.0])) == "column 'x0' is immutable: 1.5 is not 1.0"
    reason = "column 'x1': 1.0 lies outside [2.0, inf], as it may only rise"
    assert problem.why_inadmissible(np.array([1.0, 1.0])) == reason


@pytest.mark.parametrize(
    ("rules", "center"),
    [
        ((AtMost(1),), at(city=1)),
        ((AtMost(2),), at(a=2, city=1)),
        ((LinearRule({"x0": 1, "x1": -2}, high=-6),), at(a=2)),
        ((InSteps("x0", 0.25),), at(a=-2.75)),
        ((LowOrHigh(("x0", 2.0), ("x1", 6.0)),), at(a=2)),
        ((LowOrHigh(("x0", 2.0), ("x1", 6.0)),), at(a=3, n=6)),
    ],
)
def test_what_obeys_is_admissible(rules, center: np.ndarray) -> None:
    problem = ask(*rules)
    assert problem.admissible(center) and problem.why_inadmissible(center) is None


def test_beyond_names_the_part_and_its_rule() -> None:
    rule = LinearRule({"x0": 1}, high=2)
    assert ask(rule).conditions.beyond(Takes(rows=True)) is None
    assert ask(rule).conditions.beyond(Takes(most_changes=True)) == "linear rows: LinearRule (x0 is at most 2)"
    limit = ask(AtMost(2)).conditions.beyond(Takes(rows=True))
    assert limit == "a limit on the number of changes: AtMost (at most two features change)"
    steps = ask(AtMost(2), InSteps("x1", 2.0)).conditions
    assert steps.beyond(Takes(rows=True, most_changes=True)) == "certain values: InSteps (x1 moves in steps of 2.0)"
    assert str(ask(LowOrHigh(("x0", 1.0), ("x1", 2.0))).conditions.beyond(Takes())).startswith("clauses: LowOrHigh")
    assert steps.beyond(EVERYTHING) is None and ask().conditions.beyond(Takes()) is None


def test_allowed_categories_are_the_one_hot_vectors_within_the_bounds() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        size = int(rng.integers(2, 6))
        lower = rng.choice([-math.inf, 0.0, 0.0, 0.5, 1.0, math.inf], size)
        upper = rng.choice([math.inf, 1.0, 1.0, 0.5, 0.0, -1.0], size)
        expected = [bool(((lower <= c) & (c <= upper)).all()) for c in np.eye(size)]
        assert allowed_categories(lower, upper).tolist() == expected
