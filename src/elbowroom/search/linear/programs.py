"""Which program fits the distance of a question, and what its bound says about where better centres may lie."""

from __future__ import annotations

import numpy as np

from elbowroom.numerics import Floats, next_down, next_up
from elbowroom.problem.distances import Distance
from elbowroom.search.linear.adversary import Adversary
from elbowroom.search.linear.least import Least, LeastMoves, Rows
from elbowroom.search.linear.limits import BUDGET_ROUNDING
from elbowroom.search.linear.priced import PricedMoves
from elbowroom.search.linear.question import Question
from elbowroom.search.linear.relax import Node
from elbowroom.search.linear.slanted import SlantedMoves
from elbowroom.search.linear.tighten import tighten


def moves_for(question: Question) -> LeastMoves:
    """The programs that fit the distance of a question."""
    distance = question.problem.distance
    if question.slant is not None:
        return SlantedMoves(distance, question.slant, question.factor)
    if question.ladders:
        return PricedMoves(question)
    return LeastMoves(distance)


def within_budget(question: Question, least: LeastMoves, node: Node, budget: float | None) -> tuple[Floats, Floats]:
    """The limits of a node in which no column costs more than the best distance leaves after the others' least costs."""
    q = question
    if budget is None:
        return node.lower, node.upper
    if isinstance(least, PricedMoves):
        return least.within(node.lower, node.upper, budget)
    cheapest = q.factor * np.abs(np.clip(q.start, node.lower, node.upper) - q.start)
    # With a slant all that is known of one column alone is d >= factor |move|.
    distance = q.problem.distance if q.slant is None else Distance.LINF
    match distance:
        case Distance.L1:
            left = budget - (cheapest.sum() - cheapest)
        case Distance.L2:
            left = np.sqrt(np.maximum(budget**2 - (np.square(cheapest).sum() - np.square(cheapest)), 0.0))
        case Distance.LINF:
            left = np.full(cheapest.size, budget)
    reach = (np.maximum(left, 0.0) + BUDGET_ROUNDING * budget) / q.factor
    return np.maximum(node.lower, next_down(q.start - reach)), np.minimum(node.upper, next_up(q.start + reach))


def narrowed(
    question: Question,
    adversaries: list[Adversary],
    least: LeastMoves,
    node: Node,
    rows: Rows,
    answer: Least,
    lower: Floats,
    upper: Floats,
    unit: Floats,
    cutoff: float,
) -> tuple[Floats, Floats] | None:
    """Limits without what cannot hold a centre better than ``cutoff`` (scaled); None if nothing is left."""
    q = question
    assert answer.multiplier is not None and answer.price is not None
    if isinstance(least, PricedMoves):
        low, high = (lower - q.start) / unit, (upper - q.start) / unit
        cut = least.narrowed(rows.A, rows.b, answer.multiplier, low, high, unit, cutoff)
        if cut is None:
            return None
        return np.maximum(lower, q.start + cut[0] * unit), np.minimum(upper, q.start + cut[1] * unit)
    if answer.toll is not None and not (np.isfinite(lower) & np.isfinite(upper)).all():
        return lower, upper
    return tighten(
        question=q, adversaries=adversaries, node=node, lower=lower, upper=upper, unit=unit,
        multiplier=answer.multiplier, price=answer.price, toll=answer.toll, cutoff=cutoff,
    )  # fmt: skip
