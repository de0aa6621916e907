"""The pictures of docs/concepts.md. Run: python examples/concepts_pictures.py docs/images"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

from elbowroom import Ball, Box, Diamond, Explainer, Region, Space

NAMES = ["income", "debt"]
APPROVED, REJECTED = "#CFE8F7", "#F3F3F3"
BLUE, ORANGE, INK, QUIET = "#0072B2", "#D55E00", "#222222", "#666666"
RADIUS = 0.06


def question() -> tuple[Explainer, pd.Series]:
    """Seven shallow trees over two features, and an applicant whom they reject."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.uniform(0, 100, (400, 2)).round(1), columns=NAMES)
    y = np.where(X["income"] - 0.6 * X["debt"] + 12 * np.sin(X["debt"] / 12) > 25, "approved", "rejected")
    model = RandomForestClassifier(7, max_depth=4, random_state=1).fit(X, y)
    space = Space.from_frame(X, scale="none", bounds=dict.fromkeys(NAMES, (0, 100)))
    return Explainer(model, space), pd.Series([22.0, 52.0], index=NAMES)


def ground(ax: Axes, explainer: Explainer, lines: bool = False) -> None:
    """The class of every cell: between neighbouring cuts all trees say the same, so one point decides."""
    trees = explainer.model
    cuts = [np.unique([0.0, *trees.cut[trees.feature == f], 100.0]) for f in (0, 1)]
    middles = [(edges[:-1] + edges[1:]) / 2 for edges in cuts]
    across, along = np.meshgrid(*middles)
    said = explainer.predict(pd.DataFrame({NAMES[0]: across.ravel(), NAMES[1]: along.ravel()}))
    good = (said == "approved").reshape(across.shape)
    colors = matplotlib.colors.ListedColormap([REJECTED, APPROVED])
    ax.pcolormesh(*cuts, good, cmap=colors, vmin=0, vmax=1, edgecolors="#B5B5B5" if lines else "face", linewidth=0.4)
    ax.set(xlim=(0, 100), ylim=(0, 100), xlabel=NAMES[0], ylabel=NAMES[1], aspect="equal")


def draw(ax: Axes, region: Region) -> None:
    """The outline of the region and its centre."""
    x, y = (float(region.center[name]) for name in NAMES)
    low, high = region.lower, region.upper
    if isinstance(region.room, Box):
        shape = Rectangle((low.iloc[0], low.iloc[1]), *(high - low), fill=False)
    else:
        steps = np.linspace(0, 2 * np.pi, 5 if isinstance(region.room, Diamond) else 200)
        size = float(region.radius or 0.0)
        shape = Polygon(np.c_[x + size * np.cos(steps), y + size * np.sin(steps)], fill=False)
    shape.set(edgecolor=BLUE, linewidth=2)
    ax.add_patch(shape)
    ax.plot(x, y, "o", color=BLUE, markersize=6)


def factual(ax: Axes, row: pd.Series) -> None:
    ax.plot(*row, "D", color=ORANGE, markersize=7, zorder=3)
    ax.annotate("now", row, xytext=(-6, 6), textcoords="offset points", color=ORANGE, ha="right", fontsize=10)


def cells() -> Figure:
    explainer, row = question()
    figure = Figure(figsize=(5.2, 4.6), layout="constrained")
    ax = figure.add_subplot()
    ground(ax, explainer, lines=True)
    factual(ax, row)
    ax.text(72, 12, "approved", color=BLUE, fontsize=11, backgroundcolor=APPROVED)
    ax.text(8, 88, "rejected", color=QUIET, fontsize=11, backgroundcolor=REJECTED)
    ax.set_title("Cells: seven trees, cut by cut", loc="left", fontsize=11, color=INK)
    return figure


def rooms() -> Figure:
    explainer, row = question()
    figure = Figure(figsize=(10.5, 3.9), layout="constrained")
    size = 100 * RADIUS
    for ax, room in zip(figure.subplots(1, 3), (Box(size), Ball(size), Diamond(size)), strict=True):
        region = explainer.explain(row, room=room)
        assert isinstance(region, Region)
        ground(ax, explainer)
        ax.annotate("", region.center, row, arrowprops={"arrowstyle": "->", "color": INK, "linewidth": 1})
        factual(ax, row)
        draw(ax, region)
        ax.set_title(
            f"{type(room).__name__}({size:g}): distance {region.distance:.1f}", loc="left", fontsize=11, color=INK
        )
    return figure


def judge() -> Figure:
    explainer, row = question()
    size = 100 * RADIUS
    other, region = explainer.explain(row, room=Diamond(size)), explainer.explain(row, room=Box(size))
    assert isinstance(other, Region) and isinstance(region, Region)
    refused = explainer.certify(other.center, Box(size), "approved")
    assert not refused and explainer.certify(region)
    figure = Figure(figsize=(7.8, 4.1), layout="constrained")
    left, right = figure.subplots(1, 2)
    for ax in (left, right):
        ground(ax, explainer)
        factual(ax, row)
    x, y = other.center
    left.add_patch(
        Rectangle((x - size, y - size), 2 * size, 2 * size, fill=False, edgecolor=ORANGE, linewidth=2, linestyle="--")
    )
    left.plot(x, y, "o", color=BLUE, markersize=6)
    left.plot(*refused.point, "X", color=ORANGE, markersize=10, markeredgecolor="white")
    left.set_title("Refused: a point says otherwise", loc="left", fontsize=11, color=INK)
    draw(right, region)
    right.set_title("Certified: every point", loc="left", fontsize=11, color=INK)
    return figure


def bounds() -> Figure:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = GradientBoostingClassifier(n_estimators=60, random_state=0).fit(X, y)
    region = Explainer(model, Space.from_frame(X)).explain(X.iloc[0], room=Ball(0.05))
    assert isinstance(region, Region)
    low = np.array([*(step.lower_bound for step in region.trace), region.lower_bound])
    best = np.array([*(step.best_distance for step in region.trace), region.distance])
    steps, known = np.arange(1, len(low) + 1), np.isfinite(best)
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    ax = figure.add_subplot()
    ax.fill_between(steps[known], low[known], best[known], step="post", color="#56B4E9", alpha=0.25, linewidth=0)
    ax.step(steps[known], best[known], where="post", color=BLUE, label="best certified region so far")
    ax.step(steps, low, where="post", color=ORANGE, label="proven: nothing is closer than this")
    ax.set(xlabel="step of the search", ylabel="distance", ylim=(0, None))
    ax.set_title("Bounds: they meet at the closest region", loc="left", fontsize=11, color=INK)
    ax.legend(frameon=False, loc="lower right")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return figure


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    folder.mkdir(parents=True, exist_ok=True)
    for make in (cells, rooms, judge, bounds):
        path = folder / f"concept-{make.__name__}.png"
        make().savefig(path, dpi=100)
        print(f"written: {path}")
