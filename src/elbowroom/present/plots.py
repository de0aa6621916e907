"""The picture of a region: one row per feature that has to change, with the value now, the centre and the certified
interval; below, how many others have to be kept, or do not matter."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Final

from elbowroom.errors import InputError
from elbowroom.present.account import Account, Line, Sort, account_of
from elbowroom.present.display import CENTER, FACTUAL, INK, INTERVAL, PLAIN, QUIET, TRACK, Display
from elbowroom.present.outcomes import outcome, promise, told
from elbowroom.present.text import round_note
from elbowroom.result.region import Region
from elbowroom.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS: Final = 30


def drawn_lines(account: Account) -> tuple[Line, ...]:
    """Features that have to change; if none does, those that have room."""
    chosen = account.changing or tuple(line for line in account.lines if line.moving) or account.lines
    return chosen[:MOST_ROWS]


@dataclass(eq=False)
class RegionDisplay(Display):
    """The picture of a region: data first, drawn later. Each row has its own scale, from bound to bound.

    Attributes:
        account: What is to be told of the region.
        title: Above the picture.
        ax: The last axes drawn on.

    Examples:
        >>> RegionDisplay.from_region(region).plot().figure.savefig("region.svg")
    """

    account: Account
    title: str
    ax: Axes | None = None

    @classmethod
    def from_region(cls, region: Region) -> RegionDisplay:
        """What is to be drawn of a region.

        Args:
            region: The answer of `Explainer.explain`.

        Returns:
            A display, not yet drawn.
        """
        if not isinstance(region, Region):
            raise InputError(f"a display is made from the Region of explain, not from {type(region).__name__}")
        account = account_of(region)
        place = f"Inside the {account.shape.value} (blue: its extent)" if account.is_round else "Anywhere in the blue"
        then = (
            promise(region.target, region.labels, region.certificate.keepers)
            if region.target.each
            else f"it {outcome(region.target, region.labels)}"
        )
        return cls(account, f"{told(region.predicted, region.target, region.labels)}. {place}, {then}.")

    @property
    def size(self) -> tuple[float, float]:
        """Of a figure of its own, in inches."""
        return 8.0, 1.9 + 0.78 * len(drawn_lines(self.account))

    def _draw(self, ax: Axes) -> None:
        lines = drawn_lines(self.account)
        for row, line in enumerate(lines):
            _draw_line(ax, row, line)
        ax.set_ylim(len(lines) - 0.35, -0.75)
        ax.set_xlim(-0.03, 1.03)
        ax.set_yticks(range(len(lines)), [_row_name(line) for line in lines], **PLAIN)
        ax.tick_params(axis="y", length=0, labelsize=10, labelcolor=INK)
        ax.set_xticks([])
        for side in ("top", "right", "bottom", "left"):
            ax.spines[side].set_visible(False)
        ax.set_title(fill(visible(self.title), 78), loc="left", fontsize=11.5, color=INK, pad=26, **PLAIN)
        _legend(ax)
        ax.set_xlabel(_footnote(self.account, lines), fontsize=8.5, color=QUIET, loc="left", **PLAIN)


def _row_name(line: Line) -> str:
    return fill(f"{line.name} ({line.unit})" if line.unit else line.name, 24)


def _draw_line(ax: Axes, row: int, line: Line) -> None:
    if line.extent is None or line.sort is Sort.YES_NO:
        _draw_category(ax, row, line)
        return
    e = line.extent
    low, high, center, factual = (e.share(v) for v in (e.low, e.high, e.center, e.factual))
    ax.barh(row, 1.0, height=0.16, color=TRACK, zorder=1)
    ax.barh(row, max(high - low, 0.004), left=low, height=0.34, color=INTERVAL, zorder=2)
    if line.changed:
        ax.annotate(
            "",
            xy=(center, row),
            xytext=(factual, row),
            zorder=3,
            arrowprops={"arrowstyle": "-", "color": QUIET, "linewidth": 1.0, "linestyle": (0, (2, 2))},
        )
    ax.plot(factual, row, marker="o", markersize=8, markerfacecolor="white", markeredgewidth=2, color=FACTUAL, zorder=5)
    ax.plot(center, row, marker="D", markersize=6.5, color=CENTER, zorder=4)
    _label(ax, (low + high) / 2, row - 0.26, line.range_text, "bottom", "bold")
    _label(ax, factual, row + 0.24, f"now {line.with_unit(line.factual)}", "top")


def _draw_category(ax: Axes, row: int, line: Line) -> None:
    style = {"boxstyle": "round,pad=0.4", "linewidth": 1.6}
    now = ax.text(
        0.0, row, fill(line.factual, 32), va="center", fontsize=9.5, color=INK, zorder=4,
        bbox={**style, "facecolor": "white", "edgecolor": FACTUAL}, **PLAIN,
    )  # fmt: skip
    then = ax.annotate(
        fill(line.range_text, 36), xy=(1.0, 0.5), xycoords=now, xytext=(44, 0), textcoords="offset points",
        va="center", fontsize=9.5, fontweight="bold", color=INK, zorder=4,
        bbox={**style, "facecolor": "#D6ECFA", "edgecolor": CENTER}, **PLAIN,
    )  # fmt: skip
    ax.annotate(
        "", xy=(0.0, 0.5), xycoords=then, xytext=(1.0, 0.5), textcoords=now, zorder=3,
        arrowprops={"arrowstyle": "->", "color": QUIET, "linewidth": 1.3, "shrinkA": 8, "shrinkB": 8},
    )  # fmt: skip


def _label(ax: Axes, x: float, y: float, text: str, va: str, weight: str = "normal") -> None:
    """A label that stays inside the row: flushed to the side that it is near."""
    side = "left" if x < 0.15 else "right" if x > 0.85 else "center"
    at = 0.0 if side == "left" and x < 0.06 else 1.0 if side == "right" and x > 0.94 else x
    ax.text(at, y, text, ha=side, va=va, fontsize=9, fontweight=weight, color=INK, zorder=6, **PLAIN)


def _legend(ax: Axes) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [
        Line2D(
            [], [], marker="o", markersize=8, markerfacecolor="white", markeredgewidth=2, color=FACTUAL, linestyle=""
        ),
        Line2D([], [], marker="D", markersize=6.5, color=CENTER, linestyle=""),
        Patch(color=INTERVAL),
    ]
    ax.legend(
        handles, ["now", "centre of the region", "certified interval"], loc="lower left",
        bbox_to_anchor=(0.0, 1.0), ncols=3, frameon=False, fontsize=9, borderaxespad=0.2, handletextpad=0.5,
        borderpad=0.0,
    )  # fmt: skip


def _footnote(account: Account, lines: tuple[Line, ...]) -> str:
    rest = [line for line in account.lines if line not in lines]
    still = sum(line.is_still for line in rest)
    counts = [
        (sum(line.has_to_change for line in rest), "more has to change", "more have to change"),
        (
            sum(line in account.staying for line in rest) - still,
            "must stay within its range",
            "must stay within theirs",
        ),
        (still, "stays as it is", "stay as they are"),
        (sum(line in account.free for line in rest), "does not matter", "do not matter"),
    ]
    parts = [
        f"{count} {'feature' if count == 1 else 'features'} {one if count == 1 else many}."
        for count, one, many in counts
        if count
    ]
    if account.is_round:
        parts.append(round_note(account))
    parts.append("Each row runs over its own range.")
    return fill(" ".join(parts), 110)
