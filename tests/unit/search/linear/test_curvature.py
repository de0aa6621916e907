"""The second-order bound for clipped balls: valid on every node, and sharp on small ones."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.problem import Ball, Feature, RecourseProblem, Space
from elbowroom.search.linear.adversary import Adversary
from elbowroom.search.linear.curvature import curved_bound
from elbowroom.search.linear.question import Question
from elbowroom.search.linear.relax import Node
from tests.support.linear_problems import linear_model
from tests.support.linear_searches import read
from tests.support.referee import Engine, run_engine

Clipped = tuple[Question, list[Adversary], Floats, float]


@lru_cache(maxsize=1)
def clipped() -> list[Clipped]:
    """Questions in two columns with their proven optimum, at which a limit cuts the ball but does not use it up."""
    found: list[Clipped] = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        row = rng.uniform(0.0, 0.2, 2)
        space = Space((Feature("x0", lower=0.0, upper=5.0, weight=2.0), Feature("x1", lower=-5.0, upper=5.0)))
        w = rng.uniform(0.5, 2.0, 2)
        problem = RecourseProblem.ask(linear_model([w], [-float(w @ row) - 0.2]), space, row, Ball(0.8), 1, "l2")
        run = run_engine(Engine.LINEAR, problem)
        assert run.center is not None
        question, adversaries = read(problem)
        best = run.center[question.singles]
        if adversaries[0].attack(best).cap_slope.any() and (best > question.lower).all():
            found.append((question, adversaries, best, run.distance))
        if len(found) == 8:
            return found
    raise AssertionError("too few questions are clipped")


def bound_on(
    question: Question, adversaries: list[Adversary], best: Floats, middle: Floats, size: float
) -> tuple[float, Node]:
    """The bound on a square node of this size, and the node."""
    lower, upper = (np.clip(middle + d, question.lower, question.upper) for d in (-size, size))
    node = Node(0.0, lower, upper, (), np.zeros(2, dtype=bool), ())
    return curved_bound(question, adversaries, node, best, lower, upper, 1.0 / question.factor), node


def least_valid(question: Question, adversary: Adversary, first: float, low: float, high: float) -> float:
    """The row grows with x1: the least valid x1 between the ends for this x0, by bisection; inf if there is none."""

    def valid(second: float) -> bool:
        x = np.array([first, second])
        return bool(
            question.base[0] + adversary.kept(adversary.relative(x), adversary.attack(x).shift) >= question.needed[0]
        )

    if not valid(high):
        return np.inf
    for _ in range(36):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if valid(middle) else (middle, high)
    return high


def nearest_in(question: Question, adversary: Adversary, node: Node) -> float:
    """The distance of the nearest valid centre of a node."""
    firsts = np.linspace(node.lower[0], node.upper[0], 13)
    seconds = [least_valid(question, adversary, x, node.lower[1], node.upper[1]) for x in firsts]
    moves = np.column_stack([firsts, np.maximum(seconds, question.start[1])]) - question.start
    return float(np.linalg.norm(question.factor * moves, axis=1).min())


def test_no_valid_centre_of_a_node_lies_below_the_bound() -> None:
    """Around the optimum, and around other centres on the boundary: there a bound without its bend would be too high."""
    applied = 0
    for question, adversaries, best, _ in clipped():
        for step in (0.0, -0.1, 0.1, 0.2):
            first = max(best[0] + step, 0.01)
            other = np.array([first, least_valid(question, adversaries[0], first, -5.0, 5.0)])
            for size in (0.1, 0.3):
                bound, node = bound_on(question, adversaries, other, other, size)
                applied += bound > 0.0
                assert nearest_in(question, adversaries[0], node) >= bound * (1 - 1e-10)
    assert applied > 15


def test_small_nodes_around_the_optimum_close_at_once() -> None:
    """The gap falls with the third power of the size: a ten times smaller node closes (nearly) a thousand times better."""
    sharp = 0
    for question, adversaries, best, distance in clipped():
        gaps = [distance - bound_on(question, adversaries, best, best, size)[0] for size in (1e-2, 1e-3)]
        if gaps[0] < distance:
            sharp += 1
            assert gaps[1] <= max(gaps[0] / 300.0, 1e-9 * distance)
    assert sharp >= 4


def test_it_says_nothing_where_the_ball_could_be_used_up_by_the_limits() -> None:
    """Columns whose caps may use the whole ball leave no square root to bend: 0 is returned, which is always valid."""
    question, adversaries, best, _ = clipped()[0]
    wide = replace(bound_on(question, adversaries, best, best, 0.1)[1], lower=question.lower, upper=question.upper)
    unit = 1.0 / question.factor
    assert curved_bound(question, adversaries, wide, best, question.lower, question.upper, unit) == 0.0
