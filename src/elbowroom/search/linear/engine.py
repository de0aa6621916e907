"""The engine for linear models: closest centre whose whole room has the wanted class, proven."""

from __future__ import annotations

import math
from dataclasses import replace
from enum import IntEnum
from fractions import Fraction

import numpy as np

from elbowroom.models.linear import LinearModel
from elbowroom.numerics import Floats, exact_dot, two_sum
from elbowroom.problem.conditions import Takes
from elbowroom.problem.distances import Distance
from elbowroom.problem.on import On
from elbowroom.problem.problem import RecourseProblem
from elbowroom.problem.shapes import Shape, is_round
from elbowroom.result.certificate import Certificate, Counterexample
from elbowroom.result.status import NEAR_TIE
from elbowroom.search.contract import Clock, Ending, Referee, refusal
from elbowroom.search.linear.adversary import Adversary
from elbowroom.search.linear.question import Hopeless, Question, read_question
from elbowroom.search.linear.tree import Tree
from elbowroom.search.some_columns import rows_refusal, search_some_columns

METHOD = "linear"
TOO_CLOSE = f"too close to a tie to prove: even the most favourable values within the limits are {NEAR_TIE}"
NOT_INVERTED = "the numbers of the causes or of the covariance lie too far apart to say what a move costs at least"
SHAPES = (Shape.BOX, Shape.BALL, Shape.DIAMOND)
TAKES = Takes(rows=True, most_changes=True, prices=True, slant=True)


class LinearEngine:
    """Exact for every room, distance, feature kind and rule. Keeps nothing between questions."""

    def takes(self, problem: RecourseProblem) -> Takes:
        """Prices as they are for l1 and room on all columns; otherwise they have to be divided."""
        priced = problem.distance is Distance.L1 and problem.walls.on is On.ALL
        return replace(TAKES, prices=priced)

    def refuses(self, problem: RecourseProblem) -> str | None:
        who, straight = "the engine for linear models", problem.metric.slant is None
        return refusal(problem, who, SHAPES, self.takes(problem), some_columns=straight) or rows_refusal(problem, who)

    def prepare(self, shape: Shape) -> None:
        """There is nothing to compile."""

    def search(self, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> Ending:
        """Deterministic: ``seed`` is not used."""
        if not isinstance(problem.model, LinearModel):
            raise TypeError("the linear engine answers questions about linear models")
        if problem.walls.on is not On.ALL:
            return search_some_columns(self, problem, referee, clock, seed)
        question = read_question(problem, problem.model)
        if isinstance(question, Hopeless):
            return Ending(METHOD, math.inf, question.reason)
        if question.n_columns == 0:
            return _only_the_factual(question, referee, clock)
        if not (question.factor > 0.0).all():
            return Ending(METHOD, 0.0, NOT_INVERTED)
        reach, reason = _reach(question)
        if reach is Reach.NONE:
            return Ending(METHOD, math.inf, reason)
        if reach is Reach.TIE:
            return Ending(METHOD, 0.0, TOO_CLOSE)
        tree = Tree(question, referee, clock)
        bound = tree.run()
        counters = {"nodes": float(tree.nodes), "refused": float(tree.polisher.refused)}
        if tree.best is not None:
            clock.report(lower_bound=min(bound, tree.best.distance), best_distance=tree.best.distance)
            return Ending(METHOD, bound, counters=counters)
        if bound == math.inf and reach is Reach.JUST_BEYOND:
            return Ending(METHOD, 0.0, TOO_CLOSE, counters=counters)
        if bound == math.inf:
            return Ending(METHOD, bound, _why_none(question), counters=counters)
        reason = (
            "the time limit was reached"
            if clock.expired
            else "the only candidates lie within floating-point rounding of the model's decision boundary"
        )
        return Ending(METHOD, bound, reason, counters=counters)


def _only_the_factual(question: Question, referee: Referee, clock: Clock) -> Ending:
    """Nothing that matters can move: the factual itself is the only candidate."""
    center = question.default
    distance = question.problem.measure(center)
    if not question.problem.admissible(center):
        return Ending(METHOD, math.inf, "no feature that occurs in the rules can move, and the row breaks them")
    match referee(center):
        case Certificate():
            clock.report(lower_bound=distance, best_distance=distance)
            return Ending(METHOD, distance)
        case Counterexample(near_tie=True):
            return Ending(METHOD, distance, TOO_CLOSE)
        case Counterexample():
            return Ending(METHOD, math.inf, _why_none(question))
        case _:
            return Ending(METHOD, distance, "the judge could not decide about the row itself")


def _why_none(question: Question) -> str:
    weights = question.margins.affine.weight
    if not weights.any():
        return "the model's coefficients are all zero, so no input changes its answer"
    if question.n_columns == 0:
        return "no feature that the model uses can move (immutable or fixed by its bounds)"
    if question.problem.rules:
        return "no centre within the limits satisfies the rules and has the wanted outcome in its whole room"
    return "no centre within the limits has the wanted outcome in its whole room"


class Reach(IntEnum):
    """How far the model rows get at the most favourable centre, at least one of them no farther than this."""

    NONE = 0  # negative by more than rounding: no point of any room can qualify
    TIE = 1  # negative or 0, by no more than rounding: nothing can be proven
    JUST_BEYOND = 2  # positive by no more than rounding
    BEYOND = 3


def _reach(question: Question) -> tuple[Reach, str]:
    """What the most favourable centre says, exactly; if it is `Reach.NONE`, with the reason.

    Every column adds the most at the good end of its limits; rules are ignored, each row is looked at alone. Boxes are
    shifted to their worst corner; for round rooms the centre alone is looked at.
    """
    weights, reach = question.margins.affine.weight, Reach.BEYOND
    for j in range(question.n_model_rows):
        adversary = Adversary(question, j)
        used = np.flatnonzero(adversary.gain > 0)
        best = np.where(adversary.sign > 0, question.upper, question.lower)
        if not np.isfinite(best[used]).all():
            continue
        sign, gain, worst = adversary.sign[used], adversary.gain[used], (adversary.sign * best)[used]
        value = question.exact_base[j] - exact_dot(gain, sign * question.start[used])
        size = np.where(adversary.gain > 0, np.abs(best) + adversary.axes, 0.0)  # of the numbers that are added up
        if not is_round(question.shape):
            edge = sign * np.where(sign > 0, question.room_lower[used], question.room_upper[used])
            rounded, error = two_sum(worst, -adversary.axes[used])
            beyond = (rounded < edge) | ((rounded == edge) & (error < 0))  # exactly: the room is cut off at the limits
            worst = np.where(beyond, edge, worst)
            size[used[beyond]] = np.abs(edge[beyond])
            value -= exact_dot(gain[~beyond], adversary.axes[used][~beyond])
        value += exact_dot(gain, worst)
        for i, group in enumerate(question.groups):
            options = [Fraction(float(w)) - Fraction(float(group.current_weight[j])) for w in group.weight[j]]
            if question.lower[question.singles.size + i] < 0.5:
                options.append(Fraction(0))
            value += max(options)
        doubt = _doubt(question, j, size)
        if value < -doubt:
            if not weights.any():
                return Reach.NONE, _why_none(question)
            return Reach.NONE, (
                "even the most favourable values within the limits leave the model's score "
                f"{float(-value):.3g} short of the wanted outcome somewhere in the room"
            )
        reach = min(reach, Reach.TIE if value <= 0 else Reach.JUST_BEYOND if value <= doubt else Reach.BEYOND)
    return reach, ""


def _doubt(question: Question, row: int, reach: Floats) -> Fraction:
    """What rounding may do to a row where the columns of the question are at most ``reach`` in size."""
    singles, problem = question.singles, question.problem
    size = np.abs(problem.factual)
    size[singles] = np.maximum(size[singles], reach[: singles.size])
    size[problem.space.group_of >= 0] = 1.0
    return 2 * Fraction(float(question.margins.affine.error(size)[row] + question.margins.slack[row]))
