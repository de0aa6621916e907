"""Labels are compared by value and kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from elbowroom import InputError, Target
from tests.support.small_models import info


@pytest.mark.parametrize("label", [1, 1.0, np.int64(1), np.float64(1.0)])
def test_numbers_that_are_equal_are_one_label(label: object) -> None:
    assert Target(label).index(info(2)) == 1
    assert Target.parse(label, info(2)).label == 1


@pytest.mark.parametrize("label", [True, np.True_])
def test_a_truth_value_is_not_a_number(label: object) -> None:
    with pytest.raises(
        InputError, match=r"True is not a class of the model \(a truth value is not a number\); its classes are"
    ):
        Target.parse(label, info(2))


def test_a_word_is_not_a_number() -> None:
    with pytest.raises(InputError, match="target '1' is not a class of the model; its classes are"):
        Target.parse("1", info(2))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"at_least": "1000"}, "at_least: '1000' is not a number; give a plain number, for example at_least=1000"),
        ({"at_least": True}, "at_least=True: a truth value is not a number"),
        ({"at_most": float("nan")}, "at_most=nan: give a finite number, or leave at_most out"),
        ({"at_least": float("-inf")}, "give a finite number, or leave at_least out"),
        ({"at_least": 1e301}, "leave no room for sums"),
        ({"at_least": 3, "at_most": 2}, "no number is at least 3.0 and at most 2.0"),
        ({"label": "yes", "at_least": 3}, "ask either for a class"),
        ({"label": "yes", "between": (1, 2)}, "ask either for a class"),
        ({"between": (3, 2)}, "no number is at least 3.0 and at most 2.0"),
        ({"between": (3, None)}, "give two numbers"),
        ({"between": 3}, "give two numbers"),
        ({"between": (1, 2), "at_most": 3}, "between= already says both ends"),
        ({"probability": 0.5, "at_most": 3}, "ask either for a class"),
    ],
)
def test_ranges_that_make_no_sense_are_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Target(**given)  # type: ignore[arg-type]


def test_ranges_include_their_ends() -> None:
    target = Target(at_least=np.float32(1.5), at_most=2)
    assert target == Target(at_least=1.5, at_most=2.0) and hash(target) == hash(Target(at_least=1.5, at_most=2))
    assert [target.is_met(v) for v in (1.5, 2, np.nextafter(1.5, 0), 2.0000001, float("nan"))] == [True, True] + [
        False
    ] * 3
    assert Target(between=(1.5, 2)) == target and replace(target, at_most=3.0) == Target(between=[1.5, 3])  # type: ignore[arg-type]
    assert repr(Target(at_least=-0.0)) == repr(Target(at_least=0))
    assert Target("yes").values is None and Target().names_nothing and not target.names_nothing
    with pytest.raises(TypeError):
        Target("yes", None, 3)  # type: ignore[misc]
