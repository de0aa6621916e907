"""Linear models: multipliers for the checker, found in floats and tried on its own functions.

Validity of a ball or diamond needs one multiplier u per rival: the value of the budget. That no centre is closer is weak
duality with one rival: a shift of the room towards it, a multiplier l of its margin, and weights d of the costs (dual norm at
most 1). In a column in which the centre may go on without end, l (|w_f| + e_f) <= d_f factor_f must hold; the best l is then
one at which a column is just worth its cost.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.proof.validity import NotWritten
from elbowroom_checker.costs import as_distance, least_cost
from elbowroom_checker.linear import ROUNDING, LinearRow, check_linear_region, dual_value
from elbowroom_checker.question import Box, Question
from elbowroom_checker.reading import BIGGEST, Refused

NEARLY: Final = 1.0 - 1e-15  # weights and shifts are shortened by this, so that rounding does not make them too long
GAP: Final = 1e-9  # relative: a bound that is closer to the search's own is as good


# ---- validity ----------------------------------------------------------------------------------------------------------
def region_multipliers(rows: list[LinearRow], question: Question, region: Box, center: list[float]) -> list[float]:
    """One multiplier per rival, which the checker accepts."""
    found = [0.0 if question.shape == "box" else _multiplier(row, question, region, center) for row in rows]
    try:
        check_linear_region(rows, question, region, center, found)
    except Refused as reason:
        raise NotWritten(str(reason)) from None
    return found


def _multiplier(row: LinearRow, question: Question, region: Box, center: list[float]) -> float:
    """Where the slope of the dual vanishes: the budget is spent by the points that its multiplier leads to."""
    low, high, middle = np.array(region.low), np.array(region.high), np.array(center)
    moving = (low < high) & (np.array(question.group_of) < 0)
    w, width = np.array([float(x) for x in row.weight])[moving], np.array(question.up)[moving]
    low, high, middle = low[moving], high[moving], middle[moving]
    if not (w * width).any():
        return 0.0
    if question.shape == "diamond":
        spends = [
            (abs(a * b), abs(end - c) / b)
            for a, b, c, end in zip(w, width, middle, np.where(w > 0, low, high), strict=True)
        ]
        left = 1.0
        for price, share in sorted(spends, reverse=True):
            left -= share
            if left <= 1e-15:
                return float(price)
        return 0.0
    small, large = 0.0, float(np.abs(w * width).sum())
    for _ in range(200):
        u = (small + large) / 2
        ratio = (np.clip(middle - w * width**2 / (2 * u), low, high) - middle) / width
        small, large = (u, large) if float(ratio @ ratio) > 1.0 else (small, u)
    return large


# ---- no closer centre --------------------------------------------------------------------------------------------------
def linear_centers_document(
    rows: list[LinearRow], question: Question, center: list[float] | None, bound: float
) -> dict[str, Any]:
    """One leaf with one rival's multiplier, if that reaches the bound."""
    box = Box(question.lower.copy(), question.upper.copy())
    if not question.narrow(box):
        return {"bound": None, "tree": [0]}
    open_end, best, best_leaf = math.isinf(bound), -math.inf, None
    cost = least_cost(question, box)
    if cost is None or as_distance(question, cost) * NEARLY >= bound:
        return {"bound": None if open_end else bound * NEARLY, "tree": [0]}
    shifts = [_shift(row, question) for row in rows]
    for j, row in enumerate(rows):
        for multiplier, weights in _candidates(row, question, center, open_end):
            leaf = {
                "multipliers": [multiplier if k == j else 0.0 for k in range(len(rows))],
                "shifts": shifts,
                "weights": weights,
            }
            try:
                value = float(dual_value(rows, question, box, leaf, None if open_end else bound))
            except (Refused, OverflowError):
                continue
            if value > best:
                best, best_leaf = value, leaf
    if best_leaf is None or (best <= 0.0 if open_end else best < bound * (1.0 - GAP)):
        raise NotWritten(
            "weak duality with one rival does not reach the bound: several rivals, whole numbers, categories or limits matter"
        )
    return {"bound": None if open_end else min(bound, best * NEARLY), "tree": [best_leaf]}


def _shift(row: LinearRow, question: Question) -> list[float]:
    """The worst point of the room, seen from its centre."""
    w = np.array([float(x) for x in row.weight])
    down, up, group_of = np.array(question.down), np.array(question.up), np.array(question.group_of)
    towards = np.where(w > 0, -down, np.where(w < 0, up, 0.0))
    if question.shape == "ball":
        pull = w * up
        length = math.sqrt(float(pull @ pull))
        towards = -up * pull / length * NEARLY if length > 0 else 0.0 * up
    elif question.shape == "diamond":
        towards = np.where(np.arange(w.size) == np.argmax(np.abs(w) * up), towards, 0.0)
    towards = np.where(np.array(question.whole), np.trunc(towards), towards)
    towards = np.where(group_of >= 0, 0.0, towards)
    for group in question.groups:
        if group.free:
            allowed = question.categories(group, Box(question.lower, question.upper))
            towards[min(allowed, key=lambda f: w[f])] = 1.0
    return [float(x) + 0.0 for x in towards]


def _candidates(
    row: LinearRow, question: Question, center: list[float] | None, open_end: bool
) -> list[tuple[float, list[float]]]:
    """Multipliers with weights of the costs; for l1 every weight is 1, for the others they are read off the centre."""
    size = len(question.lower) + len(question.groups)
    if open_end:
        return [(1.0, [0.0] * size)]
    pull = [float(abs(w) * (1 + ROUNDING) + e * (1 + ROUNDING)) for w, e in zip(row.weight, row.error, strict=True)]
    ratio = np.array([f / p if p > 0 and f > 0 else math.inf for f, p in zip(question.factor, pull, strict=True)])
    if question.norm == "l1":
        return [(float(r) * NEARLY, [1.0] * size) for r in sorted({float(r) for r in ratio}) if math.isfinite(r)]
    if center is None:
        return []
    d, free = _moves(question, center)
    inverse = np.where(np.isfinite(ratio) & free, 1.0 / ratio, 0.0)
    if question.norm == "linf":
        weights = inverse / max(float(inverse.sum()), 1e-300)
    else:
        fixed = np.where(free, 0.0, d / max(math.sqrt(float(d @ d)), 1e-300))
        length = math.sqrt(max(0.0, 1.0 - float(fixed @ fixed)))
        weights = fixed + inverse / max(math.sqrt(float(inverse @ inverse)), 1e-300) * length
    multiplier = min((float(weights[f] * ratio[f]) for f in np.flatnonzero(inverse)), default=0.0)
    listed = [float(w) * NEARLY * NEARLY for w in weights] + [0.0] * len(question.groups)
    return [(multiplier * NEARLY**4, listed)] if multiplier > 0 else []


def _moves(question: Question, center: list[float]) -> tuple[Floats, Any]:
    """What every column pays at the centre, and which columns could go on (and would, if it were worth it)."""
    c, factual = np.array(center), np.array(question.factual)
    lower, upper = np.array(question.lower), np.array(question.upper)
    cost = np.array(question.factor) * np.abs(c - factual)
    at_end = (
        ((c <= lower) & (lower > -BIGGEST)) | ((c >= upper) & (upper < BIGGEST)) | (np.array(question.group_of) >= 0)
    )
    return cost, ~at_end
