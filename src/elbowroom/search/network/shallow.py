"""Exact search for networks with one hidden layer: one best-first tree in which scenarios are cuts.

A node covers a part of the moves and a set of facts (signs of neurons in scenarios). Its program collects linear
consequences of margins in the most violated scenarios until it is beyond the cutoff, a scenario is violated although
its relaxation is not (branch where the relaxation loses most), or no scenario is violated and the attack finds nothing
(a candidate).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.numerics import TOLERANCES, Floats
from elbowroom.search.network.branching import TreeEnd, discrete_children, exclusive_children, halves
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.convex_concave import improve
from elbowroom.search.network.limits import (
    LITTLE,
    MISSED,
    MOST_CUTS,
    NEAR,
    NOISE,
    PATIENCE,
    POLISHES,
    TIGHT_ROW,
    VIOLATED,
)
from elbowroom.search.network.objective import MoveProgram
from elbowroom.search.network.part import Part
from elbowroom.search.network.shallow_bounds import Fact, Row, ShallowBounds


@dataclass(frozen=True, eq=False)
class Node:
    part: Part
    facts: tuple[Fact, ...]
    G: Floats
    h: Floats


class ShallowTree:
    """The tree for one cutoff: every centre closer than the cutoff is covered by an open node or excluded."""

    def __init__(self, search: NetworkSearch) -> None:
        self.search = search
        self.bounds = ShallowBounds(search)
        self.program = MoveProgram(search.moves)  # its own: local searches in between must not touch a node's program
        self.nodes = 0

    def run(self, cutoff: float, most_nodes: float = np.inf) -> tuple[TreeEnd, float]:
        """Search all centres closer than ``cutoff``. Returns how it ended and a proven bound: no valid centre is closer
        than the smaller of bound and cutoff (up to the optimality gap)."""
        search, moves = self.search, self.search.moves
        self.cutoff = min(cutoff, search.best_distance)
        search.set_cutoff(self.cutoff)
        root = Node(Part.everything(moves), (), np.zeros((0, moves.size)), np.zeros(0))
        self.heap: list[tuple[float, int, Node]] = [(search.lower_bound, 0, root)]
        self.serial = 0
        self.loose = np.inf  # bounds of parts that were given up although not closed
        while self.heap:
            bound, _, node = heapq.heappop(self.heap)
            self._publish(bound)
            if bound >= self._goal():
                self.heap = []
                break
            if search.clock.expired or self.nodes >= most_nodes:
                return TreeEnd.STOPPED, min(bound, self.loose)
            self.nodes += 1
            search.count("nodes")
            self._process(node, bound)
        return TreeEnd.PROVEN, min(self._goal(), self.loose)

    def _goal(self) -> float:
        """Nodes with a bound beyond this need no work."""
        return min(self.cutoff, self.search.best_distance) * (1.0 - 0.5 * TOLERANCES.continuous_gap)

    def _publish(self, bound: float) -> None:
        self.search.prove(min(bound, self.loose, self._goal()))

    def _push(self, bound: float, node: Node) -> None:
        self.serial += 1
        heapq.heappush(self.heap, (bound, self.serial, node))

    def _process(self, node: Node, bound: float) -> None:
        search, moves, bounds = self.search, self.search.moves, self.bounds
        reach = node.part.within(moves, min(self.cutoff, search.best_distance))
        if reach is None:
            return
        bounds.refresh()
        bounds.enter(reach, node.facts)
        v = reach.low
        facts = [bounds.fact_row(fact, v) for fact in node.facts]
        G = np.vstack([np.array([g for g, _ in facts]).reshape(-1, moves.size), node.G])
        h = np.concatenate([np.array([b for _, b in facts]), node.h])
        self.program.start(G, h, reach.low, node.part.high, self.cutoff)
        own: list[Row] = []
        violated: tuple[int, int] | None = None
        row: Row | None = None
        history: list[float] = []
        for _ in range(MOST_CUTS):
            solved = self.program.nearest()
            bound = max(bound, solved.bound)
            history.append(bound)
            if bound >= self._goal():
                return
            if solved.x is None:  # the solver claims infeasibility without a valid proof
                break
            v = solved.x
            x = moves.point(v)
            margins = search.network.margins(search.scenarios.points(x))
            order = np.argsort(margins, axis=None, kind="stable")[:3]
            pairs = [divmod(int(k), margins.shape[1]) for k in order if margins.ravel()[k] < VIOLATED]
            if not pairs and not self._push_parts(bound, node, discrete_children(moves, node.part, v)):
                known = len(search.scenarios)
                center = moves.center(v)
                if search.attack(center) < VIOLATED or search.attack(center, starts=24, rounds=20) < VIOLATED:
                    bounds.refresh()
                    pairs = [
                        (j, r) for j in range(known, len(search.scenarios)) for r in range(search.network.n_rivals)
                    ]
                if not pairs:  # nothing is violated, or only what is known already: within rounding of the boundary
                    if self._candidate(node.part, v, x, bound):
                        return
                    bounds.refresh()
                    if len(search.scenarios) > known:
                        continue
                    self.loose = min(self.loose, bound)
                    return
            elif not pairs:
                return
            made = [((j, r), bounds.row(j, r, v)) for j, r in pairs]
            useful = [(pair, r) for pair, r in made if r.value < -MISSED]
            if not useful:
                violated, row = made[0]
                break
            for _, r in useful:
                self.program.cut(r.g, r.h)
                own.append(r)
            violated, row = useful[0]
            if search.clock.expired or self._stalls(history):
                break
        if self.nodes == 1 or (self.nodes % 10 == 1 and self.nodes < 2000):
            improve(search, moves.center(v), rounds=4)
        self._branch(node, bound, v, violated, row, own)

    def _stalls(self, history: list[float]) -> bool:
        """Further rounds of cuts would close little of the gap: branching does more."""
        if len(history) <= PATIENCE:
            return False
        return history[-1] - history[-1 - PATIENCE] < LITTLE * (self._goal() - history[-1])

    def _candidate(self, part: Part, v: Floats, x: Floats, bound: float) -> bool:
        """A point that no attack breaks: polish it with a safety margin and ask the judge. True closes the node."""
        search, moves = self.search, self.search.moves
        if moves.whole.any():  # whole numbers leave room that a safety margin may take away
            search.offer(moves.center(v))
        for _ in range(POLISHES):
            known = len(search.scenarios)
            fixed = part.polished(moves, v)
            for around in (fixed, fixed.near(v, NEAR * max(bound, moves.measure(v)))):
                improve(search, x, rounds=3, part=around)
                if search.best_distance * (1.0 - TOLERANCES.continuous_gap) <= bound:
                    self.loose = min(self.loose, bound)
                    return True
            if len(search.scenarios) > known or search.clock.expired:
                break
            if not search.aim_lower():  # the margin cost more than the gap allows
                break
        return False

    def _push_parts(self, bound: float, node: Node, children: tuple[Part, Part] | None) -> bool:
        for child in children or ():
            self._push(bound, replace(node, part=child))
        return children is not None

    def _branch(
        self, node: Node, bound: float, v: Floats, violated: tuple[int, int] | None, row: Row | None, own: list[Row]
    ) -> None:
        """Split where the relaxation of the most violated scenario loses most: a neuron's sign or a clamp's kink."""
        moves, part = self.search.moves, node.part
        G, h = self._inherited(node, own, v)
        node = replace(node, G=G, h=h)
        if violated is not None and row is not None and moves.size:
            neuron, move = int(np.argmax(row.neuron_loss)), int(np.argmax(row.move_loss))
            if row.neuron_loss[neuron] >= max(row.move_loss[move], NOISE):
                for active in (False, True):
                    fact = Fact(violated[0], neuron, active)
                    self._push(bound, replace(node, facts=(*node.facts, fact)))
                return
            kink = self._kink(part, violated[0], move, float(v[move]))
            if row.move_loss[move] > NOISE and kink is not None:
                self._push_parts(bound, node, part.split(moves, move, kink))
                return
        cutoff = min(self.cutoff, self.search.best_distance)
        for children in (
            discrete_children(moves, part, v), exclusive_children(moves, part, v), halves(moves, part, cutoff),
        ):  # fmt: skip
            if self._push_parts(bound, node, children):
                return
        self.loose = min(self.loose, bound)

    def _kink(self, part: Part, j: int, move: int, near: float) -> float | None:
        """The kink of a clamp inside the part that is nearest to the point."""
        dead, length = self.bounds.clamps.dead[j, move], self.bounds.clamps.length[j, move]
        kinks = [float(k) for k in (dead, dead + length) if part.low[move] < k < part.high[move]]
        return min(kinks, key=lambda k: abs(k - near)) if kinks else None

    def _inherited(self, node: Node, own: list[Row], v: Floats) -> tuple[Floats, Floats]:
        """Rows that are (nearly) tight at the node's last point."""
        G = np.vstack([node.G, *(r.g for r in own)])
        h = np.concatenate([node.h, np.array([r.h for r in own])])
        if len(h) > 12:
            slack = G @ v - h
            keep = np.sort(np.argsort(slack, kind="stable")[: max(12, int((slack < TIGHT_ROW).sum()))])
            G, h = G[keep], h[keep]
        return G, h
