"""Splits on the 0/1 columns of bins: "x lies in this bin" is no half line, but a chain of cuts on the raw number.

The nodes of a split that turns back (left, right, left) are two cuts, and what lies below the side that occurs twice is
there twice. Below a cut the range of the number is known, so that later splits on its bins need fewer cuts, often none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.trace import Way
from elbowroom.numerics import Bools, Floats, next_up

MOST_NODES: Final = 4_000_000


@dataclass(frozen=True)
class Plan:
    """What one node asks: piece k of inner column ``column``, up to cuts[k], goes left iff left[k]; the last piece is open."""

    column: int
    cuts: Floats  # (pieces - 1,)
    left: Bools  # (pieces,)

    def runs(self, low: float, high: float) -> list[tuple[float, bool]]:
        """Ends and sides of the pieces that meet (low, high], neighbours of one side joined."""
        ends = [*self.cuts.tolist(), np.inf]
        starts = [-np.inf, *self.cuts.tolist()]
        pieces = [(e, bool(s)) for b, e, s in zip(starts, ends, self.left, strict=True) if b < high and e > low]
        return [p for i, p in enumerate(pieces) if i + 1 == len(pieces) or pieces[i + 1][1] != p[1]]


def stands_for_missing(preprocessing: Preprocessing) -> Floats:
    """For every inner column: a number that a missing one is binned like, since a step in front of the bins puts one in its
    place. NaN: there are no bins, or missing numbers are refused."""
    trace, inputs, values = preprocessing.trace, preprocessing.inputs, preprocessing.at_missing
    found = np.full(inputs.width, np.nan)
    if values is None:
        return found
    for v in np.unique(trace.variable[trace.way == Way.BINNED]):
        mine = np.flatnonzero((trace.variable == v) & (trace.way == Way.BINNED))
        cuts = trace.bins[int(mine[0])]
        assert cuts is not None
        pieces = np.stack([preprocessing.values_of(int(j)) for j in mine], axis=1)
        alike = np.flatnonzero((pieces == values[v, mine]).all(axis=1))
        if alike.size:
            inside = np.append(cuts, next_up(cuts[-1]) if cuts.size else 0.0)
            found[inputs.starts[v]] = inside[alike[0]]
    return found


class Expansion:
    """Copies trees node by node; planned nodes become chains of cuts."""

    def __init__(self, plans: dict[int, Plan], left: list[int], right: list[int]) -> None:
        self.plans, self.left, self.right = plans, left, right
        self.source: list[int] = []  # the old node that a new one copies; a cut of a chain copies its planned node
        self.feature: list[int | None] = []  # None: as in the old node
        self.cut: list[float] = []
        self.children: list[tuple[int, int]] = []

    def copy(self, root: int) -> int:
        """The new root of a tree."""
        place = len(self.source)
        self._reserve(root)
        stack: list[tuple[int, int, dict[int, tuple[float, float]]]] = [(root, place, {})]
        while stack:
            node, here, known = stack.pop()
            plan = self.plans.get(node)
            if plan is None:
                if self.left[node] >= 0:
                    self._two(here, [(self.left[node], known), (self.right[node], known)], stack)
                continue
            low, high = known.get(plan.column, (-np.inf, np.inf))
            runs = plan.runs(low, high)
            child = self.left[node] if runs[0][1] else self.right[node]
            if len(runs) == 1:  # decided already: the child takes this place
                self.source[here] = child
                stack.append((child, here, known))
                continue
            end = runs[0][0]
            self.feature[here], self.cut[here] = plan.column, end
            below, above = {**known, plan.column: (low, end)}, {**known, plan.column: (end, high)}
            self._two(here, [(child, below), (node, above)], stack)
        return place

    def _reserve(self, node: int) -> int:
        if len(self.source) >= MOST_NODES:
            raise UnsupportedModel(
                "splits on the 0/1 columns of bins make these trees larger than can be read; fit with "
                'KBinsDiscretizer(encode="ordinal"), which trees split just as well'
            )
        self.source.append(node)
        self.feature.append(None)
        self.cut.append(0.0)
        self.children.append((-1, -1))
        return len(self.source) - 1

    def _two(
        self,
        here: int,
        below: list[tuple[int, dict[int, tuple[float, float]]]],
        stack: list[tuple[int, int, dict[int, tuple[float, float]]]],
    ) -> None:
        places = [self._reserve(node) for node, _ in below]
        self.children[here] = (places[0], places[1])
        stack += [(node, place, known) for (node, known), place in zip(below, places, strict=True)]
