"""The models of the paper's tables, trained as the paper trains them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

RADII = (0.01, 0.05)
NORMS = ("linf", "l2")
ROWS = 20


@dataclass(frozen=True)
class Case:
    """One table row: a model kind with its size parameter."""

    model: str
    param: Any

    @property
    def label(self) -> str:
        """The short name on the command line and in tables: linear, DT-5, RF-100, NN-10x10x10."""
        if self.param is None:
            return self.model
        size = "x".join(str(width) for width in self.param) if isinstance(self.param, tuple) else self.param
        return f"{self.model}-{size}"

    def train(self, X: np.ndarray, y: np.ndarray) -> Any:
        """On one thread: with some versions of BLAS the last digits of a fit depend on how many there are."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            return self._fitted(X, y)

    def _fitted(self, X: np.ndarray, y: np.ndarray) -> Any:
        from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.neural_network import MLPClassifier
        from sklearn.tree import DecisionTreeClassifier

        match self.model:
            case "linear":
                return LogisticRegression(random_state=0).fit(X, y)
            case "DT":
                return DecisionTreeClassifier(max_depth=self.param, random_state=0).fit(X, y)
            case "RF":
                return RandomForestClassifier(self.param, max_depth=3, random_state=0).fit(X, y)
            case "GBM":
                made = GradientBoostingClassifier(
                    n_estimators=self.param, max_depth=2, learning_rate=1.0, random_state=0
                )
                return made.fit(X, y)
            case "NN":
                made = MLPClassifier(self.param, activation="relu", random_state=0, max_iter=10000)
                return made.fit(X, y)
        raise ValueError(f"unknown model kind {self.model!r}")


TREES = [Case("DT", d) for d in (3, 5, 10)] + [Case(kind, k) for kind in ("RF", "GBM") for k in (5, 10, 20, 50, 100)]
NETWORKS = [Case("NN", layers) for layers in ((10,), (10, 10, 10), (50,), (100,))]
LINEAR = [Case("linear", None)]
ALL = [*LINEAR, *TREES, *NETWORKS]


def choose(names: Iterable[str] | None) -> list[Case]:
    """The cases with these labels; a kind alone (``RF``) means all its sizes, nothing means all eighteen."""
    if names is None:
        return ALL
    chosen: list[Case] = []
    for name in names:
        found = [case for case in ALL if name.lower() in (case.label.lower(), case.model.lower())]
        if not found:
            raise SystemExit(f"--models {name}: unknown; use kinds or labels out of {[case.label for case in ALL]}")
        chosen += [case for case in found if case not in chosen]
    return [case for case in ALL if case in chosen]
