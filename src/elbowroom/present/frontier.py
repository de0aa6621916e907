"""The picture of a frontier: how much farther the answer lies, the more room is wanted around it.

Between two radii the distance is only known to lie between its values there, because more room is never closer: that
is the light band. Where jumps were looked for, the line is broken at each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.present.display import CENTER, FACTUAL, INK, INTERVAL, PLAIN, QUIET, Display
from elbowroom.present.text import joined
from elbowroom.problem.distances import Distance
from elbowroom.result.frontier import Breakpoint, Frontier
from elbowroom.result.status import Status
from elbowroom.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARK_OF: Final = {Status.OPTIMAL.name: "o", Status.CERTIFIED.name: "s"}
NAME_OF: Final = {
    Status.OPTIMAL.name: "closest region (proven)",
    Status.CERTIFIED.name: "certified region (a closer one may exist)",
}
FIGURE_SIZE: Final = (7.5, 4.8)
GONE: Final = "#D9D9D9"
VISIBLE: Final = 1e-3  # relative gap from which the bound below a point is drawn


@dataclass(eq=False)
class FrontierDisplay(Display):
    """Distance over radius, with the band between both bounds: data first, drawn later.

    Attributes:
        radius: In increasing order.
        distance: For each; inf: no region exists; NaN: nothing was found.
        lower_bound: For each.
        status: For each, the name of a `Status`.
        jumps: Where the distance is proven to jump.
        radius_label: Of the axis.
        distance_label: Of the axis.
        title: Above the picture.
        ax: The last axes drawn on.

    Examples:
        >>> display = FrontierDisplay.from_frontier(explainer.frontier(row, radii=[0.01, 0.02]))
        >>> display.plot().figure.savefig("frontier.svg")
    """

    radius: Floats
    distance: Floats  # inf: no region exists; NaN: nothing was found
    lower_bound: Floats
    status: tuple[str, ...]
    jumps: tuple[Breakpoint, ...]
    radius_label: str
    distance_label: str
    title: str = "What more room costs"
    ax: Axes | None = None

    @classmethod
    def from_frontier(cls, frontier: Frontier) -> FrontierDisplay:
        """What is to be drawn of a frontier.

        Args:
            frontier: The answer of `Explainer.frontier`.

        Returns:
            A display, not yet drawn.
        """
        if not isinstance(frontier, Frontier):
            raise InputError(
                f"a display is made from the Frontier that explainer.frontier gives, not from {type(frontier).__name__}"
            )
        metric: Distance = frontier.answers[0].metric
        rules = frontier.answers[0].rules
        return cls(
            radius=frontier["radius"].to_numpy(dtype=np.float64),
            distance=frontier["distance"].to_numpy(dtype=np.float64),
            lower_bound=frontier["lower_bound"].to_numpy(dtype=np.float64),
            status=tuple(frontier["status"]),
            jumps=frontier.breakpoints,
            radius_label=f"radius of the room ({frontier.unit})",
            distance_label=f"distance from the factual ({metric.value})",
            title="What more room costs" + (f", if {joined([rule.words for rule in rules])}" if rules else ""),
        )

    @property
    def size(self) -> tuple[float, float]:
        """Of a figure of its own, in inches."""
        return FIGURE_SIZE

    def _draw(self, ax: Axes) -> None:
        found = np.isfinite(self.distance)
        self._draw_band(ax, found)
        self._draw_line(ax, found)
        for name, mark in MARK_OF.items():
            chosen = found & (np.array(self.status) == name)
            if chosen.any():
                hollow = name != Status.OPTIMAL.name
                ax.plot(
                    self.radius[chosen], self.distance[chosen], mark, markersize=6, color=CENTER, label=NAME_OF[name],
                    markerfacecolor="white" if hollow else CENTER, markeredgewidth=1.6, zorder=4,
                )  # fmt: skip
        self._draw_jumps(ax)
        self._draw_rest(ax)
        ax.set_xlabel(visible(self.radius_label), color=INK, **PLAIN)
        ax.set_ylabel(visible(self.distance_label), color=INK, **PLAIN)
        ax.set_title(visible(self.title), loc="left", fontsize=11.5, color=INK, **PLAIN)
        ax.set_ylim(bottom=0.0)
        ax.margins(x=0.02)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        ax.grid(axis="y", color="#E6E6E6", linewidth=0.8, zorder=0)
        ax.set_axisbelow(True)
        if ax.get_legend_handles_labels()[0]:
            ax.legend(frameon=True, framealpha=0.9, edgecolor="none", fontsize=9, loc="best")

    def _draw_band(self, ax: Axes, found: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        """Between neighbouring radii: from the bound proven for the smaller one to the distance of the larger one."""
        known = list(zip(self.radius, self.lower_bound, self.distance, strict=True))
        for jump in self.jumps:
            known += [(jump.radius, jump.distance, jump.distance)]
            known += [(jump.beyond, jump.distance + jump.jump, jump.distance_beyond)]
        label: str | None = "proven to lie in here"
        for (left, low, near), (right, _, high) in pairwise(sorted(known)):
            if np.isfinite(near) and np.isfinite(high):
                ax.fill_between(
                    [left, right], low, high, color=INTERVAL, alpha=0.28, linewidth=0, zorder=1, label=label
                )
                label = None
        for r, low, high in zip(self.radius[found], self.lower_bound[found], self.distance[found], strict=True):
            if high - low > VISIBLE * high:
                ax.plot([r, r], [low, high], color=CENTER, linewidth=1.4, alpha=0.7, zorder=3)

    def _draw_line(self, ax: Axes, found: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        """Through the known points, broken at the jumps."""
        x, y = list(self.radius[found]), list(self.distance[found])
        for jump in self.jumps:
            x += [jump.radius, jump.radius, jump.beyond]
            y += [jump.distance, np.nan, jump.distance_beyond if np.isfinite(jump.distance_beyond) else np.nan]
        order = np.argsort(x, kind="stable")
        ax.plot(np.array(x)[order], np.array(y)[order], color=CENTER, linewidth=1.3, zorder=2)

    def _draw_jumps(self, ax: Axes) -> None:
        label: str | None = "jump (proven)"
        for jump in self.jumps:
            if np.isfinite(jump.distance_beyond):
                ax.plot(
                    [jump.radius, jump.beyond], [jump.distance, jump.distance_beyond], color=FACTUAL, linewidth=1.5,
                    linestyle=(0, (3, 2)), zorder=3, label=label,
                )  # fmt: skip
                label = None

    def _draw_rest(self, ax: Axes) -> None:
        """Where no region exists, and where nothing is known."""
        none = np.isinf(self.distance)
        if none.any():
            begin = max([j.beyond for j in self.jumps if np.isinf(j.distance_beyond)], default=self.radius[none][0])
            width = self.radius[-1] - self.radius[0] or 1.0
            ax.axvspan(
                begin, self.radius[-1] + 0.02 * width, facecolor=GONE, edgecolor=QUIET, hatch="//", alpha=0.45,
                linewidth=0, zorder=1, label="no region exists (proven)",
            )  # fmt: skip
        unknown = np.isnan(self.distance)
        if unknown.any():
            ax.plot(
                self.radius[unknown], self.lower_bound[unknown], "^", color=QUIET, markersize=7, zorder=4,
                label="not found in time; at least this far",
            )  # fmt: skip
