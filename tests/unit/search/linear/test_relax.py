"""Rows with chords: above the truth on the whole node, equal to it at the ends and wherever no kink lies inside."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.numerics import Floats
from elbowroom.problem import Box
from elbowroom.search.linear.question import Question
from elbowroom.search.linear.relax import Node, RowShift, category_gain, chord, node_rows
from tests.support.linear_searches import random_questions, random_values


def bounded(rng: np.random.Generator, question: Question) -> tuple[Floats, Floats]:
    """A finite box of centres, whole at its whole ends."""
    ends = np.sort([random_values(rng, question), random_values(rng, question)], axis=0)
    return ends[0], ends[1]


def node_of(question: Question, scenarios: tuple[RowShift, ...], lower: Floats, upper: Floats) -> Node:
    allowed = tuple(np.ones(group.others.size, dtype=bool) for group in question.groups)
    return Node(0.0, lower, upper, allowed, np.zeros(question.n_columns, dtype=bool), scenarios)


def test_a_chord_lies_above_its_function_and_touches_it_at_the_ends() -> None:
    above = 0
    for question, adversaries in random_questions(40):
        rng = np.random.default_rng(3)
        lower, upper = bounded(rng, question)
        for adversary in adversaries:
            shift = adversary.attack(random_values(rng, question)).shift
            line = chord(adversary, shift, lower, upper)
            for t in np.linspace(0.0, 1.0, 11):
                e = adversary.relative(lower + t * (upper - lower))
                gap = line.slope * e + line.constant - adversary.gain * np.maximum(e - shift, adversary.edge)
                live = adversary.gain > 0
                assert (gap[live] >= -1e-9).all()
                if t in (0.0, 1.0):
                    assert gap[live] == pytest.approx(0.0, abs=1e-9)
                above += int((gap[live] > 1e-6).any())
    assert above > 10


def test_rows_hold_wherever_the_true_rows_hold() -> None:
    """Row by row: what the relaxation sees of a centre is at least what the scenario truly leaves of it."""
    exact = 0
    for question, adversaries in random_questions(40):
        rng = np.random.default_rng(4)
        lower, upper = bounded(rng, question)
        scenarios = tuple(RowShift(j, a.attack(random_values(rng, question)).shift) for j, a in enumerate(adversaries))
        unit = 0.7 / question.factor
        node = node_of(question, scenarios, lower, upper)
        rows = node_rows(question, adversaries, node, lower, upper, unit)
        for _ in range(10):
            values = lower + rng.random(question.n_columns) * (upper - lower)
            seen = rows.A @ ((values - question.start) / unit) - rows.b
            for s, scenario in enumerate(scenarios):
                adversary = adversaries[scenario.row]
                groups = float(category_gain(question, node, scenario.row) @ values[question.singles.size :])
                left = question.base[scenario.row] + groups + adversary.kept(adversary.relative(values), scenario.shift)
                truth = left - question.needed[scenario.row]
                assert seen[s] >= truth - rows.doubt[s] - 1e-9
                exact += abs(seen[s] - truth) < 1e-9
        assert rows.model.tolist() == [s.row < question.n_model_rows for s in scenarios]
    assert exact > 100


def test_a_group_promises_the_best_category_that_is_left() -> None:
    for question, _ in random_questions(200, Box):
        if not question.groups or question.groups[0].others.size < 2:
            continue
        node = node_of(question, (), question.lower, question.upper)
        delta = question.groups[0].delta[0]
        assert category_gain(question, node, 0)[0] == delta.max()
        only = np.arange(delta.size) == int(np.argmin(delta))
        assert category_gain(question, Node(0.0, node.lower, node.upper, (only, *node.allowed[1:]), node.counted, ()), 0)[0] == delta.min()  # fmt: skip
        none = np.zeros(delta.size, dtype=bool)
        assert category_gain(question, Node(0.0, node.lower, node.upper, (none, *node.allowed[1:]), node.counted, ()), 0)[0] == 0.0  # fmt: skip
        return
    raise AssertionError("no question has a group of three")
