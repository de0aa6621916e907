"""The cells of the paper's tables (data, model, norm, radius), and the work that one cell is.

A cell is done in one process with one explainer, so that its answers do not depend on how many processes there are. Every
instance is written as soon as it is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.cases import ALL, Case
from benchmarks.data import load
from benchmarks.instance import ROOM, solve_instance
from benchmarks.lines import Lines
from elbowroom import Explainer

Key: TypeAlias = tuple[str, str, str, float, int, float]  # data, model label, norm, rho, row, limit
OnRecord: TypeAlias = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Cell:
    data: str
    case: Case
    norm: str
    rho: float
    rows: tuple[int, ...]
    limit: float

    def key(self, row: int) -> Key:
        return (self.data, self.case.label, self.norm, self.rho, row, self.limit)


def key_of(record: dict[str, Any]) -> Key:
    param = record["param"]
    case = Case(record["model"], tuple(param) if isinstance(param, list) else param)
    return (record["data"], case.label, record["norm"], record["rho"], record["row"], record["limit"])


def cells(
    data: Iterable[str], cases: Iterable[Case], norms: Iterable[str], radii: Iterable[float], rows: int, limit: float
) -> list[Cell]:
    norms, radii, cases = tuple(norms), tuple(radii), list(cases)
    return [
        Cell(name, case, norm, rho, tuple(range(rows)), limit)
        for name in data
        for case in cases
        for norm in norms
        for rho in radii
    ]


def missing(wanted: Iterable[Cell], done: set[Key]) -> list[Cell]:
    """What is left of the cells when the keys in ``done`` are there already."""
    left = []
    for cell in wanted:
        rows = tuple(row for row in cell.rows if cell.key(row) not in done)
        if rows:
            left.append(Cell(cell.data, cell.case, cell.norm, cell.rho, rows, cell.limit))
    return left


@lru_cache(maxsize=4)
def trained(data: str, case: Case) -> Any:
    X, y = load(data)
    return case.train(X, y)


def run_cell(
    cell: Cell, path: Path, start: int, on_record: OnRecord | None = None, deadline: float | None = None
) -> list[dict[str, Any]]:
    """Solve the rows of a cell; each record is appended to the lines at once.

    An error in one instance is recorded with its message and does not end the run of the others; it counts as an early
    stop, and the next start does it again. After ``deadline`` (of the monotonic clock) no new instance is begun.
    """
    if deadline is not None and time.monotonic() > deadline:
        return []
    X, _ = load(cell.data)
    model = trained(cell.data, cell.case)
    explainer = Explainer(model)
    explainer.explain(X[0], room=ROOM[cell.norm](0.001), time_limit=1.0)  # kernels and caches are warm from here on
    lines, records = Lines(path), []
    for row in cell.rows:
        if deadline is not None and time.monotonic() > deadline:
            break
        where = {
            "data": cell.data,
            "model": cell.case.model,
            "param": cell.case.param,
            "rho": cell.rho,
            "norm": cell.norm,
        }
        try:
            found = solve_instance(explainer, model, X[row], row, cell.norm, cell.rho, cell.limit)
        except Exception as error:  # a long run must not die of one instance; it is named in the results
            found = failure(row, error)
        record = {**where, **found, "limit": cell.limit, "start": start}
        lines.append(record)
        records.append(record)
        if on_record is not None:
            on_record(record)
    return records


def failure(row: int, error: Exception) -> dict[str, Any]:
    return {
        "row": row, "status": "ERROR", "error": f"{type(error).__name__}: {error}"[:300], "distance": None,
        "lower_bound": None, "gap": None, "certified_radius": None, "seconds": 0.0, "iterations": 0, "counted": "steps",
        "false_points": 0, "hostile_points": 0,
    }  # fmt: skip


PAPER_INSTANCES = {"paper-linear": 240, "paper-trees-linf": 1560, "paper-trees-l2": 1560, "paper-networks": 960}


def file_of(record: dict[str, Any]) -> str:
    """Which of the result files a record belongs to (each stays small enough for a repository)."""
    match record["model"]:
        case "linear":
            return "paper-linear"
        case "NN":
            return "paper-networks"
        case _:
            return f"paper-trees-{record['norm']}"


def order(record: dict[str, Any]) -> tuple[Any, ...]:
    """Records sorted as the tables are."""
    labels = [case.label for case in ALL]
    data, label, norm, rho, row, _ = key_of(record)
    return (data, labels.index(label), norm != "linf", rho, row)
