"""The command line: ``elbowroom demo | explain | menu | check | radius | frontier | chance | serve | schema``.

Exit codes: 0 a region was found (or a check passed), 1 the machine failed (memory, or the output could not be written),
2 bad input, 3 proven that no region exists, 4 unknown, 5 a checked claim does not hold (refuted, or made for another
model), 6 a file without a region whose claim only a new search can prove, 130 interrupted.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elbowroom.errors import InputError
from elbowroom.present import attesting, cli_batch, screen, sink
from elbowroom.present.check_command import check
from elbowroom.present.endings import Exit
from elbowroom.present.guard import code_of, guarded
from elbowroom.present.help import PlainGroup
from elbowroom.present.menu_command import menu
from elbowroom.present.options import (
    Also,
    AsJson,
    Bounds,
    BoundsName,
    CaseId,
    Categories,
    Closest,
    DataFile,
    Decreasing,
    Flat,
    Force,
    Immutable,
    Increasing,
    Integer,
    Keeps,
    Labels,
    LargeTable,
    LeastValue,
    ModelFile,
    MostChanges,
    MostValue,
    NormName,
    OnColumns,
    OneHot,
    OneRow,
    OnName,
    PreferFew,
    Probability,
    ProofFile,
    ProofModel,
    Purpose,
    Quiet,
    Radii,
    Reference,
    RoomName,
    Row,
    RuleTexts,
    Scale,
    ScaleName,
    Seed,
    SeveralRows,
    Sigma,
    SignKey,
    SpaceFile,
    TimeLimit,
    TrustPickle,
    WantedClass,
    WhyNone,
    Widen,
)
from elbowroom.present.outputs import Kind, Output, outputs, tell_written
from elbowroom.present.web.command import serve
from elbowroom.version import __version__

app = typer.Typer(
    name="elbowroom",
    help="Regions of counterfactual explanations: closest, and proven valid at every point.",
    cls=PlainGroup,
    epilog="Exit codes: 0 region, 1 machine failure, 2 bad input, 3 none exists, 4 unknown, 5 a checked claim is refuted, 6 not checked, 130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        sink.stdout().line(f"elbowroom {__version__}")
        raise typer.Exit(0)


@app.callback()
def top(
    version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Regions of counterfactual explanations: closest, and proven valid at every point."""


@app.command()
@guarded
def demo(
    html: Annotated[Path, typer.Option("--html", help="Where the page is written.")] = Path("elbowroom-demo.html"),
    output: Annotated[Path | None, typer.Option("--output", help="Also write the region as JSON.")] = None,
    model_out: Annotated[Path | None, typer.Option("--save-model", help="Also save the model (joblib).")] = None,
    force: Force = False,
) -> None:
    """A rejected credit application, explained: real data, one region, one page."""
    from elbowroom.present.demo import run_demo

    wanted = {"--html": (html, Kind.PAGE), "--output": (output, Kind.REGION), "--save-model": (model_out, Kind.MODEL)}
    answer = run_demo(screen.stdout(), outputs(wanted, {}, force))
    raise typer.Exit(code_of(answer))


@app.command()
@guarded
def explain(
    model: ModelFile,
    data: DataFile,
    also: Also = None,
    row: OneRow = None,
    rows: SeveralRows = None,
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
    prefer_few: PreferFew = None,
    keeps: Keeps = None,
    sigma: Sigma = None,
    widen: Widen = False,
    scale: Scale = ScaleName.USUAL,
    rule: RuleTexts = None,
    bounds: Bounds = BoundsName.DATA,
    label: Labels = None,
    method: Annotated[str, typer.Option(help="How to search.")] = "auto",
    time_limit: TimeLimit = 60.0,
    seed: Seed = 0,
    trust_pickle: TrustPickle = False,
    as_json: AsJson = False,
    flat: Flat = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write the answer as one HTML page.")] = None,
    output: Annotated[Path | None, typer.Option("--output", help="Write the answer as JSON, for check.")] = None,
    proof: ProofFile = None,
    proof_model: ProofModel = None,
    case: CaseId = "",
    purpose: Purpose = "",
    sign: SignKey = None,
    quiet: Quiet = False,
    large_table: LargeTable = False,
    reference: Reference = None,
    space: SpaceFile = None,
    force: Force = False,
    why_not: WhyNone = True,
) -> None:
    """The closest region in which the model predicts another class, or wanted values; for several rows with --rows."""
    as_json = as_json or flat
    cli_batch.check_rows(row, rows, widen or flat, prefer_few, keeps, sigma, proof, case, purpose, sign, *(also or ()))
    if row is None:
        return cli_batch.batch(
            model, data, rows or "", target, probability, value_at_least, value_at_most, radius, room, categories, on, distance, immutable,
            increasing, decreasing, integer, one_hot, at_most, rule, scale, bounds, label, method, time_limit, seed=seed, trust_pickle=trust_pickle,
            out=output, html=html, as_json=as_json, quiet=quiet, large_table=large_table, reference=reference, space=space, force=force, each=True,
        )  # fmt: skip
    signer = None if sign is None else attesting.Signer(sign)
    files = _answer_files(output, html, proof, proof_model, {"MODEL": model, "DATA": data, "--reference": reference, "--sign": sign}, force)  # fmt: skip
    from elbowroom.present import questions
    from elbowroom.present.category_options import with_categories
    from elbowroom.present.progress import SearchProgress
    from elbowroom.present.terminal import deliver

    space_room = questions.parse_room(room.value, radius or ["0.05"], on.value, widen)
    question = questions.read_question(
        model, data, row, labels=label, trust_pickle=trust_pickle, large_table=large_table, reference=reference, space_file=space, also=also,
        immutable=immutable, increasing=increasing, decreasing=decreasing, integer=integer, one_hot=one_hot, scale=scale.value, bounds=bounds.value,
    )  # fmt: skip
    wanted = questions.parse_target(question.explainer.model.info, target, probability, value_at_least, value_at_most)
    question.writable(output is not None or as_json)
    with SearchProgress(time_limit, screen.stderr(), enabled=not (quiet or as_json)) as progress:
        answer = question.explainer.explain(
            question.row, room=with_categories(space_room, categories or [], question.explainer.space), target=wanted, distance=distance.value, rules=questions.parse_rules(at_most, rule, question.explainer.space), time_limit=time_limit, method=method, seed=seed, on_progress=progress, prefer_few=prefer_few, proof=proof is not None, keeps=questions.parse_promise(keeps, sigma),
        )  # fmt: skip
    filed = attesting.attested(question.of_file(answer), case, purpose, model.name, signed=sign is not None)
    deliver(question.explainer, filed, files, time_limit, widen=widen, as_json=as_json, flat=flat, quiet=quiet, with_why=why_not, model=model.name, signer=signer)  # fmt: skip
    raise typer.Exit(code_of(answer))


def _answer_files(
    output: Path | None,
    html: Path | None,
    proof: Path | None,
    proof_model: Path | None,
    read: dict[str, Path | None],
    force: bool,
) -> dict[str, Output]:
    """What is written of one answer, signatures included, refused before any work is done."""
    wanted = {
        "--output": (output, Kind.REGION),
        "--html": (html, Kind.PAGE),
        "--proof": (proof, Kind.PROOF),
        "--proof-model": (proof_model, Kind.MODEL_FILE),
    }
    return outputs(wanted if read["--sign"] is None else attesting.with_signatures(wanted), read, force)


app.command()(menu)
app.command()(check)


@app.command()
@guarded
def radius(
    model: ModelFile,
    data: DataFile,
    row: Row,
    norm: Annotated[NormName, typer.Option(help="linf: boxes, l2: balls, l1: diamonds.")] = NormName.LINF,
    value_at_least: LeastValue = None,
    value_at_most: MostValue = None,
    immutable: Immutable = None,
    integer: Integer = None,
    one_hot: OneHot = None,
    scale: Scale = ScaleName.USUAL,
    bounds: Bounds = BoundsName.DATA,
    label: Labels = None,
    time_limit: TimeLimit = 60.0,
    trust_pickle: TrustPickle = False,
    as_json: AsJson = False,
    large_table: LargeTable = False,
    reference: Reference = None,
    space: SpaceFile = None,
) -> None:
    """The largest room around a row in which the model keeps its class, or its values in the wanted range."""
    from elbowroom.present import questions

    question = questions.read_question(
        model, data, row, labels=label, trust_pickle=trust_pickle, large_table=large_table, reference=reference, space_file=space, immutable=immutable, integer=integer,
        one_hot=one_hot, scale=scale.value, bounds=bounds.value,
    )  # fmt: skip
    wanted = questions.parse_target(question.explainer.model.info, None, None, value_at_least, value_at_most)
    found = question.explainer.radius(question.row, norm=norm.value, target=wanted, time_limit=time_limit)
    if as_json:
        screen.stdout().json(questions.radius_json(found, question))
    else:
        screen.stdout().line(questions.radius_text(found, question, wanted), wrap=False)


@app.command()
@guarded
def frontier(
    model: ModelFile,
    data: DataFile,
    row: Row,
    radii: Annotated[str, typer.Option(help="0.01,0.02,0.05 or FIRST:LAST:COUNT, in units of --scale.")],
    target: WantedClass = None,
    probability: Probability = None,
    value_at_least: LeastValue = None,
    value_at_most: MostValue = None,
    room: Annotated[RoomName, typer.Option(help="Shape of the rooms.")] = RoomName.BOX,
    distance: Closest = NormName.L1,
    immutable: Immutable = None,
    increasing: Increasing = None,
    decreasing: Decreasing = None,
    integer: Integer = None,
    one_hot: OneHot = None,
    at_most: MostChanges = None,
    rule: RuleTexts = None,
    breakpoints: Annotated[bool, typer.Option("--breakpoints", help="Also find where the distance jumps.")] = False,
    smallest_jump: Annotated[float, typer.Option(help="Jumps of at least this distance are all found.")] = 0.01,
    scale: Scale = ScaleName.USUAL,
    bounds: Bounds = BoundsName.DATA,
    label: Labels = None,
    time_limit: TimeLimit = 60.0,
    seed: Seed = 0,
    trust_pickle: TrustPickle = False,
    as_json: AsJson = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw distance over radius into a PNG, SVG or PDF.")
    ] = None,
    quiet: Quiet = False,
    large_table: LargeTable = False,
    reference: Reference = None,
    space: SpaceFile = None,
    force: Force = False,
) -> None:
    """What more room costs: the distance of the closest region for every radius. Exit 0: a region for some radius."""
    files = outputs(
        {"--plot": (plot, Kind.PICTURE)},
        {"MODEL": model, "DATA": data, "--reference": reference},
        force,
    )
    from elbowroom.present import frontier_words, questions
    from elbowroom.present.display import picture_format
    from elbowroom.present.frontier import FrontierDisplay
    from elbowroom.present.progress import SearchProgress

    sizes = frontier_words.radii_from_text(radii)
    form = None if plot is None else picture_format(plot)
    question = questions.read_question(
        model, data, row, labels=label, trust_pickle=trust_pickle, large_table=large_table, reference=reference, space_file=space,
        immutable=immutable, increasing=increasing, decreasing=decreasing, integer=integer, one_hot=one_hot, scale=scale.value, bounds=bounds.value,
    )  # fmt: skip
    wanted = questions.parse_target(question.explainer.model.info, target, probability, value_at_least, value_at_most)
    with SearchProgress(time_limit, screen.stderr(), enabled=not (quiet or as_json)) as progress:
        found = question.explainer.frontier(
            question.row, sizes, room=questions.NORM_OF_ROOM[room.value], target=wanted, distance=distance.value,
            rules=questions.parse_rules(at_most, rule, question.explainer.space), time_limit=time_limit, seed=seed, on_progress=progress,
            breakpoints=breakpoints, smallest_jump=smallest_jump,
        )  # fmt: skip
    if as_json:
        screen.stdout().json(frontier_words.as_json(found))
    else:
        frontier_words.show(screen.stdout(), found, quiet)
    if form is not None:
        files["--plot"].write(FrontierDisplay.from_frontier(found).picture(form))
    tell_written(screen.stdout(), files, quiet or as_json)
    codes = {Exit.INTERRUPTED if found.interrupted else code_of(answer) for answer in found.answers}
    best = (Exit.INTERRUPTED, Exit.REGION, Exit.UNKNOWN, Exit.NONE_EXISTS)
    raise typer.Exit(next(code for code in best if code in codes))


@app.command()
@guarded
def chance(
    features: Annotated[int, typer.Option("--features", "-n", help="How many features have room.", min=1)],
    radius: Annotated[float | None, typer.Option(help="Radius of the room.")] = None,
    sigma: Annotated[float | None, typer.Option(help="Standard deviation of the slip in each feature.")] = None,
    probability: Annotated[float | None, typer.Option(help="Chance of staying inside.")] = None,
    norm: Annotated[NormName, typer.Option(help="linf: boxes, l2: balls, l1: diamonds.")] = NormName.LINF,
    as_json: AsJson = False,
) -> None:
    """Room against Gaussian slips: give two of --radius, --sigma and --probability, get the third."""
    from elbowroom import chance as law

    missing = [
        name for name, value in (("radius", radius), ("sigma", sigma), ("probability", probability)) if value is None
    ]
    if len(missing) != 1:
        raise InputError("give exactly two of --radius, --sigma and --probability")
    if radius is None and sigma is not None and probability is not None:
        radius = float(law.radius(probability, sigma, features, norm.value))
    elif sigma is None and radius is not None and probability is not None:
        sigma = float(law.sigma(probability, radius, features, norm.value))
    elif radius is not None and sigma is not None:
        probability = float(law.probability(radius, sigma, features, norm.value))
    known = {"radius": radius, "sigma": sigma, "probability": probability}
    if as_json:
        screen.stdout().json({**known, "features": features, "norm": norm.value, "computed": missing[0]})
    else:
        sink.stdout().line(
            f"With a slip of standard deviation {sigma:.6g} in each of {features} features, a room of radius {radius:.6g} "
            f"({norm.value}) is left with a probability of at most {1 - (probability or 0.0):.4g}: "
            f"{missing[0]} = {known[missing[0]]!r}."
        )


@app.command()
@guarded
def schema() -> None:
    """Print the format of answers in files, as JSON Schema."""
    from elbowroom.result.json_schema import json_schema

    screen.stdout().json(json_schema().rstrip("\n"))


app.command()(serve)
cli_batch.register(app, guarded)
