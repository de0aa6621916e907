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


@dataclass(frozen=True, eq=False)
class _Curves:
    step: Any
    name: str

    def apply(self, table: Any) -> Any:
        if self.name.startswith("FunctionTransformer"):
            with np.errstate(all="ignore"):
                return tamed(np.asarray(self.step.func(np.asarray(table, dtype=np.float64))))
        return run(self.step, table)

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
    return _Curves(step, f"FunctionTransformer({name})")


def power_stage(step: Any) -> _Curves:
    require_fitted(step)
    return _Curves(step, type(step).__name__)


def bins_stage(step: Any) -> _Curves:
    require_fitted(step)
    if step.encode != "ordinal":
        raise UnsupportedModel(
            f"KBinsDiscretizer(encode={step.encode!r}) makes 0/1 columns of a number, which rise and fall; fit with "
            'encode="ordinal" and a model of trees behind it'
        )
    return _Curves(step, type(step).__name__)
