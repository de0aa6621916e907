"""Answers that can be read out: rounded to the decimals of the data, and certified after rounding."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from elbowroom import Ball, Box, Diamond, Explainer, Feature, InputError, LinearRule, Probability, Region
from elbowroom.explainer import rounding
from elbowroom.present.checking import check_region
from elbowroom.present.findings import Outcome
from elbowroom.present.numbers import below
from elbowroom.problem.decimals import as_written, learned_decimals
from elbowroom.result.json_schema import json_schema
from tests.support.forgery import resealed
from tests.support.hostile import attack
from tests.support.json_schema import Validator

NUMBER = r"(?<![\w.])-?[\d,]*\.?\d+"


# ---- decimals of the data ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 2.0, 30.0], 0),
        ([1.5, 2.25, 30.0], 2),
        ([20.3, 17.77, 0.1 + 0.2], 2),
        (np.array([20.3, 17.7, 1001.0], dtype=np.float32).astype(float), 1),
        ([0.006399, 0.01], 6),
        (np.random.default_rng(0).lognormal(10, 1, 300), 0),  # computed numbers: four digits of the scale
        (np.random.default_rng(0).uniform(0, 1, 300), 4),
        (np.random.default_rng(0).uniform(0, 1e-9, 300), 13),
        ([*np.arange(500) / 10, 0.123456789], 1),  # one odd value does not decide
        ([1e300, -1e300], 0),
        ([0.0], 0),
    ],
)
def test_decimals_are_learned(values: Any, expected: int) -> None:
    values = np.asarray(values, dtype=float)
    assert learned_decimals(values, float(np.ptp(values)) if np.ptp(values) < np.inf else np.inf) == expected


def test_what_single_precision_makes_of_a_number_is_that_number() -> None:
    assert as_written(20.299999237060547, 1) == 20.3
    assert as_written(20.300000190734863, 1) == 20.300000190734863  # the next one up is another number
    assert as_written(20.38, 1) == 20.38 and as_written(0.1 + 0.2, 1) == 0.1 + 0.2
    assert as_written(20.299999237060547, None) == 20.299999237060547


@pytest.mark.parametrize("decimals", [-1, 16, 1.5, True, "2"])
def test_decimals_of_a_feature_are_checked(decimals: Any) -> None:
    with pytest.raises(InputError, match="decimals"):
        Feature("x", decimals=decimals)


# ---- rounded answers ------------------------------------------------------------------------------------------------------
@cache
def data() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "size": rng.normal(20, 4, 400).round(2),
            "mass": rng.normal(600, 150, 400).round(1),
            "rate": rng.uniform(0, 1, 400).round(3),
        }
    )
    return X, np.where(X["size"] / 20 + X["mass"] / 600 + X["rate"] + rng.normal(0, 0.1, 400) > 2.5, "high", "low")


@cache
def explainer(kind: str) -> Explainer:
    X, y = data()
    model = {
        "trees": GradientBoostingClassifier(n_estimators=30, random_state=0),
        "linear": make_pipeline(StandardScaler(), LogisticRegression()),
        "network": make_pipeline(StandardScaler(), MLPClassifier((8,), max_iter=2000, random_state=0)),
    }[kind]
    return Explainer(model.fit(X, y), X)


def rows() -> pd.DataFrame:
    X, y = data()
    return X[y == "low"].iloc[:6]


def digits_in(said: str) -> int:
    """The most decimals of any number of a sentence."""
    return max(len(number.partition(".")[2]) for number in re.findall(NUMBER, said))


@pytest.mark.parametrize("kind", ["trees", "linear", "network"])
@pytest.mark.parametrize("room", [Box(0.0), Box(0.0003), Ball(0.001), Diamond(0.002)], ids=repr)
def test_what_is_said_has_the_decimals_of_the_data_and_is_certified(kind: str, room: Any) -> None:
    asked, found = explainer(kind), 0
    for _, row in rows().iterrows():
        region = asked.explain(row, room=room, target="high", time_limit=20)
        assert isinstance(region, Region)
        plain = replace(region, rounding=None)
        assert region.center.equals(plain.center) and region.distance == plain.distance
        shown = region.rounded
        if shown is None:
            continue
        found += 1
        assert shown.distance >= region.distance * (1 - 1e-4) and shown.rounded is None
        for name, decimals in (("size", 2), ("mass", 1), ("rate", 3)):
            value = shown.center[name]
            assert value in (round(value, decimals + rounding.MORE_DIGITS), region.center[name])
            assert value == region.factual[name] or region.center[name] != region.factual[name]
        attack(asked.predict, shown.body, "high")
        if isinstance(room, Box):
            assert digits_in(region.sentence()) <= 3 and digits_in(region.sentence(digits=12)) > 3
        assert "certified as they are shown" in str(region) and "certified as they are shown" in region.to_html()
    assert found or room == Box(0.0003)


def test_the_cheapest_accepted_rounding_is_taken() -> None:
    """Against all ways to round the changed columns up or down."""
    asked = explainer("trees")
    compared = 0
    for _, row in rows().iterrows():
        region = asked.explain(row, room=Box(0.0), target="high")
        assert isinstance(region, Region)
        names = [n for n in region.center.index if region.center[n] != region.factual[n]]
        steps = {"size": 0.01, "mass": 0.1, "rate": 0.001}
        best = np.inf
        for bits in range(2 ** len(names)):
            point = region.center.copy()
            for i, name in enumerate(names):
                at = region.center[name] / steps[name]
                point[name] = round((np.floor(at) if bits >> i & 1 else np.ceil(at)) * steps[name], 3)
            if asked.certify(point, Box(0.0), "high"):
                scale = region.space.scale
                best = min(best, float((np.abs(point - region.factual) / scale).sum()))
        shown = region.rounded or region
        if np.isfinite(best):
            compared += 1
            assert shown.distance == pytest.approx(best, rel=1e-12)
    assert compared >= 4


def test_wide_rooms_need_no_second_certificate() -> None:
    region = explainer("trees").explain(rows().iloc[0], room=Box(0.05), target="high")
    assert region.rounded is None and digits_in(region.sentence()) <= 3


def test_where_no_rounding_is_allowed_the_digits_are_shown() -> None:
    """A rule that only the exact centre obeys."""
    asked, row = explainer("linear"), rows().iloc[0]
    rule = LinearRule({"size": 1.0}, low=25.00012345678, high=25.00012345678)
    region = asked.explain(row, room=Box(0.0), target="high", rules=[rule])
    assert isinstance(region, Region) and region.rounded is None
    assert digits_in(region.sentence()) > 6


def test_spaces_without_data_know_no_decimals() -> None:
    X, y = data()
    region = Explainer(LogisticRegression().fit(X, y)).explain(rows().iloc[0], room=Box(0.0), target="high")
    assert region.rounded is None


def test_digits_can_be_asked_for() -> None:
    region = explainer("trees").explain(rows().iloc[0], room=Box(0.05), target="high")
    assert digits_in(region.sentence(digits=1)) <= 3 and digits_in(region.sentence(digits=0)) <= 3
    for wrong in (-1, 1.5, True, "all"):
        with pytest.raises(InputError, match="digits="):
            region.sentence(digits=wrong)  # type: ignore[arg-type]


def test_an_interrupt_leaves_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(rounding, "_candidates", stop)
    region = explainer("trees").explain(rows().iloc[0], room=Box(0.0), target="high")
    assert isinstance(region, Region) and region.rounded is None


# ---- files ----------------------------------------------------------------------------------------------------------------
@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, Region]:
    X, y = data()
    joblib.dump(GradientBoostingClassifier(n_estimators=30, random_state=0).fit(X, y), tmp_path / "model.joblib")
    region = explainer("trees").explain(rows().iloc[0], room=Box(0.0), target="high")
    assert isinstance(region, Region) and region.rounded is not None
    region.to_json(tmp_path / "region.json")
    return tmp_path, region


def judged(folder: Path, document: dict[str, Any]) -> Outcome:
    (folder / "region.json").write_text(json.dumps(document))
    return check_region(folder / "region.json", folder / "model.joblib", True).outcome


def test_files_keep_it_and_check_proves_it_again(saved: tuple[Path, Region]) -> None:
    folder, region = saved
    again = Region.from_json(folder / "region.json")
    assert again.to_json() == region.to_json() and again.sentence() == region.sentence()
    report = check_region(folder / "region.json", folder / "model.joblib", True)
    assert report.outcome is Outcome.VALID
    assert sum("as rounded: every point proven again" in finding.what for finding in report.findings) == 1
    assert report.proven is not None and report.proven.startswith(region.sentence().split(". ", 1)[1].rstrip("."))


def reseal_rounded(document: dict[str, Any]) -> dict[str, Any]:
    """`resealed` seals the certificate; the rounded one is one as well."""
    swapped = {**document, "certificate": document["rounded"], "rounded": document["certificate"]}
    sealed = resealed(swapped)
    return resealed({**document, "certificate": sealed["rounded"], "rounded": sealed["certificate"]})


def test_a_forged_rounded_region_is_refused(saved: tuple[Path, Region]) -> None:
    folder, region = saved
    document = json.loads(region.to_json())
    assert judged(folder, reseal_rounded(json.loads(region.to_json()))) is Outcome.VALID
    back = json.loads(region.to_json())  # the row itself, called a rounded answer
    for end in ("center", "lower", "upper"):
        back["rounded"]["body"][end] = document["factual"]
    assert judged(folder, reseal_rounded(back)) is Outcome.REFUTED
    wide = json.loads(region.to_json())
    wide["rounded"]["body"]["upper"] = [x + 100 for x in wide["rounded"]["body"]["upper"]]
    assert judged(folder, reseal_rounded(wide)) is Outcome.REFUTED
    margin = json.loads(region.to_json())
    margin["rounded"]["margin"] *= 1.5
    assert judged(folder, reseal_rounded(margin)) is Outcome.REFUTED
    for key, value in (
        ("fingerprint", "0" * 64),
        ("target", {"label": {"type": "str", "value": "low"}, "probability": None}),
    ):
        other = json.loads(region.to_json())
        other["rounded"][key] = value
        with pytest.raises(InputError, match="rounded"):
            judged(folder, reseal_rounded(other))
    for broken in (None, {}, 3, {**document["rounded"], "seal": "0" * 64}):
        with pytest.raises(InputError):
            judged(folder, resealed({**document, "rounded": broken}))


def test_widening_is_about_the_closest_region(saved: tuple[Path, Region]) -> None:
    wide = explainer("trees").widen(saved[1])
    assert wide.region.rounded is None and wide.region.center.equals(saved[1].center)


# ---- with a promise about slips ---------------------------------------------------------------------------------------
PROMISE = Probability(0.9, sigma=0.05)


@pytest.mark.parametrize(("kind", "room"), [("trees", Box(0.0)), ("linear", Box(0.0)), ("linear", Box(0.02))])
def test_a_rounded_centre_keeps_what_was_promised_by_a_proof_of_its_own(kind: str, room: Box) -> None:
    asked, row = explainer(kind), rows().iloc[0]
    region = asked.explain(row, room, target="high", keeps=PROMISE, time_limit=20)
    assert isinstance(region, Region) and region.rounded is not None
    shown = region.rounded
    assert digits_in(region.sentence()) <= 3 and shown.kept is region.rounding_kept and shown.rounded is None
    assert 0.9 <= shown.kept.lower <= shown.kept.upper <= 1.0
    attack(asked.predict, shown.body, "high")
    again = asked.probability_kept(shown.center, PROMISE.sigma, "high")
    assert again.lower - 1e-9 <= shown.kept.upper and shown.kept.lower <= again.upper + 1e-9
    space, rng = region.space, np.random.default_rng(0)
    slips = shown.body.center + PROMISE.sigma * space.scale * rng.normal(size=(20_000, 3))
    share = np.mean(asked.predict(np.clip(slips, space.lower, space.upper)) == "high")
    assert shown.kept.lower - 0.01 <= share <= shown.kept.upper + 0.01
    known = f"between {below(shown.kept.lower, 6)} and"
    assert known in str(region) and known in region.to_html()
    with pytest.raises(ValueError, match="needs a proof that it is kept"):
        replace(region, rounding_kept=None)


def test_files_keep_the_bounds_of_the_rounded_centre_and_check_proves_them_again(saved: tuple[Path, Region]) -> None:
    folder = saved[0]
    region = explainer("trees").explain(rows().iloc[0], Box(0.0), target="high", keeps=PROMISE, time_limit=20)
    assert isinstance(region, Region) and region.rounded is not None
    document = json.loads(region.to_json())
    assert Validator(json.loads(json_schema())).fits(document)
    assert Region.from_json(region.to_json()).to_json() == region.to_json()
    assert judged(folder, resealed(document)) is Outcome.VALID
    report = check_region(folder / "region.json", folder / "model.joblib", True)
    assert sum("as rounded: proven again: a slip" in finding.what for finding in report.findings) == 1
    lies = {"lower": region.rounding_kept.upper + 0.02, "upper": 1.0}
    assert judged(folder, resealed({**document, "rounded_kept": lies})) is Outcome.REFUTED
    for broken in (None, {"lower": 0.5, "upper": 1.0}, {"lower": 0.95, "upper": 0.94}):
        with pytest.raises(InputError, match="rounded_kept"):
            judged(folder, resealed({**document, "rounded_kept": broken}))
    lacking = {key: value for key, value in document.items() if key != "rounded_kept"}
    with pytest.raises(InputError, match="rounded_kept"):
        judged(folder, resealed(lacking))
    with pytest.raises(InputError, match="rounded_kept"):
        judged(folder, resealed({key: value for key, value in document.items() if key != "rounded"}))
