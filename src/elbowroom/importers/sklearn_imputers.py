"""scikit-learn's SimpleImputer: the identity on what is there, a constant where something is missing.

``add_indicator`` appends 0/1 columns that say what was missing: 0 for everything that is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.sklearn_common import require_fitted
from elbowroom.importers.steps import run
from elbowroom.importers.trace import Trace
from elbowroom.numerics import Ints


@dataclass(frozen=True, eq=False)
class _Filled:
    imputer: Any
    kept: Ints  # input columns that come out
    flagged: Ints  # input columns with an indicator

    def apply(self, table: Any) -> Any:
        return run(self.imputer, table)

    def trace(self, before: Trace) -> Trace:
        kept = before.take(self.kept)
        if not self.flagged.size:
            return kept
        flags = before.take(self.flagged)
        return Trace.side_by_side([kept, flags.constants(np.zeros(self.flagged.size))])

    @property
    def description(self) -> str:
        return type(self.imputer).__name__


def imputer_stage(step: Any) -> _Filled:
    require_fitted(step)
    marker = step.missing_values
    if marker is None:
        raise UnsupportedModel(
            "SimpleImputer(missing_values=None) fills None and leaves NaN, and tables hold either for a missing value; fit with "
            "missing_values=pd.NA, which fills both"
        )
    if not ((isinstance(marker, float) and marker != marker) or type(marker).__name__ == "NAType"):
        raise UnsupportedModel(
            f"SimpleImputer(missing_values={marker!r}) replaces a number that rows may hold, so it is not one line; mark "
            "missing values as NaN and fit with the default"
        )
    statistics = np.asarray(step.statistics_, dtype=object)
    empty = np.array([_absent(s) for s in statistics], dtype=np.bool_)
    if empty.any() and not getattr(step, "keep_empty_features", False):
        kept = np.flatnonzero(~empty)
    else:
        kept = np.arange(statistics.size)
    indicator = step.indicator_
    flagged = np.zeros(0, np.int64) if indicator is None else np.asarray(indicator.features_, dtype=np.int64)
    return _Filled(step, kept.astype(np.int64), flagged)


def _absent(value: object) -> bool:
    return value is None or (isinstance(value, float) and value != value)
