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

No centre of a box or ball is closer: every box of centres has a reason.

* ``[k]``: the room of every centre of the box meets bad box k.
* ``[r, p, multiplier]``: the adversary of every centre c goes to y(c), point p of the file moved into the room, and row r decides:
  see `Auction`. ``[r, p, multiplier, [column, low, high], ...]`` closes what lies beyond these sides in the same way, and goes on
  with the rest.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, TypeAlias

from elbowroom_checker.exact import BIGGEST, BITS, ONE, down, first, units, up
from elbowroom_checker.model import Model, Trees
from elbowroom_checker.question import Box, Margin, Question
from elbowroom_checker.reading import Budget, index, kind, need, number, part

Sides: TypeAlias = dict[int, tuple[float, float]]  # of some columns: [first, end)
Spans: TypeAlias = list[tuple[float, float]]  # of all
MOST_SIDES: Final = 4_000_000  # of the ways to all leaves of one walk: nodes may have several parents


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
    _borders: dict[tuple[int, bool | None], float] = field(default_factory=dict)

    def border(self, node: int, right: bool | None) -> float:
        """The first centre that sends y(c) right at an inner node. ``right``: p is right of the cut (None: no point)."""
        if (node, right) not in self._borders:
            self._borders[node, right] = self._border(self.trees.feature[node], self.trees.cut[node], right)
        return self._borders[node, right]

    def _border(self, f: int, cut: float, right: bool | None) -> float:
        asked, whole = self.question, self.question.whole[f]
        if math.isinf(cut) or right is None:
            return cut if math.isinf(cut) else up(cut, whole)
        if asked.is_free(f):  # no move of the centre decides
            return -math.inf if right else math.inf
        if right:  # p stays until the room's high end falls below the next value
            return first(units(up(cut, whole)) - units(asked.up[f]), whole)
        low = float(math.floor(cut)) if whole else cut
        return first(units(low) + units(asked.down[f]) + 1, whole)  # until the low end passes the cut

    def leaves(self, root: int, spans: Spans, point: list[float] | None) -> Iterator[tuple[int, Sides]]:
        """Leaves of a tree that centres in [first, end) of every column send y to, and the sides of the centres that do."""
        trees, stack, count = self.trees, [(root, Sides())], 0
        while stack:
            i, sides = stack.pop()
            f = trees.feature[i]
            if f < 0:
                count += 1 + len(sides)
                need(count <= MOST_SIDES, "a tree has too many ways to its leaves")
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

    def is_bad(self, row: Row, box: Box) -> bool:
        return self.total(row.hopeful, max, box) < row.least

    def region(self, j: int, center: list[float]) -> Region:
        return Region(self, self.rows[j], center)

    def centers(self, file: Any, bound: float | None, budget: Budget) -> Centers:
        return Centers(self, file, None if bound is None else self.question.price(bound), budget)


def walker(model: Model, trees: Trees, question: Question, margins: list[Margin]) -> Walker:
    return Walker(trees, question, [tree_row(model, trees, margin) for margin in margins])


@dataclass(frozen=True)
class Region:
    """Every input of a part of the region is good for a row, or outside the ball or diamond."""

    walker: Walker
    row: Row
    center: list[float]
    neurons: int = 0

    def closes(self, step: Any, box: Box, is_open: bool) -> tuple[str, list[Box]]:
        outside = is_open and is_outside(self.walker.question, self.center, box)
        holds = not is_open or outside or self.walker.total(self.row.strict, min, box) >= self.row.enough
        need(step == 0 and holds, "a leaf of a validity proof does not hold")
        return "outside" if outside else "smallest leaf values", []


def is_outside(question: Question, center: list[float], box: Box) -> bool:
    """No point of the box, which is a part of the region, lies in the ball or diamond. Groups cost nothing."""
    ends = zip(box.low, center, box.high, question.group_of, strict=True)
    gaps = [max(units(a) - units(c), units(c) - units(b), 0) if group < 0 else 0 for a, c, b, group in ends]
    return not question.reaches(gaps)


# ---- no closer centre --------------------------------------------------------------------------------------------------
ENVELOPE_LEAVES: Final = 128
Leaf: TypeAlias = tuple[int, Sides, dict[int, int]]  # value, sides, and the cost of every column that must move


def meets(question: Question, centers: Box, bad: Box) -> bool:
    """The room of every centre has a point in the bad box, which lies within the limits (both narrowed). The outermost centres
    decide, column by column: the nearest point of the bad box is an end of it, or the centre's own value, and so an input."""
    for group in question.groups:
        taken = question.categories(group, question.limits if group.free else centers)
        hit = question.categories(group, bad)
        if not (taken & hit if group.free else taken <= hit):
            return False
    gaps = []
    for f, group_of in enumerate(question.group_of):
        above = units(bad.low[f]) - units(centers.low[f]) if group_of < 0 else 0
        below = units(centers.high[f]) - units(bad.high[f]) if group_of < 0 else 0
        if above > units(question.up[f]) or below > units(question.down[f]):
            return False
        gaps.append(max(above, below, 0))
    return question.reaches(gaps)


@dataclass
class Auction:
    """What the adversary of every centre of a (narrowed) box can do: y(c) is a point moved into the room of c.

    Let x be the cheapest centre, base its cost, e_f(c_f) what column f costs more at c_f than at x_f. Members of a group that is
    still open pay half of its price each, the one that is left and the one that is taken; a group that has left its category is
    paid for. G_f are functions with sum(c) <= present + sum_f G_f(c_f), in ``gains`` as their rises at borders; ``most`` is the
    sum of the largest affordable leaves.
    """

    walker: Walker
    row: Row
    point: list[float]
    box: Box
    bound: int | None

    def __post_init__(self) -> None:
        question, box = self.walker.question, self.box
        self.x, self.base, self.spans = question.nearest(box), question.least_cost(box) or 0, question.spans(box)
        open_groups = [group for group in question.groups if question.stays(group, box)]
        self.half = {f: question.price(group.price) // 2 for group in open_groups for f in group.members}
        self.gains: dict[int, Counter[float]] = defaultdict(Counter)
        self._moves: dict[tuple[int, float, float], int] = {}
        self.present = self.most = 0
        limit = None if question.norm == "linf" or self.bound is None else self.bound - self.base
        for root in self.walker.trees.roots:
            leaves: list[Leaf] = []
            for i, sides in self.walker.leaves(root, self.spans, self.point):
                costs = {f: self.move(f, *s) for f, s in sides.items() if not s[0] <= self.x[f] < s[1]}
                if limit is None or not costs or sum(costs.values()) < limit:
                    leaves.append((self.row.hopeful[i], sides, costs))
            present = next(value for value, _, costs in leaves if not costs)
            self.present += present
            self.most += max(value for value, _, _ in leaves)
            if len(leaves) > 1:
                self._share(leaves, present)

    def move(self, f: int, start: float, end: float) -> int:
        """The least extra cost of a centre in [start, end) of column f."""
        key, x, question = (f, start, end), self.x[f], self.walker.question
        if key not in self._moves:
            to = start if x < start else x if x < end else down(end, question.whole[f])
            self._moves[key] = question.cost(f, to) - question.cost(f, x) + (self.half.get(f, 0) if to != x else 0)
        return self._moves[key]

    def _share(self, leaves: list[Leaf], present: int) -> None:
        """The gain of a leaf of a tree over the present one is shared among the columns that must move, in proportion to their
        cost; along a column and direction the largest share so far counts. One column, that of most leaves, carries what
        remains instead: at c, the most that any leaf open at c still gains. (Not in trees of very many leaves.)"""
        needed = Counter(f for _, _, costs in leaves for f in costs)
        exact = max(sorted(needed), key=needed.__getitem__) if len(leaves) <= ENVELOPE_LEAVES else -1
        wanted: dict[tuple[int, bool], list[tuple[float, int, int]]] = defaultdict(list)  # border, share, leaf
        rest = [value - present for value, _, _ in leaves]
        for leaf, (value, sides, costs) in enumerate(leaves):
            total, gain = sum(costs.values()), max(0, value - present)
            for f, cost in costs.items():
                start, end = sides[f]
                share = -(-gain * cost // total) if total else -(-gain // len(costs))
                if f != exact:
                    wanted[f, start > self.x[f]].append((start if start > self.x[f] else -end, share, leaf))
        for (f, upwards), entries in wanted.items():
            largest = 0
            for border, share, leaf in sorted(entries):
                rise = max(0, share - largest)
                largest += rise
                rest[leaf] -= largest
                self.gains[f][border if upwards else self.box.low[f]] += rise
                if not upwards:
                    self.gains[f][-border] -= rise
        if exact >= 0:
            spans = [sides.get(exact, self.spans[exact]) for _, sides, _ in leaves]
            nothing, before = -4 * sum(map(abs, rest)) - 1, 0  # far below all of them, where no leaf is open
            for at in sorted({self.spans[exact][0], *(end for span in spans for end in span)}):
                is_open = (left for (start, end), left in zip(spans, rest, strict=True) if start <= at < end)
                now = max(is_open, default=nothing)
                self.gains[exact][at] += now - before
                before = now

    def pieces(self, f: int, start: float, end: float) -> list[tuple[float, float, int, int]]:
        """Parts of [start, end) in which G_f is constant and that cost less than the bound alone: G_f and the least extra cost."""
        gain, found, rises = 0, [], self.gains.get(f, Counter())
        for border in [*sorted(border for border in rises if border < end), end]:
            if start < border:
                found.append((start, border, gain, self.move(f, start, border)))
                start = border
            gain += rises[border]
        return [each for each in found if self.bound is None or self.base + each[-1] < self.bound]

    def worth(self, multiplier: float) -> tuple[int, int, dict[int, int]]:
        """The multiplier in units of cost per unit of margin, what every good centre costs at least by it, and all R_f."""
        price = units(multiplier) << (2 * BITS if self.walker.question.norm == "l2" else 0)
        pieces = {f: self.pieces(f, *self.spans[f]) for f in self.gains}
        rewards = {f: max(price * gain - cost for _, _, gain, cost in each) for f, each in pieces.items()}
        return price, self.base + price * (self.row.least - self.present) - sum(rewards.values()), rewards

    def wins(self, multiplier: float | None, sides: Any = ()) -> bool:
        """No centre of the box that costs less than the bound, and lies beyond one of the sides if any are given, is good.

        Without a multiplier: the largest leaves together miss what is needed. With it: a good centre has
        sum_f G_f(c_f) >= need - present, so its cost is at least base + multiplier (need - present) - sum_f R_f,
        R_f = max_c (multiplier G_f(c) - e_f(c)); and where c_f is known, with the value at c_f in place of R_f. (With linf
        costs do not add up.)"""
        if self.most < self.row.least:
            return True
        if multiplier is None or self.bound is None or self.walker.question.norm == "linf":
            return False
        price, value, rewards = self.worth(multiplier)
        closed = []
        for f, low, high in sides:
            start, end = self.spans[f]
            for a, b in ((start, min(low, end)), (max(up(high, self.walker.question.whole[f]), start), end)):
                known = [price * gain - cost for _, _, gain, cost in (self.pieces(f, a, b) if a < b else [])]
                closed += [value + rewards.get(f, 0) - each >= self.bound for each in known]
        return value >= self.bound or (bool(sides) and all(closed))


class Centers:
    """The reasons of a file why no centre below a bound is good; its bad boxes ``[row, [column, low, high], ...]`` are proven."""

    neurons = 0

    def __init__(self, walker: Walker, file: Any, limit: int | None, budget: Budget) -> None:
        self.walker, self.limit, self.bad = walker, limit, list[Box]()
        self.points = kind(part(file, "points"), list, "points")
        for each in kind(part(file, "bad"), list, "bad"):
            budget.look()
            row, box = self._row(each), walker.question.limits.copy()
            for side in sides_of(each[1:], len(box.low)):
                box.cut(*side)
            need(walker.question.narrow(box) and walker.is_bad(row, box), "a bad box is empty, or not proven bad")
            self.bad.append(box)

    def _row(self, step: Any) -> Row:
        """A list that begins with the number of a row."""
        need(isinstance(step, list) and len(step) > 0, "a leaf, or a bad box, is not a list")
        return self.walker.rows[index(step[0], len(self.walker.rows), "row")]

    def closes(self, step: Any, box: Box, is_open: bool) -> tuple[str, list[Box]]:
        """The reason of a leaf, and what of its (narrowed) box is still to do."""
        question = self.walker.question
        if isinstance(step, list) and len(step) == 1:
            bad = self.bad[index(step[0], len(self.bad), "bad box")]
            need(not is_open or meets(question, box, bad), "a room does not meet its bad box")
            return "bad box", []
        fits = isinstance(step, list) and len(step) > 2 and question.shape == "box"
        need(fits, "outbidding needs a point and a multiplier, and is about boxes")
        row, point = self._row(step), read_point(question, self.points[index(step[1], len(self.points), "point")])
        sides, multiplier = sides_of(step[3:], len(point)), step[2]
        multiplier = None if multiplier is None else number(multiplier, "multiplier", 0.0)
        auction = Auction(self.walker, row, point, box, self.limit) if is_open else None
        need(auction is None or auction.wins(multiplier, sides), "a leaf is not outbid")
        for side in sides:
            box.cut(*side)
        return "outbid", [box] if sides else []


def read_point(question: Question, changes: Any) -> list[float]:
    """The row with some columns changed, [column, value], ...: an input within the limits."""
    point = question.factual.copy()
    for change in kind(changes, list, "a point"):
        column, value = kind(change, list, "a change of a point", 2)
        point[index(column, len(point), "column")] = number(value, "value")
    need(question.is_input(point), "a point of the adversary is not within the limits")
    return point


def sides_of(sides: list[Any], n: int) -> list[tuple[int, float, float]]:
    """Sides [column, low, high]; null: open."""
    found = []
    for f, low, high in (kind(side, list, "a side", 3) for side in sides):
        ends = -BIGGEST if low is None else number(low, "low"), BIGGEST if high is None else number(high, "high")
        found.append((index(f, n, "column"), *ends))
    return found
