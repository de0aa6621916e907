"""No centre is closer: a tree of splits over boxes of centres, in which every leaf has one reason.

* ``0``: every centre costs at least the bound, or changes too much, or there is none.
* ``[k]``: the room of every centre of the box meets bad box k.
* ``[r, p, multiplier]``: the adversary of every centre c goes to point p of the file or, where the room does not reach it, to
  the nearest point y(c) of the room, and row r decides: see `outbid`.

``[r, p, multiplier, [column, low, high], ...]`` closes what lies beyond these sides in the same way, and goes on with the rest.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from elbowroom_checker.costs import bound_cost, column_cost, group_cost, least_cost, nearest, stays
from elbowroom_checker.model import Trees
from elbowroom_checker.question import Box, Question, walk
from elbowroom_checker.reading import (
    BIGGEST,
    BITS,
    ONE,
    Budget,
    down,
    index,
    listed,
    need,
    number,
    part,
    units,
    up,
)
from elbowroom_checker.rows import Row
from elbowroom_checker.trees import is_bad

ENVELOPE_LEAVES: Final = 128
NEVER: Final = 1 << 4000  # a border beyond all floats
Spans: TypeAlias = dict[int, tuple[int, int]]


def meets(question: Question, centers: Box, bad: Box) -> bool:
    """The room of every centre has a point in the bad box, which lies within the limits (both narrowed). Rooms move with their
    centres, so the outermost ones decide: c - down <= high and c + up >= low. The ends of the bad box and c are inputs, so that
    one of them, or the low end of the room, is the point."""
    for f, group_of in enumerate(question.group_of):
        if group_of >= 0:
            continue
        if units(centers.high[f]) - units(question.down[f]) > units(bad.high[f]):
            return False
        if units(centers.low[f]) + units(question.up[f]) < units(bad.low[f]):
            return False
    for group in question.groups:
        limits = Box(question.lower, question.upper)
        taken = question.categories(group, limits if group.free else centers)
        hit = question.categories(group, bad)
        if not (taken & hit if group.free else taken <= hit):
            return False
    return True


class Outbid:
    """The adversary's point p and one row: the trees as functions of the centre.

    y(c) is p moved into the room, column by column. So y_f(c) > t iff c_f lies right of one border (`_border`), and the tree that
    x = y(c) walks is a tree over centres. Borders are doubled units: c lies right of border b iff 2 c >= b.
    """

    def __init__(
        self,
        trees: Trees,
        question: Question,
        row: Row,
        point: list[float],
        budget: Budget,
        borders: dict[tuple[int, bool], int],
    ) -> None:
        """``borders`` are those that are known already, of all points."""
        self.trees, self.question, self.row, self.point, self.budget = trees, question, row, point, budget
        box = Box(point.copy(), point.copy())
        inside = all(a <= x <= b for a, x, b in zip(question.lower, point, question.upper, strict=True))
        need(inside and question.narrow(box) and box.low == point, "a point of the adversary is not within the limits")
        self._borders = borders

    def _border(self, node: int) -> int:
        """Of an inner node: centres right of it send y(c) to the right. Left of a cut, p stays until the room's low end passes
        the cut; right of it, until the high end does."""
        f, cut = self.trees.feature[node], self.trees.cut[node]
        if f >= len(self.point):
            return self._by_category(self.trees.sets[f - len(self.point)])
        key = node, self.point[f] > cut
        found = self._borders.get(key)
        if found is None:
            found = self._borders[key] = _border(self.question, f, cut, key[1])
        return found

    def _by_category(self, right: frozenset[int]) -> int:
        groups = [self.question.group_of[f] for f in right]
        need(
            all(g >= 0 and self.question.groups[g].free for g in groups),
            "an adversary at a split of a group that moves",
        )
        return -NEVER if any(self.point[f] > 0.5 for f in right) else NEVER

    def leaves(self, root: int, ends: list[tuple[int, int]]) -> list[tuple[int, Spans]]:
        """Leaves of a tree that centres between ``ends`` send y to: value, and per column the borders [first, last) around."""
        found, stack = [], [(root, Spans())]
        trees, values = self.trees, self.row.hopeful
        while stack:
            i, sides = stack.pop()
            f = trees.feature[i]
            if f < 0:
                found.append((values[i], sides))
                continue
            border, column = self._border(i), f if f < len(self.point) else 0
            first, last = sides.get(column) or ends[column]
            if first < border:
                stack.append((trees.left[i], sides if last <= border else {**sides, column: (first, border)}))
            if border < last:
                stack.append((trees.right[i], sides if border <= first else {**sides, column: (border, last)}))
        return found


def _border(question: Question, f: int, cut: float, is_right: bool) -> int:
    """Of a cut of a column, for points on one side of it."""
    group = question.group_of[f]
    if group >= 0 and question.groups[group].free:  # no move of the centre decides
        return -NEVER if is_right else NEVER
    if is_right:
        found = 2 * (units(up(cut, question.whole[f])) - units(question.up[f]))
    else:
        found = 2 * (units(cut) + units(question.down[f])) + 1
    return -(-found // (2 * ONE)) * 2 * ONE if question.whole[f] else found  # the first whole centre right of it


class Prices:
    """What leaving the nearest centre of a box costs, column by column. Members of a group that is still open pay half of its
    price each, the one that is left and the one that is taken; a group that has left its category is paid for."""

    def __init__(self, question: Question, box: Box) -> None:
        self.question, self.box = question, box
        self.ends = [(2 * units(a), 2 * units(b) + 1) for a, b in zip(box.low, box.high, strict=True)]
        self.at = [units(nearest(question, box, f)) for f in range(len(box.low))]
        self.paid = [column_cost(question, f, at) for f, at in enumerate(self.at)]
        cost = least_cost(question, box)
        need(cost is not None, "a leaf with a multiplier has too many changes")
        self.base = cost or 0
        self._moves: dict[tuple[int, int, int], int] = {}

    def of(self, f: int, at: int) -> int:
        """The extra cost of a centre at a value (in units) of column f."""
        group = self.question.group_of[f]
        if group < 0:
            return max(0, column_cost(self.question, f, at) - self.paid[f])
        open_still = stays(self.question, group, self.box)
        return group_cost(self.question, group) // 2 if open_still and at != self.at[f] else 0

    def move(self, f: int, first: int, last: int) -> int:
        """The least extra cost of a centre between two borders."""
        key = f, first, last
        if key not in self._moves:
            self._moves[key] = self._move(f, first, last)
        return self._moves[key]

    def stay(self, f: int, span: tuple[int, int]) -> bool:
        """The nearest centre lies between two borders."""
        return span[0] <= 2 * self.at[f] < span[1]

    def _move(self, f: int, first: int, last: int) -> int:
        here = 2 * self.at[f]
        if first <= here < last:
            return 0
        if here < first:
            return self.of(f, first >> 1)
        return self.of(
            f, (last + 1) // (2 * ONE) * ONE - ONE if self.question.whole[f] and last % 2 == 0 else last >> 1
        )


def outbid(adversary: Outbid, box: Box, bound: int | None, multiplier: float | None, sides: Any = ()) -> bool:
    """No centre of the box that costs less than the bound, and lies beyond one of the ``sides`` if any are given, sends y to
    leaves whose sum is enough.

    Let x be the nearest centre, F0 its sum, e_f(c_f) the extra cost. Leaves that are too expensive on their own are left out.
    Without a multiplier: the largest leaves together miss what is needed. With it: functions G_f with
    sum(c) <= F0 + sum_f G_f(c_f) (see `gains`); a good centre has sum_f G_f(c_f) >= need - F0, so its extra cost is at least
    multiplier (need - F0) - sum_f R_f, R_f = max_c (multiplier G_f(c) - e_f(c)); and where c_f is known, with the value at c_f
    in place of R_f.
    """
    prices, additive = Prices(adversary.question, box), adversary.question.norm != "linf"
    if bound is not None and prices.base >= bound:
        return True
    events, present, most = gains(adversary, prices, bound if additive else None)
    if most < adversary.row.least:
        return True
    if multiplier is None or bound is None or not additive:  # the largest cost is no sum of costs
        return False
    price, value, rewards = worth(adversary, prices, events, present, multiplier)
    if value >= bound:
        return True
    for f, low, high in sides:
        whole, beyond = adversary.question.whole[f], []
        if low > box.low[f]:
            beyond.append((prices.ends[f][0], 2 * units(min(down(low, whole), box.high[f])) + 1))
        if high < box.high[f]:
            beyond.append((2 * units(max(up(high, whole), box.low[f])), prices.ends[f][1]))
        for span in beyond:
            for gain, cost in pieces(prices, f, events.get(f, {}), span):
                if value + rewards.get(f, 0) - price * gain + cost < bound:
                    return False
    return bool(sides)


def worth(
    adversary: Outbid, prices: Prices, events: dict[int, dict[int, int]], present: int, multiplier: float
) -> tuple[int, int, dict[int, int]]:
    """The multiplier in units of cost per unit of margin, what every good centre costs at least by it, and all R_f."""
    price = units(multiplier) << (2 * BITS if adversary.question.norm == "l2" else 0)
    rewards = {
        f: max(price * gain - cost for gain, cost in pieces(prices, f, rises, prices.ends[f]))
        for f, rises in events.items()
    }
    return price, prices.base + price * (adversary.row.least - present) - sum(rewards.values()), rewards


def pieces(prices: Prices, f: int, rises: dict[int, int], span: tuple[int, int]) -> list[tuple[int, int]]:
    """Between two borders, the values of G_f with the least extra cost of each; ``rises`` are its changes at borders."""
    gain, (at, end), found = 0, span, []
    for border in sorted(rises):
        if border >= end:
            break
        if border > at:
            found.append((gain, prices.move(f, at, border)))
            at = border
        gain += rises[border]
    if at < end:
        found.append((gain, prices.move(f, at, end)))
    return found


def gains(adversary: Outbid, prices: Prices, bound: int | None) -> tuple[dict[int, dict[int, int]], int, int]:
    """Changes of all G_f at borders, the sum at the nearest centre, and the sum of the largest affordable leaves.

    Tree by tree: the gain of a leaf over the present one is shared among the columns that must move, in proportion to their
    cost; along a column and direction the largest share so far counts. One column, that of most leaves, carries what remains
    instead: at c, the most that any leaf open at c still gains. (Not in trees of very many leaves.)
    """
    events: dict[int, dict[int, int]] = {}
    present_sum = most = 0
    for root in adversary.trees.roots:
        adversary.budget.look()
        leaves, present = [], 0
        for value, sides in adversary.leaves(root, prices.ends):
            costs = {f: prices.move(f, *span) for f, span in sides.items() if not prices.stay(f, span)}
            if not costs:
                present = value
            if bound is None or prices.base + sum(costs.values()) < bound:
                leaves.append((value, sides, costs))
        present_sum += present
        most += max(value for value, _, _ in leaves)
        if len(leaves) > 1:
            _share(leaves, present, prices, events)
    return events, present_sum, most


def _add(events: dict[int, dict[int, int]], f: int, border: int, rise: int) -> None:
    column = events.setdefault(f, {})
    column[border] = column.get(border, 0) + rise


def _share(
    leaves: list[tuple[int, Spans, dict[int, int]]], present: int, prices: Prices, events: dict[int, dict[int, int]]
) -> None:
    """The gains of the leaves of one tree."""
    count: dict[int, int] = {}
    for _, _, costs in leaves:
        for f in costs:
            count[f] = count.get(f, 0) + 1
    exact = max(sorted(count), key=count.__getitem__) if len(leaves) <= ENVELOPE_LEAVES else -1
    wanted: dict[tuple[int, bool], list[tuple[int, int, int]]] = {}  # column and direction: border, share, leaf
    rest = [value - present for value, _, _ in leaves]
    for number_, (value, sides, costs) in enumerate(leaves):
        total, gain = sum(costs.values()), max(0, value - present)
        for f, cost in costs.items():
            if f != exact:
                share = -(-gain * cost // total) if total else -(-gain // len(costs))
                upwards = sides[f][0] > 2 * prices.at[f]
                wanted.setdefault((f, upwards), []).append((sides[f][0] if upwards else -sides[f][1], share, number_))
    for (f, upwards), entries in wanted.items():
        running = 0
        for border, share, leaf in sorted(entries):
            if share > running:
                if upwards:
                    _add(events, f, border, share - running)
                else:
                    _add(events, f, prices.ends[f][0], share - running)
                    _add(events, f, -border, running - share)
                running = share
            rest[leaf] -= running
    if exact >= 0:
        spans = [(sides.get(exact, prices.ends[exact]), left) for (_, sides, _), left in zip(leaves, rest, strict=True)]
        nothing = -4 * sum(map(abs, rest)) - 1  # far below all of them, where no leaf is open
        before = 0
        for at in sorted({prices.ends[exact][0], *(end for span, _ in spans for end in span)}):
            now = max((left for span, left in spans if span[0] <= at < span[1]), default=nothing)
            _add(events, exact, at, now - before)
            before = now


def check_centers(
    trees: Trees, question: Question, rows: list[Row], file: Any, bound: float | None, budget: Budget
) -> dict[str, int]:
    """Numbers of leaves by reason."""
    boxes = _bad_boxes(trees, question, rows, part(file, "bad"), budget)
    points = listed(part(file, "points"), "points")
    adversaries: dict[tuple[int, int], Outbid] = {}
    borders: dict[tuple[int, bool], int] = {}
    limit = None if bound is None else bound_cost(question, bound)
    root, count, n = Box(question.lower, question.upper), {"cost": 0, "bad box": 0, "outbid": 0}, len(question.lower)
    for step, box, stack in walk(part(file, "tree"), root, question, "the tree of centres", budget):
        if step == 0 and type(step) is int:
            if question.narrow(box):
                cost = least_cost(question, box)
                need(cost is None or (limit is not None and cost >= limit), "a leaf has a centre below the bound")
            count["cost"] += 1
        elif isinstance(step, list) and len(step) == 1:
            bad = boxes[index(step[0], len(boxes), "bad box")]
            need(not question.narrow(box) or meets(question, box, bad), "a room does not meet its bad box")
            count["bad box"] += 1
        else:
            need(isinstance(step, list) and len(step) > 2, "a step of the tree of centres is of no known kind")
            key = index(step[0], len(rows), "row"), index(step[1], len(points), "point")
            if key not in adversaries:
                point = _point(question, points[key[1]])
                adversaries[key] = Outbid(trees, question, rows[key[0]], point, budget, borders)
            multiplier = None if step[2] is None else number(step[2], "multiplier")
            need(multiplier is None or multiplier >= 0.0, "a multiplier is negative")
            sides = _sides(step[3:], n)
            if question.narrow(box):
                need(outbid(adversaries[key], box, limit, multiplier, sides), "a leaf is not outbid")
            if sides:
                for f, low, high in sides:
                    box.low[f], box.high[f] = max(box.low[f], low), min(box.high[f], high)
                stack.append(box)
            count["outbid"] += 1
    return count


def _bad_boxes(trees: Trees, question: Question, rows: list[Row], boxes: Any, budget: Budget) -> list[Box]:
    """Boxes [row, [column, low, high], ...], open ends null: each one proven bad."""
    found = []
    for each in listed(boxes, "bad"):
        budget.look()
        need(isinstance(each, list) and len(each) > 0, "a bad box is not a list")
        row, box = rows[index(each[0], len(rows), "row")], Box(question.lower.copy(), question.upper.copy())
        for f, low, high in _sides(each[1:], len(question.lower)):
            box.low[f], box.high[f] = max(box.low[f], low), min(box.high[f], high)
        need(question.narrow(box) and is_bad(trees, question, row, box), "a bad box is empty, or not proven bad")
        found.append(box)
    return found


def _point(question: Question, changes: Any) -> list[float]:
    """The row with some columns changed: [column, value], ..."""
    point = question.factual.copy()
    for change in listed(changes, "a point"):
        need(isinstance(change, list) and len(change) == 2, "a change of a point is not [column, value]")
        point[index(change[0], len(point), "column")] = number(change[1], "value")
    return point


def _sides(sides: list[Any], n: int) -> list[tuple[int, float, float]]:
    """Sides [column, low, high]; null: open."""
    found = []
    for side in sides:
        need(isinstance(side, list) and len(side) == 3, "a side is not [column, low, high]")
        low = -BIGGEST if side[1] is None else number(side[1], "low")
        found.append((index(side[0], n, "column"), low, BIGGEST if side[2] is None else number(side[2], "high")))
    return found
