"""Files about raw columns: checked against the categories of the model, which labels in a file cannot contradict."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import joblib
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from elbowroom import Box, Explainer, InputError, Region
from elbowroom.present.checking import check_region
from elbowroom.present.findings import Outcome
from tests.support.forgery import resealed
from tests.support.raw_tables import raw_table


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    frame, labels = raw_table(0)
    frame = frame.drop(columns=["job", "branch"]).assign(grade=frame["grade"].astype(int))
    encode = make_column_transformer((OneHotEncoder(), ["housing", "grade"]), remainder="passthrough")
    model = make_pipeline(encode, RandomForestClassifier(7, max_depth=4, random_state=0)).fit(frame, labels)
    file = tmp_path_factory.mktemp("raw") / "model.joblib"
    joblib.dump(model, file)
    bad = frame[model.predict(frame) == "bad"].iloc[0]
    region = Explainer(model, frame).explain(bad, Box(0, categories={"housing": ["own", "rent"]}))
    assert isinstance(region, Region)
    assert (model.predict(region.sample(100)) == "good").all()
    return file, json.loads(region.to_json())


def outcome(saved: tuple[Path, dict[str, Any]], document: dict[str, Any], folder: Path) -> Outcome:
    file = folder / "region.json"
    file.write_text(json.dumps(resealed(document)))
    return check_region(file, saved[0], trust_pickle=True).outcome


def test_an_honest_file_is_valid(saved: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    assert outcome(saved, copy.deepcopy(saved[1]), tmp_path) is Outcome.VALID


@pytest.mark.parametrize("forgery", ["swapped", "other", "kind", "none", "name"])
def test_labels_that_the_model_does_not_have_are_refused(
    saved: tuple[Path, dict[str, Any]], tmp_path: Path, forgery: str
) -> None:
    document = copy.deepcopy(saved[1])
    housing, grade = document["space"]["groups"]
    match forgery:
        case "swapped":
            housing["labels"].reverse()
        case "other":
            housing["labels"][0]["value"] = "castle"
        case "kind":
            grade["labels"][0] = {"type": "str", "value": str(grade["labels"][0]["value"])}
        case "none":
            del housing["labels"], housing["pandas_category"]
        case "name":
            housing["name"] = "home"
            document["room"]["categories"] = {"home": document["room"]["categories"]["housing"]}
    with pytest.raises(InputError):
        outcome(saved, document, tmp_path)
