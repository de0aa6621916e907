"""Leaves of proofs by weak duality, tried on the checker's own functions: weights of costs for slopes that are known.

A leaf is ``[weights, [[shift, multipliers, lines], ...]]``; see docs/proofs.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np

from elbowroom.numerics import Floats
from elbowroom_checker.exact import BIGGEST
from elbowroom_checker.maps import Duality
from elbowroom_checker.question import Box, Question

_ONE: Final = Fraction(1)
BEYOND: Final = 1.0 + 1e-9  # how far behind the bound a fence stands


def sides(duality: Duality, box: Box) -> dict[int, tuple[float, float]]:
    """The ends of neurons that splits have set, by their number in the file."""
    n = len(duality.start)
    ends = enumerate(zip(box.low[n:], box.high[n:], strict=True), n)
    return {name: (low, high) for name, (low, high) in ends if low > -BIGGEST or high < BIGGEST}


def widened(box: Box, neurons: int) -> Box:
    """The same box with ends for neurons, which no split has set."""
    return Box(box.low + [-BIGGEST] * neurons, box.high + [BIGGEST] * neurons)


def region_leaf(duality: Duality, box: Box, lines: Any = 0) -> list[Any] | None:
    """A leaf of a region that the checker accepts: with the rows of the file ``lines`` are multipliers of neurons."""
    entries = [[0, [1.0], lines]]
    plain: list[Any] = [[], entries]
    if duality.excess(plain, box) > 0:
        return plain
    if duality.bound is None:
        return None
    weights = _weights(duality, box, lines)
    return None if weights is None or not duality.excess([weights, entries], box) > 0 else [weights, entries]


def slopes_of(duality: Duality, box: Box, lines: Any) -> tuple[Floats, float]:
    """The linear function of inputs that a leaf of a region comes to."""
    part = duality.part(box, 0)
    read = [{int(i): value for i, value in layer} for layer in lines] if lines else None
    slopes, constant = part.bound([(duality.rivals[0], _ONE)], read)
    return np.array([float(s) for s in slopes]), float(constant)


def _weights(duality: Duality, box: Box, lines: Any) -> list[float] | None:
    """The budget of a ball or diamond is spent by the points that its multiplier leads to."""
    question, n = duality.question, len(duality.start)
    slopes, _ = slopes_of(duality, box, lines)
    low, high, middle = np.array(box.low[:n]), np.array(box.high[:n]), np.array(duality.start)
    width = np.array([1.0 / float(f) if f else 0.0 for f in duality.factor])
    moving = (low < high) & (width > 0.0)
    w, width, low, high, middle = slopes[moving], width[moving], low[moving], high[moving], middle[moving]
    weights = np.zeros(n)
    if not (w * width).any():
        return None
    if duality.norm == "l1":
        weights[moving] = _price(w * width, np.abs(np.where(w > 0, low, high) - middle) / width)
    else:
        small, large = 0.0, float(np.abs(w * width).sum())
        for _ in range(200):
            u = (small + large) / 2
            ratio = (np.clip(middle - w * width**2 / (2 * u), low, high) - middle) / width
            small, large = (u, large) if float(ratio @ ratio) > 1.0 else (small, u)
        ratio = (np.clip(middle - w * width**2 / (2 * large), low, high) - middle) / width
        weights[moving] = 2 * large * np.abs(ratio)
    return [*weights.tolist(), *[0.0] * len(question.groups)]


def _price(pull: Floats, room: Floats) -> float:
    """What a whole of the budget of a diamond gains last, if columns spend it that gain most."""
    left = 1.0
    for price, share in sorted(zip(np.abs(pull).tolist(), room.tolist(), strict=True), reverse=True):
        left -= share
        if left <= 1e-15:
            return float(price)
    return 0.0


def fence(question: Question, bound: float) -> tuple[list[Any], Box, int]:
    """Splits that leave a bounded box of centres: beyond it, one column alone costs the bound. The steps, the box, and how many
    leaves 0 stand at the end."""
    steps, box, behind = list[Any](), question.limits.copy(), 0
    if math.isinf(bound):
        return steps, box, behind
    limit = question.price(bound)
    for f, factor in enumerate(question.factor):
        if question.group_of[f] >= 0 or factor <= 0.0:
            continue
        reach = bound / factor * BEYOND + abs(question.factual[f]) * 1e-15
        for low, end in ((True, question.factual[f] - reach), (False, question.factual[f] + reach)):
            if not box.low[f] <= end < box.high[f] or question.cost(f, end) < limit:
                continue
            steps += [[f, end], 0] if low else [[f, end]]
            behind += not low
            box = question.halves(box, f, end)[int(low)]
    return steps, box, behind
