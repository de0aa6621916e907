"""The runner of the paper's tables: every instance once, whatever happens to the process."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks import cells as cells_module
from benchmarks import tables
from benchmarks.cases import ALL, Case, choose
from benchmarks.cells import Cell, cells, file_of, key_of, missing, order
from benchmarks.data import DataMissing, obtainable
from benchmarks.lines import Lines

from elbowroom import Explainer

WANTED = {
    "data", "model", "param", "rho", "norm", "row", "status", "distance", "lower_bound", "certified_radius", "seconds",
    "iterations", "false_points", "gap", "hostile_points",
}  # fmt: skip


def _run(folder: Path, **options: Any) -> list[dict[str, Any]]:
    given = {"data": ("cancer",), "models": ("linear", "DT-3"), "norms": ("linf",), "rows": 2, "limit": 5.0} | options
    tables.run(out=folder, **given)
    found: list[dict[str, Any]] = json.loads((folder / "paper-slice.json").read_text())["instances"]
    return found


def _answers(records: list[dict[str, Any]]) -> list[Any]:
    return [(key_of(r), r["status"], r["distance"], r["false_points"]) for r in records]


def test_a_run_writes_every_instance_once(tmp_path: Path) -> None:
    records = _run(tmp_path)
    assert len(records) == 2 * 2 * 2  # models, radii, rows
    assert len({key_of(r) for r in records}) == len(records)
    for record in records:
        assert set(record) >= WANTED
        assert record["status"] == "OPTIMAL"
        assert record["false_points"] == 0 < record["hostile_points"]
        assert record["lower_bound"] <= record["distance"]
        assert record["counted"] == "nodes"
    content = json.loads((tmp_path / "paper-slice.json").read_text())
    assert content["summary"]["instances"] == len(records)
    assert content["early_stops"] == []
    assert str(Path.home()) not in (tmp_path / "paper-slice.json").read_text()


def test_a_second_start_goes_on_and_ends_with_the_same_answers(tmp_path: Path) -> None:
    whole = _run(tmp_path / "whole")
    broken = tmp_path / "broken"
    _run(broken)
    lines = (broken / "paper.jsonl").read_text().splitlines(keepends=True)
    (broken / "paper.jsonl").write_text("".join(lines[:4]) + lines[4][:30])  # killed in the middle of a line
    records = _run(broken)
    assert _answers(records) == _answers(whole)
    assert {r["start"] for r in records} == {0, 1}  # both starts are distinguished
    assert len(json.loads((broken / "paper-slice.json").read_text())["starts"]) == 2
    before = (broken / "paper.jsonl").read_text()
    _run(broken)
    assert (broken / "paper.jsonl").read_text() == before, "nothing was left to do"
    assert _answers(_run(broken, resume=False)) == _answers(whole)


def test_two_processes_give_the_same_answers(tmp_path: Path) -> None:
    one = _run(tmp_path / "one", models=("linear",), radii=(0.01, 0.05))
    two = _run(tmp_path / "two", models=("linear",), radii=(0.01, 0.05), jobs=2)
    assert _answers(one) == _answers(two)


def test_an_error_is_named_and_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solve = cells_module.solve_instance

    def fails_once(explainer: Any, model: Any, x: Any, row: int, *rest: Any) -> dict[str, Any]:
        if row == 1:
            raise RuntimeError("broken on purpose")
        return solve(explainer, model, x, row, *rest)

    monkeypatch.setattr(cells_module, "solve_instance", fails_once)
    records = _run(tmp_path, models=("linear",), radii=(0.01,))
    assert [r["row"] for r in records] == [0]
    entries = Lines(tmp_path / "paper.jsonl").read()
    assert [e["error"] for e in entries if e.get("status") == "ERROR"] == ["RuntimeError: broken on purpose"]
    monkeypatch.undo()
    assert [r["row"] for r in _run(tmp_path, models=("linear",), radii=(0.01,))] == [0, 1]


def test_an_interrupted_search_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explain = Explainer.explain

    def interrupted(self: Explainer, *args: Any, **options: Any) -> Any:
        return replace(explain(self, *args, **options), method="interrupted")  # what `explain` returns after Ctrl-C

    monkeypatch.setattr(Explainer, "explain", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _run(tmp_path, models=("linear",))
    assert not [entry for entry in Lines(tmp_path / "paper.jsonl").read() if "row" in entry]


def test_a_shorter_limit_is_another_instance() -> None:
    long, short = (cells(["cancer"], [Case("DT", 3)], ["linf"], [0.01], 2, limit) for limit in (60.0, 5.0))
    assert missing(long, {short[0].key(0)}) == long
    assert missing(long, {long[0].key(0)}) == [Cell("cancer", Case("DT", 3), "linf", 0.01, (1,), 60.0)]


def test_the_whole_protocol_fills_the_four_files() -> None:
    whole = cells(("banknote", "diabetes", "ionosphere"), ALL, ("linf", "l2"), (0.01, 0.05), 20, 60.0)
    records = [
        {"data": c.data, "model": c.case.model, "param": c.case.param, "norm": c.norm, "rho": c.rho, "row": row, "limit": 60.0}
        for c in whole
        for row in c.rows
    ]  # fmt: skip
    assert len(records) == 4320
    counts: dict[str, int] = {}
    for record in records:
        counts[file_of(record)] = counts.get(file_of(record), 0) + 1
    assert counts == cells_module.PAPER_INSTANCES
    assert sorted(records, key=order)[0]["model"] == "linear"


def test_models_are_chosen_by_kind_or_label() -> None:
    assert [c.label for c in choose(["nn-10x10x10", "DT"])] == ["DT-3", "DT-5", "DT-10", "NN-10x10x10"]
    assert choose(None) == ALL
    with pytest.raises(SystemExit, match="RF-7"):
        choose(["RF-7"])


def test_without_data_a_substitute_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> Any:
        raise DataMissing(f"{name}: no file and no answer")

    monkeypatch.setattr("benchmarks.data.load", nothing)
    monkeypatch.setattr("benchmarks.data.available", lambda name: False)
    found, messages = obtainable(("banknote", "diabetes"), "cancer")
    assert found == ["cancer"]
    assert "banknote: no file" in messages[0]
    assert "diabetes: not in the data folder" in messages[1]  # the service is not asked twice
    assert "takes their place" in messages[-1]
    assert obtainable(("banknote",))[0] == []
