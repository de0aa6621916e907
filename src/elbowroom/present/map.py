"""A map of two columns: what the model says in every cell, the value now, the centre and the region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, assert_never

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats, Ints
from elbowroom.present.display import CENTER, FACTUAL, INK, PLAIN, QUIET, Display
from elbowroom.present.outcomes import outcome, promise, quoted
from elbowroom.problem.shapes import Shape
from elbowroom.result.plane import Plane
from elbowroom.visible import named, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURE_SIZE: Final = (7.0, 5.4)
WANTED: Final = "#BFE3D6"  # light tints of Okabe and Ito's colours
OTHERS: Final = ("#F5CFB5", "#F3E9A6", "#E7CFE0", "#D5D5D5", "#CFE6F6", "#F0DFC8")
MOST_VECTORS: Final = 4_000  # cells that are drawn one by one; more become an image inside the picture
MOST_CLASSES: Final = 12  # that a legend names


@dataclass(eq=False)
class MapDisplay(Display):
    """What the model says over two columns: data first, drawn later.

    Attributes:
        edges: Where the cells of either column begin and end.
        cells: The place of the outcome of each among ``names``.
        names: Of the outcomes.
        wanted: The place of the promised one among them.
        now: The value now; None where one of the two is missing in the row.
        center: Of the region.
        outline: Corners of the section of the region, in order.
        labels: Of the axes.
        exact: Whether the cells are those of the model, or a grid.
        title: Above the picture.
        ax: The last axes drawn on.

    Examples:
        >>> region.map("salary", "debt").plot().note
        'Exact: in each cell every tree takes one way, up to and including its right and upper edge.'
    """

    edges: tuple[Floats, Floats]
    cells: Ints
    names: tuple[str, ...]  # of the outcomes
    wanted: int | None  # the place of the promised one among them
    now: tuple[float, float] | None  # None where one of the two is missing in the row
    center: tuple[float, float]
    outline: Floats  # corners of the section of the region, in order
    labels: tuple[str, str]
    exact: bool
    title: str
    ax: Axes | None = None

    @classmethod
    def from_plane(cls, plane: Plane) -> MapDisplay:
        """What is to be drawn of a plane.

        Args:
            plane: What an explainer knows of two columns.

        Returns:
            A display, not yet drawn.
        """
        if not isinstance(plane, Plane):
            raise InputError(
                f"a map is made from a Plane, not from {type(plane).__name__}; use region.map(first, second)"
            )
        region, (f, g) = plane.region, plane.columns
        features = [region.space.features[each] for each in plane.columns]
        target = region.target
        if target.each or target.values is not None:
            names: tuple[str, ...] = (
                ("another answer", promise(target, region.labels))
                if target.each
                else ("another value", outcome(target))
            )
            wanted: int | None = 1
        else:
            names = tuple(quoted(region.labels(label)) for label in plane.outcomes)
            wanted = next((i for i, label in enumerate(plane.outcomes) if label == target.label), None)
        known = not any(feature.name in region.filled for feature in features)
        return cls(
            edges=plane.edges,
            cells=plane.cells,
            names=names,
            wanted=wanted,
            now=(float(region.factual_values[f]), float(region.factual_values[g])) if known else None,
            center=(float(region.body.center[f]), float(region.body.center[g])),
            outline=section(plane),
            labels=(_label(features[0]), _label(features[1])),
            exact=plane.exact,
            title="What the model says, everything else at the centre of the region",
        )

    @property
    def size(self) -> tuple[float, float]:
        """Of a figure of its own, in inches."""
        return FIGURE_SIZE

    def _draw(self, ax: Axes) -> None:
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch, Polygon

        colours = self._colours()
        ax.pcolormesh(
            *self.edges, self.cells, cmap=ListedColormap(colours), vmin=-0.5, vmax=len(colours) - 0.5,
            rasterized=self.cells.size > MOST_VECTORS, zorder=1,
        )  # fmt: skip
        ax.add_patch(Polygon(self.outline, closed=True, fill=False, edgecolor=CENTER, linewidth=2.0, zorder=3))
        ax.plot(*self.center, marker="D", markersize=6.5, color=CENTER, linestyle="", zorder=4)
        handles: list[Any] = [Patch(color=colours[i], label=visible(self.names[i])) for i in self._present()]
        handles.append(Polygon([(0, 0)], fill=False, edgecolor=CENTER, linewidth=2.0, label="certified region"))
        handles += ax.plot([], [], marker="D", color=CENTER, linestyle="", label="its centre")
        if self.now is not None:
            style: dict[str, Any] = {
                "marker": "o",
                "markersize": 8,
                "markerfacecolor": "white",
                "markeredgewidth": 2,
                "linestyle": "",
            }
            handles += ax.plot(*self.now, color=FACTUAL, zorder=5, label="now", **style)
        ax.set_xlim(self.edges[0][0], self.edges[0][-1])
        ax.set_ylim(self.edges[1][0], self.edges[1][-1])
        ax.set_xlabel(self.labels[0], color=INK, **PLAIN)
        ax.set_ylabel(self.labels[1], color=INK, **PLAIN)
        ax.set_title(visible(self.title), loc="left", fontsize=11.5, color=INK, **PLAIN)
        legend = ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=9)
        for text in legend.get_texts():
            text.set_parse_math(False)
        ax.annotate(self.note, (0.0, 0.0), (0, -44), "axes fraction", "offset points", fontsize=8.5, color=QUIET)

    @property
    def note(self) -> str:
        """How the colours are known."""
        if self.exact:
            return "Exact: in each cell every tree takes one way, up to and including its right and upper edge."
        return f"On a grid of {self.cells.shape[1]} x {self.cells.shape[0]} points: between them nothing is known."

    def _present(self) -> list[int]:
        """Outcomes that occur, the wanted one first."""
        found = [int(i) for i in np.unique(self.cells)]
        return sorted(found, key=lambda i: i != self.wanted)[:MOST_CLASSES]

    def _colours(self) -> list[str]:
        others = iter(range(len(self.names)))
        return [WANTED if i == self.wanted else OTHERS[next(others) % len(OTHERS)] for i in range(len(self.names))]


def section(plane: Plane) -> Floats:
    """The outline of the region in the plane through its centre: a rectangle, or what its bounds leave of an ellipse or a
    rhombus. Drawn inside the region: corners of an ellipse lie on it."""
    body, columns = plane.region.body, list(plane.columns)
    low, high, center = body.lower[columns], body.upper[columns], body.center[columns]
    match body.shape:
        case Shape.BOX:
            corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
            return np.asarray(np.where(corners == 0, low, high))
        case Shape.BALL:
            angle = np.linspace(0.0, 2.0 * np.pi, 181)[:-1]
            unit = np.column_stack([np.cos(angle), np.sin(angle)])
        case Shape.DIAMOND:
            unit = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
        case _:
            assert_never(body.shape)
    budget = np.isin(columns, body.round_columns)
    return np.asarray(np.clip(center + unit * np.where(budget, body.axes[columns], 0.0), low, high))


def _label(feature: Any) -> str:
    return f"{named(feature.name)} ({named(feature.unit)})" if feature.unit else named(feature.name)
