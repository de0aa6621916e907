"""What was asked: where centres may lie, what moves cost, what room is around a centre. And boxes of inputs or centres.

A column without a limit is limited by the largest floats. In a group exactly one member is 1, all others are 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from elbowroom_checker.model import Model
from elbowroom_checker.reading import (
    BIGGEST,
    MOST_OPEN,
    Budget,
    down,
    flag,
    index,
    indices,
    listed,
    need,
    not_negative,
    number,
    numbers,
    part,
    units,
    up,
)
from elbowroom_checker.rows import Target

NORMS: Final = ("l1", "l2", "linf")
SHAPES: Final = ("box", "ball", "diamond")


@dataclass
class Box:
    """low <= x <= high in every column, whole where declared, one member of every group 1."""

    low: list[float]
    high: list[float]

    def copy(self) -> Box:
        return Box(self.low.copy(), self.high.copy())


@dataclass(frozen=True)
class Group:
    members: list[int]
    price: float
    free: bool  # the room takes every category within the limits


@dataclass(frozen=True)
class Question:
    factual: list[float]
    lower: list[float]
    upper: list[float]
    whole: list[bool]
    groups: list[Group]
    group_of: list[int]  # -1: none
    norm: str
    factor: list[float]  # what a move of 1 costs; 0 for members of groups
    shape: str
    down: list[float]
    up: list[float]
    most_changes: int | None
    target: Target

    def narrow(self, box: Box) -> bool:
        """Make a box as small as whole numbers and groups allow; False if nothing is left."""
        for f, whole in enumerate(self.whole):
            if whole and box.low[f] <= box.high[f]:
                box.low[f], box.high[f] = float(math.ceil(box.low[f])), float(math.floor(box.high[f]))
            if box.low[f] > box.high[f]:
                return False
        for group in self.groups:
            allowed = self.categories(group, box)
            for f in group.members:
                box.low[f], box.high[f] = float(allowed == {f}), float(f in allowed)
            if not allowed:
                return False
        return True

    def categories(self, group: Group, box: Box) -> set[int]:
        """Members that may be the 1 of their group."""
        forced = [f for f in group.members if box.low[f] > 0.0]
        possible = {f for f in group.members if box.low[f] <= 1.0 <= box.high[f]}
        possible = {f for f in possible if all(box.low[g] <= 0.0 <= box.high[g] for g in group.members if g != f)}
        return possible & set(forced) if forced else possible

    def halves(self, box: Box, f: int, at: float) -> tuple[Box, Box]:
        """The part with x_f <= at, and the part above."""
        left, right = box.copy(), box.copy()
        left.high[f] = min(left.high[f], at)
        right.low[f] = max(right.low[f], up(at, self.whole[f]))
        return left, right


def read_question(file: Any, model: Model) -> Question:
    n = len(model.names)
    room, target, norm = part(file, "room"), part(file, "target"), part(file, "norm")
    need(norm in NORMS, f"the norm {norm!r} is unknown")
    need(part(room, "shape") in SHAPES, "the shape of the room is unknown")
    lower, upper = _limits(part(file, "lower"), n, -BIGGEST), _limits(part(file, "upper"), n, BIGGEST)
    whole = set(indices(part(file, "whole"), n, "whole"))
    for f in whole:
        lower[f], upper[f] = float(math.ceil(lower[f])), float(math.floor(upper[f]))
    groups, group_of = [], [-1] * n
    for each in listed(part(file, "groups"), "groups"):
        members, price = indices(part(each, "members"), n, "members"), number(part(each, "price"), "price")
        need(bool(members) and price >= 0.0, "a group without members, or with a negative price")
        groups.append(Group(members, price, flag(part(each, "free"), "free")))
        for f in members:
            need(group_of[f] < 0, "a column is a member of two groups")
            group_of[f] = len(groups) - 1
    probability, most = part(target, "probability"), part(file, "most_changes")
    need(most is None or (type(most) is int and most >= 0), "most_changes is not a number of changes")
    found = Question(
        factual=numbers(part(file, "factual"), n, "factual"),
        lower=lower,
        upper=upper,
        whole=[f in whole or group_of[f] >= 0 for f in range(n)],
        groups=groups,
        group_of=group_of,
        norm=norm,
        factor=not_negative(part(file, "factor"), n, "factor"),
        shape=part(room, "shape"),
        down=not_negative(part(room, "down"), n, "down"),
        up=not_negative(part(room, "up"), n, "up"),
        most_changes=most,
        target=Target(
            index(part(target, "class"), len(model.classes), "class"),
            None if probability is None else number(probability, "probability"),
        ),
    )
    for group in groups:
        need(
            sorted(found.factual[f] for f in group.members) == [0.0] * (len(group.members) - 1) + [1.0],
            "factual: a group without one category",
        )
        need(not any(found.factor[f] or found.down[f] or found.up[f] for f in group.members), "a category with a width")
    need(found.shape == "box" or found.down == found.up, "a ball or diamond has one width per column")
    return found


def _limits(values: Any, n: int, open_end: float) -> list[float]:
    need(isinstance(values, list) and len(values) == n, "lower or upper: not one entry per column")
    return [open_end if value is None else number(value, "a limit") for value in values]


def room_around(question: Question, center: list[float]) -> Box:
    """The room of a centre, as the box that bounds it: all floats within the widths and the limits."""
    low, high = [], []
    for f, c in enumerate(center):
        group = question.group_of[f]
        if group >= 0:
            free = question.groups[group].free
            low.append(question.lower[f] if free else c)
            high.append(question.upper[f] if free else c)
            continue
        at, whole = units(c), question.whole[f]
        first = _first(at - units(question.down[f]), whole)
        last = -_first(-at - units(question.up[f]), whole)
        low.append(min(c, max(first, question.lower[f])))
        high.append(max(c, min(last, question.upper[f])))
    return Box(low, high)


def _first(at: int, whole: bool) -> float:
    """The smallest float (whole number) that is at least ``at`` units."""
    value = max(-BIGGEST, min(BIGGEST, _rounded(at)))
    if whole:
        value = float(math.floor(value))
    while value < BIGGEST and units(value) < at:
        value = up(value, whole)
    while value > -BIGGEST and units(down(value, whole)) >= at:
        value = down(value, whole)
    return value


def _rounded(at: int) -> float:
    try:
        return at / 2**1074
    except OverflowError:
        return math.copysign(BIGGEST, at)


def walk(steps: Any, root: Box, question: Question, what: str, budget: Budget) -> Iterator[tuple[Any, Box, list[Box]]]:
    """The leaves of a list of steps with their boxes, and the boxes that wait. A split [column, value] stands before its left
    and then its right part."""
    stack, n = [root.copy()], len(root.low)
    for step in listed(steps, what):
        need(0 < len(stack) * n <= MOST_OPEN, f"{what} goes on after its end, or is too deep")
        budget.look()
        box = stack.pop()
        if isinstance(step, list) and len(step) == 2:
            f = index(step[0], n, "column of a split")
            left, right = question.halves(box, f, number(step[1], "value of a split"))
            stack += (right, left)
        else:
            yield step, box, stack
    need(not stack, f"{what} ends too early")
