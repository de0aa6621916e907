"""One look for all figures: the colours of Okabe and Ito (safe for colour-blind readers), line styles that differ too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, RED, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
CLASSES = ListedColormap(["#F6D9C5", "#FFFFFF"])  # unwanted and wanted class behind a picture
SETTINGS = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E5E5E5",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.hashsalt": "elbowroom",  # the same picture gives the same file
    "figure.constrained_layout.use": True,
}


def panels(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Figure, Any]:
    with plt.rc_context(SETTINGS):
        return plt.subplots(rows, columns, figsize=size, squeeze=False, **options)


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """PNG for pages, SVG for print; neither holds a date."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    with plt.rc_context(SETTINGS):
        figure.savefig(paths[0], dpi=150, metadata={"Software": None})
        figure.savefig(paths[1], metadata={"Date": None})
    plt.close(figure)
    return paths
