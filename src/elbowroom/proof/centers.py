"""Boxes on trees: the proof that no closer centre exists, written by searching once more with a fixed bound.

The search's own kernel works on one node at a time: it finds a bad region that the room at the node's nearest centre meets, and
a bad cell that the node cannot leave within the bound. What it says is a hint. A leaf is written only if the checker's own
functions confirm it; where they do not, the node is split along the bad region, which always makes it smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from elbowroom.numerics import Ints
from elbowroom.problem import Distance, RecourseProblem
from elbowroom.proof.positions import Positions
from elbowroom.proof.validity import NotWritten
from elbowroom.search.contract import Clock
from elbowroom.search.trees.boxes.calls import BoxKernels
from elbowroom.search.trees.heap import Nodes, push
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.layout import lay_out
from elbowroom.search.trees.stop import STOP
from elbowroom_checker.centers import Outbid, Prices, gains, meets, pieces, worth
from elbowroom_checker.costs import bound_cost, least_cost
from elbowroom_checker.model import Trees
from elbowroom_checker.question import Box, Question
from elbowroom_checker.reading import BITS, Budget, Refused, units
from elbowroom_checker.rows import Row
from elbowroom_checker.trees import is_bad

ABOVE: Final = (
    4e-11  # relative: the kernels search this far beyond the bound, more than their rounding, less than their gap
)
ROUNDS: Final = 60  # of the bisection for a multiplier


def centers_document(
    problem: RecourseProblem,
    memory: TreeMemory,
    trees: Trees,
    question: Question,
    rows: list[Row],
    bound: float,
    clock: Clock,
) -> dict[str, Any]:
    """The proof that every admissible centre closer than ``bound`` (inf: every one) has a bad point in its room."""
    if not memory.ready(clock):
        raise NotWritten("the time limit was reached before the model was divided into cells")
    layout = lay_out(problem, memory.dimensions)
    if isinstance(layout, str):  # no centre at all: the limits contradict each other
        return {"bound": None, "bad": [], "points": [], "tree": [0]}
    kernels = BoxKernels(problem, clock, 0, memory, layout)
    writer = _Writer(kernels, Positions(layout, question), trees, question, rows, bound, clock)
    total = bound * bound if problem.distance is Distance.L2 else bound
    writer.write(total * (1.0 + ABOVE))
    return {"bound": None if math.isinf(bound) else bound, **writer.document}


@dataclass
class _Chain:
    """A node with the rest of the ways out of a bad region: (dimension, upwards, position), cheapest first."""

    low: Ints
    high: Ints
    bad: int
    ways: list[tuple[int, bool, int]]


@dataclass
class _Writer:
    kernels: BoxKernels
    positions: Positions
    trees: Trees
    question: Question
    rows: list[Row]
    bound: float
    clock: Clock
    steps: list[Any] = field(default_factory=list)
    bad: list[Any] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._known: dict[bytes, int] = {}
        self._borders: dict[tuple[int, bool], int] = {}
        self._adversaries: dict[tuple[int, tuple[float, ...]], tuple[int, Outbid]] = {}
        self._limit = None if math.isinf(self.bound) else bound_cost(self.question, self.bound)
        self._outbids = not any(
            each for each in self.trees.sets
        )  # splits by category of groups that move: bad boxes alone

    @property
    def document(self) -> dict[str, Any]:
        row = self.question.factual
        points = [[[f, x] for f, x in enumerate(point) if x != row[f]] for _, point in self._adversaries]
        return {"bad": self.bad, "points": points, "tree": self.steps}

    def write(self, budget: float) -> None:
        kernels = self.kernels
        stack: list[_Chain | tuple[Ints, Ints]] = [(kernels.root_low.copy(), kernels.root_high.copy())]
        while stack:
            if self.clock.expired:
                raise NotWritten("the time limit was reached before the proof about closer centres was written")
            task = stack.pop()
            if isinstance(task, _Chain):
                self._follow(task, stack)
                continue
            rest = self._close(*task, budget)
            if rest is not None:
                stack.append(rest)

    def _close(self, low: Ints, high: Ints, budget: float) -> _Chain | tuple[Ints, Ints] | None:
        """Write the leaf that a node is; or what is left of it, or the way to split it."""
        box = self.positions.centers(low, high)
        if not self.question.narrow(box):
            self.steps.append(0)
            return None
        cost = least_cost(self.question, box)
        if cost is None or (self._limit is not None and cost >= self._limit):
            self.steps.append(0)
            return None
        row = self._look(low, high, budget)
        leaf = self._met(box, row)
        if leaf is not None:
            self.steps.append(leaf)
            return None
        found = self._auction(box, row)
        if found is not None:
            step, auction = found
            if auction.settled:
                self.steps.append([*step, auction.multiplier])
                return None
            low, high = low.copy(), high.copy()
            sides = self._narrowed(auction, low, high)
            if sides:
                self.steps.append([*step, auction.multiplier, *sides])
                return low, high
        row = self._dividing(row, low, high)
        return _Chain(low, high, self._bad(row), self._ways(row, low, high))

    def _dividing(self, row: int, low: Ints, high: Ints) -> int:
        """A bad region, this one if possible, that some centres of the node do not leave by any one way: splitting along it
        leaves nothing of the size of the node."""
        regions, count = self.kernels.regions, int(self.kernels.regions.count[0])
        stuck = np.all((regions.below[:count] < high) & (regions.above[:count] > low), axis=1)
        if row < count and stuck[row]:
            return row
        if not stuck.any():
            raise NotWritten("no bad region divides a range of centres")
        return int(np.argmax(np.where(stuck, regions.uses[:count], -1)))

    def _look(self, low: Ints, high: Ints, budget: float) -> int:
        """A bad region that the node's nearest centre meets; a bad cell is left in the kernel's workspace."""
        kernels = self.kernels
        while True:
            nodes = Nodes.of(4 * low.size + 64, low.size, kernels.kind)
            push(nodes, low.astype(np.int32), high.astype(np.int32), kernels.question.constant, 0)
            stop = kernels.expand(nodes, budget, 1)
            if stop == STOP.STUCK:
                kernels.look_longer()
            elif stop == STOP.CANDIDATE:
                raise NotWritten("a centre below the bound could not be refuted")
            elif stop == STOP.ENDED or self.clock.expired:
                raise NotWritten("the time limit was reached before the proof about closer centres was written")
            else:
                return int(kernels.workspace.found[0])

    # ---- bad boxes ----------------------------------------------------------------------------------------------------
    def _bad(self, row: int) -> int:
        """The number of a bad region in the file."""
        regions = self.kernels.regions
        low, high = regions.low[row], regions.high[row]
        key = low.tobytes() + high.tobytes()
        if key not in self._known:
            sides = self.positions.sides(low, high)
            box = Box(self.question.lower.copy(), self.question.upper.copy())
            for f, first, final in sides:
                box.low[int(f or 0)] = max(box.low[int(f or 0)], box.low[int(f or 0)] if first is None else first)
                box.high[int(f or 0)] = min(box.high[int(f or 0)], box.high[int(f or 0)] if final is None else final)
            if not self.question.narrow(box):
                raise NotWritten("a bad region of the search is empty")
            order = sorted(range(len(self.rows)), key=lambda r: r != regions.rival[row])
            rival = next((r for r in order if is_bad(self.trees, self.question, self.rows[r], box)), None)
            if rival is None:
                raise NotWritten("the checker's arithmetic does not confirm a bad region of the search")
            self._known[key] = len(self.bad)
            self.bad.append([rival, *sides])
            self.boxes.append(box)
        return self._known[key]

    def _met(self, box: Box, row: int) -> list[int] | None:
        """The leaf of a node whose rooms all meet the bad region."""
        number = self._bad(row)
        return [number] if meets(self.question, box, self.boxes[number]) else None

    def _ways(self, row: int, low: Ints, high: Ints) -> list[tuple[int, bool, int]]:
        """How rooms of the node's centres leave a bad region, cheapest first."""
        regions, asked = self.kernels.regions, self.kernels.question
        found = []
        for d in range(low.size):
            below, above = int(regions.below[row, d]), int(regions.above[row, d])
            if below >= low[d]:
                found.append((float(asked.cost[asked.pos_start[d] + below]), d, False, below))
            if above <= high[d]:
                found.append((float(asked.cost[asked.pos_start[d] + above]), d, True, above))
        return [way[1:] for way in sorted(found)]

    def _follow(self, chain: _Chain, stack: list[_Chain | tuple[Ints, Ints]]) -> None:
        """Split off the centres that take the next way out; those that take none meet the region."""
        while chain.ways:
            d, upwards, p = chain.ways.pop(0)
            if not chain.low[d] <= p <= chain.high[d]:
                continue  # an earlier way has taken it along, or nothing is left of this column
            at = p - 1 if upwards else p
            if not chain.low[d] <= at < chain.high[d]:  # all centres that are left go this way
                stack.append((chain.low, chain.high))
                return
            self.steps.append([int(self.positions.layout.dimensions.columns[d]), self.positions.last_of(d, at)])
            left, right = (chain.low, chain.high.copy()), (chain.low.copy(), chain.high)
            left[1][d], right[0][d] = at, at + 1
            if upwards:
                stack += (right, _Chain(*left, chain.bad, chain.ways))
            else:
                stack += (_Chain(*right, chain.bad, chain.ways), left)
            return
        box = self.positions.centers(chain.low, chain.high)
        if not self.question.narrow(box):
            self.steps.append(0)
        elif meets(self.question, box, self.boxes[chain.bad]):
            self.steps.append([chain.bad])
        else:
            raise NotWritten("a room does not meet the bad region that it should meet")

    # ---- multipliers --------------------------------------------------------------------------------------------------
    def _auction(self, box: Box, row: int) -> tuple[list[Any], Auction] | None:
        """The adversary that stays in the kernel's cell, as the checker sees it."""
        workspace, rival = self.kernels.workspace, int(self.kernels.regions.rival[row])
        if rival < 0 or not self._outbids:
            return None
        point = self.positions.point(workspace.cell, workspace.x)
        key = rival, tuple(point)
        try:
            if key not in self._adversaries:
                about = self.trees, self.question, self.rows[rival], point, Budget(self.clock.remaining)
                made = Outbid(*about, self._borders)
                self._adversaries[key] = len(self._adversaries), made
            number, adversary = self._adversaries[key]
            return [rival, number], Auction(adversary, box, self._limit)
        except Refused:
            return None

    def _narrowed(self, auction: Auction, low: Ints, high: Ints) -> list[list[float | int]]:
        """Cut positions off a node, in place, that no good centre below the bound has; the sides that say so."""
        sides: list[list[float | int]] = []
        for d, f in enumerate(self.positions.layout.dimensions.columns.tolist()):
            if low[d] == high[d]:
                continue
            first, end = auction.kept(f)
            before = int(low[d]), int(high[d])
            while low[d] < high[d] and 2 * units(self.positions.last_of(d, int(low[d]))) < first:
                low[d] += 1
            while low[d] < high[d] and 2 * units(self.positions.last_of(d, int(high[d]) - 1)) + 1 >= end:
                high[d] -= 1
            if before != (low[d], high[d]):
                box = self.positions.centers(low, high)
                if box.low[f] > auction.box.low[f] or box.high[f] < auction.box.high[f]:  # groups may say so already
                    sides.append([f, box.low[f], box.high[f]])
        return sides


@dataclass
class Auction:
    """What the checker computes for an adversary and a box of centres, and the best multiplier for it."""

    adversary: Outbid
    box: Box
    limit: int | None

    def __post_init__(self) -> None:
        question = self.adversary.question
        self.prices = Prices(question, self.box)
        additive = question.norm != "linf"
        self.events, self.present, most = gains(self.adversary, self.prices, self.limit if additive else None)
        self.settled = most < self.adversary.row.least  # without a multiplier
        self.multiplier: float | None = None
        if not self.settled and self.limit is not None and additive:
            self.multiplier = self._best()
        if self.multiplier is not None:
            about = self.adversary, self.prices, self.events, self.present, self.multiplier
            self.price, self.value, self.rewards = worth(*about)
            self.settled = self.value >= (self.limit or 0)

    def _best(self) -> float | None:
        """The bound is concave in the multiplier; its slope is the deficit less what the best pieces gain."""
        unit = 1 << (BITS * (4 if self.adversary.question.norm == "l2" else 2))
        deficit = (self.adversary.row.least - self.present) / (1 << BITS)
        columns = []
        for f, rises in self.events.items():
            found = pieces(self.prices, f, rises, self.prices.ends[f])
            columns.append((np.array([g / (1 << BITS) for g, _ in found]), np.array([c / unit for _, c in found])))
        low, high = 0.0, math.inf
        for _ in range(ROUNDS):
            middle = (low + high) / 2 if math.isfinite(high) else (2.0 * low or 1.0)
            slope = deficit - sum(float(gain[np.argmax(middle * gain - cost)]) for gain, cost in columns)
            low, high = (middle, high) if slope > 0 else (low, middle)
        return high if math.isfinite(high) and high > 0.0 else None

    def kept(self, f: int) -> tuple[int, int]:
        """The borders outside which no centre of column f is good below the limit."""
        first, end = self.prices.ends[f]
        if self.multiplier is None or self.limit is None or f not in self.events:
            return first, end
        needed = self.value + self.rewards[f] - self.limit
        borders = [first, *sorted(b for b in self.events[f] if first < b < end), end]
        found = pieces(self.prices, f, self.events[f], (first, end))
        open_still = [i for i, (gain, cost) in enumerate(found) if needed - self.price * gain + cost < 0]
        return (borders[open_still[0]], borders[open_still[-1] + 1]) if open_still else (first, end)
