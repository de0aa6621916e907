"""Moves that are linear forms of several columns, for engines that know straight moves only.

Moves u = |S d|, d = x - factual, with T = S^-1 on the columns of numbers. Weights a >= 0 with norm(a d) <= norm(S d) for every d turn the
question into one with straight moves: its engine answers at once, what it accepts is good here as well, and its bound is a
bound. With what one column costs at least by itself, b_f (from |d_f| <= what the norm of u allows), and a = c b:

    l1     d_f = sum_j T_fj u_j:  b_f = 1 / max_j |T_fj|,   c = 1 / max_j sum_f b_f |T_fj|
    l2     b_f = 1 / |T_f|,                                 c = 1 / (largest singular value of diag(b) T)
    linf   b_f = 1 / sum_j |T_fj|,                          c = 1
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, assert_never

import numpy as np

from elbowroom.numerics import EPS
from elbowroom.problem import Distance, RecourseProblem
from elbowroom.problem.problem import Case
from elbowroom.problem.slant import unslanted

WORST: Final = 1e8  # condition of S: beyond it, nothing is said
LESS: Final = 1.0 - 1e-6  # of the weights: far more than rounding can add, S being no worse than that


def straightened(problem: RecourseProblem) -> RecourseProblem | None:
    """The question with straight moves that never cost more; None if the forms depend on each other too much to say."""
    slant, single = problem.metric.slant, np.flatnonzero(problem.space.group_of < 0)
    if slant is None or not single.size or not np.linalg.cond(slant[np.ix_(single, single)]) < WORST:
        return None
    T = unslanted(slant, single)
    size = np.abs(T)
    match problem.distance:
        case Distance.L1:
            alone = 1.0 / size.max(axis=1)
            share = 1.0 / float((alone @ size).max())
        case Distance.L2:
            alone = 1.0 / np.sqrt(np.square(T).sum(axis=1))
            share = 1.0 / float(np.linalg.norm(alone[:, None] * T, 2))
        case Distance.LINF:
            alone, share = 1.0 / size.sum(axis=1), 1.0
        case _ as never:
            assert_never(never)
    factor = np.zeros_like(problem.metric.factor)
    factor[single] = alone * min(share, 1.0) * (LESS - single.size * EPS)
    metric = replace(problem.metric, factor=factor, slant=None)
    return replace(problem, case=Case(*problem.centers, problem.conditions, metric))
