"""Boxes on trees: which leaves they meet, what that proves about inputs, and validity.

One walk serves inputs and centres. The adversary of centre c goes to y(c): a point p moved into the room of c, column by
column. So y_f(c) > t iff c_f reaches one border, and the trees, asked at y(c), are trees over centres. Without a point y(c) = c:
then borders are cuts, and boxes of centres are boxes of inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from elbowroom_checker.model import Trees
from elbowroom_checker.question import Box, Question, walk
from elbowroom_checker.reading import Budget, first, need, units, up
from elbowroom_checker.rows import Row

Sides: TypeAlias = dict[int, tuple[float, float]]  # per column [first, end)
MOST_LEAVES: Final = 1_000_000  # of one walk: nodes may have several parents


@dataclass(frozen=True)
class Walker:
    """Trees over centres."""

    trees: Trees
    question: Question
    _borders: dict[tuple[int, bool | None], float] = field(default_factory=dict)

    def border(self, node: int, right: bool | None) -> float:
        """The first centre that sends y(c) right at an inner node. ``right``: p is right of the cut (None: no point)."""
        key = node, right
        if key not in self._borders:
            self._borders[key] = self._border(self.trees.feature[node], self.trees.cut[node], right)
        return self._borders[key]

    def _border(self, f: int, cut: float, right: bool | None) -> float:
        asked, whole = self.question, self.question.whole[f]
        if right is None or math.isinf(cut):
            return cut if math.isinf(cut) else up(cut, whole)
        if asked.group_of[f] >= 0 and asked.groups[asked.group_of[f]].free:  # no move of the centre decides
            return -math.inf if right else math.inf
        if right:  # p stays until the room's high end falls below the next value
            return first(units(up(cut, whole)) - units(asked.up[f]), whole)
        low = float(math.floor(cut)) if whole else cut
        return first(units(low) + units(asked.down[f]) + 1, whole)  # until the low end passes the cut

    def leaves(
        self, root: int, spans: list[tuple[float, float]], point: list[float] | None
    ) -> Iterator[tuple[int, Sides]]:
        """Leaves of a tree that centres in [first, end) of every column send y to, and the sides of the centres that do."""
        trees, stack, count = self.trees, [(root, Sides())], 0
        while stack:
            i, sides = stack.pop()
            f = trees.feature[i]
            if f < 0:
                count += 1
                need(count <= MOST_LEAVES, f"a tree has more than {MOST_LEAVES} ways to its leaves")
                yield i, sides
                continue
            border = self.border(i, None if point is None else point[f] > trees.cut[i])
            start, end = sides.get(f) or spans[f]
            if start < border:
                stack.append((trees.left[i], sides if end <= border else {**sides, f: (start, border)}))
            if border < end:
                stack.append((trees.right[i], sides if border <= start else {**sides, f: (border, end)}))

    def total(self, values: list[int], pick: Callable[[Iterator[int]], int], box: Box) -> int:
        """The smallest, or largest, values of the leaves that inputs of a box reach, one per tree, added up."""
        spans = self.question.spans(box)
        return sum(pick(values[i] for i, _ in self.leaves(root, spans, None)) for root in self.trees.roots)

    def is_good(self, row: Row, box: Box) -> bool:
        return self.total(row.strict, min, box) >= row.enough

    def is_bad(self, row: Row, box: Box) -> bool:
        return self.total(row.hopeful, max, box) < row.least


def within(question: Question, gaps: list[int]) -> bool:
    """A shift by these gaps (in units) stays in the ball or diamond: sum phi(gap / width) <= 1."""
    above, below, power = 0, 1, 2 if question.shape == "ball" else 1  # the sum as a fraction
    for gap, width in zip(gaps, map(units, question.up), strict=True):
        if gap > width:
            return False
        if gap:
            above, below = above * width**power + gap**power * below, below * width**power
    return above <= below


def check_tree_of_boxes(walker: Walker, row: Row, region: Box, center: list[float], steps: Any, budget: Budget) -> int:
    """A list of splits [column, value] and leaves 0, each split before its left and then its right part: every leaf is good,
    empty, or outside the ball or diamond. The number of leaves."""
    leaves, question = 0, walker.question
    for step, box, _ in walk(steps, region, question, "a validity proof", budget):
        leaves += 1
        holds = not question.narrow(box) or is_outside(question, region, center, box) or walker.is_good(row, box)
        need(step == 0 and holds, f"leaf {leaves} of a validity proof does not hold")
    return leaves


def is_outside(question: Question, region: Box, center: list[float], box: Box) -> bool:
    """No point of the box lies in the ball or diamond. Columns in which the region is a point, and groups, cost nothing."""
    gaps = [max(units(a) - units(c), units(c) - units(b), 0) for a, c, b in zip(box.low, center, box.high, strict=True)]
    fixed = [g >= 0 or a == b for g, a, b in zip(question.group_of, region.low, region.high, strict=True)]
    gaps = [0 if still else gap for gap, still in zip(gaps, fixed, strict=True)]
    return question.shape != "box" and not within(question, gaps)
