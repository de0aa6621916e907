"""scikit-learn's encoders of categories: every output column is a table over the categories of one input column.

* OneHotEncoder: one 0/1 column per category; ``drop`` leaves one out (all zeros), infrequent categories share one.
* OrdinalEncoder: the position of the category; infrequent ones share a position.
* TargetEncoder: what ``transform`` gives for a category (``fit_transform`` is cross-fitted and plays no part in predict).

The tables themselves are not copied: they are what the encoder's own ``transform`` gives for each category.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.sklearn_common import require_fitted
from elbowroom.importers.steps import run
from elbowroom.importers.trace import Trace, Way
from elbowroom.numerics import Ints
from elbowroom.problem.labels import Category


@dataclass(frozen=True, eq=False)
class _Tables:
    """Output column j is a table over the categories of input column source[j]."""

    encoder: Any
    source: Ints

    def apply(self, table: Any) -> Any:
        return run(self.encoder, table)

    def trace(self, before: Trace) -> Trace:
        numbers = np.flatnonzero(before.way != Way.LOOKED)
        if numbers.size:
            raise UnsupportedModel(
                f"{type(self.encoder).__name__} takes column {int(numbers[0])} for categories behind a step that makes "
                "numbers of it; encode the raw column"
            )
        return before.take(self.source)

    @property
    def description(self) -> str:
        return type(self.encoder).__name__


def one_hot_stage(step: Any) -> _Tables:
    require_fitted(step)
    counts = [len(names) for names in _outputs(step)]
    return _Tables(step, np.repeat(np.arange(len(counts)), counts).astype(np.int64))


def _outputs(step: Any) -> list[list[Any]]:
    """The output columns of each input column, counted by the encoder's own rules."""
    infrequent = getattr(step, "infrequent_categories_", None) if getattr(step, "_infrequent_enabled", False) else None
    found = []
    for i, known in enumerate(step.categories_):
        rare = None if infrequent is None else infrequent[i]
        size = len(known) if rare is None else len(known) - len(rare) + 1
        dropped = step.drop_idx_ is not None and step.drop_idx_[i] is not None
        found.append(list(range(size - int(dropped))))
    return found


def ordinal_stage(step: Any) -> _Tables:
    require_fitted(step)
    return _Tables(step, np.arange(len(step.categories_), dtype=np.int64))


def target_stage(step: Any) -> _Tables:
    """Several classes: one column per input column and class, class by class within an input column."""
    require_fitted(step)
    n = len(step.categories_)
    per_column = len(step.encodings_) // n
    return _Tables(step, np.repeat(np.arange(n), per_column).astype(np.int64))


def categories(step: Any, width: int) -> list[tuple[Category, ...] | None]:
    """The categories that an encoder was fitted on, as plain values; a missing one is None."""
    found: list[tuple[Category, ...] | None] = []
    for i, known in enumerate(step.categories_):
        if any(label is None for label in known):
            names = getattr(step, "feature_names_in_", None)
            name = i if names is None else str(names[i])
            raise UnsupportedModel(
                f"column {name!r}: {type(step).__name__} was fitted on None, which it tells from NaN; tables hold either for "
                f"a missing value: fit on X.astype({{{name!r}: 'category'}}), where both are the same"
            )
        labels = [None if _absent(label) else label for label in np.asarray(known, dtype=object).tolist()]
        plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
        found.append(tuple(dict.fromkeys(plain)))
    return found


def _absent(label: object) -> bool:
    return label is None or (isinstance(label, float) and label != label) or type(label).__name__ == "NAType"
