"""Rules as people type them on the command line.

    worst radius >= mean radius         amount in steps of 100          income changes by at least 500
    amount <= 5000                      term in 12,24,36                amount, term change together

With the word "everywhere" at the end a rule is demanded at every point of the room.
"""

from __future__ import annotations

import re
from typing import Final

from elbowroom.errors import InputError
from elbowroom.problem import Allowed, LeastChange, LinearRule, Rule, Space, Steps, Together
from elbowroom.problem.parsing import unknown
from elbowroom.problem.rules.terms import Value, group_of

FORMS: Final = (
    '"worst radius >= mean radius", "amount <= 5000", "amount in steps of 100", "term in 12,24,36", "income changes by at '
    'least 500", "amount, term change together"'
)
ORDER: Final = re.compile(r"(?P<left>.+?)\s*(?P<sign><=|>=)\s*(?P<right>.+)")
STEPS: Final = re.compile(r"(?P<name>.+?)\s+in steps of\s+(?P<size>\S+)")
LEAST: Final = re.compile(r"(?P<name>.+?)\s+changes by at least\s+(?P<size>\S+)")
TOGETHER: Final = re.compile(r"(?P<names>.+?)\s+change together")
VALUES: Final = re.compile(r"(?P<name>.+?)\s+in\s+(?P<values>.+)")


def parse_rule(text: str, space: Space) -> Rule:
    """One of the forms above; names are those of the table."""
    words, everywhere = text.strip(), False
    if words.endswith(" everywhere"):
        words, everywhere = words.removesuffix(" everywhere").strip(), True
    if found := TOGETHER.fullmatch(words):
        _only_at_the_center(everywhere, text)
        return Together([name.strip() for name in found["names"].split(",")])
    if found := LEAST.fullmatch(words):
        _only_at_the_center(everywhere, text)
        return LeastChange({found["name"]: _number(found["size"], text)})
    if found := STEPS.fullmatch(words):
        return Steps({found["name"]: _number(found["size"], text)}, everywhere)
    if found := ORDER.fullmatch(words):
        return _order(found["left"], found["sign"], found["right"], space, everywhere, text)
    if found := VALUES.fullmatch(words):
        name = found["name"]
        listed = [value.strip() for value in found["values"].split(",")]
        return Allowed({name: _values(name, listed, space, text)}, everywhere)
    raise InputError(f"--rule {text!r} has no form that is known: {FORMS}")


def _order(left: str, sign: str, right: str, space: Space, everywhere: bool, text: str) -> Rule:
    for name in (left,) if _is_number(right) else (left, right):
        if name not in space.position:
            raise InputError(f"--rule {text!r}: {unknown(name, space.columns)}")
    if _is_number(right):
        limit = _number(right, text)
        coefficients = {left: 1.0}
    else:
        limit, coefficients = 0.0, {left: 1.0, right: -1.0}
    if left == right:
        raise InputError(f"--rule {text!r} compares a column with itself")
    if sign == ">=":
        return LinearRule(coefficients, low=limit, everywhere=everywhere)
    return LinearRule(coefficients, high=limit, everywhere=everywhere)


def _values(name: str, listed: list[str], space: Space, text: str) -> list[Value]:
    g = group_of(space, name, f"--rule {text!r}")
    if g is None:
        return [_number(value, text) for value in listed]
    labels = space.groups[g].labels
    if labels is None:
        return [*listed]
    known = {str(label): label for label in labels if label is not None}
    return [known.get(value, value) for value in listed]


def _only_at_the_center(everywhere: bool, text: str) -> None:
    if everywhere:
        raise InputError(f"--rule {text!r} is about the answer itself; leave out everywhere")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(text: str, rule: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--rule {rule!r}: {text!r} is not a number") from None
