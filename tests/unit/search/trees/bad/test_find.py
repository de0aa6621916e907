"""The adversary, and growing what it finds, against all cells of a range."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from elbowroom.kernels.bundle import blank
from elbowroom.kernels.kernel import inlined
from elbowroom.models.margins import tree_margins
from elbowroom.problem import Box, RecourseProblem
from elbowroom.search.trees.bad.find import FINDING, Stack, find_bad_in, finder
from elbowroom.search.trees.bad.grow import grow
from elbowroom.search.trees.cells.build import build_ensemble
from elbowroom.search.trees.cells.dimensions import Dimensions
from elbowroom.search.trees.cells.leaves import narrow
from elbowroom.search.trees.question.layout import Layout, lay_out
from tests.support.cells import leaf_values, points_of, random_range, small_space, small_trees

look_for_bad = numba.njit(lambda *arguments: find_bad_in(*arguments))
make_large = numba.njit(lambda *arguments: grow(*arguments))


@pytest.mark.parametrize("classes", [2, 3])
def test_adversary_finds_a_bad_cell_iff_there_is_one_and_growing_keeps_it_bad(classes: int) -> None:
    found = 0
    for seed in range(12):
        model = small_trees(seed, classes=classes)
        question = RecourseProblem.ask(model, small_space(), np.zeros(3), Box(0.0), 1)
        dimensions = Dimensions.of(model, small_space())
        layout = lay_out(question, dimensions)
        assert isinstance(layout, Layout)
        ensemble = build_ensemble(model, small_space(), 1, None, dimensions)
        stack = blank(Stack, depth=512, dims=dimensions.columns.size, words=ensemble.everything.size)
        margins, rng = tree_margins(model, 1), np.random.default_rng(seed)
        work = np.zeros(1, np.int64)
        for _ in range(20):
            low, high = random_range(rng, dimensions)
            points = points_of(dimensions, low, high, 3)
            sums = np.stack([leaf_values(model, points, r).sum(axis=1) for r in range(classes - 1)], axis=1)
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
            inside = leaf_values(model, points_of(dimensions, wide_low, wide_high, 3), rival).sum(axis=1)
            assert (margins.base[rival] + inside < margins.slack[rival]).all()
    assert found > 20


@inlined
def _below(model: Any, where: Any, stack: Stack, top: int) -> bool:
    """Within reach: cells of the first dimension up to ``where``."""
    if stack.low[top, 0] > where:
        return False
    stack.high[top, 0] = min(stack.high[top, 0], where)
    narrow(stack.leaves[top], model, 0, stack.low[top, 0], stack.high[top, 0], 0, stack.leaves.shape[1])
    return True


_find_below = finder(_below)
look_below = numba.njit(lambda *arguments: _find_below(*arguments))


def test_only_what_is_within_reach_is_found() -> None:
    """A hook that cuts sub-ranges down is the same as a smaller range from the start."""
    both = 0
    for seed in range(12):
        model, rng = small_trees(seed), np.random.default_rng(seed)
        dimensions = Dimensions.of(model, small_space())
        layout = lay_out(RecourseProblem.ask(model, small_space(), np.zeros(3), Box(0.0), 1), dimensions)
        assert isinstance(layout, Layout)
        ensemble = build_ensemble(model, small_space(), 1, None, dimensions)
        stack = blank(Stack, depth=512, dims=dimensions.columns.size, words=ensemble.everything.size)
        low, high = np.zeros(dimensions.columns.size, np.int64), ensemble.last.copy()
        for last in rng.integers(0, ensemble.last[0] + 1, 5).tolist():
            stack.low[0], stack.high[0] = low, high
            found, _ = look_below(ensemble, layout.question, 10_000, stack, np.zeros(1, np.int64), last)
            nearer = np.append(last, high[1:])
            expected, _ = look_for_bad(ensemble, layout.question, low, nearer, 10_000, stack, np.zeros(1, np.int64))
            assert found == expected
            both += int(found == FINDING.GOOD)
    assert both < 60
