"""Linear models: multipliers for the checker, found in floats and tried on its own functions.

That no centre is closer is weak duality with one rival: a shift of the room towards it, a multiplier l of its margin, and
weights d of the costs (dual norm at most 1). In a column in which the centre may go on without end, l (|w_f| + e_f) <=
d_f factor_f must hold; the best l is then one at which a column is just worth its cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.proof.duality import fence, region_leaf
from elbowroom.proof.validity import NotWritten
from elbowroom.search.contract import Clock
from elbowroom_checker.exact import BIGGEST, BITS
from elbowroom_checker.maps import Duality, Maps
from elbowroom_checker.model import Affine
from elbowroom_checker.question import Box, Margin, Question
from elbowroom_checker.reading import Budget, Refused

NEARLY: Final = 1.0 - 1e-15  # weights and shifts are shortened by this, so that rounding does not make them too long
GAP: Final = 1e-9  # relative: a bound that is closer to the search's own is as good
MOST_STEPS: Final = 2000  # of a tree of boxes
ROUNDING: Final = Fraction(1, 2**51)


@dataclass(frozen=True)
class LinearRow:
    """margin(x) = weight x + constant; the original's is within error |x| + doubt of it."""

    weight: list[Fraction]
    constant: Fraction
    error: list[Fraction]
    doubt: Fraction


def linear_row(affine: Affine, margin: Margin) -> LinearRow:
    signs, columns = margin.signs, range(len(affine.columns))
    weights = [sum((s * Fraction(affine.weight[k][f]) for k, s in signs.items()), Fraction(0)) for f in columns]
    constant = sum((s * Fraction(affine.bias[k]) for k, s in signs.items()), -margin.goal)
    errors = [sum((Fraction(affine.error_slope[k][f]) for k in signs), Fraction(0)) for f in columns]
    return LinearRow(weights, constant, errors, sum((Fraction(affine.error_constant[k]) for k in signs), margin.doubt))


def region_leaves(maps: Maps, region: Box, center: list[float]) -> list[list[Any]]:
    """One leaf per rival, which the checker accepts."""
    found = [region_leaf(maps.region(j, center), region) for j in range(len(maps.rivals))]
    if None in found:
        raise NotWritten("the region has a point whose margin is within the error bound")
    return [[leaf] for leaf in found]


# ---- no closer centre --------------------------------------------------------------------------------------------------
def linear_centers_document(maps: Maps, center: list[float] | None, bound: float, clock: Clock) -> dict[str, Any]:
    """A tree of boxes of centres: where one rival's multiplier does not reach the bound, the whole number, the category or the
    limit that it fails at divides the box."""
    question, rows = maps.question, [linear_row(maps.layers[0], margin) for margin in maps.rivals]
    shifts = [_shift(row, question) for row in rows]
    stated = bound if math.isinf(bound) else bound * (1.0 - GAP)
    duality = maps.centers({"shifts": shifts}, None if math.isinf(bound) else stated, Budget(math.inf))
    limit = None if math.isinf(bound) else question.price(stated)
    steps, root, behind = fence(question, bound)
    stack = [root]
    while stack:
        if clock.expired:
            raise NotWritten("the time limit was reached before the proof about closer centres was written")
        whole_box = stack.pop()
        box = whole_box.copy()
        if not question.narrow(box) or question.is_closed(box, limit):
            steps.append(0)
            continue
        leaf = _leaf(duality, rows, box, center)
        if leaf is not None:
            steps.append(leaf)
            continue
        splits = (_split(row, question, box, shift) for row, shift in zip(rows, shifts, strict=True))
        split = None if len(steps) > MOST_STEPS else next((each for each in splits if each is not None), None)
        if split is None:
            raise NotWritten("weak duality with one rival does not reach the bound")
        steps.append(list(split))
        stack += reversed(question.halves(whole_box, *split))
    return {"bound": None if math.isinf(bound) else stated, "shifts": shifts, "tree": steps + [0] * behind}


def _leaf(duality: Duality, rows: list[LinearRow], box: Box, center: list[float] | None) -> list[Any] | None:
    """A leaf of one rival, which the checker accepts."""
    for j, row in enumerate(rows):
        for multiplier, weights in _candidates(row, duality.question, center, duality.bound is None):
            leaf = [weights, [[j, [multiplier * (i == j) for i in range(len(rows))], 0]]]
            try:
                if duality.excess(leaf, box) > 0:
                    return leaf
            except Refused as reason:
                raise NotWritten(str(reason)) from None
    return None


def distance_of(question: Question, cost: int) -> float:
    return (math.isqrt(cost) if question.norm == "l2" else cost) / (1 << 2 * BITS)


def _split(row: LinearRow, question: Question, box: Box, shift: list[float]) -> tuple[int, float] | None:
    """What the multiplier fails at: the deficit at the nearest centre is filled by the moves that are cheapest for what they
    gain, and the one that is not needed in full is a whole number or a category. If it is neither, some room meets a limit."""
    moves: list[tuple[float, float, int]] = []  # cost per gain, largest gain, column (of a group: its best member)
    deficit = -float(row.constant)
    for f, group in enumerate(question.group_of):
        if group >= 0:
            continue
        at, w = min(max(question.factual[f], box.low[f]), box.high[f]), float(row.weight[f])
        deficit -= w * min(max(at + shift[f], question.limits.low[f]), question.limits.high[f])
        gain = w * (box.high[f] - at) if w > 0 else w * (box.low[f] - at)
        if gain > 0.0:
            moves.append((question.factor[f] / abs(w), gain, f))
    for each in question.groups:
        if each.free:
            continue
        allowed = question.categories(each, box)
        best = max(allowed, key=lambda f: row.weight[f])
        now = [f for f in allowed if question.factual[f] == 1.0] or [best]
        deficit -= float(row.weight[now[0]])
        if best != now[0]:
            gain = float(row.weight[best] - row.weight[now[0]])
            moves.append((each.price / gain, gain, best))
    for _, gain, f in sorted(moves):
        if gain < deficit:
            deficit -= gain
            continue
        if question.group_of[f] >= 0:
            return f, 0.0
        at = min(max(question.factual[f], box.low[f]), box.high[f]) + deficit / float(row.weight[f])
        if question.whole[f] and box.low[f] <= math.floor(at) < box.high[f]:
            return f, float(math.floor(at))
        break
    return _bend(question, box, shift, [f for _, _, f in sorted(moves) if question.group_of[f] < 0])


def _bend(question: Question, box: Box, shift: list[float], columns: list[int]) -> tuple[int, float] | None:
    """Where the room of a centre begins to touch a limit, in the first of these columns in which that divides the box."""
    for f in columns:
        for bend in (question.limits.low[f] - shift[f], question.limits.high[f] - shift[f]):
            if box.low[f] < bend < box.high[f]:
                return f, bend
    return None


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
            worst = min(question.categories(group, question.limits), key=lambda f: row.weight[f] + row.error[f])
            towards[worst] = 1.0
    return [float(x) + 0.0 for x in towards]


def _candidates(
    row: LinearRow, question: Question, center: list[float] | None, open_end: bool
) -> list[tuple[float, list[float]]]:
    """Multipliers with weights of the costs; for l1 every weight is 1, for the others they are read off the centre."""
    size = len(question.factual) + len(question.groups)
    if open_end:
        return [(1.0, [0.0] * size)]
    pull = [float(abs(w) * (1 + ROUNDING) + e * (1 + ROUNDING)) for w, e in zip(row.weight, row.error, strict=True)]
    ratio = np.array([f / p if p > 0 and f > 0 else math.inf for f, p in zip(question.factor, pull, strict=True)])
    if question.norm == "l1":
        prices = [
            each.price / abs(float(row.weight[f] - row.weight[g]))
            for each in question.groups
            for f in each.members
            for g in each.members
            if question.factual[g] == 1.0 and row.weight[f] != row.weight[g]
        ]
        return [(r * NEARLY, [1.0] * size) for r in sorted({*ratio.tolist(), *prices}) if 0.0 < r < math.inf]
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
    lower, upper = np.array(question.limits.low), np.array(question.limits.high)
    cost = np.array(question.factor) * np.abs(c - factual)
    at_end = (
        ((c <= lower) & (lower > -BIGGEST)) | ((c >= upper) & (upper < BIGGEST)) | (np.array(question.group_of) >= 0)
    )
    return cost, ~at_end
