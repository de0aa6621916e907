"""One stage of preprocessing, and where it has a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from elbowroom.importers.trace import Trace
from elbowroom.numerics import Bools, Floats, Ints, from_ordinal, ordinal

_NEIGHBOURS = (*range(-16, 17), -1000, -100, 100, 1000)  # floats away from a cut


class Stage(Protocol):
    """One stage of preprocessing: how it computes, and what it is in real numbers."""

    def apply(self, table: Any) -> Any:
        """The original's own arithmetic, a frame or an array in and out; overflow is cut back to the largest float, which
        keeps the order."""
        ...

    def trace(self, before: Trace) -> Trace: ...

    @property
    def description(self) -> str: ...


def through(stage: Stage, before: Trace) -> Trace:
    """What comes out of a stage, with the way in which tables get there."""
    made = stage.trace(before)
    return made if before.midway is None else replace(made, midway=before.midway.behind(stage.apply))


def inside(stage: Stage, table: Any) -> Bools:
    """Rows at which a stage has a value: all, unless the stage says otherwise."""
    ask: Callable[[Any], Bools] | None = getattr(stage, "inside", None)
    return np.ones(len(table), dtype=np.bool_) if ask is None else ask(table)


def last_inside(works: Callable[[Floats], bool], start: Floats, place: int, far: float) -> float:
    """The last number of one column, from ``start`` towards ``far``, at which all stages have a value; infinite if it is far."""
    row = start[None].copy()

    def at(x: float) -> bool:
        row[0, place] = x
        return works(row)

    if at(far):
        return float(np.copysign(np.inf, far))
    within, beyond = int(ordinal(start[place])), int(ordinal(far))
    while abs(beyond - within) > 1:
        middle = (within + beyond) // 2
        within, beyond = (middle, beyond) if at(float(from_ordinal(np.int64(middle)))) else (within, middle)
    return float(from_ordinal(np.int64(within)))


def rank_within(group: Ints) -> Ints:
    """For every entry: how many earlier entries have the same value."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    first = np.searchsorted(ordered, ordered, side="left")
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = np.arange(len(group)) - first
    return rank


def steps_back(holds: Callable[[Floats], Bools], edge: Floats, curved: Ints) -> int | None:
    """The first cut about which a curve is not monotone in floating point, if any: each is tried on its neighbours."""
    if not curved.size:
        return None
    place = ordinal(np.where(np.isfinite(edge), edge, 0.0))
    for step in _NEIGHBOURS:
        wrong = holds(from_ordinal(place + step)) != (step <= 0)
        if wrong[curved].any():
            return int(curved[np.argmax(wrong[curved])])
    return None
