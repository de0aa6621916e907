"""The adversary of balls and diamonds, against all cells within the room."""

from __future__ import annotations

from itertools import pairwise, product

import numba
import numpy as np
import pytest

from elbowroom import Ball, Diamond, Feature, Space
from elbowroom.kernels.bundle import blank
from elbowroom.problem import RecourseProblem
from elbowroom.search.trees.bad.find import FINDING, Stack
from elbowroom.search.trees.balls.find import find_bad_near
from elbowroom.search.trees.balls.geometry import Geometry
from elbowroom.search.trees.balls.measure import geometry_of
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.layout import lay_out
from tests.support.small_models import random_trees

look_near = numba.njit(lambda *arguments: find_bad_near(*arguments))


def _bad_cell_within(memory: TreeMemory, geometry: Geometry, x: np.ndarray) -> bool:
    """Is some cell nearer than the surface of the room, along all dimensions together, and bad?"""
    starts = geometry.cell_start
    for cells in product(*(range(int(a), int(b)) for a, b in pairwise(starts))):
        flat = np.array(cells)
        first, last = geometry.first[flat], geometry.last[flat]
        gaps = np.maximum(0.0, np.maximum(first - x, x - last)) / geometry.axis
        if (gaps**2 if geometry.square else gaps).sum() < 1.0:
            point = np.zeros(len(memory.space.names))
            point[memory.dimensions.columns] = np.where(np.isfinite(last), last, first)
            if memory.model.scores(point[None])[0, 0] < 0.0:
                return True
    return False


@pytest.mark.parametrize("room", [Ball(0.15), Diamond(0.2)])
def test_a_bad_cell_is_found_iff_one_is_within_the_room(room: Ball | Diamond) -> None:
    verdicts = {FINDING.GOOD: 0, FINDING.BAD: 0}
    space = Space((Feature("x0"), Feature("x1"), Feature("x2")))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        model = random_trees(rng, 3, 4, 3, [rng.random(5) for _ in range(3)], exact=False)
        problem = RecourseProblem.ask(model, space, rng.random(3), room, target=1)
        memory = TreeMemory.of(problem)
        layout = lay_out(problem, memory.dimensions)
        assert not isinstance(layout, str)
        geometry = geometry_of(problem, layout, memory.dimensions)
        n_dims, ensemble = geometry.home.size, memory.ensemble
        stack = blank(Stack, depth=256, dims=n_dims, words=ensemble.everything.size)
        for _ in range(10):
            x, used, work = rng.random(n_dims), np.zeros(n_dims), np.zeros(1, np.int64)
            found, _ = look_near(ensemble, layout.question, geometry, x, 1.0, 10_000, stack, used, work)
            assert (found == FINDING.BAD) == _bad_cell_within(memory, geometry, x)
            verdicts[found] += 1
    assert min(verdicts.values()) > 20
