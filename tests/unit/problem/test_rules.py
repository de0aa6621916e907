"""Rules: what they say, what they come down to, and how files keep them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from elbowroom import AtMost, InputError, LinearRule, Space
from elbowroom.problem import Rule
from elbowroom.problem.reader import Reader
from elbowroom.problem.rules import RULES, parse_rules, rules_in, rules_out
from tests.support.further_rules import InSteps

SPACE = Space.plain(["a", "b", "inf"])
FACTUAL = np.zeros(3)


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
        (LinearRule({"a": 1, "b": -1}, high=0), "a - b is at most 0"),
        (LinearRule({"a": -1, "b": 2.5}, low=-0.25), "-a + 2.5 * b is at least -0.25"),
        (LinearRule({"a": -2, "b": 1e-20}, 1, 2), "-2 * a + 1e-20 * b lies between 1 and 2"),
        (LinearRule({"a": 1}, 3, 3), "a is 3"),
        (LinearRule({"a": 0.1}), "0.1 * a is any number"),
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
        ],
    }
    assert samples.keys() == RULES.keys()
    for name, rules in samples.items():
        written = rules_out(tuple(rules))
        assert [entry["rule"] for entry in written] == [name] * len(rules)
        json.dumps(written, allow_nan=False)
        assert read(written) == tuple(rules)


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
        with pytest.raises(InputError, match="give a list of AtMost and LinearRule"):
            parse_rules(nonsense)


def test_a_linear_rule_is_one_row() -> None:
    (row,) = LinearRule({"b": 2.0, "a": -1.0}, -1, math.inf).lower(SPACE, FACTUAL).rows
    assert row.coefficients.tolist() == [-1.0, 2.0, 0.0] and (row.low, row.high) == (-1.0, math.inf)
    with pytest.raises(InputError, match="unknown column 'c'"):
        LinearRule({"c": 1}).lower(SPACE, FACTUAL)
