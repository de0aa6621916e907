"""Questions about balls and diamonds on random trees, as the kernels see them."""

from __future__ import annotations

import numpy as np

from elbowroom import Explainer
from elbowroom.numerics import Floats
from elbowroom.problem import Ball, Diamond, RecourseProblem, Space
from elbowroom.search.trees.balls.geometry import Geometry
from elbowroom.search.trees.balls.measure import geometry_of
from elbowroom.search.trees.balls.regions import BallRegions, add_ball_region
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.layout import lay_out
from tests.support.small_models import random_trees

GRID = np.array([0.1, 0.2, 0.35, 0.5, 0.6, 0.75, 0.9])


def ball_geometry(
    random: np.random.Generator,
    room: Ball | Diamond,
    n_dims: int,
    distance: str = "l1",
    space: Space | None = None,
    cuts: Floats = GRID,
) -> Geometry:
    """The geometry of a question about a model with ``n_dims`` columns, all of them in use."""
    while True:
        explainer = Explainer(random_trees(random, n_dims, 6 * n_dims, 3, [cuts] * n_dims), space)
        factual = random.random(n_dims)
        factual[explainer.space.whole_center] = 0.0
        problem = RecourseProblem.ask(
            explainer.model, explainer.space, factual, room, target=1, distance=distance, rules=()
        )
        memory = TreeMemory.of(problem)
        layout = lay_out(problem, memory.dimensions)
        assert not isinstance(layout, str)
        geometry = geometry_of(problem, layout, memory.dimensions)
        if geometry.home.size == n_dims:
            return geometry


def random_regions(random: np.random.Generator, geometry: Geometry, capacity: int, n_regions: int) -> BallRegions:
    """Random ranges of cells; more than the store can hold replace earlier ones."""
    regions, state = BallRegions.of(capacity, geometry), np.array([5], np.uint64)
    last = np.diff(geometry.cell_start) - 1
    for _ in range(n_regions):
        first = random.integers(0, last + 1)
        final = np.minimum(last, first + random.integers(0, 4, last.size))
        open_low, open_high = random.random((2, last.size)) < 0.25
        low, high = np.where(open_low, 0, first), np.where(open_high, last, final)
        add_ball_region(regions, geometry, low, high, 0, state)
    return regions


def used_by_gaps(regions: BallRegions, geometry: Geometry, x: Floats) -> Floats:
    """What the gaps between x and every stored region use of the room, per dimension."""
    n = int(regions.count[0])
    gaps = np.maximum(0.0, np.maximum(regions.first[:n] - x, x - regions.last[:n]))
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(gaps > 0.0, gaps / geometry.axis, 0.0)
    return scaled**2 if geometry.square else scaled
