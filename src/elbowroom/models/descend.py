"""Which leaf of every tree a row reaches, for many rows: one tree after the other, so that its nodes stay in the cache."""

from __future__ import annotations

from elbowroom.kernels.kernel import kernel
from elbowroom.numerics import Floats, Ints


@kernel
def descend_all(
    roots: Ints, feature: Ints, cut: Floats, left: Ints, right: Ints, missing_left: Ints, X: Floats, leaf: Ints
) -> None:
    """Fill leaf[row, tree]. A missing number (NaN) goes left iff ``missing_left``, which is empty if none is asked for."""
    asks = missing_left.shape[0] > 0
    for t in range(roots.shape[0]):
        for row in range(X.shape[0]):
            i = roots[t]
            while feature[i] >= 0:
                x = X[row, feature[i]]
                goes_left = x <= cut[i]
                if asks and x != x:
                    goes_left = missing_left[i] != 0
                i = left[i] if goes_left else right[i]
            leaf[row, t] = i
