"""Distances that follow the covariance of the data: the Mahalanobis distance.

d(x, factual)^2 = (x - factual)^T S^-1 (x - factual) = |L^-1 (x - factual)|^2 with S = L L^T, over the columns of numbers that S
is about. Weights and scales do not count there; a change of category costs its weight, as ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.visible import listed

LARGEST_CONDITION = 1e12  # of a covariance matrix whose inverse is worth anything


@dataclass(frozen=True)
class Covariance:
    """Of columns of numbers: symmetric and positive definite.

    Args:
        columns: The names, in the order of the matrix.
        matrix: Their covariances, row by row.

    Examples:
        >>> Covariance(("salary", "debt"), ((4.0, -1.0), (-1.0, 1.0))).columns
        ('salary', 'debt')
    """

    columns: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        try:
            S = np.array(self.matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("Covariance: the matrix must hold numbers, one row per column") from None
        n = len(self.columns)
        if S.shape != (n, n) or n == 0 or len(set(self.columns)) != n:
            raise InputError(f"Covariance: {n} different columns need a matrix of {n} x {n} numbers, not {S.shape}")
        if not np.isfinite(S).all() or not np.array_equal(S, S.T):
            raise InputError("Covariance: the matrix must be finite and symmetric")
        spread = np.sqrt(np.maximum(np.diag(S), 0.0))
        if not (spread > 0).all():
            constant = [name for name, s in zip(self.columns, spread, strict=True) if not s > 0]
            raise InputError(f"Covariance: {constant} do not vary; leave them out, or declare them immutable")
        values = np.linalg.eigvalsh(S / np.outer(spread, spread))
        if not values[0] * LARGEST_CONDITION > values[-1]:
            raise InputError(
                f"Covariance: the columns {list(self.columns)} depend on each other (their correlations have an eigenvalue of "
                f"{values[0]:.3g}); leave one of them out, or add a little to the diagonal"
            )
        object.__setattr__(self, "matrix", tuple(tuple(row) for row in S.tolist()))

    @classmethod
    def of(cls, frame: pd.DataFrame, columns: Sequence[str]) -> Covariance:
        """Of the rows of a table that lack nothing in these columns.

        Args:
            frame: The table.
            columns: The columns of numbers that it is about.

        Returns:
            Their covariance.
        """
        if not isinstance(frame, pd.DataFrame):
            raise InputError(f"Covariance: give a table (a DataFrame), not {type(frame).__name__}")
        lacking = [name for name in columns if name not in frame.columns]
        if lacking:
            raise InputError(f"Covariance: the table lacks the columns {listed(lacking)}")
        try:
            rows = frame[list(columns)].dropna().to_numpy(dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"Covariance: {listed(columns)} must be columns of numbers") from None
        S = np.atleast_2d(np.cov(rows, rowvar=False)) if len(rows) > 1 else np.zeros((len(columns),) * 2)
        return cls(tuple(columns), tuple(map(tuple, ((S + S.T) / 2).tolist())))


def check_covariance(covariance: Covariance, columns: Iterable[str], grouped: Iterable[str]) -> None:
    """It is about all columns of numbers of the space, and no others."""
    numbers = [name for name in columns if name not in set(grouped)]
    if sorted(numbers) != sorted(covariance.columns):
        raise InputError(
            f"Covariance: it is about {list(covariance.columns)}, the space has the numbers {numbers}; name the same"
        )


def whitening(covariance: Covariance, names: tuple[str, ...]) -> Floats:
    """L^-1, with rows and columns of 0 for all others."""
    found = np.zeros((len(names), len(names)))
    at = np.array([names.index(name) for name in covariance.columns])
    L = np.linalg.cholesky(np.array(covariance.matrix))
    found[np.ix_(at, at)] = np.linalg.inv(L)
    return found
