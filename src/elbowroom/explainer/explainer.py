"""The front door: read a model once, ask many times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from elbowroom.certify.judge import certify, prepare
from elbowroom.errors import InputError
from elbowroom.explainer.answer import answer, single_class
from elbowroom.explainer.attempt import Attempt
from elbowroom.explainer.filling import choices, closest_filling, fillable, without_bound
from elbowroom.explainer.method import Method
from elbowroom.explainer.opening import Opened, opened, without_numbers
from elbowroom.importers.library import versions_of
from elbowroom.models import Model
from elbowroom.numerics import TOLERANCES, Floats
from elbowroom.problem import Body, Box, Direction, Distance, RecourseProblem, Room, Rule, Space, Target
from elbowroom.problem.parsing import Radius, check_run, parse_bool, parse_enum, seconds_of
from elbowroom.problem.radii import ROOM_OF_NORM, parse_jump, parse_radii, parse_unit
from elbowroom.problem.rooms import checked_radius, per_column
from elbowroom.problem.shapes import Shape
from elbowroom.problem.slips import parse_tolerance
from elbowroom.result import Frontier, KeptProbability, NoRegion, Origin, RadiusResult, Region, Verdict, Widening
from elbowroom.result.own_words import with_missing
from elbowroom.search.contract import Clock, Engine, OnProgress
from elbowroom.visible import listed

MOST_PATTERNS = 4  # of missing numbers whose models are kept


class Explainer:
    """Answers questions about one model. ``space`` says what the features mean: a `Space`, or the table that the model was
    fitted on, from which it is read. Without it they are plain numbers, and the categories that the model knows.

    >>> explainer = Explainer(model, Space.from_frame(X, immutable=["sex"]))
    >>> region = explainer.explain(X.iloc[0], room=Box(0.05))
    """

    def __init__(self, model: object, space: Space | pd.DataFrame | None = None, *, data: object = None) -> None:
        self._begin(opened(model, space, data), versions_of(model), ())
        self._engine(Method.AUTO).prepare(Shape.BOX)
        prepare(self._model)

    def _begin(self, found: Opened, versions: dict[str, str], missing: tuple[str, ...]) -> None:
        self._opened, self._versions = found, versions
        self._model, self._space, self._predict = found.model, found.space, found.predict
        self._missing = missing  # columns of numbers that all rows lack
        self._whole = self  # of rows that lack nothing
        self._engines: dict[Method, Engine] = {}
        self._lacking: dict[tuple[str, ...], Explainer] = {}

    @property
    def model(self) -> Model:
        """The parsed model."""
        return self._model

    @property
    def space(self) -> Space:
        return self._space

    def predict(self, rows: Floats | pd.DataFrame) -> npt.NDArray[Any]:
        """Labels (values of a regressor) from the original model object, for a table or for float rows in the order of the space."""
        if isinstance(rows, pd.DataFrame):
            rows = self._space.inner(rows, allow_missing=True)
        return self._predict(rows)

    # ---- rows that lack numbers ---------------------------------------------------------------------------------------
    def for_missing(self, missing: Sequence[str]) -> Explainer:
        """The explainer of rows that lack a number in these columns: of the model that is left when they do."""
        names = tuple(missing)
        if names == self._missing:
            return self
        if self._whole is not self:
            return self._whole.for_missing(names)
        if names not in self._lacking:
            while len(self._lacking) >= MOST_PATTERNS:
                del self._lacking[next(iter(self._lacking))]
            other = Explainer.__new__(Explainer)
            other._begin(without_numbers(self._opened, names), self._versions, names)
            other._whole = self
            self._lacking[names] = other
        return self._lacking[names]

    def _for_row(self, row: object, what: str = "row") -> Explainer:
        """Who answers for a row: this explainer, or the one for the numbers that the row lacks."""
        if isinstance(row, Region):
            self._same_columns(row)
            return self.for_missing(row.missing)
        return self.for_missing(self._space.without_missing(self._space.row(row, what, allow_missing=True))[1])

    def _point(self, row: object, what: str, space: Space | None = None) -> Floats:
        """A row as inner floats, with 0 in place of the numbers that all rows of this explainer lack."""
        space = space or self._space
        return space.without_missing(space.row(row, what, allow_missing=bool(self._missing)))[0]

    # ---- the closest region -------------------------------------------------------------------------------------------
    def explain(
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
    ) -> Region | NoRegion:
        """The closest centre whose whole room has the wanted class; see `Region` and `NoRegion`. Numbers that the row lacks
        stay missing or, where the space says that they may be filled, are filled in."""
        check_run(seed, on_progress)
        values = self._space.row(row, allow_missing=True)
        names = fillable(self._space, values, rules)
        if not names or len(self.model.info.classes) == 1:
            return self._explain(row, room, target, distance, rules, time_limit, method, seed, on_progress)
        kept = self._for_row(row)._ask(row, room, target, distance, rules)
        share, told = seconds_of(time_limit) / len(choices(names)), on_progress and without_bound(on_progress)
        return closest_filling(
            self._space, values, names, kept.predicted,
            lambda filled: self._explain(filled, room, kept.target, distance, rules, share, method, seed, told),
        )  # fmt: skip

    def _explain(
        self,
        row: object,
        room: Room,
        target: object,
        distance: Distance | str,
        rules: Sequence[Rule],
        time_limit: float,
        method: Method | str,
        seed: int,
        on_progress: OnProgress | None,
    ) -> Region | NoRegion:
        able = self._for_row(row)
        if able is not self:
            return able._explain(row, room, target, distance, rules, time_limit, method, seed, on_progress)
        seconds, chosen = seconds_of(time_limit), parse_enum(Method, method, "method")
        if len(self.model.info.classes) == 1 and target is None:
            return single_class(self.model, self._space, row, room, distance, self._origin(seed, seconds))
        problem = self._ask(row, room, target, distance, rules)
        engine = self._ready(chosen, problem)
        attempt = Attempt(problem, Clock(seconds, on_progress), engine)
        return answer(attempt, attempt.run(seed), self.widen, self._origin(seed, seconds))

    def _ask(
        self, row: object, room: Room, target: object, distance: Distance | str, rules: Sequence[Rule]
    ) -> RecourseProblem:
        lacks = bool(self._missing)
        return RecourseProblem.ask(self.model, self._space, row, room, target, distance, rules, allow_missing=lacks)

    def _origin(self, seed: int, time_limit: float) -> Origin:
        return Origin(self.model.fingerprint, int(seed), time_limit, TOLERANCES.optimal_gap, self._versions)

    def _engine(self, method: Method) -> Engine:
        """The engine of a method; it keeps what it learns from one question to the next."""
        if method not in self._engines:
            self._engines[method] = method.engine(self.model)
        return self._engines[method]

    def _ready(self, method: Method, problem: RecourseProblem) -> Engine:
        """The engine, if it takes the question; compiled code is loaded (once after installation: made) before a clock
        starts."""
        engine = self._engine(method)
        refusal = engine.refuses(problem)
        if refusal is not None:
            raise InputError(refusal)
        engine.prepare(problem.walls.shape)
        return engine

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
        """What more room costs: the closest region for every radius, as a DataFrame with ``.plot()``.

        ``room`` is "linf", "l2", "l1" (or `Box`, `Ball`, `Diamond`), with radii in units of the scales; or a room with a
        size per feature, which the radii multiply. Radii are sorted. ``time_limit`` is for all radii together. Every
        answer equals that of `explain`; radii help each other, because a larger room is never closer. With
        ``breakpoints``, the radii at which the distance jumps by at least ``smallest_jump`` are found and proven as
        well.
        """
        from elbowroom.search.breakpoints import cell_support, find_jumps
        from elbowroom.search.frontier import Front, Known, Point, report_with_radius

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
        if len(self.model.info.classes) == 1 and target is None:
            nothing = [
                single_class(self.model, self._space, row, unit.times(size), distance, self._origin(seed, seconds))
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
            return Point(radius, answer(attempt, ending, self.widen, origin), ending.tolerance)

        front = Front(ask, clock)
        front.walk(sizes)
        answers = [point.answer for point in front.points]
        if not with_jumps:
            return Frontier.of(sizes, answers, unit_name, interrupted=front.interrupted)
        jumps = find_jumps(front, least, cell_support(first, unit.walls(self._space)))
        return Frontier.of(sizes, answers, unit_name, jumps.found, jumps.complete, least, front.interrupted)

    # ---- judging any answer -------------------------------------------------------------------------------------------
    def certify(
        self,
        center: object,
        room: Room | None = None,
        target: object = None,
        *,
        factual: object = None,
        time_limit: float = 60.0,
    ) -> Verdict:
        """A `Certificate` that every point of the room around ``center`` has the wanted class, or a `Counterexample`.

        ``center`` is a row from any source or a `Region`; ``target=None`` means the class the model gives the centre
        (for a `Region`: its own target). With ``factual``, immutable and one-way features limit the room as they would
        in `explain`; without it, immutable features stay at the centre's value and the others move both ways.
        """
        seconds = seconds_of(time_limit)
        able = self._for_row(center, "center")
        if able is not self:
            return able.certify(center, room, target, factual=factual, time_limit=time_limit)
        if isinstance(center, Region):
            if room is None and target is None:
                return certify(self.model, center.target, center.body, seconds)
            target = center.target if target is None else target
            factual = center.inner_row if factual is None else factual
            center = with_missing(center.space, center.body.center, self._missing)
        if room is None:
            raise InputError("certify needs a room, for example certify(point, Box(0.05))")
        point = self._point(center, "center")
        problem = self._about(point, room, target, None if factual is None else self._point(factual, "factual"))
        if ((point < problem.lower) | (point > problem.upper)).any():
            raise self._outside(point, problem)
        return certify(self.model, problem.target, problem.body(point), seconds)

    def _outside(self, point: Floats, problem: RecourseProblem) -> InputError:
        f = int(np.flatnonzero((point < problem.lower) | (point > problem.upper))[0])
        return InputError(
            f"center, column {self._space.names[f]!r}: {point[f]:g} lies outside [{problem.lower[f]:g}, "
            f"{problem.upper[f]:g}]; widen the bounds of the space or move the centre"
        )

    def _about(
        self, point: Floats, room: Room, target: object, factual: Floats | None, space: Space | None = None
    ) -> RecourseProblem:
        """The question whose answer would be ``point``; without a target, the class that the model gives the point;
        without a factual, features have no direction."""
        space = space or self._space
        if factual is None:
            both_ways = tuple(replace(f, direction=Direction.ANY) for f in space.features)
            space, factual = replace(space, features=both_ways), point
        if target is None and not self.model.info.is_regressor:  # whose missing target is refused by name
            target = Target(self.model.info.says(self.model.scores(point[None]))[0])
        row = with_missing(space, factual, self._missing)
        return RecourseProblem.ask(self.model, space, row, room, target, allow_missing=bool(self._missing))

    # ---- the largest room around a point -----------------------------------------------------------------------------
    def radius(
        self, point: object, norm: str = "linf", target: object = None, *, time_limit: float = 60.0
    ) -> RadiusResult:
        """The largest radius (in units of the features' scales) around ``point`` with one class, with both bounds.

        ``norm`` is "linf" (boxes), "l2" (balls) or "l1" (diamonds). ``target=None``: the class of the point itself.
        """
        if not isinstance(norm, str) or norm not in ROOM_OF_NORM:
            raise InputError(f'norm={norm!r} is unknown; use "linf", "l2" or "l1"')
        from elbowroom.search.radius import largest_radius

        seconds = seconds_of(time_limit)
        able = self._for_row(point, "point")
        if able is not self:
            return able.radius(point, norm, target, time_limit=time_limit)
        values = self._point(point, "point")
        problem = self._about(values, ROOM_OF_NORM[norm](1.0), target, None)
        shape, clock = problem.walls.shape, Clock(seconds)

        def accept(body: Body, seconds: float, looks: float) -> Verdict:
            return certify(self.model, problem.target, body, seconds, looks)

        return largest_radius(self.model, self._space, values, problem.target, shape, accept, clock)

    # ---- Gaussian slips ---------------------------------------------------------------------------------------------
    def probability_kept(
        self,
        center: object,
        sigma: Radius,
        target: object = None,
        *,
        factual: object = None,
        tolerance: float = 1e-3,
        time_limit: float = 10.0,
    ) -> KeptProbability:
        """The chance that a Gaussian slip of ``center`` keeps the class: two proven bounds, for trees and linear models.

        ``sigma`` is the standard deviation: a number in units of the scales, or raw units per feature. Immutable
        features and categories do not slip, values beyond a bound are moved to it, whole numbers move by completed
        steps. ``center`` is a row or a `Region`, whose own target and limits then count, and whose room gives the
        conservative bound ``inside``. The bounds always hold. They are at most ``tolerance`` apart, or
        ``reason`` says what prevented it: time, rounding, or too many dimensions (linear models with many close rivals).
        """
        from elbowroom.certify.kept import kept_probability
        from elbowroom.certify.slips import Slip

        seconds, width = seconds_of(time_limit), parse_tolerance(tolerance)
        able = self._for_row(center, "center")
        if able is not self:
            return able.probability_kept(
                center, sigma, target, factual=factual, tolerance=tolerance, time_limit=time_limit
            )
        space, room = self._space, None
        if isinstance(center, Region):
            if target is None and factual is None and center.certificate.fingerprint == self.model.fingerprint:
                room = center.body  # certified for this model and this target, within these limits
            target = center.target if target is None else target
            factual = center.inner_row if factual is None else factual
            space, center = center.space, with_missing(center.space, center.body.center, self._missing)
        point = self._point(center, "center", space)
        spread = per_column(checked_radius(sigma, "sigma", needed=True), space, "sigma")
        problem = self._about(
            point, Box(0.0), target, None if factual is None else self._point(factual, "factual", space), space
        )
        if ((point < problem.lower) | (point > problem.upper)).any():
            raise self._outside(point, problem)
        slip = Slip(point, np.where(problem.immutable, 0.0, spread), problem.lower, problem.upper, space.whole_room)
        return kept_probability(self.model, problem.target, slip, room, width, seconds)

    # ---- the widest intervals around a centre ------------------------------------------------------------------------
    def widen(self, region: Region, *, order: Sequence[str] | None = None, time_limit: float = 60.0) -> Widening:
        """The widest box around the centre of a region, in which every side is proven maximal or reported as unproven.

        The columns named in ``order`` grow as far as possible before the others; by default those that the answer
        changes come first. Limits, one-way and immutable features hold as in `explain`; categories stay as they are.
        """
        from elbowroom.search.widen import widest_box

        seconds = seconds_of(time_limit)
        if not isinstance(region, Region):
            raise InputError(f"widen takes a Region, not {type(region).__name__}; use certify or radius for a point")
        able = self._for_row(region)
        if able is not self:
            return able.widen(region, order=order, time_limit=time_limit)
        if not region.is_box:
            raise InputError(
                f"a {region.body.shape.value} has no sides that could grow one by one; "
                "ask with room=Box(...) and widen that answer"
            )
        problem = RecourseProblem.ask(
            self.model, region.space, region.inner_row, region.room, region.target, region.metric, region.rules,
            allow_missing=bool(self._missing),
        )  # fmt: skip

        def accept(body: Body, seconds: float, looks: float) -> Verdict:
            return certify(self.model, problem.target, body, seconds, looks)

        return widest_box(region, problem, order, accept, Clock(seconds))

    def _same_columns(self, region: Region) -> None:
        if region.space.names != self._space.names:
            raise InputError(
                f"the region is about the columns {listed(region.space.names)}, not {listed(self._space.names)}"
            )
