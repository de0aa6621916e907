"""Cells of leaves found by walking are those of the leaves' boxes."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import pytest

from elbowroom.models.margins import tree_margins
from elbowroom.problem import Feature, Space
from elbowroom.search.trees.cells.build import Part, _leaf_cells
from elbowroom.search.trees.cells.dimensions import Dimensions
from elbowroom.search.trees.cells.walk import walked_cells
from tests.support.small_models import random_trees


def _end(steps: Generator[None, None, Any]) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("seed", range(20))
def test_same_cells(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cuts = [rng.choice([*np.round(rng.normal(size=5) * 2, 1), np.inf, -np.inf], 6) for _ in range(4)]
    model = random_trees(rng, n_features=4, n_trees=8, depth=5, cuts=cuts, exact=False)
    kinds = ["numeric", "integer", "numeric", "integer"]
    space = Space(tuple(Feature(name, kind) for name, kind in zip(model.info.names, kinds, strict=True)))
    dimensions = Dimensions.of(model, space)
    low, high, kept = _end(_leaf_cells(Part(model, tree_margins(model, 1)), space, dimensions))
    walked_low, walked_high, walked_kept = _end(walked_cells(model, space, dimensions))
    assert np.array_equal(walked_kept, kept)
    assert np.array_equal(walked_low[kept], low[kept])
    assert np.array_equal(walked_high[kept], high[kept])
