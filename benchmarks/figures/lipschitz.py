"""A tree's score on one feature and the Lipschitz function that stands in for it in Algorithm 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.tree import DecisionTreeClassifier

from benchmarks.figures.plane import iris
from benchmarks.figures.style import BLACK, BLUE, RED, panels

TAU, DEPTH, LEAST = 0.5, 4, 5  # threshold; depth of the tree and rows per leaf


def compute() -> dict[str, Any]:
    """Cuts of the axis with the score of every leaf between them."""
    X, y = iris("sepal")
    model = DecisionTreeClassifier(max_depth=DEPTH, min_samples_leaf=LEAST, random_state=0).fit(X[:, 1:], y)
    cuts = np.sort(model.tree_.threshold[model.tree_.children_left >= 0])
    ends = np.concatenate([[-np.inf], cuts, [np.inf]])
    inside = np.clip((ends[:-1] + ends[1:]) / 2, cuts[0] - 1.0, cuts[-1] + 1.0)
    scores = model.predict_proba(inside[:, None])[:, 1]
    return {"cuts": cuts, "scores": scores, "tau": TAU}


def stand_in(x: np.ndarray, cuts: np.ndarray, scores: np.ndarray, tau: float) -> np.ndarray:
    """tau on good leaves; tau minus the smallest slack of the leaf's constraints on bad ones."""
    leaf = np.searchsorted(cuts, x, side="left")  # left of a cut iff x <= cut
    ends = np.concatenate([[-np.inf], cuts, [np.inf]])
    slack = np.minimum(x - ends[leaf], ends[leaf + 1] - x)
    return np.where(scores[leaf] >= tau, tau, tau - slack)


def draw(content: dict[str, Any]) -> Figure:
    figure, ((axis,),) = panels(1, 1, (8, 4))
    cuts, scores, tau = np.array(content["cuts"]), np.array(content["scores"]), content["tau"]
    low, high = cuts[0] - 0.15, cuts[-1] + 0.15
    edges = np.concatenate([[low], cuts, [high]])
    axis.hlines(scores, edges[:-1], edges[1:], color=BLUE, linewidth=2, label="score h")
    x = np.linspace(low, high, 4001)
    axis.plot(x, stand_in(x, cuts, scores, tau), "--", color=RED, linewidth=1.8, label="stand-in")
    axis.axhline(tau, color=BLACK, linewidth=0.8, linestyle=":", label="threshold")
    for cut in cuts:
        axis.axvline(cut, color="#BBBBBB", linewidth=0.6)
    axis.set_xlabel("sepal width (scaled)")
    axis.set_ylabel("score")
    axis.legend(loc="upper left", fontsize=9)
    return figure
