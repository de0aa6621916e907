"""A second reading of docs/proofs.md: boxes on trees, checked by a program that was written from that page alone.

Whoever wrote it had not read `elbowroom_checker`; it shares no line with it, and all its sums are fractions. It is slow and
short, and is no defence against hostile files: it exists to show that the page says enough. `tests/unit/checker/test_stranger.py`
compares both.
"""

from __future__ import annotations

import hashlib
import json
import math
from fractions import Fraction
from typing import Any

LARGEST, UNIT, ZERO = math.nextafter(math.inf, 0.0), Fraction(1, 2**1074), Fraction(0)
Box = list[tuple[float, float]]


class Refusal(Exception):  # noqa: N818 - an answer, not a fault
    """The file does not prove what it says."""


def demand(holds: bool, why: str) -> None:
    if not holds:
        raise Refusal(why)


def at_least(q: Fraction) -> float:
    """The smallest float64 that is not below q."""
    if q > Fraction(LARGEST):
        return math.inf
    x = float(max(q, -Fraction(LARGEST)))
    return x if Fraction(x) >= q else math.nextafter(x, math.inf)


def put(box: Box, f: int, low: float, high: float) -> Box:
    """The part of a box whose column f lies between two values."""
    return [*box[:f], (max(low, box[f][0]), min(high, box[f][1])), *box[f + 1 :]]


class Question:
    """Limits, whole columns, groups, room and costs (squares for l2)."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.factual, self.groups, self.norm = [float(v) for v in told["factual"]], told["groups"], told["norm"]
        self.n, self.most_changes, self.target = len(self.factual), told["most_changes"], told["target"]
        self.group = {f: group for group in self.groups for f in group["members"]}
        self.whole, self.singles = {*told["whole"], *self.group}, [f for f in range(self.n) if f not in self.group]
        room = told["room"]
        self.factor, self.down, self.up = ([Fraction(v) for v in p] for p in (told["factor"], room["down"], room["up"]))
        demand(room["shape"] == "box" and min(*self.factor, *self.down, *self.up) >= 0, "the question")
        for f in self.group:
            self.down[f] = self.up[f] = ZERO
        ends = zip(told["lower"], told["upper"], strict=True)
        self.limits = self.tight([(-LARGEST if a is None else a, LARGEST if b is None else b) for a, b in ends])

    def power(self, cost: Fraction) -> Fraction:
        return cost * cost if self.norm == "l2" else cost

    def next(self, f: int, x: float, way: int = 1) -> float:
        """The first input behind x, or before it."""
        whole = f in self.whole and abs(x) < 2.0**53
        behind = math.floor(way * x) + 1.0 if whole else math.nextafter(way * x, math.inf)
        return x if math.isinf(x) else way * behind

    def first(self, f: int, q: Fraction) -> float:
        """The smallest input that is not below q."""
        return at_least(Fraction(math.ceil(q)) if f in self.whole else q)

    def tight(self, box: Box | None) -> Box | None:
        """As small as whole numbers and groups allow; None if nothing is left."""
        if box is None or any(low > high for low, high in box):
            return None
        made = [
            (math.ceil(a) + 0.0, math.floor(b) + 0.0) if f in self.whole else (a, b) for f, (a, b) in enumerate(box)
        ]
        for group in self.groups:
            must = [f for f in group["members"] if made[f][0] > 0]
            can = [f for f in group["members"] if made[f][1] >= 1 and must in ([], [f])]
            for f in group["members"]:
                made = put(made, f, float(can == [f]), float(f in can))
            if not can:
                return None
        return None if any(low > high for low, high in made) else made

    def left(self, group: dict[str, Any], x: list[float]) -> bool:
        """Has a group another category than the row?"""
        return any(x[f] != self.factual[f] for f in group["members"])

    def cheapest(self, box: Box) -> list[float]:
        x = [min(max(v, low), high) for v, (low, high) in zip(self.factual, box, strict=True)]
        for group in self.groups:
            can = [f for f in group["members"] if box[f][1] == 1.0]
            taken = next((f for f in can if self.factual[f] == 1.0), can[0])
            for f in group["members"]:
                x[f] = float(f == taken)
        return x

    def column(self, f: int, x: float) -> Fraction:
        return self.power(self.factor[f] * abs(Fraction(x) - Fraction(self.factual[f])))

    def cost(self, x: list[float]) -> Fraction:
        parts = [self.column(f, x[f]) for f in self.singles]
        parts += [self.power(Fraction(g["price"])) for g in self.groups if self.left(g, x)]
        return max(parts, default=ZERO) if self.norm == "linf" else sum(parts, ZERO)

    def too_many(self, x: list[float]) -> bool:
        changes = sum(x[f] != self.factual[f] for f in self.singles) + sum(self.left(g, x) for g in self.groups)
        return self.most_changes is not None and changes > self.most_changes

    def more(self, f: int, x: list[float], at: float) -> Fraction:
        """e_f: what column f costs more at a value than at the cheapest centre x."""
        if f in self.group:
            gone = at == x[f] or self.left(self.group[f], x)
            return ZERO if gone else self.power(Fraction(self.group[f]["price"])) / 2
        return self.column(f, at) - self.column(f, x[f])

    def is_input(self, x: list[float]) -> bool:
        inside = all(low <= v <= high for v, (low, high) in zip(x, self.limits or [], strict=True))
        whole = all(x[f] == math.floor(x[f]) for f in self.whole)
        return inside and whole and all(sum(x[f] for f in g["members"]) == 1 for g in self.groups)


class Row:
    """A margin that must not be negative: what leaves count for good and for bad boxes, and what their sums need."""

    def __init__(self, model: dict[str, Any], target: dict[str, Any], rival: int | None) -> None:
        k, p, divisor = target["class"], target["probability"], Fraction(model["divisor"])
        off, doubt, scores = ZERO, Fraction(model["evaluation_error"]), model["rule"] == "ARGMAX"
        if scores and p is not None and model["link"] == "IDENTITY":
            signs, off = {k: 1}, Fraction(p) * divisor
        elif scores:
            signs = {k: 1, 1 - k if rival is None else rival: -1}
        else:
            signs = {0: 1 if k == 1 else -1}
            off = Fraction(model["threshold"]) * divisor * signs[0]
        if p is not None and (not scores or model["link"] != "IDENTITY"):
            demand(model["link"] in ("LOGISTIC", "SOFTMAX"), "a probability of this link")
            odds, v = Fraction(math.log(p / (1 - p))), Fraction(1, 2**23 if model["link_single"] else 2**52)
            off, doubt = odds * divisor, doubt + 8 * v * (1 / (Fraction(p) * (1 - Fraction(p))) + abs(odds))
        ties = p is not None or (k < (rival or 0) if scores else (model["rule"] == "NONNEGATIVE") == (k == 1))
        trees = [leaves_below(model, root) for root in model["roots"]]
        parts = {i: [s * Fraction(model["value"][i][c]) for c, s in signs.items()] for tree in trees for i in tree}
        base = [s * Fraction(model["base"][c]) for c, s in signs.items()]
        size = sum(max(sum(map(abs, parts[i])) for i in tree) for tree in trees) + sum(map(abs, base)) + abs(off)
        u = (len(trees) + 8) * Fraction(1, 2**23 if model["single"] else 2**52)
        error = (math.ceil((u / (1 - u) * size + doubt * divisor) / UNIT) + 1) * UNIT
        self.base, self.good = sum(base) - off, {i: sum(mine) for i, mine in parts.items()}
        self.bad, self.good_from, self.bad_below = self.good, error, -error
        counts = [sum(any(parts[i][c] for i in t) for t in trees) + (b != 0) for c, b in enumerate(base)]
        plain = off == 0 and not model["fused_products"]
        if doubt == 0 and divisor == 1 and (max(counts) <= 1 or (counts == [2] and plain)):
            self.good_from = self.bad_below = ZERO if ties else UNIT
        elif plain and (doubt == 0 or model["ties_last"]):
            q = (1 << (4 * int(error / UNIT)).bit_length()) * UNIT
            on = {i for i, mine in parts.items() if all((v / q).denominator == 1 for v in mine)}
            if all((b / q).denominator == 1 for b in base) and all(any(i in on for i in tree) for tree in trees):
                less = -2 * error if ties else 2 * error
                shifted = {i: v if i in on else v + less for i, v in self.good.items()}
                self.good, self.bad = (shifted, self.good) if ties else (self.good, shifted)
                self.good_from = self.bad_below = -error if ties else error


def leaves_below(model: dict[str, Any], root: int) -> set[int]:
    found, stack = {root}, [root]
    while stack:
        i = stack.pop()
        if model["feature"][i] != -1:
            new = {model["left"][i], model["right"][i]} - found
            found, stack = found | new, [*stack, *new]
    return {i for i in found if model["feature"][i] == -1}


class Checker:
    """One proof about one model file."""

    def __init__(self, proof: bytes, model: bytes) -> None:
        self.proof, self.model = json.loads(proof), json.loads(model)
        same = self.proof["model_sha256"] == hashlib.sha256(model).hexdigest()
        demand(same and self.model["family"] == "trees", "another model file")
        self.model |= self.model["trees"]
        self.asked, target = Question(self.proof["question"]), self.proof["question"]["target"]
        several = self.model["rule"] == "ARGMAX" and target["probability"] is None
        rivals = [j for j in range(len(self.model["classes"])) if j != target["class"]] if several else [None]
        self.rows = [Row(self.model, target, j) for j in rivals]

    def leaves(self, root: int, box: Box, borders: Any = None) -> list[tuple[int, Box]]:
        """The leaves that a box meets, each with its part. A border is the first value right of a split."""
        found, stack = [], [(root, box)]
        while stack:
            i, part = stack.pop()
            f = self.model["feature"][i]
            if f == -1:
                found.append((i, part))
                continue
            border = (borders or self.asked.next)(f, float(self.model["cut"][i]))
            if part[f][0] < border:
                last = part[f][1] if part[f][1] < border else self.asked.next(f, border, -1)
                stack.append((self.model["left"][i], put(part, f, -math.inf, last)))
            if part[f][1] >= border:
                stack.append((self.model["right"][i], put(part, f, border, math.inf)))
        return found

    def total(self, values: dict[int, Fraction], pick: Any, box: Box) -> Fraction:
        return sum((pick(values[i] for i, _ in self.leaves(root, box)) for root in self.model["roots"]), ZERO)

    def split(self, step: list[Any], box: Box) -> list[Box]:
        """The right part, and then the left one."""
        f, value = step[0], float(step[1])
        return [put(box, f, self.asked.next(f, value), math.inf), put(box, f, -math.inf, value)]

    def valid(self) -> bool:
        """Every input of the region has the class."""
        region, asked = self.proof["region"], self.asked
        if region is None:
            return False
        center = [float(v) for v in region["center"]]
        demand(asked.is_input(center) and not asked.too_many(center), "the centre is not admissible")
        room = list(asked.limits or [])
        for f, c in enumerate(map(Fraction, center)):
            if f not in asked.group or not asked.group[f]["free"]:
                last = -asked.first(f, -c - asked.up[f])
                room = put(room, f, asked.first(f, c - asked.down[f]), last)
        ends = list(zip(region["lower"], region["upper"], strict=True))
        demand(asked.tight(room) == asked.tight(ends), "not the room")
        demand(len(self.proof["validity"]) == len(self.rows), "a row is not proven")
        for row, steps in zip(self.rows, self.proof["validity"], strict=True):
            stack: list[Box | None] = [room]
            for step in steps:
                box = asked.tight(stack.pop())
                if step != 0:
                    stack += [None, None] if box is None else self.split(step, box)
                elif box is not None:
                    demand(row.base + self.total(row.good, min, box) >= row.good_from, "not all of the region is good")
            demand(not stack, "a part of the region is left")
        return True

    def closer(self) -> float | None:
        """The bound below which there is no centre; infinity: none exists. None: nothing is said."""
        told, asked = self.proof["optimality"], self.asked
        if isinstance(told, str):
            return None
        self.bound = None if told["bound"] is None else asked.power(Fraction(told["bound"]))
        self.bad, self.points, stack = list[Box](), list[list[float]](), [asked.limits]
        for r, *sides in told["bad"] if asked.limits else ():
            box, row = asked.tight(self._cut(asked.limits or [], sides)), self.rows[r]
            demand(box is not None and row.base + self.total(row.bad, max, box) < row.bad_below, "a bad box is not bad")
            self.bad.append(box or [])
        for changes in told["points"] if asked.limits else ():
            changed = {f: float(value) for f, value in changes}
            self.points.append([changed.get(f, v) for f, v in enumerate(asked.factual)])
            demand(asked.is_input(self.points[-1]), "a point is no input")
        for step in told["tree"]:
            box, sort = asked.tight(stack.pop()), len(step) if isinstance(step, list) else 0
            if sort == 2:
                stack += [None, None] if box is None else self.split(step, box)
            elif sort > 3:
                stack.append(None if box is None else self._narrowed(box, step))
            else:
                demand(box is None or self._closed(box, step, sort), f"a leaf does not hold: {step}")
        demand(not stack, "centres are left")
        return math.inf if told["bound"] is None else float(told["bound"])

    def _cut(self, box: Box, sides: list[Any]) -> Box:
        for f, low, high in sides:
            box = put(box, f, -LARGEST if low is None else low, LARGEST if high is None else high)
        return box

    def _closed(self, box: Box, step: Any, sort: int) -> bool:
        if sort == 0:
            x = self.asked.cheapest(box)
            return self.asked.too_many(x) or (self.bound is not None and self.asked.cost(x) >= self.bound)
        if sort == 1:
            return all(self._meets(f, box[f], self.bad[step[0]]) for f in range(self.asked.n))
        bid = Bid(self, box, *step)
        return bid.hopeless or (self.bound is not None and bid.value is not None and bid.value >= self.bound)

    def _meets(self, f: int, centers: tuple[float, float], bad: Box) -> bool:
        """Does every room meet the bad box in this column?"""
        asked, (low, high) = self.asked, bad[f]
        if f in asked.group:
            return asked.group[f]["free"] or centers[1] <= high  # free: a bad box has a category within the limits
        above = Fraction(low) - Fraction(centers[0]) <= asked.up[f]
        return above and Fraction(centers[1]) - Fraction(high) <= asked.down[f]

    def _narrowed(self, box: Box, step: list[Any]) -> Box:
        bid = Bid(self, box, *step[:3])
        for f, *sides in step[3:]:
            for side, way in zip(sides, (-1, 1), strict=True):
                if side is not None and not bid.hopeless:
                    demand(bid.beyond(f, float(side), way) >= (self.bound or ZERO), "a side is not outbid")
        return self._cut(box, step[3:])


class Bid:
    """Point p against all centres of a box, for one row."""

    def __init__(self, checker: Checker, box: Box, r: int, point: int, multiplier: float | None) -> None:
        self.asked, self.box, self.p = checker.asked, box, checker.points[point]
        row, bound = checker.rows[r], None if self.asked.norm == "linf" else checker.bound
        x = self.x = self.asked.cheapest(box)
        base, need, trees, self.value = self.asked.cost(x), row.bad_below - row.base, list[Any](), None
        for root in checker.model["roots"]:
            mine = []
            for i, part in checker.leaves(root, box, self.border):
                near = {f: c for f in range(len(x)) if (c := self._near(f, part)) != x[f]}
                leave = {f: self.asked.more(f, x, c) for f, c in near.items()}
                if not leave or bound is None or base + sum(leave.values()) < bound:
                    mine.append((row.bad[i], leave, part))
            trees.append(mine)
        self.hopeless = sum(max(value for value, _, _ in mine) for mine in trees) < need
        if self.hopeless or multiplier is None or bound is None:
            return
        self.multiplier = max(Fraction(multiplier), ZERO)
        self.shared: list[list[Any]] = [[] for _ in x]  # functions of a column that add up to G
        self.edges: list[set[float]] = [set() for _ in x]  # where their pieces begin, from the left
        now = sum((self._share(mine) for mine in trees), ZERO)
        self.most = [max(self.worth(f, c) for c in self._places(f)) for f in range(len(x))]
        self.value = base + self.multiplier * (need - now) - sum(self.most)

    def border(self, f: int, cut: float) -> float:
        """The first centre right of a split: where y_f(c) > cut."""
        asked = self.asked
        if math.isinf(cut) or (f in asked.group and asked.group[f]["free"]):
            return math.inf if cut > self.p[f] else -math.inf
        t = math.floor(cut) if f in asked.whole else cut
        if self.p[f] > t:
            return asked.first(f, Fraction(asked.next(f, t)) - asked.up[f])
        edge = Fraction(t) + asked.down[f]
        found = asked.first(f, edge)
        return asked.next(f, found) if Fraction(found) == edge else found

    def _near(self, f: int, part: Box) -> float:
        return min(max(self.x[f], part[f][0]), part[f][1])

    def _share(self, mine: list[Any]) -> Fraction:
        """What a tree adds to the functions G; its value at the cheapest centre."""
        now = next(value for value, leave, _ in mine if not leave)
        needs = [sum(f in leave for _, leave, _ in mine) for f in range(len(self.x))]
        free = needs.index(max(needs)) if max(needs) and len(mine) <= 128 else -1
        steps: dict[int, list[tuple[float, Fraction]]] = {}
        for value, leave, part in mine:
            gain, cost = max(value - now, ZERO), sum(leave.values())
            for f, e in leave.items():
                share = gain * e / cost if cost else gain / len(leave)
                if f != free:
                    steps.setdefault(f, []).append((self._near(f, part), math.ceil(share / UNIT) * UNIT))
            for f in {free, *leave} - {-1}:
                self.edges[f] |= {part[f][0], self.asked.next(f, part[f][1])}
        for f, own in steps.items():
            self.shared[f].append(lambda c, f=f, own=own: self._counted(f, own, c))
        if free >= 0:
            rests = []
            for value, leave, part in mine:
                counted = sum(self._counted(f, steps[f], self._near(f, part)) for f in leave if f != free)
                rests.append((part[free], max(value - now, ZERO) - counted))
            self.shared[free].append(lambda c: max((r for (a, b), r in rests if a <= c <= b), default=ZERO))
        return now

    def _counted(self, f: int, steps: list[tuple[float, Fraction]], c: float) -> Fraction:
        """The largest share from the cheapest centre to c."""
        low, high = min(self.x[f], c), max(self.x[f], c)
        return max((share for at, share in steps if low <= at <= high), default=ZERO)

    def worth(self, f: int, c: float) -> Fraction:
        return self.multiplier * sum((g(c) for g in self.shared[f]), ZERO) - self.asked.more(f, self.x, c)

    def _places(self, f: int) -> list[float]:
        """Of every piece of G_f, the place nearest to the cheapest centre."""
        down = [self.asked.next(f, s, -1) for s in self.edges[f] if s <= self.x[f]]
        up = [s for s in self.edges[f] if s > self.x[f]]
        return [self.x[f], *(c for c in [*down, *up] if self.box[f][0] <= c <= self.box[f][1])]

    def beyond(self, f: int, side: float, way: int) -> Fraction:
        """The least cost of good centres beyond a side."""
        demand(self.value is not None, "sides without a multiplier")
        places = [c for c in [*self._places(f), self.asked.next(f, side, way)] if (c - side) * way > 0]
        worths = [self.worth(f, c) for c in places if self.box[f][0] <= c <= self.box[f][1]]
        return self.value + self.most[f] - max(worths) if worths else Fraction(LARGEST) ** 2
