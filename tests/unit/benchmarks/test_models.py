"""The newcomer's table: its oracle finds faults, and a small part of the table is as it should be."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks import registry
from benchmarks.models import runner
from benchmarks.models.case import Case, Expected, Family, Given
from benchmarks.models.catalogue import FAST, all_cases, chosen
from benchmarks.models.fitting import fit, one_of_each
from benchmarks.models.frames import rows_like
from benchmarks.models.plain import forest, logistic
from benchmarks.models.tables import loans
from threadpoolctl import threadpool_limits

from elbowroom import InputError

CASES = {f"{case.family}: {case.name}": case for case in all_cases()}
FAMILY = Family("tried")


def asked(build: Any, expected: Expected = Expected.WORKS, **options: Any) -> dict[str, Any]:
    return runner.run_case(Case("tried", "case", build, expected, **options), points=300, limit=5.0)


def loan(**given: Any) -> Given:
    return fit(logistic(), loans(), **{"space": {}, **given})


@pytest.mark.parametrize("name", FAST)
def test_the_fast_part_of_the_table_is_as_it_should_be(name: str) -> None:
    case = CASES[name]
    if case.absent:
        pytest.skip(case.absent)
    with threadpool_limits(1):
        record = runner.run_case(case, points=2_000)
    assert record["outcome"] in ("works", "refused"), record
    assert not record["remark"], record
    if record["outcome"] == "works":
        assert record["points"] >= 2_000
        assert record["wrong"] == 0


def test_the_table_is_large_and_names_differ() -> None:
    assert len(CASES) == len(all_cases()) >= 130
    assert Counter(case.expected for case in all_cases())[Expected.WORKS] >= 120
    assert len(FAST) == 20
    assert set(FAST) <= set(CASES)
    assert all(case.words for case in all_cases() if case.expected is Expected.REFUSED)


def test_cases_are_chosen_by_family_and_by_any_part_of_their_name() -> None:
    assert {case.family for case in chosen(families=["trees"])} == {"trees"}
    assert next(case.name for case in chosen(only=["votes: AdaBoost"])) == "AdaBoost"
    with pytest.raises(SystemExit, match="unknown"):
        chosen(families=["forests"])
    with pytest.raises(SystemExit, match="no case"):
        chosen(only=["no such case"])


def test_a_judge_that_says_otherwise_makes_points_wrong() -> None:
    given = loan()
    income = float(given.X["income"].median())
    liar = replace(given, judge=lambda rows: np.where(rows["income"] > income, given.model.predict(rows), 0))
    record = asked(lambda: liar)
    assert record["outcome"] == "wrong"
    assert record["wrong"] > 0
    assert "income" in record["first_wrong"]


def test_a_label_that_depends_on_the_batch_is_found() -> None:
    given = loan()
    moody = replace(given, judge=lambda rows: given.model.predict(rows) if len(rows) != 7 else np.zeros(7))
    record = asked(lambda: moody)
    assert record["outcome"] == "wrong"
    assert "batch of 7" in record["first_wrong"]


def test_a_fault_that_no_label_tells_is_wrong_as_well() -> None:
    frame = pd.DataFrame({"x_a": [1.0, 0.0], "x_b": [1.0, 1.0], "y_a": [0, 0]})
    assert one_of_each(("x_",))(None, frame) == "a row with 2 categories of 'x_'"
    assert one_of_each(("x_",))(None, frame.iloc[1:]) is None
    assert asked(lambda: loan(check=lambda region, rows: "two at once"))["outcome"] == "faulty"


def test_an_error_of_the_package_is_a_refusal_and_any_other_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(error: Exception) -> Any:
        def explain(*_: Any, **__: Any) -> Any:
            raise error

        return explain

    monkeypatch.setattr(runner.Explainer, "explain", raising(InputError("column 'x': fill it in")))
    record = asked(loan, Expected.REFUSED, words=("'x'", "fill|drop"))
    assert (record["outcome"], record["remark"]) == ("refused", "")
    assert asked(loan)["remark"] == "should work"
    assert asked(loan, Expected.REFUSED, words=("'y'",))["remark"] == "the message lacks [\"'y'\"]"
    monkeypatch.setattr(runner.Explainer, "explain", raising(KeyError("x")))
    record = asked(loan, Expected.REFUSED, words=("x",))
    assert (record["outcome"], record["where"]) == ("failed", "explain")
    assert record["traceback"]


def test_a_list_of_everything_supported_is_no_cure() -> None:
    case = FAMILY.refuses("case", loan, "KNeighbors", "forest")
    assert case.lacks("KNeighbors cannot be read. Supported: RandomForest") == ["forest"]
    assert case.lacks("KNeighbors cannot be read; fit a random forest") == []


def test_a_case_without_its_library_is_skipped_and_one_that_cannot_be_built_fails() -> None:
    assert asked(loan, needs=("no_such_library",))["reason"] == "no_such_library not installed"
    assert asked(lambda: 1 / 0)["where"] == "build"  # type: ignore[arg-type, return-value]


def test_a_trap_is_an_answer_without_the_warning() -> None:
    record = asked(loan, Expected.EITHER, warns=("no such word",))
    assert record["remark"].startswith("trap")


def test_points_become_rows_of_the_users_own_table() -> None:
    given = fit(forest(3), loans(), space={})
    explainer = runner._explainer(given)
    X = given.X.astype(float).to_numpy()[:5]
    rows = rows_like(explainer.space, X, given.X)
    assert rows.equals(given.X.iloc[:5])
    broken = rows_like(explainer.space, X + 0.25, given.X)
    assert broken["age"].tolist() == (given.X["age"].iloc[:5] + 0.25).tolist()


def test_wrong_points_end_with_an_exit_code_after_they_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = loan()
    liar = replace(given, judge=lambda rows: np.arange(len(rows)) % 2)
    cases = [FAMILY("fine", lambda: given), FAMILY("liar", lambda: liar)]
    monkeypatch.setattr(runner, "chosen", lambda families, only: cases)
    out = tmp_path / "models.json"
    with pytest.raises(SystemExit) as stopped:
        registry.main(["models", "--points", "300", "--out", str(out)])
    assert stopped.value.code == 1
    content = json.loads(out.read_text())
    assert content["failures"] == ["tried: liar"]
    assert content["summary"]["wrong_points"] > 0
    assert [entry["outcome"] for entry in content["instances"]] == ["works", "wrong"]
    monkeypatch.setattr(runner, "chosen", lambda families, only: cases[:1])
    registry.main(["models", "--points", "300", "--out", str(out)])
    assert json.loads(out.read_text())["failures"] == []
