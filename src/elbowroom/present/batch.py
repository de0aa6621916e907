"""A batch and its audit as pages and pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from elbowroom.batch.audit import ALL, Audit
from elbowroom.batch.result import BatchResult
from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.present.account import account_of
from elbowroom.present.display import CENTER, INK, INTERVAL, PLAIN, QUIET, Display
from elbowroom.present.numbers import about
from elbowroom.present.report import templates
from elbowroom.present.text import range_heading, sentence_of, status_line
from elbowroom.result import Region
from elbowroom.version import __version__
from elbowroom.visible import brief, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURE_SIZE: Final = (8.5, 4.4)
MOST_LEVERS: Final = 12
MOST_ROWS: Final = 5_000  # of an overview; the table on disk has them all
MOST_TOLD: Final = 500  # rows of an overview with a section of their own, to which their line leads
MOST_NAMED: Final = 200  # rows of an audit that are listed by name
HEADS: Final = {
    "rows": "Rows",
    "has_recourse": "Have recourse",
    "no_recourse_proven": "Proven to have none",
    "out_of_time": "Out of time",
    "errors": "Could not be asked",
    "not_asked": "Not asked yet",
    "mean_cost": "Mean cost",
    "median_changes": "Median number of changes",
    "median_cost": "Median cost",
}
ROOM_HEADS: Final = {
    "radius": "Radius",
    "group": "Group",
    "has_recourse": "Have recourse",
    "no_recourse_proven": "Proven to have none",
    "cost_10": "Cost, 10 % quantile",
    "cost_50": "Cost, median",
    "cost_90": "Cost, 90 % quantile",
}
SLIP_HEADS: Final = {
    "group": "Group",
    "plain_asked": "Plain counterfactuals",
    "plain_lost": "of them lost",
    "plain_undecided": "undecided",
    "plain_median_kept": "kept, median",
    "region_asked": "Centres of regions",
    "region_lost": "of them lost",
    "region_undecided": "undecided",
    "region_median_kept": "kept, median",
}


@dataclass(eq=False)
class BatchDisplay(Display):
    """What share of rows has recourse within a distance, and which columns carry it: data first, drawn later.

    Attributes:
        distances: Of all regions, sorted.
        levers: In how many regions each column has to change, most used first.
        rows: All rows of the batch.
        ax: The last axes drawn on; the levers stand beside it.

    Examples:
        >>> BatchDisplay.from_batch(explainer.explain_many(X.head(3))).plot().figure.savefig("batch.svg")
    """

    distances: Floats
    levers: pd.Series
    rows: int
    ax: Axes | None = None

    @classmethod
    def from_batch(cls, batch: BatchResult) -> BatchDisplay:
        """What is to be drawn of a batch.

        Args:
            batch: The answer of `Explainer.explain_many`.

        Returns:
            A display, not yet drawn.
        """
        if not isinstance(batch, BatchResult):
            raise InputError(f"a display is made from the BatchResult of explain_many, not from {type(batch).__name__}")
        distances = np.sort(batch.frame["distance"].dropna().to_numpy(dtype=np.float64))
        return cls(distances, batch.levers().head(MOST_LEVERS), len(batch))

    @property
    def size(self) -> tuple[float, float]:
        """Of a figure of its own, in inches."""
        return FIGURE_SIZE

    def _draw(self, ax: Axes) -> None:
        from mpl_toolkits.axes_grid1 import make_axes_locatable

        share = np.arange(1, self.distances.size + 1) / max(1, self.rows)
        ax.step(np.r_[0.0, self.distances], np.r_[0.0, share], where="post", color=CENTER, linewidth=1.8)
        ax.fill_between(
            np.r_[0.0, self.distances], np.r_[0.0, share], step="post", color=INTERVAL, alpha=0.25, linewidth=0
        )
        ax.set_ylim(0.0, 1.02)
        ax.set_xlim(left=0.0)
        ax.set_xlabel("distance from the row", color=INK)
        ax.set_ylabel(f"share of {self.rows:,} rows with recourse", color=INK)
        ax.set_title("What recourse costs", loc="left", fontsize=11.5, color=INK)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        used = self.levers[self.levers > 0]
        if len(used):
            self._draw_levers(make_axes_locatable(ax).append_axes("right", size="62%", pad=0.5), used)

    def _draw_levers(self, beside: Axes, used: pd.Series) -> None:
        """One bar per column, its name above it, so that long names need no margin."""
        beside.barh(range(len(used)), used.to_numpy(), color=INTERVAL, height=0.34)
        for place, (name, count) in enumerate(used.items()):
            text = brief(visible(str(name)), 40)
            beside.text(0.0, place - 0.24, f"{text}: {count:,}", fontsize=8, color=INK, va="bottom", **PLAIN)
        beside.set_ylim(len(used) - 0.5, -0.9)
        beside.set_yticks([])
        beside.tick_params(labelsize=8, labelcolor=QUIET)
        beside.locator_params(axis="x", integer=True, nbins=5)
        beside.set_title("rows in which a column has to change", loc="left", fontsize=9, color=QUIET)
        for side in ("top", "right", "left"):
            beside.spines[side].set_visible(False)


def picture(batch: BatchResult) -> str:
    """The picture as SVG, to stand inside a page."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=FIGURE_SIZE, layout="constrained")
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
    lines = frame.head(MOST_ROWS)[["status", "distance", "sentence", "error"]]
    shown = [
        {
            "label": _label(label),
            "status": str(status),
            "distance": "" if distance != distance else about(float(distance), 4),
            "sentence": sentence or error or "",
            "first": status not in statuses,
            "told": place < MOST_TOLD and status in ("OPTIMAL", "CERTIFIED", "NONE_EXISTS", "UNKNOWN"),
        }
        for statuses, (place, (label, status, distance, sentence, error)) in zip(
            _before(lines["status"]), enumerate(lines.itertuples(name=None)), strict=True
        )
    ]
    return _rendered(
        "batch.html.j2",
        title=f"{len(batch):,} rows explained",
        summary=_summary(batch),
        picture=Markup(picture(batch)) if frame["distance"].notna().any() else "",
        rows=shown,
        sections=[_section(batch, i, str(row["label"])) for i, row in enumerate(shown) if row["told"]],
        more=max(0, len(frame) - MOST_ROWS),
        version=__version__,
    )


def _before(statuses: pd.Series) -> Iterator[frozenset[str]]:
    """For every row, the statuses that occur before it: the first of each has a link of its own."""
    seen: frozenset[str] = frozenset()
    for status in statuses:
        yield seen
        seen |= {str(status)}


def _section(batch: BatchResult, place: int, label: str) -> dict[str, Any]:
    """One row in full: its sentence, and the table of its region."""
    answer = batch.regions[place]
    section: dict[str, Any] = {"place": place, "label": label, "told": [], "heading": "", "status": ""}
    if isinstance(answer, Region):
        account = account_of(answer)
        heading = range_heading(account)
        section["told"] = [line for line in account.ordered if not line.is_still]
        section |= {"sentence": sentence_of(account), "heading": heading[:1].upper() + heading[1:]}
        return section | {"status": status_line(answer)}
    return section | {"sentence": "" if answer is None else answer.sentence()}


def _label(label: object) -> str:
    """What a row is called; the parts of a MultiIndex are separated."""
    return " / ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def fragment(batch: BatchResult) -> str:
    """What a notebook shows."""
    return _rendered("batch_fragment.html.j2", title=f"{len(batch):,} rows", summary=_summary(batch))


def _summary(batch: BatchResult) -> list[dict[str, str]]:
    return [
        {
            "status": str(status),
            "rows": f"{int(line['rows']):,}",
            "share": _percent(float(line["share"])),
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
    # outcomes that no row had say nothing
    keys = [key for key in HEADS if key not in ("errors", "not_asked") or bool(audit.table[key].any())]
    groups = []
    for name, line in audit.table.iterrows():
        low, high = float(line["median_cost_low"]), float(line["median_cost_high"])
        groups.append(
            {
                "name": str(name),
                "cells": [_cell(key, line) for key in keys],
                "middle": _share(float(line["median_cost"]), largest),
                "low": _share(max(low, 0.0), largest),
                "high": _share(min(high, largest), largest),
                "known": math.isfinite(float(line["median_cost"])),
            }
        )
    levers = audit.levers[audit.levers.fillna(0.0).max(axis=1) > 0.0].head(MOST_LEVERS)
    return {
        "heads": [HEADS[key] for key in keys],
        "groups": groups,
        "lever_heads": [str(name) for name in levers.columns],
        "levers": [
            (str(name), [_percent(v) if v == v else "" for v in line])
            for name, line in zip(levers.index, levers.to_numpy(), strict=True)
        ],
        "rooms": _table(audit.rooms, ROOM_HEADS),
        "slips": _table(None if audit.slips is None else audit.slips.reset_index(), SLIP_HEADS),
        "sigma": audit.sigma,
        "all": ALL,
        "largest": _short(largest),
        "who": [
            (title, [_label(label) for label in who[:MOST_NAMED]], len(who), max(0, len(who) - MOST_NAMED))
            for title, who in (
                ("Proven to have no recourse", audit.no_recourse),
                ("Out of time: neither a region nor a proof that there is none", audit.out_of_time),
            )
        ],
    }


def _cell(key: str, line: pd.Series) -> tuple[str, str]:
    """A figure, and below it its interval."""
    value = float(line[key])
    if value != value:
        return "", ""
    if key == "has_recourse" and line["share"] == line["share"]:
        return f"{int(value):,} ({_percent(line['share'])})", _between(line, "share", _percent)
    if key == "no_recourse_proven" and line["no_recourse_share"] == line["no_recourse_share"]:
        return f"{int(value):,} ({_percent(line['no_recourse_share'])})", _between(line, "no_recourse", _percent)
    if key == "median_cost":
        known = math.isfinite(line["median_cost_low"]) and math.isfinite(line["median_cost_high"])
        return _short(value), _between(line, "median_cost", _short) if known else "too few rows"
    return f"{int(value):,}" if value == int(value) and key != "mean_cost" else _short(value), ""


def _between(line: pd.Series, name: str, word: Callable[[float], str]) -> str:
    return f"{word(float(line[f'{name}_low']))} to {word(float(line[f'{name}_high']))}"


def _short(value: float) -> str:
    """A cost of many rows: what stands behind the third digit says nothing."""
    return f"{value:.3g}"


def _percent(value: float) -> str:
    return f"{100.0 * value:.1f} %"


def _share(value: float, largest: float) -> float:
    return 0.0 if not math.isfinite(value) else round(min(1.0, max(0.0, value / largest)), 4)


def _table(frame: pd.DataFrame | None, heads: Mapping[str, str]) -> dict[str, Any] | None:
    if frame is None:
        return None
    return {
        "heads": list(heads.values()),
        "rows": [
            [_word(name, value) for name, value in zip(heads, line, strict=True)]
            for line in frame[list(heads)].itertuples(index=False)
        ],
    }


def _word(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if value != value:
        return ""
    if name.endswith("_kept"):
        return _percent(float(value))
    return f"{int(value):,}" if float(value) == int(value) else _short(float(value))
