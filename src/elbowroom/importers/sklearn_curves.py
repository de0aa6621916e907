"""Monotone functions of single columns: logarithms, roots, power and quantile transforms, bins.

A split of a tree behind such a function is a half line of the raw column, found by bisection through the original's own
``transform``. Floating point may step back by an ulp where mathematics does not; so every cut is tried on its neighbours
(`Preprocessing.cuts`), and a function that is not monotone there is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.sklearn_common import require_fitted
from elbowroom.importers.steps import run, tamed
from elbowroom.importers.trace import Trace
from elbowroom.numerics import BIGGEST, Bools, Floats, from_ordinal, next_down, ordinal

RISING: Final = (
    "log1p",
    "log",
    "log2",
    "log10",
    "sqrt",
    "cbrt",
    "exp",
    "exp2",
    "expm1",
    "tanh",
    "arctan",
    "arcsinh",
    "sinh",
)

_USUAL: Final = (1.0, 0.5, 0.0, 100.0, -1.0)


def _float(place: int) -> float:
    return float(from_ordinal(np.int64(place)))


@dataclass(frozen=True, eq=False)
class _Curves:
    """Where the function has no value, or one beyond all floats, its argument is cut back to the last one that has: that
    keeps the order. No region goes there (`Preprocessing.domain`)."""

    step: Any
    name: str
    low: Floats
    high: Floats

    @classmethod
    def of(cls, step: Any, name: str, width: int) -> _Curves:
        low, high = np.full(width, -BIGGEST), np.full(width, BIGGEST)
        everywhere = cls(step, name, low, high)
        for column in range(width):
            low[column], high[column] = everywhere._range(column)
        return cls(step, name, low, high)

    def _range(self, column: int) -> tuple[float, float]:
        start = next((x for x in _USUAL if self._works(column, x)), None)
        if start is None:
            raise UnsupportedModel(f"{self.name} gives no finite number for any of {_USUAL} in column {column}")
        ends = []
        for far in (-BIGGEST, BIGGEST):
            inside, outside = int(ordinal(start)), int(ordinal(far))
            if self._works(column, far):
                ends.append(far)
                continue
            while abs(outside - inside) > 1:
                middle = (inside + outside) // 2
                inside, outside = (middle, outside) if self._works(column, _float(middle)) else (inside, middle)
            ends.append(_float(inside))
        return ends[0], ends[1]

    def _works(self, column: int, x: float) -> bool:
        for usual in _USUAL:
            row = np.full((1, self.low.size), usual)
            row[0, column] = x
            try:
                value = np.asarray(self._values(row))[0, column]
            except ValueError:
                continue
            if np.isfinite(value) and abs(value) < BIGGEST:
                return True
        return False

    def _values(self, table: Any) -> Any:
        if self.name.startswith("FunctionTransformer"):
            with np.errstate(all="ignore"):
                return tamed(np.asarray(self.step.func(np.asarray(table, dtype=np.float64))))
        return run(self.step, table)

    def apply(self, table: Any) -> Any:
        return self._values(np.clip(np.asarray(table, dtype=np.float64), self.low, self.high))

    def inside(self, table: Any) -> Bools:
        values = np.asarray(table, dtype=np.float64)
        return np.asarray(((values >= self.low) & (values <= self.high) | np.isnan(values)).all(axis=1))

    def trace(self, before: Trace) -> Trace:
        return before.bent(self.name)

    @property
    def description(self) -> str:
        return self.name


def function_stage(step: Any) -> _Curves | None:
    """No function: everything passes. A known function of numpy: a curve. Anything else is code of its own."""
    if step.func is None:
        return None
    known = {getattr(np, name): name for name in RISING if hasattr(np, name)}
    name = known.get(step.func) if isinstance(step.func, np.ufunc) else None
    if name is None or step.kw_args:
        raise UnsupportedModel(
            f"FunctionTransformer(func={step.func!r}) is arbitrary code and cannot be folded; functions that can: "
            f"{', '.join('np.' + known_name for known_name in RISING)}"
        )
    return _Curves.of(step, f"FunctionTransformer({name})", _width(step))


def _width(step: Any) -> int:
    width = getattr(step, "n_features_in_", None)
    return 1 if width is None else int(width)


def power_stage(step: Any) -> _Curves:
    require_fitted(step)
    return _Curves.of(step, type(step).__name__, _width(step))


@dataclass(frozen=True, eq=False)
class _Bins:
    """0/1 columns: x lies in bin k iff edge_k <= x < edge_k+1, the first and the last bin being open."""

    step: Any

    def apply(self, table: Any) -> Any:
        return run(self.step, table)

    def trace(self, before: Trace) -> Trace:
        edges = [np.asarray(e, dtype=np.float64)[1:-1] for e in self.step.bin_edges_]
        source = np.repeat(np.arange(len(edges)), [e.size + 1 for e in edges])
        return before.binned(source, [np.asarray(next_down(e)) for e in edges], self.description)

    @property
    def description(self) -> str:
        return type(self.step).__name__


def bins_stage(step: Any) -> _Curves | _Bins:
    require_fitted(step)
    if step.encode != "ordinal":
        return _Bins(step)
    return _Curves.of(step, type(step).__name__, _width(step))
