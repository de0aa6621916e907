"""The widest intervals around a certified centre, and what is proven about each of their ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

from elbowroom.numerics import Floats
from elbowroom.result.origin import Day
from elbowroom.result.region import Region
from elbowroom.visible import named, visible

OPEN_FROM: Final = 2.0**20  # in units of the scale: an interval that reaches so far beyond the centre is called open


class End(Enum):
    """Why an interval ends where it does; the value is what a user may read.

    Attributes:
        MAXIMAL: One step further the class changes, or depends on rounding.
        BOUND: The bound of the feature.
        FIXED: The feature does not move.
        OPEN: No end was found.
        UNPROVED: Not proven to be the last.

    Examples:
        >>> [side.end.name for side in explainer.widen(region).highs]
        ['BOUND', 'MAXIMAL', 'BOUND']
    """

    MAXIMAL = "one step further the class changes, or depends on rounding"
    BOUND = "the bound of the feature"
    FIXED = "the feature does not move"
    OPEN = "open: no end was found"
    UNPROVED = "not proven to be the last"

    @property
    def is_maximal(self) -> bool:
        """True if the interval cannot be longer at this end."""
        return self in (End.MAXIMAL, End.BOUND, End.FIXED)


@dataclass(frozen=True, eq=False)
class Side:
    """One end of one interval. ``witness`` is a point that fails, or whose score is so close to the border that the
    rounding of a sum decides, and that lies beyond this end alone: all its other coordinates are inside the region.
    Without one, nothing beyond the end was refuted. ``said`` is what the model says of it: its label, or its value."""

    end: End
    witness: Floats | None = None
    said: object = None


@dataclass(frozen=True, eq=False, repr=False)
class Widening:
    """The widest certified box around a centre, and how each of its ends was settled.

    A side is maximal given all other sides: moving its end alone to the next float (or whole number) lets a point in that
    has another class, or that is too close to a tie for a proof. Several sides together may still be traded against each
    other; ``order`` of `Explainer.widen` does.

    Attributes:
        region: The wide region. The ends are those of ``region.body``; the room of ``region`` states them as widths, which
            may fall short of an end by less than the next larger width.
        lows: How each lower side ends, by inner column.
        highs: How each upper side ends, by inner column.
        seconds: That it took.

    Examples:
        >>> explainer.widen(region).table.loc[0, "low_end"]
        'one step further the class changes, or depends on rounding'
    """

    region: Region
    lows: tuple[Side, ...]
    highs: tuple[Side, ...]
    seconds: float

    def __bool__(self) -> bool:
        return True

    @property
    def proved(self) -> bool:
        """True if no end of any interval is left in doubt."""
        return all(side.end is not End.UNPROVED for side in (*self.lows, *self.highs))

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per feature; ``fails_at`` is a value beyond the end at which a point of another class is known."""
        frame = self.region.intervals.copy()
        first = [column.start for column in self.region.space.raw]  # the sides of a category are those of its members
        for name, all_sides in (("low", self.lows), ("high", self.highs)):
            sides = [all_sides[f] for f in first]
            frame[f"{name}_maximal"] = [side.end.is_maximal for side in sides]
            frame[f"{name}_end"] = [side.end.value for side in sides]
            frame[f"{name}_fails_at"] = [
                np.nan if side.witness is None else float(side.witness[f]) for f, side in zip(first, sides, strict=True)
            ]
        return frame

    def sentence(self) -> str:
        """The wide region in plain words, and which of its ends are not proven to be the last.

        Returns:
            One text.
        """
        return f"{self.region.sentence()} {self.proof()}"

    def proof(self) -> str:
        """Which ends are proven to be the last ones possible, in words.

        Returns:
            One sentence.
        """
        doubtful = [
            f"{what} {named(name)}"
            for name, low, high in zip(self.region.space.names, self.lows, self.highs, strict=True)
            for what, side in (("below", low), ("above", high))
            if side.end is End.UNPROVED
        ]
        given = "while all other ends stay where they are"
        if not doubtful:
            return f"No end of an interval can be moved further {given}."
        shown = ", ".join(doubtful[:3]) + (f" and at {len(doubtful) - 3} more ends" if len(doubtful) > 3 else "")
        return f"Longer intervals were neither found nor ruled out {shown}; no other end can be moved further {given}."

    def __str__(self) -> str:
        return f"{self.region}\n{self.proof()}"

    def __repr__(self) -> str:
        maximal = sum(side.end.is_maximal for side in (*self.lows, *self.highs))
        return f"<Widening: {maximal} of {2 * len(self.lows)} ends maximal, {self.seconds:.2g} s>"

    def to_html(self, path: str | Path | None = None, *, case: str = "", date: Day = None, model: str = "") -> str:
        """The page of the wide region, which also knows points of another outcome beyond its ends.

        Args:
            path: Where it is written, if given.
            case: A number or name of the case, for its head.
            date: For its head; None: today.
            model: What its head calls the model.

        Returns:
            The page.
        """
        return self.region.to_html(path, widening=self, case=case, date=date, model=model)

    def _repr_html_(self) -> str:
        """What a notebook shows: the wide region, and which of its ends are the last."""
        from html import escape

        return f"{self.region._repr_html_()}<p>{escape(visible(self.proof()))}</p>"

    def to_json(self, path: str | Path | None = None, *, timings: bool = True) -> str:
        """The wide region with its certificate, as `Region.to_json` writes it; `Region.from_json` reads it.

        Args:
            path: Where it is written, if given.
            timings: Whether seconds and the steps of the trace are kept.

        Returns:
            The text.
        """
        return self.region.to_json(path, timings=timings)
