"""What was asked: where centres may lie, what moves cost, what room is around a centre. And boxes of inputs or centres.

A column without a limit is limited by the largest floats. In a group exactly one member is 1, all others are 0. Costs are
whole numbers of 2^-2148 (squared costs, for l2: of 2^-4296).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

from elbowroom_checker.exact import BIGGEST, BITS, first, units, up
from elbowroom_checker.model import Model
from elbowroom_checker.reading import Budget, index, indices, kind, need, number, numbers, part

MOST_OPEN: Final = 4_000_000  # numbers in boxes that wait for their part of a proof


@dataclass
class Box:
    """low <= x <= high in every column, whole where declared, one member of every group 1. In proofs about networks also ends of
    what neurons sum up to, which are counted after the columns."""

    low: list[float]
    high: list[float]

    def copy(self) -> Box:
        return Box(self.low.copy(), self.high.copy())

    def cut(self, f: int, low: float, high: float) -> None:
        self.low[f], self.high[f] = max(self.low[f], low), min(self.high[f], high)


@dataclass(frozen=True)
class Group:
    members: list[int]
    price: float
    free: bool  # the room takes every category within the limits


@dataclass(frozen=True)
class Question:
    factual: list[float]
    limits: Box
    whole: list[bool]
    groups: list[Group]
    group_of: list[int]  # -1: none
    norm: str
    factor: list[float]  # what a move of 1 costs; 0 for members of groups
    shape: str
    down: list[float]
    up: list[float]
    most_changes: int | None
    target: int
    probability: float | None

    def is_free(self, f: int) -> bool:
        return self.group_of[f] >= 0 and self.groups[self.group_of[f]].free

    def narrow(self, box: Box) -> bool:
        """Make a box as small as whole numbers and groups allow; False if nothing is left."""
        for f, whole in enumerate(self.whole):
            if whole and box.low[f] <= box.high[f]:
                box.low[f], box.high[f] = float(math.ceil(box.low[f])), float(math.floor(box.high[f]))
        for group in self.groups:
            allowed = self.categories(group, box)
            for f in group.members:
                box.low[f], box.high[f] = float(allowed == {f}), float(f in allowed)
            if not allowed:
                return False
        return all(low <= high for low, high in zip(box.low, box.high, strict=True))

    def categories(self, group: Group, box: Box) -> set[int]:
        """Members that may be the 1 of their group."""
        not_zero = [f for f in group.members if not box.low[f] <= 0.0 <= box.high[f]]
        return {f for f in group.members if box.low[f] <= 1.0 <= box.high[f] and not_zero in ([], [f])}

    def is_input(self, x: list[float]) -> bool:
        """Within the limits, whole, and with one category per group."""
        box, limits = Box(x.copy(), x.copy()), zip(self.limits.low, x, self.limits.high, strict=True)
        return all(low <= c <= high for low, c, high in limits) and self.narrow(box) and box.low == x

    def halves(self, box: Box, f: int, at: float) -> tuple[Box, Box]:
        """The part with x_f <= at, and the part above. What a neuron sums up to is a real number: both parts touch."""
        left, right = box.copy(), box.copy()
        left.cut(f, -BIGGEST, at)
        right.cut(f, up(at, self.whole[f]) if f < len(self.whole) else at, BIGGEST)
        return left, right

    def room(self, center: list[float]) -> Box:
        """The room of a centre, as the box that bounds it: all floats within the widths and the limits."""
        box = self.limits.copy()
        for f, c in enumerate(center):
            if self.group_of[f] < 0:
                low = first(units(c) - units(self.down[f]), self.whole[f])
                box.cut(f, low, -first(-units(c) - units(self.up[f]), self.whole[f]))
            elif not self.is_free(f):
                box.low[f] = box.high[f] = c
        return box

    def reaches(self, gaps: list[int]) -> bool:
        """A shift by these gaps (in units) stays in the ball or diamond, sum phi(gap / width) <= 1, and in any box."""
        moved = [(gap, units(width)) for gap, width in zip(gaps, self.up, strict=True) if gap and self.shape != "box"]
        power = 2 if self.shape == "ball" else 1
        return all(gap <= width for gap, width in moved) and sum(Fraction(*share) ** power for share in moved) <= 1

    # ---- costs ---------------------------------------------------------------------------------------------------------
    def power(self, cost: int) -> int:
        return cost * cost if self.norm == "l2" else cost

    def cost(self, f: int, x: float) -> int:
        """Of a single column."""
        return self.power(units(self.factor[f]) * abs(units(x) - units(self.factual[f])))

    def price(self, value: float) -> int:
        """A price of a group, or a bound, as a cost."""
        return self.power(units(value) << BITS)

    def spans(self, box: Box) -> list[tuple[float, float]]:
        """Every column as [first, end)."""
        return [(a, up(b, whole)) for a, b, whole in zip(box.low, box.high, self.whole, strict=True)]

    def nearest(self, box: Box) -> list[float]:
        return [min(max(x, a), b) for x, a, b in zip(self.factual, box.low, box.high, strict=False)]

    def stays(self, group: Group, box: Box) -> bool:
        """The category of the factual is still open."""
        return any(self.factual[f] == 1.0 == box.high[f] for f in group.members)

    def least_cost(self, box: Box) -> int | None:
        """Of all centres of a (narrowed) box the smallest cost; None: all have too many changes."""
        x = self.nearest(box)
        moved = [f for f, group in enumerate(self.group_of) if group < 0 and x[f] != self.factual[f]]
        left = [group.price for group in self.groups if not self.stays(group, box)]
        if self.most_changes is not None and len(moved) + len(left) > self.most_changes:
            return None
        costs = [0, *(self.cost(f, x[f]) for f in moved), *map(self.price, left)]
        return max(costs) if self.norm == "linf" else sum(costs)

    def is_closed(self, box: Box, bound: int | None) -> bool:
        """No admissible centre of the (narrowed) box costs less than the bound."""
        cost = self.least_cost(box)
        return cost is None or (bound is not None and cost >= bound)


def read_question(file: Any, model: Model) -> Question:
    n = len(model.names)
    room, target, most, norm = (part(file, key) for key in ("room", "target", "most_changes", "norm"))
    shape, sure = part(room, "shape"), part(target, "probability")
    need(norm in ("l1", "l2", "linf") and shape in ("box", "ball", "diamond"), f"{norm!r} or {shape!r} is unknown")
    need(most is None or (type(most) is int and most >= 0), "most_changes is not a number of changes")
    groups = [_group(each, n) for each in kind(part(file, "groups"), list, "groups")]
    group_of = {f: g for g, group in enumerate(groups) for f in group.members}
    need(len(group_of) == sum(len(group.members) for group in groups), "a column is in two groups")
    whole = {*indices(part(file, "whole"), n, "whole")}
    limits = Box(_ends(file, "lower", n, -BIGGEST), _ends(file, "upper", n, BIGGEST))
    for f in whole:
        limits.low[f], limits.high[f] = float(math.ceil(limits.low[f])), float(math.floor(limits.high[f]))
    factual, factor = numbers(part(file, "factual"), n, "factual"), numbers(part(file, "factor"), n, "factor", 0.0)
    lows, highs = (numbers(part(room, key), n, key, 0.0) for key in ("down", "up"))
    need(shape == "box" or lows == highs, "a ball or diamond has one width per column")
    need(not any(factor[f] or lows[f] or highs[f] for f in group_of), "a category with a width")
    rows = [sorted(factual[f] for f in group.members) for group in groups]
    need(all(row == [0.0] * (len(row) - 1) + [1.0] for row in rows), "factual: a group without one category")
    wanted = index(part(target, "class"), len(model.classes), "class")
    sure = None if sure is None else number(sure, "probability")
    steps, of = [f in whole or f in group_of for f in range(n)], [group_of.get(f, -1) for f in range(n)]
    return Question(factual, limits, steps, groups, of, norm, factor, shape, lows, highs, most, wanted, sure)


def _group(of: Any, n: int) -> Group:
    price, free = number(part(of, "price"), "price", 0.0), kind(part(of, "free"), bool, "free")
    return Group(indices(part(of, "members"), n, "members"), price, free)


def _ends(file: Any, key: str, n: int, none: float) -> list[float]:
    return numbers([none if x is None else x for x in kind(part(file, key), list, key)], n, key)


Leaf: TypeAlias = tuple[Any, Box, list[Box]]


def walk(steps: Any, root: Box, question: Question, what: str, budget: Budget, neurons: int = 0) -> Iterator[Leaf]:
    """The leaves of a list of steps with their (not yet narrowed) boxes, and the boxes that wait. A split [column, value] stands
    before its left and then its right part; neurons are counted after the columns."""
    n = len(root.low) + neurons
    stack = [Box(root.low + [-BIGGEST] * neurons, root.high + [BIGGEST] * neurons)]
    for step in kind(steps, list, what):
        need(bool(stack), f"{what} goes on after its end")
        need(len(stack) * n <= MOST_OPEN, f"{what} is too deep")
        budget.look()
        box = stack.pop()
        if type(step) is list and len(step) == 2 and type(step[1]) is not list:
            f, at = index(step[0], n, "column of a split"), number(step[1], "value of a split")
            stack += reversed(question.halves(box, f, at))
        else:
            yield step, box, stack
    need(not stack, f"{what} ends too early")


# ---- what a class needs ------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Margin:
    """sum over scores s of signs[s] score_s - goal, within doubt, is positive, or 0 if ties are good."""

    signs: dict[int, int]
    goal: Fraction
    doubt: Fraction
    tie: bool


def margins(model: Model, question: Question) -> list[Margin]:
    """One per rival. p >= tau iff the score is >= log(tau / (1 - tau)), up to rounding of either."""
    target, tau, doubt = question.target, question.probability, Fraction(model.evaluation_error)
    several, sign = model.rule == "ARGMAX", 1 if target == 1 else -1
    signs = [{target: 1, j: -1} for j in range(len(model.classes)) if j != target] if several else [{0: sign}]
    if tau is None:
        goal, tie = sign * Fraction(model.threshold), (model.rule == "NONNEGATIVE") == (target == 1)
        return [Margin(each, goal, doubt, target < max(each) if several else tie) for each in signs]
    if several and model.link == "IDENTITY":
        return [Margin({target: 1}, Fraction(tau), doubt, True)]
    fits = model.link == ("SOFTMAX" if several else "LOGISTIC") and len(signs) == 1
    need(fits and 1e-9 <= tau <= 1.0 - 1e-9, "a probability of this model is not a threshold of its scores")
    threshold, eps = math.log(tau) - math.log1p(-tau), 2.0 ** (-23 if model.link_single else -52)
    more = 8 * eps * (1.0 / (tau * (1.0 - tau)) + abs(threshold))
    return [Margin(signs[0], Fraction(threshold), doubt + Fraction(more), True)]
