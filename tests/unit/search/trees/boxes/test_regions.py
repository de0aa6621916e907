"""The store of bad regions: the bits of the positions say the same as the clauses, also after rows were replaced."""

from __future__ import annotations

import numpy as np

from elbowroom.search.trees import TreeMemory
from elbowroom.search.trees.boxes.regions import Regions, add_region
from elbowroom.search.trees.limits import MET_BYTES
from elbowroom.search.trees.question.layout import Layout, lay_out
from tests.support.small_questions import hard_question


def test_bits_of_positions_agree_with_clauses() -> None:
    problem = hard_question(4)
    memory = TreeMemory.of(problem)
    layout = lay_out(problem, memory.dimensions)
    assert isinstance(layout, Layout)
    question = layout.question
    regions = Regions.of(question, capacity=70)
    rng = np.random.default_rng(0)
    state = np.array([7], np.uint64)
    for _ in range(200):  # more than fit: random rows are replaced
        ends = np.sort(rng.integers(0, memory.ensemble.last + 1, (2, question.home.size)), axis=0)
        add_region(regions, question, ends[0], ends[1], 0, state)
    assert regions.count[0] == 70
    for row in range(70):
        bits = (regions.met[row // 64] >> np.uint64(63 - row % 64)) & np.uint64(1)
        for d in range(question.home.size):
            begin, end = question.pos_start[d], question.pos_start[d + 1]
            p = np.arange(end - begin)
            expected = (regions.below[row, d] < p) & (p < regions.above[row, d])
            np.testing.assert_array_equal(bits[begin:end] == 1, expected)
    assert regions.met.nbytes <= MET_BYTES
