"""The words of the command line that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class RoomName(StrEnum):
    """Shapes of rooms on the command line."""

    BOX = "box"
    BALL = "ball"
    DIAMOND = "diamond"


class OnName(StrEnum):
    """Which features of a box have room."""

    ALL = "all"
    CHANGED = "changed"
    KEPT = "kept"


class NormName(StrEnum):
    """Norms on the command line."""

    L1 = "l1"
    L2 = "l2"
    LINF = "linf"


class ScaleName(StrEnum):
    """What a radius of 1 means for a feature."""

    USUAL = "usual"
    RANGE = "range"
    STD = "std"
    NONE = "none"


class BoundsName(StrEnum):
    """Where the bounds of the features come from."""

    DATA = "data"
    NONE = "none"


ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="The fitted model: saved with joblib or pickle, or a file of XGBoost, LightGBM, CatBoost, ONNX or skops.",
    ),
]
Also = Annotated[
    list[Path] | None,
    typer.Option("--also", metavar="MODEL", help="A further model that must say the same; may be given several times."),
]
Reference = Annotated[
    Path | None,
    typer.Option(
        "--reference",
        help="CSV or Parquet to learn kinds, bounds, scales and categories from, such as the training table; default: DATA.",
    ),
]
DataFile = Annotated[Path, typer.Argument(metavar="DATA", help="CSV or Parquet with the model's columns.")]
Row = Annotated[int, typer.Option("--row", help="Which row of DATA; the first is 0.", min=0)]
OneRow = Annotated[int | None, typer.Option("--row", help="Which row of DATA; the first is 0.", min=0)]
SeveralRows = Annotated[
    str | None,
    typer.Option("--rows", help="Several rows of DATA: 0:50, or 3,7,12. --output is then a .csv or .parquet."),
]
TrustPickle = Annotated[
    bool,
    typer.Option("--trust-pickle", help="Load MODEL although a pickle can run any code. Only for files you trust."),
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--label", help="A column of DATA that is not a feature, or CLASS=NAME: what a class is called; repeat."
    ),
]
SpaceFile = Annotated[
    Path | None,
    typer.Option("--space", metavar="FILE", help="What columns mean, in TOML: units, bounds, weights, directions."),
]
TimeLimit = Annotated[float, typer.Option("--time-limit", help="Seconds.", min=0.0)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout and nothing else.")]
Flat = Annotated[
    bool, typer.Option("--flat", help="Print flat JSON: the sentence, and by feature its value now and its interval.")
]
Scale = Annotated[
    ScaleName,
    typer.Option("--scale", help="Unit of radii and distances: each feature's usual range, whole range, std or 1."),
]
Bounds = Annotated[BoundsName, typer.Option("--bounds", help="Keep features within the data, or leave them open.")]
Immutable = Annotated[list[str] | None, typer.Option(help="A column that cannot change; repeat.")]
Increasing = Annotated[list[str] | None, typer.Option(help="A column that may only rise; repeat.")]
Decreasing = Annotated[list[str] | None, typer.Option(help="A column that may only fall; repeat.")]
Integer = Annotated[list[str] | None, typer.Option(help="A column of whole numbers; repeat.")]
OneHot = Annotated[
    list[str] | None, typer.Option(help="A one-hot group: NAME (all columns NAME_...) or NAME=column,column; repeat.")
]
Radii = Annotated[
    list[str] | None,
    typer.Option(help="0.05 or 5% (in units of --scale), or NAME=2000 in raw units, repeated. Default 0.05."),
]
Widen = Annotated[
    bool,
    typer.Option("--widen", help="Then grow the box to the widest certified intervals (--room box only)."),
]
Categories = Annotated[
    list[str] | None,
    typer.Option(
        "--categories",
        help="Categories inside the room: NAME=any, or NAME=CATEGORY,CATEGORY; repeat. Default: the answer's own.",
    ),
]
WantedClass = Annotated[str | None, typer.Option(help="The wanted class; default: the other one of two.")]
Probability = Annotated[float | None, typer.Option(help="At least this probability of the wanted class.")]
Keeps = Annotated[
    float | None,
    typer.Option("--keeps", help="A slip of the answer keeps its class with at least this probability; with --sigma."),
]
Sigma = Annotated[
    list[str] | None,
    typer.Option("--sigma", help="Standard deviation of slips: 0.05 or 5% of each scale, or NAME=2000, repeated."),
]
LeastValue = Annotated[
    float | None, typer.Option("--value-at-least", help="Of a regressor: it should predict at least this.")
]
MostValue = Annotated[
    float | None, typer.Option("--value-at-most", help="Of a regressor: it should predict at most this.")
]
Closest = Annotated[NormName, typer.Option(help="What closest means.")]
MostChanges = Annotated[int | None, typer.Option(help="At most this many features may change.", min=0)]
PreferFew = Annotated[
    float | None,
    typer.Option(help="Fewest changes within this share of the closest: 0.05 for 5 %.", min=0.0),
]
ProofFile = Annotated[
    Path | None,
    typer.Option(
        "--proof", metavar="FILE", help="Write a proof for strangers; with --proof-model, see docs/proofs.md."
    ),
]
ProofModel = Annotated[
    Path | None,
    typer.Option("--proof-model", metavar="FILE", help="Write the model file that proofs are about (JSON, no pickle)."),
]
CaseId = Annotated[str, typer.Option("--case", help="Number or name of the case, kept in the answer's file.")]
Purpose = Annotated[str, typer.Option("--purpose", help="What the answer is made for, kept in its file.")]
SignKey = Annotated[
    Path | None,
    typer.Option("--sign", metavar="KEY", help="Sign every file that is written: an Ed25519 private key as PEM."),
]
OnColumns = Annotated[
    OnName, typer.Option("--on", help="Room in all features, in those that change, or in those that stay (boxes only).")
]
RuleTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        help='Such as "worst radius >= mean radius", "amount in steps of 100", "term in 12,24,36" (see the guide); repeat.',
    ),
]
Seed = Annotated[int, typer.Option(help="Fixes every random choice.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only the sentence; no progress.")]
WhyNone = Annotated[
    bool,
    typer.Option("--why-not/--no-why-not", help="If none exists, say what rules it out, in the time that is left."),
]
LargeTable = Annotated[
    bool, typer.Option("--large-table", help="Read DATA whatever its size (see the limits in the guide).")
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace files that exist, also those that elbowroom did not write.")
]
