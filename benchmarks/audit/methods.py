"""The methods that the audit asks: ours, Algorithm 1, the one-leaf heuristic, the gradient method, treecf and DiCE.

Each is a function of a question that returns a centre or None. Methods of other packages are asked only if these are
installed.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np

from benchmarks.baselines.gradient import Settings, robust_recourse
from benchmarks.instance import ROOM
from elbowroom import Explainer, Region

Found: TypeAlias = np.ndarray | None


@dataclass(frozen=True, eq=False)
class Question:
    data: str
    label: str
    X: np.ndarray
    y: np.ndarray
    model: Any
    explainer: Explainer
    row: int
    norm: str
    rho: float
    limit: float

    @property
    def x(self) -> np.ndarray:
        return self.X[self.row]

    @property
    def wanted(self) -> Any:
        label = self.model.predict(self.x[None])[0]
        return next(c for c in self.model.classes_ if c != label)

    @property
    def kind(self) -> str:
        return self.label.partition("-")[0]


def _ours(method: str) -> Callable[[Question], Found]:
    def ask(question: Question) -> Found:
        room = ROOM[question.norm](question.rho)
        answer = question.explainer.explain(question.x, room=room, time_limit=question.limit, method=method)
        return answer.body.center if isinstance(answer, Region) else None

    return ask


def _gradient(step: float) -> Callable[[Question], Found]:
    def ask(question: Question) -> Found:
        return robust_recourse(question.model, question.x, question.wanted, question.rho, Settings(step=step))[0]

    return ask


def treecf(question: Question) -> Found:
    """A plain counterfactual (treecf knows no rooms), exact backend."""
    import treecf

    explainer = treecf.Explainer(question.model, normalizers=np.ones(question.x.size))
    level = 0.0 if question.kind == "GBM" else 0.5
    goal = treecf.Target.raw(op=">=" if question.wanted == question.model.classes_[1] else "<=", value=level)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = explainer.explain(question.x, goal, backend="exact", time_budget_s=question.limit, seed=0)
    center = getattr(found, "x_cf", None)
    return None if center is None else np.asarray(center, dtype=np.float64)


def dice(question: Question) -> Found:
    """One plain counterfactual of DiCE's random method (its default for any model), the closest of four."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        explainer = _dice_explainer(question)
        names = [f"x{i}" for i in range(question.x.size)]
        import pandas as pd

        asked = pd.DataFrame([question.x], columns=names)
        try:
            made = explainer.generate_counterfactuals(asked, total_CFs=4, desired_class="opposite", random_seed=0)
        except Exception as error:  # DiCE has its own error for "none found", in a module that has moved before
            if "counterfactual" not in str(error).lower():
                raise
            return None
    frame = made.cf_examples_list[0].final_cfs_df
    if frame is None or frame.empty:
        return None
    points = frame[names].to_numpy(dtype=np.float64)
    return points[np.abs(points - question.x).sum(axis=1).argmin()]


@lru_cache(maxsize=1)
def _dice_explainer(question: Question) -> Any:
    import dice_ml
    import pandas as pd

    names = [f"x{i}" for i in range(question.x.size)]
    frame = pd.DataFrame(question.X, columns=names).assign(label=question.y)
    data = dice_ml.Data(dataframe=frame, continuous_features=names, outcome_name="label")
    return dice_ml.Dice(data, dice_ml.Model(model=question.model, backend="sklearn"), method="random")


@dataclass(frozen=True)
class Method:
    name: str
    ask: Callable[[Question], Found]
    kinds: tuple[str, ...]
    norms: tuple[str, ...] = ("linf", "l2")
    package: str | None = None

    @property
    def installed(self) -> bool:
        return self.package is None or find_spec(self.package) is not None


TREES = ("DT", "RF", "GBM")
STEPS = (0.1, 0.001)  # of Adam: the authors' default, and one fine enough to stop where the method believes it may
METHODS = [
    Method("elbowroom", _ours("auto"), ("linear", *TREES, "NN")),
    Method("Algorithm 1, repaired", _ours("adversarial"), ("linear", *TREES, "NN")),
    Method("one leaf", _ours("one_leaf"), TREES, ("linf",)),
    *(Method(f"Dominguez-Olmedo 2022, step {step:g}", _gradient(step), ("NN",), ("l2",)) for step in STEPS),
    Method("treecf", treecf, ("RF", "GBM"), package="treecf"),
    Method("DiCE", dice, ("linear", *TREES, "NN"), package="dice_ml"),
]
