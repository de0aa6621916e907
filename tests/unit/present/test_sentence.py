"""The sentence: three kinds of features, sides that are limits, and short sentences for long answers."""

from __future__ import annotations

import numpy as np

from elbowroom.problem import Box, Feature, Space
from tests.support.answers import make_region


def loan() -> Space:
    return Space(
        (
            Feature("duration", "integer", 4, 72, unit="months"),
            Feature("amount", lower=250, upper=20_000, unit="DM"),
            Feature("age", "integer", 18, 75, immutable=True, unit="years"),
        )
    )


NOW = np.array([48.0, 4_870.0, 35.0])


def test_a_side_that_is_the_limit_is_not_a_number() -> None:
    less = make_region(loan(), NOW, np.array([30.0, 4_870.0, 35.0]), Box(low={"duration": 40}, high={"duration": 7}))
    assert "If duration is 37 months or less instead of 48 months" in less.sentence()
    assert "4 to 37 months" in str(less)  # the table says both ends
    more = make_region(loan(), NOW, np.array([60.0, 4_870.0, 35.0]), Box(low={"duration": 2}, high={"duration": 40}))
    assert "If duration is at least 58 months instead of 48 months" in more.sentence()
    kept = make_region(loan(), NOW, np.array([48.0, 9_000.0, 35.0]), Box(low={"duration": 50}, high={"duration": 2}))
    assert "you keep duration at 50 months or less (now 48 months)" in kept.sentence()
    above = make_region(loan(), NOW, np.array([48.0, 9_000.0, 35.0]), Box(low={"duration": 2}, high={"duration": 99}))
    assert "you keep duration at 46 months or more (now 48 months)" in above.sentence()


def test_what_does_not_matter_is_said_with_its_limits() -> None:
    region = make_region(loan(), NOW, np.array([48.0, 9_000.0, 35.0]), Box({"duration": 99}))
    assert region.sentence() == (
        "The model said 'rejected'. If amount is 9,000 DM instead of 4,870 DM and age stays 35 years, the model predicts "
        "'approved'; duration (4 to 72 months) does not matter."
    )
    many = Space(tuple(Feature(f"f{i}", lower=0, upper=1) for i in range(9)))
    wide = make_region(many, np.zeros(9), np.full(9, 0.5), Box({f"f{i}": 1.0 for i in range(1, 9)}))
    assert wide.sentence().endswith("the model predicts 'approved'; 8 features do not matter within their limits.")
    everything = make_region(many, np.zeros(9), np.full(9, 0.5), Box(1.0))
    assert "Nothing has to change. Whatever the features are within their limits, the model" in everything.sentence()


def test_four_changes_are_said_in_short_and_more_are_counted() -> None:
    def said(count: int) -> str:
        space = Space(tuple(Feature(f"f{i}") for i in range(count)))
        return make_region(space, np.zeros(count), np.full(count, 2.0), Box(0.0)).sentence()

    assert "If f0 is 2 instead of 0, f1 is 2 instead of 0 and f2 is 2 instead of 0, the model" in said(3)
    assert "If f0 is 2 (now 0), f1 2 (now 0), f2 2 (now 0) and f3 2 (now 0), the model" in said(4)
    assert "f5 2 (now 0) and 1 more feature as in the table, the model" in said(7)
    assert "f5 2 (now 0) and 94 more features as in the table, the model" in said(100)


def test_what_does_not_change_is_never_shown_rounded() -> None:
    space = Space((Feature("x"), Feature("y")))
    now = np.array([0.18123456789, 1.0])
    kept = make_region(space, now, np.array([0.18123456789, 3.0]), Box(0.05))
    assert "x between 0.1313 and 0.2312 (now 0.18123456789)" in kept.sentence()
    assert " 0.18123456789  0.18123456789 " in str(kept)  # now, and at the centre
    moved = make_region(space, now, np.array([2.0, 1.0]), Box({"x": 0.05}))
    assert "instead of 0.18123456789" in moved.sentence()


def test_an_interval_with_one_number_of_so_few_digits_is_that_number() -> None:
    space = Space((Feature("x", decimals=1, unit="cm"), Feature("y", decimals=0)))
    region = make_region(space, np.array([5.0, 1.0]), np.array([5.0, 3.02]), Box(0.06))
    assert "If y is 3 instead of 1 and you keep x at 5 cm, the model" in region.sentence()
    assert "5 to 5" not in str(region)
    finer = make_region(space, np.array([5.0, 1.0]), np.array([5.0, 3.4]), Box(0.06))
    assert "If y is anywhere between 3.4 and 3.4" not in finer.sentence()
    assert "If y is 3.4 instead of 1" in finer.sentence()  # as many digits as are needed, and no more
    assert "If y is anywhere between 3.35 and 3.45 instead of 1" in finer.sentence(digits=2)
