"""Gaussian slips: the answer that is carried out is not exactly the centre.

A slip moves every feature that moves at all by an independent normally distributed amount with standard deviation
sigma_f: a scalar sigma counts in units of the scales, a mapping or an array in raw units per feature (features left out
do not slip). Immutable features and the categories of one-hot groups do not slip. The slipped value is then clipped and
rounded as rooms are: beyond a bound it is the bound, and a whole-number feature moves by the completed steps only
(rounded towards the centre). So a slip inside a room stays inside the clipped, whole room, and the chance of that
bounds the chance that the outcome is kept from below.

With t = radius_f / sigma_f the same for all n features that slip, the chance of staying inside a room depends on t
and n alone (see `elbowroom.chance`); the rooms made here have that form, which is the smallest box, ball or diamond of
the given proportions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from elbowroom.errors import InputError
from elbowroom.problem.distances import Distance
from elbowroom.problem.parsing import PLAIN_NUMBER, Radius, number
from elbowroom.problem.space import Space

WAVERING: Final = 16 * float(np.finfo(np.float64).eps)  # relative, of the law of diamonds; seen: 1.8e-15


def slipping(space: Space) -> int:
    """How many features slip under a scalar sigma: those that may move and belong to no one-hot group."""
    free = np.array([not f.immutable and f.lower < f.upper for f in space.features])
    return int((free & (space.group_of < 0)).sum())


def smallest_radius(probability: float, sigma: Radius | None, n: int | None, space: Space | None, norm: str) -> Radius:
    """The radius (per feature where sigma is) in which the slip stays with at least the given probability."""
    if isinstance(sigma, float):
        _positive([sigma])
        return _multiple(probability, _count(n, space), norm) * sigma
    if n is not None or space is not None:
        raise InputError("n and space are only for a single sigma; with one sigma per feature these are counted")
    if isinstance(sigma, Mapping):
        t = _multiple(probability, _positive(list(sigma.values())), norm)
        return {name: t * value for name, value in sigma.items()}
    values = np.asarray(sigma, dtype=np.float64)
    t = _multiple(probability, _positive(values.tolist()), norm)
    return tuple(float(t * value) for value in values)


def _count(n: int | None, space: Space | None) -> int:
    if (n is None) == (space is None):
        raise InputError(
            "how many features slip? give n=5, or space=explainer.space to count those that may move, or one sigma per "
            'feature: sigma={"salary": 1000}'
        )
    if space is None:
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise InputError(f"n={n!r}: give the number of features that slip, a whole number of at least 1")
        return int(n)
    if not isinstance(space, Space):
        raise InputError(f"space={space!r}: give a Space, for example explainer.space")
    count = slipping(space)
    if count == 0:
        raise InputError("no feature of this space can slip: all are immutable or in one-hot groups")
    return count


def _positive(values: list[float]) -> int:
    count = sum(value > 0.0 for value in values)
    if count == 0:
        raise InputError("sigma is 0: at least one feature needs a sigma above 0")
    return count


def _multiple(probability: float, n: int, norm: str) -> float:
    """The smallest t (up to a few roundings) with P(standard slip <= t) >= probability, rounded up until it is.

    The law of diamonds is computed to a few units in the last place and wavers by as much from t to t, so that its value
    at t has to exceed the probability by more than that, as far as there are floats in between.
    """
    from elbowroom import chance

    probability = number(probability, "probability", "give a number strictly between 0 and 1")
    t = float(chance.radius(probability, 1.0, n, norm))
    step, needed = math.ulp(t), probability
    if norm == Distance.L1.value:
        needed = max(probability, min(probability * (1.0 + WAVERING), 1.0 - 2.0 * WAVERING))
    while not chance.probability(t, 1.0, n, norm) >= needed:
        t, step = t + step, 2.0 * step
    return t * (1.0 + 4.0 * np.finfo(np.float64).eps)  # the products with sigma are rounded as well


def parse_tolerance(tolerance: object) -> float:
    """How far two bounds on a probability may be apart."""
    width = number(tolerance, "tolerance", PLAIN_NUMBER)
    if isinstance(tolerance, (bool, np.bool_)) or not 0.0 <= width < 1.0:
        raise InputError(f"tolerance={tolerance!r} must be a number of at least 0 and below 1")
    return width
