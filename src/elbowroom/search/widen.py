"""The widest box around a certified centre.

A box is given by its two ends in every column. Each of these sides climbs a ladder of ends, and after every climb the judge
is asked about what is new:

* trees: one rung per cell between cuts (all values of a cell are equal to the model), exact;
* other families: every float is a rung, every whole number in whole columns.

A side stops at the bounds of the question, at the horizon (far enough, in scales, to be called open), or where the
judge gives a counterexample on the next rung. Boxes only grow, and a larger box contains what the smaller one was
refused for: so a side that was refused once stays refused, and at the end every refused side is maximal against the
final box.

All sides of a stage climb together, level by level, each level twice as wide as the one before (in units of the scales):
no feature takes all the room before the others had a chance. The columns named in ``order`` come first, one by one, then
those that the answer changes, then the rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, assert_never

import numpy as np

from elbowroom.errors import InputError
from elbowroom.models import LinearModel, Model, ObliqueEnsemble, ReluNetwork, TreeEnsemble
from elbowroom.numerics import Floats, next_up, next_value
from elbowroom.problem import Body, Box, RecourseProblem, Shape, Walls
from elbowroom.problem.on import On
from elbowroom.problem.parsing import is_sequence, known_names
from elbowroom.problem.shapes import check_known
from elbowroom.result import (
    Certificate,
    Counterexample,
    End,
    Inadmissible,
    Region,
    Side,
    Status,
    Undecided,
    Widening,
)
from elbowroom.result.widening import OPEN_FROM
from elbowroom.search.contract import LOOKS_PER_SECOND, AcceptBody, Clock
from elbowroom.search.ladders import FAR, EveryFloat, EveryWhole, Ladder, Listed, cell_ends, horizon, widths_within

SHAPES: Final = (Shape.BOX,)
_FIRST_LEVEL: Final = 2.0**-7  # in units of the scales
_CLOSE: Final = 1e-3  # in units of the scales: how near to a refused end the slow judges are asked
_SHARE: Final = 0.2  # of what the judge nominally does in the time limit: one question to him
_RESERVE: Final = 0.3  # of all time: kept for the last certificate, where growing asks about parts only


def widest_box(region: Region, problem: RecourseProblem, order: object, accept: AcceptBody, clock: Clock) -> Widening:
    """Grow the region's box around its centre; see the module. ``problem`` is the question that it answers."""
    check_known(region.body.shape, SHAPES, "the search for the widest box")
    stages = _stages(problem, region.body.center, order)
    growth = _Growth(problem, region, accept, clock)
    try:
        for stage in stages:
            growth.grow(stage)
    except KeyboardInterrupt:
        pass  # what was certified so far is the answer; its other sides are reported as unproven
    return growth.result(region)


def _stages(problem: RecourseProblem, center: Floats, order: object) -> list[list[int]]:
    """Columns that climb together, in the order in which they do."""
    space = problem.space
    first: list[int] = []
    if order is not None:
        names = [order] if isinstance(order, str) else order
        if not isinstance(names, Iterable) or not is_sequence(names):
            raise InputError(f"order={order!r}: give a list of column names")
        listed = list(names)
        known_names(listed, space.names, "order")
        first = [space.position[str(name)] for name in listed]
    rest = [f for f in range(len(space.names)) if f not in first]
    changed = center != problem.factual
    return [*([f] for f in first), [f for f in rest if changed[f]], [f for f in rest if not changed[f]]]


@dataclass(eq=False)
class _Climb:
    """One side on its ladder: certified up to rung ``at``; ``refused`` is the lowest rung above it that was not."""

    column: int
    sign: int  # -1: below the centre, 1: above it
    ladder: Ladder
    top: End  # what the last rung means
    refused: int
    at: int = 0
    kept: int = 0  # where it was when the whole box was last certified
    witness: Floats | None = None  # a bad point of the refused rung; None if the judge could not decide
    settled: bool = False  # refused, and as near to the refused rung as it will get

    @property
    def done(self) -> bool:
        return self.settled or self.at == self.ladder.last


class _Growth:
    """The box, its sides, and the last certificate of a whole box."""

    def __init__(self, problem: RecourseProblem, region: Region, accept: AcceptBody, clock: Clock) -> None:
        self.problem, self.accept, self.clock = problem, accept, clock
        self.center = region.body.center
        self.walls = problem.walls_at(self.center)
        self.exact = isinstance(problem.model, TreeEnsemble)
        self.close = _gap_of(problem.model)
        self.start = region.body.lower, region.body.upper
        self.low, self.high = np.maximum(region.body.lower, problem.lower), np.minimum(region.body.upper, problem.upper)
        self.body = self._body(self.low, self.high)
        self.certificate = self._first(region)
        self.bad: list[Floats] = []  # points that the judge refused, each a reason against every box around it
        self.climbs = [c for f in range(self.center.size) for c in (self._climb(f, -1), self._climb(f, 1))]

    def _first(self, region: Region) -> Certificate:
        """The region as it is must hold for this model."""
        verdict = self.accept(self.body, self.clock.remaining, math.inf)
        match verdict:
            case Certificate():
                return verdict
            case Counterexample():
                shown = ", ".join(
                    f"{n} = {v!r}" for n, v in zip(region.space.names, verdict.point.tolist(), strict=True)
                )
                raise InputError(
                    f"the region does not hold for this model, which says {verdict.label!r} at {shown}; "
                    "widen it with an explainer for the model it was made for, or explain again"
                )
            case Undecided() | Inadmissible():
                if region.certificate.fingerprint == self.problem.model.fingerprint:
                    return region.certificate
                raise InputError(
                    f"whether the region holds for this model was not decided ({verdict.reason}); raise time_limit"
                )
            case _:
                assert_never(verdict)

    # ---- boxes --------------------------------------------------------------------------------------------------------
    def _body(self, low: Floats, high: Floats) -> Body:
        """The box between two ends, around the room that widths can state."""
        problem = self.problem
        down, up = self._widths(low, high)
        walls = Walls(Shape.BOX, down, up, problem.walls.free_groups)
        room = Body.around(
            self.center, walls, problem.lower, problem.upper, problem.space.whole_room, problem.space.members
        )
        return replace(room, lower=low + 0.0, upper=high + 0.0)

    def _widths(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Of the largest room inside the box; as they were asked for where the box has not grown, and long enough to be
        clipped where it ends at a bound."""
        problem, single = self.problem, self.problem.space.group_of < 0
        sides = (
            (low, -self.center, -low, problem.lower, self.start[0], self.walls.down),
            (high, self.center, high, problem.upper, self.start[1], self.walls.up),
        )
        widths = []
        for end, center, ends, limit, first, asked in sides:
            grown = np.where(end == limit, next_up(np.abs(end - self.center)), widths_within(center, ends))
            widths.append(np.where(single & (end != first), grown, asked))
        return widths[0], widths[1]

    def _moved(self, climb: _Climb, rung: int) -> tuple[Floats, Floats]:
        low, high = self.low.copy(), self.high.copy()
        (low if climb.sign < 0 else high)[climb.column] = climb.sign * climb.ladder.end(rung)
        return low, high

    def _climb(self, f: int, sign: int) -> _Climb:
        """The ladder of one side, from its present rung to its bound or to the horizon."""
        problem, space = self.problem, self.problem.space
        limit = float((problem.lower if sign < 0 else problem.upper)[f]) * sign
        center, edge = float(self.center[f]) * sign, float((self.low if sign < 0 else self.high)[f]) * sign
        whole, here = bool(space.whole_room[f]), Listed(np.array([edge]))
        if space.group_of[f] >= 0 or problem.lower[f] == problem.upper[f]:
            return _Climb(f, sign, here, End.FIXED, 1)
        if edge >= limit:
            return _Climb(f, sign, here, End.BOUND, 1)
        far = horizon(center, float(space.scale[f]) * _horizon_of(problem.model), whole)
        last, top = (limit, End.BOUND) if limit - center <= far else (center + far, End.OPEN)
        if last <= edge:
            return _Climb(f, sign, here, top, 1)
        ladder: Ladder
        if isinstance(problem.model, TreeEnsemble):
            others = [each.model.cuts[f] for each in problem.further if each.everywhere]
            cuts = np.unique(np.concatenate([problem.model.cuts[f], *others]))
            ends = cell_ends(cuts, sign, edge, last, whole)
            ladder = Listed(np.concatenate([[edge], ends, [last]]))
        else:
            ladder = EveryWhole(edge, last) if whole else EveryFloat(edge, last)
        return _Climb(f, sign, ladder, top, ladder.last + 1)

    # ---- growing ------------------------------------------------------------------------------------------------------
    def grow(self, columns: Sequence[int]) -> None:
        """Let the sides of these columns climb together until each is at its top or refused."""
        level = _FIRST_LEVEL
        live = [c for c in self.climbs if c.column in columns and not c.done]
        while live and self._left > 0.0:
            for climb in live:
                self._reach(climb, level * float(self.problem.space.scale[climb.column]))
            if not self._certify():
                return
            live = [c for c in live if not c.done]
            level *= 2.0

    @property
    def _left(self) -> float:
        """Seconds for growing."""
        return self.clock.remaining - (_RESERVE * self.clock.time_limit if self.exact else 0.0)

    def _reach(self, climb: _Climb, width: float) -> None:
        """Climb to the last rung within this width; if it is refused, as high as possible, by halving."""
        rung = climb.ladder.upto(climb.sign * float(self.center[climb.column]) + width)
        if rung <= climb.at or self._step(climb, rung):
            return
        while climb.at + 1 < climb.refused and self._left > 0.0:
            middle = self._between(climb)
            if middle is None:
                break
            self._step(climb, middle)
        climb.settled = True

    def _between(self, climb: _Climb) -> int | None:
        """A rung halfway to the refused one; None if that is near enough."""
        if self.close == 0.0 or self.problem.space.whole_room[climb.column]:
            return (climb.at + climb.refused) // 2
        low, high = climb.ladder.end(climb.at), climb.ladder.end(climb.refused)
        if high - low <= self.close * self.problem.space.scale[climb.column]:
            return None
        return min(max(climb.ladder.upto(low + (high - low) / 2), climb.at + 1), climb.refused - 1)

    def _step(self, climb: _Climb, rung: int) -> bool:
        """Ask about one rung; True if the box now reaches it."""
        low, high = self._moved(climb, rung)
        body = self._body(low, high)
        asked = _new_part(self.body, body, climb.column, climb.sign) if self.exact else body
        known = self._known(asked)
        if known is None:
            verdict = self.accept(asked, max(self._left, 0.0), LOOKS_PER_SECOND * self.clock.nominal * _SHARE)
            if isinstance(verdict, Certificate):
                climb.at, self.low, self.high, self.body = rung, low, high, body
                if not self.exact:
                    self._keep(verdict)
                return True
            if isinstance(verdict, Counterexample) and not self.body.contains(verdict.point)[0]:
                known = verdict.point  # one inside the certified box says only that the larger box is harder to judge
                self.bad.append(known)
        climb.refused, climb.witness = rung, known
        return False

    def _known(self, body: Body) -> Floats | None:
        """A point of the body that the judge has refused before."""
        if not self.bad:
            return None
        inside = np.flatnonzero(body.contains(np.array(self.bad)))
        return self.bad[int(inside[0])] if inside.size else None

    def _certify(self) -> bool:
        """Have the whole box certified; if that fails, go back to the last one that was."""
        if all(climb.at == climb.kept for climb in self.climbs):
            return True
        verdict = self.accept(self.body, max(self.clock.remaining, 0.0), math.inf)
        if isinstance(verdict, Certificate):
            self._keep(verdict)
            return True
        self._go_back()
        return False

    def _keep(self, certificate: Certificate) -> None:
        self.certificate = certificate
        for climb in self.climbs:
            climb.kept = climb.at

    def _go_back(self) -> None:
        for climb in self.climbs:
            climb.at = climb.kept
            (self.low if climb.sign < 0 else self.high)[climb.column] = climb.sign * climb.ladder.end(climb.at)
        self.body = self.certificate.body

    # ---- the answer ---------------------------------------------------------------------------------------------------
    def result(self, region: Region) -> Widening:
        """The last certified box, with its sides as they were then."""
        self._go_back()
        names, single = self.problem.space.names, self.problem.space.group_of < 0
        down, up = self._widths(self.low, self.high)
        room = Box(
            low={names[f]: float(down[f]) for f in np.flatnonzero(single)},
            high={names[f]: float(up[f]) for f in np.flatnonzero(single)},
            categories=region.room.categories,
        )
        wide = replace(self._about_this_model(region), room=room, certificate=self.certificate, rounding=None)
        return Widening(
            wide,
            tuple(self._side(c) for c in self.climbs if c.sign < 0),
            tuple(self._side(c) for c in self.climbs if c.sign > 0),
            self.clock.seconds,
        )

    def _about_this_model(self, region: Region) -> Region:
        """What the region says besides its box. How close another region could be was proven for the model that it came
        from, and for rooms that lie within the wide one around every centre; otherwise nothing of that is known."""
        model, on = self.problem.model, self.problem.walls.on
        if region.certificate.fingerprint == model.fingerprint:
            if on is On.ALL:
                return region
            status = Status.CERTIFIED if region.distance > 0.0 else Status.OPTIMAL
            return replace(region, status=status, lower_bound=0.0, few=None)
        return replace(
            region,
            status=Status.CERTIFIED if region.distance > 0.0 else Status.OPTIMAL,
            lower_bound=0.0,
            predicted=self.problem.predicted,
            source=model.info.source,
            trace=(),
            origin=None,
            few=None,
            _widen=None,
            _plane=None,
        )

    def _side(self, climb: _Climb) -> Side:
        if climb.at == climb.ladder.last:
            return Side(climb.top)
        if climb.refused > climb.ladder.last or climb.witness is None:
            return Side(End.UNPROVED)
        if not self._body(*self._moved(climb, climb.refused)).contains(climb.witness)[0]:
            return Side(End.UNPROVED)  # refused when other sides were longer than in the box that was certified
        model = self.problem.model
        said = model.info.says(model.scores(climb.witness[None]))[0]
        return Side(End.MAXIMAL if climb.refused == climb.at + 1 else End.UNPROVED, climb.witness, said)


def _gap_of(model: Model) -> float:
    """How near to a refused end a family is asked; 0: down to neighbouring rungs."""
    match model:
        case LinearModel() | TreeEnsemble():
            return 0.0
        case ReluNetwork() | ObliqueEnsemble():
            return _CLOSE
        case _:
            assert_never(model)


def _horizon_of(model: Model) -> float:
    """How far an open side goes, in scales. Bounds on the rounding of networks grow with the numbers in the box, so that
    a side without an end would cost the others their proof."""
    return FAR if isinstance(model, (TreeEnsemble, LinearModel)) else OPEN_FROM


def _new_part(old: Body, new: Body, f: int, sign: int) -> Body:
    """The points of the larger box that are not in the smaller one: a box as well, as they differ in one side."""
    lower, upper, center = new.lower.copy(), new.upper.copy(), new.center.copy()
    if sign > 0:
        lower[f] = center[f] = next_value(old.upper[f], bool(new.whole[f]))
    else:
        upper[f] = center[f] = -next_value(-old.lower[f], bool(new.whole[f]))
    return replace(new, lower=lower, upper=upper, center=center)
