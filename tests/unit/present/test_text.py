"""Sentences and tables: what is said, what must be mentioned, and that it is certified as said."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from elbowroom.present.account import Sort, account_of, category_names, quoted
from elbowroom.present.text import MOST_SPOKEN, joined, outcome, status_word, table_rows
from elbowroom.problem import AtMost, Ball, Box, Diamond, Feature, Group, LinearRule, Space, Target
from elbowroom.result import Status
from tests.support.answers import (
    CENTER,
    FACTUAL,
    ORIGIN,
    RAW_CENTER,
    make_no_region,
    make_raw_region,
    make_region,
    raw_space,
)

NUMBER = r"-?[\d,]+(?:\.\d+)?(?:e[+-]\d+)?"


def back(text: str) -> float:
    return float(text.replace(",", ""))


def plain_region(factual, center, room, names=("age", "salary"), **options):
    space = options.pop("space", None) or Space(tuple(Feature(name) for name in names))
    return make_region(space, np.array(factual, float), np.array(center, float), room, **options)


def test_the_example_of_the_paper() -> None:
    space = Space((Feature("age", "integer", immutable=True), Feature("salary")))
    region = plain_region([35, 43_000], [35, 52_100], Box({"salary": 2_100}), space=space)
    assert region.sentence() == (
        "The model said 'rejected'. If salary is anywhere between 50,000 and 54,200 instead of 43,000 and age stays 35, "
        "the model predicts 'approved'."
    )


def test_open_intervals_say_the_end_that_matters() -> None:
    """A side without an end does not blur the other one, and how far it is proven is said."""
    space = Space((Feature("age"), Feature("salary", unit="DM", scale=100.0)))
    far = 2.0**40 * 100.0
    above = plain_region([35, 43_000], [35, 52_100.5], Box(low={"salary": 2_100.25}, high={"salary": far}), space=space)
    assert "salary is at least 50,010 DM (proven up to 1" in above.sentence()
    below = plain_region([35, 43_000], [35, 52_100.5], Box(low={"salary": far}, high={"salary": 2.25}), space=space)
    assert "you keep salary at 52,102.75 DM or less (now 43,000 DM, proven down to -1" in below.sentence()
    both = plain_region([35, 43_000], [35, 52_100], Box(low={"salary": far}, high={"salary": far}), space=space)
    assert "you keep salary at any number (now 43,000 DM, proven from -1" in both.sentence()
    for region in (above, below, both):
        line = account_of(region).lines[1]
        assert region.lower["salary"] <= back(line.low) <= back(line.high) <= region.upper["salary"]
        assert line.range_text in str(region) and line.extent is not None
        assert abs(line.extent.axis_high - line.extent.axis_low) < 1e6


def test_units_categories_and_truth_values() -> None:
    said = make_region().sentence()
    assert said.startswith("The model said 'rejected'. If salary is between 50,110 and 54,100 DM (now 40,123.75 DM), ")
    assert (
        "duration 14 months (now 48 months), telephone yes (now no) and housing 'own' (now 'rent'), and you keep"
        in said
    )
    assert "you keep rate between 0.2401 and 0.2599 (now 0.25) and age at 35 years, the model" in said
    three = CENTER.copy()
    three[2] = FACTUAL[2]
    few = make_region(center=three).sentence()
    assert "salary is anywhere between 50,110 and 54,100 DM instead of 40,123.75 DM" in few
    assert "telephone becomes yes instead of no" in few
    assert "housing becomes 'own' instead of 'rent'" in few
    assert "age at 35 years and duration at 48 months" in few
    assert said.endswith("the model predicts 'approved'.")


def test_unchanged_features_with_room_are_named_or_counted() -> None:
    few = plain_region([1, 2, 3], [1, 2, 9], Box(0.5), names="abc").sentence()
    assert "you keep a between 0.5 and 1.5 (now 1) and b between 1.5 and 2.5 (now 2), the model" in few
    many = plain_region([0] * 9, [5] + [0] * 8, Box(0.5), names="abcdefghi").sentence()
    assert "you keep 8 other features within the ranges of the table" in many
    assert "stays" not in many and "stay" not in many
    assert "and you keep 8 other" in many and ", and" not in many
    some = plain_region([0] * 5, [5] + [0] * 4, Box({"a": 0.5, "b": 0.5, "c": 0.5}), names="abcde").sentence()
    assert (
        "instead of 0, and you keep b between -0.5 and 0.5 (now 0), c between -0.5 and 0.5 (now 0) and everything"
        in some
    )
    still = plain_region([0] * 9, [5] + [0] * 8, Box({"a": 0.5}), names="abcdefghi").sentence()
    assert "everything else stays as it is" in still


def test_factual_inside_the_interval_is_not_called_replaced() -> None:
    said = plain_region([35, 49_500], [35, 50_000], Box({"salary": 1_000})).sentence()
    assert "Nothing has to change. If you keep salary between 49,000 and 51,000 (now 49,500) and age at 35" in said
    assert "instead" not in said


def test_nothing_has_to_change() -> None:
    said = make_region(center=FACTUAL, predicted="approved").sentence()
    assert said.startswith("The model said 'approved'. Nothing has to change. If you keep salary between")


def test_free_categories() -> None:
    said = make_region(room=Box(0.01, categories={"housing": "any"})).sentence()
    assert said.endswith("the model predicts 'approved'; housing does not matter.")
    some = make_region(room=Box(0.01, categories={"housing": ["own", "for free"]})).sentence()
    assert "housing 'own' or 'for free' (now 'rent')" in some


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (Target("approved", 0.7), "predicts 'approved' with a probability of at least 70 %"),
        (Target("approved", 0.3), "gives 'approved' a probability of at least 30 %"),
        (Target(1), "predicts 1"),
        (Target("1"), "predicts '1'"),
        (Target(True), "predicts True"),
    ],
)
def test_outcomes(target: Target, words: str) -> None:
    assert outcome(target) == words
    assert make_region(target=target).sentence().endswith(f"the model {words}.")


def test_balls_say_that_the_budget_is_shared() -> None:
    for room, word in ((Ball(0.02), "ball"), (Diamond(0.02), "diamond")):
        region = make_region(room=room)
        said = region.sentence()
        assert re.search(
            rf"together .* lie within a {word} of radius 0\.0199 \(in units of each feature's scale\)", said
        )
        assert f"share one {word}" in str(region)
        assert "salary (52,100 ± 3,990 DM instead of 40,123.75 DM)" in said


def test_a_binary_column_in_a_ball_shares_the_budget() -> None:
    region = make_region(room=Ball(1.5))
    telephone = next(line for line in account_of(region).lines if line.name == "telephone")
    assert telephone.reach and telephone.sort is Sort.WHOLE
    assert "yes or no" not in region.sentence()


def test_print_has_sentence_table_and_proof() -> None:
    text = str(make_region())
    assert text.startswith("The model said 'rejected'.")
    assert re.search(r"→\s+salary\s+40,123\.75 DM\s+52,100\s+50,110 to 54,100 DM", text)
    assert "1 feature stays as it is." in text
    assert "Proven closest" in text and "Certificate: every point" in text
    certified = str(make_region(status=Status.CERTIFIED, gap=0.123))
    assert "may be up to 13 % closer" in certified and "Proven closest" not in certified


def test_closest_is_said_with_the_tolerance_of_the_search() -> None:
    """Where OPTIMAL means a gap of at most 0.01 %, no text says that nothing is closer."""
    loose = make_region(gap=6e-5, origin=replace(ORIGIN, tolerance=1e-4))
    assert "Closest within 0.01 %: no region of this size is nearer by more than that; distance" in str(loose)
    assert "The region is certified and none is closer by more than 0.01 %" in loose.to_html()
    assert status_word(loose) == "closest within 0.01 %"
    for text in (str(loose), loose.to_html(), loose._repr_html_()):
        assert "Proven closest" not in text and "no closer one exists" not in text
    ruled = make_region(gap=6e-5, origin=replace(ORIGIN, tolerance=1e-4), rules=(AtMost(1),))
    assert "no region of this size in which at most one feature changes is nearer by more than that" in str(ruled)
    assert "none in which at most one feature changes is closer by more than 0.01 %" in ruled.to_html()
    unknown = make_region(gap=6e-5, origin=None)  # an old file does not say what was promised; what it proves it says
    assert "Closest within 0.006 %" in str(unknown) or "Closest within 0.0061 %" in str(unknown)
    for tight in (make_region(), make_region(gap=1e-12), make_region(origin=replace(ORIGIN, tolerance=1e-4))):
        assert "Proven closest: no region of this size is nearer;" in str(tight) and "within" not in str(tight)
        assert status_word(tight) == "proven closest"


def test_the_page_says_with_what_to_ask_again() -> None:
    for answer in (make_region(), make_no_region()):
        page = answer.to_html()
        assert "seed 7, at most 60 s" in page and "python 3.11.7" in page and "SHA-256 0000" in page
        assert "Asked with" not in replace(answer, origin=None).to_html()
        assert "seed 7, no time limit" in replace(answer, origin=replace(ORIGIN, time_limit=math.inf)).to_html()


def test_no_region_in_words() -> None:
    proven = make_no_region()
    assert "No region exists" in proven.sentence() and "this is proven: every leaf is 'rejected'." in str(proven)
    unknown = make_no_region(Status.UNKNOWN, 0.31259)
    assert "none was ruled out" in unknown.sentence()
    assert "at least 0.3125 (l2)" in unknown.sentence()


RULES = (AtMost(1), LinearRule({"salary": 1, "rate": -2}, high=0))
RULES_SAID = "in which at most one feature changes and salary - 2 * rate is at most 0"


def test_what_is_proven_is_said_with_its_rules() -> None:
    """No text says that nothing is closer without the condition under which that is true."""
    optimal = make_region(rules=RULES)
    assert f"Proven closest: no region of this size {RULES_SAID} is nearer" in str(optimal)
    assert f"no closer one exists {RULES_SAID}" in optimal.to_html()
    certified = make_region(status=Status.CERTIFIED, gap=0.123, rules=RULES[:1])
    assert "another region in which at most one feature changes may be up to 13 % closer" in str(certified)
    assert "a closer one in which at most one feature changes may exist" in certified.to_html()
    proven = make_no_region(rules=RULES)
    assert "at least 70 %, at most one feature changes and salary - 2 * rate is at most 0, and this is" in str(proven)
    assert f"no such region exists {RULES_SAID}" in proven.to_html()
    assert "Rules</dt><dd>at most one feature changes and salary" in proven.to_html()
    assert "Rules</dt><dd>none" in make_region().to_html() and "in which" not in str(make_region())


def test_rules_that_a_file_lost_are_not_called_none() -> None:
    for answer in (make_region(), make_region(status=Status.CERTIFIED, gap=0.1), make_no_region()):
        lost = replace(answer, rules_known=False)
        for text in (str(lost), lost.to_html(), lost._repr_html_()):
            assert "under the rules of its question, which a file of schema 1 does not keep" in text
        assert "Rules</dt><dd>unknown" in lost.to_html()


def test_category_names() -> None:
    assert category_names("housing", ("housing_own", "housing_rent")) == ("own", "rent")
    assert category_names("color", ("c=red", "c=blue")) == ("red", "blue")
    assert category_names("t", ("t_-5", "t_5")) == ("-5", "5")
    assert category_names("x", ("left", "right")) == ("left", "right")
    assert category_names("a", ("a_", "a_b")) == ("a_", "a_b")


def test_small_words() -> None:
    assert joined([]) == "" and joined(["a"]) == "a" and joined(["a", "b", "c"]) == "a, b and c"
    assert quoted(1) == "1" and quoted("1") == "'1'" and quoted(True) == "True"


positions = st.floats(-1e6, 1e6)
widths = st.floats(1e-6, 1e5)


@given(st.lists(st.tuples(positions, positions, widths), min_size=1, max_size=4))
def test_every_number_said_about_a_box_is_certified(columns: list[tuple[float, float, float]]) -> None:
    """Read the numbers of the sentence and of the table back: all of their corners are points of the region."""
    assume(sum(abs(f - c) <= w for f, c, w in columns) <= MOST_SPOKEN)  # more that are kept are summed up
    names = "abcd"[: len(columns)]
    region = plain_region(
        [f for f, _, _ in columns],
        [c for _, c, _ in columns],
        Box({name: width for name, (_, _, width) in zip(names, columns, strict=True)}),
        names=names,
    )
    said = region.sentence()
    point_low, point_high = {}, {}
    for name in names:
        match = re.search(rf"\b{name} (?:is )?(?:anywhere )?between ({NUMBER}) and ({NUMBER})", said)
        assert match, said
        point_low[name], point_high[name] = back(match[1]), back(match[2])
    assert region.contains(point_low).all() and region.contains(point_high).all()
    for row in table_rows(account_of(region))[1:]:
        low, high = (back(part) for part in row[4].split(" to "))
        assert (low, high) == (point_low[row[1]], point_high[row[1]])
        assert low <= back(row[3]) <= high or row[3] == row[2]  # what does not change is shown as it was given


def test_long_answers_stay_readable() -> None:
    names = [f"f{i}" for i in range(100)]
    for room in (Box(0.5), Ball(0.5)):
        region = plain_region(np.zeros(100), np.arange(1, 101), room, names=names)
        assert len(region.sentence()) < 1500 and "as in the table" in region.sentence()
        assert "... and 40 more rows" in str(region)
        assert all(f">{name}<" in region.to_html() for name in names)


@given(st.lists(st.tuples(positions, st.floats(1e-3, 1e3)), min_size=2, max_size=6), st.floats(1e-3, 10))
def test_the_radius_said_about_a_ball_is_certified(columns: list[tuple[float, float]], radius: float) -> None:
    """||(c' - c) / a|| + r' / r <= 1 in exact numbers: the ball as said lies inside the certified one."""
    space = Space(tuple(Feature(name, scale=scale) for name, (_, scale) in zip("abcdef", columns, strict=False)))
    center = np.array([c for c, _ in columns])
    region = make_region(space, center - 1.0, center, Ball(radius))
    said = region.sentence()
    shown_radius = Fraction(re.search(rf"radius ({NUMBER})", said)[1].replace(",", ""))
    used = Fraction(0)
    for line, value, scale in zip(account_of(region).lines, center, space.scale, strict=True):
        shift = abs(Fraction(back(line.center)) - Fraction(float(value)))
        used += (shift / (Fraction(radius) * Fraction(float(scale)))) ** 2
    left = 1 - shown_radius / Fraction(radius)
    assert left >= 0 and used <= left**2 + Fraction(1, 10**30)
    assert shown_radius >= Fraction(radius) * Fraction(97, 100)


def test_center_and_factual_constants_differ() -> None:
    assert (CENTER != FACTUAL).sum() == 5


def test_categories_in_the_users_own_words() -> None:
    said = make_raw_region().sentence()
    assert "If purpose is 'car' or 'radio' instead of 'repairs', salary is anywhere between" in said
    assert "grade becomes 2.5 instead of 1, age stays 35 years, owner stays False, branch stays 'the only one'" in said
    assert "and debt stays missing, the model predicts" in said
    fixed = make_raw_region(Box({"salary": 500.0})).sentence()
    assert "If purpose becomes 'car' instead of 'repairs'" in fixed


def test_what_is_missing_is_said_in_the_table_and_on_the_page() -> None:
    region = make_raw_region()
    rows = {row[1]: row for row in table_rows(account_of(region))}
    assert rows["debt"][2:] == ("missing", "missing", "missing", "stays missing")
    assert rows["purpose"][2:5] == ("repairs", "car", "car or radio")
    assert "debt missing" in region.to_html()
    region.plot()
    emptied = RAW_CENTER.copy()
    emptied[5:8] = [0, 0, 1]
    filled = make_region(raw_space(), emptied, RAW_CENTER, Box(0))
    assert "grade becomes 2.5 instead of missing" in filled.sentence()
    kept = account_of(make_region(raw_space(), emptied, emptied, Box(0)))
    assert next(line for line in kept.lines if line.name == "grade").note == "stays missing"


def test_labels_cannot_pretend_to_be_something_else() -> None:
    evil = "own\x1b[2J\u202e\nValid"
    space = Space(
        (Feature("a", "binary"), Feature("b", "binary")), (Group("home\x07", ("a", "b"), labels=(evil, "<b>rent</b>")),)
    )
    region = make_region(space, np.array([1.0, 0.0]), np.array([0.0, 1.0]), Box(0, categories={"home\x07": [evil]}))
    for text in (str(region), region.sentence(), region.to_html(), repr(space), space._repr_html_()):
        assert not set("\x1b\u202e\x07") & set(text)
    assert "<b>" not in region.to_html().replace("<body>", "")
    assert "home\\x07" in region.sentence()
