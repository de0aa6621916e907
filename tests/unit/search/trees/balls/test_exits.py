"""The split along the exits of a box inside the room: no good centre is lost, the nearest one of the node is left behind."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom import Feature
from elbowroom.kernels.kernel import kernel
from elbowroom.problem import Ball, Diamond, RecourseProblem, Space
from elbowroom.search.contract import Clock
from elbowroom.search.trees.balls.calls import BallKernels
from elbowroom.search.trees.balls.exits import NO_EXITS, split_by_exits
from elbowroom.search.trees.balls.geometry import Geometry
from elbowroom.search.trees.balls.node import settle_node
from elbowroom.search.trees.balls.regions import BallRegions
from elbowroom.search.trees.balls.workspace import Workspace
from elbowroom.search.trees.heap import HEAP, Nodes
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.layout import lay_out
from elbowroom.search.trees.question.question import Question
from tests.support.balls import random_regions, used_by_gaps
from tests.support.small_models import random_trees

KEY = 0.01
DIMS = 4


@kernel
def settled(question: Question, geometry: Geometry, workspace: Workspace, budget: float) -> float:
    return settle_node(question, geometry, workspace.node, budget)


@kernel
def split(
    geometry: Geometry, regions: BallRegions, row: int, nodes: Nodes, base: float, budget: float, plunge: bool,
    workspace: Workspace,
) -> tuple[int, float]:  # fmt: skip
    return split_by_exits(geometry, regions, row, nodes, base, KEY, budget, plunge, workspace)


def kernels_of(random: np.random.Generator, room: Ball | Diamond, distance: str, whole: bool) -> BallKernels:
    """A question about four columns, the last of which counts whole numbers if asked."""
    cuts = [np.array([0.1, 0.2, 0.35, 0.5, 0.6, 0.75, 0.9])] * (DIMS - 1) + [np.arange(0.5, 8.0)]
    while True:
        model = random_trees(random, DIMS, 6 * DIMS, 3, cuts)
        *names, last = model.info.names
        space = Space((*(Feature(name) for name in names), Feature(last, kind="integer" if whole else "numeric")))
        row = np.append(random.random(DIMS - 1), random.integers(0, 8))
        problem = RecourseProblem.ask(model, space, row, room, target=1, distance=distance, rules=())
        memory = TreeMemory.of(problem)
        layout = lay_out(problem, memory.dimensions)
        if not isinstance(layout, str) and layout.question.home.size == DIMS:
            return BallKernels(problem, Clock(60.0), 0, memory, layout)


@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("room", [Ball(0.3), Diamond(0.3), Ball((0.4, 0.1, 0.0, 2.5))])
def test_every_good_centre_is_in_a_child_that_costs_no_more(room: Ball | Diamond, whole: bool, distance: str) -> None:
    random, met, kept = np.random.default_rng(5), 0, 0
    kernels = kernels_of(random, room, distance, whole)
    geometry, workspace = kernels.geometry, kernels.workspace
    wide = np.array([1.0, 1.0, 1.0, 8.0])
    for _ in range(1000):
        if met == 15:
            break
        regions, node = random_regions(random, geometry, 64, 1), workspace.node
        if not regions.count[0]:
            continue
        ends = np.sort(random.uniform(-0.3, 1.3, (2, DIMS)) * wide, axis=0)
        node.low[:], node.high[:] = ends
        budget = math.inf if random.random() < 0.5 else float(random.uniform(0.2, 3.0))
        base = float(settled(kernels.question, geometry, workspace, budget))
        low, high, x = node.low.copy(), node.high.copy(), node.x.copy()
        if base >= budget or used_by_gaps(regions, geometry, x).sum() >= 1.0:
            continue
        plunge = bool(random.random() < 0.5)
        nodes = Nodes.of(64, DIMS, np.float64)
        count, best = split(geometry, regions, 0, nodes, base, budget, plunge, workspace)
        if count == NO_EXITS:
            continue
        met += 1
        open_nodes = int(nodes.count[HEAP.OPEN])
        boxes = [(nodes.low[r], nodes.high[r], nodes.key[i]) for i, r in enumerate(nodes.row[:open_nodes])]
        if plunge and count > 0:
            boxes.append((workspace.trial.low, workspace.trial.high, best))
        assert len(boxes) == count
        assert all(np.any((x < first) | (x > final)) and key >= KEY for first, final, key in boxes)
        for center in random.uniform(low, high, (300, DIMS)):
            center[geometry.whole == 1] = np.round(center[geometry.whole == 1])
            cost = kernels.total(center)
            good = used_by_gaps(regions, geometry, center).sum() > 1.0
            if good and cost < budget and np.all((low <= center) & (center <= high)):
                kept += 1
                assert any(
                    np.all((first <= center) & (center <= final)) and key <= max(KEY, cost * (1 + 1e-9))
                    for first, final, key in boxes
                )
    assert met == 15 and kept > 100
