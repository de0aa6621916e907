"""Linear models: the worst point of a region, and weak duality for all closer centres, in rational numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from elbowroom_checker.costs import bound_cost, least_cost, nearest, stays
from elbowroom_checker.model import Linear, Model
from elbowroom_checker.question import Box, Question, walk
from elbowroom_checker.reading import Budget, need, not_negative, numbers, part
from elbowroom_checker.rows import Target, logistic_threshold

ROUNDING: Final = Fraction(1, 2**51)  # of a shifted value, with something to spare
SMALLEST: Final = Fraction(1, 2**1074)


@dataclass(frozen=True)
class LinearRow:
    """margin(x) = weight x + constant; the original's is within error |x| + error_constant of it."""

    weight: list[Fraction]
    constant: Fraction
    error: list[Fraction]
    error_constant: Fraction
    model: Linear


def linear_rows(model: Model, target: Target) -> list[LinearRow]:
    parts = model.parts
    assert isinstance(parts, Linear)
    goal, doubt = Fraction(model.threshold), Fraction(model.evaluation_error)
    if model.rule == "ARGMAX":
        rivals = [j for j in range(len(model.classes)) if j != target.index]
        if target.probability is not None:
            need(model.link == "SOFTMAX" and len(rivals) == 1, "a probability of this model is not linear")
        signs = [{target.index: 1, j: -1} for j in rivals]
    else:
        need(target.probability is None or model.link == "LOGISTIC", "this model has no probabilities of its score")
        signs = [{0: 1 if target.index == 1 else -1}]
        goal *= signs[0][0]
    if target.probability is not None:
        threshold, more = logistic_threshold(model, target.probability)
        goal, doubt = Fraction(threshold), doubt + Fraction(more)
    n = len(model.names)
    return [
        LinearRow(
            [sum((s * Fraction(parts.weight[k][f]) for k, s in each.items()), Fraction(0)) for f in range(n)],
            sum((s * Fraction(parts.bias[k]) for k, s in each.items()), Fraction(0)) - goal,
            [sum((Fraction(parts.error_slope[k][f]) for k in each), Fraction(0)) for f in range(n)],
            sum((Fraction(parts.error_constant[k]) for k in each), Fraction(0)) + doubt,
            parts,
        )
        for each in signs
    ]


def _in_range(row: LinearRow, box: Box) -> bool:
    """No number of the original leaves its range for an input of the box."""
    if row.model.range_slope is None:
        return True
    share = Fraction(row.model.range_constant)
    for slope, low, high in zip(row.model.range_slope, box.low, box.high, strict=True):
        share += Fraction(slope) * Fraction(max(abs(low), abs(high)))
    return share <= 1


def check_linear_region(
    rows: list[LinearRow], question: Question, region: Box, center: list[float], multipliers: Any
) -> None:
    """margin - error > 0 everywhere. In a box every column is at its worse end. In a ball or diamond, for any multiplier u >= 0,
    min margin >= sum_f min_x (w_f x + u phi((x - c_f) / a_f)) - u: column by column again."""
    multipliers = not_negative(multipliers, len(rows), "multipliers of the validity proof")
    box = region.copy()
    need(question.narrow(box), "the region is empty")
    for row, multiplier in zip(rows, multipliers, strict=True):
        need(_in_range(row, box), "the original's numbers may leave their range inside the region")
        worst = row.constant - row.error_constant - Fraction(multiplier)
        for f, group in enumerate(question.group_of):
            if group < 0:
                is_round = question.shape != "box" and box.low[f] < box.high[f]
                worst += _worst(row, f, box, center[f], question, Fraction(multiplier) if is_round else Fraction(0))
        for each in question.groups:
            worst += min(row.weight[f] - row.error[f] for f in question.categories(each, box))
        need(worst > 0, "the region has a point whose margin is within the error bound")


def _worst(row: LinearRow, f: int, box: Box, c: float, question: Question, u: Fraction) -> Fraction:
    """min over [low, high] of w x - e |x| + u phi((x - c) / a)."""
    w, e, low, high, middle = row.weight[f], row.error[f], Fraction(box.low[f]), Fraction(box.high[f]), Fraction(c)
    if u == 0:
        return min(w * x - e * abs(x) for x in (low, high))
    width, most = Fraction(question.up[f]), max(abs(low), abs(high))
    if question.shape == "diamond":
        return min(w * x + u * abs(x - middle) / width for x in (low, middle, high)) - e * most
    x = min(max(middle - w * width * width / (2 * u), low), high)
    return w * x + u * ((x - middle) / width) ** 2 - e * most


# ---- no closer centre --------------------------------------------------------------------------------------------------
def check_linear_centers(
    rows: list[LinearRow], question: Question, file: Any, bound: float | None, budget: Budget
) -> str:
    """A list of splits [column, value], and of leaves: 0 (the cost is at least the bound) or weak duality."""
    limits, count = Box(question.lower, question.upper), 0
    need(all(_in_range(row, limits) for row in rows), "the original's numbers may leave their range within the limits")
    for step, box, _ in walk(part(file, "tree"), limits, question, "the tree of centres", budget):
        count += 1
        if not question.narrow(box):
            continue
        cost = least_cost(question, box)
        if cost is None or (bound is not None and cost >= bound_cost(question, bound)):
            continue
        need(isinstance(step, dict), "a leaf has a centre below the bound")
        value = dual_value(rows, question, box, step, bound)
        need(
            value > 0 if bound is None else value >= Fraction(bound), "the multipliers of a leaf do not reach the bound"
        )
    return f"weak duality in {count} box{'' if count == 1 else 'es'} of centres"


def dual_value(rows: list[LinearRow], question: Question, box: Box, leaf: Any, bound: float | None) -> Fraction:
    """What every good centre of the box costs at least. The adversary of row j shifts every centre by s_j, within the limits: to z. Good centres have
    sum_f (w_f z_f + e_f |z_f|) + constants >= 0 for every row; take multipliers l_j of these. The cost is at least
    sum_f d_f cost_f(c_f) for ``weights`` d of dual norm <= 1. So it is at least
    sum_f min_c (d_f cost_f(c) - sum_j l_j (w_f z + e_f |z|)) - sum_j l_j constants, a sum of minima of broken lines. Without a
    bound, weights are 0: then a positive sum leaves no good centre."""
    n = len(question.lower)
    multipliers = [Fraction(m) for m in not_negative(part(leaf, "multipliers"), len(rows), "multipliers")]
    shifts = part(leaf, "shifts")
    need(isinstance(shifts, list) and len(shifts) == len(rows), "shifts: not one per row")
    moved = [_shift(question, numbers(each, n, "shift")) for each in shifts]
    weights = [Fraction(w) for w in not_negative(part(leaf, "weights"), n + len(question.groups), "weights")]
    if bound is None:
        need(not any(weights), "weights without a bound")
    elif question.norm == "l1":
        need(all(w <= 1 for w in weights), "a weight is above 1")
    else:
        total = sum((w * w for w in weights) if question.norm == "l2" else weights, Fraction(0))
        need(total <= 1, "the weights are too large")
    value = Fraction(0)
    for row, multiplier in zip(rows, multipliers, strict=True):
        tiny = sum((abs(w) + e for w, e in zip(row.weight, row.error, strict=True)), Fraction(0)) * SMALLEST
        value -= multiplier * (row.constant + row.error_constant + tiny)
    for f, group in enumerate(question.group_of):
        if group < 0:
            value += _least(rows, multipliers, [s[f] for s in moved], weights[f], question, box, f)
    for g, each in enumerate(question.groups):
        price = weights[n + g] * Fraction(each.price)
        gained = {
            f: sum((m * (r.weight[f] + r.error[f]) for m, r in zip(multipliers, rows, strict=True)), Fraction(0))
            for f in each.members
        }
        if each.free:
            value += Fraction(0) if stays(question, g, box) else price
            for row, multiplier, shift in zip(rows, multipliers, moved, strict=True):
                taken = [f for f in each.members if shift[f] == 1]
                need(
                    len(taken) == 1 and taken[0] in question.categories(each, Box(question.lower, question.upper)),
                    "a category outside",
                )
                value -= multiplier * (row.weight[taken[0]] + row.error[taken[0]])
        else:
            value += min(
                (price if question.factual[f] != 1.0 else 0) - gained[f] for f in question.categories(each, box)
            )
    return value


def _shift(question: Question, shift: list[float]) -> list[Fraction]:
    """A shift that stays in the room."""
    found, spent = [Fraction(s) for s in shift], Fraction(0)
    for f, s in enumerate(found):
        if question.group_of[f] >= 0:
            need(s in (0, 1), "a shift of a category")
            continue
        need(-Fraction(question.down[f]) <= s <= Fraction(question.up[f]), "a shift leaves the room")
        need(not question.whole[f] or s.denominator == 1, "a shift of a whole number is not whole")
        if s and question.shape != "box":
            ratio = abs(s) / Fraction(question.up[f])
            spent += ratio * ratio if question.shape == "ball" else ratio
    need(spent <= 1, "a shift leaves the room")
    return found


def _least(
    rows: list[LinearRow],
    multipliers: list[Fraction],
    shifts: list[Fraction],
    weight: Fraction,
    question: Question,
    box: Box,
    f: int,
) -> Fraction:
    """min over the centres of one column; what is minimized bends at the factual, where z meets 0 or a limit, and nowhere else."""
    low, high, lower, upper = (Fraction(x) for x in (box.low[f], box.high[f], question.lower[f], question.upper[f]))
    factual, factor = Fraction(question.factual[f]), Fraction(question.factor[f])
    bends = {low, high, Fraction(nearest(question, box, f))}
    for s in shifts:
        bends |= {min(max(bend, low), high) for bend in (-s, lower - s, upper - s)}

    def value(c: Fraction) -> Fraction:
        total = weight * factor * abs(c - factual)
        for row, multiplier, s in zip(rows, multipliers, shifts, strict=True):
            z = min(max(c + s, lower), upper)
            slack = row.error[f] * (1 + ROUNDING) + abs(row.weight[f]) * ROUNDING
            total -= multiplier * (row.weight[f] * z + slack * abs(z))
        return total

    return min(value(c) for c in bends)
