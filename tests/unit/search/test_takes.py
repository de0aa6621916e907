"""Every engine says which conditions it takes, and refuses the others by the name of the part and of the rule."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from elbowroom import (
    AtMost,
    Ball,
    Box,
    Diamond,
    Explainer,
    Feature,
    InputError,
    LinearRule,
    NoRegion,
    Region,
    Space,
    Status,
)
from elbowroom.models import Model
from elbowroom.problem import Room, Rule
from tests.support.further_rules import InSteps, LowOrHigh
from tests.support.linear_problems import linear_model
from tests.support.oblique_models import random_oblique
from tests.support.small_models import random_network, random_trees

SPACE = Space(tuple(Feature(f"x{f}", "numeric", -2.0, 2.0) for f in range(3)))
STEPS, CLAUSES = InSteps("x0", 0.5), LowOrHigh(("x0", 1.0), ("x1", 0.0))
ROOMS: dict[str, Room] = {"box": Box(0.01), "ball": Ball(0.01), "diamond": Diamond(0.01)}


def models() -> dict[str, Model]:
    rng = np.random.default_rng(5)
    return {
        "linear": linear_model(rng.normal(size=(1, 3)), np.array([0.1])),
        "network": random_network(rng, (3, 5)),
        "oblique": random_oblique(rng, 3, 2, 3),
        "tree": random_trees(rng, 3, 1, 3, [rng.normal(size=6) for _ in range(3)]),
        "forest": random_trees(rng, 3, 5, 3, [rng.normal(size=6) for _ in range(3)]),
    }


def _engines() -> Iterator[tuple[str, str, str]]:
    for family in ("linear", "network", "oblique", "tree", "forest"):
        for shape in ROOMS:
            yield family, shape, "auto"
        yield family, "box", "adversarial"
        if family in ("tree", "forest"):
            yield family, "box", "one_leaf"


ENGINES = list(_engines())


def ask(family: str, shape: str, method: str, rule: Rule) -> Region | NoRegion:
    model = models()[family]
    rng = np.random.default_rng(1)
    rows = rng.uniform(-1, 1, (200, 3))
    row = rows[model.info.labels_of(model.scores(rows)) == 0][0]
    return Explainer(model, SPACE).explain(row, ROOMS[shape], 1, rules=[rule], method=method, time_limit=30.0)


@pytest.mark.parametrize(("family", "shape", "method"), ENGINES)
def test_steps_and_clauses_are_taken_or_refused_by_name(family: str, shape: str, method: str) -> None:
    parts = ((STEPS, r"certain values: InSteps \(x0 moves"), (CLAUSES, r"clauses: LowOrHigh \(x0 is at most"))
    for rule, part in parts:
        if method == "one_leaf":
            with pytest.raises(InputError, match=f"does not take {part}"):
                ask(family, shape, method, rule)
            continue
        answer = ask(family, shape, method, rule)
        assert answer.status is not Status.UNKNOWN
        if answer:
            moved = float(answer.center["x0"]) - float(answer.factual["x0"])
            low, high = float(answer.center["x0"]) <= 1.0, float(answer.center["x1"]) >= 0.0
            assert moved / 0.5 == pytest.approx(round(moved / 0.5), abs=1e-12) if rule is STEPS else low or high


@pytest.mark.parametrize(("family", "shape", "method"), ENGINES)
def test_every_engine_takes_rows(family: str, shape: str, method: str) -> None:
    rule = LinearRule({"x0": 1.0, "x1": 2.0}, high=3.0)
    answer = ask(family, shape, method, rule)
    assert not answer or answer.center["x0"] + 2.0 * answer.center["x1"] <= 3.0 + 1e-6


@pytest.mark.parametrize(("family", "shape", "method"), ENGINES)
def test_every_engine_takes_a_limit_on_changes(family: str, shape: str, method: str) -> None:
    answer = ask(family, shape, method, AtMost(2))
    assert not answer or answer.changed.sum() <= 2
