"""No field of a file is accepted in silence: a forged value is refused, or a remark names the field as not checked.

Every forgery carries a right seal and checksum.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from typer.testing import CliRunner

from elbowroom import (
    AtMost,
    Ball,
    Box,
    Explainer,
    Feature,
    InputError,
    LinearRule,
    NoRegion,
    Probability,
    Region,
    Space,
    Status,
    Target,
)
from elbowroom.explainer import Explainer as Opened
from elbowroom.present import checking
from elbowroom.present.checking import check_region
from elbowroom.present.cli import app
from elbowroom.present.findings import Outcome, Report
from tests.support.forgery import at, forged, leaves, other_values

ACCEPTED = (Outcome.VALID, Outcome.NOT_CHECKED)
NAMES = ("income", "age")


@dataclass(frozen=True)
class Case:
    """An honest file and its model."""

    folder: Path
    document: dict[str, Any]

    def check(self, document: dict[str, Any] | None = None, **more: object) -> Report:
        (self.folder / "region.json").write_text(json.dumps(document or self.document), encoding="utf-8")
        return check_region(self.folder / "region.json", self.folder / "model.joblib", True, **more)  # type: ignore[arg-type]

    def accepts(self, document: dict[str, Any]) -> Report | None:
        """The report, if the forgery gets through."""
        try:
            report = self.check(document)
        except InputError:
            return None
        return report if report.outcome in ACCEPTED else None


@cache
def data() -> tuple[pd.DataFrame, np.ndarray]:
    X = pd.DataFrame(np.random.default_rng(0).uniform(0.0, 1.0, (300, 2)), columns=list(NAMES))
    return X, np.where(X["income"] + 0.3 * X["age"] > 0.6, "yes", "no")


SPACE = Space(
    tuple(Feature(name, lower=0, upper=1, unit=unit) for name, unit in zip(NAMES, ("DM", "years"), strict=True))
)
ROW = np.array([0.2, 0.4])


RAW = ("raw", "filled")


@cache
def raw_model() -> Any:
    """Of raw categories, for rows that may lack their age."""
    X, y = data()
    steps = make_column_transformer((OneHotEncoder(), ["home"]), (SimpleImputer(), ["income", "age"]))
    return make_pipeline(steps, RandomForestClassifier(5, max_depth=3, random_state=0)).fit(with_homes(X), y)


def with_homes(X: pd.DataFrame) -> pd.DataFrame:
    return X.assign(home=np.resize(["own", "rent", "free"], len(X)))


def raw_space(kind: str) -> Space:
    fixed, missing = (["income"], "may be filled") if kind == "filled" else ([], "keep")
    return Space.from_frame(with_homes(data()[0]), immutable=fixed, missing=missing)


def make(kind: str, folder: Path) -> Case:
    X, y = data()
    rules: dict[str, object] = {"rules": [AtMost(2), LinearRule({"income": 1.0}, high=2.0)]}
    model, question = {
        "linear": (LogisticRegression().fit(X, y), {"room": Box(0.02), **rules}),
        "nameless": (LogisticRegression().fit(X.to_numpy(), y), {"room": Box(0.02)}),
        "forest": (RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y), {"room": Ball(0.02)}),
        "few": (
            RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y),
            {"room": Box(0.02, on="changed"), "prefer_few": 5.0},
        ),
        "promise": (
            RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y),
            {"room": Box(0.01), "keeps": Probability(0.8, sigma=0.03)},
        ),
        "network": (MLPClassifier((4,), solver="lbfgs", random_state=0).fit(X, y), {"room": Box(0.02)}),
        "certified": (LogisticRegression().fit(X, y), {"room": Box(0.02)}),
        "none": (LogisticRegression().fit(X, y), {"room": Box(0.6)}),
        "values": (
            Ridge().fit(X, 1000 * X["income"]),
            {"room": Box(0.02), "target": Target(at_least=600, at_most=700)},
        ),
        "forest of values": (
            RandomForestRegressor(5, max_depth=3, random_state=0).fit(X, 1000 * X["income"]),
            {"room": Ball(0.02), "target": Target(at_least=600)},
        ),
        "no values": (
            Ridge().fit(X, 1000 * X["income"]),
            {"room": Box(0.2), "target": Target(at_least=600, at_most=700)},
        ),
        "raw": (raw_model(), {"room": Box({"income": 0.01}, categories={"home": ["own", "free"]})}),
        "filled": (raw_model(), {"room": Box({"age": 0.01})}),
    }[kind]
    space, row = (raw_space(kind), {"income": 0.42, "age": None, "home": "rent"}) if kind in RAW else (SPACE, ROW)
    answer = Explainer(model, space).explain(row, **{"target": "yes", **question})  # type: ignore[arg-type]
    assert isinstance(answer, NoRegion if kind in ("none", "no values") else Region), answer
    if kind == "certified":
        assert isinstance(answer, Region)
        answer = replace(answer, status=Status.CERTIFIED, lower_bound=0.5 * answer.distance)
    joblib.dump(model, folder / "model.joblib")
    assert answer.origin is not None
    digest = hashlib.sha256((folder / "model.joblib").read_bytes()).hexdigest()
    answer = replace(answer, origin=replace(answer.origin, model_file=digest))
    if kind in ("linear", "none"):
        answer = answer.attested("17/2031", "appeal", model="model.joblib", time="2031-05-17T09:30:00+00:00")
    return Case(folder, json.loads(answer.to_json()))


KINDS = [
    "linear",
    "nameless",
    "forest",
    "few",
    "promise",
    "network",
    "certified",
    "none",
    "values",
    "forest of values",
    "no values",
    *RAW,
]


@pytest.fixture(scope="module", params=KINDS)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return make(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def linear(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return make("linear", tmp_path_factory.mktemp("one"))


@pytest.fixture(autouse=True)
def opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a model takes most of the time of a check; one and the same is read once per set of columns."""
    known: dict[tuple[str, object], Explainer] = {}

    def open_once(model: object, space: Space) -> Explainer:
        key = (joblib.hash(model), space)
        if key not in known:
            known[key] = Opened(model, space)
        return known[key]

    monkeypatch.setattr(checking, "Explainer", open_once)


def plain(path: tuple) -> str:
    """space.features.0.unit is a field of the kind space.features.unit."""
    return ".".join(key for key in path if isinstance(key, str))


def is_named(report: Report, path: tuple) -> bool:
    fields = [field for finding in report.findings if finding.remark for field in finding.fields]
    return any(plain(path) == field or plain(path).startswith(f"{field}.") for field in fields)


def true_anyway(path: tuple, before: Any, after: Any) -> bool:
    """A smaller margin is a weaker claim that is proven with the larger one, as are wider bounds; a distance, and the value that a regressor
    predicts, are compared to rounding."""
    if not isinstance(before, float) or not isinstance(after, float):
        return False
    if plain(path) in ("kept.lower", "kept.upper"):  # a bound that is farther from the truth, or the same to rounding
        return (before - after if plain(path) == "kept.lower" else after - before) >= -1e-9
    return (plain(path) == "certificate.margin" and after <= before * (1 + 1e-9)) or (
        plain(path) in ("distance", "predicted.value") and math.isclose(before, after, rel_tol=1e-12)
    )


def test_the_honest_file_is_accepted(case: Case) -> None:
    report = case.check()
    assert report.outcome is (Outcome.NOT_CHECKED if case.document["kind"] == "no region" else Outcome.VALID)
    assert case.accepts(forged(case.document)) is not None  # the forger's seal and checksum are right


def test_every_field_is_checked_or_named_as_not_checked(case: Case) -> None:
    seen, silent = set(), []
    for path in leaves(case.document):
        if path in (("checksum",), ("certificate", "seal")) or (plain(path), path[-1] == 0) in seen:
            continue
        seen.add((plain(path), path[-1] == 0))
        before = at(case.document, path)
        for after in other_values(before):
            report = case.accepts(forged(case.document, (path, after)))
            if report is not None and not is_named(report, path) and not true_anyway(path, before, after):
                silent.append((plain(path), before, after))
    assert not silent
    assert len({name for name, _ in seen}) > 40


REFUSED = (
    "format", "schema", "kind", "status", "predicted.type", "predicted.value", "source", "distance", "origin.fingerprint",
    "certificate.fingerprint", "certificate.method", "certificate.assumptions", "certificate.target.label.value",
    "certificate.body.shape", "certificate.body.center", "certificate.body.lower", "certificate.body.upper",
    "certificate.body.whole",
)  # fmt: skip


def test_what_can_be_derived_is_never_accepted_otherwise(case: Case) -> None:
    """These are refused whatever a remark says."""
    wrong = []
    for path in leaves(case.document):
        if plain(path) not in REFUSED:
            continue
        before = at(case.document, path)
        for after in other_values(before):
            if case.accepts(forged(case.document, (path, after))) is not None and not true_anyway(path, before, after):
                wrong.append((plain(path), before, after))
    assert not wrong


def test_a_field_that_nobody_knows_is_refused(case: Case) -> None:
    for where in [(), ("target",), ("space", "features", 0), ("room",), ("origin",), ("origin", "versions")][:-1]:
        with pytest.raises(InputError, match="approved_by is not a field"):
            case.check(forged(case.document, ((*where, "approved_by"), "the bank")))


@pytest.mark.parametrize("lower_bound", [-1e308, -1.0, 5.0, 1e308])
def test_impossible_bounds_are_refused(linear: Case, lower_bound: float) -> None:
    with pytest.raises(InputError, match="lower_bound should be between 0 and the distance"):
        linear.check(forged(linear.document, (("lower_bound",), lower_bound)))


def test_a_status_follows_from_the_bounds_and_the_tolerance(linear: Case) -> None:
    document, distance = linear.document, linear.document["distance"]
    for bound in (0.0, 0.5 * distance, 0.9999 * distance):
        with pytest.raises(InputError, match="status should be CERTIFIED, not OPTIMAL"):
            linear.check(forged(document, (("lower_bound",), bound)))
    with pytest.raises(InputError, match="status should be OPTIMAL, not CERTIFIED"):
        linear.check(forged(document, (("status",), "CERTIFIED")))
    with pytest.raises(InputError, match=r"tolerance should be between 0 and 0\.0001"):
        linear.check(forged(document, (("lower_bound",), 0.5 * distance), (("origin", "tolerance"), 0.5)))
    with pytest.raises(InputError, match="more than any search allows"):
        linear.check(forged(document, (("lower_bound",), 0.5 * distance), (("origin",), None)))


def told(report: Report, *words: str) -> bool:
    return any(finding.good is False and all(w in finding.what for w in words) for finding in report.findings)


def test_what_the_model_says_of_the_row_is_asked_again(linear: Case) -> None:
    for said in ({"type": "str", "value": "yes"}, {"type": "int", "value": 1}, None):
        report = linear.check(forged(linear.document, (("predicted",), said)))
        assert report.outcome is Outcome.REFUTED and told(report, "the model says 'no' of the factual, the file ")


def test_what_the_model_is_called_is_read_again(linear: Case) -> None:
    report = linear.check(forged(linear.document, (("source",), "a model approved by the bank")))
    assert report.outcome is Outcome.REFUTED and told(report, "LogisticRegression", "approved by the bank")


def test_a_margin_beyond_the_proven_one_is_refused(case: Case) -> None:
    if case.document["kind"] == "no region":
        return
    margin = case.document["certificate"]["margin"]
    for more in (1e9, margin * 1.001 + 1e-6):
        report = case.check(forged(case.document, (("certificate", "margin"), more)))
        assert report.outcome in (Outcome.REFUTED, Outcome.UNDECIDED)
        assert any("is more than the judge proves" in finding.what for finding in report.findings)
    assert case.check(forged(case.document, (("certificate", "margin"), 1e9))).outcome is Outcome.REFUTED


def test_words_of_another_release_are_not_believed(linear: Case) -> None:
    """This release knows its own words; those of another one are named, not refused."""
    words = (("certificate", "method"), "trusted by a bureau of standards")
    report = linear.check(forged(linear.document, words))
    assert report.outcome is Outcome.REFUTED and told(report, "not those of the judge")
    other = linear.check(forged(linear.document, words, (("origin", "versions", "elbowroom"), "9.9")))
    assert other.outcome is Outcome.VALID
    assert any(f.remark and "trusted by a bureau of standards" in f.what for f in other.findings)


def test_a_file_that_hides_its_rules_as_an_old_one_is_said_to_have_none(linear: Case) -> None:
    old = {key: value for key, value in linear.document.items() if key not in ("rules", "origin")}
    report = linear.check(forged(old, (("schema",), 1)))
    assert any(
        f.remark and "the rules of the question; a file of schema 1 does not keep them" in f.what
        for f in report.findings
    )
    with pytest.raises(InputError, match="is not a field of this version"):
        linear.check(forged(linear.document, (("schema",), 1)))


def test_names_of_a_model_that_has_none_are_the_files_own(tmp_path: Path) -> None:
    """Two names and units swapped: the model cannot tell, and the report says so."""
    case = make("nameless", tmp_path)
    features = case.document["space"]["features"]
    swapped = [{**features[0], "name": "age", "unit": "years"}, {**features[1], "name": "income", "unit": "DM"}]
    kinds = case.document["kinds"]
    others = {"age": kinds["income"], "income": kinds["age"]}
    report = case.check(forged(case.document, (("space", "features"), swapped), (("kinds",), others)))
    assert report.proven is not None and report.proven.startswith("If age ")
    assert any(f.remark and "column names are the file's own, the model has none" in f.what for f in report.findings)
    named = make("linear", tmp_path)
    assert not any("column names are" in f.what for f in named.check().findings)
    with pytest.raises(InputError):
        named.check(forged(named.document, (("space", "features"), swapped)))


def test_the_fingerprint_of_a_model_without_names_does_not_vouch_for_them() -> None:
    X, y = data()
    model = LogisticRegression().fit(X.to_numpy(), y)
    swapped = Space(tuple(Feature(name) for name in reversed(NAMES)))
    prints = {Explainer(model).model.fingerprint, *(Explainer(model, s).model.fingerprint for s in (SPACE, swapped))}
    assert len(prints) == 1
    own = LogisticRegression().fit(X, y)
    renamed = LogisticRegression().fit(X.rename(columns={"age": "rank"}), y)
    assert Explainer(own).model.fingerprint != Explainer(renamed).model.fingerprint


def test_files_from_before_origins_were_kept_are_still_recognised(tmp_path: Path) -> None:
    """Then the names were part of the fingerprint of every model."""
    case = make("nameless", tmp_path)
    model = joblib.load(tmp_path / "model.joblib")
    parsed = Explainer(model, SPACE).model
    former = replace(parsed, info=replace(parsed.info, own_names=True)).fingerprint
    assert former != parsed.fingerprint
    old = forged(case.document, (("certificate", "fingerprint"), former), (("origin",), None))
    assert case.check(old).outcome is Outcome.VALID
    with pytest.raises(InputError, match="fingerprint of the certificate"):
        case.check(forged(case.document, (("certificate", "fingerprint"), former)))


def test_the_program_says_what_it_did_not_check(case: Case) -> None:
    case.check()
    words = ["check", str(case.folder / "region.json"), str(case.folder / "model.joblib"), "--trust-pickle"]
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code == (6 if case.document["kind"] == "no region" else 0), ran.output
    remarks = [line for line in ran.stdout.splitlines() if line.startswith("· not checked: ")]
    for part in ("that this is what was asked", "units", "how it was found", "who made the file"):
        assert any(part in line for line in remarks)
    assert "not changed by accident" in ran.stdout and "intact" not in ran.stdout
    findings = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)["findings"]
    assert [f["what"] for f in findings if f["remark"]] == [line[2:] for line in remarks]
