"""The door: recognise, read, replay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from elbowroom.errors import ElbowroomError, InputError, UnsupportedModel
from elbowroom.importers.arriving import labels_arriving, numbers_used
from elbowroom.importers.inputs import Columns, Inputs
from elbowroom.importers.original import Original
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.replay import ReplayReport
from elbowroom.importers.replay import replay as replay_points
from elbowroom.importers.table import Known, entry_of, reader_of, unfold
from elbowroom.models.base import Model
from elbowroom.models.missing import may_miss, missing_only_in
from elbowroom.numerics import Bools, Floats

NO_CATEGORIES: Final[Known] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class ReadModel:
    """A parsed model together with the original it was read from."""

    model: Model
    original: Original
    report: ReplayReport | None  # None: no replay was requested

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """The original's own labels for float64 rows in model column order."""
        return self.original.predict(X)


def open_model(
    model: object,
    names: object = None,
    *,
    replay: bool = True,
    data: object = None,
    known: Known = NO_CATEGORIES,
) -> ReadModel:
    """Read a fitted model and, unless ``replay=False``, prove on many points that the copy equals the original.

    ``names`` are used where the model has no names. ``data`` (rows of any kind, in model column order or with
    the model's column names) makes the replay cover the range of real rows. ``known`` are the categories of raw columns
    that the caller's table holds.
    """
    if isinstance(model, type):
        raise InputError(f"{model.__name__} is a class; give a fitted object")
    try:
        return _open(model, names, replay, data, known)
    except (ElbowroomError, MemoryError):
        raise
    except Exception as error:  # arrays of the wrong size, missing parts: a damaged object can fail anywhere
        raise UnsupportedModel(
            f"{type(model).__name__}: the parts of this object do not fit together ({type(error).__name__}: {error}); "
            "it is damaged, or another version of its library made it: fit and save it again"
        ) from error


def _open(
    model: object, names: object, replay: bool, data: object, known: Known, never: frozenset[str] = frozenset()
) -> ReadModel:
    """``never``: columns in which the original refuses a missing category."""
    outer = entry_of(model)
    own = outer.columns(model, known).named(names)
    columns = own.with_categories(known)
    inner, preprocessing = unfold(model, Preprocessing(Inputs.of(columns)))
    columns = _sayable(columns, preprocessing, never)
    preprocessing = replace(preprocessing, inputs=Inputs.of(columns))
    inputs = preprocessing.inputs
    reader = reader_of(inner)
    arriving = labels_arriving(inner, preprocessing)
    preprocessing = preprocessing.before(reader.columns(inner, {**known, **arriving}).columns, reader.codes(inner))
    columns.refuse_words(own, numbers_used(preprocessing))
    parsed = reader.read(inner, preprocessing)
    if not columns.own_names:
        parsed = replace(parsed, info=replace(parsed.info, own_names=False))
    original = Original(model, inputs, preprocessing, outer.predict, outer.raw_scores)
    unsaid = _unsaid(original)
    if unsaid is not None:  # once more, without a category that the model itself refuses
        return _open(model, names, replay, data, known, frozenset({*never, inputs.columns[unsaid].name}))
    parsed = missing_only_in(parsed, _taken(parsed, original))
    report = replay_points(parsed, original, data=data) if replay else None
    return ReadModel(parsed, original, report)


def _unsaid(original: Original) -> int | None:
    """The first column whose missing category the original refuses, though the steps before it do not."""
    for v, column in enumerate(original.inputs.columns):
        if column.categories is not None and None in column.categories and len(column.categories) > 1:
            try:
                original.predict(_with_missing(original.preprocessing, v))
            except InputError:
                return v
    return None


def _with_missing(preprocessing: Preprocessing, variable: int) -> Floats:
    """One row that lacks the category of one column."""
    row, members = preprocessing.neutral[None].copy(), preprocessing.inputs.members(variable)
    labels = preprocessing.inputs.columns[variable].categories or ()
    row[0, members] = np.eye(members.size)[labels.index(None)]
    return row


def _sayable(columns: Columns, preprocessing: Preprocessing, never: frozenset[str]) -> Columns:
    """Without the missing category where the steps refuse it: an encoder behind an imputer may not know what that puts in."""
    for v, column in enumerate(columns.columns):
        if column.categories is None or None not in column.categories:
            continue
        if column.name in never:
            columns = columns.without_missing(v)
        elif preprocessing.stages:
            try:
                preprocessing.apply(_with_missing(preprocessing, v))
            except (ValueError, TypeError):
                columns = columns.without_missing(v)
    return columns


def _taken(parsed: Model, original: Original) -> Bools:
    """The columns in which the original itself takes a missing number: steps that change nothing may still refuse it."""
    columns = np.flatnonzero(may_miss(parsed))
    taken = np.zeros(parsed.info.n_features, dtype=np.bool_)
    row = original.preprocessing.neutral
    for together in (columns, *columns[:, None]):  # all at once; one by one only if that fails
        rows = row[None].copy()
        rows[0, together] = np.nan
        try:
            original.predict(rows)
        except InputError:
            continue
        taken[together] = True
        if together is columns:
            break
    return taken


def read_model(model: object, names: object = None, *, replay: bool = True, data: object = None) -> Model:
    """The parsed model, whose labels are those of the original. `Explainer` does it by itself.

    Args:
        model: A fitted model of any library that is read.
        names: Of its columns, where it does not know them.
        replay: Whether the copy is compared with the original.
        data: A table of rows for this comparison, besides those that are made for it.

    Returns:
        A `LinearModel`, `TreeEnsemble`, `ObliqueEnsemble` or `ReluNetwork`.

    Examples:
        >>> read_model(model).n_trees
        1
    """
    return open_model(model, names, replay=replay, data=data).model
