"""What was asked: where centres may lie, what moves cost, what room is around a centre. And boxes of inputs or centres.

A column without a limit is limited by the largest floats. In a group exactly one member is 1, all others are 0. Costs are
whole numbers of 2^-2148 (squared costs, for l2: of 2^-4296).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from elbowroom_checker.model import Model
from elbowroom_checker.reading import (
    BIGGEST,
    BITS,
    Budget,
    first,
    index,
    indices,
    kind,
    need,
    number,
    numbers,
    part,
    units,
    up,
)

MOST_OPEN: Final = 4_000_000  # numbers in boxes that wait for their part of a proof


@dataclass
class Box:
    """low <= x <= high in every column, whole where declared, one member of every group 1."""

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
        box = Box(x.copy(), x.copy())
        inside = all(a <= c <= b for a, c, b in zip(self.limits.low, x, self.limits.high, strict=True))
        return inside and self.narrow(box) and box.low == x

    def halves(self, box: Box, f: int, at: float) -> tuple[Box, Box]:
        """The part with x_f <= at, and the part above."""
        left, right = box.copy(), box.copy()
        left.cut(f, -BIGGEST, at)
        right.cut(f, up(at, self.whole[f]), BIGGEST)
        return left, right

    def room(self, center: list[float]) -> Box:
        """The room of a centre, as the box that bounds it: all floats within the widths and the limits."""
        box = self.limits.copy()
        for f, c in enumerate(center):
            if self.group_of[f] < 0:
                low = first(units(c) - units(self.down[f]), self.whole[f])
                box.cut(f, low, -first(-units(c) - units(self.up[f]), self.whole[f]))
            elif not self.groups[self.group_of[f]].free:
                box.low[f] = box.high[f] = c
        return box

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
        return [min(max(x, a), b) for x, a, b in zip(self.factual, box.low, box.high, strict=True)]

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
    room, target, most = part(file, "room"), part(file, "target"), part(file, "most_changes")
    norm, shape, probability = part(file, "norm"), part(room, "shape"), part(target, "probability")
    need(norm in ("l1", "l2", "linf"), f"the norm {norm!r} is unknown")
    need(shape in ("box", "ball", "diamond"), "the shape of the room is unknown")
    need(most is None or (type(most) is int and most >= 0), "most_changes is not a number of changes")
    whole, group_of = set(indices(part(file, "whole"), n, "whole")), [-1] * n
    groups: list[Group] = []
    for each in kind(part(file, "groups"), list, "groups"):
        members, free = indices(part(each, "members"), n, "members"), kind(part(each, "free"), bool, "free")
        need(bool(members) and all(group_of[f] < 0 for f in members), "a group is empty, or a column is in two of them")
        for f in members:
            group_of[f] = len(groups)
        groups.append(Group(members, number(part(each, "price"), "price", 0.0), free))
    ends = {"lower": -BIGGEST, "upper": BIGGEST}
    texts = {key: kind(part(file, key), list, key) for key in ends}
    limits = Box(*(numbers([ends[k] if x is None else x for x in each], n, k) for k, each in texts.items()))
    for f in whole:
        limits.low[f], limits.high[f] = float(math.ceil(limits.low[f])), float(math.floor(limits.high[f]))
    factual, factor = numbers(part(file, "factual"), n, "factual"), numbers(part(file, "factor"), n, "factor", 0.0)
    lows, highs = (numbers(part(room, key), n, key, 0.0) for key in ("down", "up"))
    need(shape == "box" or lows == highs, "a ball or diamond has one width per column")
    for group in groups:
        row = sorted(factual[f] for f in group.members)
        need(row == [0.0] * (len(row) - 1) + [1.0], "factual: a group without one category")
        need(not any(factor[f] or lows[f] or highs[f] for f in group.members), "a category with a width")
    return Question(
        factual, limits, [f in whole or group_of[f] >= 0 for f in range(n)], groups, group_of, norm, factor, shape,
        lows, highs, most, index(part(target, "class"), len(model.classes), "class"),
        None if probability is None else number(probability, "probability"),
    )  # fmt: skip


def walk(steps: Any, root: Box, question: Question, what: str, budget: Budget) -> Iterator[tuple[Any, Box, list[Box]]]:
    """The leaves of a list of steps with their (not yet narrowed) boxes, and the boxes that wait. A split [column, value]
    stands before its left and then its right part."""
    stack, n = [root.copy()], len(root.low)
    for step in kind(steps, list, what):
        need(0 < len(stack) * n <= MOST_OPEN, f"{what} goes on after its end, or is too deep")
        budget.look()
        box = stack.pop()
        if isinstance(step, list) and len(step) == 2:
            split = index(step[0], n, "column of a split"), number(step[1], "value of a split")
            stack += reversed(question.halves(box, *split))
        else:
            yield step, box, stack
    need(not stack, f"{what} ends too early")
