"""Ways to divide a node: nothing is lost, and the parts do not overlap where they must not."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from elbowroom.problem import AtMost, Ball, Box, Feature, Group, LinearRule, RecourseProblem, Space
from elbowroom.search.linear.branch import respect_changes, split_changed, split_column, split_discrete, split_group
from elbowroom.search.linear.question import Question
from elbowroom.search.linear.relax import Node
from tests.support.linear_problems import linear_model
from tests.support.linear_searches import DUAL, ask, proven_distance, read


def test_rules_bind_the_centre():
    model = linear_model([[1.0, 1.0]], [-2.0])
    space = Space.plain(("x0", "x1"))
    row = [0.0, 0.0]
    found = ask(model, space, row, Box(0.0), rules=[LinearRule({"x0": 1.0, "x1": -1.0}, 0.5, 0.5)], distance="linf")
    assert proven_distance(found) == pytest.approx(1.25, rel=1e-10)
    found = ask(model, space, row, Box(0.0), rules=[AtMost(1)], distance="l2")
    assert proven_distance(found) == pytest.approx(2.0, rel=1e-10)
    assert (found.center != 0).sum() == 1
    found = ask(model, space, row, Box(0.0), rules=[LinearRule({"x0": 1.0, "x1": 1.0}, high=1.0)])
    assert found.lower_bound == math.inf and "rules" in found.reason
    found = ask(model, space, row, Box(0.0), rules=[AtMost(0)])
    assert found.lower_bound == math.inf


@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
def test_at_most_k_of_many(distance):
    rng = np.random.default_rng(5)
    w = rng.normal(size=8)
    model = linear_model([w], [-3.0])
    found = ask(model, Space.plain(model.info.names), np.zeros(8), Ball(0.1), rules=[AtMost(3)], distance=distance)
    best = np.sort(np.abs(w))[-3:]
    need = 3.0 + 0.1 * np.linalg.norm(w)
    assert proven_distance(found) == pytest.approx(need / np.linalg.norm(best, DUAL[distance]), rel=1e-10)


def discrete_question(changes: int | None = None) -> tuple[Question, Node]:
    """Two whole columns on 0..4 and a group of four categories, and the node that holds all of their centres."""
    names = ("x0", "x1", "a", "b", "c", "d")
    features = (*(Feature(n, "integer", 0, 4) for n in names[:2]), *(Feature(n, "binary") for n in names[2:]))
    model = linear_model([[1.0, 2.0, 0.0, 1.0, 2.0, 3.0]], [-9.0], names)
    space = Space(features, (Group("g", names[2:]),))
    rules = () if changes is None else (AtMost(changes),)
    row = [2.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    question, _ = read(RecourseProblem.ask(model, space, row, Box(0.0), 1, rules=rules))
    allowed = tuple(np.ones(group.others.size, dtype=bool) for group in question.groups)
    counted = np.zeros(question.n_columns, dtype=bool)
    return question, Node(0.0, question.lower.copy(), question.upper.copy(), allowed, counted, ())


Point = tuple[float, float, int]  # both whole columns; the category, 0 for the factual one


def points(node: Node) -> set[Point]:
    """Every centre of a node."""
    found: set[Point] = set()
    for x, y in product(range(5), repeat=2):
        values = np.array([x, y])
        if (values >= node.lower[:2]).all() and (values <= node.upper[:2]).all():
            others = [1 + int(k) for k in np.flatnonzero(node.allowed[0])] if node.upper[2] > 0.5 else []
            found |= {(float(x), float(y), k) for k in ([0] if node.lower[2] < 0.5 else []) + others}
    return found


def divided(parts: list[Node], whole: Node) -> bool:
    """The parts hold every centre of the node once."""
    sets = [points(part) for part in parts]
    return set().union(*sets) == points(whole) and sum(map(len, sets)) == len(points(whole))


def test_a_column_is_split_between_two_whole_numbers() -> None:
    _, node = discrete_question()
    assert len(points(node)) == 100
    assert divided(split_column(node, 1, 2.0, 3.0), node)
    assert len(split_column(node, 1, -1.0, 0.0)) == 1  # nothing lies below: one part is left
    assert len(split_column(node, 1, 4.0, 5.0)) == 1


def test_a_group_is_split_into_its_categories() -> None:
    question, node = discrete_question()
    parts = split_group(question, node, 0)
    assert len(parts) == 4 and divided(parts, node)
    changed = parts[2]
    assert len(split_group(question, changed, 0)) == 1  # one category is left, and it stays


def test_discrete_choices_are_separated_until_one_centre_is_left() -> None:
    question, node = discrete_question()
    pile, singles = [node], 0
    while pile:
        part = pile.pop()
        children = split_discrete(question, part, np.clip([3.0, 2.0, 0.0], part.lower, part.upper))
        if not children:
            assert len(points(part)) == 1
            singles += 1
            continue
        assert divided(children, part)
        pile += children
    assert singles == 100


def test_a_column_stays_or_counts_as_changed() -> None:
    question, node = discrete_question(changes=1)
    stays, changes = split_changed(question, node, 0)
    assert points(stays) == {p for p in points(node) if p[0] == 2.0}
    assert points(changes) == points(node)
    assert changes.counted.tolist() == [True, False, False]


def test_once_the_changes_are_used_up_the_others_stay() -> None:
    question, node = discrete_question(changes=1)
    free = respect_changes(question, node)
    assert free is not None and points(free) == points(node)
    one = respect_changes(question, split_changed(question, node, 0)[1])
    assert one is not None and points(one) == {(x, 1.0, 0) for x in map(float, range(5))}
    two = split_changed(question, split_changed(question, node, 0)[1], 1)[1]
    assert respect_changes(question, two) is None
    moved = split_column(node, 1, 0.0, 2.0)[1]  # the factual 1 is not in it any more: a change
    kept = respect_changes(question, moved)
    assert kept is not None and points(kept) == {(2.0, y, 0) for y in (2.0, 3.0, 4.0)}
