"""A saved region checked again: what holds, what is refuted, what stays open, and what is not a claim at all."""

from __future__ import annotations

from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Box, Explainer, InputError, Region, Space, Target
from elbowroom.present.checking import Finding, Report, check_region
from elbowroom.problem import RecourseProblem
from elbowroom.result import Undecided

NAMES = ["a", "b"]


@pytest.fixture(scope="module")
def data() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0.0, 1.0, (300, 2)), columns=NAMES)
    return X, np.where(X["a"] + 0.3 * X["b"] > 0.6, "yes", "no")


def saved(folder: Path, model: object, data: pd.DataFrame, **question: object) -> Path:
    """The region of the first refused row, as a file."""
    explainer = Explainer(model, Space.from_frame(data))
    row = data.iloc[int(np.argmax(explainer.predict(data.to_numpy()) == "no"))]
    region = explainer.explain(row, **{"room": Box(0.02), "target": "yes", **question})  # type: ignore[arg-type]
    assert isinstance(region, Region)
    region.to_json(folder / "region.json")
    joblib.dump(model, folder / "model.joblib")
    return folder / "region.json"


def check(folder: Path, model: str = "model.joblib", **more: object) -> Report:
    return check_region(folder / "region.json", folder / model, True, **more)  # type: ignore[arg-type]


def good(report: Report) -> list[bool | None]:
    return [finding.good for finding in report.findings if not finding.remark]


def test_a_true_claim_holds_and_says_what_was_not_checked(
    tmp_path: Path, data: tuple[pd.DataFrame, np.ndarray]
) -> None:
    X, y = data
    saved(tmp_path, DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), X)
    report = check(tmp_path)
    assert report.holds is True
    assert report.conclusion.startswith("Valid:")
    # the file, the model, label and name, the room, every point, margin and words, random points
    assert good(report) == [True] * 9
    remarks = [finding for finding in report.findings if finding.remark]
    assert all(finding.good is None and finding.what.startswith("not checked: ") for finding in remarks)
    assert report.findings[-len(remarks[1:]) :] == tuple(remarks[1:])  # all but that of the model file stand at the end
    assert any("no closer region" in finding.what for finding in remarks)
    told = report.as_json()
    assert told["holds"] is True and told["outcome"] == "valid" and told["counterexample"] is None
    assert [f["good"] for f in told["findings"] if not f["remark"]] == good(report)
    assert sum(f["remark"] for f in told["findings"]) == len(remarks)


def test_the_sentence_that_was_proven_is_told(tmp_path: Path, data: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = data
    saved(tmp_path, LogisticRegression().fit(X, y), X)
    report, region = check(tmp_path), Region.from_json(tmp_path / "region.json")
    assert report.proven is not None and report.proven == report.as_json()["proven"]
    assert report.proven.startswith("If a is ") and "the model predicts 'yes'." in report.proven
    assert region.sentence().endswith(report.proven.partition(" The model is ")[0])
    assert f"sklearn LogisticRegression, fingerprint {region.certificate.fingerprint[:12]}" in report.proven
    assert (f"Proven: {report.proven}",) in list(report.lines())


def test_another_model_is_told_from_a_false_claim(tmp_path: Path, data: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = data
    saved(tmp_path, DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), X)
    lowest = X["a"] > X["a"].min()  # all rows but one
    friendly = DecisionTreeClassifier(max_depth=1).fit(X, np.where(lowest, "yes", "no"))
    contrary = DecisionTreeClassifier(max_depth=1).fit(X, np.where(lowest, "no", "yes"))
    joblib.dump(friendly, tmp_path / "friendly.joblib")
    joblib.dump(contrary, tmp_path / "contrary.joblib")
    other = check(tmp_path, "friendly.joblib")
    assert other.holds is False
    assert other.conclusion.startswith("Not the certified model")
    assert check(tmp_path, "friendly.joblib", any_model=True).holds is True
    refuted = check(tmp_path, "contrary.joblib", any_model=True)
    assert refuted.holds is False
    assert refuted.conclusion.startswith("Refuted")
    assert refuted.counterexample is not None
    point = np.array([[refuted.counterexample[name] for name in NAMES]])
    assert Region.from_json(tmp_path / "region.json").body.contains(point)[0]
    assert contrary.predict(pd.DataFrame(point, columns=NAMES))[0] == "no"


def test_an_undecided_judge_leaves_the_claim_open(
    tmp_path: Path, data: tuple[pd.DataFrame, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data
    saved(tmp_path, LogisticRegression().fit(X, y), X)
    monkeypatch.setattr(Explainer, "certify", lambda self, region, time_limit: Undecided("no time"))
    report = check(tmp_path)
    assert report.holds is None
    assert report.conclusion.startswith("Undecided")
    assert any("no time" in finding.what for finding in report.findings)


def test_the_model_itself_has_a_say(
    tmp_path: Path, data: tuple[pd.DataFrame, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where the judge certifies, a predict that disagrees refutes the claim."""
    X, y = data
    saved(tmp_path, LogisticRegression().fit(X, y), X)
    monkeypatch.setattr(Explainer, "predict", lambda self, rows: np.full(len(rows), "maybe"))
    report = check(tmp_path)
    assert report.holds is False
    assert any("disagrees at 1000 of 1000" in finding.what for finding in report.findings)
    assert any("'yes' as read" in f.what or "'no' as read, maybe as asked" in f.what for f in report.findings)


def test_a_set_that_is_not_the_room_is_refuted(
    tmp_path: Path, data: tuple[pd.DataFrame, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data
    saved(tmp_path, LogisticRegression().fit(X, y), X)
    monkeypatch.setattr(RecourseProblem, "is_room", lambda problem, body: False)
    report = check(tmp_path)
    assert report.holds is False
    assert any("not the room that was asked for" in finding.what for finding in report.findings)


def test_low_probabilities_are_not_sampled(tmp_path: Path, data: tuple[pd.DataFrame, np.ndarray]) -> None:
    """A probability of at least 0.3 does not decide the label, so that predict has nothing to say."""
    X, y = data
    model = LogisticRegression().fit(X, y)
    saved(tmp_path, model, X, target=Target("yes", probability=0.3))
    report = check(tmp_path)
    assert report.holds is True
    assert good(report) == [True] * 8


def test_other_columns_are_an_error(tmp_path: Path, data: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = data
    saved(tmp_path, LogisticRegression().fit(X, y), X)
    joblib.dump(LogisticRegression().fit(X.rename(columns={"b": "c"}), y), tmp_path / "other.joblib")
    with pytest.raises(InputError):
        check(tmp_path, "other.joblib")


def test_marks_of_findings() -> None:
    parts = [Finding(good, "x").parts() for good in (True, False, None)]
    assert [mark.words + what for mark, what in parts] == ["✓ x", "✗ x", "· x"]
