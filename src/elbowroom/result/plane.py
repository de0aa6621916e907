"""What a model says over two columns, with everything else held: the data of a map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import Floats, Ints
from elbowroom.result.region import Region


@dataclass(frozen=True, eq=False)
class Plane:
    """The outcome of every cell of a rectangle in the plane of two columns; all others are at the centre of ``region``.

    ``exact``: the cells are those in which no tree of the model takes another way, so that the outcome is the same all
    over a cell, which reaches from just above its left (lower) edge up to and including its right (upper) one. Otherwise
    ``edges`` are half way between the points of a grid, and the outcome is that of the point alone.
    """

    region: Region
    columns: tuple[int, int]
    edges: tuple[Floats, Floats]  # the ends of the rectangle and the inner edges, increasing
    outcomes: tuple[object, ...]  # labels; for values of a regressor True where they are those wanted
    cells: Ints  # (second, first): place in ``outcomes``
    exact: bool

    def at(self, first: float, second: float) -> object:
        """The outcome of the cell that holds a point of the rectangle."""
        place = [
            int(np.searchsorted(edges[1:-1], value, side="left"))
            for edges, value in zip(self.edges, (first, second), strict=True)
        ]
        return self.outcomes[int(self.cells[place[1], place[0]])]
