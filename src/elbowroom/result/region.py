"""The answer. A `Region` cannot be made without the judge's certificate for exactly its body.

The methods for text, plots and files (`sentence`, `plot`, `to_html`, ...) call `elbowroom.present`, which is
imported only when one of them is used; the data of an answer does not depend on it.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from elbowroom.disk import written
from elbowroom.errors import InputError
from elbowroom.numerics import Bools, Floats
from elbowroom.problem.body import Body
from elbowroom.problem.causes import actions_of
from elbowroom.problem.class_names import NO_NAMES, ClassNames
from elbowroom.problem.distances import Distance, Metric
from elbowroom.problem.keeping import Probability
from elbowroom.problem.parsing import check_seed
from elbowroom.problem.rooms import Room
from elbowroom.problem.rules import Rule, conditions_of
from elbowroom.problem.shapes import is_round
from elbowroom.problem.space import Space
from elbowroom.problem.target import Target
from elbowroom.result.attestation import Attestation
from elbowroom.result.certificate import Certificate
from elbowroom.result.few import Few
from elbowroom.result.kept import KeptProbability
from elbowroom.result.origin import Day, Origin, is_closed
from elbowroom.result.own_words import (
    changed_columns,
    ends_of,
    intervals_of,
    lies_in,
    series_of,
    table_of,
    with_missing,
)
from elbowroom.result.proof import Proof, write_proof
from elbowroom.result.standing import Standings, standings_of
from elbowroom.result.status import Status, Step
from elbowroom.visible import visible, visible_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from elbowroom.present.map import MapDisplay
    from elbowroom.present.plots import RegionDisplay
    from elbowroom.result.menu import Menu
    from elbowroom.result.plane import Plane
    from elbowroom.result.widening import Widening

NO_MODEL = "this region was read from a file or copied, without the model that it is about; use"


@dataclass(frozen=True, eq=False, repr=False)
class Region:
    """A set of inputs around a centre that all get the wanted outcome, as close to the factual as proven. Counts as True.

    Attributes:
        status: OPTIMAL or CERTIFIED.
        space: What the features mean.
        factual_values: The row of the question, as inner floats.
        predicted: The label that the model gives the factual, or the value that a regressor predicts.
        target: The wanted outcome.
        room: That was asked for.
        metric: What closest means.
        distance: Of the centre from the factual, in units of the scales.
        lower_bound: No region is closer than this: proven.
        certificate: That every point has the wanted outcome.
        method: How it was found.
        seconds: That it took.
        source: Which model was read.
        trace: One `Step` per iteration.
        counters: What the search counted, for benchmarks.
        rules: What is proven about closer regions is proven among centres that obey these.
        rules_known: False: read from a file of schema 1, which does not keep them.
        origin: Seed, time limit and versions; None: read from a file that does not keep them.
        missing: Columns of numbers that the row lacks.
        filled: Columns that the row lacks and the region fills in.
        labels: What classes are called.
        keeps: What slips of the centre were asked to keep.
        kept: What is proven about that: two bounds.
        few: Where few changes were preferred: the closest answer of all.
        rounding: A certificate of the room around a centre with the decimals of the data, where needed.
        rounding_kept: What is proven about slips of that centre, where something was promised.
        proof: For strangers, where one was asked for.
        attestation: What whoever files it says about it; see `attested`.

    Examples:
        >>> region.changes, bool(region.contains(region.sample(100)).all())
        (1, True)
    """

    status: Status
    space: Space
    factual_values: Floats
    predicted: object  # the label the model gives the factual, or the value that a regressor predicts
    target: Target
    room: Room
    metric: Distance
    distance: float
    lower_bound: float
    certificate: Certificate
    method: str
    seconds: float
    source: str = ""  # which model was read, human-readable
    trace: tuple[Step, ...] = field(default=())
    counters: dict[str, float] = field(default_factory=dict)  # what the search counted, for benchmarks; not in the JSON
    _widen: Callable[..., Widening] | None = field(default=None)  # of the explainer it came from; not in the JSON
    _plane: Callable[..., Plane] | None = field(default=None)
    rules: tuple[Rule, ...] = field(default=())
    rules_known: bool = True
    origin: Origin | None = None  # None: read from a file that does not keep it
    missing: tuple[str, ...] = ()  # columns of numbers that the row lacks; 0 in ``factual_values``, NaN in ``factual``
    filled: tuple[str, ...] = ()  # columns that the row lacks and the region fills in; typical in ``factual_values``
    labels: ClassNames = NO_NAMES  # what classes are called
    few: Few | None = None  # where few changes were preferred: the closest answer of all
    rounding: Certificate | None = None  # of the room around a centre with the decimals of the data, where needed
    rounding_kept: KeptProbability | None = (
        None  # what is proven about slips of that centre, where something was promised
    )
    proof: Proof | None = None  # where one was asked for; not in the JSON
    attestation: Attestation | None = None  # what whoever files it says about it; see `attested`
    keeps: Probability | None = None  # what slips of the centre were asked to keep
    kept: KeptProbability | None = None  # and what is proven about that

    def __post_init__(self) -> None:
        if not isinstance(self.certificate, Certificate):
            raise TypeError("a Region needs a Certificate of the judge")
        if self.status not in (Status.OPTIMAL, Status.CERTIFIED):
            raise ValueError(f"a Region cannot have status {self.status.name}")
        if self.keeps is not None:
            proven = (self.kept,) if self.rounding is None else (self.kept, self.rounding_kept)
            if any(each is None or each.lower < self.keeps.probability for each in proven):
                raise ValueError("a Region with a promise needs a proof that it is kept")
        claimed = conditions_of(self.rules, self.space, self.factual_values).further
        if any(each.key not in self.certificate.further for each in claimed):
            raise ValueError("a Region whose rules ask for further margins needs a Certificate that lists them")

    def __bool__(self) -> bool:
        return True

    def __getstate__(self) -> dict[str, object]:
        """Copies and pickles leave the explainer behind: it holds the whole model."""
        return {**self.__dict__, "_widen": None, "_plane": None}

    @property
    def body(self) -> Body:
        """The set itself, in inner floats."""
        return self.certificate.body

    @cached_property
    def rounded(self) -> Region | None:
        """The region that is shown where the closest one has more digits than the data: the same room around a rounded
        centre, certified as well, at a distance of its own. None where none is needed, or none was accepted."""
        if self.rounding is None:
            return None
        distance = Metric.of(self.space, self.metric)(self.factual_values, self.rounding.body.center)
        lower_bound = min(self.lower_bound, distance)
        closed = is_closed(distance, lower_bound, self.tolerance or 0.0)
        return replace(
            self,
            status=Status.OPTIMAL if closed else Status.CERTIFIED,
            certificate=self.rounding,
            distance=distance,
            lower_bound=lower_bound,
            rounding=None,
            rounding_kept=None,
            kept=self.rounding_kept,
            proof=None,  # of another region
        )

    @cached_property
    def actions(self) -> pd.Series | None:
        """What to do to each column, where the space has causes: the rest of the move follows by itself. None without causes."""
        causes, space = self.space.causes, self.space
        if causes is None:
            return None
        done = actions_of(causes, space.names, self.factual_values, self.body.center)
        numbers = space.group_of < 0
        return pd.Series(
            done[numbers], [n for n, is_one in zip(space.names, numbers, strict=True) if is_one], name="action"
        )

    @cached_property
    def center(self) -> pd.Series:
        """The centre by column of the user's table; categories by their labels, NaN for what is missing."""
        return series_of(self.space, self.body.center, self.missing, "center")

    @cached_property
    def factual(self) -> pd.Series:
        """The row of the question by column of the user's table."""
        return series_of(self.space, self.factual_values, (*self.missing, *self.filled), "factual")

    @cached_property
    def lower(self) -> pd.Series:
        """The lower end by column; for a column of categories the one it has, or a tuple of those it may have."""
        return ends_of(self.space, self.body, self.body.lower, self.missing, "lower")

    @cached_property
    def upper(self) -> pd.Series:
        """The upper end by column, as `lower`."""
        return ends_of(self.space, self.body, self.body.upper, self.missing, "upper")

    @property
    def inner_row(self) -> Floats:
        """The row of the question as the model is asked: inner floats, NaN for numbers that are missing and stay so, what
        is typical for those that are filled in."""
        return with_missing(self.space, self.factual_values, self.missing)

    @property
    def radius(self) -> float | None:
        """The scalar radius that was asked for; None for a room with a radius per feature."""
        return self.room.size

    @property
    def gap(self) -> float:
        """(distance - lower bound) / distance: how much closer, at most, another region could be."""
        if self.distance <= 0:
            return 0.0
        return max(0.0, (self.distance - self.lower_bound) / self.distance)

    @property
    def closest_distance(self) -> float:
        """Of the closest answer of all that was found: the region's own, unless few changes were preferred to it."""
        return self.distance if self.few is None else self.few.closest_distance

    @property
    def tolerance(self) -> float | None:
        """The gap up to which the search calls its answer OPTIMAL; None if the file that it was read from does not say."""
        return None if self.origin is None else self.origin.tolerance

    @property
    def changed(self) -> Bools:
        """Which columns of the user's table differ between factual and centre. Not all of them have to: see
        ``intervals.has_to_change``."""
        return changed_columns(self.space, self.factual_values, self.body.center, self.filled)

    @cached_property
    def standings(self) -> Standings:
        """What the region asks of each feature: that it changes, that it stays within limits, or nothing."""
        return standings_of(self.space, self.body, self.factual_values, self.missing, self.filled)

    @property
    def changes(self) -> int:
        """How many features have to change, because their present value lies outside; a group of categories is one."""
        return self.standings.changes(self.space)

    @cached_property
    def intervals(self) -> pd.DataFrame:
        """One row per column of the user's table: ``has_to_change`` and ``kind`` ("has to change", "must stay within",
        "does not matter") say what is asked of it; ``categories`` (where there are labels) holds those it may have."""
        return intervals_of(self.space, self.body, self.factual_values, self.standings, self.missing, self.filled)

    @property
    def is_box(self) -> bool:
        """True if the region is the product of its intervals."""
        return not is_round(self.body.shape)

    def contains(self, rows: object) -> Bools:
        """Which rows lie in the region (names are matched; exact). Values that are missing in the row of the question are missing
        in every row of the region.

        Args:
            rows: A table, or one row.

        Returns:
            True for each row that does.
        """
        frame = rows if isinstance(rows, (pd.DataFrame, np.ndarray)) and getattr(rows, "ndim", 0) == 2 else None
        if frame is None:
            X = self.space.row(rows, allow_missing=bool(self.missing))[None]
            return lies_in(self.space, self.body, X, np.ones((1, 1), dtype=np.bool_), self.missing)
        return lies_in(self.space, self.body, *self.space.read(frame, "contains"), self.missing)

    def sample(self, n: int, seed: int = 0) -> pd.DataFrame:
        """Random points of the region, as a table that the model's own predict takes.

        Args:
            n: How many.
            seed: Fixes them.

        Returns:
            One row per point.

        Examples:
            >>> bool(model.predict(region.sample(100)).all())
            True
        """
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
            raise InputError(f"sample({n!r}): give a number of points of at least 0")
        check_seed(seed)
        return table_of(self.space, self.body.sample(n, seed), self.missing)

    def widen(self, *, order: Sequence[str] | None = None, time_limit: float = 60.0) -> Widening:
        """The widest intervals around the centre, each end proven maximal or reported as unproven. See `Explainer.widen`.

        Args:
            order: Columns that grow first.
            time_limit: Seconds.

        Returns:
            A `Widening`.
        """
        if self._widen is None:
            raise InputError(f"{NO_MODEL} explainer.widen(region)")
        return self._widen(self, order=order, time_limit=time_limit)

    # ---- words and pictures -----------------------------------------------------------------------------------------
    def sentence(self, digits: int | None = None) -> str:
        """The region in plain words. Every number is rounded inwards: the numbers shown are certified as shown.

        Args:
            digits: So many decimals of the closest region itself; None: the decimals of the data.

        Returns:
            One text.
        """
        from elbowroom.present.text import sentence

        return visible(sentence(self, digits))

    def __str__(self) -> str:
        from elbowroom.present.text import full_text

        return visible_lines(full_text(self))

    def __repr__(self) -> str:
        what = f"{self.changes} {'feature has' if self.changes == 1 else 'features have'} to change"
        return f"<Region {self.status.name}, distance {self.distance:.6g}, {what}>"

    def _repr_html_(self) -> str:
        from elbowroom.present.report import fragment

        return fragment(self)

    def plot(self, ax: Axes | None = None) -> RegionDisplay:
        """One bar per feature that has to change: the value now, the centre and the certified interval.

        Args:
            ax: On these axes; None: on a new figure.

        Returns:
            The display; ``.ax`` are the axes drawn on, ``.figure`` the figure.
        """
        from elbowroom.present.plots import RegionDisplay

        return RegionDisplay.from_region(self).plot(ax)

    def map(self, first: str, second: str) -> MapDisplay:
        """What the model says over two columns of numbers, everything else at the centre. See `Explainer.map`.

        Args:
            first: The column from left to right.
            second: The column from bottom to top.

        Returns:
            A `MapDisplay`: exact cells for trees, else a grid.
        """
        from elbowroom.present.map import MapDisplay

        if self._plane is None:
            raise InputError(f"{NO_MODEL} explainer.map(region, {first!r}, {second!r})")
        return MapDisplay.from_plane(self._plane(self, first, second))

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        menu: Menu | None = None,
        widening: Widening | None = None,
        case: str = "",
        date: Day = None,
        model: str = "",
    ) -> str:
        """One self-contained page. It can be moved, and says "certified" exactly where the region is.

        Args:
            path: Where it is written, if given.
            menu: Adds a tab for each number of changes.
            widening: Adds the points beyond ends.
            case: A number or name of the case, for its head.
            date: For its head; None: today.
            model: What its head calls the model.

        Returns:
            The page.
        """
        from elbowroom.present.report import page

        return written(page(self, menu=menu, widening=widening, case=case, date=date, model=model), path)

    # ---- files -----------------------------------------------------------------------------------------------
    def to_json(self, path: str | Path | None = None, *, timings: bool = True) -> str:
        """The whole answer with its certificate; floats are exact.

        Args:
            path: Where it is written, if given.
            timings: Whether seconds and the steps of the trace are kept: equal answers differ in nothing else.

        Returns:
            The text.
        """
        from elbowroom.result.schema import write_answer

        return written(write_answer(self, timings), path)

    def attested(
        self, case: str = "", purpose: str = "", *, model: str = "", time: datetime.datetime | str | None = None
    ) -> Region:
        """The same answer for the files: with what it was made for, under the checksum of its file and on its page.

        Args:
            case: The number or name of the case.
            purpose: What it is made for, in your words.
            model: What the model is called; the file's SHA-256 stands in ``origin``.
            time: When, with a time zone; None for now.

        Returns:
            A copy with an `Attestation`. Without one, equal questions give equal files.
        """
        from elbowroom.result.attested import attested_proof

        answer = replace(self, attestation=Attestation.of(case, purpose, model, time))
        return replace(answer, proof=attested_proof(answer))

    def to_proof(self, path: str | Path) -> None:
        """Write the proof that ``explain(..., proof=True)`` made, for ``python -m elbowroom_checker``.

        Args:
            path: Where it is written.
        """
        write_proof(self.proof, path)

    @classmethod
    def from_json(cls, text_or_path: str | Path) -> Region:
        """Read what `to_json` wrote. A file in which anything was changed is refused.

        Args:
            text_or_path: The text or the file.

        Returns:
            An equal region, without its model.
        """
        from elbowroom.result.schema import read_answer

        answer = read_answer(text_or_path)
        if not isinstance(answer, cls):
            raise InputError("this file says that there is no region; read it with NoRegion.from_json")
        return answer
