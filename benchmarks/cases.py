"""The models of the paper's tables, trained as the paper trains them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

RADII = (0.01, 0.05)
ROWS = 20


@dataclass(frozen=True)
class Case:
    """One table row: a model kind with its size parameter."""

    model: str
    param: Any

    def train(self, X: np.ndarray, y: np.ndarray) -> Any:
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
