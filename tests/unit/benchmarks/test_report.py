"""The reporter: tables as the paper's, pictures, one page; from stored results alone."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks import report
from benchmarks.cases import ALL, NORMS, RADII
from benchmarks.cells import PAPER_INSTANCES, file_of
from benchmarks.data import PAPER
from benchmarks.figures import FIGURES, stored
from benchmarks.figures.lipschitz import stand_in
from benchmarks.figures.overfitting import pack, unpack
from benchmarks.figures.speed import paper_seconds
from benchmarks.report import sources
from benchmarks.report.control import control_section
from benchmarks.report.words import pair, stops, table
from benchmarks.statistics import mean_and_error, statistics

from elbowroom import Status

HERE = {"commit": "0" * 40, "command": "python -m benchmarks paper", "python": "3.11", "machine": "a machine",
        "versions": {"scikit-learn": "1.5"}}  # fmt: skip


def _record(**changes: Any) -> dict[str, Any]:
    return {
        "data": "diabetes", "model": "DT", "param": 3, "norm": "linf", "rho": 0.05, "row": 0, "status": "OPTIMAL", "distance": 1.0,
        "lower_bound": 1.0, "gap": 0.0, "certified_radius": 0.05, "seconds": 0.25, "iterations": 4, "counted": "nodes",
        "false_points": 0, "hostile_points": 100, "limit": 60.0, **changes,
    }  # fmt: skip


def _results(folder: Path, records: list[dict[str, Any]]) -> None:
    for name in PAPER_INSTANCES:
        mine = [r for r in records if file_of(r) == name]
        if mine:
            (folder / f"{name}.json").write_text(json.dumps({"environment": HERE, "instances": mine}))


def test_statistics_of_a_cell() -> None:
    records = [
        _record(seconds=1.0, iterations=2),
        _record(seconds=3.0, iterations=4, status="CERTIFIED", gap=0.125),
        _record(seconds=2.0, iterations=6, status="UNKNOWN", gap=None, certified_radius=None, false_points=1),
    ]
    found = statistics(records)
    assert found.seconds == pytest.approx((2.0, 1.0 / math.sqrt(3)))
    assert found.iterations[0] == 4.0
    assert (found.early_stops, found.optimal, found.false_points) == (2, 1, 1)
    assert found.stopped_radius == pytest.approx(0.025)  # no region counts as radius 0
    assert found.worst_gap == 0.125
    assert math.isnan(mean_and_error([1.0])[1])


def test_numbers_are_written_as_in_the_paper() -> None:
    assert pair(274.224, 51.4, 2) == "274.22 (51.40)"
    assert pair(1.0, math.nan, 1) == "1.0 (-)"
    assert pair(None, None, 2) == "-"
    assert stops(0, None) == "0"
    assert stops(4, 0.04) == "4 (radius 0.040)"
    assert table(["a", "b"], [["x", "1"]]) == "| a | b |\n| --- | ---: |\n| x | 1 |"
    assert paper_seconds(100.0, 5) == pytest.approx((15 * 100 + 5 * 1000) / 20)
    assert paper_seconds(None, 20) == 1000.0


def test_the_page_has_every_cell_and_names_every_early_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [
        _record(data=data, model=case.model, param=case.param, norm=norm, rho=rho, row=row)
        for data in PAPER
        for case in ALL
        for norm in NORMS
        for rho in RADII
        for row in range(2)
    ]
    records[-1].update(status="CERTIFIED", gap=0.0321)
    _results(tmp_path, records)
    monkeypatch.setattr(sources, "RESULTS", tmp_path)
    report.run(tmp_path / "docs")
    text = (tmp_path / "docs" / "results.md").read_text()
    assert text.count("| NN-10x10x10 |") == 12  # norms, radii, data
    assert "| early stops | 1 | 655 (at 1000 s) |" in text
    assert "| ionosphere | NN [100] | l2 | 0.05 | 1 | CERTIFIED | 3.21 % |" in text
    assert "0.250 (0.000) | 274.22 (51.40)" in text  # ours beside the paper's: linf .05, banknote, GBM-100
    assert "Made by `python -m benchmarks paper` at commit 0000000000" in text
    page = (tmp_path / "docs" / "results.html").read_text()
    assert page.count("<table>") == sum(line.startswith("| ---") for line in text.splitlines())
    assert 'src="data:image/png;base64,' in page
    assert 'src="images' not in page
    assert (tmp_path / "docs" / "images" / "results" / "speed.svg").exists()


def test_without_results_the_page_says_which_command_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "RESULTS", tmp_path)
    report.run(tmp_path / "docs")
    assert "python -m benchmarks paper" in (tmp_path / "docs" / "results.md").read_text()


@pytest.mark.parametrize("entry", FIGURES, ids=lambda entry: entry.name)
def test_a_stored_figure_can_be_drawn(entry: Any) -> None:
    if not stored(entry).exists():
        pytest.skip(f"results/{entry.result}.json has not been made")
    content = json.loads(stored(entry).read_text())
    figure = entry.module.draw(content)
    assert all(axis.get_xlabel() or axis.get_ylabel() for axis in figure.axes), "every axis says what it shows"
    assert content["environment"]["command"].startswith(f"python -m benchmarks {entry.source or 'figures'}")


def test_the_stand_in_is_continuous_and_tells_the_classes_apart() -> None:
    cuts, scores = np.array([0.2, 0.5, 0.7]), np.array([0.1, 0.8, 0.3, 0.9])
    x = np.linspace(-0.5, 1.5, 20001)
    values = stand_in(x, cuts, scores, 0.5)
    assert np.abs(np.diff(values)).max() <= (x[1] - x[0]) * (1 + 1e-9)  # Lipschitz with constant 1
    leaf = np.searchsorted(cuts, x)
    inside = np.abs(x[:, None] - cuts).min(axis=1) > 1e-9
    assert ((values < 0.5) == (scores[leaf] < 0.5))[inside].all()


def test_grids_survive_packing() -> None:
    grid = (np.random.default_rng(0).random((30, 40)) < 0.5).astype(int)
    assert np.array_equal(unpack(pack(grid)), grid)


def test_the_control_stands_model_by_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def entry(method: str, row: int, seconds: float, status: str = "OPTIMAL") -> dict[str, Any]:
        place = {"data": "diabetes", "model": "RF-5", "norm": "l2", "row": row, "method": method, "limit": 10.0}
        parts = {} if method == "auto" else {"iterations": 3, "master": [1.0, 2.0], "adversary": [0.5]}
        return {**place, "status": status, "seconds": seconds, **parts}

    entries = [entry("auto", row, 0.01) for row in range(2)]
    entries += [entry("HiGHS", 0, 1.0), entry("HiGHS", 1, 10.0, "CERTIFIED"), entry("SCIP", 0, 3.0)]
    content = {"environment": HERE, "summary": {"questions": 2, "contradictions": 0}, "instances": entries}
    (tmp_path / "control.json").write_text(json.dumps(content))
    monkeypatch.setattr(sources, "RESULTS", tmp_path)
    text = control_section()
    line = "| RF-5 | l2 | 0.0100 | 1 of 2 | 5.50 | 3 | 1.500 | 0.500 | 100 | 1 of 1 | 3.00 | 3 | 1.500 | 0.500 | 300 |"
    assert line in text.splitlines() and "limit of 10 s" in text


def test_proof_files_have_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.proofs import summary
    from benchmarks.report.proofs import proofs_section

    monkeypatch.setattr(sources, "RESULTS", tmp_path)
    assert proofs_section() == ""
    made = {"data": "diabetes", "norm": "linf", "rho": 0.05, "refused": "", "confirmed": True, "missing": ""}
    records = [
        {**made, "model": "linear", "row": 0, "bytes": 900, "checking_s": 0.01},
        {**made, "model": "DT-3", "row": 1, "bytes": 2_000, "checking_s": 0.02, "search_s": 1.0, "logged_s": 1.1, "search_and_writing_s": 3.1},
        {**made, "model": "DT-3", "row": 2, "bytes": 8_000, "checking_s": 2.5, "missing": "optimality: late"},
        {**made, "model": "NN-10", "row": 3, "bytes": 0, "checking_s": 0.0, "confirmed": False, "missing": "validity: late"},
    ]  # fmt: skip
    (tmp_path / "proofs.json").write_text(json.dumps({"environment": HERE, "summary": summary(records)}))
    said = proofs_section()
    assert "| linear, boxes | 1 | 1 | 1 | 0 | 0.9 |" in said
    assert "| trees, boxes | 2 | 2 | 1 | 0 | 5.0 | 8 (diabetes DT-3 linf 0.05 row 2) | 1.260 | 2.5 (" in said
    assert "| networks, boxes | 1 | 0 | 0 | 0 |" in said
    assert "slows the searches of boxes on trees by 10 %" in said and "2.0 times in total" in said


def test_further_fits_have_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import several
    from benchmarks.report.retrained import retrained_section

    class Above:
        """Says class 1 from a place on."""

        def __init__(self, place: float) -> None:
            self.place = place

        def predict(self, X: np.ndarray) -> np.ndarray:
            return (X[:, 0] >= self.place).astype(int)

    class Answer:
        """What is read of a region: from 0.25 to 0.5."""

        status, distance, body = Status.OPTIMAL, 0.625, SimpleNamespace(center=np.array([0.375]))

        def sample(self, n: int, seed: int) -> pd.DataFrame:
            return pd.DataFrame({"place": np.linspace(0.25, 0.5, n)})

    monkeypatch.setattr(sources, "RESULTS", tmp_path)
    monkeypatch.setattr(several, "Region", Answer)
    assert retrained_section() == ""
    later = [Above(place) for place in (0.2, 0.4, 0.6, 0.8)]
    answers, asked = [np.array([0.505]), None, Answer()], np.ones((3, 1))
    judged = several._judged(answers, asked, later)
    assert (judged["regions"], judged["optimal"], judged["mean distance"]) == (2, 1, pytest.approx(0.56))
    assert judged["fresh fits that keep the centre, mean"] == (0.5 + 0.75) / 2  # at 0.505 and at 0.375
    assert judged["fresh fits that keep 200 points, least"] == 0.5
    assert judged["fresh fits that keep 200 points, mean"] == (0.5 + 0.5) / 2  # the region reaches 0.5
    found = {"rows": 3, "processor seconds per row": 0.25, **judged}
    earlier = {**judged, "rows": 3, "seconds per row": 2.0, "optimal": 3, "kept": True}
    (tmp_path / "retrained.json").write_text(json.dumps({"environment": HERE, "raised": found, "all": earlier}))
    said = retrained_section()
    assert "keep 200 points: mean" in said and "Forel" in said and "leaf" not in said
    assert "| raised | 2 of 3 | 1 | 0.560 | 62 % (50 %) | 50 % (50 %) | 0.25 |" in said.splitlines()
    assert "| all | 2 of 3 | 3 | 0.560 | 62 % (50 %) | 50 % (50 %) | 2.00 \\* |" in said.splitlines()
    assert "\\*: seconds of the clock, of an earlier run." in said.splitlines()
