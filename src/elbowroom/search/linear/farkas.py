"""Multipliers that cancel open columns exactly.

A proof that rows contradict each other needs lam >= 0 with sum_j lam_j A_jf = 0 on every column f without limits. A float
multiplier only cancels up to rounding, and on an open column any remainder spoils the proof. So the columns of the
solver's support are eliminated in rational arithmetic, and the exact multiplier is returned.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from elbowroom.numerics import Floats

MOST_OPEN = 60


def exact_multiplier(raw: Floats, multiplier: Floats) -> Floats | None:
    """Nonnegative lam near ``multiplier`` with raw^T lam = 0 exactly (then rounded); None if the support has none.

    ``raw`` (rows, open columns) holds the exact coefficients. A basic solution has a one-dimensional null space.
    """
    support = np.flatnonzero(multiplier > 1e-12 * multiplier.max(initial=0.0))
    columns = np.flatnonzero((raw[support] != 0).any(axis=0))
    if support.size == 0 or columns.size > MOST_OPEN:
        return None
    table = [[Fraction(float(raw[j, f])) for j in support] for f in columns]
    pivots: list[int] = []
    row = 0
    for k in range(support.size):
        found = next((i for i in range(row, len(table)) if table[i][k] != 0), None)
        if found is None:
            continue
        table[row], table[found] = table[found], table[row]
        head = table[row][k]
        table[row] = [value / head for value in table[row]]
        for i in range(len(table)):
            if i != row and table[i][k] != 0:
                factor = table[i][k]
                table[i] = [a - factor * b for a, b in zip(table[i], table[row], strict=True)]
        pivots.append(k)
        row += 1
    free = [k for k in range(support.size) if k not in pivots]
    values = [Fraction(0)] * support.size
    for k in free:
        values[k] = Fraction(float(multiplier[support[k]]))
    for i, k in enumerate(pivots):
        values[k] = -sum((table[i][j] * values[j] for j in free), Fraction(0))
    if not free or min(values) < 0:
        return None
    exact = np.zeros(multiplier.size)
    exact[support] = [float(value) for value in values]
    return exact
