"""The door: recognise, read, replay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt

from elbowroom.errors import ElbowroomError, InputError, UnsupportedModel
from elbowroom.importers.original import Original
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.replay import ReplayReport
from elbowroom.importers.replay import replay as replay_points
from elbowroom.importers.table import columns_of, reader_of, unfold
from elbowroom.models.base import Model
from elbowroom.numerics import Floats


@dataclass(frozen=True, eq=False)
class ReadModel:
    """A parsed model together with the original it was read from."""

    model: Model
    original: Original
    report: ReplayReport | None  # None: no replay was requested

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """The original's own labels for float64 rows in model column order."""
        return self.original.predict(X)


def open_model(model: object, names: object = None, *, replay: bool = True, data: object = None) -> ReadModel:
    """Read a fitted model and, unless ``replay=False``, prove on many points that the copy equals the original.

    ``names`` are used where the model has no names. ``data`` (rows of any kind, in model column order or with
    the model's column names) makes the replay cover the range of real rows.
    """
    if isinstance(model, type):
        raise InputError(f"{model.__name__} is a class; give a fitted object")
    try:
        return _open(model, names, replay, data)
    except (ElbowroomError, MemoryError):
        raise
    except Exception as error:  # arrays of the wrong size, missing parts: a damaged object can fail anywhere
        raise UnsupportedModel(
            f"{type(model).__name__}: the parts of this object do not fit together ({type(error).__name__}: {error}); "
            "it is damaged, or another version of its library made it: fit and save it again"
        ) from error


def _open(model: object, names: object, replay: bool, data: object) -> ReadModel:
    columns = columns_of(model)
    inner, preprocessing = unfold(model, Preprocessing(columns.named(names)))
    parsed = reader_of(inner).read(inner, preprocessing)
    if columns.names is None:
        parsed = replace(parsed, info=replace(parsed.info, own_names=False))
    original = Original(model, columns, preprocessing)
    report = replay_points(parsed, original, data=data) if replay else None
    return ReadModel(parsed, original, report)


def read_model(model: object, names: object = None, *, replay: bool = True, data: object = None) -> Model:
    """The parsed model: a `LinearModel`, `TreeEnsemble` or `ReluNetwork` whose labels are those of the original."""
    return open_model(model, names, replay=replay, data=data).model
