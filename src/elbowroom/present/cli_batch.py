"""The commands for whole tables: ``elbowroom batch``, ``audit`` and ``check-store``.

Exit codes: 0 every row was asked (or every answer of a store holds), 5 an answer of a store does not hold, 4 one could
not be decided, 130 interrupted: the store keeps every answer up to then, and the same command goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from elbowroom.errors import InputError
from elbowroom.present import screen
from elbowroom.present.endings import Exit
from elbowroom.present.options import (
    AsJson,
    Bounds,
    BoundsName,
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
    OneHot,
    Probability,
    Quiet,
    Reference,
    RoomName,
    RuleTexts,
    Scale,
    ScaleName,
    Seed,
    TrustPickle,
    WantedClass,
)
from elbowroom.present.outputs import Kind, outputs

Rows = Annotated[str, typer.Option("--rows", help="Which rows of DATA: all, 0:50, or 3,7,12; the first is 0.")]
Jobs = Annotated[int, typer.Option("--jobs", help="Processes at work; -1: one per core.")]
StoreFile = Annotated[
    Path | None,
    typer.Option("--store", help="Keep every answer in this file; the same command goes on where it ended."),
]
PerRow = Annotated[float, typer.Option("--time-limit", help="Seconds for each row.", min=0.0)]
InAll = Annotated[float | None, typer.Option("--total-limit", help="Seconds for all rows together.", min=0.0)]
Radii = Annotated[
    list[str] | None, typer.Option("--radius", help="0.05 (in units of --scale), or NAME=2000 in raw units, repeated.")
]


def register(app: typer.Typer, guarded: Callable[[Any], Any]) -> None:
    """Hang the commands into the program."""
    app.command("batch")(guarded(batch))
    app.command("audit")(guarded(audit))
    app.command("check-store")(guarded(check_store))


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
    seed: Seed = 0,
    trust_pickle: TrustPickle = False,
    out: Annotated[Path | None, typer.Option("--out", help="Write the answers as a table: .csv or .parquet.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write an overview as one HTML page.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    large_table: LargeTable = False,
    reference: Reference = None,
    force: Force = False,
) -> None:
    """The closest region for every row of a table. Exit 0: every row was asked; 130: interrupted, and --store keeps what
    there is."""
    from elbowroom.present import questions
    from elbowroom.present.batch_words import table_writer, told

    files = outputs(
        {"--out": (out, Kind.TABLE), "--html": (html, Kind.PAGE)},
        {"MODEL": model, "DATA": data} | ({} if reference is None else {"--reference": reference}),
        force,
    )
    write = None if out is None else table_writer(out)
    explainer, table, _ = questions.read_table(
        model, data, labels=label, trust_pickle=trust_pickle, large_table=large_table, reference=reference,
        immutable=immutable, increasing=increasing, decreasing=decreasing, integer=integer, one_hot=one_hot, scale=scale.value, bounds=bounds.value,
    )  # fmt: skip
    wanted = questions.parse_target(explainer.model.info, target, probability, value_at_least, value_at_most)
    with screen.stderr().counter("rows", enabled=not (quiet or as_json)) as counter:
        found = explainer.explain_many(
            table.iloc[rows_from_text(rows, len(table))], room=questions.parse_room(room.value, radius or ["0.05"]),
            target=wanted, distance=distance.value, rules=questions.parse_rules(at_most, rule, explainer.space), time_limit=time_limit,
            method=method, seed=seed, n_jobs=jobs, total_limit=total_limit, store=store, on_progress=counter,
        )  # fmt: skip
    if as_json:
        screen.stdout().json(found.frame.to_json(orient="table", index=True, double_precision=15))
    else:
        told(screen.stdout(), found, quiet)
    if write is not None:
        files["--out"].write(write(found))
    if html is not None:
        files["--html"].write(found.to_html())
    raise typer.Exit(Exit.INTERRUPTED if found.interrupted else Exit.REGION)


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
    seed: Seed = 0,
    trust_pickle: TrustPickle = False,
    out: Annotated[Path | None, typer.Option("--out", help="Write the table of groups as .csv.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write the audit as one HTML page.")] = None,
    quiet: Quiet = False,
    large_table: LargeTable = False,
    reference: Reference = None,
    force: Force = False,
) -> None:
    """Who has recourse, who is proven to have none, and what it costs, by group."""
    from elbowroom.batch.result import csv_of
    from elbowroom.present import questions
    from elbowroom.present.batch_words import audit_told
    from elbowroom.present.frontier_words import radii_from_text
    from elbowroom.present.tables import load_table

    files = outputs(
        {"--out": (out, Kind.TABLE), "--html": (html, Kind.PAGE)},
        {"MODEL": model, "DATA": data} | ({} if reference is None else {"--reference": reference}),
        force,
    )
    explainer, table, _ = questions.read_table(
        model, data, labels=label, trust_pickle=trust_pickle, large_table=large_table, reference=reference,
        immutable=immutable, increasing=increasing, decreasing=decreasing, integer=integer, one_hot=one_hot, scale=scale.value, bounds=bounds.value,
    )  # fmt: skip
    wanted = questions.parse_target(explainer.model.info, target, probability, value_at_least, value_at_most)
    chosen = rows_from_text(rows, len(table))
    of_row = None
    if groups is not None:
        whole = load_table(data, large=large_table)
        if groups not in whole.columns:
            raise InputError(f"--groups {groups!r} is not a column of {data}; it has {list(map(str, whole.columns))}")
        of_row = list(whole[groups].iloc[chosen])
    with screen.stderr().counter("rows", enabled=not quiet) as counter:
        found = explainer.explain_many(
            table.iloc[chosen], room=questions.parse_room(room.value, radius or ["0.05"]), target=wanted,
            distance=distance.value, rules=questions.parse_rules(at_most, rule, explainer.space), time_limit=time_limit, seed=seed,
            n_jobs=jobs, total_limit=total_limit, store=store, on_progress=counter,
        )  # fmt: skip
    if found.interrupted:
        raise KeyboardInterrupt
    report = found.audit(of_row, radii=() if radii is None else radii_from_text(radii), sigma=sigma)
    audit_told(screen.stdout(), report)
    if out is not None:
        files["--out"].write(csv_of(report.table))
    if html is not None:
        files["--html"].write(report.to_html())
    raise typer.Exit(Exit.REGION)


def check_store(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="A file written by batch --store.")],
    model: ModelFile,
    any_model: Annotated[
        bool, typer.Option("--any-model", help="Accept a model other than the certified one (for example retrained).")
    ] = False,
    time_limit: PerRow = 60.0,
    trust_pickle: TrustPickle = False,
    quiet: Quiet = False,
) -> None:
    """Prove every answer of a store again, from scratch. Exit 0: all regions hold; 5: one does not; 4: one is undecided."""
    from elbowroom.present.batch_words import store_checked

    with screen.stderr().counter("answers", enabled=not quiet) as counter:
        code = store_checked(screen.stdout(), store, model, trust_pickle, any_model, time_limit, counter)
    raise typer.Exit(code)


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
