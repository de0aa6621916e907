"""From a question to the numbers that the kernels for balls and diamonds know it by."""

from __future__ import annotations

import numpy as np

from elbowroom.numerics import next_value
from elbowroom.problem import Distance, RecourseProblem
from elbowroom.problem.shapes import is_squared
from elbowroom.search.trees.balls.geometry import KIND, NORM, Geometry
from elbowroom.search.trees.cells.dimensions import Dimensions
from elbowroom.search.trees.question.layout import Layout


def geometry_of(problem: RecourseProblem, layout: Layout, dimensions: Dimensions) -> Geometry:
    """A question about balls or diamonds in numbers."""
    columns, question = dimensions.columns, layout.question
    n_single = int(dimensions.group_start[0])
    whole, grouped = problem.space.whole_center[columns], np.arange(columns.size) >= n_single
    axis = np.where(grouped, 0.0, problem.walls.up[columns])
    kind = np.where(axis > 0.0, KIND.ROUND, KIND.STILL)
    kind[question.free_dim] = KIND.FREE
    lower, upper = problem.lower[columns], problem.upper[columns]  # of the room; those of centres may be narrower
    first, last = problem.centers
    price = np.zeros(columns.size)
    for b in np.flatnonzero(question.group_home >= 0):
        price[question.block_start[b] : question.block_start[b + 1]] = question.group_price[b]
    firsts, lasts = [], []
    for cuts, is_whole in zip(dimensions.cuts, whole, strict=True):
        after = next_value(cuts, is_whole)
        firsts.append(np.concatenate([[-np.inf], after]))
        lasts.append(np.concatenate([cuts, [np.inf]]))
    cell_of = [np.searchsorted(cuts, [a, b]) for cuts, a, b in zip(dimensions.cuts, lower, upper, strict=True)]
    cells = np.array(cell_of, dtype=np.int64).reshape(-1, 2)
    return Geometry(
        home=layout.idle[columns],
        factual=problem.factual[columns],
        kind=kind.astype(np.int64),
        whole=whole.astype(np.int64),
        axis=axis,
        rate=np.where(grouped, 0.0, problem.metric.factor[columns]),
        category_price=price,
        lower=first[columns],
        upper=last[columns],
        low_cell=np.ascontiguousarray(cells[:, 0]),
        high_cell=np.ascontiguousarray(cells[:, 1]),
        cell_start=dimensions.cell_start,
        first=np.concatenate([np.zeros(0), *firsts]),
        last=np.concatenate([np.zeros(0), *lasts]),
        square=is_squared(problem.walls.shape),
        norm={Distance.L1: NORM.SUM, Distance.L2: NORM.SQUARES, Distance.LINF: NORM.LARGEST}[problem.distance],
    )
