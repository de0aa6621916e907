"""One region that all rows of a group can move to: questions about one row whose moves cost what all rows pay on average."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from elbowroom.errors import InputError
from elbowroom.problem import RecourseProblem, Room
from elbowroom.problem.on import On
from elbowroom.result import NoRegion, Region
from elbowroom.result.common import CommonRegion
from elbowroom.search.contract import Clock
from elbowroom.search.group.meeting import Meeting

if TYPE_CHECKING:
    from elbowroom.explainer.explainer import Explainer

ROUNDED: Final = 1e-9  # relative: a gap that is no more than rounding


def meeting_of(problems: Sequence[RecourseProblem]) -> Meeting:
    """The rows together, or why this is not known for them."""
    first = problems[0]
    if first.walls.on is not On.ALL or first.walls.free_groups:
        raise InputError("a common region is known for rooms around all columns; leave on= and categories= out")
    if first.metric.priced or first.metric.slant is not None:
        raise InputError("a common region is not known together with prices, causes or a covariance; leave them out")
    return Meeting(tuple(problems))


def common_region(explainer: Explainer, meeting: Meeting, room: Room, clock: Clock, seed: int) -> CommonRegion:
    """Combinations of categories one after the other, cheapest first, as long as one of them may be closer on average."""
    best: Region | None = None
    least, bound, reason = math.inf, math.inf, meeting.trouble
    tolerance = 0.0
    parts = [] if reason else meeting.parts()
    target = meeting.problems[0].target
    for place, (cost, start, space) in enumerate(parts):
        if cost >= least:
            break
        share = max(clock.remaining, 0.0) / (len(parts) - place)
        row = space.table(start[None]).iloc[0]
        found = explainer.with_space(space).explain(row, room, target, time_limit=share, seed=seed)
        bound = min(bound, cost + found.lower_bound)
        if isinstance(found, NoRegion):
            reason = reason or found.reason
            continue
        tolerance = max(tolerance, found.origin.tolerance if found.origin is not None else 0.0)
        distance = float(meeting.distances(found.body.center).mean())
        if distance < least:
            best, least = found, distance
    slack = meeting.slack()
    lower = max(0.0, min(bound - slack, least)) if math.isfinite(bound) else bound
    rounding = max(ROUNDED, 2.0 * slack / least) if 0.0 < least < math.inf else ROUNDED
    return CommonRegion(
        rows=meeting.space.table(meeting.rows),
        target=target,
        region=best,
        distances=np.full(len(meeting.problems), math.inf) if best is None else meeting.distances(best.body.center),
        lower_bound=lower,
        tolerance=max(tolerance, rounding),
        reason=reason,
        seconds=clock.seconds,
        labels=meeting.problems[0].labels,
    )
