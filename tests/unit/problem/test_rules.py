"""Rules: what they say, what they come down to, and how files keep them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from elbowroom import (
    Allowed,
    AtMost,
    Feature,
    Forbidden,
    Group,
    Implies,
    InputError,
    LeastChange,
    LinearRule,
    Ordered,
    Space,
    Steps,
    Together,
    Transitions,
)  # fmt: skip
from elbowroom.problem import NotAll, Rule
from elbowroom.problem.reader import Reader
from elbowroom.problem.rules import RULES, parse_rules, rules_in, rules_out
from tests.support.further_rules import InSteps

SPACE = Space(
    (*(Feature(name) for name in ("a", "b", "inf")), *(Feature(f"city_{c}", "binary") for c in "xyz")),
    (Group("city", ("city_x", "city_y", "city_z"), labels=("x", "y", "z")),),
)
FACTUAL = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])


def read(document: object) -> tuple[Rule, ...]:
    return rules_in(Reader(json.loads(json.dumps(document)), "rules", "file.json"), SPACE, FACTUAL)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (AtMost(0), "no feature changes"),
        (AtMost(1), "at most one feature changes"),
        (AtMost(2), "at most two features change"),
        (AtMost(9), "at most nine features change"),
        (AtMost(np.int64(1200)), "at most 1,200 features change"),
        (LinearRule({"a": 1, "b": -1}, high=0), "a is at most b"),
        (LinearRule({"a": 1, "b": -1}, 0, 0), "a is equal to b"),
        (LinearRule({"a": 1, "b": -1}, high=1200), "a - b is at most 1,200"),
        (LinearRule({"a": -1, "b": 2.5}, low=-0.25), "-a + 2.5 * b is at least -0.25"),
        (LinearRule({"a": -2, "b": 1e-20}, 1, 2), "-2 * a + 1e-20 * b lies between 1 and 2"),
        (LinearRule({"a": 1}, 3, 3), "a is 3"),
        (LinearRule({"a": 0.1}), "0.1 * a is any number"),
        (NotAll(["a"]), "a stays as it is"),
        (NotAll(["a", "b", "inf"]), "a, b and inf do not all change"),
        (LinearRule({"b": 1, "a": -1}, low=0, everywhere=True), "b is at least a at every point of the room"),
        (Allowed({"term": [12, 24, 36]}), "term is 12, 24 or 36"),
        (Allowed({"term": (12, None), "use": ["car"]}), "term is at least 12 and use is 'car'"),
        (Forbidden({"use": "car", "term": (None, 6)}), "it is not the case that use is 'car' and term is at most 6"),
        (Implies({"use": "car"}, {"term": (6, 60)}), "if use is 'car', then term lies between 6 and 60"),
        (LeastChange({"income": 500}), "income stays as it is or changes by at least 500"),
        (Ordered("school", ["low", "high"]), "school never goes down in the order 'low', 'high'"),
        (Steps({"amount": 100}), "amount stays as it is or is a multiple of 100"),
        (Together(["amount", "term"]), "amount and term change together or not at all"),
        (Transitions("job", {"none": ["part", "full"]}), "job changes only from 'none' to 'part' or 'full'"),
        (Transitions("job", {}), "job does not change"),
    ],
)
def test_words(rule: Rule, words: str) -> None:
    assert rule.words == words
    assert rule.source == f"{type(rule).__name__} ({words})"


def test_files_keep_every_rule_of_the_table() -> None:
    samples = {
        "AtMost": [AtMost(0), AtMost(np.int32(3))],
        "LinearRule": [
            LinearRule({"a": 0.1, "inf": -3}, high=1 / 3),
            LinearRule({"b": 5e-324}, low=-1.5),
            LinearRule({"a": 1}),
            LinearRule({"a": 1, "b": -1}, low=0, everywhere=True),
        ],
        "NotAll": [NotAll(["a"]), NotAll(("b", "inf"))],
        "Allowed": [Allowed({"a": [1, 2.5], "b": (None, 3)}), Allowed({"city": ["x", "y"]}, everywhere=True)],
        "Forbidden": [Forbidden({"a": (1, None), "city": "x"}), Forbidden({"a": 0.5}, everywhere=True)],
        "Implies": [Implies({"city": ["x"]}, {"a": (0, 1), "b": 2}), Implies({"a": (1, 2)}, {"city": "z"}, True)],
        "LeastChange": [LeastChange({"a": 0.1, "b": np.float32(2)})],
        "Ordered": [Ordered("city", ["x", "y", "z"]), Ordered("city", ["z", "y", "x"], "up", everywhere=True)],
        "Steps": [Steps({"a": 100}), Steps({"b": 0.1}, everywhere=True)],
        "Together": [Together(["a", "city"]), Together(("a", "b", "inf"))],
        "Transitions": [Transitions("city", {"x": ["y"], "y": []}), Transitions("city", {}, everywhere=True)],
    }
    assert samples.keys() | {"InForest", "OnLeaves", "InHull"} == RULES.keys()  # these hold arrays: see below
    for name, rules in samples.items():
        written = rules_out(tuple(rules))
        assert [entry["rule"] for entry in written] == [name] * len(rules)
        json.dumps(written, allow_nan=False)
        assert read(written) == tuple(rules)


def test_files_keep_trees_and_points() -> None:
    from elbowroom.models.trees import TreeEnsemble
    from elbowroom.problem.rules import InForest, InHull, OnLeaves
    from elbowroom.problem.rules.trees_json import votes
    from tests.support.small_models import random_trees

    rng = np.random.default_rng(0)
    cuts = [np.append(rng.normal(size=4), np.inf) for _ in range(3)]
    for seed in range(5):
        model = random_trees(np.random.default_rng(seed), 3, 4, seed, cuts, exact=False)
        kept = votes(model, SPACE.names, np.arange(3), model.value[:, 0], 0.3, 1e-9, "trees")
        rules = (
            InForest(kept, True),
            InForest(kept),
            OnLeaves(kept, 4, True),
            InHull(("b", "a"), rng.normal(size=(3, 2))),
        )
        again = read(rules_out(rules))
        assert rules_out(again) == rules_out(rules)
        assert [rule.words for rule in again] == [rule.words for rule in rules]
        X = rng.normal(size=(50, 3))
        for rule in again[:3]:
            found: TreeEnsemble = rule.votes  # type: ignore[attr-defined]
            assert found.fingerprint == kept.fingerprint and found.info.evaluation_error == 1e-9
            assert np.allclose(found.scores(X), model.scores(X) - model.base - 0.3)
            assert found.n_trees == model.n_trees


TREES = {
    "rule": "InForest", "columns": ["a", "b", "inf", "city_x", "city_y", "city_z"], "feature": [0, -1, -1, -1], "cut": [0.5], "leaf": [0, 1, 1],
    "values": [1.0, 2.0], "sets": [], "need": 2.5, "slack": 0.0, "everywhere": True,
}  # fmt: skip


def test_trees_of_a_file_are_whole() -> None:
    (rule,) = read([TREES])
    assert rule.words == "an isolation forest of 2 trees calls no point of the room an outlier"
    for key, value in (
        ("columns", ["a", "b"]), ("columns", []), ("columns", ["a", "a", "b"]), ("feature", [0, -1, -1, 1]), ("feature", [6, -1, -1, -1]),
        ("feature", [0, -1]), ("feature", []), ("feature", [0, -2, -1, -1]), ("feature", [0.0, -1, -1, -1]), ("cut", [0.5, 1]),
        ("cut", ["nan"]), ("leaf", [0, 1, 2]), ("leaf", [0, 1]), ("leaf", [True, 1, 1]), ("values", ["inf", 1]), ("need", "inf"),
        ("slack", -1.0), ("everywhere", 1), ("sets", [{"left": [0], "right": [0]}]), ("sets", [{"left": [9], "right": [0]}]),
    ):  # fmt: skip
        with pytest.raises(InputError):
            read([{**TREES, key: value}])
    for points in ([], [[1.0]], [["inf", 1.0]], 3):
        with pytest.raises(InputError):
            read([{"rule": "InHull", "columns": ["a", "b"], "points": points}])


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"rule": "AtLeast", "changes": 1}, r"rules\[0\].rule should be one of"),
        ({"changes": 1}, r"rules\[0\].rule is missing"),
        ({"rule": "AtMost"}, r"rules\[0\].changes is missing"),
        ({"rule": "AtMost", "changes": -1}, r"rules\[0\].changes should be"),
        ({"rule": "AtMost", "changes": 1.5}, r"rules\[0\].changes should be"),
        ({"rule": "LinearRule", "coefficients": {"z": 1}, "low": "-inf", "high": 0}, "unknown column 'z'"),
        ({"rule": "LinearRule", "coefficients": {"a": "inf"}, "low": "-inf", "high": 0}, "a finite number"),
        ({"rule": "LinearRule", "coefficients": {"a": 1}, "low": 2, "high": 1}, "must not be above"),
        ({"rule": "LinearRule", "coefficients": [1], "low": 2, "high": 1}, "an object"),
        ("AtMost", "an object"),
    ],
)
def test_broken_entries_are_refused_by_place(entry: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read([entry])


def test_a_rule_without_a_line_in_the_table_has_no_json_form() -> None:
    with pytest.raises(InputError, match="InSteps has no JSON form"):
        rules_out((InSteps("a", 1.0),))


def test_one_line_in_the_table_is_all_that_files_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "InSteps", InSteps)
    assert read(rules_out((InSteps("a", 0.5), AtMost(1)))) == (InSteps("a", 0.5), AtMost(1))


def test_rules_as_users_hand_them_in() -> None:
    rules = (AtMost(1), LinearRule({"a": 1}, high=1))
    assert parse_rules(list(rules)) == rules and parse_rules(rules[0]) == rules[:1] and parse_rules(()) == ()
    for nonsense in (None, 5, "AtMost(1)", np.array(1.0)):
        with pytest.raises(InputError, match=r"give a list of rules such as \[AtMost\(2\)\]"):
            parse_rules(nonsense)


def test_a_linear_rule_is_one_row() -> None:
    (row,) = LinearRule({"b": 2.0, "a": -1.0}, -1, math.inf).lower(SPACE, FACTUAL).rows
    assert row.coefficients.tolist() == [-1.0, 2.0, 0.0, 0.0, 0.0, 0.0] and (row.low, row.high) == (-1.0, math.inf)
    with pytest.raises(InputError, match="unknown column 'c'"):
        LinearRule({"c": 1}).lower(SPACE, FACTUAL)
