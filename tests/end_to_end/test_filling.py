"""Rows that lack numbers: what is missing stays so or is filled in, as close as proven, in every call and file."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from elbowroom import AtMost, Box, Certificate, Explainer, InputError, NoRegion, Region, Space, Status
from elbowroom.present.checking import check_region
from elbowroom.present.findings import Outcome
from elbowroom.result.schema import read_answer
from tests.support.forgery import resealed
from tests.support.hostile import attack

ROWS = 200
MODELS: dict[str, Any] = {
    "forest": RandomForestClassifier(9, max_depth=4, random_state=0),
    "linear": LogisticRegression(),
}


def table(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.integers(1, 7, ROWS).astype(float) for name in ("a", "b", "c")})
    label = frame["a"] - frame["b"] + 0.5 * frame["c"] + rng.normal(size=ROWS) > 1.5
    for name in ("b", "c"):
        frame.loc[rng.random(ROWS) < 0.25, name] = np.nan
    return frame, np.where(label, "yes", "no")


def truth(model: Any, space: Space, row: pd.Series, wanted: str, width: int) -> float:
    """Every whole centre, with every choice of what is filled in, and its room; the model's own predict decides."""
    axes = []
    for feature in space.features:
        low, high = int(feature.lower), int(feature.upper)
        own = [float(v) for v in range(low, high + 1)]
        start = feature.typical if np.isnan(row[feature.name]) else row[feature.name]
        priced = [(v, 0.0 if start is None else abs(v - start) / feature.scale) for v in own]
        if feature.immutable:
            axes.append([(row[feature.name], 0.0)])
            continue
        may = feature.missing.value == "may be filled"  # type: ignore[union-attr]
        axes.append(([(np.nan, 0.0)] + (priced if may else [])) if np.isnan(row[feature.name]) else priced)
    centers = sorted(product(*axes), key=lambda center: sum(price for _, price in center))
    for center in centers:
        around = [
            [value]
            if np.isnan(value) or f.immutable
            else [v for v in np.arange(value - width, value + width + 1) if f.lower <= v <= f.upper]
            for (value, _), f in zip(center, space.features, strict=True)
        ]
        points = pd.DataFrame(list(product(*around)), columns=list(row.index))
        if (model.predict(points) == wanted).all():
            return sum(price for _, price in center)
    return np.inf


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(2))
def test_the_closest_region_with_or_without_what_is_missing(name: str, seed: int) -> None:
    frame, labels = table(seed)
    model = make_pipeline(SimpleImputer(), MODELS[name]).fit(frame, labels)
    lacking = frame[frame["b"].isna()]
    both = lacking[lacking["c"].isna()].index[:2]
    seen = set()
    may = "may be filled"
    for missing, fixed in (({}, ""), ({"b": may}, ""), ({"b": may}, "ac"), ({"b": may, "c": may}, "a")):
        space = Space.from_frame(frame, missing=missing, integer=["a"], immutable=list(fixed))
        explainer, width = Explainer(model, space), 0 if fixed == "ac" else 1
        for i in [*lacking.index[:4], *both]:
            row = frame.loc[i]
            wanted = "no" if model.predict(frame.loc[[i]])[0] == "yes" else "yes"
            answer = explainer.explain(row, Box(dict.fromkeys("abc", float(width))))
            best = truth(model, space, row, wanted, width)
            if best == np.inf:
                assert answer.status is Status.NONE_EXISTS
                continue
            assert isinstance(answer, Region)
            assert answer.status is Status.OPTIMAL
            assert answer.distance == pytest.approx(best, abs=1e-9)
            assert set(answer.filled) <= set(missing)
            assert {*answer.filled, *answer.missing} == {n for n in frame.columns if np.isnan(row[n])}
            able = explainer.for_missing(answer.missing)
            attack(able.predict, answer.body, wanted)
            assert (model.predict(answer.sample(200)) == wanted).all()
            assert answer.predicted != wanted
            seen.add(len(answer.filled))
    assert {0, 1} <= seen


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Explainer, Region, Path]:
    frame, labels = table(0)
    model = make_pipeline(SimpleImputer(), MODELS["forest"]).fit(frame, labels)
    space = Space.from_frame(frame, missing="may be filled", immutable=["a"], units={"b": "years"})
    explainer = Explainer(model, space)
    file = tmp_path_factory.mktemp("filled") / "model.joblib"
    joblib.dump(model, file)
    for i in frame[frame["b"].isna() & frame["c"].notna()].index:
        answer = explainer.explain(frame.loc[i], Box({"b": 1.0}))
        if isinstance(answer, Region) and answer.filled:
            return explainer, answer, file
    raise AssertionError("no row is filled")


def test_what_is_filled_in_is_said_kept_and_checked(filled: tuple[Explainer, Region, Path], tmp_path: Path) -> None:
    explainer, region, model_file = filled
    assert region.filled == ("b",)
    assert "b is 2 years or less instead of missing" in region.sentence()
    assert "missing years" not in region.to_html()
    assert np.isnan(region.factual["b"])
    assert region.intervals.set_index("feature").loc["b", "changed"]
    region.plot()
    saved = tmp_path / "region.json"
    again = Region.from_json(region.to_json(saved))
    assert (again.filled, again.to_json()) == (region.filled, region.to_json())
    assert str(again) == str(region)
    report = check_region(saved, model_file, trust_pickle=True)
    assert report.outcome is Outcome.VALID, report.findings
    wide = explainer.widen(again).region
    assert wide.filled == region.filled
    attack(explainer.predict, wide.body, wide.target.label)
    verdict = explainer.certify(again)
    assert isinstance(verdict, Certificate)
    assert verdict.fingerprint == region.certificate.fingerprint


@pytest.mark.parametrize("names", [["a"], ["b", "b"], ["c"], ["d"], "b", None])
def test_forged_fillings_are_refused(filled: tuple[Explainer, Region, Path], names: object) -> None:
    document = json.loads(filled[1].to_json())
    document["filled"] = names
    with pytest.raises(InputError):
        read_answer(json.dumps(resealed(document)))


@pytest.mark.parametrize("question", [{"room": Box(0), "rules": [AtMost(1)]}, {"room": Box(0.2, on="changed")}])
def test_where_changes_are_counted_what_is_missing_stays_so(question: dict[str, Any]) -> None:
    frame, labels = table(0)
    model = make_pipeline(SimpleImputer(), MODELS["forest"]).fit(frame, labels)
    explainer = Explainer(model, Space.from_frame(frame, missing="may be filled", immutable=["a", "c"]))
    assert any(explainer.explain(frame.loc[i], Box(0)) for i in frame[frame["b"].isna()].index[:5])
    for i in frame[frame["b"].isna()].index[:5]:
        answer = explainer.explain(frame.loc[i], **question)
        assert "b" in answer.missing
        assert isinstance(answer, NoRegion) or not answer.filled


def test_a_model_that_takes_no_missing_number_refuses_the_row_by_name() -> None:
    frame, labels = table(0)
    whole = frame.fillna(3.0)
    explainer = Explainer(LogisticRegression().fit(whole, labels), Space.from_frame(frame, integer=["a"]))
    with pytest.raises(InputError, match=r"row, column 'b': the number is missing, and .* takes no row without it"):
        explainer.explain(frame[frame["b"].isna()].iloc[0])
