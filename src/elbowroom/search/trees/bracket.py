"""Balls and diamonds on trees, bracketed by boxes.

With semi-axes r and k columns that both have room and occur in a split, the box of half-widths r contains the ball,
and the ball contains the box of half-widths r / sqrt(k) (the diamond: r / k) on these columns. So the closest centre
for the outer box is valid for the ball, and the closest distance for the inner box is a lower bound. The outer answer
is then pulled towards the factual, one column at a time, as far as the judge follows.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from elbowroom.models import TreeEnsemble
from elbowroom.numerics import TOLERANCES, Floats
from elbowroom.problem import Box, RecourseProblem, Shape
from elbowroom.result.certificate import Certificate
from elbowroom.search.contract import Clock, Outcome, Referee
from elbowroom.search.trees.branch import search_boxes
from elbowroom.search.trees.memory import TreeMemory

PULL_STEPS = 40  # halvings per column and pass: enough for 1e-12 of the move
PULL_PASSES = 4


def search_bracket(
    problem: RecourseProblem, accept: Referee, clock: Clock, seed: int, memory: TreeMemory | None = None
) -> Outcome:
    """A certified ball or diamond with both bounds; optimal only where the two boxes meet."""
    method = f"{problem.walls.shape.value} between boxes"
    if clock.expired:
        return Outcome(method, 0.0, reason="the time limit was reached before the search began")
    inner = replace(problem, room=_box(problem, _inner_widths(problem)))
    lower = search_boxes(inner, accept.about(inner), clock.part(0.4), seed, memory)
    if math.isinf(lower.lower_bound):
        return Outcome(
            method, math.inf, reason=f"not even a box inside the {problem.walls.shape.value}: {lower.reason}"
        )
    clock.report(lower_bound=lower.lower_bound, note="inner box")

    best: Floats | None = None
    certificate: Certificate | None = None
    starts = [] if lower.center is None else [lower.center]
    outer = replace(problem, room=_box(problem, problem.walls.up))
    upper = search_boxes(outer, accept.about(outer), clock.part(0.5), seed, memory)
    if upper.center is not None:
        starts.append(upper.center)
    for start in starts:
        verdict = accept(start)
        if isinstance(verdict, Certificate) and (best is None or problem.measure(start) < problem.measure(best)):
            best, certificate = start, verdict
    if best is None or certificate is None:
        reason = f"no {problem.walls.shape.value} was found between the boxes inside and around it"
        return Outcome(method, lower.lower_bound, reason=reason)
    best, certificate = _pull(problem, best, certificate, accept, clock)
    return Outcome(method, lower.lower_bound, best, certificate, tolerance=TOLERANCES.continuous_gap)


def _inner_widths(problem: RecourseProblem) -> Floats:
    model = problem.model
    assert isinstance(model, TreeEnsemble)
    split = np.array([cuts.size > 0 for cuts in model.cuts])
    used = split & (problem.walls.up > 0) & (problem.lower < problem.upper)
    k = max(1, int(used.sum()))
    share = 1.0 / (math.sqrt(k) if problem.walls.shape is Shape.BALL else k) * (1.0 - 1e-12)
    return np.where(used, problem.walls.up * share, 0.0)


def _box(problem: RecourseProblem, widths: Floats) -> Box:
    free = {problem.space.groups[g].name: "any" for g in problem.walls.free_groups}
    return Box(tuple(float(w) for w in widths), categories=free)


def _pull(
    problem: RecourseProblem, center: Floats, certificate: Certificate, accept: Referee, clock: Clock
) -> tuple[Floats, Certificate]:
    """Move single columns back towards the factual as long as the judge accepts: all the way, else by bisection."""
    numeric = np.flatnonzero((problem.space.group_of < 0) & (problem.lower < problem.upper))
    for _ in range(PULL_PASSES):
        before = problem.measure(center)
        moves = problem.metric.moves(problem.factual, center)[: center.size]
        for f in numeric[np.argsort(-moves[numeric])]:
            home = float(np.clip(problem.factual[f], problem.lower[f], problem.upper[f]))
            good, bad, whole = float(center[f]), home, bool(problem.space.whole[f])
            for step in range(PULL_STEPS):
                if good == home or clock.expired:
                    break
                middle = home if step == 0 else good + (bad - good) / 2
                middle = float(np.round(middle)) if whole else middle
                if middle in (good, bad) and step > 0:
                    break
                candidate = center.copy()
                candidate[f] = middle
                verdict = accept(candidate)
                if isinstance(verdict, Certificate):
                    good, center, certificate = middle, candidate, verdict
                else:
                    bad = middle
        if clock.expired or problem.measure(center) > before * (1.0 - TOLERANCES.continuous_gap):
            break
    return center, certificate
