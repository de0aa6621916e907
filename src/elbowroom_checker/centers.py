"""No centre is closer: a tree of splits over boxes of centres, in which every leaf has one reason.

* ``0``: every centre costs at least the bound, or changes too much, or there is none.
* ``[k]``: the room of every centre of the box meets bad box k.
* ``[r, p, multiplier]``: the adversary of every centre c goes to y(c), point p of the file moved into the room, and row r decides:
  see `outbid`. ``[r, p, multiplier, [column, low, high], ...]`` closes what lies beyond these sides in the same way, and goes on
  with the rest.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from elbowroom_checker.question import Box, Question, walk
from elbowroom_checker.reading import BIGGEST, BITS, Budget, down, index, kind, need, number, part, units, up
from elbowroom_checker.rows import Row
from elbowroom_checker.trees import Sides, Walker, within

ENVELOPE_LEAVES: Final = 128
Gains: TypeAlias = dict[int, dict[float, int]]  # per column the rises of G at borders
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
    return question.shape == "box" or within(question, gaps)


@dataclass
class Auction:
    """What the adversary of every centre of a (narrowed) box can do: y(c) is a point moved into the room of c.

    Let x be the cheapest centre, base its cost, e_f(c_f) what column f costs more at c_f than at x_f. Members of a group that is
    still open pay half of its price each, the one that is left and the one that is taken; a group that has left its category is
    paid for. G_f are functions with sum(c) <= present + sum_f G_f(c_f); ``most`` is the sum of the largest affordable leaves.
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
        self.gains: Gains = {}
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
        wanted: dict[tuple[int, bool], list[tuple[float, int, int]]] = {}  # column, direction: border, share, leaf
        rest = [value - present for value, _, _ in leaves]
        for leaf, (value, sides, costs) in enumerate(leaves):
            total, gain = sum(costs.values()), max(0, value - present)
            for f, cost in costs.items():
                upwards = sides[f][0] > self.x[f]
                share = -(-gain * cost // total) if total else -(-gain // len(costs))
                if f != exact:
                    entry = sides[f][0] if upwards else -sides[f][1], share, leaf
                    wanted.setdefault((f, upwards), []).append(entry)
        for (f, upwards), entries in wanted.items():
            largest, rises = 0, self.gains.setdefault(f, {})
            for border, share, leaf in sorted(entries):
                rise = max(0, share - largest)
                largest += rise
                rest[leaf] -= largest
                at = border if upwards else self.box.low[f]
                rises[at] = rises.get(at, 0) + rise
                if not upwards:
                    rises[-border] = rises.get(-border, 0) - rise
        if exact >= 0:
            spans = [
                (*sides.get(exact, self.spans[exact]), left) for (_, sides, _), left in zip(leaves, rest, strict=True)
            ]
            nothing = -4 * sum(map(abs, rest)) - 1  # far below all of them, where no leaf is open
            before, rises = 0, self.gains.setdefault(exact, {})
            for at in sorted({self.spans[exact][0], *(end for start, stop, _ in spans for end in (start, stop))}):
                now = max((left for start, stop, left in spans if start <= at < stop), default=nothing)
                rises[at] = rises.get(at, 0) + now - before
                before = now

    def pieces(self, f: int, start: float, end: float) -> list[tuple[float, float, int, int]]:
        """Parts of [start, end) in which G_f is constant and that cost less than the bound alone: G_f and the least extra cost."""
        gain, found, rises = 0, [], self.gains.get(f, {})
        for border in [*sorted(border for border in rises if border < end), end]:
            if start < border:
                found.append((start, border, gain, self.move(f, start, border)))
                start = border
            gain += rises.get(border, 0)
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
        beyond: list[tuple[int, float, float]] = []
        for f, low, high in sides:
            start, end = self.spans[f]
            beyond += [(f, start, min(low, end)), (f, max(up(high, self.walker.question.whole[f]), start), end)]
        pieces = [(f, gain, cost) for f, a, b in beyond if a < b for _, _, gain, cost in self.pieces(f, a, b)]
        closed = [value + rewards.get(f, 0) - price * gain + cost >= self.bound for f, gain, cost in pieces]
        return value >= self.bound or (bool(sides) and all(closed))


def check_centers(walker: Walker, rows: list[Row], file: Any, bound: float | None, budget: Budget) -> dict[str, int]:
    """Numbers of leaves by reason."""
    question, points = walker.question, kind(part(file, "points"), list, "points")
    boxes = _bad_boxes(walker, rows, part(file, "bad"), budget)
    limit, count = None if bound is None else question.price(bound), {"cost": 0, "bad box": 0, "outbid": 0}
    for step, box, stack in walk(part(file, "tree"), question.limits, question, "the tree of centres", budget):
        size = len(step) if isinstance(step, list) else 0
        count["cost" if not size else "bad box" if size == 1 else "outbid"] += 1
        rest, is_open = box.copy(), question.narrow(box)
        if size == 0:
            need(step == 0 and (not is_open or question.is_closed(box, limit)), "a leaf has a centre below the bound")
        elif size == 1:
            bad = boxes[index(step[0], len(boxes), "bad box")]
            need(not is_open or meets(question, box, bad), "a room does not meet its bad box")
        else:
            need(question.shape == "box", "outbidding is about boxes")
            row, point = rows[index(step[0], len(rows), "row")], points[index(step[1], len(points), "point")]
            multiplier = None if step[2] is None else number(step[2], "multiplier", 0.0)
            sides = _sides(step[3:], len(box.low))
            if is_open and not question.is_closed(box, limit):
                auction = Auction(walker, row, read_point(question, point), box, limit)
                need(auction.wins(multiplier, sides), "a leaf is not outbid")
            for side in sides:
                rest.cut(*side)
            stack += [rest] if sides else []
    return count


def _bad_boxes(walker: Walker, rows: list[Row], boxes: Any, budget: Budget) -> list[Box]:
    """Boxes [row, [column, low, high], ...], open ends null: each one proven bad."""
    found = []
    for each in kind(boxes, list, "bad"):
        budget.look()
        need(isinstance(each, list) and len(each) > 0, "a bad box is not a list")
        row, box = rows[index(each[0], len(rows), "row")], walker.question.limits.copy()
        for side in _sides(each[1:], len(box.low)):
            box.cut(*side)
        need(walker.question.narrow(box) and walker.is_bad(row, box), "a bad box is empty, or not proven bad")
        found.append(box)
    return found


def read_point(question: Question, changes: Any) -> list[float]:
    """The row with some columns changed, [column, value], ...: an input within the limits."""
    point = question.factual.copy()
    for change in kind(changes, list, "a point"):
        need(isinstance(change, list) and len(change) == 2, "a change of a point is not [column, value]")
        point[index(change[0], len(point), "column")] = number(change[1], "value")
    need(question.is_input(point), "a point of the adversary is not within the limits")
    return point


def _sides(sides: list[Any], n: int) -> list[tuple[int, float, float]]:
    """Sides [column, low, high]; null: open."""
    need(all(isinstance(side, list) and len(side) == 3 for side in sides), "a side is not [column, low, high]")
    ends = [(f, -BIGGEST if a is None else a, BIGGEST if b is None else b) for f, a, b in sides]
    return [(index(f, n, "column"), number(a, "low"), number(b, "high")) for f, a, b in ends]
