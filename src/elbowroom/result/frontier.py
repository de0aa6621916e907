"""Distance against radius: what more room costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from elbowroom.result.no_region import NoRegion
from elbowroom.result.region import Region
from elbowroom.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from elbowroom.present.frontier import FrontierDisplay

COLUMNS = ("radius", "status", "distance", "lower_bound", "gap", "certified", "seconds", "method")
NO_GAP = 1e-9  # a relative gap that floating point makes, not the search


@dataclass(frozen=True)
class Breakpoint:
    """A jump of the distance between two radii.

    The two radii are neighbouring floats (`exact`); only where rounding lets a jump happen in several steps, or next to
    radius 0, are they up to 2^-50 of the largest radius apart.

    Attributes:
        radius: The last radius before the jump.
        beyond: The first radius after it.
        distance: Of a certified region for ``radius``.
        distance_beyond: Of a region for ``beyond``; inf: none exists.
        jump: Every region for ``beyond`` is at least so much farther away.

    Examples:
        >>> front = explainer.frontier(row, [0.01, 0.5], breakpoints=True)
        >>> [point.exact for point in front.breakpoints]
        [True, True]
    """

    radius: float
    beyond: float
    distance: float
    distance_beyond: float  # of the region found for ``beyond``; inf if none exists
    jump: float  # proven: lower bound beyond minus distance before

    @property
    def exact(self) -> bool:
        """True if no float lies between the two radii."""
        return bool(self.beyond == math.nextafter(self.radius, math.inf))


class Frontier(pd.DataFrame):
    """One row per radius, in increasing order.

    An ordinary DataFrame with the columns radius, status, distance, lower_bound, gap, certified, seconds and method.
    ``distance`` is inf where it is proven that no region exists and NaN where nothing was found. Frames derived from it
    (slices, copies) are plain DataFrames.

    Attributes:
        answers: The answers themselves, one per row.
        breakpoints: Jumps that are proven; empty unless they were asked for.
        breakpoints_complete: True: proven that no other jump of at least ``smallest_jump`` lies between.
        smallest_jump: That was asked for.
        unit: What a radius counts, for the axis of a plot.
        interrupted: By the user, before everything was answered.

    Examples:
        >>> front = explainer.frontier(row, radii=[0.01, 0.02])
        >>> front["certified"].tolist(), front.answers[0].changes
        ([True, True], 1)
    """

    _metadata: ClassVar[list[str]] = [
        "answers",
        "breakpoints",
        "breakpoints_complete",
        "smallest_jump",
        "unit",
        "interrupted",
    ]

    answers: tuple[Region | NoRegion, ...]
    breakpoints: tuple[Breakpoint, ...]  # jumps that are proven; empty unless they were asked for
    breakpoints_complete: bool | None  # True: proven that no other jump of at least smallest_jump lies between
    smallest_jump: float | None
    unit: str  # what a radius counts, for the axis of a plot
    interrupted: bool  # by the user, before everything was answered

    @classmethod
    def of(
        cls,
        radii: Sequence[float],
        answers: Sequence[Region | NoRegion],
        unit: str,
        breakpoints: Sequence[Breakpoint] = (),
        breakpoints_complete: bool | None = None,
        smallest_jump: float | None = None,
        interrupted: bool = False,
    ) -> Frontier:
        """The frame of these answers.

        Args:
            radii: In increasing order.
            answers: One for each.
            unit: What a radius counts.
            breakpoints: Jumps that are proven.
            breakpoints_complete: Whether there are no others.
            smallest_jump: That was asked for.
            interrupted: By the user.

        Returns:
            A frontier.
        """
        rows = [_row(radius, answer) for radius, answer in zip(radii, answers, strict=True)]
        frame = cls(rows, columns=list(COLUMNS))
        frame.answers = tuple(answers)
        frame.unit, frame.interrupted = unit, interrupted
        frame.breakpoints = tuple(breakpoints)
        frame.breakpoints_complete, frame.smallest_jump = breakpoints_complete, smallest_jump
        return frame

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame

    @property
    def jumps(self) -> pd.DataFrame:
        """The breakpoints as a frame."""
        return pd.DataFrame(
            [{**vars(point), "exact": point.exact} for point in self.breakpoints],
            columns=["radius", "beyond", "distance", "distance_beyond", "jump", "exact"],
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: what the whole says, and the table."""
        from html import escape

        from elbowroom.present.frontier_words import sentence

        table = _readable(self)._repr_html_()  # type: ignore[operator]
        return f"<p>{escape(visible(sentence(self)))}</p>{table or ''}"

    def plot(self, ax: Axes | None = None) -> FrontierDisplay:  # type: ignore[override]
        """Distance over radius, with the band between both bounds; jumps are drawn as jumps.

        Args:
            ax: On these axes; None: on a new figure.

        Returns:
            The display; ``.ax`` are the axes drawn on, ``.figure`` the figure.
        """
        from elbowroom.present.frontier import FrontierDisplay

        return FrontierDisplay.from_frontier(self).plot(ax)


def _readable(frame: pd.DataFrame) -> pd.DataFrame:
    """A gap of a few roundings is told as none."""
    plain = pd.DataFrame(frame)
    return plain.assign(gap=plain["gap"].where(~(plain["gap"] < NO_GAP), 0.0)) if "gap" in plain else plain


def _row(radius: float, answer: Region | NoRegion) -> tuple[Any, ...]:
    if isinstance(answer, Region):
        distance, gap = answer.distance, answer.gap
    else:
        distance, gap = (math.inf, 0.0) if math.isinf(answer.lower_bound) else (math.nan, math.nan)
    return (
        radius, answer.status.name, distance, answer.lower_bound, gap, isinstance(answer, Region), answer.seconds,
        visible(answer.method),
    )  # fmt: skip
