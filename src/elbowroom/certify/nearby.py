"""The judge for a linear model with all models near it: those of its models that can be worst somewhere in the body, each judged
as any linear model. See `models.nearby` for why they speak for the whole set."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Final

import numpy as np

from elbowroom.certify import linear
from elbowroom.models.nearby import NearbyLinear
from elbowroom.problem import Body, Target
from elbowroom.problem.shapes import is_round
from elbowroom.result import Certificate, Counterexample, Undecided, Verdict

ONE_NEARBY: Final = "one of the models nearby"


def judge_nearby(model: NearbyLinear, target: Target, body: Body, deadline: float) -> Verdict:
    """Certificate for every model of the set; or a point where one of them has another outcome."""
    start, free = time.perf_counter(), np.zeros(body.lower.size, dtype=np.bool_)
    for members in body.free_groups:
        free[members] = True
    box = not is_round(body.shape)
    worst = model.worst(target.index(model.info), target.need, body.lower, body.upper, box, free)
    if worst is None:
        return Undecided(
            "too many of the columns that arrive at the weights change their sign inside the region",
            time.perf_counter() - start,
        )
    proven: list[Certificate] = []
    tie: Verdict | None = None
    for member in worst.values():
        found = linear.judge_linear(member, target, body, deadline)
        if isinstance(found, Certificate):
            proven.append(found)
        elif isinstance(found, Counterexample) and not found.near_tie:
            return replace(found, member=ONE_NEARBY)
        else:
            tie = tie or found
    if tie is not None:
        return replace(tie, member=ONE_NEARBY) if isinstance(tie, Counterexample) else tie
    method = f"{proven[0].method}, at the worst of the weights nearby"
    return Certificate(
        model.fingerprint, target, body, method, min(c.margin for c in proven), time.perf_counter() - start,
        (*proven[0].assumptions, model.info.nearby),
    )  # fmt: skip
