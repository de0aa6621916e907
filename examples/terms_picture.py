"""The picture of docs/how-it-works.md: its terms on two features. Run: python examples/terms_picture.py docs/images/terms.svg

The model is drawn, not trained: the unwanted class fills two overlapping rectangles, and a box of half-width RADIUS has to
avoid both. The card has a background of its own, so that it can be read on light and on dark pages.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

WIDTH, HEIGHT, RADIUS = 10.0, 6.8, 0.75
CUTS = ([1.6, 4.2, 5.3, 7.4, 9.0], [1.3, 3.1, 5.2])  # of feature 1 and feature 2
FACTUAL = (3.3, 2.2)
REGION = (7.4, 3.1)  # right and upper edge of the bad region R; it is open to the left and below
OTHER = (4.2, 5.2)  # of a second bad region
INK, SOFT, CARD, FRAME = "#24292F", "#57606A", "#FFFFFF", "#D0D7DE"
BAD, GOOD, EXIT, SHIFT = "#D55E00", "#00785A", "#0072B2", "#9C4F7E"  # after Okabe and Ito, dark enough for text


def positions(feature: int) -> list[float]:
    """The factual value, and per cut the position of the centre at which the room has just passed it."""
    value = FACTUAL[feature]
    passed = [cut + RADIUS if cut >= value - RADIUS else cut - RADIUS for cut in CUTS[feature]]
    return sorted([value, *passed])


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], color: str) -> None:
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=13, linewidth=1.8, color=color,
                                   shrinkA=0, shrinkB=0, zorder=6))  # fmt: skip


def room(axes: Axes, center: tuple[float, float], **style: object) -> None:
    corner = (center[0] - RADIUS, center[1] - RADIUS)
    axes.add_patch(Rectangle(corner, 2 * RADIUS, 2 * RADIUS, **style))


def draw_model(axes: Axes) -> None:
    """Cuts, the unwanted class, the bad region R and one cell."""
    for right, top in (REGION, OTHER):
        axes.add_patch(Rectangle((0, 0), right, top, facecolor="#FBE9DD", edgecolor="none", zorder=1))
    axes.add_patch(
        Rectangle((0, 0), *REGION, facecolor="none", edgecolor="#F0B48E", hatch="///", linewidth=0, zorder=2)
    )
    axes.plot([0, REGION[0], REGION[0]], [REGION[1], REGION[1], 0], color=BAD, linewidth=2.0, zorder=3)
    for cut in CUTS[0]:
        axes.plot([cut, cut], [0, HEIGHT], color="#B6BEC8", linewidth=0.9, zorder=2.5)
    for cut in CUTS[1]:
        axes.plot([0, WIDTH], [cut, cut], color="#B6BEC8", linewidth=0.9, zorder=2.5)
    axes.add_patch(Rectangle((7.4, 3.1), 1.6, 2.1, facecolor="#E7EBF0", edgecolor=SOFT, linewidth=1.4, zorder=2.8))
    axes.add_patch(Rectangle((0, 0), WIDTH, HEIGHT, facecolor="none", edgecolor=SOFT, linewidth=1.0, zorder=4))


def draw_question(axes: Axes) -> tuple[float, float]:
    """Factual, answer, one scenario, the literals of R and the positions; the centre of the answer."""
    center = (OTHER[0] + RADIUS, REGION[1] + RADIUS)
    room(axes, FACTUAL, facecolor="#FFFFFFB0", edgecolor=INK, linewidth=1.3, linestyle=(0, (4, 3)), zorder=5)
    room(axes, center, facecolor="#BFE5D8", edgecolor=GOOD, linewidth=2.2, zorder=5)
    axes.scatter(*FACTUAL, marker="*", s=120, color=INK, zorder=7)
    axes.scatter(*center, marker="o", s=34, color=GOOD, zorder=7)
    arrow(axes, center, (center[0] + RADIUS, center[1] + RADIUS), SHIFT)
    arrow(axes, FACTUAL, (FACTUAL[0], REGION[1] + RADIUS), EXIT)
    arrow(axes, FACTUAL, (REGION[0] + RADIUS, FACTUAL[1]), EXIT)
    first, second = positions(0), positions(1)
    axes.scatter(first, [-0.17] * len(first), marker="^", s=34, color=EXIT, zorder=7, clip_on=False)
    axes.scatter([-0.17] * len(second), second, marker=">", s=34, color=EXIT, zorder=7, clip_on=False)
    return center


def write_labels(axes: Axes, center: tuple[float, float]) -> None:
    def say(x: float, y: float, words: str, color: str = INK, **style: object) -> None:
        options: dict[str, object] = {"ha": "left", "va": "center", "fontsize": 10.5, "zorder": 8, **style}
        axes.text(x, y, words, color=color, **options)

    plate = {"boxstyle": "round,pad=0.18", "facecolor": "#FFFFFFDD", "edgecolor": "none"}
    say(0.25, 0.45, "bad region $R$", BAD, bbox=plate, weight="bold")
    say(1.75, 4.75, "unwanted class", BAD)
    say(1.75, 6.35, "wanted class", GOOD)
    say(FACTUAL[0] - 0.12, FACTUAL[1] - 0.3, r"factual $\hat x$", ha="center", fontsize=9.5)
    say(FACTUAL[0], FACTUAL[1] - RADIUS - 0.24, r"room at $\hat x$: meets $R$", bbox=plate, ha="center", fontsize=9.5)
    say(center[0] - 0.62, center[1] - 0.3, "centre $x$", GOOD, fontsize=9.5)
    say(center[0] - RADIUS + 0.1, center[1] + RADIUS + 0.26, "region: the room at $x$", GOOD, bbox=plate, weight="bold")
    say(center[0] - 0.62, center[1] + 0.5, "scenario $s$", SHIFT, fontsize=9.5)
    say(8.2, 4.15, "cell", SOFT, ha="center", weight="bold")
    say(5.15, 2.45, "literal: right of $R$", EXIT, bbox=plate)
    say(FACTUAL[0] - 0.12, 3.5, "literal: above $R$", EXIT, bbox=plate, ha="right")
    say(9.0, HEIGHT + 0.2, "cut", SOFT, ha="center")
    say(WIDTH / 2, -0.62, "feature 1   (▲ positions of a centre)", ha="center")
    say(-0.62, HEIGHT / 2, "feature 2", ha="center", rotation=90)


def draw() -> plt.Figure:
    figure = plt.figure(figsize=(8.6, 6.2))
    figure.patch.set_alpha(0.0)
    card = FancyBboxPatch((0.012, 0.015), 0.976, 0.97, boxstyle="round,pad=0,rounding_size=0.02", facecolor=CARD,
                          edgecolor=FRAME, transform=figure.transFigure, zorder=-1)  # fmt: skip
    figure.add_artist(card)
    axes = figure.add_axes((0.03, 0.03, 0.94, 0.94))
    axes.set(xlim=(-1.0, WIDTH + 0.3), ylim=(-0.95, HEIGHT + 0.45), aspect="equal")
    axes.axis("off")
    draw_model(axes)
    write_labels(axes, draw_question(axes))
    return figure


path = Path(sys.argv[1] if len(sys.argv) > 1 else "terms.svg")
path.parent.mkdir(parents=True, exist_ok=True)
with plt.rc_context({"svg.hashsalt": "elbowroom", "hatch.linewidth": 0.8}):
    draw().savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
print(f"written: {path}")
