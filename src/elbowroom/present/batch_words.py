"""A batch on the command line: what came of it, and every answer of a store proven again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from elbowroom.batch.audit import Audit
from elbowroom.batch.result import BatchResult, csv_of, parquet_of
from elbowroom.batch.runner import BatchProgress
from elbowroom.batch.store import Store
from elbowroom.errors import InputError
from elbowroom.explainer import Explainer
from elbowroom.present.checking import check_answer
from elbowroom.present.endings import Exit
from elbowroom.present.files import load_model_file
from elbowroom.present.findings import Outcome
from elbowroom.present.numbers import about, percent
from elbowroom.present.screen import Column, Screen
from elbowroom.result import NoRegion
from elbowroom.result.schema import read_answer

MEANING = {
    "OPTIMAL": "certified, proven closest",
    "CERTIFIED": "certified, a closer one may exist",
    "NONE_EXISTS": "proven: no region exists",
    "UNKNOWN": "not found in time",
    "ERROR": "could not be asked",
    "NOT_ASKED": "not asked yet",
}


def told(screen: Screen, found: BatchResult, quiet: bool) -> None:
    """How the rows ended, and the columns that have to change most often."""
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
    used = found.levers()
    most = [f"{name} ({count:,})" for name, count in used.head(5).items() if count]
    if most:
        screen.line(f"Most often to change: {', '.join(most)}.")
    wrong = found.frame["error"].dropna()
    for label, error in wrong.head(5).items():
        screen.line(f"row {label}: {error}")
    if len(wrong) > 5:
        screen.line(f"... and {len(wrong) - 5:,} more rows with errors; the table has them all.")
    if found.interrupted:
        screen.line("Interrupted; with --store the same command goes on where it ended.")


def audit_told(screen: Screen, report: Audit) -> None:
    heads = ("group", "rows", "have recourse", "proven none", "out of time", "median cost", "95 % interval")
    lines = []
    for name, line in report.table.iterrows():
        low, high = float(line["median_cost_low"]), float(line["median_cost_high"])
        lines.append(
            [
                str(name),
                f"{int(line['rows']):,}",
                f"{int(line['has_recourse']):,} ({percent(line['share'])})" if line["share"] == line["share"] else "0",
                f"{int(line['no_recourse_proven']):,}",
                f"{int(line['out_of_time']):,}",
                "" if line["median_cost"] != line["median_cost"] else about(float(line["median_cost"]), 4),
                f"{about(low, 4)} to {about(high, 4)}" if abs(low) < float("inf") and low == low else "too few rows",
            ]
        )
    screen.table([Column(head, "left" if head == "group" else "right") for head in heads], lines)


def table_writer(path: Path) -> Callable[[BatchResult], str | bytes]:
    """How a table is written into a file of this name."""
    form = path.suffix.lower()
    if form == ".csv":
        return lambda found: csv_of(found.frame)
    if form == ".parquet":
        return lambda found: parquet_of(found.frame)
    raise InputError(f"--out {str(path)!r}: use a name that ends in .csv or .parquet")


def store_checked(
    screen: Screen,
    path: Path,
    model_path: Path,
    trust_pickle: bool,
    any_model: bool,
    time_limit: float,
    on_progress: Callable[[BatchProgress], None],
) -> Exit:
    """Judge every answer again; the first that does not hold is shown with its reasons."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    counts = dict.fromkeys(Outcome, 0)
    errors = 0
    with Store(path) as store:
        labels = store.labels()
        model, digest = load_model_file(model_path, trust_pickle)
        explainer: Explainer | None = None
        for done, (label, record) in enumerate(zip(labels, store.records(range(len(labels))), strict=True), start=1):
            if record is None or record.answer is None:
                errors += 1
                continue
            answer = read_answer(record.answer)
            explainer = explainer or Explainer(model, answer.space)
            report = check_answer(
                answer, explainer, digest, model_path, any_model, 0.0 if isinstance(answer, NoRegion) else time_limit
            )
            counts[report.outcome] += 1
            if report.outcome is Outcome.REFUTED:
                screen.line(f"row {label}: {report.conclusion}")
                for finding in report.findings:
                    if finding.good is False:
                        screen.line(f"  {finding.what}")
            on_progress(BatchProgress(done, len(labels), {}, 0.0))
    screen.line(
        f"{counts[Outcome.VALID]:,} regions hold, {counts[Outcome.REFUTED]:,} are refuted, {counts[Outcome.UNDECIDED]:,} undecided; "
        f"{counts[Outcome.NOT_CHECKED]:,} answers without a region and {errors:,} rows without an answer are not checked."
    )
    if counts[Outcome.REFUTED]:
        return Exit.REFUTED
    return Exit.UNKNOWN if counts[Outcome.UNDECIDED] else Exit.REGION
