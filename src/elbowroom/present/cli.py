"""The command line: ``elbowroom demo | explain | check | radius | frontier | chance``.

Exit codes: 0 a region was found (or a check passed), 2 bad input, 3 proven that no region exists, 4 unknown,
5 a checked claim does not hold (refuted, or made for another model), 130 interrupted.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Annotated, ParamSpec, TypeVar

import typer

from elbowroom.errors import ElbowroomError, InputError
from elbowroom.present import terminal
from elbowroom.version import __version__

P = ParamSpec("P")
R = TypeVar("R")


class Exit(IntEnum):
    """Every exit code of the program."""

    REGION = 0
    BAD_INPUT = 2
    NONE_EXISTS = 3
    UNKNOWN = 4
    REFUTED = 5
    INTERRUPTED = 130


class RoomName(StrEnum):
    """Shapes of rooms on the command line."""

    BOX = "box"
    BALL = "ball"
    DIAMOND = "diamond"


class NormName(StrEnum):
    """Norms on the command line."""

    L1 = "l1"
    L2 = "l2"
    LINF = "linf"


class ScaleName(StrEnum):
    """What a radius of 1 means for a feature."""

    RANGE = "range"
    STD = "std"
    NONE = "none"


class BoundsName(StrEnum):
    """Where the bounds of the features come from."""

    DATA = "data"
    NONE = "none"


app = typer.Typer(
    name="elbowroom",
    help="Regions of counterfactual explanations: closest, and proven valid at every point.",
    epilog="Exit codes: 0 region, 2 bad input, 3 none exists, 4 unknown, 5 a checked claim is refuted, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="The fitted model, saved with joblib or pickle.")]
DataFile = Annotated[Path, typer.Argument(metavar="DATA", help="CSV or Parquet with the model's columns.")]
Row = Annotated[int, typer.Option("--row", help="Which row of DATA; the first is 0.", min=0)]
TrustPickle = Annotated[
    bool,
    typer.Option("--trust-pickle", help="Load MODEL although a pickle can run any code. Only for files you trust."),
]
Labels = Annotated[
    list[str] | None, typer.Option("--label", help="A column of DATA that is not a feature, for example the label.")
]
TimeLimit = Annotated[float, typer.Option("--time-limit", help="Seconds.", min=0.0)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout and nothing else.")]
Scale = Annotated[
    ScaleName, typer.Option("--scale", help="Unit of radii and distances: each feature's range, std or 1.")
]
Bounds = Annotated[BoundsName, typer.Option("--bounds", help="Keep features within the data, or leave them open.")]


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """User errors become one line on stderr and exit code 2; Ctrl-C becomes 130. Anything else is a bug and shows."""

    @functools.wraps(command)
    def run(*arguments: P.args, **options: P.kwargs) -> R:
        try:
            return command(*arguments, **options)
        except ElbowroomError as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(Exit.BAD_INPUT) from None
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(Exit.INTERRUPTED) from None

    return run


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"elbowroom {__version__}")
        raise typer.Exit(0)


@app.callback()
def top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Regions of counterfactual explanations: closest, and proven valid at every point."""


@app.command()
@guarded
def demo(
    html: Annotated[Path, typer.Option("--html", help="Where the page is written.")] = Path("elbowroom-demo.html"),
    output: Annotated[Path | None, typer.Option("--output", help="Also write the region as JSON.")] = None,
    model_out: Annotated[Path | None, typer.Option("--save-model", help="Also save the model (joblib).")] = None,
) -> None:
    """A rejected credit application, explained: real data, one region, one page."""
    from elbowroom.present.demo import run_demo

    answer = run_demo(terminal.stdout(), html, output, model_out)
    raise typer.Exit(_code(answer))


@app.command()
@guarded
def explain(
    model: ModelFile,
    data: DataFile,
    row: Row,
    target: Annotated[str | None, typer.Option(help="The wanted class; default: the other one of two.")] = None,
    probability: Annotated[float | None, typer.Option(help="At least this probability of the wanted class.")] = None,
    radius: Annotated[
        list[str] | None,
        typer.Option(help="0.05 (in units of --scale), or NAME=2000 in raw units, repeated. Default 0.05."),
    ] = None,
    room: Annotated[RoomName, typer.Option(help="Shape of the room around the answer.")] = RoomName.BOX,
    distance: Annotated[NormName, typer.Option(help="What closest means.")] = NormName.L1,
    immutable: Annotated[list[str] | None, typer.Option(help="A column that cannot change; repeat.")] = None,
    increasing: Annotated[list[str] | None, typer.Option(help="A column that may only rise; repeat.")] = None,
    decreasing: Annotated[list[str] | None, typer.Option(help="A column that may only fall; repeat.")] = None,
    integer: Annotated[list[str] | None, typer.Option(help="A column of whole numbers; repeat.")] = None,
    one_hot: Annotated[
        list[str] | None,
        typer.Option(help="A one-hot group: NAME (all columns NAME_...) or NAME=column,column; repeat."),
    ] = None,
    at_most: Annotated[int | None, typer.Option(help="At most this many features may change.", min=0)] = None,
    widen: Annotated[
        bool, typer.Option("--widen", help="Then grow the box to the widest certified intervals (--room box only).")
    ] = False,
    scale: Scale = ScaleName.RANGE,
    bounds: Bounds = BoundsName.DATA,
    label: Labels = None,
    method: Annotated[str, typer.Option(help="How to search.")] = "auto",
    time_limit: TimeLimit = 60.0,
    seed: Annotated[int, typer.Option(help="Fixes every random choice.")] = 0,
    trust_pickle: TrustPickle = False,
    as_json: AsJson = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write the answer as one HTML page.")] = None,
    output: Annotated[Path | None, typer.Option("--output", help="Write the answer as JSON, for check.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print only the sentence; no progress.")] = False,
) -> None:
    """The closest region in which the model predicts another class."""
    from elbowroom.present import questions
    from elbowroom.present.progress import SearchProgress
    from elbowroom.result import Region

    if widen and room is not RoomName.BOX:
        raise InputError(f"--widen grows the sides of a box; use --room box instead of --room {room.value}")
    space_room = questions.parse_room(room.value, radius or ["0.05"])
    question = questions.read_question(
        model, data, row, labels=label, trust_pickle=trust_pickle, immutable=immutable, increasing=increasing,
        decreasing=decreasing, integer=integer, one_hot=one_hot, scale=scale.value, bounds=bounds.value,
    )  # fmt: skip
    wanted = questions.parse_target(question.explainer.model.info, target, probability)
    with SearchProgress(time_limit, terminal.stderr(), enabled=not (quiet or as_json)) as progress:
        answer = question.explainer.explain(
            question.row,
            room=space_room,
            target=wanted,
            distance=distance.value,
            rules=questions.parse_rules(at_most),
            time_limit=time_limit,
            method=method,
            seed=seed,
            on_progress=progress,
        )
    widening = answer.widen(time_limit=time_limit) if widen and isinstance(answer, Region) else None
    shown = answer if widening is None else widening.region
    if output is not None:
        shown.to_json(output)
    if html is not None:
        shown.to_html(html)
    if as_json:
        typer.echo(shown.to_json())
    else:
        terminal.show_answer(terminal.stdout(), shown, quiet)
        if widening is not None:
            typer.echo(widening.proof())
    raise typer.Exit(_code(answer))


@app.command()
@guarded
def check(
    region: Annotated[Path, typer.Argument(metavar="REGION", help="A region written by --output or to_json.")],
    model: ModelFile,
    any_model: Annotated[
        bool, typer.Option("--any-model", help="Accept a model other than the certified one (for example retrained).")
    ] = False,
    time_limit: TimeLimit = 60.0,
    trust_pickle: TrustPickle = False,
    as_json: AsJson = False,
) -> None:
    """Prove a saved region again, from scratch. Exit 0: it holds; 5: it does not (refuted, or another model); 4: undecided."""
    from elbowroom.present.checking import check_region

    report = check_region(region, model, trust_pickle, any_model, time_limit)
    if as_json:
        typer.echo(json.dumps(report.as_json(), indent=1))
    else:
        console = terminal.stdout()
        for finding in report.findings:
            console.print(finding.text(), soft_wrap=True)
        console.print(report.conclusion, style="bold", markup=False, soft_wrap=True)
    raise typer.Exit({True: Exit.REGION, False: Exit.REFUTED, None: Exit.UNKNOWN}[report.holds])


@app.command()
@guarded
def radius(
    model: ModelFile,
    data: DataFile,
    row: Row,
    norm: Annotated[NormName, typer.Option(help="linf: boxes, l2: balls, l1: diamonds.")] = NormName.LINF,
    immutable: Annotated[list[str] | None, typer.Option(help="A column that cannot change; repeat.")] = None,
    integer: Annotated[list[str] | None, typer.Option(help="A column of whole numbers; repeat.")] = None,
    one_hot: Annotated[list[str] | None, typer.Option(help="A one-hot group, as in explain; repeat.")] = None,
    scale: Scale = ScaleName.RANGE,
    bounds: Bounds = BoundsName.DATA,
    label: Labels = None,
    time_limit: TimeLimit = 60.0,
    trust_pickle: TrustPickle = False,
    as_json: AsJson = False,
) -> None:
    """The largest room around a row in which the model keeps its class."""
    from elbowroom.present import questions

    question = questions.read_question(
        model, data, row, labels=label, trust_pickle=trust_pickle, immutable=immutable, integer=integer,
        one_hot=one_hot, scale=scale.value, bounds=bounds.value,
    )  # fmt: skip
    found = question.explainer.radius(question.row, norm=norm.value, time_limit=time_limit)
    if as_json:
        typer.echo(json.dumps(questions.radius_json(found, question), indent=1))
    else:
        typer.echo(questions.radius_text(found, question))


@app.command()
@guarded
def frontier(
    model: ModelFile,
    data: DataFile,
    row: Row,
    radii: Annotated[str, typer.Option(help="0.01,0.02,0.05 or FIRST:LAST:COUNT, in units of --scale.")],
    target: Annotated[str | None, typer.Option(help="The wanted class; default: the other one of two.")] = None,
    probability: Annotated[float | None, typer.Option(help="At least this probability of the wanted class.")] = None,
    room: Annotated[RoomName, typer.Option(help="Shape of the rooms.")] = RoomName.BOX,
    distance: Annotated[NormName, typer.Option(help="What closest means.")] = NormName.L1,
    immutable: Annotated[list[str] | None, typer.Option(help="A column that cannot change; repeat.")] = None,
    increasing: Annotated[list[str] | None, typer.Option(help="A column that may only rise; repeat.")] = None,
    decreasing: Annotated[list[str] | None, typer.Option(help="A column that may only fall; repeat.")] = None,
    integer: Annotated[list[str] | None, typer.Option(help="A column of whole numbers; repeat.")] = None,
    one_hot: Annotated[list[str] | None, typer.Option(help="A one-hot group, as in explain; repeat.")] = None,
    at_most: Annotated[int | None, typer.Option(help="At most this many features may change.", min=0)] = None,
    breakpoints: Annotated[bool, typer.Option("--breakpoints", help="Also find where the distance jumps.")] = False,
    smallest_jump: Annotated[float, typer.Option(help="Jumps of at least this distance are all found.")] = 0.01,
    scale: Scale = ScaleName.RANGE,
    bounds: Bounds = BoundsName.DATA,
    label: Labels = None,
    time_limit: TimeLimit = 60.0,
    seed: Annotated[int, typer.Option(help="Fixes every random choice.")] = 0,
    trust_pickle: TrustPickle = False,
    as_json: AsJson = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw distance over radius into a PNG, SVG or PDF.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print only the sentence; no progress.")] = False,
) -> None:
    """What more room costs: the distance of the closest region for every radius. Exit 0: a region for some radius."""
    from elbowroom.present import frontier_words, questions
    from elbowroom.present.frontier import save_plot
    from elbowroom.present.progress import SearchProgress

    sizes = frontier_words.radii_from_text(radii)
    question = questions.read_question(
        model, data, row, labels=label, trust_pickle=trust_pickle, immutable=immutable, increasing=increasing,
        decreasing=decreasing, integer=integer, one_hot=one_hot, scale=scale.value, bounds=bounds.value,
    )  # fmt: skip
    wanted = questions.parse_target(question.explainer.model.info, target, probability)
    with SearchProgress(time_limit, terminal.stderr(), enabled=not (quiet or as_json)) as progress:
        found = question.explainer.frontier(
            question.row,
            sizes,
            room=questions.NORM_OF_ROOM[room.value],
            target=wanted,
            distance=distance.value,
            rules=questions.parse_rules(at_most),
            time_limit=time_limit,
            seed=seed,
            on_progress=progress,
            breakpoints=breakpoints,
            smallest_jump=smallest_jump,
        )
    if plot is not None:
        save_plot(found, plot)
    if as_json:
        typer.echo(json.dumps(frontier_words.as_json(found), indent=1))
    else:
        frontier_words.show(terminal.stdout(), found, quiet)
    codes = {Exit.INTERRUPTED if found.interrupted else _code(answer) for answer in found.answers}
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
        typer.echo(json.dumps({**known, "features": features, "norm": norm.value, "computed": missing[0]}))
    else:
        typer.echo(
            f"With a slip of standard deviation {sigma:.6g} in each of {features} features, a room of radius {radius:.6g} "
            f"({norm.value}) is left with a probability of at most {1 - (probability or 0.0):.4g}: "
            f"{missing[0]} = {known[missing[0]]!r}."
        )


def _code(answer: object) -> Exit:
    from elbowroom.result import NoRegion, Region, Status

    if isinstance(answer, (Region, NoRegion)) and answer.method == "interrupted":
        return Exit.INTERRUPTED
    if isinstance(answer, Region):
        return Exit.REGION
    return Exit.NONE_EXISTS if isinstance(answer, NoRegion) and answer.status is Status.NONE_EXISTS else Exit.UNKNOWN


def main() -> None:
    """The entry point of the ``elbowroom`` program."""
    app()
