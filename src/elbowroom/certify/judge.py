"""The one door to the judge: a parsed model, a wanted outcome, a set of points; a verdict.

Nothing in here knows how the set was found. What is certified is the body, exactly as given.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import assert_never

import numpy as np

from elbowroom.certify import trees
from elbowroom.errors import InputError
from elbowroom.kernels.threads import one_thread
from elbowroom.models import LinearModel, Model, ObliqueEnsemble, ReluNetwork, TreeEnsemble, members_of
from elbowroom.models.nearby import NearbyLinear
from elbowroom.problem import Body, RecourseProblem, Shape, Target
from elbowroom.problem.further import Further
from elbowroom.problem.shapes import check_known, is_round
from elbowroom.result import Certificate, Counterexample, Verdict


def certify_answer(
    problem: RecourseProblem, body: Body, time_limit: float = math.inf, looks: float = math.inf
) -> Verdict:
    """All that an answer to a question claims of a body: the wanted outcome at every point of it, and the further margins
    that the rules ask for, at its centre or everywhere. The certificate lists these."""
    return certify_with(problem.model, problem.target, body, problem.conditions.further, time_limit, looks)


def certify_with(
    model: Model,
    target: Target,
    body: Body,
    further: Sequence[Further],
    time_limit: float = math.inf,
    looks: float = math.inf,
) -> Verdict:
    """The model's outcome at every point of a body, and these further margins where they are asked for. What only rounding
    decides is reported last: what is certainly wrong says more."""
    deadline = time.perf_counter() + time_limit
    proven: Certificate | None = None
    near_tie: Counterexample | None = None
    seconds = 0.0
    for each in (*(f for f in further if not f.everywhere), None, *(f for f in further if f.everywhere)):
        left = deadline - time.perf_counter()
        found = certify(model, target, body, left, looks) if each is None else _certify_further(each, body, left, looks)
        if isinstance(found, Counterexample) and found.near_tie and further:
            near_tie = near_tie or found
        elif not isinstance(found, Certificate):
            return found
        elif each is None:
            proven = found
        seconds += found.seconds
    if near_tie is not None or proven is None:
        assert near_tie is not None
        return near_tie
    return replace(proven, seconds=seconds, further=tuple(each.key for each in further)) if further else proven


def _certify_further(further: Further, body: Body, time_limit: float, looks: float) -> Verdict:
    """The verdict on one further margin; a counterexample says whose it is."""
    verdict = certify(further.model, further.target, further.where(body), time_limit, looks)
    if isinstance(verdict, Counterexample):
        return replace(verdict, source=further.source, at_center=not further.everywhere)
    return verdict


def certify(model: Model, target: Target, body: Body, time_limit: float = math.inf, looks: float = math.inf) -> Verdict:
    """Certificate: every point of the body has the wanted outcome. Counterexample: one of them does not (or is too
    close to tell in floating point). Undecided: a limit was reached first.

    ``looks`` limits the work: nodes of the judge's search, or shares of a larger one. Whoever asks about many bodies limits
    looks and not seconds, so that verdicts do not depend on the machine. (Linear models have a limit of their own.)"""
    deadline = time.perf_counter() + time_limit
    members = members_of(model)
    if members:
        return _certify_each(model, members, target, body, deadline, looks)
    match model:
        case NearbyLinear():
            from elbowroom.certify.linear import SHAPES
            from elbowroom.certify.nearby import judge_nearby

            check_body(model, body, SHAPES)
            return judge_nearby(model, target, body, deadline)
        case LinearModel():
            from elbowroom.certify import linear

            check_body(model, body, linear.SHAPES)
            return linear.judge_linear(model, target, body, deadline)
        case TreeEnsemble():
            check_body(model, body, trees.SHAPES)
            return _with_those_nearby(trees.judge_trees(model, target, body, deadline, looks), model)
        case ObliqueEnsemble():
            from elbowroom.certify import oblique

            check_body(model, body, oblique.SHAPES)
            return oblique.judge_oblique(model, target, body, deadline, looks)
        case ReluNetwork():
            from elbowroom.certify import network

            check_body(model, body, network.SHAPES)
            with one_thread():
                return network.judge_network(model, target, body, deadline, looks)
        case _:
            assert_never(model)


def _with_those_nearby(verdict: Verdict, model: Model) -> Verdict:
    """What a verdict about a model with all models near it says of these."""
    if not model.info.nearby:
        return verdict
    from elbowroom.certify.nearby import ONE_NEARBY

    if isinstance(verdict, Certificate):
        return replace(verdict, assumptions=(*verdict.assumptions, model.info.nearby))
    return replace(verdict, member=ONE_NEARBY) if isinstance(verdict, Counterexample) else verdict


def _certify_each(
    model: Model, members: Sequence[Model], target: Target, body: Body, deadline: float, looks: float
) -> Verdict:
    """The verdict of every member's own judge on its own target. What is certainly wrong is reported before what only rounding
    decides, or what is not decided.

    Where some of the members are enough, each is judged all the same (until too many refuse), in a share of the time that is
    left: those that say what is wanted of them *at every point* have to be enough. A member that is not decided in time
    counts as one that refuses."""
    target.index(model.info)
    proven: dict[int, Certificate] = {}
    refused: dict[int, Counterexample] = {}
    open_: Verdict | None = None
    for i, (name, member, wanted) in enumerate(zip(model.info.called, members, target.each, strict=True)):
        left = deadline - time.perf_counter()
        found = certify(member, wanted, body, left if target.count is None else left / (len(members) - i), looks)
        if isinstance(found, Counterexample):
            said = model.info.says(model.scores(found.point[None]))[0]
            found = replace(found, label=said, member=name)
            if not found.near_tie:
                refused[i] = found
                if not target.is_enough([j for j in range(len(members)) if j not in refused]):
                    return replace(found, member=", ".join(one.member for one in refused.values()))
            else:
                open_ = open_ if isinstance(open_, Counterexample) else found
        elif isinstance(found, Certificate):
            proven[i] = found
        else:
            open_ = open_ or found
    if not target.is_enough(proven):
        assert open_ is not None  # those that certainly refuse were not too many
        return open_
    return _certificate_of(model, target, body, proven)


def _certificate_of(model: Model, target: Target, body: Body, proven: dict[int, Certificate]) -> Certificate:
    """What was proven of these members, by position."""
    found = list(proven.values())
    methods, assumptions = (
        tuple(dict.fromkeys(text for texts in each for text in texts))
        for each in zip(*(((c.method,), c.assumptions) for c in found), strict=True)
    )
    who = f"each of {len(found)} models" if target.count is None else f"{len(found)} of {len(target.each)} models"
    return Certificate(
        model.fingerprint, target, body, f"{who}: {', '.join(methods)}", min(c.margin for c in found),
        sum(c.seconds for c in found), assumptions, keepers=() if target.count is None else tuple(proven),
    )  # fmt: skip


def prepare(model: Model) -> None:
    """Load, or compile once, what verdicts about such a model need, and read all of the model: before a clock starts."""
    for member in members_of(model):
        prepare(member)
    match model:
        case TreeEnsemble():
            trees.prepare_trees()
            _ = model.leaves, model.cuts, model.fingerprint
        case ReluNetwork():
            from elbowroom.certify.compact_kernels import prepare_compact
            from elbowroom.certify.corners import prepare_corners
            from elbowroom.certify.dual_ascent import prepare_climb

            prepare_compact()
            prepare_corners()
            prepare_climb()
        case LinearModel() | ObliqueEnsemble():
            return  # nothing is compiled
        case _:
            assert_never(model)


def check_body(model: Model, body: Body, judged: Collection[Shape]) -> None:
    """Refuse shapes that the judge of this family was not written for, and what is not a set of points of the model's
    input space. The message names the column and the value."""
    check_known(body.shape, judged, f"region: the judge for {type(model).__name__}")
    names = model.info.names
    for what in ("center", "lower", "upper", "axes", "whole"):
        array = getattr(body, what)
        if array.shape != (len(names),):
            raise InputError(f"region: {what} has shape {array.shape}, the model has {len(names)} columns")
    grouped = np.zeros(len(names), dtype=bool)
    for members in body.free_groups:
        if members.size == 0 or members.min() < 0 or members.max() >= len(names) or grouped[members].any():
            raise InputError(
                f"region: free group {members.tolist()} is empty, overlaps another or contains a column that does not exist"
            )
        grouped[members] = True
    low, center, high = body.lower, body.center, body.upper
    ends = np.stack([low, center, high])
    round_ = is_round(body.shape) & (low < high) & ~grouped
    for bad, what in (
        (~np.isfinite(ends).all(axis=0), "must be finite; give the room bounds"),
        (~((low <= center) & (center <= high)), "has its centre outside"),
        (body.whole & (ends != np.floor(ends)).any(axis=0), "must be whole numbers; round low up and high down"),
        (
            grouped & ~(body.whole & (low >= 0.0) & (high <= 1.0)),
            "belongs to a one-hot group and must be a whole column within 0 and 1",
        ),
        (round_ & ~(np.isfinite(body.axes) & (body.axes > 0.0)), "needs a positive semi-axis"),
    ):
        for f in np.flatnonzero(bad):
            raise InputError(f"region, column {names[f]!r}: [{low[f]}, {center[f]}, {high[f]}] {what}")
    for members in body.free_groups:
        if np.unique(members).size != members.size or body.center[members].sum() != 1.0:
            raise InputError(
                f"region, one-hot group of {[names[f] for f in members]}: exactly one member must be 1 at the centre"
            )
