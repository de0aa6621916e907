"""The original object, callable with plain float64 rows in its own column order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.models.base import Label
from elbowroom.numerics import Floats, Ints


@dataclass(frozen=True)
class Columns:
    """What an original expects: how many columns, and their names if it was fitted on a frame."""

    count: int
    names: tuple[str, ...] | None

    def named(self, names: object) -> tuple[str, ...]:
        """The names of the parsed model: the original's own, else the given ones, else x0, x1, ..."""
        given = None if names is None else tuple(str(name) for name in _listed(names))
        if given is not None and len(given) != self.count:
            raise InputError(f"{len(given)} names for a model with {self.count} columns; give one name per column")
        if given is not None and self.names is not None and given != self.names:
            position = next(i for i, (a, b) in enumerate(zip(given, self.names, strict=True)) if a != b)
            raise InputError(
                f"column {position}: the given name {given[position]!r} is not the model's own {self.names[position]!r}; "
                "leave names out, or give the columns in the order in which the model was fitted"
            )
        return self.names or given or tuple(f"x{i}" for i in range(self.count))

    def frame(self, X: Floats) -> Any:
        """The rows as the original saw them at fitting: a fresh frame or array (some scalers overwrite their input)."""
        fresh = np.array(X, dtype=np.float64)
        return fresh if self.names is None else pd.DataFrame(fresh, columns=list(self.names))


def _listed(names: object) -> list[object]:
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise InputError(f"names={names!r}: give a list with one name per column")
    return list(names)


@dataclass(frozen=True, eq=False)
class Original:
    """How to ask the original itself: the authority on every label."""

    model: Any
    columns: Columns
    preprocessing: Preprocessing

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """Labels of float64 rows in model column order. Originals refuse some rows: too large for float32, too wide."""
        try:
            return np.asarray(self.model.predict(self.columns.frame(X)))
        except ValueError as error:
            raise InputError(f"the model's own predict refuses the rows it was asked about: {error}") from error

    def class_indices(self, X: Floats, classes: tuple[Label, ...]) -> Ints:
        """Positions of the predicted labels among the classes; -1 for any other label."""
        predicted = self.predict(X)
        found = np.full(len(predicted), -1, dtype=np.int64)
        for index, label in enumerate(classes):
            found[predicted == label] = index
        return found

    @property
    def predict_proba(self) -> Callable[[Floats], Floats] | None:
        """Class probabilities, or None where the original has none."""
        return self._method("predict_proba")

    @property
    def decision_function(self) -> Callable[[Floats], Floats] | None:
        """The raw scores, or None where the original has none."""
        return self._method("decision_function")

    def _method(self, name: str) -> Callable[[Floats], Floats] | None:
        method = getattr(self.model, name, None)
        if method is None:
            return None
        return lambda X: np.asarray(method(self.columns.frame(X)), dtype=np.float64)
