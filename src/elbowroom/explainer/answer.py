"""From the end of a search to what a user gets: a region, or no region, with what is proven about it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from elbowroom.errors import InputError
from elbowroom.explainer.attempt import Attempt
from elbowroom.explainer.opening import Opened
from elbowroom.explainer.plane import outcome_plane
from elbowroom.explainer.rounding import rounded_certificate
from elbowroom.problem import Distance, Room, Target
from elbowroom.result import NoRegion, Origin, Region, Status, WhyNot, Widening
from elbowroom.result.origin import is_closed
from elbowroom.search.contract import Ending


def answer(
    attempt: Attempt,
    ending: Ending,
    widen: Callable[..., Widening],
    origin: Origin,
    why_not: Callable[..., WhyNot] | None = None,
) -> Region | NoRegion:
    """The best accepted centre with both bounds; OPTIMAL if they are as close as the engine promises."""
    origin = replace(origin, tolerance=ending.tolerance)
    problem, referee, clock = attempt.problem, attempt.referee, attempt.clock
    if referee.certificate is not None:
        lower_bound = min(ending.lower_bound, referee.distance)
        closed = is_closed(referee.distance, lower_bound, ending.tolerance)
        rounding, rounding_kept = rounded_certificate(problem, referee.certificate.body)
        return Region(
            status=Status.OPTIMAL if closed else Status.CERTIFIED,
            space=problem.space,
            factual_values=problem.factual,
            predicted=problem.predicted,
            target=problem.target,
            room=problem.room,
            metric=problem.distance,
            distance=referee.distance,
            lower_bound=lower_bound,
            certificate=referee.certificate,
            method=ending.method,
            seconds=clock.seconds,
            source=problem.model.info.source,
            trace=tuple(clock.trace),
            counters=dict(ending.counters),
            rules=problem.rules,
            origin=origin,
            missing=problem.missing,
            labels=problem.labels,
            rounding=rounding,
            rounding_kept=rounding_kept,
            keeps=problem.keeps,
            kept=referee.final(),
            _widen=widen,
            _plane=partial(outcome_plane, problem.model),
        )
    return NoRegion(
        status=Status.NONE_EXISTS if math.isinf(ending.lower_bound) else Status.UNKNOWN,
        reason=ending.reason or "the search ended without an answer",
        space=problem.space,
        factual_values=problem.factual,
        target=problem.target,
        room=problem.room,
        metric=problem.distance,
        lower_bound=ending.lower_bound,
        method=ending.method,
        seconds=clock.seconds,
        trace=tuple(clock.trace),
        counters=dict(ending.counters),
        rules=problem.rules,
        predicted=problem.predicted,
        source=problem.model.info.source,
        origin=origin,
        missing=problem.missing,
        labels=problem.labels,
        keeps=problem.keeps,
        _why_not=why_not,
    )


def single_class(
    found: Opened,
    row: object,
    room: Room,
    distance: Distance | str,
    origin: Origin,
    why_not: Callable[..., WhyNot] | None = None,
) -> NoRegion:
    """A model with a single class gives it to every input."""
    model, space = found.model, found.space
    if not isinstance(room, Room):
        raise InputError(f"room={room!r}: give Box(...), Ball(...) or Diamond(...)")
    return NoRegion(
        status=Status.NONE_EXISTS,
        reason=f"the model has only the class {model.info.classes[0]!r}, so no input gets another one",
        space=space,
        factual_values=space.without_missing(space.row(row, allow_missing=True))[0],
        target=Target(None),
        room=room,
        metric=Distance.parse(distance),
        lower_bound=math.inf,
        method="auto",
        seconds=0.0,
        predicted=model.info.classes[0],
        source=model.info.source,
        origin=origin,
        labels=found.labels,
        _why_not=why_not,
    )
