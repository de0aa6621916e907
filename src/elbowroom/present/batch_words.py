"""A batch on the command line: what came of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from elbowroom.batch.audit import Audit
from elbowroom.batch.result import BatchResult, csv_of, parquet_of
from elbowroom.errors import InputError
from elbowroom.present.numbers import about
from elbowroom.present.screen import Column, Screen

MOST_ERRORS: Final = 5  # rows with errors that are shown
MEANING: Final = {
    "OPTIMAL": "certified, proven closest",
    "CERTIFIED": "certified, a closer one may exist",
    "NONE_EXISTS": "proven: no region exists",
    "UNKNOWN": "not found in time",
    "ERROR": "could not be asked",
    "NOT_ASKED": "not asked yet",
}


def told(screen: Screen, found: BatchResult, *, quiet: bool, as_json: bool, each: bool) -> None:
    """How the rows ended, and the columns that have to change most often; with ``each``, every row's sentence before."""
    if as_json:
        screen.json(found.frame.to_json(orient="table", index=True, double_precision=15))
        return
    if each:
        lines = found.frame[["sentence", "error"]]
        for label, sentence, error in lines.itertuples(name=None):
            screen.line(f"row {label}: {sentence or error or MEANING['NOT_ASKED']}")
        screen.blank()
    summary = found.summary()
    screen.table(
        [
            Column("outcome"),
            Column("rows", "right"),
            Column("median distance", "right"),
            Column("median seconds", "right"),
        ],
        [
            [
                MEANING[str(status)],
                f"{int(line['rows']):,}",
                "" if line["median_distance"] != line["median_distance"] else about(float(line["median_distance"]), 4),
                "" if line["median_seconds"] != line["median_seconds"] else about(float(line["median_seconds"]), 3),
            ]
            for status, line in summary.iterrows()
        ],
    )
    if quiet:
        return
    most = [f"{name} ({count:,})" for name, count in found.levers().head(5).items() if count]
    if most:
        screen.line(f"Most often to change: {', '.join(most)}.")
    wrong = found.frame["error"].dropna()
    for label, error in () if each else wrong.head(MOST_ERRORS).items():
        screen.line(f"row {label}: {error}")
    if len(wrong) > MOST_ERRORS and not each:
        screen.line(f"... and {len(wrong) - MOST_ERRORS:,} more rows with errors; the table has them all.")
    if not found.is_complete:
        why = "Interrupted" if found.interrupted else "The time for all rows is over"
        screen.line(f"{why}; with --store the same command goes on where it ended.")


def audit_told(screen: Screen, report: Audit) -> None:
    heads = ("group", "rows", "have recourse", "proven none", "out of time", "median cost", "95 % interval")
    lines = []
    for name, line in report.table.iterrows():
        low, high = float(line["median_cost_low"]), float(line["median_cost_high"])
        lines.append(
            [
                str(name),
                f"{int(line['rows']):,}",
                f"{int(line['has_recourse']):,} ({100.0 * line['share']:.1f} %)"
                if line["share"] == line["share"]
                else "0",
                f"{int(line['no_recourse_proven']):,}",
                f"{int(line['out_of_time']):,}",
                "" if line["median_cost"] != line["median_cost"] else about(float(line["median_cost"]), 4),
                f"{about(low, 4)} to {about(high, 4)}" if abs(low) < float("inf") and low == low else "too few rows",
            ]
        )
    screen.table([Column(head, "left" if head == "group" else "right") for head in heads], lines)
    for title, part in (
        ("What more room costs:", report.rooms),
        ("Slips (lost: less than 95 % keep the outcome):", report.slips),
    ):
        if part is not None:
            screen.blank()
            screen.line(title)
            flat = part.reset_index() if part.index.name else part
            screen.table(
                [Column(str(name).replace("_", " "), "right") for name in flat.columns],
                [
                    [value if isinstance(value, str) else f"{value:.4g}" for value in line]
                    for line in flat.to_numpy(object)
                ],
            )


def written(path: Path | None) -> Callable[[BatchResult], str | bytes] | None:
    """How a table is written into a file of this name; None: it is not asked for."""
    if path is None:
        return None
    form = path.suffix.lower()
    if form == ".csv":
        return lambda found: csv_of(found.frame)
    if form == ".parquet":
        return lambda found: parquet_of(found.frame)
    raise InputError(f"--out {str(path)!r}: use a name that ends in .csv or .parquet")
