"""The commands for whole tables: ``elbowroom batch`` and ``audit``; ``explain --rows`` comes here, too.

Exit codes: 0 every row was asked, 4 the limit for all rows ended it before that, 130 interrupted: the store keeps every
answer up to then, and the same command goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elbowroom.errors import InputError
from elbowroom.present import screen
from elbowroom.present.endings import Exit
from elbowroom.present.options import (
    AsJson,
    Bounds,
    BoundsName,
    Categories,
    Closest,
    DataFile,
    Decreasing,
    Force,
    Immutable,
    Increasing,
    Integer,
    Labels,
    LargeTable,
    LeastValue,
    ModelFile,
    MostChanges,
    MostValue,
    NormName,
    OnColumns,
    OneHot,
    OnName,
    Probability,
    Quiet,
    Reference,
    RoomName,
    RuleTexts,
    Scale,
    ScaleName,
    Seed,
    SpaceFile,
    TrustPickle,
    WantedClass,
)
from elbowroom.present.outputs import Kind, outputs, tell_written

if TYPE_CHECKING:
    from elbowroom.batch import BatchResult

Rows = Annotated[str, typer.Option("--rows", help="Which rows of DATA: all, 0:50, or 3,7,12; the first is 0.")]
Jobs = Annotated[int, typer.Option("--jobs", help="Processes at work; -1: one per core.")]
StoreFile = Annotated[
    Path | None,
    typer.Option("--store", help="Keep every answer in this file; the same command goes on where it ended."),
]
PerRow = Annotated[float, typer.Option("--time-limit", help="Seconds for each row.", min=0.0)]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume/--no-resume", help="Go on with what the store holds; --no-resume refuses a store that is there."
    ),
]
InAll = Annotated[float | None, typer.Option("--total-limit", help="Seconds for all rows together.", min=0.0)]
Radii = Annotated[
    list[str] | None, typer.Option("--radius", help="0.05 (in units of --scale), or NAME=2000 in raw units, repeated.")
]


def register(app: typer.Typer, guarded: Callable[[Any], Any]) -> None:
    """Hang the commands into the program."""
    app.command("batch")(guarded(batch))
    app.command("audit")(guarded(audit))


def batch(
    model: ModelFile,
    data: DataFile,
    rows: Rows = "all",
    target: WantedClass = None,
    probability: Probability = None,
    value_at_least: LeastValue = None,
    value_at_most: MostValue = None,
    radius: Radii = None,
    room: Annotated[RoomName, typer.Option(help="Shape of the room around the answer.")] = RoomName.BOX,
    categories: Categories = None,
    on: OnColumns = OnName.ALL,
    distance: Closest = NormName.L1,
    immutable: Immutable = None,
    increasing: Increasing = None,
    decreasing: Decreasing = None,
    integer: Integer = None,
    one_hot: OneHot = None,
    at_most: MostChanges = None,
    rule: RuleTexts = None,
    scale: Scale = ScaleName.USUAL,
    bounds: Bounds = BoundsName.DATA,
    label: Labels = None,
    method: Annotated[str, typer.Option(help="How to search.")] = "auto",
    time_limit: PerRow = 60.0,
    total_limit: InAll = None,
    jobs: Jobs = 1,
    store: StoreFile = None,
    resume: Resume = True,
    seed: Seed = 0,
    trust_pickle: TrustPickle = False,
    out: Annotated[Path | None, typer.Option("--out", help="Write the answers as a table: .csv or .parquet.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write an overview as one HTML page.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    large_table: LargeTable = False,
    reference: Reference = None,
    space: SpaceFile = None,
    force: Force = False,
    each: Annotated[bool, typer.Option("--each", help="Also print the sentence of every row.")] = False,
) -> None:
    """The closest region for every row of a table. Exit 0: every row was asked; 4: the limit for all rows ended it before
    that; 130: interrupted. In both cases --store keeps what there is, and the same command goes on."""
    from elbowroom.present import questions
    from elbowroom.present.batch_words import told, written
    from elbowroom.present.category_options import with_categories

    asked_files = {"--out": (out, Kind.TABLE), "--html": (html, Kind.PAGE)}
    files = outputs(asked_files, {"MODEL": model, "DATA": data, "--reference": reference}, force)
    write = written(out)
    _fresh(store, resume)
    explainer, table, _ = questions.read_table(
        model, data, labels=label, trust_pickle=trust_pickle, large_table=large_table, reference=reference, space_file=space,
        immutable=immutable, increasing=increasing, decreasing=decreasing, integer=integer, one_hot=one_hot, scale=scale.value, bounds=bounds.value,
    )  # fmt: skip
    wanted = questions.parse_target(explainer.model.info, target, probability, value_at_least, value_at_most)
    asked_room = questions.parse_room(room.value, radius or ["0.05"], on.value)
    with screen.stderr().counter("rows", enabled=not (quiet or as_json)) as counter:
        found = explainer.explain_many(
            table.iloc[rows_from_text(rows, len(table))], room=with_categories(asked_room, categories or [], explainer.space),
            target=wanted, distance=distance.value, rules=questions.parse_rules(at_most, rule, explainer.space), time_limit=time_limit,
            method=method, seed=seed, n_jobs=jobs, total_limit=total_limit, store=store, on_progress=counter,
        )  # fmt: skip
    told(screen.stdout(), found, quiet=quiet, as_json=as_json, each=each)
    if write is not None:
        files["--out"].write(write(found))
    if html is not None:
        files["--html"].write(found.to_html())
    tell_written(screen.stdout(), files, quiet or as_json)
    raise typer.Exit(ending(found))


def audit(
    model: ModelFile,
    data: DataFile,
    rows: Rows = "all",
    groups: Annotated[str | None, typer.Option("--groups", help="A column of DATA; costs are compared by it.")] = None,
    radii: Annotated[str | None, typer.Option("--radii", help="Also ask what more room costs: 0,0.02,0.05.")] = None,
    sigma: Annotated[
        float | None, typer.Option("--sigma", help="Also ask how often plain counterfactuals survive such a slip.")
    ] = None,
    target: WantedClass = None,
    probability: Probability = None,
    value_at_least: LeastValue = None,
    value_at_most: MostValue = None,
    radius: Radii = None,
    room: Annotated[RoomName, typer.Option(help="Shape of the room around the answer.")] = RoomName.BOX,
    categories: Categories = None,
    on: OnColumns = OnName.ALL,
    distance: Closest = NormName.L1,
    immutable: Immutable = None,
    increasing: Increasing = None,
    decreasing: Decreasing = None,
    integer: Integer = None,
    one_hot: OneHot = None,
    at_most: MostChanges = None,
    rule: RuleTexts = None,
    scale: Scale = ScaleName.USUAL,
    bounds: Bounds = BoundsName.DATA,
    label: Labels = None,
    time_limit: PerRow = 60.0,
    total_limit: InAll = None,
    jobs: Jobs = 1,
    store: StoreFile = None,
    resume: Resume = True,
    seed: Seed = 0,
    trust_pickle: TrustPickle = False,
    out: Annotated[Path | None, typer.Option("--out", help="Write the table of groups as .csv.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write the audit as one HTML page.")] = None,
    quiet: Quiet = False,
    large_table: LargeTable = False,
    reference: Reference = None,
    space: SpaceFile = None,
    force: Force = False,
) -> None:
    """Who has recourse, who is proven to have none, and what it costs, by group."""
    from elbowroom.batch.result import csv_of
    from elbowroom.present import questions
    from elbowroom.present.batch_words import audit_told
    from elbowroom.present.category_options import with_categories
    from elbowroom.present.frontier_words import radii_from_text

    asked_files = {"--out": (out, Kind.TABLE), "--html": (html, Kind.PAGE)}
    files = outputs(asked_files, {"MODEL": model, "DATA": data, "--reference": reference}, force)
    sizes = () if radii is None else radii_from_text(radii)
    _fresh(store, resume)
    explainer, table, _ = questions.read_table(
        model, data, labels=label, trust_pickle=trust_pickle, large_table=large_table, reference=reference, space_file=space,
        immutable=immutable, increasing=increasing, decreasing=decreasing, integer=integer, one_hot=one_hot, scale=scale.value, bounds=bounds.value,
    )  # fmt: skip
    wanted = questions.parse_target(explainer.model.info, target, probability, value_at_least, value_at_most)
    asked_room = questions.parse_room(room.value, radius or ["0.05"], on.value)
    chosen = rows_from_text(rows, len(table))
    of_row = None if groups is None else _groups(data, groups, large_table, chosen)
    with screen.stderr().counter("rows", enabled=not quiet) as counter:
        found = explainer.explain_many(
            table.iloc[chosen], room=with_categories(asked_room, categories or [], explainer.space), target=wanted,
            distance=distance.value, rules=questions.parse_rules(at_most, rule, explainer.space), time_limit=time_limit, seed=seed,
            n_jobs=jobs, total_limit=total_limit, store=store, on_progress=counter,
        )  # fmt: skip
        if found.interrupted:
            raise KeyboardInterrupt
        report = found.audit(of_row, radii=sizes, sigma=sigma, on_progress=counter)
    audit_told(screen.stdout(), report)
    if out is not None:
        files["--out"].write(csv_of(report.table))
    if html is not None:
        files["--html"].write(report.to_html())
    tell_written(screen.stdout(), files, quiet)
    raise typer.Exit(ending(found))


def _groups(data: Path, column: str, large_table: bool, chosen: list[int]) -> list[Any]:
    """The groups of the chosen rows, from any column of the file: also one that the model does not have."""
    from elbowroom.present.tables import load_table

    whole = load_table(data, large=large_table)
    if column not in whole.columns:
        raise InputError(f"--groups {column!r} is not a column of {data}; it has {list(map(str, whole.columns))}")
    return list(whole[column].iloc[chosen])


def ending(found: BatchResult) -> Exit:
    """The exit code of a batch."""
    if found.interrupted:
        return Exit.INTERRUPTED
    return Exit.REGION if found.is_complete else Exit.UNKNOWN


def check_rows(row: int | None, rows: str | None, single: bool, *more: object) -> None:
    """``explain`` takes one row or several; ``single``, or ``more`` that were given: options that only one can have."""
    single = single or any(given not in (None, "") for given in more)
    if (rows is None) == (row is None) or (row is None and single):
        raise InputError(
            "give --row 17, or --rows 0:50; --also, --widen, --prefer-few, --keeps, --proof and --flat are for a single row"
        )


def _fresh(store: Path | None, resume: bool) -> None:
    if store is not None and store.exists() and not resume:
        raise InputError(f"--no-resume: the store {str(store)!r} exists; take it away, or choose another name")


def rows_from_text(text: str, size: int) -> list[int]:
    """all, FIRST:AFTER, or places separated by commas."""
    wrong = InputError(f"--rows {text!r}: write all, 0:50, or 3,7,12")
    if text == "all":
        return list(range(size))
    first, colon, after = text.partition(":")
    try:
        if colon:
            begin, end = int(first or 0), int(after or size)
            places = list(range(begin, min(end, size)))
            if begin < 0 or end <= begin:
                raise wrong
        else:
            places = [int(part) for part in text.split(",")]
    except ValueError:
        raise wrong from None
    for place in places or [int(first or 0)]:
        if not 0 <= place < size:
            raise InputError(f"--rows {text}: the table has {size} rows; the last one is {size - 1}")
    return places
