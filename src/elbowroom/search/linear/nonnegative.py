"""Nonnegative least squares: min |E x - f| subject to x >= 0 (Lawson and Hanson 1974, algorithm 23.10).

Written out here because library versions differ: some abort the interpreter on a matrix without columns, some return a
point that is not optimal. The programs of this engine have few columns, so a plain active-set loop is fast enough.
"""

from __future__ import annotations

import numpy as np

from elbowroom.numerics import EPS, Floats


def nonnegative_least_squares(E: Floats, f: Floats) -> Floats | None:
    """The minimizer, or None if the loop does not end (rounding on nearly dependent columns)."""
    n = E.shape[1]
    x = np.zeros(n)
    passive = np.zeros(n, dtype=np.bool_)
    tolerance = 16.0 * EPS * np.linalg.norm(E, axis=0) * float(np.linalg.norm(f))
    refused = np.zeros(n, dtype=np.bool_)  # columns that rounding keeps from entering at the present point
    for _ in range(30 * n + 30):
        residual = f - E @ x
        slope = np.where(passive | refused, -np.inf, E.T @ residual - tolerance)
        if n == 0 or not (slope > 0).any():
            return x
        entering = int(np.argmax(slope))
        passive[entering] = True
        trial = _solve(E, f, passive)
        if trial[entering] <= 0:  # only rounding made it look useful
            passive[entering] = False
            refused[entering] = True
            continue
        while passive.any() and trial[passive].min() <= 0:
            blocking = passive & (trial <= 0)
            step = float((x[blocking] / (x[blocking] - trial[blocking])).min())
            x = np.where(passive, x + step * (trial - x), 0.0)
            passive &= ~(blocking & (x <= 4.0 * EPS * np.abs(x).max(initial=0.0)))
            x[~passive] = 0.0
            trial = _solve(E, f, passive)
        x = trial
        refused[:] = False
    return None


def _solve(E: Floats, f: Floats, passive: np.ndarray) -> Floats:
    """Least squares over the passive columns, zero elsewhere."""
    x = np.zeros(E.shape[1])
    if passive.any():
        x[passive] = np.linalg.lstsq(E[:, passive], f, rcond=None)[0]
    return x
