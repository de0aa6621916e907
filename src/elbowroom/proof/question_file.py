"""The question as a proof file states it: columns by number, limits, prices and widths as they are computed with."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np

from elbowroom.models import LinearModel, ReluNetwork, TreeEnsemble
from elbowroom.models.values import ValueRange
from elbowroom.numerics import Floats
from elbowroom.problem import RecourseProblem
from elbowroom.problem.body import Body
from elbowroom.problem.conditions import Conditions
from elbowroom.problem.on import On


def question_document(problem: RecourseProblem, body: Body | None) -> dict[str, Any]:
    """Where some columns have no room, the room is that of the answer's own centre."""
    space, need = problem.space, problem.target.need
    walls = problem.walls if body is None else problem.walls_at(body.center)
    lower, upper = problem.limits
    return {
        "factual": problem.factual.tolist(),
        "lower": _limits(lower),
        "upper": _limits(upper),
        "whole": np.flatnonzero(space.whole_room).tolist(),
        "groups": [
            {"members": members.tolist(), "price": float(price), "free": g in problem.walls.free_groups}
            for g, (members, price) in enumerate(zip(space.members, problem.metric.group_price, strict=True))
        ],
        "norm": problem.distance.value,
        "factor": problem.metric.factor.tolist(),
        "room": {
            "shape": problem.walls.shape.value,
            "down": np.where(space.group_of >= 0, 0.0, walls.down).tolist(),
            "up": np.where(space.group_of >= 0, 0.0, walls.up).tolist(),
        },
        "most_changes": problem.conditions.most_changes,
        "target": {"class": problem.target_index, "probability": None if isinstance(need, ValueRange) else need},
    }


def region_document(body: Body) -> dict[str, Any]:
    return {"center": body.center.tolist(), "lower": body.lower.tolist(), "upper": body.upper.tolist()}


def _limits(ends: Floats) -> list[float | None]:
    return [end if math.isfinite(end) else None for end in ends.tolist()]


def why_not_at_all(problem: RecourseProblem) -> str | None:
    """Why neither half can be written, by name; None if the question and its model have a file."""
    if not isinstance(problem.model, TreeEnsemble | LinearModel | ReluNetwork):
        return f"no proofs can be written for a {type(problem.model).__name__} yet"
    if problem.model.info.is_regressor:
        return "no proofs can be written for the values of a regressor yet"
    if problem.missing:
        return f"no proofs can be written for rows in which a number is missing ({problem.missing[0]!r}) yet"
    return None


def why_no_bound(problem: RecourseProblem) -> str | None:
    """Why nothing can be written about closer centres, by name; None if it can be tried."""
    conditions = problem.conditions
    others = [each.name for each in fields(Conditions) if each.name != "most_changes"]
    if any(getattr(conditions, name) for name in others) or problem.centers is not problem.limits:
        return "a proof that no closer centre exists cannot be written under rules other than AtMost yet"
    if problem.walls.on is not On.ALL:
        return 'a proof that no closer centre exists cannot be written for a room on="changed" or on="kept" yet'
    if problem.metric.priced:
        return "a proof that no closer centre exists cannot be written for features with prices of their own yet"
    if problem.metric.slant is not None:
        return "a proof that no closer centre exists cannot be written for causes or a covariance yet"
    return None
