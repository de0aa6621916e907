"""The largest room around a point in which every point has the wanted class.

One method for all families: the judge is asked about a radius. It certifies (the radius is a lower bound) or gives a
point of another class, or one within rounding of a tie; the smallest radius whose room contains that point is an upper
bound. Then halve. For trees the radius just below the newest upper bound is tried as well: bad cells are finitely many, so
that this ends with two neighbouring floats, the larger of which lets the witness in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import assert_never

import numpy as np

from elbowroom.models import LinearModel, Model, ObliqueEnsemble, ReluNetwork, TreeEnsemble
from elbowroom.models.nearby import NearbyLinear
from elbowroom.numerics import TOLERANCES, Bools, Floats, from_ordinal, ordinal
from elbowroom.problem import Body, Shape, Space, Target, Walls
from elbowroom.problem.shapes import check_known
from elbowroom.result import Certificate, Counterexample, RadiusResult
from elbowroom.search.contract import LOOKS_PER_SECOND, AcceptBody, Clock

SHAPES = (Shape.BOX, Shape.BALL, Shape.DIAMOND)
_LINEAR_GAP = 1e-12
_SHARES = (0.1, 0.3, math.inf)  # of what the judge nominally does in the time limit, for one radius
_DOUBTED_GAP = 0.02  # relative; how close to a radius that the judge could not settle the search still climbs
_OUTWARDS = 1e-9  # relative: more than the rounding of a norm
_LARGEST = 2.0**40  # in units of the scales; a class that holds farther out is called unbounded above
_LONGEST = 2.0**1000  # raw units; far from overflow


def largest_radius(
    model: Model, space: Space, point: Floats, target: Target, shape: Shape, accept: AcceptBody, clock: Clock
) -> RadiusResult:
    """Both bounds on the largest radius, in units of the scales.

    Immutable columns and the categories of one-hot groups stay as they are; rooms are clipped to the bounds of the
    space and whole columns take whole values. A point that does not itself (safely) have the wanted class gives lower =
    upper = 0 with the point as witness; a class that holds everywhere gives lower = upper = inf. Networks and oblique
    trees: the search ends when the bounds are within 1e-6 of each other, relatively (`TOLERANCES.radius_gap`). If
    time runs out first, or a room lies too close to the boundary to be judged, they are still proven, only farther
    apart.
    """
    del target  # the judge behind ``accept`` knows it
    check_known(shape, SHAPES, "the search for the largest radius")
    rooms = _Rooms.around(space, point, shape)
    search = _Bracket(rooms, accept, clock)
    search.ask(0.0)
    if search.upper > 0.0:
        far = rooms.reach(model)
        search.ask(far if far <= rooms.largest else min(1.0, rooms.largest))
        if far <= search.lower:
            search.lower = math.inf
        else:
            search.enclose()
            for share in _SHARES:  # what the judge could not settle is asked again, with more looks
                search.doubted, search.share = math.inf, share
                search.close(_gap(model), finite=isinstance(model, TreeEnsemble))
                if search.doubted == math.inf:
                    break
                search.press()
    return RadiusResult(
        search.lower, search.upper, shape.distance.value, search.witness, clock.seconds, search.near_tie
    )


def _gap(model: Model) -> float:
    match model:
        case LinearModel():
            return _LINEAR_GAP
        case TreeEnsemble():
            return 0.0
        case ReluNetwork() | ObliqueEnsemble():
            return TOLERANCES.radius_gap
        case _:
            assert_never(model)


@dataclass(frozen=True, eq=False)
class _Rooms:
    """The room of every radius around one point; larger radii give larger rooms, even in floating point."""

    space: Space
    point: Floats
    shape: Shape
    unit: Floats  # raw units per radius; 0 where a column does not move
    lower: Floats
    upper: Floats

    @classmethod
    def around(cls, space: Space, point: Floats, shape: Shape) -> _Rooms:
        fixed = np.array([feature.immutable for feature in space.features]) | (space.group_of >= 0)
        return cls(
            space,
            point,
            shape,
            np.where(fixed, 0.0, space.scale),
            np.where(fixed, point, space.lower),
            np.where(fixed, point, space.upper),
        )

    def body(self, radius: float) -> Body:
        widths = radius * self.unit
        return Body.around(self.point, Walls(self.shape, widths, widths), self.lower, self.upper, self.space.whole_room)

    @property
    def largest(self) -> float:
        """The largest radius worth asking for; its room is finite."""
        return min(_LARGEST, _LONGEST / max(1.0, float(self.unit.max()), float(np.abs(self.point).max())))

    def reach(self, model: Model) -> float:
        """A radius whose room holds everything a larger room could add: all limits, and one point of every cell."""
        moves = self.unit > 0.0
        extent = np.maximum(self.point - self.lower, self.upper - self.point)
        if isinstance(model, TreeEnsemble):
            for f, cuts in enumerate(model.cuts):
                far = max(abs(cuts[0] - self.point[f]), abs(cuts[-1] - self.point[f])) if cuts.size else 0.0
                step = 1.0 if self.space.whole_room[f] else float(np.spacing(abs(self.point[f]) + far))
                extent[f] = min(extent[f], far + 2.0 * step) if cuts.size else 0.0
        else:
            extent = np.where(_used(model), extent, 0.0)
        lengths = np.where(moves, extent, 0.0) / np.where(moves, self.unit, 1.0)
        return self.shape.distance.norm(lengths) * (1.0 + _OUTWARDS)

    def admits(self, witness: Floats, top: float) -> float:
        """The smallest radius <= top whose room contains the witness; the room of ``top`` does."""
        moves = self.unit > 0.0
        lengths = np.where(moves, np.abs(witness - self.point) / np.where(moves, self.unit, 1.0), 0.0)
        guess = int(ordinal(min(self.shape.distance.norm(lengths), top)))
        inside, outside, step = int(ordinal(top)), -1, 1
        while inside - outside > 1:  # first widen around the guess, then halve
            middle = min(max(guess, outside + 1), inside - 1)
            if self.body(float(from_ordinal(middle))).contains(witness)[0]:
                inside, guess = middle, middle - step
            else:
                outside, guess = middle, middle + step
            step *= 2
            if not outside < guess < inside:
                guess = (outside + inside) // 2
        return float(from_ordinal(inside))


def _used(model: LinearModel | ReluNetwork | ObliqueEnsemble) -> Bools:
    """Columns that the model looks at."""
    if isinstance(model, ObliqueEnsemble):
        return np.asarray((model.weight != 0.0).any(axis=0))
    first = model.affine if isinstance(model, LinearModel) else model.layers[0]
    used = (first.weight != 0.0).any(axis=0) | (first.error_slope != 0.0).any(axis=0)
    if isinstance(model, NearbyLinear):  # a weight of 0 is another one in a model nearby
        used |= (model.arriving.weight != 0.0).any(axis=0)
    return np.asarray(used)


class _Bracket:
    """lower: certified; upper: refuted by ``witness``; doubted: the smallest radius the judge could not settle."""

    def __init__(self, rooms: _Rooms, accept: AcceptBody, clock: Clock) -> None:
        self.rooms, self.accept, self.clock = rooms, accept, clock
        self.lower, self.upper, self.doubted = 0.0, math.inf, math.inf
        self.witness: Floats | None = None
        self.near_tie = False  # what is known of the witness
        self.share = _SHARES[0]

    def ask(self, radius: float) -> None:
        """One radius gets a share of the looks: what is not settled in them leaves time for smaller ones."""
        looks = LOOKS_PER_SECOND * self.clock.nominal * self.share
        verdict = self.accept(self.rooms.body(radius), max(self.clock.remaining, 0.0), looks)
        if isinstance(verdict, Certificate):
            self.lower = max(self.lower, radius)
        elif isinstance(verdict, Counterexample):
            admits = self.rooms.admits(verdict.point, radius)
            if admits < self.upper:
                self.upper, self.witness, self.near_tie = admits, verdict.point, verdict.near_tie
        else:
            self.doubted = min(self.doubted, radius)
        self.clock.report(certified_radius=self.lower)

    @property
    def top(self) -> float:
        return min(self.upper, self.doubted)

    def enclose(self) -> None:
        """Double the radius until a room is refused."""
        radius = max(self.lower, 0.5)
        while self.upper == math.inf and 2.0 * radius <= self.rooms.largest and not self.clock.expired:
            radius *= 2.0
            self.ask(radius)

    def close(self, gap: float, finite: bool) -> None:
        """Halve until the bounds meet; with finitely many critical radii also try the float below the upper one."""
        while self.top < math.inf and not self.clock.expired:
            below = float(from_ordinal(int(ordinal(self.top)) - 1))
            near = gap if self.upper <= self.doubted else max(gap, _DOUBTED_GAP)
            if self.top - self.lower <= near * self.top or below <= self.lower:
                return
            if finite and self.upper <= self.doubted:
                self.ask(below)
            middle = self.lower + (self.top - self.lower) / 2
            if self.lower < middle < self.top:
                self.ask(middle)

    def press(self) -> None:
        """Look for nearer witnesses above what the judge could not settle."""
        doubted = self.doubted
        while doubted < self.upper < math.inf and not self.clock.expired:
            middle = doubted + (self.upper - doubted) / 2
            if not doubted < middle < self.upper or self.upper - doubted <= _DOUBTED_GAP * self.upper:
                return
            refuted = self.upper
            self.ask(middle)
            if self.upper == refuted:
                doubted = middle
