"""Several answers to one question: a menu of few changes, the fewest near the closest, distance against radius, and
answers of different kinds."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from elbowroom.errors import InputError, warn
from elbowroom.explainer.answer import answer, single_class
from elbowroom.explainer.attempt import Attempt
from elbowroom.explainer.method import Method
from elbowroom.models import Model
from elbowroom.numerics import TOLERANCES
from elbowroom.problem import AtMost, Box, Distance, NotAll, RecourseProblem, Room, Rule, Space
from elbowroom.problem.conditions import changes_in_words
from elbowroom.problem.on import On
from elbowroom.problem.parsing import PLAIN_NUMBER, check_run, number, parse_bool, parse_enum, seconds_of
from elbowroom.problem.radii import parse_jump, parse_radii, parse_unit
from elbowroom.result import Certificate, Frontier, Menu, NoRegion, Origin, Region
from elbowroom.search.contract import Clock, Ending, Engine, OnProgress
from elbowroom.search.diverse import Found, Partition, changed_by, is_separable, names_of
from elbowroom.search.frontier import INTERRUPTED, Known
from elbowroom.search.menu import Until, courses, fewest, report_with, worth_showing

if TYPE_CHECKING:
    from elbowroom.explainer.explainer import Explainer
    from elbowroom.result import Widening


class Several(ABC):
    """What an explainer asks more than once for."""

    _space: Space

    @property
    @abstractmethod
    def model(self) -> Model: ...

    @abstractmethod
    def widen(self, region: Region, *, order: Sequence[str] | None = None, time_limit: float = 60.0) -> Widening: ...

    @abstractmethod
    def _for_row(self, row: object, what: str = "row") -> Explainer: ...

    @abstractmethod
    def _ask(
        self, row: object, room: Room, target: object, distance: Distance | str, rules: Sequence[Rule]
    ) -> RecourseProblem: ...

    @abstractmethod
    def _ready(self, method: Method, problem: RecourseProblem) -> Engine: ...

    @abstractmethod
    def _origin(self, seed: int, time_limit: float) -> Origin: ...

    # ---- few changes --------------------------------------------------------------------------------------------------
    def menu(
        self,
        row: object,
        room: Room = Box(0.05),  # noqa: B008 - rooms are frozen
        target: object = None,
        distance: Distance | str = "l1",
        rules: Sequence[Rule] = (),
        time_limit: float = 60.0,
        method: Method | str = "auto",
        seed: int = 0,
        on_progress: OnProgress | None = None,
        *,
        most: int | None = None,
    ) -> Menu:
        """The closest region with one change, with two, with three, ... up to the closest of all, each proven.

        A change is what `AtMost` counts. Numbers that the row lacks stay missing.

        Args:
            row: As in `explain`.
            room: As in `explain`.
            target: As in `explain`.
            distance: As in `explain`.
            rules: As in `explain`.
            time_limit: Seconds for all of them together.
            method: As in `explain`.
            seed: As in `explain`.
            on_progress: A function that is told by a `Step`.
            most: Entries with more changes are left out, except the closest of all.

        Returns:
            A `Menu`: a sequence of regions.

        Examples:
            >>> [entry.changes for entry in explainer.menu(row)]
            [1]
        """
        check_run(seed, on_progress)
        able = self._for_row(row)
        if able is not self:
            return able.menu(
                row, room, target, distance, rules, time_limit, method, seed, on_progress, most=most
            )  # fmt: skip
        seconds, chosen = seconds_of(time_limit), parse_enum(Method, method, "method")
        if most is not None and (isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 1):
            raise InputError(f"most={most!r}: give a whole number of at least 1")
        origin = self._origin(seed, seconds)
        if len(self.model.info.classes) == 1 and target is None:
            return Menu((), (), single_class(self._opened, row, room, distance, origin))
        problem = self._ask(row, room, target, distance, rules)
        clock, limited = Clock(seconds), replace(problem, rules=(*problem.rules, AtMost(1)))
        ask = _Limited(self, problem, self._ready(chosen, limited), clock, seed, origin, on_progress)
        found = courses(ask, ask.count, clock, None if most is None else int(most))
        return Menu(worth_showing(found.limited, found.free, TOLERANCES.optimal_gap), found.limited, found.free)

    def _with_few(
        self,
        free: Region,
        share: float,
        method: Method,
        seed: int,
        clock: Clock,
        problem: RecourseProblem,
        on_progress: OnProgress | None,
    ) -> Region:
        """Among the answers within a share of the closest, the one with the fewest changes."""
        engine = self._ready(method, replace(problem, rules=(*problem.rules, AtMost(1))))
        assert free.origin is not None
        ask = _Limited(cast("Explainer", self), problem, engine, clock, seed, free.origin, on_progress)
        return fewest(free, ask, ask.count, clock, share)

    # ---- distance against radius -----------------------------------------------------------------------------------------
    def frontier(
        self,
        row: object,
        radii: Sequence[float],
        room: Room | type[Room] | str = "linf",
        target: object = None,
        distance: Distance | str = "l1",
        rules: Sequence[Rule] = (),
        time_limit: float = 60.0,
        method: Method | str = "auto",
        seed: int = 0,
        on_progress: OnProgress | None = None,
        *,
        breakpoints: bool = False,
        smallest_jump: float = 0.01,
    ) -> Frontier:
        """What more room costs: the closest region for every radius.

        Every answer equals that of `explain`; radii help each other, because a larger room is never closer.

        Args:
            row: As in `explain`.
            radii: They are sorted.
            room: "linf", "l2", "l1" (or `Box`, `Ball`, `Diamond`), with radii in units of the scales; or a room with a size per
                feature, which the radii multiply.
            target: As in `explain`.
            distance: As in `explain`.
            rules: As in `explain`.
            time_limit: Seconds for all radii together.
            method: As in `explain`.
            seed: As in `explain`.
            on_progress: A function that is told by a `Step`.
            breakpoints: Also find, and prove, the radii at which the distance jumps by at least ``smallest_jump``.
            smallest_jump: In units of the distance.

        Returns:
            A `Frontier`: a DataFrame with ``.plot()``.

        Examples:
            >>> explainer.frontier(row, radii=[0.01, 0.5])["status"].tolist()
            ['OPTIMAL', 'NONE_EXISTS']
        """
        from elbowroom.search.breakpoints import cell_support, find_jumps
        from elbowroom.search.frontier import Front, Point, report_with_radius

        check_run(seed, on_progress)
        able = self._for_row(row)
        if able is not self:
            return able.frontier(
                row, radii, room, target, distance, rules, time_limit, method, seed, on_progress,
                breakpoints=breakpoints, smallest_jump=smallest_jump,
            )  # fmt: skip
        seconds, chosen, sizes = seconds_of(time_limit), parse_enum(Method, method, "method"), parse_radii(radii)
        least, with_jumps = parse_jump(smallest_jump), parse_bool(breakpoints, "breakpoints")
        unit, unit_name = parse_unit(room, self._space)
        if isinstance(unit, Box) and unit.on is On.KEPT:
            raise InputError(
                'frontier does not take on="kept": a larger room may then be closer; use "changed" or "all"'
            )
        if len(self.model.info.classes) == 1 and target is None:
            nothing = [
                single_class(self._opened, row, unit.times(size), distance, self._origin(seed, seconds))
                for size in sizes
            ]
            return Frontier.of(sizes, nothing, unit_name)
        first = self._ask(row, unit.times(sizes[0]), target, distance, rules)
        engine, clock = self._ready(chosen, first), Clock(seconds)

        origin = self._origin(seed, seconds)  # the time limit that was asked for, of which a radius gets a share

        def ask(radius: float, known: Known, seconds: float) -> Point:
            problem = replace(first, room=unit.times(radius))
            told = report_with_radius(radius, clock, on_progress)
            attempt = Attempt(problem, Clock(seconds, told, clock.nominal / len(sizes)), engine)
            ending = attempt.run(seed, known)
            return Point(radius, answer(attempt, ending, self.widen, origin, self.why_not), ending.tolerance)

        front = Front(ask, clock)
        front.walk(sizes)
        answers = [point.answer for point in front.points]
        if not with_jumps:
            return Frontier.of(sizes, answers, unit_name, interrupted=front.interrupted)
        jumps = find_jumps(front, least, cell_support(first, unit.walls(self._space)))
        return Frontier.of(sizes, answers, unit_name, jumps.found, jumps.complete, least, front.interrupted)

    # ---- answers of different kinds -----------------------------------------------------------------------------------
    def explain_diverse(
        self,
        row: object,
        k: int,
        room: Room = Box(0.05),  # noqa: B008 - rooms are frozen
        target: object = None,
        distance: Distance | str = "l1",
        rules: Sequence[Rule] = (),
        time_limit: float = 60.0,
        method: Method | str = "auto",
        seed: int = 0,
        on_progress: OnProgress | None = None,
        *,
        by: str = "features",
    ) -> list[Region]:
        """Up to ``k`` regions, the closest first, that differ in what they change.

        Each next region is the closest one that does not change all the features that an earlier one changes (and perhaps
        more): its ``rules`` say so (`NotAll`), and its status and bound are about all such regions. Numbers that the row
        lacks stay missing.

        Args:
            row: As in `explain`.
            k: How many.
            room: As in `explain`.
            target: As in `explain`.
            distance: As in `explain`.
            rules: As in `explain`.
            time_limit: Seconds for all of them together.
            method: As in `explain`.
            seed: As in `explain`.
            on_progress: A function that is told by a `Step`.
            by: "features" is the only way to differ so far.

        Returns:
            Fewer than ``k`` where it is proven that no other exists; where the time was over first, a warning says so.

        Examples:
            >>> [list(found.center[found.changed].index) for found in explainer.explain_diverse(X.iloc[4], k=2)]
            [['salary'], ['debt']]
        """
        check_run(seed, on_progress)
        able = self._for_row(row)
        if able is not self:
            return able.explain_diverse(
                row, k, room, target, distance, rules, time_limit, method, seed, on_progress, by=by
            )  # fmt: skip
        seconds, chosen = seconds_of(time_limit), parse_enum(Method, method, "method")
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise InputError(f"k={k!r}: give the number of regions, at least 1")
        if by != "features":
            raise InputError(f'by={by!r} is not taken; use "features": each region changes another set of features')
        if len(self.model.info.classes) == 1 and target is None:
            return []
        problem = self._ask(row, room, target, distance, rules)
        engine, clock, origin = self._ready(chosen, problem), Clock(seconds), self._origin(seed, seconds)
        if not is_separable(problem):  # what later answers ask for is refused before the search
            self._ready(chosen, replace(problem, rules=(*problem.rules, _any_kind(problem))))
        kinds = _Kinds(self, problem, engine, clock, seed, origin, on_progress)
        found, complete = kinds.up_to(int(k))
        if not complete and len(found) < k and (not found or found[-1].distance > 0.0):
            warn(f"{len(found)} of {k} regions were found in time; others may exist. Raise time_limit")
        return found


class _Asking:
    """One question that is asked several times in other words: who answers, by which engine and until when."""

    def __init__(
        self,
        explainer: Explainer,
        problem: RecourseProblem,
        engine: Engine,
        clock: Clock,
        seed: int,
        origin: Origin,
        on_progress: OnProgress | None,
    ) -> None:
        self._explainer, self._problem, self._engine = explainer, problem, engine
        self._clock, self._seed, self._origin, self._on_progress = clock, seed, origin, on_progress


class _Kinds(_Asking):
    """Regions that differ in what they change, one after the other, up to ``k`` of them."""

    def up_to(self, k: int) -> tuple[list[Region], bool]:
        """The regions, and whether it is proven that there are no more."""
        self._k, self._found, self._last = k, list[Region](), Ending("", 0.0)
        self._former: tuple[NotAll, ...] = ()
        return self.by_frozen_features() if is_separable(self._problem) else self.by_rules()

    def by_frozen_features(self) -> tuple[list[Region], bool]:
        """See `search.diverse`; True if it is proven that there are no more."""
        partition = Partition(self._problem, self._ask, self._clock)
        for following in partition.answers():
            attempt = Attempt(self._asked, Clock(max(self._clock.remaining, 0.0)), self._engine)
            attempt.clock.start = self._clock.start
            if not isinstance(attempt.referee(following.center), Certificate):
                return self._found, False
            if not self._keep(attempt, replace(self._last, lower_bound=following.lower_bound)):
                return self._found, False
        return self._found, math.isinf(partition.lower_bound)

    def by_rules(self) -> tuple[list[Region], bool]:
        """Where features cannot be frozen one by one: the question with one more rule each time. No centre of a later
        question is closer than those of an earlier one."""
        bound = 0.0
        while not self._clock.expired or not self._found:
            attempt = self._attempt(self._asked)
            ending = attempt.run(self._seed, Known(bound))
            bound = ending.lower_bound
            if attempt.referee.certificate is None:
                return self._found, math.isinf(bound)
            if not self._keep(attempt, ending) or ending.method == INTERRUPTED:
                break
        return self._found, False

    @property
    def _asked(self) -> RecourseProblem:
        return replace(self._problem, rules=(*self._problem.rules, *self._former))

    def _attempt(self, question: RecourseProblem) -> Attempt:
        share = max(self._clock.remaining, 0.0) / max(self._k - len(self._found), 1)
        told = report_with(f"answer {len(self._found) + 1}", self._clock, self._on_progress)
        return Attempt(question, Clock(share, told, self._clock.nominal), self._engine)

    def _ask(self, question: RecourseProblem, known: float) -> Found:
        attempt = self._attempt(question)
        self._last = attempt.run(self._seed, Known(known))
        if self._last.method == INTERRUPTED:  # what is found is the answer: nothing more is asked
            self._clock.deadline = self._clock.start
        return Found(attempt.referee.center, attempt.referee.distance, self._last.lower_bound)

    def _keep(self, attempt: Attempt, ending: Ending) -> bool:
        """Add an answer; False if it was the last one."""
        region = answer(attempt, ending, self._explainer.widen, self._origin, self._explainer.why_not)
        assert isinstance(region, Region)
        self._found.append(region)
        changed = changed_by(self._problem, region.body.center)
        if len(self._found) >= self._k or not changed:
            return False
        self._former = (*self._former, NotAll(names_of(self._problem, changed)))
        return True


def _any_kind(problem: RecourseProblem) -> NotAll:
    """A rule like those of later answers: an engine that takes it takes them."""
    moving = np.flatnonzero(problem.lower < problem.upper).tolist()
    groups = {
        len(problem.space.names) + int(problem.space.group_of[f]) for f in moving if problem.space.group_of[f] >= 0
    }
    columns = {f for f in moving if problem.space.group_of[f] < 0}
    return NotAll(names_of(problem, frozenset(columns | groups) or frozenset([0])))


class _Limited(_Asking):
    """The question of a menu with at most so many changes."""

    def __call__(self, most: int | None, known: Known, seconds: float, enough: float = math.inf) -> Region | NoRegion:
        problem = self._problem
        if most is not None:
            problem = replace(problem, rules=(*problem.rules, AtMost(most)))
        note = "the closest of all" if most is None else changes_in_words(most)
        told = report_with(note, self._clock, self._on_progress)
        attempt = Attempt(problem, Until(seconds, told, self._clock.nominal, enough), self._engine)
        ending = attempt.run(self._seed, None if most is None else known)
        return answer(attempt, ending, self._explainer.widen, self._origin, self._explainer.why_not)

    def count(self, region: Region) -> int:
        return int(self._problem.changed(region.body.center).sum())


def parse_share(value: object) -> float:
    """prefer_few: a share of the distance, 0 for exact ties alone."""
    share = number(value, "prefer_few", PLAIN_NUMBER)
    if isinstance(value, (bool, np.bool_)) or not (math.isfinite(share) and share >= 0.0):
        raise InputError(f"prefer_few={value!r} must be a finite number of at least 0, for example 0.05 for 5 %")
    return share
