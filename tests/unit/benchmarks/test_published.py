"""The transcription of the paper's tables."""

from __future__ import annotations

import pytest
from benchmarks.cases import ALL, NORMS, RADII
from benchmarks.data import PAPER
from benchmarks.published import paper_cells, rows


def test_every_cell_is_there_once() -> None:
    wanted = {(norm, rho, case.label, data) for norm in NORMS for rho in RADII for case in ALL for data in PAPER}
    assert len(wanted) == 216
    assert set(paper_cells()) == wanted
    assert len(rows("tables")) == 216


def test_early_stops_add_up() -> None:
    cells = paper_cells()
    assert sum(cell.early_stops for cell in cells.values()) == 655
    by_half = {
        (norm, rho): sum(c.early_stops for key, c in cells.items() if key[:2] == (norm, rho))
        for norm in NORMS
        for rho in RADII
    }
    assert by_half == {("linf", 0.01): 34, ("linf", 0.05): 137, ("l2", 0.01): 214, ("l2", 0.05): 270}
    largest = [("RF-50"), ("RF-100"), ("GBM-50"), ("GBM-100")]
    assert sum(c.early_stops for k, c in cells.items() if k[:2] == ("linf", 0.05) and k[2] in largest) == 110


def test_a_radius_stands_beside_every_early_stop_and_nowhere_else() -> None:
    for key, cell in paper_cells().items():
        assert (cell.stopped_radius is None) == (cell.early_stops == 0), key
        assert cell.stopped_radius is None or 0.0 <= cell.stopped_radius <= key[1], key
        assert (cell.seconds is None) == (cell.early_stops == 20), key


@pytest.mark.parametrize(
    ("key", "seconds", "iterations", "stops", "radius"),
    [
        (("linf", 0.05, "GBM-100", "banknote"), 274.22, 17.25, 4, 0.040),
        (("linf", 0.05, "GBM-100", "diabetes"), None, None, 20, 0.022),
        (("l2", 0.05, "RF-100", "diabetes"), 868.10, 4.0, 19, 0.024),
        (("l2", 0.01, "NN-10x10x10", "ionosphere"), 282.24, 1.5, 18, 0.003),
        (("linf", 0.01, "linear", "banknote"), 0.25, None, 0, None),
    ],
)
def test_samples(
    key: tuple[str, float, str, str], seconds: float | None, iterations: float | None, stops: int, radius: float | None
) -> None:
    cell = paper_cells()[key]
    assert (cell.seconds, cell.iterations, cell.early_stops, cell.stopped_radius) == (
        seconds,
        iterations,
        stops,
        radius,
    )


def test_tables_3_and_4_are_complete() -> None:
    assert len(rows("baseline")) == 8
    accuracy = rows("accuracy")
    assert {(r["data"], r["part"], r["model"]) for r in accuracy} == {
        (data, part, case.label) for data in PAPER for part in ("train", "test") for case in ALL
    }
    assert all(0.5 < float(r["accuracy"]) <= 1.0 for r in accuracy)
