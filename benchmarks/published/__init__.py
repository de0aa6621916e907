"""The numbers printed in the paper (its tables 1 to 4), transcribed; one CSV file per table or pair of tables.

tables.csv     computation time and iterations (mean, standard error, of the instances that were solved), early stops at
               1000 s, mean certified radius of the early stops
baseline.csv   percentages of robust and valid answers of the gradient method and of the paper's algorithm
accuracy.csv   accuracies of the models
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.statistics import CellKey

FOLDER = Path(__file__).parent
LIMIT_SECONDS = 1000.0


@dataclass(frozen=True)
class PaperCell:
    seconds: float | None  # None where no instance was solved
    seconds_error: float | None
    iterations: float | None
    iterations_error: float | None
    early_stops: int
    stopped_radius: float | None


@cache
def paper_cells() -> dict[CellKey, PaperCell]:
    return {
        (row["norm"], float(row["rho"]), row["model"], row["data"]): PaperCell(
            _number(row["seconds"]),
            _number(row["seconds_error"]),
            _number(row["iterations"]),
            _number(row["iterations_error"]),
            int(row["early_stops"]),
            _number(row["stopped_radius"]),
        )
        for row in rows("tables")
    }


def rows(table: str) -> list[dict[str, Any]]:
    with (FOLDER / f"{table}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def _number(text: str) -> float | None:
    return float(text) if text else None
