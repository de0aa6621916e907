"""Means of the probabilities of trees and forests, as one sum over all trees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from elbowroom.models.base import ModelInfo
from elbowroom.models.trees import TreeEnsemble
from elbowroom.models.union import join_trees
from elbowroom.numerics import Floats, Ints, products_are_exact


def mean_of_probabilities(
    info: ModelInfo,
    parts: Sequence[TreeEnsemble],
    classes: Sequence[Ints],
    weights: Sequence[float] | None,
    divisor: float,
) -> TreeEnsemble:
    """(sum over parts of weight * mean of the part's leaf values) / divisor; ``classes[i]`` maps the classes of part i.

    The original adds up each part, divides by its number of trees, multiplies by its weight and adds the parts up. Where
    every division and product is exact, all this is one sum of stored numbers, in some order; otherwise the leaves hold
    rounded products, and what only rounding decides is left open (`ModelInfo.fused_products`).
    """
    values, rounded = [], False
    for number, (part, places) in enumerate(zip(parts, classes, strict=True)):
        weight = 1.0 if weights is None else float(weights[number])
        rounded = rounded or part.info.fused_products or not _scales_exactly(part, weight)
        value = np.zeros((len(part.value), len(info.classes)))
        value[:, places] = part.value / part.divisor * weight
        values.append(value)
    info = replace(info, fused_products=rounded)
    return join_trees(info, parts, values, np.zeros(len(info.classes)), divisor)


def _scales_exactly(part: TreeEnsemble, weight: float) -> bool:
    """True if dividing a sum of leaf values and multiplying it rounds nothing: by powers of two, or leaf by leaf if there
    is only one tree."""
    if math.frexp(part.divisor)[0] != 0.5:
        return False
    return math.frexp(weight)[0] == 0.5 or (part.n_trees == 1 and products_are_exact(weight, _leaf_values(part)))


def _leaf_values(part: TreeEnsemble) -> Floats:
    return part.value[part.feature < 0]
