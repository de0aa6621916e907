"""Exact search for deep networks: best-first branching on the signs of neurons in scenarios.

A node's program holds relaxed copies of the network for a few scenarios. Its nearest point is attacked; a new bad
scenario becomes a further copy (lazily), a bad scenario that has a copy is branched on: the neuron whose relaxation
errs most, weighted by its effect on the margin. Envelopes are tight only for small cutoffs, so the search runs with
trial cutoffs: a tree without a centre proves a lower bound, the first tree with one ends the search.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.numerics import NONZERO, TOLERANCES, Floats
from elbowroom.search.network.ascent import climb_and_settle
from elbowroom.search.network.branching import TreeEnd, discrete_children, halves
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.deep_bounds import DeepBounds, Phases
from elbowroom.search.network.deep_program import Blocks, Copies, Neuron
from elbowroom.search.network.deep_ranges import tighten
from elbowroom.search.network.first_regions import FirstRegions
from elbowroom.search.network.incumbent import descend
from elbowroom.search.network.limits import (
    CLIMBS,
    DESCENTS,
    FIRST_CLIMB,
    FIRST_KICK,
    KICKS,
    LEAST_GAIN,
    LOOKAHEAD,
    MOST_COPIES,
    MOST_DESCENTS,
    MOST_NEURONS,
    MOST_POLISHES,
    MOST_TIGHTENED,
    NOISE,
    TIGHT,
    TRIED,
    TRIED_BY_PRICE,
    VIOLATED,
)
from elbowroom.search.network.objective import MoveProgram
from elbowroom.search.network.part import Part, Reach
from elbowroom.search.network.program import Solved


@dataclass(frozen=True, eq=False)
class Node:
    part: Part
    phases: dict[int, Phases]
    copies: tuple[int, ...]
    v: Floats
    branched: frozenset[int] = frozenset()  # scenarios with signs that branching decided


class DeepTree:
    """Trees for growing cutoffs over one pool of scenarios."""

    def __init__(self, search: NetworkSearch, regions: FirstRegions | None = None) -> None:
        self.search = search
        self.regions = FirstRegions(search) if regions is None else regions
        self.bounds = DeepBounds(search)
        self.bounds.bind()
        self.blocks = Blocks(self.bounds)
        self.program = MoveProgram(search.moves)  # its own: local searches in between must not touch a node's program
        self.serial = 0
        self.first_row = 0  # of the copies in the loaded program
        self._tightened: dict[int, float] = {}
        effect = np.abs(search.network.weights[-1]).max(axis=0)
        widest = max(bias.size for bias in search.network.biases[:-1])
        self.effect = np.zeros((search.network.depth, widest))  # bounds of |d margin / d neuron|
        for k in reversed(range(search.network.depth)):
            self.effect[k, : effect.size] = effect
            effect = effect @ np.abs(search.network.weights[k])

    def run(self, cutoff: float) -> tuple[TreeEnd, float]:
        """Search all centres closer than the cutoff; how it ended, and a proven bound (see `TreeEnd`)."""
        search, moves = self.search, self.search.moves
        self.cutoff = min(cutoff, search.best_distance)
        search.set_cutoff(self.cutoff)
        self._forget_ranges()
        self.bounds.refresh()
        self.nodes = 0
        self.next_kick = self.patience = FIRST_KICK
        self.loose = np.inf
        root = Node(Part.everything(moves), {}, self._first_copies(), moves.low)
        self.heap: list[tuple[float, int, Node]] = [(search.lower_bound, 0, root)]
        while self.heap:
            bound, _, node = heapq.heappop(self.heap)
            search.prove(min(bound, self.loose, self._goal()))
            if bound >= self._goal():
                break
            if search.clock.expired:
                return TreeEnd.STOPPED, min(bound, self.loose)
            self.nodes += 1
            search.count("nodes")
            self._process(node, bound)
        return TreeEnd.PROVEN, min(self._goal(), self.loose)

    def _goal(self) -> float:
        return min(self.cutoff, self.search.best_distance) * (1.0 - 0.5 * TOLERANCES.continuous_gap)

    def _push(self, bound: float, node: Node) -> None:
        self.serial += 1
        heapq.heappush(self.heap, (bound, self.serial, node))

    def _first_copies(self) -> tuple[int, ...]:
        """The centre itself and the scenarios that are tight at the best centre so far."""
        search = self.search
        if search.best is None:
            return (0,)
        margins = search.network.worst(search.scenarios.points(search.best))
        tight = [int(j) for j in np.argsort(margins, kind="stable")[:MOST_COPIES] if margins[j] < TIGHT]
        return tuple(dict.fromkeys([0, *tight]))

    # ---- the program of a node ------------------------------------------------------------------------------------
    def _load(self, node: Node, reach: Reach, copies: tuple[int, ...], margin: float = 0.0) -> Copies | None:
        self.bounds.refresh()
        if self.search.network.n_neurons <= MOST_NEURONS:
            for j in copies:
                if j < MOST_TIGHTENED:
                    self._tighten(j)
        made = self.blocks.assemble(reach, node.phases, copies, node.v, margin)
        if made is not None:
            self.program.start(made.rows, made.row_low, made.low, made.high, self.cutoff, made.row_high)
            self.first_row = len(self.program.rows) - len(made.rows)  # tangents of the distance may follow
        return made

    def _forget_ranges(self) -> None:
        """Ranges found for one cutoff hold for smaller ones; they are computed again when the cutoff grows."""
        if any(self.cutoff > known or self.cutoff < known / 1.05 for known in self._tightened.values()):
            self._tightened.clear()
            self.bounds.bind()
        self.blocks.forget()

    def _tighten(self, j: int) -> None:
        """Ranges of all z of scenario j for this cutoff, found once."""
        if j not in self._tightened and not self.search.clock.expired:
            self._tightened[j] = self.cutoff
            tighten(self.bounds, self.blocks, self.program, self.cutoff, j)

    # ---- nodes ----------------------------------------------------------------------------------------------------
    def _process(self, node: Node, bound: float) -> None:
        search, moves = self.search, self.search.moves
        reach = node.part.within(moves, min(self.cutoff, search.best_distance))
        if reach is None:
            return
        added = 0
        while True:
            made = self._load(node, reach, node.copies)
            if made is None:
                return
            solved = self.program.nearest(max(search.clock.remaining, 0.0))
            bound = max(bound, solved.bound)
            if bound >= self._goal():
                return
            if solved.x is None or search.clock.expired:
                self._give_up(node, bound)
                return
            v = solved.x[: moves.size]
            node = replace(node, v=v)
            x = moves.point(v)
            margins = search.network.worst(search.scenarios.points(x))
            if margins.min() >= VIOLATED:
                children = discrete_children(moves, node.part, v)
                if children is not None:
                    for child in children:
                        self._push(bound, replace(node, part=child))
                    return
                known = len(search.scenarios)
                center = moves.center(v)
                if search.attack(center) >= VIOLATED and search.attack(center, starts=48, rounds=20) >= VIOLATED:
                    outcome = self._candidate(node, bound, x)
                    if outcome is None:
                        return
                    node = outcome
                    continue
                margins = search.network.worst(search.scenarios.points(x))
                if len(search.scenarios) == known and margins.min() >= VIOLATED:
                    self._give_up(node, bound)
                    return
            worst = int(np.argmin(margins))
            if worst not in node.copies:
                own = margins[list(node.copies)]
                if added < 2 or own.min() >= VIOLATED:
                    node = self._with_copy(node, worst)
                    added += 1
                    continue
                worst = node.copies[int(np.argmin(own))]
            break
        self._look_for_better(moves.center(v))
        if bound < self._goal():
            self._branch(node, made, bound, solved.x, worst, margins)

    def _look_for_better(self, center: Floats) -> None:
        """Local searches, now from the relaxed centre, now from the best one: rarely, they cost more than a node."""
        if self.nodes < MOST_DESCENTS or self.nodes % DESCENTS == 0:
            self.regions.settle(self.search.moves.of_center(center))
        if self.nodes == FIRST_CLIMB or self.nodes % CLIMBS == 0:
            climb_and_settle(self.search, center)
        if self.nodes >= self.next_kick:
            self.patience = FIRST_KICK if self.regions.improve(KICKS) else 2 * self.patience
            self.next_kick += self.patience

    def _give_up(self, node: Node, bound: float) -> None:
        """The solver gave neither a point nor a proof, or precision ends here: halve the part, or keep its bound."""
        if self.search.clock.expired:
            self._push(bound, node)
            return
        children = halves(self.search.moves, node.part, min(self.cutoff, self.search.best_distance))
        if children is None:
            self.loose = min(self.loose, bound)
        for child in children or ():
            self._push(bound, replace(node, part=child))

    def _with_copy(self, node: Node, j: int) -> Node:
        """Add a copy; decided first-layer neurons of other scenarios may decide this one's."""
        self.bounds.refresh()
        known: Phases = dict(node.phases.get(j, {}))
        for other, decided in node.phases.items():
            for (k, q), active in decided.items():
                if k == 0 and other != j and self._implies(other, q, active, j):
                    known[0, q] = active
        phases = {**node.phases, j: known} if known else node.phases
        return replace(node, copies=(*node.copies, j), phases=phases)

    def _implies(self, known: int, q: int, active: bool, j: int) -> bool:
        least, most = self.bounds.offset(known, q, j)
        return least >= 0.0 if active else most <= 0.0

    def _candidate(self, node: Node, bound: float, x: Floats) -> Node | None:
        """A point that no attack breaks: add a safety margin, ask the judge. None: the node is finished."""
        search, moves = self.search, self.search.moves
        if moves.whole.any() and search.offer(moves.center(node.v)):
            self.loose = min(self.loose, bound)
            return None
        polished = node.part.polished(moves, node.v).within(moves, min(self.cutoff, search.best_distance))
        if polished is None:
            self.loose = min(self.loose, bound)
            return None
        for _ in range(MOST_POLISHES):
            impossible = self._load(node, polished, node.copies, margin=search.safety) is None
            solved = Solved(np.inf, None) if impossible else self.program.nearest(max(search.clock.remaining, 0.0))
            if solved.x is None:
                if search.clock.expired or not search.aim_lower():  # the margin costs more than the part has
                    break
                continue
            center = moves.center(solved.x[: moves.size])
            known, distance = len(search.scenarios), search.problem.measure(center)
            if search.offer(center) and search.best_distance * (1.0 - TOLERANCES.continuous_gap) <= bound:
                self.loose = min(self.loose, bound)
                return None
            if len(search.scenarios) == known:
                if search.best_distance > distance or search.clock.expired:
                    break  # the judge could not decide
                if not search.aim_lower():  # the margin cost more than the gap allows
                    break
            for j in range(known, len(search.scenarios)):
                node = self._with_copy(node, j)
        else:
            return node
        descend(search, x, rounds=6, part=node.part.polished(moves, node.v))
        worst = search.network.worst(search.scenarios.points(x))
        if worst.min() < VIOLATED:
            return node
        self.loose = min(self.loose, bound)
        return None

    def _branch(self, node: Node, made: Copies, bound: float, solution: Floats, j: int, margins: Floats) -> None:
        """Two children: a neuron of a scenario whose relaxation matters is off, or on."""
        children = discrete_children(self.search.moves, node.part, node.v)
        if children is not None:
            for child in children:
                self._push(bound, replace(node, part=child))
            return
        candidates, error = self._open_neurons(made, solution, j)
        kink = self._worst_kink(node, j, solution)
        if kink is not None and kink[0] > error:
            for child in node.part.split(self.search.moves, kink[1], kink[2]):
                self._push(bound, replace(node, part=child))
            return
        if not candidates:
            self._give_up(node, bound)
            return
        chosen, bounds = self._try(node, made, candidates, bound)
        copies = node.copies
        if len(copies) > MOST_COPIES:
            order = sorted(copies, key=lambda c: margins[c])
            keep = {*order[:MOST_COPIES], chosen[0], *node.branched}
            copies = tuple(c for c in copies if c in keep)
        for active, better in zip((False, True), bounds, strict=True):
            if better < self._goal():
                phases = {c: node.phases[c] for c in copies if c in node.phases}
                for scenario, layer, neuron in self._decided(chosen, active, copies):
                    phases[scenario] = {**phases.get(scenario, {}), (layer, neuron): active}
                self._push(better, replace(node, phases=phases, copies=copies, branched=node.branched | {chosen[0]}))

    def _decided(self, chosen: Neuron, active: bool, copies: tuple[int, ...]) -> list[Neuron]:
        """The neuron itself, and its likes in scenarios where its sign follows (first layer only)."""
        scenario, layer, q = chosen
        others = (c for c in copies if layer == 0 and c != scenario and self._implies(scenario, q, active, c))
        return [chosen, *((c, layer, q) for c in others)]

    def _try(
        self, node: Node, made: Copies, candidates: list[Neuron], bound: float
    ) -> tuple[Neuron, tuple[float, float]]:
        """Strong branching: both children of every candidate as the node's program with other limits. The best pair of
        bounds decides; children that are already beyond the goal need no work at all."""
        m, first = self.search.moves.size, self.first_row
        goal, slack = self._goal(), self.search.rounding
        best, best_score, best_bounds, since = candidates[0], -np.inf, (bound, bound), 0
        for candidate in candidates:
            found = []
            for active in (False, True):
                limits = made.deciding(self._decided(candidate, active, node.copies), active, m, slack)
                found.append(
                    max(bound, self.program.narrowed(limits.rows + first, limits.row_high, limits.columns, limits.high))
                )
            gains = [min(value, goal) - bound for value in found]
            score = max(gains[0], LEAST_GAIN * goal) * max(gains[1], LEAST_GAIN * goal)
            if score > best_score:
                best, best_score, best_bounds, since = candidate, score, (found[0], found[1]), 0
            else:
                since += 1
            if min(found) >= goal or since >= LOOKAHEAD or self.search.clock.expired:
                break
        return best, best_bounds

    def _open_neurons(self, made: Copies, solution: Floats, j: int) -> tuple[list[Neuron], float]:
        """Open neurons worth branching on: those of scenario j whose relaxations err most, weighted by their effect on
        the margin, and those that cost the bound most by the program's multipliers. With the largest weighted error."""
        duals = self.program.duals[self.first_row :]
        largest, found = NOISE, []
        for copy, error, loss in made.losses(solution, duals, self.search.moves.size):
            block = copy.block
            ids = list(zip(block.layer.tolist(), block.neuron.tolist(), strict=True))
            weighted = error * self.effect[block.layer, block.neuron]
            if copy.scenario == j and weighted.size:
                largest = max(largest, float(weighted.max()))
                order = np.argsort(-weighted, kind="stable")[:TRIED]
                found += [(1, -weighted[i], (j, *ids[i])) for i in order if weighted[i] > NOISE]
            if loss.size and loss.max() > NOISE:
                i = int(np.argmax(loss))
                found.append((2, -loss[i], (copy.scenario, *ids[i])))
        found.sort()
        first = [neuron for kind, _, neuron in found if kind == 1]
        second = [neuron for kind, _, neuron in found if kind == 2]
        return list(dict.fromkeys([*first, *second[:TRIED_BY_PRICE]])), largest

    def _worst_kink(self, node: Node, j: int, solution: Floats) -> tuple[float, int, float] | None:
        """The clamp of scenario j that the program's own column misses most, weighted like a neuron of layer 0."""
        moves, clamps = self.search.moves, self.bounds.clamps
        reach = node.part.within(moves, min(self.cutoff, self.search.best_distance))
        if reach is None or not moves.size:
            return None
        starts, ends = clamps.kinks(j, reach.low, reach.high)
        if not (starts | ends).any():
            return None
        v = solution[: moves.size]
        width = np.maximum(reach.high - reach.low, NONZERO)
        low, high = clamps(reach.low, j), clamps(reach.high, j)
        off = np.abs(low + (v - reach.low) * (high - low) / width - clamps(v, j))
        weight = self.effect[0, : len(self.bounds.A)] @ np.abs(self.bounds.A)
        off = np.where(starts | ends, off, 0.0) * weight
        i = int(np.argmax(off))
        at = clamps.dead[j, i] if starts[i] else clamps.dead[j, i] + clamps.length[j, i]
        return float(off[i]), i, float(at)
