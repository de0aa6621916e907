"""One region for many rows against every centre: whole numbers, all families, rooms and kinds of columns."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from elbowroom import Box, InputError, Status
from elbowroom.problem import RecourseProblem, Target
from elbowroom.problem.kinds import Direction
from elbowroom.problem.on import On
from tests.support import whole_truth
from tests.support.exact import GAP, attacked


def meeting(seed: int, family: str) -> str:
    """One question about two to five rows; how it ended."""
    rng = np.random.default_rng([211, seed])
    drawn, _ = whole_truth.drawn(seed, (family,))
    plain = tuple(replace(f, price_up=1.0, price_down=1.0, price_change=0.0) for f in drawn.space.features)
    room = Box(drawn.room.radius) if drawn.walls.on is not On.ALL else replace(drawn.room, categories=None)  # type: ignore[union-attr,call-arg]
    problem = replace(drawn, space=replace(drawn.space, features=plain), room=room)
    space = problem.space
    rows = np.array([_row(rng, problem) for _ in range(int(rng.integers(2, 6)))])
    explainer, wanted = whole_truth.explainer_of(problem), problem.target
    try:
        answer = explainer.common_region(rows, problem.room, wanted, time_limit=30.0)
    except InputError:
        return "refused"
    truth = _closest(problem, rows, wanted)
    said = f"meeting, seed {seed}, {family}, {problem.room}: {answer.status.name}"
    assert answer.lower_bound <= truth * (1.0 + 1e-9) + 1e-9, (said, answer.lower_bound, truth)
    if answer.status is Status.UNKNOWN and family in (
        "network",
        "oblique",
    ):  # where a proof may take too long for one row as well
        return "open"
    if answer.region is None:
        assert math.isinf(truth) and answer.status is Status.NONE_EXISTS, (said, truth, answer.reason)
        return "none"
    attacked(explainer, answer.region)
    center = answer.region.body.center
    costs = [_cost(problem, row, center) for row in rows]
    assert np.allclose(answer.distances, costs, rtol=1e-12, atol=1e-12), said
    assert abs(answer.distance - truth) <= GAP * truth + 1e-9, (said, answer.distance, truth)
    assert not space.members or int(answer.intervals["outside"].max()) <= len(rows), said
    return "region" if answer.status is Status.OPTIMAL else "region with a gap"


def _row(rng: np.random.Generator, problem: RecourseProblem) -> np.ndarray:
    """Another row; most of them share what is immutable."""
    space = problem.space
    row = np.array([float(rng.integers(int(f.lower), int(f.upper) + 1)) for f in space.features])
    for members in space.members:
        row[members] = np.eye(members.size)[rng.integers(members.size)]
    frozen = np.array([f.immutable for f in space.features])
    return np.where(frozen & (rng.random() < 0.9), problem.factual, row)


def _cost(problem: RecourseProblem, row: np.ndarray, center: np.ndarray) -> float:
    space = problem.space
    single = space.group_of < 0
    cost = float((space.weight / space.scale * np.abs(center - row))[single].sum())
    for group, members in zip(space.groups, space.members, strict=True):
        cost += group.weight * bool((center[members] != row[members]).any())
    return cost


def _closest(problem: RecourseProblem, rows: np.ndarray, wanted: Target) -> float:
    each = [RecourseProblem.ask(problem.model, problem.space, row, problem.room, wanted, "l1") for row in rows]
    lower, upper = np.max([one.lower for one in each], axis=0), np.min([one.upper for one in each], axis=0)
    if (lower > upper).any():
        return math.inf
    features = tuple(
        replace(f, lower=float(low), upper=float(high), immutable=False, direction=Direction.ANY)
        for f, low, high in zip(problem.space.features, lower, upper, strict=True)
    )
    merged = replace(problem.space, features=features)
    start = np.clip(rows[0], lower, upper)
    for members in problem.space.members:
        open_ = [k for k in range(members.size) if upper[members[k]] >= 1.0 and not np.delete(lower[members], k).any()]
        if not open_:
            return math.inf
        start[members] = np.eye(members.size)[open_[0]]
    asked = RecourseProblem.ask(problem.model, merged, start, problem.room, wanted, "l1")
    costs = [np.mean([_cost(problem, row, center) for row in rows]) for _, center in whole_truth.answers(asked)]
    return float(min(costs, default=math.inf))
