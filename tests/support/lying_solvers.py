"""Solvers that lie: HiGHS and scipy's linprog with their answers spoiled, at random or in a chosen way.

They stand in for the library itself (``highspy.Highs``, ``scipy.optimize.linprog``), so that every engine and every judge
that asks a solver is lied to, wherever it does.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import patch

import highspy
import numpy as np
from scipy import optimize

STATUSES: Final = (
    highspy.HighsModelStatus.kOptimal,
    highspy.HighsModelStatus.kInfeasible,
    highspy.HighsModelStatus.kUnbounded,
    highspy.HighsModelStatus.kUnboundedOrInfeasible,
    highspy.HighsModelStatus.kTimeLimit,
    highspy.HighsModelStatus.kSolveError,
    highspy.HighsModelStatus.kNotset,
)
WAYS: Final = (
    "status", "noise in the point", "noise in the duals", "not a number", "infinite", "wrong length", "empty", "zeros",
    "huge", "bound", "exception", "old answer", "ray",
)  # fmt: skip
FAULTS: Final = (RuntimeError, MemoryError, ValueError, OSError, ZeroDivisionError, IndexError)


class Liar:
    """Decides when and how to lie; ``lies`` counts."""

    def __init__(self, rng: random.Random, how_often: float, ways: tuple[str, ...] = WAYS) -> None:
        self.rng, self.how_often, self.ways = rng, how_often, ways
        self.noise = np.random.default_rng(rng.getrandbits(32))
        self.lies = 0
        self.old: dict[str, Any] = {}

    def way(self, *possible: str) -> str | None:
        """One of the possible ways, or None for the truth."""
        chosen = [way for way in possible if way in self.ways]
        if not chosen or self.rng.random() >= self.how_often:
            return None
        self.lies += 1
        return self.rng.choice(chosen)

    def array(self, values: Any, what: str) -> np.ndarray:
        """The values, or something in their place."""
        true = np.array(values, dtype=np.float64)
        before, self.old[what] = self.old.get(what, true), true
        noise = "noise in the point" if what == "point" else "noise in the duals"
        match self.way(noise, "not a number", "infinite", "wrong length", "empty", "zeros", "huge", "old answer"):
            case None:
                return true
            case "not a number":
                return np.where(self.noise.random(true.size) < 0.5, np.nan, true)
            case "infinite":
                return np.where(self.noise.random(true.size) < 0.5, self.rng.choice((np.inf, -np.inf)), true)
            case "wrong length":
                return np.resize(true, max(true.size + self.rng.choice((-1, 1, 3)), 0)) if true.size else np.ones(1)
            case "empty":
                return np.empty(0)
            case "zeros":
                return np.zeros(true.size)
            case "huge":
                return true * self.rng.choice((1e6, -1e6, 1e300, -1.0, 2.0, 0.5))
            case "old answer":
                return before
            case _:
                return true + self.noise.normal(size=true.size) * self.rng.choice((1e-9, 1e-4, 0.1, 10.0, 1e5))

    def number(self, value: float) -> float:
        if self.way("bound") is None:
            return value
        return self.rng.choice((abs(value) * 3 + 10, -value, 0.0, np.nan, np.inf, -np.inf, value * 1.01, value + 1e-3))

    def fault(self) -> None:
        """Die, sometimes."""
        if self.rng.random() < 0.3 and self.way("exception") is not None:
            raise self.rng.choice(FAULTS)("the solver died")


def _lying_highs(liar: Liar) -> type[Any]:
    honest: Any = highspy.Highs

    class LyingHighs(honest):  # type: ignore[misc]
        def run(self) -> Any:
            liar.fault()
            return super().run()

        def getModelStatus(self) -> Any:  # noqa: N802
            return super().getModelStatus() if liar.way("status") is None else liar.rng.choice(STATUSES)

        def getSolution(self) -> Any:  # noqa: N802
            liar.fault()
            true = super().getSolution()
            return SimpleNamespace(
                value_valid=true.value_valid,
                dual_valid=true.dual_valid,
                col_value=liar.array(true.col_value, "point"),
                col_dual=liar.array(true.col_dual, "reduced costs"),
                row_value=liar.array(true.row_value, "rows"),
                row_dual=liar.array(true.row_dual, "duals"),
            )

        def getInfo(self) -> Any:  # noqa: N802
            true = super().getInfo()
            return SimpleNamespace(
                primal_solution_status=true.primal_solution_status,
                mip_dual_bound=liar.number(true.mip_dual_bound),
                objective_function_value=liar.number(true.objective_function_value),
            )

        def getDualRay(self) -> Any:  # noqa: N802
            true = super().getDualRay()
            if liar.way("ray") is None:
                return true
            size = self.getNumRow()
            return (true[0], True, liar.noise.normal(size=max(size + liar.rng.choice((0, 0, -1, 2)), 0)))

    return LyingHighs


def _lying_linprog(liar: Liar) -> Any:
    honest = optimize.linprog

    def linprog(*arguments: Any, **options: Any) -> Any:
        liar.fault()
        result = honest(*arguments, **options)
        if liar.way("status") is not None:
            result.status, result.success = liar.rng.choice(((0, True), (2, False), (3, False), (4, False)))
        if result.x is not None:
            result.x = liar.array(result.x, "point")
        elif liar.way("huge") is not None:
            result.x = liar.noise.normal(size=np.size(arguments[0]))
        if result.fun is not None:
            result.fun = liar.number(float(result.fun))
        for part in ("ineqlin", "eqlin", "lower", "upper"):
            marginals = getattr(getattr(result, part, None), "marginals", None)
            if marginals is not None:
                getattr(result, part).marginals = liar.array(marginals, f"duals of {part}")
        return result

    return linprog


@contextmanager
def lying_solvers(liar: Liar) -> Iterator[Liar]:
    """Within this block every solver that is asked is the liar's."""
    import elbowroom.certify.oblique as oblique

    with ExitStack() as stack:
        stack.enter_context(patch.object(highspy, "Highs", _lying_highs(liar)))
        lying = _lying_linprog(liar)
        stack.enter_context(patch.object(optimize, "linprog", lying))
        stack.enter_context(patch.object(oblique, "linprog", lying))
        yield liar
