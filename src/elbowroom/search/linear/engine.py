"""The engine for linear models: closest centre whose whole room has the wanted class, proven."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from elbowroom.models.linear import LinearModel
from elbowroom.numerics import TOLERANCES
from elbowroom.problem.problem import RecourseProblem
from elbowroom.problem.rooms import Shape
from elbowroom.result.certificate import Certificate, Counterexample
from elbowroom.search.contract import Accept, Clock, Outcome
from elbowroom.search.linear.adversary import Adversary
from elbowroom.search.linear.question import Hopeless, Question, read_question
from elbowroom.search.linear.tree import Tree

METHOD = "linear"


def search_linear(problem: RecourseProblem, accept: Accept, clock: Clock, seed: int) -> Outcome:
    """Exact for every room, distance, feature kind and rule. Deterministic: ``seed`` is not used."""
    if not isinstance(problem.model, LinearModel):
        raise TypeError("search_linear answers questions about linear models")
    question = read_question(problem, problem.model)
    if isinstance(question, Hopeless):
        return Outcome(METHOD, math.inf, reason=question.reason)
    if question.n_columns == 0:
        return _only_the_factual(question, accept, clock)
    reason = _out_of_reach(question)
    if reason is not None:
        return Outcome(METHOD, math.inf, reason=reason)
    tree = Tree(question, accept, clock)
    bound = tree.run()
    counters = {"nodes": float(tree.nodes), "refused": float(tree.polisher.refused)}
    if tree.best is not None:
        found = tree.best
        clock.report(lower_bound=min(bound, found.distance), best_distance=found.distance)
        return Outcome(
            METHOD, bound, found.center, found.certificate, tolerance=TOLERANCES.optimal_gap, counters=counters
        )
    if bound == math.inf:
        return Outcome(METHOD, bound, reason=_why_none(question), counters=counters)
    reason = (
        "the time limit ended the search"
        if clock.expired
        else "the only candidates lie within floating-point rounding of the model's decision boundary"
    )
    return Outcome(METHOD, bound, reason=reason, counters=counters)


def _only_the_factual(question: Question, accept: Accept, clock: Clock) -> Outcome:
    """Nothing that matters can move: the factual itself is the only candidate."""
    center = question.default
    distance = question.problem.measure(center)
    verdict = accept(center) if question.problem.admissible(center) else None
    if isinstance(verdict, Certificate):
        clock.report(lower_bound=distance, best_distance=distance)
        return Outcome(METHOD, distance, center, verdict)
    if verdict is None:
        return Outcome(METHOD, math.inf, reason="no feature that occurs in the rules can move, and the row breaks them")
    if isinstance(verdict, Counterexample):
        return Outcome(METHOD, math.inf, reason=_why_none(question))
    return Outcome(METHOD, distance, reason="the judge could not decide about the row itself")


def _why_none(question: Question) -> str:
    weights = question.margins.affine.weight
    if not weights.any():
        return "the model's coefficients are all zero, so no input changes its answer"
    if question.n_columns == 0:
        return "no feature that the model uses can move (immutable or fixed by its bounds)"
    if question.problem.rules:
        return "no centre within the limits satisfies the rules and keeps its whole room in the wanted class"
    return "no centre within the limits keeps its whole room in the wanted class"


def _out_of_reach(question: Question) -> str | None:
    """Exact: even at the most favourable centre a model row is not positive, so no point of any room can qualify.

    Every column adds the most at the good end of its limits; rules are ignored, each row is looked at alone. Boxes are
    shifted to their worst corner; for round rooms the centre alone is looked at.
    """
    weights = question.margins.affine.weight
    for j in range(question.n_model_rows):
        adversary = Adversary(question, j)
        used = np.flatnonzero(adversary.gain > 0)
        best = np.where(adversary.sign > 0, question.upper, question.lower)
        if not np.isfinite(best[used]).all():
            continue
        value = question.exact_base[j]
        for f in used:
            bad_edge = float(question.lower[f] if adversary.sign[f] > 0 else question.upper[f])
            sign = int(adversary.sign[f])
            worst = sign * Fraction(float(best[f]))
            if question.shape is Shape.BOX:
                worst -= Fraction(float(adversary.axes[f]))
                worst = max(worst, sign * Fraction(bad_edge)) if math.isfinite(bad_edge) else worst
            value += Fraction(float(adversary.gain[f])) * (worst - sign * Fraction(float(question.start[f])))
        for i, group in enumerate(question.groups):
            options = [Fraction(float(w)) - Fraction(float(group.current_weight[j])) for w in group.weight[j]]
            if question.lower[question.singles.size + i] < 0.5:
                options.append(Fraction(0))
            value += max(options)
        if value <= 0:
            if not weights.any():
                return _why_none(question)
            return (
                "even the most favourable values within the limits leave the model's score "
                f"{float(-value):.3g} short of the wanted class somewhere in the room"
            )
    return None
