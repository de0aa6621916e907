"""What a class needs: one row per rival. On trees in whole numbers of units, leaf by leaf.

The sum of a row over the leaves of a point is its margin m. Let E bound what the original's roundings, in any order, can do to
m. A point has the class where m >= E for every rival, and has not where m < -E for one. Where the sums need no rounding, the
sign of m decides, and m = 0 as the rule says:

* A. two stored numbers are compared and nothing follows;
* B. some leaves are multiples of a power of two q > 4 E: sums of such leaves alone are exact, and 0 or at least q from 0;
* C. otherwise: E.

In B both needs are additive. Ties good: a sum with k >= 1 other leaves is surely good if m >= E, which follows from
m - 2 E k >= -E; sums without them reach -E iff they reach 0. Ties bad: surely bad if m < -E, which follows from m + 2 E k < E;
sums without them miss E iff they miss q.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from elbowroom_checker.model import Model, Trees
from elbowroom_checker.question import Question
from elbowroom_checker.reading import ONE, need, units


@dataclass(frozen=True)
class Margin:
    """sum over scores s of signs[s] score_s - goal, within doubt, is positive, or 0 if ties are good."""

    signs: dict[int, int]
    goal: Fraction
    doubt: Fraction
    tie: bool


@dataclass(frozen=True)
class Row:
    """Values per node. Sums of ``strict`` that reach ``enough`` are proven good, sums of ``hopeful`` below ``least`` bad."""

    strict: list[int]
    enough: int
    hopeful: list[int]
    least: int


def margins(model: Model, question: Question) -> list[Margin]:
    """One per rival. p >= tau iff the score is >= log(tau / (1 - tau)), up to rounding of either."""
    target, tau, doubt = question.target, question.probability, Fraction(model.evaluation_error)
    sign, ties = 1 if target == 1 else -1, (model.rule == "NONNEGATIVE") == (target == 1)
    signs = [{0: sign}]
    if model.rule == "ARGMAX":
        signs = [{target: 1, j: -1} for j in range(len(model.classes)) if j != target]
    if tau is None and model.rule == "ARGMAX":
        return [Margin(each, Fraction(0), doubt, target < max(each)) for each in signs]
    if tau is None:
        return [Margin(each, sign * Fraction(model.threshold), doubt, ties) for each in signs]
    if model.rule == "ARGMAX" and model.link == "IDENTITY":
        return [Margin({target: 1}, Fraction(tau), doubt, True)]
    fits = model.link == ("SOFTMAX" if model.rule == "ARGMAX" else "LOGISTIC") and len(signs) == 1
    need(fits and 1e-9 <= tau <= 1.0 - 1e-9, "a probability of this model is not a threshold of its scores")
    threshold, eps = math.log(tau) - math.log1p(-tau), 2.0 ** (-23 if model.link_single else -52)
    more = 8 * eps * (1.0 / (tau * (1.0 - tau)) + abs(threshold))
    return [Margin(signs[0], Fraction(threshold), doubt + Fraction(more), True)]


def tree_row(model: Model, trees: Trees, margin: Margin) -> Row:
    """m = sum over scores s of signs[s] (base + leaves of s) - goal; m = 0 is good iff ``tie``."""
    signs, tie, goal = margin.signs, margin.tie, math.ceil(margin.goal * Fraction(trees.divisor) * ONE)
    leaves = zip(trees.feature, trees.value, strict=True)
    parts = [[units(sign * v[s]) for s, sign in signs.items()] if f < 0 else [] for f, v in leaves]
    base = [units(sign * trees.base[s]) for s, sign in signs.items()]
    value, start = [sum(each) for each in parts], sum(base) - goal
    members = [_leaves_below(trees, root) for root in trees.roots]
    share = (len(members) + 8) * Fraction(1, 2 ** (23 if trees.single else 52))
    need(share < Fraction(1, 2), "too many trees for any bound on their rounding")
    biggest = sum(max(sum(map(abs, parts[i])) for i in each) for each in members) + sum(map(abs, base)) + abs(goal)
    after = margin.doubt * Fraction(trees.divisor) * ONE
    error = math.ceil(share / (1 - share) * biggest + after) + 1
    counts = [sum(any(parts[i][k] for i in each) for each in members) + bool(b) for k, b in enumerate(base)]
    stored = max(counts) <= 1 or (counts == [2] and goal == 0 and not model.fused_products)
    if stored and after == 0 and trees.divisor == 1.0:
        return Row(value, int(not tie) - start, value, int(not tie) - start)
    grid = 1 << (4 * error).bit_length()
    exact = [not any(p % grid for p in each) for each in parts]
    may_tie = margin.goal == 0 and not model.fused_products and (after == 0 or model.ties_last)
    if may_tie and not any(b % grid for b in base) and all(any(exact[i] for i in each) for each in members):
        moved = [v if fits else v + (-2 if tie else 2) * error for v, fits in zip(value, exact, strict=True)]
        if tie:
            return Row(moved, -error - start, value, -error - start)
        return Row(value, error - start, moved, error - start)
    return Row(value, error - start, value, -error - start)


def _leaves_below(trees: Trees, root: int) -> list[int]:
    found, stack = {root}, [root]
    while stack:
        i = stack.pop()
        if trees.feature[i] >= 0:
            stack += {trees.left[i], trees.right[i]} - found
            found |= {trees.left[i], trees.right[i]}
    return [i for i in found if trees.feature[i] < 0]
