"""Exact search for networks with one hidden layer: one best-first tree in which scenarios are cuts.

A node covers a part of the moves and a set of facts (signs of neurons in scenarios). Its program collects linear
consequences of margins in the most violated scenarios until it is beyond the cutoff, a scenario is violated although
its relaxation is not (branch where the relaxation loses most), or no scenario is violated and the attack finds nothing
(a candidate).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from elbowroom.numerics import TOLERANCES, Floats
from elbowroom.search.network.candidates import Hunt
from elbowroom.search.network.convex_concave import improve
from elbowroom.search.network.region import Part
from elbowroom.search.network.shallow_bounds import Fact, Row, ShallowBounds

VIOLATED = -1e-7  # margins are scaled to about 1; the safety margin of incumbents has the same size
MOST_CUTS = 200


class End(Enum):
    """How a tree ended."""

    PROVEN = "every part is closed"
    STOPPED = "time is up"


@dataclass(frozen=True, eq=False)
class Node:
    part: Part
    facts: tuple[Fact, ...]
    G: Floats
    h: Floats


class ShallowTree:
    """The tree for one cutoff: every centre closer than the cutoff is covered by an open node or excluded."""

    def __init__(self, hunt: Hunt) -> None:
        self.hunt = hunt
        self.bounds = ShallowBounds(hunt)
        self.nodes = 0

    def run(self, cutoff: float) -> tuple[End, float]:
        """Search all centres closer than ``cutoff``. Returns how it ended and a proven bound: no valid centre is closer
        than the smaller of bound and cutoff (up to the optimality gap)."""
        hunt, moves = self.hunt, self.hunt.moves
        self.cutoff = min(cutoff, hunt.best_distance)
        hunt.set_cutoff(self.cutoff)
        root = Node(Part(moves.low, moves.high), (), np.zeros((0, moves.size)), np.zeros(0))
        self.heap: list[tuple[float, int, Node]] = [(hunt.lower_bound, 0, root)]
        self.serial = 0
        self.loose = np.inf  # bounds of parts that were given up although not closed
        while self.heap:
            bound, _, node = heapq.heappop(self.heap)
            self._publish(bound)
            if bound >= self._goal():
                self.heap = []
                break
            if hunt.clock.expired:
                return End.STOPPED, min(bound, self.loose)
            self.nodes += 1
            hunt.count("nodes")
            self._process(node, bound)
        return End.PROVEN, min(self._goal(), self.loose)

    def _goal(self) -> float:
        """Nodes with a bound beyond this need no work."""
        return min(self.cutoff, self.hunt.best_distance) * (1.0 - 0.5 * TOLERANCES.continuous_gap)

    def _publish(self, bound: float) -> None:
        self.hunt.prove(min(bound, self.loose, self._goal()))

    def _push(self, bound: float, node: Node) -> None:
        self.serial += 1
        heapq.heappush(self.heap, (bound, self.serial, node))

    def _process(self, node: Node, bound: float) -> None:
        hunt, moves, bounds = self.hunt, self.hunt.moves, self.bounds
        reach = node.part.within(moves, min(self.cutoff, hunt.best_distance))
        if reach is None:
            return
        bounds.refresh()
        v = reach.low
        facts = [bounds.fact_row(fact, reach, v) for fact in node.facts]
        G = np.vstack([np.array([g for g, _ in facts]).reshape(-1, moves.size), node.G])
        h = np.concatenate([np.array([b for _, b in facts]), node.h])
        hunt.program.load(G, h, reach.low, reach.high)
        own: list[Row] = []
        violated: tuple[int, int] | None = None
        row: Row | None = None
        for _ in range(MOST_CUTS):
            solved = hunt.program.solve(self.cutoff)
            bound = max(bound, solved.bound)
            if bound >= self._goal():
                return
            if solved.v is None:  # the solver claims infeasibility without a valid proof
                break
            v = solved.v
            x = moves.point(v)
            margins = hunt.network.margins(hunt.scenarios.points(x))
            order = np.argsort(margins, axis=None, kind="stable")[:3]
            pairs = [divmod(int(k), margins.shape[1]) for k in order if margins.ravel()[k] < VIOLATED]
            if not pairs and not self._split_discrete(node, bound, v):
                known = len(hunt.scenarios)
                if hunt.attack(x) < VIOLATED or hunt.attack(x, starts=24, rounds=20) < VIOLATED:
                    bounds.refresh()
                    pairs = [(j, r) for j in range(known, len(hunt.scenarios)) for r in range(hunt.network.n_rivals)]
                elif self._candidate(x, bound):
                    return
                else:
                    bounds.refresh()
                    if len(hunt.scenarios) > known:
                        continue
                    self.loose = min(self.loose, bound)
                    return
            elif not pairs:
                return
            made = [(pair, bounds.row(*pair, reach, node.facts, v)) for pair in pairs]
            useful = [(pair, r) for pair, r in made if r.value < -1e-9]
            if not useful:
                violated, row = made[0]
                break
            for _, r in useful:
                hunt.program.cut(r.g, r.h)
                own.append(r)
            violated, row = useful[0]
            if hunt.clock.expired:
                break
        if self.nodes == 1 or (self.nodes % 10 == 1 and self.nodes < 2000):
            improve(hunt, moves.center(v), rounds=4)
        self._branch(node, bound, v, violated, row, own)

    def _candidate(self, x: Floats, bound: float) -> bool:
        """A point that no attack breaks: polish it with a safety margin and ask the judge. True closes the node."""
        hunt = self.hunt
        improve(hunt, x, rounds=3)
        if hunt.best_distance * (1.0 - TOLERANCES.continuous_gap) <= bound:
            self.loose = min(self.loose, bound)
            return True
        return False

    def _split_discrete(self, node: Node, bound: float, v: Floats) -> bool:
        """Branch on a fractional whole move, on two moves that exclude each other, or on the number of changes."""
        moves = self.hunt.moves
        part = node.part
        children: tuple[Part, Part] | None = None
        if moves.whole.any():
            steps = np.where(moves.whole, v / np.where(moves.whole, moves.step, 1.0), 0.0)
            away = np.abs(steps - np.rint(steps))
            i = int(np.argmax(away))
            if away[i] > 1e-7:
                children = part.split(moves, i, float(v[i]))
        if children is None and moves.most_changes is not None:
            amount = np.bincount(moves.block, v, minlength=moves.n_blocks)
            changed = [b for b in np.argsort(-amount, kind="stable") if amount[b] > 1e-9]
            fresh = [int(b) for b in changed if b not in part.used]
            if len(changed) > moves.most_changes and fresh:
                children = part.counted(moves, fresh[0])
        if children is None:
            return False
        for child in children:
            self._push(bound, replace(node, part=child))
        return True

    def _branch(
        self, node: Node, bound: float, v: Floats, violated: tuple[int, int] | None, row: Row | None, own: list[Row]
    ) -> None:
        moves = self.hunt.moves
        if violated is None or row is None:
            if not self._split_discrete(node, bound, v) and not self._split_somewhere(node, bound):
                self.loose = min(self.loose, bound)
            return
        G, h = self._inherited(node, own, v)
        neuron, move = int(np.argmax(row.neuron_loss)), int(np.argmax(row.move_loss)) if moves.size else 0
        if row.neuron_loss[neuron] >= max(row.move_loss[move], 1e-11):
            for active in (False, True):
                fact = Fact(violated[0], neuron, active)
                self._push(bound, Node(node.part, (*node.facts, fact), G, h))
            return
        if row.move_loss[move] > 1e-11:
            j = violated[0]
            dead, length = self.bounds.clamps.dead[j, move], self.bounds.clamps.length[j, move]
            kinks = [k for k in (dead, dead + length) if node.part.low[move] < k < node.part.high[move]]
            if kinks:
                kink = min(kinks, key=lambda k: abs(k - v[move]))
                for child in node.part.split(moves, move, float(kink)):
                    self._push(bound, Node(child, node.facts, G, h))
                return
        if self._split_discrete(node, bound, v) or self._split_both_ways(node, bound, v, G, h):
            return
        self.loose = min(self.loose, bound)

    def _split_both_ways(self, node: Node, bound: float, v: Floats, G: Floats, h: Floats) -> bool:
        """Branch on a block in which two moves that exclude each other are both used."""
        moves = self.hunt.moves
        second = np.zeros(moves.n_blocks)
        for b in np.unique(moves.block):
            mine = np.sort(v[moves.block == b])
            second[b] = mine[-2] if mine.size > 1 else 0.0
        b = int(np.argmax(second))
        if second[b] <= 1e-12:
            return False
        mine = np.flatnonzero(moves.block == b)
        i, k = mine[np.argsort(v[mine])[-2:]]
        for child in node.part.one_sided(moves, int(i), int(k)):
            self._push(bound, Node(child, node.facts, G, h))
        return True

    def _split_somewhere(self, node: Node, bound: float) -> bool:
        """Halve the widest move: the solver gave neither a point nor a proof."""
        moves = self.hunt.moves
        reach = node.part.within(moves, min(self.cutoff, self.hunt.best_distance))
        if reach is None:
            return True
        width = np.where(moves.whole, 0.0, reach.high - reach.low)
        if not width.size or width.max() <= 1e-9 * self.cutoff:
            return False
        i = int(np.argmax(width))
        for child in node.part.split(moves, i, float(0.5 * (reach.low[i] + reach.high[i]))):
            self._push(bound, replace(node, part=child))
        return True

    def _inherited(self, node: Node, own: list[Row], v: Floats) -> tuple[Floats, Floats]:
        """Rows that are (nearly) tight at the node's last point."""
        G = np.vstack([node.G, *(r.g for r in own)])
        h = np.concatenate([node.h, np.array([r.h for r in own])])
        if len(h) > 12:
            slack = G @ v - h
            keep = np.sort(np.argsort(slack, kind="stable")[: max(12, int((slack < 1e-7).sum()))])
            G, h = G[keep], h[keep]
        return G, h
