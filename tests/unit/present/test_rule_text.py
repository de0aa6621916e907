"""Rules as people type them."""

from __future__ import annotations

import pytest

from elbowroom import Allowed, Feature, Group, InputError, LeastChange, LinearRule, Space, Steps, Together
from elbowroom.present.rule_text import parse_rule
from elbowroom.problem import Rule

SPACE = Space(
    (
        Feature("mean radius"),
        Feature("worst radius"),
        Feature("term"),
        Feature("u_a", "binary"),
        Feature("u_b", "binary"),
    ),
    (Group("use", ("u_a", "u_b"), labels=("car", 7)),),
)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("worst radius >= mean radius", LinearRule({"worst radius": 1, "mean radius": -1}, low=0)),
        (
            "mean radius<=worst radius everywhere",
            LinearRule({"mean radius": 1, "worst radius": -1}, high=0, everywhere=True),
        ),
        ("term <= 36", LinearRule({"term": 1}, high=36)),
        ("term in steps of 12", Steps({"term": 12})),
        ("term in 12, 24,36", Allowed({"term": [12, 24, 36]})),
        ("use in car,7", Allowed({"use": ["car", 7]})),
        ("term changes by at least 6", LeastChange({"term": 6})),
        ("term, use change together", Together(["term", "use"])),
    ],
)
def test_every_form(text: str, rule: Rule) -> None:
    assert parse_rule(text, SPACE) == rule


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("be sensible", "no form that is known.*worst radius >= mean radius"),
        ("trem <= 3", "did you mean 'term'"),
        ("term <= mean", "did you mean 'mean radius'|unknown column 'mean'"),
        ("term in steps of many", "'many' is not a number"),
        ("term in 12,x", "'x' is not a number"),
        ("term >= term", "with itself"),
        ("term, use change together everywhere", "leave out everywhere"),
    ],
)
def test_what_is_wrong_is_named(text: str, named: str) -> None:
    with pytest.raises(InputError, match=named):
        parse_rule(text, SPACE)
