"""The original object, callable with inner float64 rows: the authority on every label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from elbowroom.errors import InputError
from elbowroom.importers.inputs import Column, Columns, Inputs
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.models.base import Label
from elbowroom.numerics import Floats, Ints

__all__ = ["REFUSES", "Column", "Columns", "Original"]

REFUSES: Final = "the model's own predict refuses"


@dataclass(frozen=True, eq=False)
class Original:
    """How to ask the original itself. ``ask`` and ``scores`` are the importer's own ways to call a model that has no
    ``predict``, or no scores of its own; they take the model and a table."""

    model: Any
    inputs: Inputs
    preprocessing: Preprocessing
    ask: Callable[[Any, Any], Any] | None = None
    scores: Callable[[Any, Any], Any] | None = None

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """Labels of inner rows. Originals refuse some rows: too large for float32, too wide."""
        found = self._answer(self.model.predict if self.ask is None else partial(self.ask, self.model), X)
        return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found

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
        ask = self.scores
        if ask is not None:
            return lambda X: self._answer(partial(ask, self.model), X).astype(np.float64)
        return self._method("decision_function")

    def _method(self, name: str) -> Callable[[Floats], Floats] | None:
        method = getattr(self.model, name, None)
        if method is None:
            return None
        return lambda X: self._answer(method, X).astype(np.float64)

    def _answer(self, ask: Callable[[Any], Any], X: Floats) -> npt.NDArray[Any]:
        table = self.inputs.table(X)
        try:
            return np.asarray(ask(table))
        except (ValueError, TypeError) as error:
            raise InputError(f"{REFUSES} the rows it was asked about: {error}") from error
