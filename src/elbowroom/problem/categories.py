"""Which categories of a one-hot group fit between bounds on its columns."""

from __future__ import annotations

import numpy as np

from elbowroom.numerics import Bools, Floats


def allowed_categories(lower: Floats, upper: Floats) -> Bools:
    """True for each member c whose one-hot vector e_c (1 at c, 0 elsewhere) lies within [lower, upper].

    The bounds are those of the group's columns alone, in the order of its members.
    """
    may_be_one = (lower <= 1.0) & (upper >= 1.0)
    never_zero = (lower > 0.0) | (upper < 0.0)
    return np.asarray(may_be_one & (int(never_zero.sum()) - never_zero == 0), dtype=np.bool_)
