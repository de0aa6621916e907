"""The progress bar of a long run and the tables at its end, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from benchmarks.cells import Cell
from benchmarks.paper import cell_line
from benchmarks.published import paper_cells
from benchmarks.statistics import SOLVED, by_cell

PIPE_WIDTH = 120


class Show:
    """Everything a run says while it runs."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)

    def say(self, text: str) -> None:
        self.console.print(text, markup=False, soft_wrap=True)

    def cell(self, cell: Cell, batch: list[dict[str, Any]]) -> None:
        if batch:
            self.say(cell_line(cell.data, cell.case, cell.norm, cell.rho, batch))

    @contextmanager
    def progress(self, total: int, done: list[dict[str, Any]]) -> Iterator[Callable[[dict[str, Any]], None]]:
        """A bar that counts instances, early stops and false points; the value is called with every new record."""
        counts = {"stopped": 0, "false": 0}
        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TextColumn("early stops {task.fields[stopped]}, false points {task.fields[false]}"),
            TimeElapsedColumn(), TimeRemainingColumn(),
        )  # fmt: skip
        with Progress(*columns, console=self.console) as bar:
            task = bar.add_task("instances", total=total, **counts)

            def on_record(record: dict[str, Any]) -> None:
                counts["stopped"] += record["status"] not in SOLVED
                counts["false"] += record["false_points"]
                bar.update(task, advance=1, **counts)

            for record in done:
                on_record(record)
            yield on_record


def print_tables(console: Console, records: list[dict[str, Any]]) -> None:
    """One table per norm and radius: our mean seconds beside the paper's, early stops of both, gap, false points."""
    ours, paper = by_cell(records), paper_cells()
    names = list(dict.fromkeys(record["data"] for record in records))
    for norm, rho in dict.fromkeys((r["norm"], r["rho"]) for r in records):
        table = Table(title=f"{norm}, radius {rho:g}: seconds per instance (the paper's), early stops (the paper's)")
        table.add_column("model")
        for name in names:
            table.add_column(name, justify="right", no_wrap=True)
            table.add_column("stops", justify="right")
        table.add_column("gap", justify="right", no_wrap=True)
        table.add_column("false", justify="right")
        for label in dict.fromkeys(key[2] for key in ours if key[:2] == (norm, rho)):
            row, gaps, false = [label], [0.0], 0
            for name in names:
                found, theirs = ours.get((norm, rho, label, name)), paper.get((norm, rho, label, name))
                if found is None:
                    row += ["", ""]
                    continue
                row += [
                    f"{found.seconds[0]:.3f} ({'-' if theirs is None or theirs.seconds is None else f'{theirs.seconds:.1f}'})",
                    f"{found.early_stops} ({'-' if theirs is None else theirs.early_stops})",
                ]
                gaps.append(found.worst_gap or 0.0)
                false += found.false_points
            table.add_row(*row, f"{max(gaps):.1e}", str(false))
        console.print(table)
