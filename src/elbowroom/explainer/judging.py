"""Judging what is given: any centre, the largest room around it, slips, the widest intervals, a map."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from elbowroom.certify.judge import certify, certify_answer, certify_with
from elbowroom.errors import InputError
from elbowroom.explainer.asking import further_of, outside, question_about
from elbowroom.explainer.nearby import refuse_nearby
from elbowroom.explainer.plane import outcome_plane
from elbowroom.models import Model
from elbowroom.numerics import Floats
from elbowroom.problem import Body, Box, RecourseProblem, Room, Space
from elbowroom.problem.on import On
from elbowroom.problem.parsing import Radius, seconds_of
from elbowroom.problem.radii import ROOM_OF_NORM
from elbowroom.problem.rooms import checked_radius, per_column
from elbowroom.problem.slips import parse_tolerance
from elbowroom.result import Inadmissible, KeptProbability, RadiusResult, Region, Verdict, Widening
from elbowroom.result.own_words import with_missing
from elbowroom.search.contract import Clock

if TYPE_CHECKING:
    from elbowroom.explainer.explainer import Explainer
    from elbowroom.present.map import MapDisplay


class Judging:
    """The part of an `Explainer` that looks for no region, but judges what it is given."""

    _space: Space
    _missing: tuple[str, ...]

    @property
    @abstractmethod
    def model(self) -> Model: ...

    @abstractmethod
    def _for_row(self, row: object, what: str = "row") -> Explainer: ...

    @abstractmethod
    def _point(self, row: object, what: str, space: Space | None = None) -> Floats: ...

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
        """A proof that every point of a room has the wanted class, or a point that has not: for a centre from any source.

        Args:
            center: A row, or a `Region`.
            room: What is judged around it; None: the region's own room, or the point alone.
            target: The wanted class, or a `Target`. None: the class that the model gives the centre; of a region, its own.
            factual: The row that was asked about: immutable and one-way features then limit the room as they do in `explain`.
                Without it, immutable features stay at the centre's value and the others move both ways.
            time_limit: Seconds; where they do not suffice, the verdict is `Undecided`.

        Returns:
            A `Certificate`, or something that counts as False: a `Counterexample`, `Undecided`, or a centre that is itself not
            admissible, with the ``reason``.

        Examples:
            >>> bool(explainer.certify(region))
            True
            >>> explainer.certify(row, Box({"salary": 600}), target=False).label  # 2,501 is approved
            True
        """
        seconds = seconds_of(time_limit)
        able = self._for_row(center, "center")
        if able is not self:
            return able.certify(center, room, target, factual=factual, time_limit=time_limit)
        if isinstance(center, Region):
            if room is None and target is None:
                return certify_with(self.model, center.target, center.body, further_of(center), seconds)
            target = center.target if target is None else target
            factual = center.inner_row if factual is None else factual
            center = with_missing(center.space, center.body.center, self._missing)
        if room is None:
            raise InputError("certify needs a room, for example certify(point, Box(0.05))")
        if isinstance(room, Box) and room.on is not On.ALL and factual is None:
            raise InputError(f"certify with on={room.on!r} needs factual=, to know which features the centre changes")
        point = self._point(center, "center")
        problem = self._about(point, room, target, None if factual is None else self._point(factual, "factual"))
        if error := outside(point, problem):
            raise error
        return certify(self.model, problem.target, problem.body(point), seconds)

    def _about(
        self, point: Floats, room: Room, target: object, factual: Floats | None, space: Space | None = None
    ) -> RecourseProblem:
        return question_about(self.model, space or self._space, self._missing, point, room, target, factual)

    # ---- the largest room around a point -----------------------------------------------------------------------------
    def radius(
        self, point: object, norm: str = "linf", target: object = None, *, time_limit: float = 60.0
    ) -> RadiusResult:
        """The largest radius (in units of the features' scales) around a point with one class, with both bounds.

        Args:
            point: A row.
            norm: "linf" (boxes), "l2" (balls) or "l1" (diamonds).
            target: The class, or a `Target`; None: the class of the point itself.
            time_limit: Seconds; then both bounds are returned as they are. They hold in any case.

        Returns:
            A `RadiusResult` with both bounds, and a point of another class just beyond where one was found.

        Examples:
            >>> explainer.radius(row).exact
            True
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
        if problem.target.count is not None:
            from elbowroom.explainer.some_of import radius_for_some

            return radius_for_some(problem, values, seconds)
        shape, clock = problem.walls.shape, Clock(seconds)

        def accept(body: Body, seconds: float, looks: float) -> Verdict:
            broken = problem.broken_in(body)
            if broken is not None:
                return Inadmissible(broken)
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
        """The chance that a Gaussian slip of a centre keeps the class: two proven bounds, for trees, linear models and networks.

        Immutable features and categories do not slip, values beyond a bound are moved to it, whole numbers move by completed
        steps. The bounds always hold.

        Args:
            center: A row, or a `Region`, whose own target and limits then count, and whose room gives the conservative bound
                ``inside``.
            sigma: The standard deviation: a number in units of the scales, or raw units per feature.
            target: The class that is to be kept, as in `certify`.
            factual: The row that was asked about, as in `certify`.
            tolerance: How far the bounds may be apart; where they are farther, ``reason`` says what prevented it: time,
                rounding, too many dimensions (linear models with many close rivals), or too many cells (networks
                whose slips cross many kinks).
            time_limit: Seconds.

        Returns:
            A `KeptProbability`.

        Examples:
            >>> kept = explainer.probability_kept(region, sigma={"salary": 50})
            >>> 0.95 < kept.inside <= kept.lower <= kept.upper <= 1
            True
        """
        from elbowroom.certify.kept import kept_probability, slip_of

        refuse_nearby(self.model, "probability_kept")
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
        if error := outside(point, problem):
            raise error
        return kept_probability(self.model, problem.target, slip_of(problem, point, spread), room, width, seconds)

    # ---- the widest intervals around a centre ------------------------------------------------------------------------
    def widen(self, region: Region, *, order: Sequence[str] | None = None, time_limit: float = 60.0) -> Widening:
        """The widest box around the centre of a region, in which every side is proven maximal or reported as unproven.

        Limits, one-way and immutable features hold as in `explain`; categories stay as they are. Where some of several models
        are enough, those that keep the region go on keeping it.

        Args:
            region: A region that is a box.
            order: Columns that grow as far as possible before the others; by default those that the answer changes.
            time_limit: Seconds; ends that are not settled by then are reported as unproven.

        Returns:
            A `Widening`: the wide region, and how each of its ends was settled.

        Examples:
            >>> explainer.widen(region).proved
            True
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
        if problem.target.count is not None:
            from elbowroom.explainer.some_of import widened_for_some

            return widened_for_some(region, problem, order, seconds)

        def accept(body: Body, seconds: float, looks: float) -> Verdict:
            broken = problem.broken_in(body)
            return certify_answer(problem, body, seconds, looks) if broken is None else Inadmissible(broken)

        return widest_box(region, problem, order, accept, Clock(seconds))

    def map(self, region: Region, first: str, second: str) -> MapDisplay:
        """What the model says over two columns of numbers, everything else at the centre of a region.

        Args:
            region: Whose value now, centre and outline are drawn.
            first: The column from left to right.
            second: The column from bottom to top.

        Returns:
            A `MapDisplay`: exact cells for trees, a grid for other models; ``.plot(ax)`` draws it.

        Examples:
            >>> explainer.map(region, "salary", "debt").exact
            True
        """
        from elbowroom.present.map import MapDisplay

        if not isinstance(region, Region):
            raise InputError(f"map takes a Region, not {type(region).__name__}")
        return MapDisplay.from_plane(outcome_plane(self._for_row(region).model, region, first, second))
