"""Cells, leaf bits, the adversary and growing, against the leaves of the model itself."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from elbowroom.kernels.bundle import blank
from elbowroom.models import Decision, TreeEnsemble
from elbowroom.models.margins import tree_margins
from elbowroom.problem import Box, Feature, RecourseProblem, Space
from elbowroom.search.trees.bad.find import FINDING, Stack, find_bad_in
from elbowroom.search.trees.bad.grow import grow
from elbowroom.search.trees.cells.build import build_ensemble
from elbowroom.search.trees.cells.dimensions import Dimensions
from elbowroom.search.trees.cells.leaves import Ensemble, largest_sum, narrow, smallest_sum
from elbowroom.search.trees.question.layout import Layout, lay_out
from tests.support.small_models import random_trees

sum_of_smallest = numba.njit(lambda leaves, model, rival: smallest_sum(leaves, model, rival))
sum_of_largest = numba.njit(lambda leaves, model, rival: largest_sum(leaves, model, rival))
look_for_bad = numba.njit(lambda *arguments: find_bad_in(*arguments))
keep_leaves = numba.njit(lambda *arguments: narrow(*arguments))
make_large = numba.njit(lambda *arguments: grow(*arguments))

TINY_TABLES = 64  # bytes: forces a stride


def _model(seed: int, depth: int = 4, classes: int = 2, trees: int = 5) -> TreeEnsemble:
    rng = np.random.default_rng(seed)
    cuts = [rng.choice(np.arange(-20, 21) / 4.0, 12), rng.normal(size=9), np.arange(-4, 5) / 2.0]
    decision = Decision.ARGMAX if classes > 2 else Decision.POSITIVE
    return random_trees(rng, 3, trees, depth, cuts, classes, decision, exact=False)


def _space() -> Space:
    return Space((Feature("x0"), Feature("x1"), Feature("x2", "integer")))


def _range(rng: np.random.Generator, dimensions: Dimensions) -> tuple[np.ndarray, np.ndarray]:
    low = np.array([rng.integers(0, c.size + 1) for c in dimensions.cuts], dtype=np.int64)
    high = np.array([rng.integers(a, c.size + 1) for a, c in zip(low, dimensions.cuts, strict=True)], dtype=np.int64)
    return low, high


def _samples(dimensions: Dimensions, low: np.ndarray, high: np.ndarray, n_columns: int) -> np.ndarray:
    """One point of every cell of a range."""
    axes = []
    for d, cuts in enumerate(dimensions.cuts):
        step = 1.0 if d == 2 else 1e-9
        values = np.append(cuts, cuts[-1] + step)
        axes.append(values[low[d] : high[d] + 1])
    points = np.zeros((int(np.prod([a.size for a in axes])), n_columns))
    points[:, dimensions.columns] = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(len(points), -1)
    return points


def _leaf_values(model: TreeEnsemble, points: np.ndarray, rival: int) -> np.ndarray:
    """(points, trees) values of the leaf that each point reaches."""
    margins, leaves = tree_margins(model, 1), model.leaves
    reached = ((leaves.lower < points[:, None]) & (points[:, None] <= leaves.upper)).all(axis=2)
    return np.stack(
        [
            reached[:, a:b] @ margins.value[a:b, rival]
            for a, b in zip(leaves.offsets[:-1], leaves.offsets[1:], strict=True)
        ],
        axis=1,
    )


def _leaves_of(ensemble: Ensemble, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    mask = ensemble.everything.copy()
    for d in range(low.size):
        keep_leaves(mask, ensemble, d, int(low[d]), int(high[d]), 0, mask.size)
    return mask


@pytest.mark.parametrize("table_bytes", [2**20, TINY_TABLES])
@pytest.mark.parametrize("classes", [2, 3])
def test_sums_over_ranges_are_sums_of_extreme_leaves(classes: int, table_bytes: int) -> None:
    for seed in range(6):
        model = _model(seed, classes=classes)
        dimensions = Dimensions.of(model, _space())
        ensemble = build_ensemble(model, _space(), 1, None, dimensions, table_bytes)
        assert (ensemble.stride > 1) == (table_bytes == TINY_TABLES)
        rng = np.random.default_rng(seed)
        for _ in range(20):
            low, high = _range(rng, dimensions)
            mask = _leaves_of(ensemble, low, high)
            points = _samples(dimensions, low, high, 3)
            for rival in range(classes - 1):
                values = _leaf_values(model, points, rival)
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
    dimensions = Dimensions.of(model, _space())
    ensemble = build_ensemble(model, _space(), 1, None, dimensions)
    for _ in range(20):
        low, high = _range(rng, dimensions)
        high = np.minimum(high, low + 6)
        values = _leaf_values(model, _samples(dimensions, low, high, 3), 0)
        mask = _leaves_of(ensemble, low, high)
        assert sum_of_smallest(mask, ensemble, 0) == pytest.approx(values.min(axis=0).sum(), abs=1e-12)
        assert sum_of_largest(mask, ensemble, 0) == pytest.approx(values.max(axis=0).sum(), abs=1e-12)


def test_whole_columns_have_no_cell_without_a_whole_number() -> None:
    dimensions = Dimensions.of(_model(0), _space())
    position = int(np.flatnonzero(dimensions.columns == 2)[0])
    cuts = dimensions.cuts[position]
    assert (cuts == np.floor(cuts)).all()
    assert (np.diff(cuts) >= 1.0).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_adversary_finds_a_bad_cell_iff_there_is_one_and_growing_keeps_it_bad(classes: int) -> None:
    found = 0
    for seed in range(12):
        model = _model(seed, classes=classes)
        question = RecourseProblem.ask(model, _space(), np.zeros(3), Box(0.0), 1)
        dimensions = Dimensions.of(model, _space())
        layout = lay_out(question, dimensions)
        assert isinstance(layout, Layout)
        ensemble = build_ensemble(model, _space(), 1, None, dimensions)
        stack = blank(Stack, depth=512, dims=dimensions.columns.size, words=ensemble.everything.size)
        margins, rng = tree_margins(model, 1), np.random.default_rng(seed)
        work = np.zeros(1, np.int64)
        for _ in range(20):
            low, high = _range(rng, dimensions)
            points = _samples(dimensions, low, high, 3)
            sums = np.stack([_leaf_values(model, points, r).sum(axis=1) for r in range(classes - 1)], axis=1)
            good = bool((margins.base + sums >= margins.slack).all())
            verdict, rival = look_for_bad(ensemble, layout.question, low, high, 10_000, stack, work)
            assert verdict == (FINDING.GOOD if good else FINDING.BAD)
            if good:
                continue
            found += 1
            first, final = stack.low[0].copy(), stack.high[0].copy()
            assert (first >= low).all()
            assert (final <= high).all()
            order = rng.permutation(2 * low.size)
            scratch = np.zeros((2 * low.size + 1, ensemble.everything.size), np.uint64)
            spare = np.zeros((3, ensemble.everything.size), np.uint64)
            wide_low, wide_high = first.copy(), final.copy()
            make_large(ensemble, rival, wide_low, wide_high, order, np.zeros_like(low), ensemble.last, scratch, spare)
            assert (wide_low <= first).all()
            assert (wide_high >= final).all()
            inside = _leaf_values(model, _samples(dimensions, wide_low, wide_high, 3), rival).sum(axis=1)
            assert (margins.base[rival] + inside < margins.slack[rival]).all()
    assert found > 20
