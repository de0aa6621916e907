"""What classes are called: checked, said everywhere, kept in files, and never trusted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from typer.testing import CliRunner

from elbowroom import Box, Explainer, InputError, NoRegion, Region
from elbowroom.present.checking import check_region
from elbowroom.present.cli import app
from elbowroom.present.findings import Outcome
from elbowroom.problem.class_names import ClassNames
from tests.support.answers import make_no_region, make_region
from tests.support.forgery import resealed

NAMES = {0: "malignant", 1: "benign"}


def data() -> tuple[pd.DataFrame, np.ndarray]:
    X = pd.DataFrame(np.random.default_rng(0).uniform(0, 1, (200, 2)), columns=["a", "b"])
    return X, (X["a"] + X["b"] > 1).to_numpy().astype(int)


@pytest.fixture(scope="module")
def explainer() -> Explainer:
    X, y = data()
    return Explainer(LogisticRegression().fit(X, y), X, labels=NAMES)


ROW = {"a": 0.2, "b": 0.2}


def test_said_everywhere(explainer: Explainer) -> None:
    region = explainer.explain(ROW, room=Box(0.02))
    assert isinstance(region, Region)
    assert region.sentence().startswith("The model said 'malignant'. If ")
    assert region.sentence().endswith("the model predicts 'benign'.")
    for text in (
        str(region),
        region.to_html(),
        region._repr_html_().replace("&#39;", "'"),
        region.plot().ax.get_title(loc="left"),
    ):
        assert "malignant" in text and "benign" in text
    assert region.target.label == 1 and region.predicted == 0  # names are words; the answer is about classes
    wide = region.widen().region
    assert "'benign'" in wide.sentence()
    front = explainer.frontier(ROW, [0.01, 0.02])
    assert all("'benign'" in answer.sentence() for answer in front.answers if answer)
    none = explainer.explain(ROW, room=Box(0.6))
    assert isinstance(none, NoRegion) and "in which the model predicts 'benign'" in none.sentence()


def test_kept_in_files_and_not_trusted(explainer: Explainer, tmp_path: Path) -> None:
    X, y = data()
    joblib.dump(LogisticRegression().fit(X, y), tmp_path / "model.joblib")
    region = explainer.explain(ROW, room=Box(0.02))
    again = Region.from_json(region.to_json(tmp_path / "r.json"))
    assert (
        again.labels == region.labels and again.sentence() == region.sentence() and again.to_json() == region.to_json()
    )
    report = check_region(tmp_path / "r.json", tmp_path / "model.joblib", True)
    assert report.outcome is Outcome.VALID and "predicts 'benign'" in report.conclusion
    remarks = [finding for finding in report.findings if "labels" in finding.fields]
    assert len(remarks) == 1 and "0 'malignant', 1 'benign'; the names are the file's own" in remarks[0].what
    document = json.loads(region.to_json())
    assert document["labels"][0] == {"label": {"type": "int", "value": 0}, "name": "malignant"}
    document["labels"][0]["label"]["value"] = 7  # a class that the model does not have
    (tmp_path / "r.json").write_text(json.dumps(resealed(document)))
    with pytest.raises(InputError, match="7 is not a class"):
        check_region(tmp_path / "r.json", tmp_path / "model.joblib", True)


@pytest.mark.parametrize(
    "forged",
    [[], None, "x", [{"label": None, "name": "x"}], [{"label": {"type": "int", "value": 0}, "name": " "}],
     [{"label": {"type": "int", "value": 0}, "name": 3}], [{"label": {"type": "int", "value": 0}}],
     [{"label": {"type": "int", "value": 0}, "name": "x"}, {"label": {"type": "int", "value": 0}, "name": "y"}],
     [{"label": {"type": "int", "value": 0}, "name": "x"}, {"label": {"type": "int", "value": 1}, "name": "x"}]],
)  # fmt: skip
def test_forged_names_are_refused(explainer: Explainer, forged: object) -> None:
    document = json.loads(explainer.explain(ROW, room=Box(0.02)).to_json())
    document["labels"] = forged
    with pytest.raises(InputError):
        Region.from_json(json.dumps(resealed(document)))


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ({2: "x"}, "2 is not a class of the model; the classes are"),
        ({"0": "x"}, "'0' is not a class"),
        ({False: "x"}, "False is not a class"),
        ({0: 3}, "the name of a class is text"),
        ({0: " "}, "the name of a class is text"),
        ({0: "x", 1: "x"}, "two classes are called 'x'"),
        ({0: "1"}, "two classes are called '1'"),
        (["x", "y"], "give a mapping from class to name"),
    ],
)
def test_what_is_no_name_is_refused(labels: object, words: str) -> None:
    X, y = data()
    with pytest.raises(InputError, match=words):
        Explainer(LogisticRegression().fit(X, y), X, labels=labels)  # type: ignore[arg-type]


def test_regressors_have_no_classes() -> None:
    X, y = data()
    with pytest.raises(InputError, match="is a regressor"):
        Explainer(Ridge().fit(X, y), X, labels={0: "x"})


def test_numpy_and_text_classes() -> None:
    X, y = data()
    model = LogisticRegression().fit(X, np.where(y == 1, "y", "n"))
    assert Explainer(model, X, labels={"y": "yes"}).explain(ROW).sentence().startswith("The model said 'n'. If ")
    numbers = Explainer(LogisticRegression().fit(X, y), X, labels={np.int64(1): "yes"})
    assert "predicts 'yes'" in numbers.explain(ROW).sentence()


def test_hostile_names_are_shown_as_they_are() -> None:
    evil = "ok\x1b[2J\u202e\nValid <script>alert(1)</script>"
    for answer in (
        replace(make_region(), labels=ClassNames((("approved", evil),))),
        replace(make_no_region(), labels=ClassNames((("approved", evil),))),
    ):
        for text in (answer.sentence(), answer.to_html(), answer._repr_html_()):
            assert not set("\x1b\u202e") & set(text) and "\nValid" not in text
        assert "<script>" not in answer.to_html()


def test_command_line(tmp_path: Path) -> None:
    X, y = data()
    joblib.dump(LogisticRegression().fit(X, y), tmp_path / "m.joblib")
    X.assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    row = str(int(np.flatnonzero(y == 0)[0]))
    words = [
        "explain",
        str(tmp_path / "m.joblib"),
        str(tmp_path / "d.csv"),
        "--row",
        row,
        "--label",
        "y",
        "--trust-pickle",
    ]
    done = CliRunner().invoke(app, [*words, "--label", "0=malignant", "--label", "1=benign", "--quiet"])
    assert done.exit_code == 0 and "predicts 'benign'" in " ".join(done.output.split())
    done = CliRunner().invoke(app, [*words, "--label", "7=x"])
    assert done.exit_code == 2 and "'7' is not a class of the model" in done.output
    done = CliRunner().invoke(app, [*words, "--label", "0=x", "--label", "0=y"])
    assert done.exit_code == 2 and "named twice" in done.output
