"""Files that say that there is no region: what of them is checked, and that the rest is said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from elbowroom import Box, Explainer, Feature, NoRegion, Space, Status
from elbowroom.present.checking import check_region
from elbowroom.present.cli import app
from elbowroom.present.findings import Outcome, Report
from tests.support.forgery import forged

X = pd.DataFrame(np.random.default_rng(0).uniform(0.0, 1.0, (200, 2)), columns=["a", "b"])
Y = np.where(X["a"] + 0.3 * X["b"] > 0.6, "yes", "no")
MODEL = LogisticRegression().fit(X, Y)
SPACE = Space((Feature("a", lower=0, upper=1), Feature("b", lower=0, upper=1)))
ROW = [0.2, 0.4]


def asked(model: object = MODEL, space: Space = SPACE, row: object = ROW, **question: object) -> NoRegion:
    answer = Explainer(model, space).explain(row, **{"room": Box(0.7), **question})  # type: ignore[arg-type]
    assert isinstance(answer, NoRegion), answer
    return answer


def check(folder: Path, answer: NoRegion | str, model: object = MODEL, **more: object) -> Report:
    text = answer if isinstance(answer, str) else answer.to_json()
    (folder / "none.json").write_text(text, encoding="utf-8")
    joblib.dump(model, folder / "model.joblib")
    return check_region(folder / "none.json", folder / "model.joblib", True, **more)  # type: ignore[arg-type]


def whats(report: Report, good: bool | None) -> str:
    return "\n".join(finding.what for finding in report.findings if finding.good is good)


def test_a_claim_about_all_centres_is_said_to_be_unchecked(tmp_path: Path) -> None:
    report = check(tmp_path, asked())
    assert report.outcome is Outcome.NOT_CHECKED and report.holds is None
    assert report.conclusion.startswith("Not checked: the claim itself.")
    assert "not checked: the claim itself: No region exists in which the model predicts 'yes'" in whats(report, None)
    assert "not changed by accident" in whats(report, True) and "the one that was asked" in whats(report, True)
    assert "the model says 'no' of the factual" in whats(report, True)
    words = ["check", str(tmp_path / "none.json"), str(tmp_path / "model.joblib"), "--trust-pickle"]
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code == 6 and "Not checked: the claim itself." in ran.stdout
    told = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert told["holds"] is None and told["outcome"] == "not checked"


def test_unknown_claims_nothing_and_is_not_refused(tmp_path: Path) -> None:
    unknown = replace(asked(), status=Status.UNKNOWN, lower_bound=0.0, reason="time ran out")
    assert check(tmp_path, unknown).outcome is Outcome.NOT_CHECKED


def test_another_model_and_another_label_are_refuted(tmp_path: Path) -> None:
    answer = asked()
    other = LogisticRegression(C=5.0).fit(X, Y)
    report = check(tmp_path, answer, other)
    assert report.outcome is Outcome.REFUTED and "a different model" in whats(report, False)
    assert check(tmp_path, answer, other, any_model=True).outcome is Outcome.NOT_CHECKED
    document = json.loads(answer.to_json())
    for path, value in ((("predicted", "value"), "yes"), (("predicted",), None), (("source",), "a bank's model")):
        assert check(tmp_path, json.dumps(forged(document, (path, value)))).outcome is Outcome.REFUTED


def test_a_row_that_is_such_a_region_itself_refutes(tmp_path: Path) -> None:
    """The file says that nothing exists, but the row with its room is an answer at distance 0."""
    document = json.loads(asked().to_json())
    good = forged(
        document,
        (("factual",), [0.9, 0.9]),
        (("predicted", "value"), "yes"),
        (("room", "radius"), 0.01),
    )
    report = check(tmp_path, json.dumps(good))
    assert report.outcome is Outcome.REFUTED and "the row itself, with its room, is such a region" in whats(
        report, False
    )
    assert report.counterexample == {"a": 0.9, "b": 0.9}
    unknown = forged(good, (("status",), "UNKNOWN"), (("lower_bound",), 0.5))
    assert check(tmp_path, json.dumps(unknown)).outcome is Outcome.REFUTED


@pytest.mark.parametrize(
    "space",
    [
        Space((Feature("a", lower=0.5, upper=1, direction="decreasing"), Feature("b", lower=0, upper=1))),
        Space((Feature("a", immutable=True), Feature("b", immutable=True))),
    ],
    ids=["limits", "fixed"],
)
def test_what_needs_no_search_is_proven(tmp_path: Path, space: Space) -> None:
    report = check(tmp_path, asked(space=space, room=Box(0.1)))
    assert report.outcome is Outcome.VALID and report.conclusion == "Valid: no such region exists."


def test_a_single_class_is_proven_and_two_are_not(tmp_path: Path) -> None:
    one = DecisionTreeClassifier().fit(X, np.full(len(X), "no"))
    answer = asked(one)
    report = check(tmp_path, answer, one)
    assert report.outcome is Outcome.VALID and "a single class" in whats(report, True)
    refuted = check(tmp_path, answer, any_model=True)
    assert refuted.outcome is Outcome.REFUTED and "names no wanted class" in whats(refuted, False)
    assert refuted.counterexample is None


def test_early_files_do_not_say_which_model_was_asked(tmp_path: Path) -> None:
    document = json.loads(asked().to_json())
    for key in ("origin", "predicted", "source"):
        del document[key]
    report = check(tmp_path, json.dumps(forged(document)))
    assert report.outcome is Outcome.NOT_CHECKED
    assert "whether this is the model that was asked; the file does not keep its fingerprint" in whats(report, None)
    assert "of the factual" not in whats(report, True)
