"""Cells and leaf bits, against the leaves of the model itself."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from elbowroom.models.margins import tree_margins
from elbowroom.search.trees.cells.build import build_ensemble
from elbowroom.search.trees.cells.dimensions import Dimensions
from elbowroom.search.trees.cells.leaves import Ensemble, largest_sum, narrow, smallest_sum
from tests.support.cells import leaf_values, points_of, random_range, small_space, small_trees
from tests.support.small_models import random_trees

sum_of_smallest = numba.njit(lambda leaves, model, rival: smallest_sum(leaves, model, rival))
sum_of_largest = numba.njit(lambda leaves, model, rival: largest_sum(leaves, model, rival))
keep_leaves = numba.njit(lambda *arguments: narrow(*arguments))

TINY_TABLES = 64  # bytes: forces a stride


def _leaves_of(ensemble: Ensemble, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    mask = ensemble.everything.copy()
    for d in range(low.size):
        keep_leaves(mask, ensemble, d, int(low[d]), int(high[d]), 0, mask.size)
    return mask


@pytest.mark.parametrize("table_bytes", [2**20, TINY_TABLES])
@pytest.mark.parametrize("classes", [2, 3])
def test_sums_over_ranges_are_sums_of_extreme_leaves(classes: int, table_bytes: int) -> None:
    for seed in range(6):
        model = small_trees(seed, classes=classes)
        dimensions = Dimensions.of(model, small_space())
        ensemble = build_ensemble(model, small_space(), 1, None, dimensions, table_bytes)
        assert (ensemble.stride > 1) == (table_bytes == TINY_TABLES)
        rng = np.random.default_rng(seed)
        for _ in range(20):
            low, high = random_range(rng, dimensions)
            mask = _leaves_of(ensemble, low, high)
            points = points_of(dimensions, low, high, 3)
            for rival in range(classes - 1):
                values = leaf_values(model, points, rival)
                base = float(tree_margins(model, 1).base[rival])
                assert sum_of_smallest(mask, ensemble, rival) == pytest.approx(
                    base + values.min(axis=0).sum(), abs=1e-12
                )
                assert sum_of_largest(mask, ensemble, rival) == pytest.approx(
                    base + values.max(axis=0).sum(), abs=1e-12
                )


def test_trees_with_more_leaves_than_a_word() -> None:
    rng = np.random.default_rng(3)
    cuts = [rng.normal(size=60), rng.normal(size=60), np.arange(-30, 30) + 0.5]
    model = random_trees(rng, 3, 4, 14, cuts, exact=False)
    sizes = np.diff(model.leaves.offsets)
    assert sizes.max() > 64
    dimensions = Dimensions.of(model, small_space())
    ensemble = build_ensemble(model, small_space(), 1, None, dimensions)
    for _ in range(20):
        low, high = random_range(rng, dimensions)
        high = np.minimum(high, low + 6)
        values = leaf_values(model, points_of(dimensions, low, high, 3), 0)
        mask = _leaves_of(ensemble, low, high)
        assert sum_of_smallest(mask, ensemble, 0) == pytest.approx(values.min(axis=0).sum(), abs=1e-12)
        assert sum_of_largest(mask, ensemble, 0) == pytest.approx(values.max(axis=0).sum(), abs=1e-12)


def test_whole_columns_have_no_cell_without_a_whole_number() -> None:
    dimensions = Dimensions.of(small_trees(0), small_space())
    position = int(np.flatnonzero(dimensions.columns == 2)[0])
    cuts = dimensions.cuts[position]
    assert (cuts == np.floor(cuts)).all()
    assert (np.diff(cuts) >= 1.0).all()
