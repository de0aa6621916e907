"""Rules of every kind on small trees: equal to what looking at everything finds."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.problem import Distance
from tests.support.brute import closest
from tests.support.referee import Engine, run_engine
from tests.support.rule_truth import more, obeys, random_row, random_rules, with_further_prices, with_prices
from tests.support.searches import check
from tests.support.small_questions import random_question


def compare(seed: int, engine: Engine = Engine.AUTO) -> str:
    """Ask an engine and brute force the same question; how it ended."""
    rng = np.random.default_rng([16, seed])
    plain = random_question(rng)
    if rng.random() < 0.3:
        plain = with_prices(rng, plain, flat=engine is not Engine.AUTO)
    rules = plain.rules + random_rules(rng, plain, int(rng.integers(1, 4)))
    try:
        problem = replace(plain, rules=rules)
        found = run_engine(engine, problem, seconds=30.0)
    except InputError as refused:
        assert "everywhere" in str(refused) or "whole number" in str(refused) or "all of them" in str(refused), refused
        return "refused"
    check(found)
    truth = closest(problem, more=more(problem), obeys=lambda center: obeys(problem, center))
    said = f"seed {seed}: {[rule.source for rule in rules]}"
    if math.isinf(truth):
        assert found.center is None and math.isinf(found.lower_bound), (said, found.distance, found.reason)
        return "none"
    assert found.center is not None, (said, truth, found.reason, found.lower_bound)
    assert obeys(problem, found.center), said
    scale = max(1.0, truth) * (1e-9 if engine is Engine.AUTO else 1e-5)
    assert abs(found.distance - truth) <= scale, (said, found.distance, truth)
    assert found.lower_bound <= truth + 1e-9 * max(1.0, truth), said
    return "found"


@pytest.mark.parametrize("seed", range(60))
def test_boxes_on_trees_with_random_rules_equal_brute_force(seed: int) -> None:
    compare(seed)


def compare_rows(seed: int) -> str:
    """Rows of two columns, with other rules beside them, for the l1 distance: an engine against brute force."""
    rng = np.random.default_rng([61, seed])
    plain = random_question(rng)
    while (plain.space.group_of < 0).sum() != 2:
        plain = random_question(rng)
    plain = replace(plain, distance=Distance.L1)
    if rng.random() < 0.3:
        plain = with_prices(rng, plain)
    rules = (*plain.rules, random_row(rng, plain), *random_rules(rng, plain, int(rng.integers(0, 2))))
    try:
        problem = replace(plain, rules=rules)
        found = run_engine(Engine.AUTO, problem, seconds=30.0)
    except InputError as refused:
        assert "everywhere" in str(refused) or "whole number" in str(refused) or "length of a move" in str(refused), (
            refused
        )
        return "refused"
    check(found)
    truth = closest(problem, more=more(problem), obeys=lambda center: obeys(problem, center))
    said = f"seed {seed}: {[rule.source for rule in rules]}"
    if found.center is not None:
        assert obeys(problem, found.center), said
    if math.isinf(truth):
        assert found.center is None and math.isinf(found.lower_bound), (said, found.distance, found.reason)
        return "none"
    assert found.center is not None, (said, truth, found.reason, found.lower_bound)
    assert found.distance == pytest.approx(truth, rel=3e-8, abs=3e-8), said  # rows hold to 1e-9 of their terms
    assert found.lower_bound <= truth * (1 + 3e-8) + 3e-8, said
    return "found"


@pytest.mark.parametrize("seed", range(40))
def test_boxes_on_trees_with_rows_of_two_columns_equal_brute_force(seed: int) -> None:
    compare_rows(seed)


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_hundreds_of_rows(block: int) -> None:
    ended = [compare_rows(seed) for seed in range(1000 + 50 * block, 1050 + 50 * block)]
    assert ended.count("found") > 5


@pytest.mark.parametrize("seed", range(12))
def test_cases_around_algorithm_1_find_the_same(seed: int) -> None:
    compare(seed, Engine.ADVERSARIAL)


def compare_prices(seed: int, engine: Engine) -> str:
    """Piecewise prices, prices of any change and percentiles; other engines than that for boxes on trees know them for l1."""
    rng = np.random.default_rng([21, seed])
    problem = with_further_prices(rng, replace(random_question(rng), rules=()))
    if engine is not Engine.AUTO:
        problem = replace(problem, distance=Distance.L1)
    found = run_engine(engine, problem, seconds=30.0)
    check(found)
    truth = closest(problem)
    if math.isinf(truth):
        assert found.center is None and math.isinf(found.lower_bound), (seed, found.distance, found.reason)
        return "none"
    assert found.center is not None, (seed, truth, found.reason, found.lower_bound)
    scale = max(1.0, truth) * (1e-9 if engine is Engine.AUTO else 1e-5)
    assert abs(found.distance - truth) <= scale, (seed, found.distance, truth)
    assert truth - scale <= found.lower_bound <= truth + 1e-9 * max(1.0, truth), (seed, found.lower_bound, truth)
    return "found"


@pytest.mark.parametrize("seed", range(40))
def test_boxes_on_trees_with_prices_of_all_kinds_equal_brute_force(seed: int) -> None:
    compare_prices(seed, Engine.AUTO)


@pytest.mark.parametrize("seed", range(10))
def test_prices_of_all_kinds_are_divided_for_algorithm_1(seed: int) -> None:
    compare_prices(seed, Engine.ADVERSARIAL)


@pytest.mark.long
@pytest.mark.parametrize("engine", [Engine.AUTO, Engine.ADVERSARIAL])
def test_hundreds_of_prices(engine: Engine) -> None:
    ended = [compare_prices(seed, engine) for seed in range(1000, 1200)]
    assert ended.count("found") > 50


@pytest.mark.long
@pytest.mark.parametrize("block", range(4))
def test_hundreds_of_cases_around_algorithm_1(block: int) -> None:
    for seed in range(5000 + 50 * block, 5050 + 50 * block):
        compare(seed, Engine.ADVERSARIAL)


@pytest.mark.long
@pytest.mark.parametrize("block", range(20))
def test_thousands_of_them(block: int) -> None:
    ended = [compare(seed) for seed in range(1000 + 100 * block, 1100 + 100 * block)]
    assert ended.count("found") > 20 and ended.count("none") > 5
