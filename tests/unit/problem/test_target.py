"""Labels are compared by value and kind."""

from __future__ import annotations

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
