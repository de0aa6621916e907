"""``elbowroom menu``: the closest answer with one change, two, three, ..."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elbowroom.present import screen
from elbowroom.present.endings import Exit
from elbowroom.present.guard import code_of, guarded
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
    MostValue,
    NormName,
    OnColumns,
    OneHot,
    OnName,
    Probability,
    Quiet,
    Reference,
    RoomName,
    Row,
    Scale,
    ScaleName,
    Seed,
    SpaceFile,
    TimeLimit,
    TrustPickle,
    WantedClass,
)
from elbowroom.present.outputs import Kind, outputs, tell_written

if TYPE_CHECKING:
    from elbowroom.result import Menu


@guarded
def menu(
    model: ModelFile,
    data: DataFile,
    row: Row,
    target: WantedClass = None,
    probability: Probability = None,
    value_at_least: LeastValue = None,
    value_at_most: MostValue = None,
    radius: Annotated[
        list[str] | None,
        typer.Option(help="0.05 (in units of --scale), or NAME=2000 in raw units, repeated. Default 0.05."),
    ] = None,
    room: Annotated[RoomName, typer.Option(help="Shape of the room around the answers.")] = RoomName.BOX,
    on: OnColumns = OnName.ALL,
    distance: Closest = NormName.L1,
    immutable: Immutable = None,
    increasing: Increasing = None,
    decreasing: Decreasing = None,
    integer: Integer = None,
    one_hot: OneHot = None,
    most: Annotated[
        int | None, typer.Option(help="Leave out entries with more changes, except the closest of all.", min=1)
    ] = None,
    scale: Scale = ScaleName.USUAL,
    bounds: Bounds = BoundsName.DATA,
    label: Labels = None,
    time_limit: TimeLimit = 60.0,
    seed: Seed = 0,
    trust_pickle: TrustPickle = False,
    as_json: AsJson = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw distance over changes into a PNG, SVG or PDF.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the menu as one HTML page with a tab for each answer.")
    ] = None,
    quiet: Quiet = False,
    large_table: LargeTable = False,
    reference: Reference = None,
    space: SpaceFile = None,
    force: Force = False,
) -> None:
    """The closest region with one change, with two, ... up to the closest of all. Exit 0: there is a region."""
    files = outputs(
        {"--plot": (plot, Kind.PICTURE), "--html": (html, Kind.PAGE)},
        {"MODEL": model, "DATA": data, "--reference": reference},
        force,
    )
    from elbowroom.present import questions
    from elbowroom.present.display import picture_format
    from elbowroom.present.menu import MenuDisplay, menu_lines, menu_text
    from elbowroom.present.progress import SearchProgress

    form = None if plot is None else picture_format(plot)
    asked = questions.parse_room(room.value, radius or ["0.05"], on.value)
    question = questions.read_question(
        model, data, row, labels=label, trust_pickle=trust_pickle, large_table=large_table, reference=reference, space_file=space,
        immutable=immutable, increasing=increasing, decreasing=decreasing, integer=integer, one_hot=one_hot, scale=scale.value, bounds=bounds.value,
    )  # fmt: skip
    wanted = questions.parse_target(question.explainer.model.info, target, probability, value_at_least, value_at_most)
    with SearchProgress(time_limit, screen.stderr(), enabled=not (quiet or as_json)) as progress:
        found = question.explainer.menu(
            question.row, asked, target=wanted, distance=distance.value, time_limit=time_limit, seed=seed,
            on_progress=progress, most=most,
        )  # fmt: skip
    if as_json:
        screen.stdout().json(_as_json(found))
    else:
        for line in menu_lines(found) or [menu_text(found)]:
            screen.stdout().line(line)
    if form is not None:
        files["--plot"].write(MenuDisplay.from_menu(found).picture(form))
    if html is not None:
        files["--html"].write(found.to_html(model=model.name))
    tell_written(screen.stdout(), files, quiet or as_json)
    codes = {code_of(answer) for answer in (*found.limited, found.closest)}
    best = (Exit.INTERRUPTED, Exit.REGION, Exit.UNKNOWN, Exit.NONE_EXISTS)
    raise typer.Exit(next(code for code in best if code in codes))


def _as_json(found: Menu) -> dict[str, Any]:
    """The table; a distance that does not exist is null."""
    from elbowroom.result import Region

    rows = []
    for changes, answer in found.answers.items():
        bound = answer.lower_bound
        row = {
            "changes": changes,
            "status": answer.status.name,
            "lower_bound": bound if bound < float("inf") else "inf",
            "sentence": answer.sentence(),
        }
        if isinstance(answer, Region):
            what = [str(name) for name in answer.intervals.loc[answer.changed, "feature"]]
            rows.append({**row, "distance": answer.distance, "what_changes": what})
        else:
            rows.append({**row, "distance": None, "what_changes": []})
    return {"menu": rows}
