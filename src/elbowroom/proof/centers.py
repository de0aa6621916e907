"""Boxes on trees: the proof that no closer centre exists, written from what the search has written down.

The search logs what it does to its nodes: bounds that it asked for, with their cells and multipliers, and the regions that
divided them. Every step is tried on the checker's own functions before it is written. Where there is no log, or the checker does
not confirm it (the search's own sums are rounded, and its best centre was another one at that time), the node is looked at once
more by the search's kernel, which names a bad region that the room at the nearest centre meets, and a bad cell: hints, too. A
node that nothing closes is split along the bad region, which always makes it smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from elbowroom.numerics import Ints
from elbowroom.problem import Distance, RecourseProblem
from elbowroom.proof.offer import Offer
from elbowroom.proof.positions import Positions
from elbowroom.proof.search_log import AskedBound, Division, Record, records_by_node
from elbowroom.proof.validity import NotWritten
from elbowroom.search.contract import Clock
from elbowroom.search.trees.boxes.calls import BoxKernels
from elbowroom.search.trees.heap import Nodes, push
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.layout import lay_out
from elbowroom.search.trees.stop import STOP
from elbowroom_checker.exact import up
from elbowroom_checker.question import Box
from elbowroom_checker.trees import Auction, Row, Walker, meets

ABOVE: Final = (
    4e-11  # relative: the kernels search this far beyond the bound, more than their rounding, less than their gap
)
NO_NODE: Final = -1  # of the log


def fresh_kernels(problem: RecourseProblem, memory: TreeMemory, clock: Clock) -> BoxKernels | None:
    """The kernels of a search that has left no log; None: there is no centre at all, the limits contradict each other."""
    if not memory.ready(clock):
        raise NotWritten("the time limit was reached before the model was divided into cells")
    layout = lay_out(problem, memory.dimensions)
    return None if isinstance(layout, str) else BoxKernels(problem, clock, 0, memory, layout)


def centers_document(
    problem: RecourseProblem, kernels: BoxKernels, walker: Walker, rows: list[Row], bound: float, clock: Clock
) -> dict[str, Any]:
    """The proof that every admissible centre closer than ``bound`` (inf: every one) has a bad point in its room."""
    writer = _Writer(kernels, Positions(kernels.layout, walker.question), walker, rows, bound, clock)
    total = bound * bound if problem.distance is Distance.L2 else bound
    kernels.model.ended[0] = 0
    writer.write(total * (1.0 + ABOVE))
    return {"bound": None if math.isinf(bound) else bound, **writer.document}


@dataclass
class _Open:
    """A node of the log, or one that it does not know: ranges of positions, and what of its records is left."""

    low: Ints
    high: Ints
    records: list[Record]


@dataclass
class _Chain:
    """A node with the rest of the ways out of a bad region: (dimension, upwards, position), cheapest first."""

    low: Ints
    high: Ints
    bad: int
    ways: list[tuple[int, bool, int]]
    children: dict[tuple[int, bool, int], int]


@dataclass
class _Writer:
    kernels: BoxKernels
    positions: Positions
    walker: Walker
    rows: list[Row]
    bound: float
    clock: Clock
    steps: list[Any] = field(default_factory=list)
    bad: list[Any] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    looks: int = 0  # nodes that the log did not settle

    def __post_init__(self) -> None:
        self.question = self.walker.question
        self._records = records_by_node(self.kernels.log)
        self._known: dict[bytes, int] = {}
        self._points: dict[tuple[float, ...], int] = {}
        self._limit = None if math.isinf(self.bound) else self.question.price(self.bound)

    @property
    def document(self) -> dict[str, Any]:
        row = self.question.factual
        points = [[[f, x] for f, x in enumerate(point) if x != row[f]] for point in self._points]
        return {"bad": self.bad, "points": points, "tree": self.steps}

    def write(self, budget: float) -> None:
        kernels = self.kernels
        root = _Open(kernels.root_low.copy(), kernels.root_high.copy(), self._records.get(0, []))
        stack: list[_Chain | _Open] = [root]
        while stack:
            if self.clock.expired:
                raise NotWritten("the time limit was reached before the proof about closer centres was written")
            task = stack.pop()
            if isinstance(task, _Chain):
                self._follow(task, stack)
                continue
            rest = self._close(task, budget)
            if rest is not None:
                stack.append(rest)

    def _close(self, node: _Open, budget: float) -> _Chain | _Open | None:
        """Write the leaf that a node is; or what is left of it, or the way to split it."""
        box = self.positions.centers(node.low, node.high)
        if not self.question.narrow(box) or self.is_closed(box):
            self.steps.append(0)
            return None
        for i, record in enumerate(node.records):
            if isinstance(record, Division):
                return self._divided(
                    node, box, self._bad(record.rival, record.low, record.high), record.children, record
                )
            if math.isfinite(record.value) and record.value < budget * (1.0 - 1e-6) and not len(record.left):
                continue  # it did nothing
            rest = self._as_logged(node, box, record)
            if rest is None:
                return None
            if rest is not node:
                rest.records = node.records[i + 1 :]
                return rest
        return self._looked_at(node, box, budget)

    def _divided(
        self, node: _Open, box: Box, bad: int, children: dict[tuple[int, bool, int], int], by: Division
    ) -> _Chain | None:
        if meets(self.question, box, self.boxes[bad]):
            self.steps.append([bad])
            return None
        ways = [*children, *(way for way in self._ways(by.low, by.high, node.low, node.high) if way not in children)]
        return _Chain(node.low, node.high, bad, ways, children)

    # ---- the log ------------------------------------------------------------------------------------------------------
    def _as_logged(self, node: _Open, box: Box, record: AskedBound) -> _Open | None:
        """None: the node is closed; otherwise what is left of it, which may be all."""
        step = self._step(record.rival, record.cell, record.x, box)
        if step is None:
            return node
        number, auction = step
        multiplier = None if auction.most < auction.row.least else record.multiplier
        if self.wins(auction, multiplier):
            self.steps.append([*number, multiplier])
            return None
        if math.isinf(record.value):  # closed by the search's own sums, or at another multiplier
            offer = Offer(auction)
            if self.settles(offer):
                self.steps.append([*number, offer.multiplier])
                return None
        low, high = node.low.copy(), node.high.copy()
        for d, first, last in record.left.tolist():
            low[d], high[d] = max(low[d], first), min(high[d], last)
        if (low > high).any():
            return node
        sides = self._sides(box, node, low, high)
        if sides and auction.wins(multiplier, [(int(f), a, b) for f, a, b in sides]):
            self.steps.append([*number, multiplier, *sides])
            return _Open(low, high, [])
        return node

    def _sides(self, box: Box, node: _Open, low: Ints, high: Ints) -> list[list[float | int]]:
        """The sides by which a node became smaller; groups may have said so already."""
        small, sides = self.positions.centers(low, high), list[list[float | int]]()
        for d in np.flatnonzero((low != node.low) | (high != node.high)).tolist():
            f = int(self.positions.layout.dimensions.columns[d])
            if small.low[f] > box.low[f] or small.high[f] < box.high[f]:
                sides.append([f, small.low[f], small.high[f]])
        return sides

    # ---- another look -------------------------------------------------------------------------------------------------
    def _looked_at(self, node: _Open, box: Box, budget: float) -> _Chain | _Open | None:
        """The same for a node that the log does not settle."""
        self.looks += 1
        low, high, regions, workspace = node.low, node.high, self.kernels.regions, self.kernels.workspace
        row = self._look(low, high, budget)
        rival = int(regions.rival[row])
        bad = self._bad(rival, regions.low[row], regions.high[row])
        if meets(self.question, box, self.boxes[bad]):
            self.steps.append([bad])
            return None
        step = self._step(rival, workspace.cell, workspace.x, box)
        if step is not None:
            offer = Offer(step[1])
            if self.settles(offer):
                self.steps.append([*step[0], offer.multiplier])
                return None
            low, high = low.copy(), high.copy()
            self._narrow(offer, low, high)
            sides = self._sides(box, node, low, high)
            if sides:
                self.steps.append([*step[0], offer.multiplier, *sides])
                return _Open(low, high, [])
        row = self._dividing(row, low, high)
        by = Division(
            int(regions.rival[row]), regions.low[row].astype(np.int64), regions.high[row].astype(np.int64), {}
        )
        return self._divided(_Open(low, high, []), box, self._bad(by.rival, by.low, by.high), {}, by)

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
            stop = kernels.expand(nodes, budget, 1, main=False)
            if stop == STOP.STUCK:
                kernels.look_longer()
            elif stop == STOP.CANDIDATE:
                raise NotWritten("a centre below the bound could not be refuted")
            elif stop == STOP.ENDED or self.clock.expired:
                raise NotWritten("the time limit was reached before the proof about closer centres was written")
            else:
                return int(kernels.workspace.found[0])

    def _narrow(self, offer: Offer, low: Ints, high: Ints) -> None:
        """Cut positions off a node, in place, that no good centre below the bound has."""
        for d, f in enumerate(self.positions.layout.dimensions.columns.tolist()):
            if low[d] == high[d]:
                continue
            first, end = offer.kept(f)
            while low[d] < high[d] and self.positions.last_of(d, int(low[d])) < first:
                low[d] += 1
            while low[d] < high[d] and up(self.positions.last_of(d, int(high[d]) - 1), self.question.whole[f]) >= end:
                high[d] -= 1

    # ---- what the checker says -----------------------------------------------------------------------------------------
    def is_closed(self, box: Box) -> bool:
        return self.question.is_closed(box, self._limit)

    def is_bad(self, row: int, box: Box) -> bool:
        return self.walker.is_bad(self.rows[row], box)

    def settles(self, offer: Offer) -> bool:
        return offer.settled

    def wins(self, auction: Auction, multiplier: float | None) -> bool:
        return auction.wins(multiplier)

    def _step(self, rival: int, cell: Ints, x: Ints, box: Box) -> tuple[list[Any], Auction] | None:
        """The adversary that stays in a cell, as the checker sees it: row and number of its point, and what it can do."""
        point = self.positions.point(cell, x)
        if rival < 0 or not self.question.is_input(point):
            return None
        number = self._points.setdefault(tuple(point), len(self._points))
        return [rival, number], Auction(self.walker, self.rows[rival], point, box, self._limit)

    # ---- bad boxes ----------------------------------------------------------------------------------------------------
    def _bad(self, rival: int, low: Ints, high: Ints) -> int:
        """The number of a bad region in the file."""
        key = low.astype(np.int64).tobytes() + high.astype(np.int64).tobytes()
        if key not in self._known:
            sides, box = self.positions.sides(low, high), self.question.limits.copy()
            for f, first, final in sides:
                box.cut(int(f or 0), -math.inf if first is None else first, math.inf if final is None else final)
            if not self.question.narrow(box):
                raise NotWritten("a bad region of the search is empty")
            order = sorted(range(len(self.rows)), key=lambda r: r != rival)
            row = next((r for r in order if self.is_bad(r, box)), None)
            if row is None:
                raise NotWritten("the checker's arithmetic does not confirm a bad region of the search")
            self._known[key] = len(self.bad)
            self.bad.append([row, *sides])
            self.boxes.append(box)
        return self._known[key]

    def _ways(self, first: Ints, final: Ints, low: Ints, high: Ints) -> list[tuple[int, bool, int]]:
        """How rooms of the node's centres leave a bad region (of these cells), cheapest first."""
        asked, found = self.kernels.question, []
        for d in range(low.size):
            o = int(asked.edge_start[d]) + 1
            below, above = int(asked.last_high[o + first[d] - 1]), int(asked.first_low[o + final[d] + 1])
            if below >= low[d]:
                found.append((float(asked.cost[asked.pos_start[d] + below]), d, False, below))
            if above <= high[d]:
                found.append((float(asked.cost[asked.pos_start[d] + above]), d, True, above))
        return [way[1:] for way in sorted(found)]

    def _follow(self, chain: _Chain, stack: list[_Chain | _Open]) -> None:
        """Split off the centres that take the next way out; those that take none meet the region."""
        while chain.ways:
            way = chain.ways.pop(0)
            d, upwards, p = way
            records = self._records.get(chain.children.get(way, NO_NODE), [])
            if not chain.low[d] <= p <= chain.high[d]:
                continue  # an earlier way has taken it along, or nothing is left of this column
            at = p - 1 if upwards else p
            if not chain.low[d] <= at < chain.high[d]:  # all centres that are left go this way
                stack.append(_Open(chain.low, chain.high, records))
                return
            self.steps.append([int(self.positions.layout.dimensions.columns[d]), self.positions.last_of(d, at)])
            left, right = (chain.low, chain.high.copy()), (chain.low.copy(), chain.high)
            left[1][d], right[0][d] = at, at + 1
            if upwards:
                stack += (_Open(*right, records), _Chain(*left, chain.bad, chain.ways, chain.children))
            else:
                stack += (_Chain(*right, chain.bad, chain.ways, chain.children), _Open(*left, records))
            return
        box = self.positions.centers(chain.low, chain.high)
        if not self.question.narrow(box):
            self.steps.append(0)
        elif meets(self.question, box, self.boxes[chain.bad]):
            self.steps.append([chain.bad])
        else:
            raise NotWritten("a room does not meet the bad region that it should meet")
