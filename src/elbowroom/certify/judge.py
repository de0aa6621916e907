"""The one door to the judge: a parsed model, a wanted outcome, a set of points; a verdict.

Nothing in here knows how the set was found. What is certified is the body, exactly as given.
"""

from __future__ import annotations

import math
import time
from typing import assert_never

import numpy as np

from elbowroom.certify.trees import judge_trees
from elbowroom.errors import InputError
from elbowroom.models import LinearModel, Model, ReluNetwork, TreeEnsemble
from elbowroom.problem import Body, Shape, Target
from elbowroom.result import Verdict


def certify(model: Model, target: Target, body: Body, time_limit: float = math.inf) -> Verdict:
    """Certificate: every point of the body has the wanted outcome. Counterexample: one of them has not (or is too close
    to tell in floating point). Undecided: the time limit ended first."""
    deadline = time.perf_counter() + time_limit
    check_body(model, body)
    match model:
        case LinearModel():
            from elbowroom.certify.linear import judge_linear

            return judge_linear(model, target, body, deadline)
        case TreeEnsemble():
            return judge_trees(model, target, body, deadline)
        case ReluNetwork():
            from elbowroom.certify.network import judge_network

            return judge_network(model, target, body, deadline)
        case _:
            assert_never(model)


def check_body(model: Model, body: Body) -> None:
    """Refuse what is not a set of points of the model's input space. The message names the column and the value."""
    names = model.info.names
    for what in ("center", "lower", "upper", "axes", "whole"):
        array = getattr(body, what)
        if array.shape != (len(names),):
            raise InputError(f"region: {what} has shape {array.shape}, the model has {len(names)} columns")
    if not isinstance(body.shape, Shape):
        raise InputError(f"region: shape {body.shape!r} is unknown; use Shape.BOX, Shape.BALL or Shape.DIAMOND")
    grouped = np.zeros(len(names), dtype=bool)
    for members in body.free_groups:
        if members.size == 0 or members.min() < 0 or members.max() >= len(names) or grouped[members].any():
            raise InputError(f"region: free group {members.tolist()} is empty, overlaps another or names no column")
        grouped[members] = True
    for f, name in enumerate(names):
        low, center, high = body.lower[f], body.center[f], body.upper[f]
        if not (math.isfinite(low) and math.isfinite(center) and math.isfinite(high)):
            raise InputError(f"region, column {name!r}: [{low}, {center}, {high}] must be finite; give the room bounds")
        if not low <= center <= high:
            raise InputError(f"region, column {name!r}: the centre {center} lies outside [{low}, {high}]")
        if body.whole[f] and not (low.is_integer() and center.is_integer() and high.is_integer()):
            raise InputError(
                f"region, column {name!r}: [{low}, {center}, {high}] must be whole numbers; round low up and high down"
            )
        if grouped[f] and not (body.whole[f] and low >= 0.0 and high <= 1.0):
            raise InputError(
                f"region, column {name!r}: a member of a one-hot group must be a whole column within 0 and 1"
            )
        round_column = body.shape is not Shape.BOX and low < high and not grouped[f]
        if round_column and not (math.isfinite(body.axes[f]) and body.axes[f] > 0.0):
            raise InputError(f"region, column {name!r}: semi-axis {body.axes[f]} must be a positive number")
    for members in body.free_groups:
        if np.unique(members).size != members.size or body.center[members].sum() != 1.0:
            raise InputError(
                f"region, one-hot group of {[names[f] for f in members]}: exactly one member must be 1 at the centre"
            )
