"""What a class needs, tree by tree: one row per rival, in whole numbers of units.

The sum of a row over the leaves of a point is its margin m. Let E bound what the original's roundings, in any order, can do to
m. A point has the class where m >= E for every rival, and has not where m < -E for one. Where the sums need no rounding, the
sign of m decides, and m = 0 as the rule says:

* A. two stored numbers are compared and nothing follows;
* B. all leaf values are multiples of one power of two and few enough to fit into the digits;
* C. some leaves are multiples of a power of two q >= 4 E: sums of such leaves alone are exact, and 0 or at least q from 0;
* D. otherwise: E.

In C both needs are additive. Ties good: a sum with k >= 1 other leaves is surely good if m >= E, which follows from
m - 2 E k >= -E; sums without them reach -E iff they reach 0. Ties bad: surely bad if m < -E, which follows from m + 2 E k < E;
sums without them miss E iff they miss q.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from elbowroom_checker.model import Model, Trees
from elbowroom_checker.reading import need, units

EPS: Final = Fraction(1, 2**52)
EPS_SINGLE: Final = Fraction(1, 2**23)


@dataclass(frozen=True)
class Target:
    index: int
    probability: float | None


@dataclass(frozen=True)
class Row:
    """Values per node. Sums of ``strict`` that reach ``enough`` are proven good, sums of ``hopeful`` below ``least`` bad."""

    strict: list[int]
    enough: int
    hopeful: list[int]
    least: int


def tree_rows(model: Model, trees: Trees, target: Target) -> list[Row]:
    if model.rule == "ARGMAX" and target.probability is None:
        rivals = [j for j in range(len(model.classes)) if j != target.index]
        return [_row(model, trees, {target.index: 1, j: -1}, 0, target.index < j, True) for j in rivals]
    if model.rule == "ARGMAX":
        need(model.link == "IDENTITY", "a probability of this model is not a sum of its leaves")
        goal = target.probability or 0.0
        least = _least_sum(lambda mean: mean >= goal, trees.divisor, goal)
        return [_row(model, trees, {target.index: 1}, units(least), True, False)]
    sign = 1 if target.index == 1 else -1
    if target.probability is not None:
        need(model.link == "LOGISTIC", "this model has no probabilities of its score")
        threshold, doubt = logistic_threshold(model, target.probability)
        reach = math.ceil(Fraction(threshold) * Fraction(trees.divisor) * 2**1074)
        return [_row(model, trees, {0: sign}, reach, True, False, Fraction(doubt))]
    second = model.rule == "NONNEGATIVE"
    if model.threshold == 0.0:
        return [_row(model, trees, {0: sign}, 0, second == (target.index == 1), True)]
    least = _least_sum(
        lambda mean: mean > model.threshold or (second and mean == model.threshold), trees.divisor, model.threshold
    )
    return [_row(model, trees, {0: sign}, sign * units(least), target.index == 1, False)]


def logistic_threshold(model: Model, probability: float) -> tuple[float, float]:
    """p >= tau iff the score is >= log(tau / (1 - tau)), and how far rounding of either may move that."""
    need(1e-9 <= probability <= 1.0 - 1e-9, "a probability this close to 0 or 1 is not computed reliably")
    threshold = math.log(probability) - math.log1p(-probability)
    eps = float(EPS_SINGLE if model.link_single else EPS)
    return threshold, 8 * eps * (1.0 / (probability * (1.0 - probability)) + abs(threshold))


def _least_sum(reached: Callable[[float], bool], divisor: float, goal: float) -> float:
    """The smallest float whose computed quotient is on the far side; dividing never falls, so there is one."""
    least = goal * divisor
    for _ in range(1000):
        if not reached(least / divisor):
            break
        least = math.nextafter(least, -math.inf)
    for _ in range(2000):
        if reached(least / divisor):
            return least
        least = math.nextafter(least, math.inf)
    need(False, "the threshold cannot be brought back to a sum")
    return least


def _row(
    model: Model,
    trees: Trees,
    signs: dict[int, int],
    goal: int,
    tie: bool,
    at_zero: bool,
    doubt: Fraction = Fraction(0),
) -> Row:
    """m = sum over scores s of signs[s] (base + leaves of s) - goal; ``at_zero``: the goal is 0, and so is a tie."""
    leaf = [f < 0 for f in trees.feature]
    parts = [[units(trees.value[i][s]) for s in signs] if leaf[i] else [] for i in range(len(leaf))]
    base = [units(trees.base[s]) for s in signs]
    value = [sum(sign * p for sign, p in zip(signs.values(), part, strict=True)) if part else 0 for part in parts]
    start = sum(sign * b for sign, b in zip(signs.values(), base, strict=True)) - goal
    members = [_leaves_below(trees, root) for root in trees.roots]
    eps = EPS_SINGLE if trees.single else EPS
    share = (len(members) + 8) * eps
    need(share < Fraction(1, 2), "too many trees for any bound on their rounding")
    biggest = sum(max(sum(map(abs, parts[i])) for i in leaves) for leaves in members) + sum(map(abs, base)) + abs(goal)
    after = (Fraction(model.evaluation_error) + doubt) * Fraction(trees.divisor) * 2**1074
    error = math.ceil(share / (1 - share) * biggest + after) + 1
    digits = 24 if trees.single else 53
    sides = [sum(any(parts[i][k] for i in leaves) for leaves in members) + bool(base[k]) for k in range(len(base))]
    few = max(sides) <= 1 or (len(sides) == 1 and sides[0] == 2 and at_zero and not model.fused_products)
    may_tie = not model.fused_products and (after == 0 or (model.ties_last and at_zero))
    every = [p for part in parts for p in part if p] + [b for b in base if b]
    quantum = _power_of_two(every)
    room = 2 ** (digits - (2 if trees.divisor != 1.0 and len(base) == 2 else 0))
    if trees.divisor != 1.0 and quantum < math.ceil(trees.divisor) << 52:
        quantum = 0  # quotients may vanish
    small = not every or (len(members) + 2) * len(base) * max(map(abs, every)) < quantum * room
    if (few and after == 0 and trees.divisor == 1.0) or (may_tie and small and quantum >= 4 * after):
        return Row(value, (0 if tie else 1) - start, value, (0 if tie else 1) - start)
    grid = 1 << (4 * error).bit_length()
    exact = [all(p % grid == 0 for p in part) for part in parts]
    if may_tie and at_zero and not any(b % grid for b in base) and all(any(exact[i] for i in m) for m in members):
        moved = [v if fits else v + (-2 if tie else 2) * error for v, fits in zip(value, exact, strict=True)]
        if tie:
            return Row(moved, -error - start, value, -error - start)
        return Row(value, error - start, moved, error - start)
    return Row(value, error - start, value, -error - start)


def _leaves_below(trees: Trees, root: int) -> list[int]:
    found, stack = [], [root]
    while stack:
        i = stack.pop()
        if trees.feature[i] < 0:
            found.append(i)
        else:
            stack += (trees.left[i], trees.right[i])
    return found


def _power_of_two(values: list[int]) -> int:
    """The largest power of two of which all are multiples (1 for none)."""
    together = 0
    for value in values:
        together |= value
    return together & -together or 1
