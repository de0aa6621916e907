"""Reduced-cost tightening: it cuts, and never a centre that is better than the cutoff."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.numerics import Floats
from elbowroom.problem import Box, Feature, RecourseProblem, Space
from elbowroom.search.linear.adversary import Adversary
from elbowroom.search.linear.least import LeastMoves
from elbowroom.search.linear.question import Question
from elbowroom.search.linear.relax import Node, RowShift, node_rows
from elbowroom.search.linear.tighten import tighten
from tests.support.linear_problems import linear_model
from tests.support.linear_searches import read


def clipped(seed: int, distance: str) -> tuple[Question, list[Adversary]]:
    """Three columns between limits that cut the room: every column has a kink inside."""
    rng = np.random.default_rng(seed)
    row = rng.uniform(0.0, 1.0, 3)
    space = Space(tuple(Feature(f"x{f}", lower=0.0, upper=4.0, weight=float(rng.uniform(0.5, 2.0))) for f in range(3)))
    w = rng.uniform(0.5, 2.0, 3)
    model = linear_model([w], [-float(w @ row) - 0.5])
    return read(RecourseProblem.ask(model, space, row, Box(1.5), 1, distance))


def valid(question: Question, adversaries: list[Adversary], values: Floats) -> bool:
    return all(
        question.base[j] + a.kept(a.relative(values), a.attack(values).shift) >= question.needed[j]
        for j, a in enumerate(adversaries)
    )


@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
def test_nothing_better_is_cut_off(distance: str) -> None:
    """Every centre of a grid that is valid and better than the cutoff stays inside the new limits."""
    cut = kept = 0
    for seed in range(12):
        question, adversaries = clipped(seed, distance)
        lower, upper = question.lower, question.upper
        scenario = RowShift(0, adversaries[0].attack(question.start).shift)
        node = Node(0.0, lower, upper, (), np.zeros(3, dtype=bool), (scenario,))
        unit = 1.0 / question.factor
        rows = node_rows(question, adversaries, node, lower, upper, unit)
        answer = LeastMoves(question.problem.distance).solve(
            rows, (lower - question.start) / unit, (upper - question.start) / unit, 10.0
        )
        assert answer.multiplier is not None and answer.price is not None
        line = np.linspace(0.0, 4.0, 11)
        grid = np.array(np.meshgrid(line, line, line)).reshape(3, -1).T
        costs = np.array([question.problem.distance.norm(question.factor * np.abs(x - question.start)) for x in grid])
        good = np.array([valid(question, adversaries, x) for x in grid])
        best = float(costs[good].min())
        for cutoff in (best * 1.02, best * 1.3, best * 2.0):
            found = tighten(question, adversaries, node, lower, upper, unit, answer.multiplier, answer.price, cutoff)
            assert found is not None
            inside = ((grid >= found[0] - 1e-9) & (grid <= found[1] + 1e-9)).all(axis=1)
            assert inside[good & (costs < cutoff)].all()
            cut += int((found[0] > lower).any() or (found[1] < upper).any())
            kept += int((good & (costs < cutoff)).sum())
    assert kept > 100
    if distance != "linf":  # one multiplier for all columns says little there
        assert cut > 5


def test_a_node_that_holds_nothing_better_is_emptied() -> None:
    emptied = 0
    for seed in range(12):
        question, adversaries = clipped(seed, "l1")
        scenario = RowShift(0, adversaries[0].attack(question.start).shift)
        node = Node(0.0, question.lower, question.upper, (), np.zeros(3, dtype=bool), (scenario,))
        unit = 1.0 / question.factor
        rows = node_rows(question, adversaries, node, question.lower, question.upper, unit)
        low, high = (question.lower - question.start) / unit, (question.upper - question.start) / unit
        answer = LeastMoves(question.problem.distance).solve(rows, low, high, 10.0)
        assert answer.multiplier is not None and answer.price is not None
        below = 0.5 * answer.bound
        found = tighten(
            question, adversaries, node, question.lower, question.upper, unit, answer.multiplier, answer.price, below
        )
        emptied += found is None
    assert emptied > 5
