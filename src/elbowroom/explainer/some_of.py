"""Questions about given points and regions where some of several models are enough: answered by way of each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from elbowroom.certify.judge import certify, certify_answer
from elbowroom.errors import InputError
from elbowroom.models import members_of
from elbowroom.numerics import Floats
from elbowroom.problem import Body, RecourseProblem
from elbowroom.result import Certificate, Inadmissible, RadiusResult, Region, Verdict, Widening
from elbowroom.result.widening import Side
from elbowroom.search.contract import Clock
from elbowroom.search.radius import largest_radius
from elbowroom.search.some_models import question_about
from elbowroom.search.widen import widest_box


def radius_for_some(problem: RecourseProblem, point: Floats, seconds: float) -> RadiusResult:
    """The largest radius at which enough models keep what is wanted of them: with r_i that of model i alone, the k-th
    largest r_i, or the smallest of those that have to be among them. Both bounds grow with those of every model."""
    target, clock = problem.target, Clock(seconds)
    found = []
    for i, member in enumerate(members_of(problem.model)):
        asked = question_about(problem, (i,))

        def accept(body: Body, seconds: float, looks: float, asked: RecourseProblem = asked) -> Verdict:
            broken = asked.broken_in(body)
            return (
                Inadmissible(broken) if broken is not None else certify(asked.model, asked.target, body, seconds, looks)
            )

        share = Clock(max(clock.remaining, 0.0) / (len(target.each) - i), nominal=clock.nominal)
        found.append(largest_radius(member, problem.space, point, asked.target, problem.walls.shape, accept, share))

    def reached(radii: Sequence[float]) -> float:
        return min([sorted(radii)[-(target.count or len(radii))], *(radii[i] for i in target.always)])

    lower, upper = reached([one.lower for one in found]), reached([one.upper for one in found])
    last = next(one for one in found if one.upper == upper)
    return replace(last, lower=lower, upper=upper, seconds=clock.seconds)


def widened_for_some(region: Region, problem: RecourseProblem, order: Sequence[str] | None, seconds: float) -> Widening:
    """The widest box throughout which the models that keep the region go on doing so."""
    verdict = certify_answer(problem, region.body, seconds)
    if not isinstance(verdict, Certificate):
        raise InputError(
            f"the region does not hold for {region.target.count} of these models ({getattr(verdict, 'reason', verdict)}); widen "
            "it with an explainer for the models it was made for, or explain again"
        )
    asked = question_about(problem, verdict.keepers)
    same = certify_answer(asked, region.body)
    assert isinstance(same, Certificate)  # each of them was just proven

    def accept(body: Body, seconds: float, looks: float) -> Verdict:
        broken = asked.broken_in(body)
        return certify_answer(asked, body, seconds, looks) if broken is None else Inadmissible(broken)

    narrow = replace(region, target=asked.target, certificate=same, rounding=None, origin=None)
    wide = widest_box(narrow, asked, order, accept, Clock(seconds))
    proven = certify_answer(problem, wide.region.body, math.inf)
    assert isinstance(proven, Certificate)
    info = problem.model.info

    def told(side: Side) -> Side:
        said = None if side.witness is None else info.says(problem.model.scores(side.witness[None]))[0]
        return replace(side, said=said)

    whole = replace(wide.region, target=region.target, certificate=proven, origin=region.origin, source=info.source)
    return replace(wide, region=whole, lows=tuple(map(told, wide.lows)), highs=tuple(map(told, wide.highs)))
