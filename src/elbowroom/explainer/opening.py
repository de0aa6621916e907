"""What an explainer starts from: the parsed model, the space of its inner columns, and the original's own predict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from elbowroom.errors import ElbowroomError, InputError, UnsupportedModel, warn
from elbowroom.importers import categorical_of, columns_of, open_model
from elbowroom.importers.inputs import Column, Columns, Inputs
from elbowroom.importers.original import REFUSES
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.reading import ReadModel
from elbowroom.importers.replay_points import Range
from elbowroom.models import LinearModel, Model, ObliqueEnsemble, ReluNetwork, TreeEnsemble, may_miss, with_missing
from elbowroom.numerics import Bools, Floats
from elbowroom.problem import Feature, Space
from elbowroom.problem.class_names import NO_NAMES, ClassNames
from elbowroom.problem.features import Group
from elbowroom.problem.kinds import Kind
from elbowroom.problem.labels import Category, inner_names
from elbowroom.visible import listed

Predict = Callable[[Floats], npt.NDArray[Any]]
UNLIKE = 100.0  # usual ranges that differ by so much are in different units


@dataclass(frozen=True, eq=False)
class Opened:
    """All of them have the same inner columns. ``labels`` are the names of classes."""

    model: Model
    space: Space
    predict: Predict
    labels: ClassNames = NO_NAMES
    domain: tuple[Floats, Floats] | None = None  # where the model has predictions; None: everywhere
    preprocessing: Preprocessing | None = None  # what stands in front of the model; None: nothing that is known


def opened(model: object, space: object, data: object) -> Opened:
    """Read the model; without a space its columns are plain numbers and the categories that it knows. A frame is read as
    the space, and the copy is compared with the original on its rows."""
    if isinstance(model, (pd.DataFrame, Space)):
        raise InputError("the model comes first: Explainer(model, X)")
    if isinstance(space, np.ndarray) and space.ndim == 2:
        space = _named(model, space)
    if isinstance(space, pd.DataFrame):
        return _by_table(model, space, space if data is None else data)
    if space is not None and not isinstance(space, Space):
        raise InputError(
            f"space: give the table that the model was fitted on, or a Space made of it with Space.from_frame(X), not "
            f"{type(space).__name__}"
        )
    if isinstance(model, (LinearModel, TreeEnsemble, ObliqueEnsemble, ReluNetwork)):  # is its own reference
        names = model.info.names
        return Opened(model, Space.plain(names) if space is None else space.select(names), partial(_labels, model))
    known = {} if space is None else _categories(space)
    words = None if space is None or isinstance(model, type) else _names(columns_of(model, known), space)
    try:
        read = open_model(model, words, data=data, known=known)
    except InputError as error:
        binary = (
            []
            if space is None
            else [f.name for f in space.features if f.kind is Kind.BINARY and f.name in space.columns]
        )
        if REFUSES not in str(error) or not binary:
            raise
        raise InputError(
            f"{error}. If it wants True and False in {listed(binary)} where it was handed 1 and 0, declare that column: "
            f"Space.from_frame(X, categorical=[{binary[0]!r}])"
        ) from error
    if space is None:
        _remark_on_units(read)
    fitting = _fitting(read.original.inputs, space)
    domain = read.original.preprocessing.domain
    steps = read.original.preprocessing
    return Opened(read.model, _limited(fitting, domain), read.predict, domain=domain, preprocessing=steps)


def _by_table(model: object, table: pd.DataFrame, data: object) -> Opened:
    """The space of a table. Columns of True and False are handed to the model as 1 and 0, which most take; for one that
    does not they are categories."""
    categorical = _categorical(model, table)
    truths = [str(name) for name, kind in table.dtypes.items() if kind == np.bool_ and str(name) not in categorical]
    try:
        return opened(model, Space.from_frame(table, categorical=categorical), data)
    except (InputError, UnsupportedModel):
        if not truths:
            raise
        try:
            return opened(model, Space.from_frame(table, categorical=[*categorical, *truths]), data)
        except ElbowroomError:
            pass  # that is not why: the first message counts
        raise


def _named(model: object, rows: npt.NDArray[Any]) -> pd.DataFrame:
    """An array as a table: with the model's own names, or x0, x1, ..."""
    names: Sequence[str] = [f"x{i}" for i in range(rows.shape[1])]
    if not isinstance(model, type | LinearModel | TreeEnsemble | ObliqueEnsemble | ReluNetwork):
        columns = columns_of(model, _any_categories(names))
        names = columns.names if columns.count == rows.shape[1] else names
    return pd.DataFrame(rows, columns=list(names)).infer_objects()


def _remark_on_units(read: ReadModel) -> None:
    """Without a space every column counts in its own unit: that is seldom meant where one is in thousands."""
    usual = Range.of(read.model, read.original.preprocessing, None)
    spans, known = usual.high - usual.low, (usual.low != -1.0) | (usual.high != 1.0)
    for members in read.original.inputs.groups:
        known[members] = False
    if known.sum() < 2 or spans[known].max() <= UNLIKE * spans[known].min():
        return
    names = read.model.info.names
    large = names[int(np.argmax(np.where(known, spans, -np.inf)))]
    small = names[int(np.argmin(np.where(known, spans, np.inf)))]
    warn(
        f"without a space every column has scale 1 and no bounds, so a step of 1 in {large!r} costs as much as one in "
        f"{small!r}, whose usual range is {spans[known].max() / spans[known].min():.0f} times smaller; give Explainer(model, X)"
    )


def _fitting(inputs: Inputs, space: Space | None) -> Space:
    """The space of the model's inner columns; a model may have been fitted on inner columns itself."""
    if space is None:
        return space_of(inputs.columns)
    if inputs.plain and space.names != space.columns and set(inputs.names) == set(space.names):
        return space.select(inputs.names)
    return space.for_columns(inputs.columns)


def without_numbers(found: Opened, missing: tuple[str, ...]) -> Opened:
    """The same for rows that lack a number in these columns; the original must take such rows."""
    space = found.space
    gone = np.zeros(len(space.names), dtype=np.bool_)
    gone[[space.position[name] for name in missing]] = True
    refused = np.flatnonzero(gone & ~may_miss(found.model))
    if refused.size:
        raise InputError(
            f"row, column {space.names[refused[0]]!r}: the number is missing, and {found.model.info.source} takes no row "
            "without it; fill it in, or fit the model with missing values (an imputer in front of it, or a library that "
            "routes them)"
        )
    predict = partial(_asked_without, found.predict, gone)
    return Opened(with_missing(found.model, gone), space, predict, found.labels, found.domain)


def _asked_without(predict: Predict, gone: Bools, rows: Floats) -> npt.NDArray[Any]:
    return predict(np.where(gone, np.nan, rows))


def _limited(space: Space, domain: tuple[Floats, Floats]) -> Space:
    """No answer leaves the numbers that the model has a prediction for: those with a logarithm, say."""
    low, high = np.maximum(space.lower, domain[0]), np.minimum(space.upper, domain[1])
    moved = (low != space.lower) | (high != space.upper)
    if not moved.any():
        return space
    features = [
        replace(feature, lower=float(low[f]), upper=float(high[f])) if moved[f] else feature
        for f, feature in enumerate(space.features)
    ]
    return replace(space, features=tuple(features))


def _categorical(model: object, frame: pd.DataFrame) -> list[str]:
    """Columns of a table that the model takes for categories, whatever they look like."""
    if isinstance(model, (type, LinearModel, TreeEnsemble, ObliqueEnsemble, ReluNetwork)):
        return []
    positions = categorical_of(model)
    if not positions:
        return []
    given = [str(name) for name in frame.columns]
    columns = columns_of(model, _any_categories(given))
    names = columns.as_written(given) if columns.own_names else given
    return [names[j] for j in positions if j < len(names) and names[j] in given]


def _any_categories(names: Sequence[str]) -> dict[str, tuple[Category, ...]]:
    """For libraries that keep no names of categories, where only the names of columns are asked for."""
    return dict.fromkeys([*names, *(f"x{i}" for i in range(len(names)))], ("any",))


def _categories(space: Space) -> dict[str, tuple[Category, ...]]:
    """By name, and by position for models that know no names."""
    found = {group.name: group.labels for group in space.groups if group.labels is not None}
    places = {f"x{i}": name for i, name in enumerate(space.columns) if name in found}
    return found | {place: found[name] for place, name in places.items() if place not in space.columns}


def _names(columns: Columns, space: Space) -> tuple[str, ...] | None:
    """The model's columns in the words of the space, if it knows no names, or knows them without their blanks."""
    if columns.own_names:
        return columns.as_written(space.columns)
    return space.columns if columns.count == len(space.columns) else None


def space_of(columns: tuple[Column, ...]) -> Space:
    """Unbounded numbers of scale 1 (the paper's protocol), and the categories that the model knows."""
    features: list[Feature] = []
    groups: list[Group] = []
    for column, names in zip(columns, inner_names([(c.name, c.categories) for c in columns]), strict=True):
        if column.categories is None:
            features.append(Feature(column.name))
        else:
            only = len(names) == 1
            features += [Feature(name, Kind.BINARY, 1.0 if only else 0.0, 1.0) for name in names]
            groups.append(Group(column.name, names, 1.0, column.categories, column.pandas_category))
    return Space(tuple(features), tuple(groups))


def _labels(model: Model, rows: Floats) -> npt.NDArray[Any]:
    if model.info.is_regressor:
        return np.array(model.info.says(model.scores(rows)))
    return np.array(model.info.classes)[model.info.labels_of(model.scores(rows))]
