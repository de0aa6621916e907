"""A menu in words, as a table and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.present.display import CENTER, INK, PLAIN, QUIET, Display
from elbowroom.present.few import how_many
from elbowroom.present.frontier import MARK_OF, NAME_OF
from elbowroom.present.numbers import about, below, percent_up
from elbowroom.present.text import sentence
from elbowroom.result.menu import Menu, changes_of
from elbowroom.result.no_region import NoRegion
from elbowroom.result.region import Region
from elbowroom.result.status import Status
from elbowroom.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURE_SIZE: Final = (7.0, 4.2)


def menu_lines(menu: Menu) -> list[str]:
    """One line per number of changes: with one change: ... (distance 0.438, proven closest)."""
    lines: list[tuple[int, str]] = []
    for changes in menu.none:
        lines.append((changes, f"With {_changes(changes)} none exists; this is proven."))
    for changes, missing in menu.unknown.items():
        bound = (
            f" (if there is one, it is at {below(missing.lower_bound, 4)} or farther)"
            if missing.lower_bound > 0.0
            else ""
        )
        lines.append((changes, f"With {_changes(changes)} none was found in time{bound}."))
    for region in menu:
        changes = changes_of(region)
        last = region.distance == menu.closest.distance if isinstance(menu.closest, Region) else False
        lines.append((changes, f"With {_changes(changes)}: {sentence(region)} ({_distance(region, last)})"))
    return [text for _, text in sorted(lines, key=lambda line: line[0])]


def menu_text(menu: Menu) -> str:
    """What ``print(menu)`` shows."""
    if not menu and isinstance(menu.closest, NoRegion) and not menu.limited:
        return menu.closest.sentence()
    return "\n".join(menu_lines(menu))


def _changes(changes: int) -> str:
    return how_many(changes).replace("features", "changes").replace("feature", "change")


def _distance(region: Region, last: bool) -> str:
    proven = region.status is Status.OPTIMAL
    of_all = "the closest of all" if last else "the closest with so few changes"
    word = of_all if proven else f"a closer one may exist, by at most {percent_up(region.gap)}"
    return f"distance {about(region.distance, 4)}, {word}"


def menu_fragment(menu: Menu) -> str:
    """For notebooks: the lines as a list. Nothing is fetched."""
    items = "".join(f"<li>{escape(visible(line))}</li>" for line in menu_lines(menu))
    return f'<ul class="elbowroom-menu">{items}</ul>' if items else f"<p>{escape(visible(menu_text(menu)))}</p>"


@dataclass(eq=False)
class MenuDisplay(Display):
    """Distance over the number of changes: data first, drawn later.

    Attributes:
        changes: Of each region.
        distance: Of each region.
        lower_bound: Of each region.
        status: Of each region, the name of a `Status`.
        none: Numbers of changes with which it is proven that none exists.
        distance_label: Of the axis.
        title: Above the picture.
        ax: The last axes drawn on.

    Examples:
        >>> MenuDisplay.from_menu(explainer.menu(row)).plot().figure.savefig("menu.svg")
    """

    changes: Floats
    distance: Floats
    lower_bound: Floats
    status: tuple[str, ...]
    none: Floats  # numbers of changes with which none exists
    distance_label: str
    title: str = "What fewer changes cost"
    ax: Axes | None = None

    @classmethod
    def from_menu(cls, menu: Menu) -> MenuDisplay:
        """What is to be drawn of a menu.

        Args:
            menu: The answer of `Explainer.menu`.

        Returns:
            A display, not yet drawn.
        """
        if not isinstance(menu, Menu):
            raise InputError(
                f"a display is made from the Menu that explainer.menu gives, not from {type(menu).__name__}"
            )
        return cls(
            changes=np.array([changes_of(region) for region in menu], dtype=np.float64),
            distance=np.array([region.distance for region in menu], dtype=np.float64),
            lower_bound=np.array([region.lower_bound for region in menu], dtype=np.float64),
            status=tuple(region.status.name for region in menu),
            none=np.array(sorted(menu.none), dtype=np.float64),
            distance_label=f"distance from the factual ({menu.closest.metric.value})",
        )

    @property
    def size(self) -> tuple[float, float]:
        """Of a figure of its own, in inches."""
        return FIGURE_SIZE

    def _draw(self, ax: Axes) -> None:
        if self.changes.size:
            ax.step(self.changes, self.distance, where="post", color=CENTER, linewidth=1.3, zorder=2)
        for name, mark in MARK_OF.items():
            chosen = np.array([status == name for status in self.status], dtype=bool)
            if chosen.any():
                face = CENTER if name == Status.OPTIMAL.name else "white"
                ax.plot(
                    self.changes[chosen], self.distance[chosen], mark, markersize=7, color=CENTER, label=NAME_OF[name],
                    markerfacecolor=face, markeredgewidth=1.6, zorder=4,
                )  # fmt: skip
        for changes, low, high in zip(self.changes, self.lower_bound, self.distance, strict=True):
            if low < high:
                ax.plot([changes, changes], [low, high], color=CENTER, linewidth=1.4, alpha=0.7, zorder=3)
        label: str | None = "no region exists (proven)"
        for changes in self.none:
            ax.axvspan(changes - 0.4, changes + 0.4, color=QUIET, alpha=0.25, linewidth=0, zorder=1, label=label)
            label = None
        ax.set_xlabel("features that change", color=INK, **PLAIN)
        ax.set_ylabel(visible(self.distance_label), color=INK, **PLAIN)
        ax.set_title(visible(self.title), loc="left", fontsize=11.5, color=INK, **PLAIN)
        ticks = sorted({*self.none.tolist(), *self.changes.tolist()})
        ax.set_xticks(ticks)
        ax.set_ylim(bottom=0.0)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        if ax.get_legend_handles_labels()[0]:
            ax.legend(frameon=True, framealpha=0.9, edgecolor="none", fontsize=9, loc="best")
