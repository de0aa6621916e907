"""From command-line words to a question: files, space, room, target and rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.explainer import Explainer
from elbowroom.importers import categorical_of, columns_of
from elbowroom.models import ModelInfo
from elbowroom.present.files import feature_columns, load_model_files
from elbowroom.present.numbers import about, below
from elbowroom.present.rule_text import parse_rule
from elbowroom.present.space_file import with_space_file
from elbowroom.present.tables import load_table
from elbowroom.present.text import outcome
from elbowroom.problem import AtMost, Probability, Room, Rule, Shape, Space, Target
from elbowroom.problem.labels import Category
from elbowroom.problem.learning import labels_of
from elbowroom.problem.rooms import Box, room_of
from elbowroom.result import NoRegion, RadiusResult, Region
from elbowroom.result.own_words import plain_values
from elbowroom.result.question_json import label_out
from elbowroom.result.status import NEAR_TIE
from elbowroom.visible import listed, named

NORM_OF_ROOM = {shape.value: shape.distance.value for shape in Shape}


@dataclass(frozen=True, eq=False)
class Question:
    """A model that was read, and one row of the table."""

    explainer: Explainer
    row: pd.DataFrame
    model_file: str  # SHA-256 of the file that the model was read from

    def of_file(self, answer: Region | NoRegion) -> Region | NoRegion:
        """The answer, which says from which file its model was read."""
        origin = answer.origin
        return answer if origin is None else replace(answer, origin=replace(origin, model_file=self.model_file))

    def writable(self, wanted: bool) -> None:
        """Refuse labels that no file can hold before a search, not after it, where a file is wanted."""
        for label in self.explainer.model.info.classes if wanted else ():
            label_out(label, "class")


def read_question(
    model_path: Path,
    data_path: Path,
    row: int,
    *,
    trust_pickle: bool,
    large_table: bool = False,
    reference: Path | None = None,
    scale: Literal["usual", "range", "std", "none"],
    bounds: Literal["data", "none"],
    labels: Sequence[str] | None = None,
    immutable: Sequence[str] | None = None,
    increasing: Sequence[str] | None = None,
    decreasing: Sequence[str] | None = None,
    integer: Sequence[str] | None = None,
    one_hot: Sequence[str] | None = None,
    space_file: Path | None = None,
    also: Sequence[Path] | None = None,
) -> Question:
    """Both files, and one row of the table; see `read_table`."""
    explainer, asked, model_file = read_table(
        model_path, data_path, trust_pickle=trust_pickle, large_table=large_table, reference=reference, scale=scale,
        bounds=bounds, labels=labels, immutable=immutable, increasing=increasing, decreasing=decreasing,
        integer=integer, one_hot=one_hot, last_row=row, space_file=space_file, also=also,
    )  # fmt: skip
    return Question(explainer, asked.iloc[[row]], model_file)


def read_table(
    model_path: Path,
    data_path: Path,
    *,
    trust_pickle: bool,
    large_table: bool = False,
    reference: Path | None = None,
    scale: Literal["usual", "range", "std", "none"],
    bounds: Literal["data", "none"],
    labels: Sequence[str] | None = None,
    immutable: Sequence[str] | None = None,
    increasing: Sequence[str] | None = None,
    decreasing: Sequence[str] | None = None,
    integer: Sequence[str] | None = None,
    one_hot: Sequence[str] | None = None,
    last_row: int = 0,
    space_file: Path | None = None,
    also: Sequence[Path] | None = None,
) -> tuple[Explainer, pd.DataFrame, str]:
    """Load both files, describe the features and read the model: the explainer, the columns of the model in the whole
    table, and the digest of the model's file. None: the option was not given. Kinds, bounds, scales and categories are
    those of the ``reference`` table, or else of the data."""
    model, model_file = load_model_files(model_path, also, trust_pickle)
    models = model if isinstance(model, list) else [model]
    table = load_table(data_path, large=large_table)
    if last_row >= len(table):
        raise InputError(f"--row {last_row}: {data_path} has {len(table)} rows; the last one is {len(table) - 1}")
    learnt = table if reference is None else load_table(reference, large=large_table)
    labels, called = parse_labels(labels or [], [*map(str, table.columns), *map(str, learnt.columns)])
    known = [columns_of(one, _categories_in(learnt)).as_written(learnt.columns) for one in models]
    names = tuple(dict.fromkeys(name for own in known for name in own))
    frame = feature_columns(learnt, names, labels, reference or data_path)
    asked = feature_columns(table, names, [name for name in labels if name in set(map(str, table.columns))], data_path)
    space = Space.from_frame(
        frame,
        categorical=[
            *dict.fromkeys(
                str(frame.columns[names.index(own[j])])
                for one, own in zip(models, known, strict=True)
                for j in categorical_of(one)
            )
        ],
        immutable=immutable or [],
        increasing=increasing or [],
        decreasing=decreasing or [],
        integer=integer or [],
        one_hot=dict(parse_group(text, frame) for text in one_hot) if one_hot else "auto",
        scale=scale,
        bounds=bounds,
    )
    space = with_space_file(space, space_file)
    explainer = Explainer(model, space)
    if called:
        explainer = Explainer(model, space, labels=by_class(called, explainer.model.info))
    return explainer, asked, model_file


def _categories_in(table: pd.DataFrame) -> dict[str, tuple[Category, ...]]:
    """The categories of the columns of text."""
    text = [
        name
        for name in table.columns
        if pd.api.types.is_object_dtype(table[name]) or pd.api.types.is_string_dtype(table[name])
    ]
    return {str(name): labels_of(table[name], str(name)) for name in text if table[name].notna().any()}


def parse_labels(texts: Sequence[str], columns: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """--label NAME, a column to leave out, and --label CLASS=NAME, what a class is called."""
    named = [text for text in texts if "=" in text and text not in columns]
    called: dict[str, str] = {}
    for text in named:
        label, _, name = text.partition("=")
        if label in called:
            raise InputError(f"--label {text!r}: the class {label!r} is named twice")
        called[label] = name
    return [text for text in texts if text not in named], called


def by_class(called: Mapping[str, str], info: ModelInfo) -> dict[Any, str]:
    """The names of classes by the classes themselves."""
    names: dict[Any, str] = {}
    for text, name in called.items():
        found = [label for label in info.classes if str(label) == text]
        if len(found) != 1:
            trouble = "is not a class of the model" if not found else "could be more than one class"
            raise InputError(
                f"--label {text + '=' + name!r}: {text!r} {trouble}, nor is it a column of the table; the classes are "
                f"{listed(info.classes)}"
            )
        names[found[0]] = name
    return names


def parse_group(text: str, frame: pd.DataFrame) -> tuple[str, tuple[str, ...]]:
    """housing=own,rent or housing (all columns that start with housing_)."""
    name, equals, listed = text.partition("=")
    columns = [str(c) for c in frame.columns]
    members = tuple(listed.split(",")) if equals else tuple(c for c in columns if c.startswith(f"{name}_"))
    if not members:
        raise InputError(f"--one-hot {text!r}: no column starts with {name + '_'!r}; write {name}=column,column,...")
    return name, members


def parse_room(shape: str, radii: Sequence[str], on: str = "all", widen: bool = False) -> Room:
    """One plain number, or NAME=number for single features; boxes may have room on some features only, and be widened."""
    kind = room_of(Shape(shape))
    if widen and not issubclass(kind, Box):
        raise InputError(f"--widen grows the sides of a box; use --room box instead of --room {shape}")
    radius = _radius(radii)
    if on == "all":
        return kind(radius)
    if not issubclass(kind, Box):
        raise InputError(f"--on {on}: only boxes have room on some features; use --room box")
    return kind(radius, on=on)


def parse_promise(keeps: float | None, sigma: Sequence[str] | None) -> Probability | None:
    """--keeps 0.95 --sigma 0.05; both or neither."""
    if keeps is None and sigma is None:
        return None
    if keeps is None or sigma is None:
        raise InputError("--keeps and --sigma belong together: --keeps 0.95 --sigma 0.05")
    return Probability(keeps, _radius(sigma, "--sigma"))


def _radius(radii: Sequence[str], option: str = "--radius") -> float | dict[str, float]:
    if len(radii) == 1 and "=" not in radii[0]:
        share = radii[0].removesuffix("%")
        return float(Decimal(repr(_number(share, option))) / (1 if share == radii[0] else 100))  # 5% is 0.05
    widths = {}
    for text in radii:
        name, equals, width = text.rpartition("=")
        if not equals:
            raise InputError(f"{option} {text!r}: give one number, or NAME=NUMBER for each feature")
        if name in widths:
            raise InputError(f"{option} {name}: given twice; give each feature one number")
        widths[name] = _number(width, f"{option} {name}")
    return widths


def parse_target(
    info: ModelInfo,
    text: str | None,
    probability: float | None,
    at_least: float | None = None,
    at_most: float | None = None,
    say: Callable[[str], str] = lambda option: option,
) -> Target | None:
    """The class whose name reads like the given text, or values of a regressor. ``say`` names an option as whoever asks
    knows it."""
    least, most = say("--value-at-least"), say("--value-at-most")
    if info.is_regressor:
        values = f"use {least}, {most} or both"
        for option, given in (("--target", text), ("--probability", probability)):
            if given is not None:
                raise InputError(f"{say(option)} {given}: {info.source} is a regressor; {values}")
        if at_least is None and at_most is None:
            raise InputError(f"{info.source} is a regressor, which has no other class to ask for; {values}")
        return Target(at_least=at_least, at_most=at_most)
    for option, end in ((least, at_least), (most, at_most)):
        if end is not None:
            raise InputError(
                f"{option} {end:g}: {info.source} is a classifier; use {say('--target')} for a class, with "
                f"{say('--probability')} if it should be likely"
            )
    if text is None:
        if probability is not None:
            raise InputError(f"{say('--probability')} needs {say('--target')}; the classes are {listed(info.classes)}")
        return None
    found = [label for label in info.classes if str(label) == text]
    if len(found) != 1:
        trouble = "is not a class of the model" if not found else "could be more than one class"
        raise InputError(f"{say('--target')} {text!r} {trouble}; the classes are {listed(info.classes)}")
    return Target(found[0], probability)


def parse_rules(at_most: int | None, texts: Sequence[str] | None, space: Space) -> tuple[Rule, ...]:
    return (*(() if at_most is None else (AtMost(at_most),)), *(parse_rule(text, space) for text in texts or ()))


def radius_text(found: RadiusResult, question: Question, wanted: Target | None = None) -> str:
    """Both bounds in words."""
    asked = question.explainer.predict(question.explainer.space.row(question.row, allow_missing=True)[None]).reshape(
        -1
    )[0]
    if wanted is not None and found.upper == 0.0:
        return f"The model says {about(float(asked))} here, which is not proven to be wanted: there is no room. {found.seconds:.2g} s."
    room = next(name for name, norm in NORM_OF_ROOM.items() if norm == found.norm)
    if found.upper == float("inf"):
        end = "no failing larger room was found"
    else:
        other = "another class" if wanted is None else "a value that is not wanted"
        what = f"a point {NEAR_TIE}" if found.near_tie else other
        end = f"some room of radius {about(found.upper)} contains {what}"
    asked = asked.item() if isinstance(asked, np.generic) else asked
    here = f"says {named(question.explainer.labels(asked))}" if wanted is None else outcome(wanted)
    return (
        f"The model {here} here, and everywhere in a {room} of radius {below(found.lower, 6)} around the row "
        f"(in units of each feature's scale); {end}. {found.seconds:.2g} s."
    )


def radius_json(found: RadiusResult, question: Question) -> dict[str, Any]:
    witness = None if found.witness is None else plain_values(question.explainer.space, found.witness)
    upper = found.upper if found.upper < float("inf") else "inf"
    lower = found.lower if found.lower < float("inf") else "inf"
    return {
        "lower": lower, "upper": upper, "norm": found.norm, "witness": witness, "near_tie": found.near_tie,
        "seconds": found.seconds,
    }  # fmt: skip


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{what}: {text!r} is not a number") from None
