"""Multipliers that cancel open columns exactly.

A proof that rows contradict each other needs lam >= 0 with sum_j lam_j A_jf = 0 on every column f without limits. A float
multiplier only cancels up to rounding, and on an open column any remainder spoils the proof. So the columns of the
solver's support are eliminated in rational arithmetic, and the exact multiplier is returned.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.search.linear.limits import MOST_OPEN, SUPPORT
from elbowroom.search.rational import cancelling


def exact_multiplier(raw: Floats, multiplier: Floats) -> Floats | None:
    """Nonnegative lam near ``multiplier`` with raw^T lam = 0 exactly (then rounded); None if the support has none.

    ``raw`` (rows, open columns) holds the exact coefficients. A basic solution has a one-dimensional null space.
    """
    support = np.flatnonzero(multiplier > SUPPORT * multiplier.max(initial=0.0))
    columns = np.flatnonzero((raw[support] != 0).any(axis=0))
    if support.size == 0 or columns.size > MOST_OPEN:
        return None
    table = [[Fraction(float(raw[j, f])) for j in support] for f in columns]
    values = cancelling(table, [Fraction(float(v)) for v in multiplier[support]], range(support.size))
    if values is None or not any(values):
        return None
    exact = np.zeros(multiplier.size)
    exact[support] = [float(value) for value in values]
    return exact
