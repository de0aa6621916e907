"""Trees behind a step that mixes columns: a split on a mixture of numbers is a hyperplane.

A mixed column is t = w . x + b up to |computed t - t| <= s . |x| + c (see `trace`). What a library then compares with its
threshold is t itself, or t cast to float32, or t with tiny numbers made 0: in all cases off by at most u |t| + tiny with
u = 2^-23. Hence x goes left iff w . x <= threshold - b, except within

    (s + u (|w| + s)) . |x| + c + u (|b| + c) + tiny + rounding of threshold - b

of that hyperplane, where it may go either way: there no region is certified and no label is promised.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.trace import Trace
from elbowroom.models.oblique import ObliqueEnsemble
from elbowroom.models.trees import TreeEnsemble
from elbowroom.models.union import as_oblique
from elbowroom.numerics import EPS, EPS32, Floats, Ints

_TINY: Final = 1e-34  # below it float32 has no normal numbers, and LightGBM no numbers but 0


def slanted(flat: TreeEnsemble, nodes: Ints, column: Ints, threshold: Floats, trace: Trace) -> ObliqueEnsemble:
    """The ensemble with hyperplanes at ``nodes``, which split the transformed columns ``column`` at ``threshold``; its other
    splits are those of ``flat``."""
    if flat.single:
        raise UnsupportedModel(
            f"{flat.info.source}: sums in float32 over slanted splits are not carried; fit the trees on the columns themselves, "
            "or use trees of scikit-learn, LightGBM or CatBoost behind the step that mixes columns"
        )
    made = as_oblique(flat)
    slope, constant = np.zeros_like(made.weight), np.zeros_like(made.threshold)
    weight, level = made.weight.copy(), made.threshold.copy()
    for node, j, cut in zip(nodes, column, threshold, strict=True):
        row = trace.mixed[j]
        assert row is not None
        w, b, s, c = row.weight[0], float(row.bias[0]), row.error_slope[0], float(row.error_constant[0])
        if np.isinf(cut):  # asks nothing: all numbers go one way
            weight[node], level[node] = 0.0, 0.0 if cut > 0 else -1.0
            continue
        weight[node], level[node] = w, cut - b
        slope[node] = s + EPS32 * (np.abs(w) + s)
        constant[node] = c + EPS32 * (abs(b) + c) + EPS * (abs(cut) + abs(b)) + _TINY
    return replace(made, weight=weight, threshold=level, error_slope=slope, error_constant=constant)
