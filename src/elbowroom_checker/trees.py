"""Trees: what a class needs, leaf by leaf, in whole numbers of units; which leaves a box meets; which inputs that proves good.

The sum of a row over the leaves of a point is its margin m. Let E bound what the original's roundings, in any order, can do to
m. A point has the class where m >= E for every rival, and has not where m < -E for one. Where the sums need no rounding, the
sign of m decides, and m = 0 as the rule says:

* A. two stored numbers are compared and nothing follows;
* B. some leaves are multiples of a power of two q > 4 E: sums of such leaves alone are exact, and 0 or at least q from 0;
* C. otherwise: E.

In B both needs are additive. Ties good: a sum with k >= 1 other leaves is surely good if m >= E, which follows from
m - 2 E k >= -E; sums without them reach -E iff they reach 0. Ties bad: surely bad if m < -E, which follows from m + 2 E k < E;
sums without them miss E iff they miss q. (A is B with E = 0, or 1 unit, and no other leaves.)

One walk serves inputs and centres. The adversary of centre c goes to y(c): a point p moved into the room of c, column by
column. So y_f(c) > t iff c_f reaches one border, and the trees, asked at y(c), are trees over centres. Without a point y(c) = c:
then borders are cuts, and boxes of centres are boxes of inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, TypeAlias

from elbowroom_checker.exact import ONE, first, units, up
from elbowroom_checker.model import Model, Trees
from elbowroom_checker.question import Box, Margin, Question
from elbowroom_checker.reading import need

Sides: TypeAlias = dict[int, tuple[float, float]]  # per column [first, end)
MOST_LEAVES: Final = 1_000_000  # of one walk: nodes may have several parents


@dataclass(frozen=True)
class Row:
    """Values per node. Sums of ``strict`` that reach ``enough`` are proven good, sums of ``hopeful`` below ``least`` bad."""

    strict: list[int]
    enough: int
    hopeful: list[int]
    least: int


def tree_row(model: Model, trees: Trees, margin: Margin) -> Row:
    """m = sum over scores s of signs[s] (base + leaves of s) - goal; m = 0 is good iff ``tie``."""

    signs, tie, goal = margin.signs, margin.tie, math.ceil(margin.goal * Fraction(trees.divisor) * ONE)
    leaves = zip(trees.feature, trees.value, strict=True)
    parts = [[units(sign * v[s]) for s, sign in signs.items()] if f < 0 else [] for f, v in leaves]

    def per_tree(of: Callable[[int], int]) -> list[int]:
        """The largest value of a leaf, tree by tree; children come after their parents."""
        largest = [0] * len(parts)
        for i in reversed(range(len(parts))):
            is_leaf = trees.feature[i] < 0
            largest[i] = of(i) if is_leaf else max(largest[trees.left[i]], largest[trees.right[i]])
        return [largest[root] for root in trees.roots]

    base = [units(sign * trees.base[s]) for s, sign in signs.items()]
    value, start = [sum(each) for each in parts], sum(base) - goal
    share = (len(trees.roots) + 8) * Fraction(1, 2 ** (23 if trees.single else 52))
    need(share < Fraction(1, 2), "too many trees for any bound on their rounding")
    biggest = sum(per_tree(lambda i: sum(map(abs, parts[i])))) + sum(map(abs, base)) + abs(goal)
    after = margin.doubt * Fraction(trees.divisor) * ONE
    error = math.ceil(share / (1 - share) * biggest + after) + 1
    counts = [sum(map(bool, per_tree(lambda i, k=k: abs(parts[i][k])))) + bool(b) for k, b in enumerate(base)]  # type: ignore[misc]
    stored = max(counts) <= 1 or (counts == [2] and goal == 0 and not model.fused_products)
    grid = 1 << (4 * error).bit_length()
    if stored and after == 0 and trees.divisor == 1.0:
        grid, error = 1, int(not tie)
    exact = [not any(p % grid for p in each) for each in parts]
    may_tie = margin.goal == 0 and not model.fused_products and (after == 0 or model.ties_last)
    if grid > 1 and not (may_tie and not any(b % grid for b in base) and all(per_tree(lambda i: exact[i]))):
        return Row(value, error - start, value, -error - start)
    need_of_all = (-error if tie else error) - start
    moved = [v if fits else v + (-2 if tie else 2) * error for v, fits in zip(value, exact, strict=True)]
    return Row(moved if tie else value, need_of_all, value if tie else moved, need_of_all)


@dataclass(frozen=True)
class Walker:
    """Trees over centres, and their rows."""

    trees: Trees
    question: Question
    rows: Sequence[Row] = ()
    neurons: int = 0
    how: str = "the smallest leaf values of each added up exactly"
    _borders: dict[tuple[int, bool | None], float] = field(default_factory=dict)

    def border(self, node: int, right: bool | None) -> float:
        """The first centre that sends y(c) right at an inner node. ``right``: p is right of the cut (None: no point)."""
        if (node, right) not in self._borders:
            self._borders[node, right] = self._border(self.trees.feature[node], self.trees.cut[node], right)
        return self._borders[node, right]

    def _border(self, f: int, cut: float, right: bool | None) -> float:
        asked, whole = self.question, self.question.whole[f]
        if math.isinf(cut):
            return cut
        if right is None:
            return up(cut, whole)
        if asked.is_free(f):  # no move of the centre decides
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

    def proves(self, j: int, step: Any, box: Box, center: list[float]) -> bool:
        """Every input of a part of the region is good for row j, or outside the ball or diamond."""
        return step == 0 and (is_outside(self.question, center, box) or self.is_good(self.rows[j], box))


def is_outside(question: Question, center: list[float], box: Box) -> bool:
    """No point of the box, which is a part of the region, lies in the ball or diamond. Groups cost nothing."""
    ends = zip(box.low, center, box.high, question.group_of, strict=True)
    gaps = [max(units(a) - units(c), units(c) - units(b), 0) if group < 0 else 0 for a, c, b, group in ends]
    return not question.reaches(gaps)
