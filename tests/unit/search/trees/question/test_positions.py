"""Positions are exactly where a room stops touching a cut."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.models import TreeEnsemble
from elbowroom.problem import Box, Feature, RecourseProblem, Space
from elbowroom.search.trees.cells.dimensions import Dimensions
from elbowroom.search.trees.question.layout import Layout, lay_out
from elbowroom.search.trees.question.positions import Room, escapes
from tests.support.small_models import random_trees

AWKWARD = np.array([0.1, 0.3, -0.0, 1e-300, 5e-324, 1e17, -1e17, 123456.789, 2.0**53, 1 / 3, -7.0, 3.0, 1.0, 1e9])
RADII = [0.0, 0.05, 0.1, 1 / 3, 2.5, 1e-12, 7.0]


def _problem(cuts: np.ndarray, kind: str, low: float, high: float, factual: float, **bounds: float) -> RecourseProblem:
    rng = np.random.default_rng(0)
    model: TreeEnsemble = random_trees(rng, 1, 20, 3, [cuts])
    space = Space((Feature("x0", kind, **bounds),))
    return RecourseProblem.ask(model, space, np.array([factual]), Box(low=low, high=high), 1)


@pytest.mark.parametrize("kind", ["numeric", "integer"])
@pytest.mark.parametrize("bounds", [{}, {"lower": -5.0, "upper": 9.0}])
def test_each_position_is_the_first_or_last_centre_past_a_cut(kind: str, bounds: dict[str, float]) -> None:
    rng = np.random.default_rng(1)
    seen = 0
    for down in RADII:
        for up in RADII:
            problem = _problem(AWKWARD, kind, down, up, float(rng.integers(-4, 8)), **bounds)
            dimensions = Dimensions.of(problem.model, problem.space)
            home = np.clip(problem.factual, problem.lower, problem.upper)
            values, owner = escapes(Room(problem), dimensions.columns, dimensions.cuts, home)
            assert (owner == 0).all()
            assert home[0] in values
            column = np.zeros(1, np.int64)
            for value in values:
                assert problem.lower[0] <= value <= problem.upper[0]
                if value == home[0]:
                    continue
                seen += 1
                towards = float(np.sign(home[0] - value))
                whole = kind == "integer" and abs(value) < 2.0**52
                nearer = value + towards if whole else float(np.nextafter(value, home[0]))
                here = Room(problem).ends(column, np.array([value]))
                there = Room(problem).ends(column, np.array([nearer]))
                side = 0 if towards < 0 else 1
                cell = [np.searchsorted(dimensions.cuts[0], edge[side][0]) for edge in (here, there)]
                assert cell[0] != cell[1], (down, up, value)  # one step nearer and the room touches another cell
    assert seen > 100


def test_cells_of_positions_are_the_cells_of_the_body() -> None:
    rng = np.random.default_rng(5)
    for seed in range(40):
        cuts = [rng.normal(size=8), rng.choice(np.arange(-9, 10) / 2.0, 8)]
        model = random_trees(np.random.default_rng(seed), 2, 6, 3, cuts)
        space = Space((Feature("x0", lower=-2.0), Feature("x1", "integer", upper=4.0, direction="increasing")))
        row = np.array([rng.normal(), float(rng.integers(-4, 4))])
        problem = RecourseProblem.ask(model, space, row, Box(float(rng.choice([0.0, 0.3, 1.0]))), 1, "l2")
        layout = lay_out(problem, Dimensions.of(model, space))
        if isinstance(layout, str):
            continue
        q = layout.question
        for _ in range(20):
            x = np.array([rng.integers(a, b + 1) for a, b in zip(layout.root_low, layout.root_high, strict=True)])
            center = layout.center(x)
            body = problem.body(center)
            assert problem.admissible(center)
            at = q.pos_start[:-1] + x
            np.testing.assert_array_equal(q.low_cell[at], layout.dimensions.cells_of(body.lower))
            np.testing.assert_array_equal(q.high_cell[at], layout.dimensions.cells_of(body.upper))
            assert np.sqrt(q.cost[at].sum() + q.constant) == pytest.approx(problem.measure(center), rel=1e-12)


def test_edges_between_cells_and_positions_invert_each_other() -> None:
    problem = _problem(np.arange(-6, 7) / 2.0, "numeric", 0.4, 0.9, 0.1)
    layout = lay_out(problem, Dimensions.of(problem.model, problem.space))
    assert isinstance(layout, Layout)
    q = layout.question
    for cell in range(-1, int(layout.dimensions.cuts[0].size) + 2):
        at = q.edge_start[0] + cell + 1
        n = q.home.size and int(q.pos_start[1])
        assert q.first_low[at] == next((p for p in range(n) if q.low_cell[p] >= cell), n)
        assert q.first_high[at] == next((p for p in range(n) if q.high_cell[p] >= cell), n)
        assert q.last_low[at] == max((p for p in range(n) if q.low_cell[p] <= cell), default=-1)
        assert q.last_high[at] == max((p for p in range(n) if q.high_cell[p] <= cell), default=-1)
