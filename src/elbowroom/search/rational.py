"""Gauss-Jordan elimination in fractions: multipliers that cancel columns exactly, with no tolerance."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction


def cancelling(table: list[list[Fraction]], near: list[Fraction], order: Iterable[int]) -> list[Fraction] | None:
    """Nonnegative y with table . y = 0 exactly, equal to ``near`` wherever a choice is left; None if there is none.

    Columns become pivots in the given order: they absorb the correction, the others keep their values.
    """
    pivots: list[int] = []
    for k in order:
        row = len(pivots)
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
    y = list(near)
    for i, k in enumerate(pivots):
        y[k] = -sum((table[i][j] * y[j] for j in range(len(y)) if j not in pivots), Fraction(0))
    return y if min(y, default=Fraction(-1)) >= 0 else None
