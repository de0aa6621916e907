"""What people who work with cases read: rooms in units, times with their zone, long numbers, promises, models nearby, causes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Box, Causal, Diamond, Explainer, Feature, Nearby, Probability, Region, Space, Target
from elbowroom.present.account import FOLLOWS, account_of
from elbowroom.present.room_text import room_text
from elbowroom.problem import Room
from tests.support.answers import make_region
from tests.support.hostile import attack

SPACE = Space(
    (
        Feature("age", immutable=True, unit="years"),
        Feature("amount", unit="DM", scale=1000.0),
        Feature("months", "integer", scale=12.0),
    )
)


@pytest.mark.parametrize(
    ("room", "words"),
    [
        (Box({"amount": 250, "months": 2, "age": 5}), "a box: amount ± 250 DM and months ± 2"),
        (Box(low={"amount": 100}, high={"amount": 400, "months": 1}), "a box: amount 100 DM down and 400 DM up and months 1 up"),
        (Diamond({"amount": 1 / 3}), "a diamond: amount ± ≈ 0.3333 DM"),
        (Box({}), "a box without room in any number"),
        (Box({"amount": 1}, on="changed"), "a box: amount ± 1 DM, only in features that change"),
        (Box(0.05), "a box of radius 0.05, in units of each feature's scale"),
    ],
)  # fmt: skip
def test_a_room_is_told_in_the_units_of_its_columns(room: Room, words: str) -> None:
    assert room_text(room, SPACE) == words


def test_a_room_of_many_columns_is_cut() -> None:
    space = Space(tuple(Feature(f"x{i}") for i in range(9)))
    assert room_text(Box({f"x{i}": 1 for i in range(9)}), space).endswith("x5 ± 1 and 3 more features")


def test_the_file_of_a_case_is_told_with_its_time_and_model() -> None:
    filed = make_region().attested(case="A-1", model="credit.joblib", time="2031-05-17T09:30:00+00:00")
    html = filed.to_html()
    assert "Date <strong>2031-05-17 09:30:00 UTC</strong>" in html
    assert "elbowroom check region.json credit.joblib --trust-pickle" in html
    assert filed.attestation is not None
    elsewhere = make_region().attested(time="2031-05-17T09:30:00+02:00").attestation
    assert elsewhere is not None and elsewhere.when == "2031-05-17 09:30:00 +02:00"


def test_a_value_with_many_digits_is_told_short_and_nothing_promised_is() -> None:
    now, then = 0.04445121333659049, 0.0713
    space = Space((Feature("bmi", scale=0.1), Feature("sex", immutable=True), Feature("bp", scale=0.1)))
    region = make_region(space, np.array([now, now, now]), np.array([then, now, now]), Box(0.02))
    bmi, sex, bp = account_of(region).lines
    assert bmi.factual == bp.factual == "≈ 0.044451"
    assert sex.center == sex.range_text == repr(now)
    assert float(bp.low) <= float(bp.center) <= float(bp.high), "a number that is promised claims no more than it is"
    assert f"sex stays {now!r}" in region.sentence() or f"sex at {now!r}" in region.sentence()
    assert "instead of ≈ 0.044451" in region.sentence()


def test_a_promise_stands_under_the_answer() -> None:
    X = pd.DataFrame({"x": np.linspace(0.0, 10.0, 40)})
    model = LogisticRegression().fit(X, X["x"] > 5.0)
    explainer = Explainer(model, Space.from_frame(X))
    firm = explainer.explain(X.iloc[0], room=Box(0), keeps=Probability(0.95, sigma=0.02), time_limit=10)
    assert isinstance(firm, Region)
    attack(explainer.predict, firm.body, True)
    panel = firm.to_html().split('<section class="panel"')[1]
    assert "<p>A slip with standard deviation" in panel.split('<div class="explore"')[0]
    assert "<p>A slip" not in make_region().to_html()


def test_models_nearby_are_no_single_model() -> None:
    X = pd.DataFrame({"x": np.linspace(0.0, 10.0, 40), "y": np.tile([0.0, 1.0], 20)})
    model = LogisticRegression().fit(X, X["x"] > 5.0)
    region = Explainer(Nearby(model, weights=0.001), Space.from_frame(X)).explain(X.iloc[0], room=Box(0.01))
    assert isinstance(region, Region)
    attack(lambda rows: model.predict(pd.DataFrame(rows, columns=X.columns)), region.body, True)
    html = region.to_html()
    assert "every model near it" in html and "this one model" not in html
    said = "This holds for all models whose weights are each within 0.001 of those of this one."
    assert region.sentence().endswith(said) and said in str(region) and said in html and said in region._repr_html_()
    assert "This holds" not in Explainer(model, Space.from_frame(X)).explain(X.iloc[0], room=Box(0.01)).sentence()
    forged = replace(region.certificate, assumptions=("holds for all <b>\n models",))
    assert "<b>" not in replace(region, certificate=forged)._repr_html_()
    assert "\n" not in replace(region, certificate=forged).sentence()


def test_how_far_numbers_may_be_off_is_told_in_full() -> None:
    X = pd.DataFrame({"x": np.linspace(0.0, 10.0, 40), "y": np.tile([0.0, 1.0], 20)})
    linear = LogisticRegression().fit(X, X["x"] > 5.0)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, X["x"] > 5.0)
    models = {
        "weights are each within 0.00123456789 and intercepts within 1 of": Nearby(
            linear, weights=0.00123456789, intercept=1
        ),
        "intercepts are each within 0.1 of": Nearby(linear, intercept=0.1),
        "leaf values are each within 0.1 of": Nearby(tree, leaves=0.1),
    }
    for words, model in models.items():
        region = Explainer(model, Space.from_frame(X)).explain(X.iloc[0], room=Box(0.01))
        assert f"This holds for all models whose {words} those of this one." in region.sentence()
        plain = tree if model.leaves else linear
        attack(lambda rows, plain=plain: plain.predict(pd.DataFrame(rows, columns=X.columns)), region.body, True)
    several = Explainer([Nearby(tree, leaves=0.1), tree], Space.from_frame(X)).explain(X.iloc[0], room=Box(0.01))
    assert "This holds" not in several.sentence()  # for one of the two alone


def test_what_follows_from_causes_says_so() -> None:
    X = pd.DataFrame({"salary": np.linspace(0.0, 10.0, 50), "debt": np.linspace(9.0, 1.0, 50)})
    model = LogisticRegression().fit(X, X["salary"] - X["debt"] > 2.0)
    space = replace(Space.from_frame(X), causes=Causal({"salary": {"debt": -0.5}}))
    region = Explainer(model, space).explain(X.iloc[3], room=Box(0.01))
    assert isinstance(region, Region) and region.actions is not None
    attack(lambda rows: model.predict(pd.DataFrame(rows, columns=X.columns)), region.body, True)
    assert region.actions["debt"] == 0.0
    notes = {line.name: line.note for line in account_of(region).lines}
    assert notes == {"salary": "", "debt": FOLLOWS} and FOLLOWS in region.to_html()


def test_several_models_that_said_the_same_are_told_once() -> None:
    X = pd.DataFrame({"x": np.linspace(0.0, 10.0, 41)})
    models = [DecisionTreeClassifier().fit(X, np.where(X["x"] <= cut, "no", "yes")) for cut in (3.0, 4.0, 5.0)]
    region = Explainer(models, Space.from_frame(X)).explain(X.iloc[0], room=Box(0.01))
    assert isinstance(region, Region)
    for model in models:
        attack(model.predict, region.body, "yes")
    assert "<dd>&#39;no&#39;, each of the 3</dd>" in region.to_html()


def test_targets_in_short_words() -> None:
    assert Target("yes").words == "'yes'" and Target(1, probability=0.7).words == "1 with a probability of at least 0.7"
    assert Target(at_least=2, at_most=3).words == "a value of at least 2 and at most 3"
    assert Target(each=(Target("a"), Target("b"))).words == "what is wanted of each of 2 models"
    certificate = make_region().certificate
    assert "None" not in repr(certificate) and "'approved' at every point of a box" in repr(certificate)
    assert "&#x27;approved&#x27; at every point of a box" in certificate._repr_html_()
