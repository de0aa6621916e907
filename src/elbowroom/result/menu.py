"""A menu: the closest answer with one change, two, three, ..., up to the closest of all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import pandas as pd

from elbowroom.disk import write_whole
from elbowroom.problem.rules import AtMost
from elbowroom.result.no_region import NoRegion
from elbowroom.result.origin import Day
from elbowroom.result.region import Region
from elbowroom.result.status import Status
from elbowroom.visible import visible, visible_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from elbowroom.present.menu import MenuDisplay

COLUMNS = ("changes", "distance", "lower_bound", "status", "what changes")


class Menu(Sequence[Region]):
    """Regions by their number of changes, in increasing order, each closer than those before it.

    Args:
        regions: Those worth showing.
        limited: The answers with at most 1, 2, ... changes, as far as they were asked for.
        closest: The answer of all, without a limit on changes.

    Examples:
        >>> menu = explainer.menu(row, room=Box({"salary": 100}))
        >>> len(menu), menu[0].changes, menu.none
        (1, 1, {})
    """

    def __init__(
        self,
        regions: Sequence[Region],
        limited: Sequence[Region | NoRegion],
        closest: Region | NoRegion,
    ) -> None:
        self._regions = tuple(regions)
        self.limited = tuple(limited)
        self.closest = closest

    @overload
    def __getitem__(self, place: int) -> Region: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Region]: ...

    def __getitem__(self, place: int | slice) -> Region | Sequence[Region]:
        return self._regions[place]

    def __len__(self) -> int:
        return len(self._regions)

    @property
    def none(self) -> dict[int, NoRegion]:
        """By their largest number of changes: what is proven not to exist."""
        return self._without(Status.NONE_EXISTS)

    @property
    def unknown(self) -> dict[int, NoRegion]:
        """By their largest number of changes: what was neither found nor ruled out in time."""
        return self._without(Status.UNKNOWN)

    def _without(self, status: Status) -> dict[int, NoRegion]:
        found = {}
        for answer in self.limited:
            if isinstance(answer, NoRegion) and answer.status is status:
                found[min(rule.changes for rule in answer.rules if isinstance(rule, AtMost))] = answer
        return found

    @property
    def answers(self) -> dict[int, Region | NoRegion]:
        """By number of changes, in increasing order: the regions, and what does not exist or was not found."""
        found: dict[int, Region | NoRegion] = {**self.none, **self.unknown}
        found |= {changes_of(region): region for region in self}
        return dict(sorted(found.items()))

    @property
    def table(self) -> pd.DataFrame:
        """One row per number of changes that was asked about; a distance of inf where it is proven that there is none, and
        NaN where nothing was found."""
        return pd.DataFrame([_row(*entry) for entry in self.answers.items()], columns=list(COLUMNS))

    def __str__(self) -> str:
        from elbowroom.present.menu import menu_text

        return visible_lines(menu_text(self))

    def __repr__(self) -> str:
        shown = ", ".join(f"{changes_of(region)}: {region.distance:.6g}" for region in self)
        return f"<Menu of {len(self)} regions, changes: distance {{{shown}}}>"

    def _repr_html_(self) -> str:
        from elbowroom.present.menu import menu_fragment

        return menu_fragment(self)

    def to_html(self, path: str | Path | None = None, *, case: str = "", date: Day = None, model: str = "") -> str:
        """One self-contained page with a tab for each number of changes.

        Args:
            path: Where it is written, if given.
            case: A number or name of the case, for its head.
            date: For its head; None: today.
            model: What its head calls the model.

        Returns:
            The page.
        """
        from elbowroom.present.report import menu_page

        text = menu_page(self, case=case, date=date, model=model)
        if path is not None:
            write_whole(path, text)
        return text

    def plot(self, ax: Axes | None = None) -> MenuDisplay:
        """Distance over the number of changes.

        Args:
            ax: On these axes; None: on a new figure.

        Returns:
            The display; ``.ax`` are the axes drawn on, ``.figure`` the figure.
        """
        from elbowroom.present.menu import MenuDisplay

        return MenuDisplay.from_menu(self).plot(ax)


def changes_of(region: Region) -> int:
    """Features that the centre changes, as `AtMost` counts them."""
    return int(region.space.changed(region.factual_values, region.body.center).sum())


def _row(changes: int, answer: Region | NoRegion) -> tuple[Any, ...]:
    if isinstance(answer, Region):
        what = ", ".join(visible(str(name)) for name in answer.intervals.loc[answer.changed, "feature"])
        return changes, answer.distance, answer.lower_bound, answer.status.name, what
    distance = math.inf if answer.status is Status.NONE_EXISTS else math.nan
    return changes, distance, answer.lower_bound, answer.status.name, ""
