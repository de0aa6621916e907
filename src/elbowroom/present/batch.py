"""A batch and its audit as pages and pictures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from elbowroom.batch.audit import ALL, Audit
from elbowroom.batch.result import BatchResult
from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.present.numbers import about, percent
from elbowroom.present.plots import CENTER, INK, INTERVAL, PLAIN, QUIET, axes_or_new
from elbowroom.present.report import templates
from elbowroom.version import __version__
from elbowroom.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LEVERS: Final = 12
MOST_ROWS: Final = 5_000  # of an overview; the table on disk has them all
HEADS: Final = {
    "rows": "Rows",
    "has_recourse": "Have recourse",
    "share": "Share",
    "no_recourse_proven": "Proven to have none",
    "out_of_time": "Out of time",
    "errors": "Could not be asked",
    "not_asked": "Not asked yet",
    "median_cost": "Median cost",
    "mean_cost": "Mean cost",
    "median_changes": "Median number of changes",
}


@dataclass(eq=False)
class BatchDisplay:
    """Data first, drawn later: the distances of all regions, sorted, and the columns that have to change most often."""

    distances: Floats
    levers: pd.Series
    rows: int
    ax: Axes | None = None

    @classmethod
    def from_batch(cls, batch: BatchResult) -> BatchDisplay:
        if not isinstance(batch, BatchResult):
            raise InputError(f"a display is made from the BatchResult of explain_many, not from {type(batch).__name__}")
        distances = np.sort(batch.frame["distance"].dropna().to_numpy(dtype=np.float64))
        return cls(distances, batch.levers().head(MOST_LEVERS), len(batch))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the share of rows that have recourse within a distance; the levers stand beside it as an inset."""
        self.ax = ax = axes_or_new(ax, (8.5, 4.4))
        share = np.arange(1, self.distances.size + 1) / max(1, self.rows)
        ax.step(np.r_[0.0, self.distances], np.r_[0.0, share], where="post", color=CENTER, linewidth=1.8)
        ax.fill_between(
            np.r_[0.0, self.distances], np.r_[0.0, share], step="post", color=INTERVAL, alpha=0.25, linewidth=0
        )
        ax.set_ylim(0.0, 1.02)
        ax.set_xlim(left=0.0)
        ax.set_xlabel("distance from the row", color=INK)
        ax.set_ylabel(f"share of {self.rows:,} rows with recourse", color=INK)
        ax.set_title("What recourse costs, and what carries it", loc="left", fontsize=11.5, color=INK)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        used = self.levers[self.levers > 0]
        if len(used):
            inset = ax.inset_axes((0.52, 0.12, 0.46, 0.66))
            inset.barh(range(len(used)), used.to_numpy(), color=INTERVAL, height=0.7)
            inset.set_yticks(range(len(used)), [visible(str(name)) for name in used.index], fontsize=8, **PLAIN)
            inset.invert_yaxis()
            inset.tick_params(labelsize=8, labelcolor=QUIET)
            inset.set_title("has to change in so many rows", loc="left", fontsize=8.5, color=QUIET)
            for side in ("top", "right"):
                inset.spines[side].set_visible(False)
        return ax


def picture(batch: BatchResult) -> str:
    """The picture as SVG, to stand inside a page."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.5, 4.4), layout="constrained")
    FigureCanvasSVG(figure)
    BatchDisplay.from_batch(batch).plot(figure.add_subplot())
    content = BytesIO()
    figure.savefig(content, format="svg", metadata={"Date": None})
    text = content.getvalue().decode()
    return text[text.index("<svg") :]


def page(batch: BatchResult) -> str:
    """The overview: how it ended, the picture, and every row with its sentence."""
    from markupsafe import Markup

    frame = batch.frame
    shown = [
        {
            "label": str(label),
            "status": str(line["status"]),
            "distance": "" if line["distance"] != line["distance"] else about(float(line["distance"]), 4),
            "sentence": line["sentence"] or line["error"] or "",
        }
        for label, (_, line) in zip(frame.index[:MOST_ROWS], frame.head(MOST_ROWS).iterrows(), strict=True)
    ]
    return _rendered(
        "batch.html.j2",
        title=f"{len(batch):,} rows explained",
        summary=_summary(batch),
        picture=Markup(picture(batch)) if frame["distance"].notna().any() else "",
        rows=shown,
        more=max(0, len(frame) - MOST_ROWS),
        version=__version__,
    )


def fragment(batch: BatchResult) -> str:
    """What a notebook shows."""
    return _rendered("batch_fragment.html.j2", title=f"{len(batch):,} rows", summary=_summary(batch))


def _summary(batch: BatchResult) -> list[dict[str, str]]:
    return [
        {
            "status": str(status),
            "rows": f"{int(line['rows']):,}",
            "share": percent(float(line["share"])),
            "distance": _plain(line["median_distance"]),
            "changes": _plain(line["median_changes"]),
            "seconds": _plain(line["median_seconds"]),
        }
        for status, line in batch.summary().iterrows()
    ]


def _rendered(name: str, **values: Any) -> str:
    return str(templates().get_template(name).render(**values))


def _plain(value: float) -> str:
    return "" if not math.isfinite(value) else about(float(value), 4)


# ---- the audit ------------------------------------------------------------------------------------------------------
def audit_page(audit: Audit) -> str:
    return _rendered("audit.html.j2", **_audit(audit), title="Audit of recourse", version=__version__)


def audit_fragment(audit: Audit) -> str:
    return _rendered("audit_fragment.html.j2", **_audit(audit))


def _audit(audit: Audit) -> dict[str, Any]:
    largest = max(
        [
            1e-300,
            *(v for v in audit.table["median_cost_high"] if math.isfinite(v)),
            *audit.table["median_cost"].dropna(),
        ]
    )
    groups = []
    for name, line in audit.table.iterrows():
        low, high = float(line["median_cost_low"]), float(line["median_cost_high"])
        groups.append(
            {
                "name": str(name),
                "cells": [_cell(key, line) for key in HEADS],
                "middle": _share(float(line["median_cost"]), largest),
                "low": _share(max(low, 0.0), largest),
                "high": _share(min(high, largest), largest),
                "known": math.isfinite(float(line["median_cost"])),
            }
        )
    levers = audit.levers.head(MOST_LEVERS)
    return {
        "heads": list(HEADS.values()),
        "groups": groups,
        "lever_heads": [str(name) for name in levers.columns],
        "levers": [
            (str(name), [percent(v) if v == v else "" for v in line])
            for name, line in zip(levers.index, levers.to_numpy(), strict=True)
        ],
        "rooms": _table(audit.rooms),
        "slips": _table(None if audit.slips is None else audit.slips.reset_index()),
        "sigma": audit.sigma,
        "all": ALL,
    }


def _cell(key: str, line: pd.Series) -> str:
    value = float(line[key])
    if value != value:
        return ""
    if key == "share":
        return f"{percent(value)} ({percent(float(line['share_low']))} to {percent(float(line['share_high']))})"
    if key == "no_recourse_proven":
        return (
            f"{int(value):,} ({percent(float(line['no_recourse_low']))} to {percent(float(line['no_recourse_high']))})"
        )
    if key == "median_cost":
        low, high = float(line["median_cost_low"]), float(line["median_cost_high"])
        known = math.isfinite(low) and math.isfinite(high)
        return about(value, 4) + (
            f" ({about(low, 4)} to {about(high, 4)})" if known else " (too few rows for an interval)"
        )
    return f"{int(value):,}" if value == int(value) and key not in ("mean_cost",) else about(value, 4)


def _share(value: float, largest: float) -> float:
    return 0.0 if not math.isfinite(value) else round(min(1.0, max(0.0, value / largest)), 4)


def _table(frame: pd.DataFrame | None) -> dict[str, Any] | None:
    if frame is None:
        return None
    return {
        "heads": [str(name).replace("_", " ") for name in frame.columns],
        "rows": [[_word(value) for value in line] for line in frame.itertuples(index=False)],
    }


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value != value else about(float(value), 4)
