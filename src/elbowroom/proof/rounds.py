"""Balls and diamonds on trees: the proof that no closer centre exists, by splits of boxes of centres.

A box of centres is closed if all of them cost at least the bound, or if the room of every one meets one bad box. Otherwise it is
split: along a bad box that the room of its nearest centre meets, in the column that keeps most of the others from meeting it.
Bad boxes are those that the search has learned; where none is met, the judge names a bad point, and its cell is grown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from elbowroom.certify.judge import certify_answer
from elbowroom.models import TreeEnsemble
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import RecourseProblem
from elbowroom.proof.validity import NotWritten
from elbowroom.result.certificate import Counterexample
from elbowroom.search.contract import Clock
from elbowroom_checker.exact import up
from elbowroom_checker.question import Box
from elbowroom_checker.trees import Row, Walker, meets

MOST_STEPS: Final = 40_000
PATIENCE: Final = 4_000  # steps; from here on the second half of them has to close something (see `write`)
STANDSTILL: Final = 1e-6  # of everything
MANY: Final = 100.0  # widths of a room: gaps beyond count as that many
INSIDE: Final = 1.0 - 1e-12  # a split closes one side by this much of the room, so that rounding does not open it


def round_centers_document(
    problem: RecourseProblem, walker: Walker, rows: list[Row], known: list[Box], bound: float, clock: Clock
) -> dict[str, Any]:
    """The proof that every admissible centre closer than ``bound`` has a bad point in its ball or diamond; ``known`` are boxes
    of inputs that the search took for bad."""
    writer = _Writer(problem, walker, rows, bound, clock)
    for box in known:
        writer.learn(box)
    writer.write()
    return {"bound": None if math.isinf(bound) else bound, "bad": writer.used(), "points": [], "tree": writer.steps}


@dataclass
class _Writer:
    problem: RecourseProblem
    walker: Walker
    rows: list[Row]
    bound: float
    clock: Clock
    steps: list[Any] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.question = self.walker.question
        n = len(self.question.factual)
        self._row_of: list[int] = []
        self._low, self._high = np.zeros((0, n)), np.zeros((0, n))
        self._limit = None if math.isinf(self.bound) else self.question.price(self.bound)
        self._width, self._power = np.array(self.question.up), 2 if self.question.shape == "ball" else 1
        self._single = np.array(self.question.group_of) < 0
        self._numbers: dict[int, int] = {}  # of the boxes that are used, in the file

    def used(self) -> list[Any]:
        """The bad boxes of the file."""
        found, limits = [], self.question.limits
        for i in self._numbers:
            box, sides = self.boxes[i], list[Any]()
            for f, (a, b, low, high) in enumerate(zip(box.low, box.high, limits.low, limits.high, strict=True)):
                if a > low or b < high:
                    sides.append([f, a if a > low else None, b if b < high else None])
            found.append([self._row_of[i], *sides])
        return found

    # ---- bad boxes ----------------------------------------------------------------------------------------------------
    def learn(self, box: Box) -> bool:
        """Keep a box if the checker confirms that it is bad."""
        if not self.question.narrow(box):
            return False
        row = next((r for r, each in enumerate(self.rows) if self.walker.is_bad(each, box)), None)
        if row is None:
            return False
        self.boxes.append(box)
        self._row_of.append(row)
        self._low, self._high = np.vstack([self._low, box.low]), np.vstack([self._high, box.high])
        return True

    def _learn_at(self, center: list[float]) -> None:
        """A bad box that the room of a centre meets: the judge's point, grown."""
        body = self.problem.body(np.array(center))
        verdict = certify_answer(self.problem, body, max(self.clock.remaining, 0.05), math.inf)
        if not isinstance(verdict, Counterexample):
            raise NotWritten("a centre below the bound could not be refuted")
        point = np.asarray(verdict.point, dtype=float).tolist()
        if not self.learn(self._grown(point)):
            raise NotWritten("the checker's arithmetic does not confirm a bad point of the judge")

    def _grown(self, point: list[float]) -> Box:
        """A bad box around a point: side by side as far as the trees allow, all of it first."""
        box = Box(point.copy(), point.copy())
        row = next((each for each in self.rows if self.walker.is_bad(each, box)), None)
        if row is None:
            return box
        model = self.problem.model
        assert isinstance(model, TreeEnsemble)
        for f in range(len(point)):
            cuts = model.cuts[f]
            for upwards in (False, True):
                ends = self._ends(f, point[f], cuts, upwards)
                first, last = 0, len(ends) - 1
                while first < last:  # the last end that is still bad; the first one is, by itself
                    middle = last if first == 0 and last == len(ends) - 1 else (first + last + 1) // 2
                    trial = box.copy()
                    (trial.high if upwards else trial.low)[f] = ends[middle]
                    if self.walker.is_bad(row, trial):
                        first = middle
                    else:
                        last = middle - 1
                (box.high if upwards else box.low)[f] = ends[first]
        return box

    def _ends(self, f: int, at: float, cuts: Floats, upwards: bool) -> list[float]:
        """Where a box around a value may end in one column, from the inside out."""
        limits, whole = self.question.limits, self.question.whole[f]
        if not self._single[f]:
            return [at]
        if upwards:
            return [at, *(float(c) for c in cuts if c > at and c < limits.high[f]), limits.high[f]]
        below = [up(float(c), whole) for c in cuts[::-1] if limits.low[f] <= c < at]
        return [at, *below, limits.low[f]]

    # ---- the tree -----------------------------------------------------------------------------------------------------
    def write(self) -> None:
        """Every split halves the share of a box in everything. Where boxes would have to line a curved surface, they become
        smaller and smaller and close next to nothing: then it ends early."""
        stack, closed, marks = [(self.question.limits.copy(), 1.0)], 0.0, {0: 0.0}
        while stack:
            count = len(self.steps)
            marks[count] = closed
            stands = count >= PATIENCE and closed - marks[count // 2] < STANDSTILL
            if self.clock.expired or count > MOST_STEPS or stands:
                raise NotWritten("the proof about closer centres of a ball or diamond takes too many splits")
            whole_box, share = stack.pop()
            box = whole_box.copy()
            step: Any = 0
            if self.question.narrow(box) and not self.question.is_closed(box, self._limit):
                step = self._step(box)
            self.steps.append(step)
            if step == 0 or len(step) == 1:
                closed += share
            else:
                stack += [(half, share / 2) for half in reversed(self.question.halves(whole_box, *step))]

    def _step(self, box: Box) -> list[Any]:
        """A bad box that the rooms of all centres meet, or where to split."""
        x = self._inside(box)
        for _ in range(2):
            shares = self._shares(np.array(box.low), np.array(box.high))
            totals = shares.sum(axis=1)
            best = int(np.argmin(totals)) if totals.size else -1
            if best >= 0 and totals[best] <= 1.0 and meets(self.question, box, self.boxes[best]):
                return [self._numbers.setdefault(best, len(self._numbers))]
            hit = np.flatnonzero(self._shares(np.array(x), np.array(x)).sum(axis=1) < INSIDE)
            hit = np.array([i for i in hit if self._has_categories(x, int(i))], dtype=np.int64)
            if hit.size:
                return self._split(box, x, shares, int(hit[np.argmin(totals[hit])]))
            self._learn_at(x)
        raise NotWritten("a room that only touches a bad box cannot be divided")

    def _inside(self, box: Box) -> list[float]:
        """A centre of the box that costs less than the bound, near its cheapest one, and not on its border if possible."""
        nearest = self.question.nearest(box)
        x, low, high = np.array(nearest), np.array(box.low), np.array(box.high)
        middle = (np.maximum(low, x - self._width) + np.minimum(high, x + self._width)) / 2
        for share in (1e-2, 1e-4, 1e-6):
            near = np.where(np.array(self.question.whole), x, np.clip(x + share * (middle - x), low, high)).tolist()
            if not self.question.is_closed(Box(near, near), self._limit):
                return [float(value) for value in near]
        return nearest

    def _has_categories(self, x: list[float], i: int) -> bool:
        return not self.question.groups or meets(self.question, Box(x, x), self.boxes[i])

    def _shares(self, low: Floats, high: Floats) -> Floats:
        """What the gaps between the outermost centres and every bad box take of the room, column by column."""
        gaps = np.maximum(np.maximum(self._low - low, high - self._high), 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = np.where(gaps > 0.0, gaps / self._width, 0.0)
            return np.where(self._single, np.minimum(ratio, MANY) ** self._power, 0.0)

    def _split(self, box: Box, x: list[float], shares: Floats, i: int) -> list[Any]:
        """Where a box is split along bad box i, which the room at x meets."""
        at = self._shares(np.array(x), np.array(x))[i]
        rest = shares[i].sum() - shares[i]
        gain = np.where(rest < INSIDE, np.minimum(shares[i] - at, 1e3) + 1e6 * (shares[i] > at), shares[i] - at)
        order: Ints = np.argsort(-gain)
        for f in order.tolist():
            if gain[f] <= 0.0:
                break
            left = INSIDE - rest[f] if rest[f] < INSIDE else (at[f] + min(shares[i][f], 4.0)) / 2
            gap = self._width[f] * left ** (1.0 / self._power)
            value = (
                self._low[i, f] - gap
                if self._low[i, f] - box.low[f] > box.high[f] - self._high[i, f]
                else self._high[i, f] + gap
            )
            if self.question.whole[f]:
                value = math.floor(value)
            value = float(value)
            if box.low[f] <= value < box.high[f]:
                return [f, value]
        for group in self.question.groups:
            for f in group.members:
                if box.low[f] < box.high[f]:
                    return [f, 0.0]
        raise NotWritten("a box of centres cannot be divided any further")
