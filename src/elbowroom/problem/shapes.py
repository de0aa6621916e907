"""Shapes: all that differs between a box, a ball and a diamond, said once.

A region is {x : lower <= x <= upper, sum over f of phi((x_f - c_f) / r_f) <= 1}, with the centre c and the semi-axes r:

    box       phi(t) = 0       no budget: its sides, which need not be symmetric, are ``lower`` and ``upper`` alone
    ball      phi(t) = t^2
    diamond   phi(t) = |t|

**What is assumed.** The budget is separable: each column uses its own share of 1, and shares add up. All judges and the
engine for balls and diamonds on trees rest on it: the point of a cell nearest to the centre is the clamped centre, in
every coordinate at once; what cells use of the budget is added column by column; weak duality falls apart into one small
problem per column. A new phi is one more ``case`` in every function here. A rotated ellipsoid has no phi: it would be new
mathematics in every judge, not one more member of `Shape`.

**How shapes are distinguished.** By ``match`` with ``assert_never``, here and nowhere else, except for what one
algorithm alone needs (a water filling, the rows of a linear program), which is beside it in the same form; so the type
checker names every place that a new member must be taught. Judges and engines name the shapes they know and refuse all
others with `check_known`, before anything is computed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from enum import Enum
from fractions import Fraction
from typing import Final, assert_never

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem.distances import Distance

INSIDE: Final = 1e-12  # relative: rounding must not carry a random point outside
NO_BUDGET: Final = "a box has no budget that its columns could share"


class Shape(Enum):
    """The unit set of a room."""

    BOX = "box"
    BALL = "ball"
    DIAMOND = "diamond"

    @property
    def distance(self) -> Distance:
        """The norm whose unit ball it is."""
        match self:
            case Shape.BOX:
                return Distance.LINF
            case Shape.BALL:
                return Distance.L2
            case Shape.DIAMOND:
                return Distance.L1
            case _:
                assert_never(self)


def unknown_to(who: str, known: Collection[Shape], shape: Shape) -> str | None:
    """The words by which a judge or an engine refuses a shape that it was not written for; None if it knows the shape."""
    if shape in known:
        return None
    name = str(shape) if isinstance(shape, Shape) else repr(shape)
    return f"{who} does not know the shape {name}; it knows {', '.join(map(str, known))}"


def check_known(shape: Shape, known: Collection[Shape], who: str) -> None:
    """Raise `InputError` for a shape that a judge or a search was not written for; the message names both."""
    refusal = unknown_to(who, known, shape)
    if refusal is not None:
        raise InputError(refusal)


def is_round(shape: Shape) -> bool:
    """True if the columns share a budget."""
    match shape:
        case Shape.BOX:
            return False
        case Shape.BALL | Shape.DIAMOND:
            return True
        case _:
            assert_never(shape)


def is_euclidean(shape: Shape) -> bool:
    """True if its norm is the Euclidean one: what is proven by the curvature of that norm may be used."""
    match shape:
        case Shape.BALL:
            return True
        case Shape.BOX | Shape.DIAMOND:
            return False
        case _:
            assert_never(shape)


# ---- the budget --------------------------------------------------------------------------------------------------------
def is_squared(shape: Shape) -> bool:
    """The flag by which compiled code knows phi: True for phi(t) = t^2, False for phi(t) = |t|. There are no others."""
    match shape:
        case Shape.BALL:
            return True
        case Shape.DIAMOND:
            return False
        case Shape.BOX:
            raise ValueError(NO_BUDGET)
        case _:
            assert_never(shape)


def phi(shape: Shape, ratios: Floats) -> Floats:
    """What each gap, in units of its semi-axis, uses of the budget 1."""
    match shape:
        case Shape.BOX:
            return np.zeros_like(ratios)
        case Shape.BALL:
            return np.square(ratios)
        case Shape.DIAMOND:
            return np.abs(ratios)
        case _:
            assert_never(shape)


def phi_exactly(shape: Shape, ratio: Fraction) -> Fraction:
    """`phi` of one gap, without rounding."""
    match shape:
        case Shape.BOX:
            return Fraction(0)
        case Shape.BALL:
            return ratio * ratio
        case Shape.DIAMOND:
            return abs(ratio)
        case _:
            assert_never(shape)


def gap_for(shape: Shape, used: float) -> float:
    """The widest gap, in units of its semi-axis, that this much of the budget pays for: the inverse of `phi`."""
    match shape:
        case Shape.BOX:
            return math.inf
        case Shape.BALL:
            return math.sqrt(used)
        case Shape.DIAMOND:
            return used
        case _:
            assert_never(shape)


def spent(shape: Shape, ratios: Floats) -> Floats:
    """sum phi(t_f) over the last axis."""
    return np.asarray(phi(shape, ratios).sum(axis=-1))


def spent_exactly(shape: Shape, ratios: Iterable[Fraction]) -> Fraction:
    """sum phi(t_f) without rounding."""
    return sum((phi_exactly(shape, ratio) for ratio in ratios), Fraction(0))


# ---- the norm of a shift in units of the semi-axes ------------------------------------------------------------------------
def spent_at_once(shape: Shape, ratios: Floats) -> float:
    """`spent` of a single shift as one product of vectors: faster, and not rounded in the same way."""
    match shape:
        case Shape.BOX:
            return 0.0
        case Shape.BALL:
            return float(ratios @ ratios)
        case Shape.DIAMOND:
            return float(np.abs(ratios).sum())
        case _:
            assert_never(shape)


def length(shape: Shape, ratios: Floats) -> float:
    """The norm of a shift: at most 1 where it fits into the budget; 0 in a box."""
    match shape:
        case Shape.BOX:
            return 0.0
        case Shape.BALL | Shape.DIAMOND:
            return gap_for(shape, spent_at_once(shape, ratios))
        case _:
            assert_never(shape)


def normal(shape: Shape, ratios: Floats) -> Floats:
    """The slope of `length` at a shift that is not 0: n . t <= 1 holds for every shift t of the shape, n . ratios is its
    length."""
    match shape:
        case Shape.BOX:
            return np.zeros_like(ratios)
        case Shape.BALL:
            return np.asarray(ratios / length(shape, ratios))
        case Shape.DIAMOND:
            return np.sign(ratios)
        case _:
            assert_never(shape)


def largest_sum(shape: Shape, columns: int) -> float:
    """max sum |t_f| over the shifts of the shape in a number of columns: its support function at (1, ..., 1)."""
    match shape:
        case Shape.BOX:
            return float(columns)
        case Shape.BALL:
            return math.sqrt(columns)
        case Shape.DIAMOND:
            return 1.0
        case _:
            assert_never(shape)


# ---- random points -----------------------------------------------------------------------------------------------------
def sample(
    shape: Shape, rng: np.random.Generator, size: int, center: Floats, axes: Floats, low: Floats, high: Floats
) -> Floats:
    """Random points (size, columns): boxes uniform between low and high, others uniform in the shape, without its bounds."""
    columns = center.size
    match shape:
        case Shape.BOX:
            return rng.uniform(low, high, (size, columns))
        case Shape.BALL:
            direction = rng.normal(size=(size, columns))
            direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        case Shape.DIAMOND:
            direction = rng.exponential(size=(size, columns)) * rng.choice([-1.0, 1.0], (size, columns))
            direction /= np.abs(direction).sum(axis=1, keepdims=True)
        case _:
            assert_never(shape)
    reach = rng.uniform(size=(size, 1)) ** (1.0 / columns) * (1.0 - INSIDE)
    return np.asarray(center + direction * reach * axes)
