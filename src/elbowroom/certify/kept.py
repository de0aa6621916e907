"""The one door to the chance that a slipped centre keeps its class: two proven bounds."""

from __future__ import annotations

import time
from typing import Final, assert_never

import numpy as np

from elbowroom.certify.slips import Slip
from elbowroom.errors import InputError, UnsupportedModel
from elbowroom.models import LinearModel, Model, ObliqueEnsemble, ReluNetwork, TreeEnsemble
from elbowroom.models.margins import TreeMargins
from elbowroom.numerics import Floats
from elbowroom.problem.body import Body
from elbowroom.problem.problem import RecourseProblem
from elbowroom.problem.shapes import Shape, check_known
from elbowroom.problem.target import Target
from elbowroom.result.kept import KeptProbability

SHAPES: Final = (Shape.BOX, Shape.BALL, Shape.DIAMOND)
CALLED_EXACT: Final = 1e-9  # what may lie between the bounds of a probability that is called exact


def slip_of(problem: RecourseProblem, center: Floats, spread: Floats | None = None) -> Slip:
    """How a centre of a question slips: within its limits, with the standard deviations of its promise or with others."""
    sigma = problem.spread if spread is None else np.where(problem.immutable, 0.0, spread)
    return Slip(center, sigma, problem.lower, problem.upper, problem.space.whole_room)


def prepare_promise(problem: RecourseProblem) -> None:
    """Refuse a promise that nothing is known about, and load or compile what is needed: before a clock starts."""
    if problem.target.probability is not None:
        raise InputError("keeps= is about the class itself; leave out the probability of the target, or the promise")
    if isinstance(problem.model, ObliqueEnsemble):
        raise UnsupportedModel(
            f"{problem.model.info.source}: keeps= is known for trees, linear models and networks; for this family ask for a "
            "room that a slip stays in: room=Box.for_probability(0.95, sigma, n=...)"
        )
    if isinstance(problem.model, TreeEnsemble):
        from elbowroom.certify.kept_trees import prepare_kept

        prepare_kept()


def kept_probability(
    model: Model,
    target: Target,
    slip: Slip,
    room: Body | None,
    tolerance: float,
    time_limit: float,
    wanted: float | None = None,
    margins: TreeMargins | None = None,
) -> KeptProbability:
    """Bounds on P(the slipped centre has the wanted outcome), at most ``tolerance`` apart, or with the reason why not. They
    may be farther apart where it is decided whether a ``wanted`` probability is reached. ``margins`` of all nodes of trees
    may be handed in where they are known."""
    began = time.perf_counter()
    if room is not None:
        check_known(room.shape, SHAPES, "the chance to stay inside the room")
    if any(one.probability is not None for one in target.each or (target,)):
        raise InputError(
            "the chance of keeping a class is defined for a label; leave out the probability of the target"
        )
    index, need = target.index(model.info), target.need
    match model:
        case TreeEnsemble():
            from elbowroom.certify.kept_trees import Stop, kept_trees

            stop = Stop() if wanted is None else Stop(wanted, 1.0 - wanted)
            masses = kept_trees(model, index, need, slip, tolerance, time_limit, stop=stop, margins=margins)
            lower, upper, exact = masses.good - masses.error, 1.0 - masses.bad + masses.error, masses.decided
            ranges, why = masses.ranges, masses.why
        case LinearModel():
            from elbowroom.certify.kept_linear import kept_linear

            bounds = kept_linear(model, index, need, slip, tolerance, began + time_limit, wanted)
            lower, upper, exact, ranges, why = bounds.lower, bounds.upper, bounds.exact, 1, bounds.why
        case ReluNetwork():
            from elbowroom.certify.kept_network import kept_network

            bounds = kept_network(model, index, need, slip, tolerance, began + time_limit, wanted)
            lower, upper, exact, ranges, why = bounds.lower, bounds.upper, bounds.exact, bounds.cells, bounds.why
        case ObliqueEnsemble():
            raise UnsupportedModel(
                f"{model.info.source}: the chance of keeping a class is computed for trees, linear models and networks; for "
                "this family certify a room instead: explainer.certify(center, Box.for_probability(0.95, sigma, n=...))"
            )
        case _:
            assert_never(model)
    inside = None if room is None else slip.inside(room)
    lower = max(0.0, lower, 0.0 if inside is None else inside)  # the whole room was proven to have the class
    lower = float(min(lower, 1.0))
    upper = float(np.clip(upper, lower, 1.0))
    exact = exact and upper - lower <= CALLED_EXACT  # slips as small as the last digits of the centre are all rounding
    reason = "" if exact or upper - lower <= tolerance else why
    return KeptProbability(lower, upper, exact, inside, ranges, time.perf_counter() - began, reason)
