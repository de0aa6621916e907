"""The rules that users can state and files can keep, by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem.conditions import Conditions
from elbowroom.problem.parsing import is_list
from elbowroom.problem.reader import Reader
from elbowroom.problem.rules.at_most import AtMost
from elbowroom.problem.rules.base import Rule
from elbowroom.problem.rules.categories import Ordered, Transitions
from elbowroom.problem.rules.combinations import Forbidden, Implies
from elbowroom.problem.rules.linear import LinearRule
from elbowroom.problem.rules.not_all import NotAll
from elbowroom.problem.rules.plausible import InForest, InHull, OnLeaves
from elbowroom.problem.rules.together import Together
from elbowroom.problem.rules.values import Allowed, LeastChange, Steps
from elbowroom.problem.space import Space

RULES: Final[dict[str, type[Rule]]] = {
    "Allowed": Allowed,
    "AtMost": AtMost,
    "Forbidden": Forbidden,
    "Implies": Implies,
    "LeastChange": LeastChange,
    "LinearRule": LinearRule,
    "NotAll": NotAll,
    "Ordered": Ordered,
    "Steps": Steps,
    "Together": Together,
    "Transitions": Transitions,
    "InForest": InForest,
    "OnLeaves": OnLeaves,
    "InHull": InHull,
}


def parse_rules(rules: object) -> tuple[Rule, ...]:
    """A rule or a list of them, as users hand them in."""
    if isinstance(rules, Rule):
        return (rules,)
    if not isinstance(rules, Iterable) or not is_list(rules):
        raise InputError(f"rules={rules!r}: give a list of rules such as [AtMost(2)]; there are {', '.join(RULES)}")
    return tuple(rules)


def check_rules(rules: Iterable[object]) -> None:
    for rule in rules:
        if not isinstance(rule, Rule):
            raise InputError(
                f"rule {rule!r} is unknown; use {', '.join(list(RULES)[:-1])} or {list(RULES)[-1]}, for example AtMost(2)"
            )


def conditions_of(rules: Iterable[Rule], space: Space, factual: Floats) -> Conditions:
    """What rules come down to, all together."""
    parts = [rule.lower(space, factual) for rule in rules]
    return Conditions.merged(parts) if parts else Conditions()


def rules_out(rules: tuple[Rule, ...]) -> list[dict[str, Any]]:
    """Rules as JSON."""
    return [_rule_out(rule) for rule in rules]


def _rule_out(rule: Rule) -> dict[str, Any]:
    for name, kind in RULES.items():
        if type(rule) is kind:
            return {"rule": name, **rule.fields()}
    raise InputError(f"a rule of type {type(rule).__name__} has no JSON form; the known ones are {list(RULES)}")


def rules_in(entry: Reader, space: Space, factual: Floats) -> tuple[Rule, ...]:
    """Rules from JSON, each checked against the space that it is about."""
    return tuple(_rule_in(item, space, factual) for item in entry.items())


def _rule_in(entry: Reader, space: Space, factual: Floats) -> Rule:
    name = entry.at("rule").text()
    if name not in RULES:
        raise entry.at("rule").wrong(f"one of {list(RULES)}, not {name!r:.60}")
    rule = RULES[name].read(entry)
    rule.lower(space, factual)  # refuses columns that the space does not have
    return rule
