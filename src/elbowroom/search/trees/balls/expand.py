"""Balls and diamonds: the best-first search over ranges of values, as one resumable kernel.

A node is a range of values per dimension; its key bounds the cost of every good centre in it from below. Per node:

1. x is its nearest centre;
2. stored bad regions that the room at x meets are listed; each may prune the node, force moves, or raise its bound. The
   adversary looks for one that the room overlaps deeply if there is none, and then for any; if that fails too (for a
   room smaller by NEARLY) the node is closed: x bounds its cost, and is handed over to be repaired;
3. all listed regions together are covered by cheap moves at a proven cost; then the bound for boxes, for a box inside
   the room, prunes, raises the key or cuts values (then again from 1);
4. the node is split along all exits of that box (`exits`), or where these are short along one literal of one region: beyond the
   full length, in between, within the dead length.

A node whose key has risen above that of the next one goes back to the heap with a note of the region it was to be split
on; if it is still that one when its turn comes, the bound for boxes is not computed again. Every few nodes the search
follows the best child down instead of going back to the heap. A pause and a later call go on exactly as one call would.
"""

from __future__ import annotations

import math

from elbowroom.kernels.kernel import inlined, inner_kernel
from elbowroom.kernels.tools import int64
from elbowroom.numerics import Floats
from elbowroom.search.trees.bad.find import Stack
from elbowroom.search.trees.balls.bounds.cover import cover_bound, forget_slots, slot_for
from elbowroom.search.trees.balls.bounds.inscribed import choose_bad_cell, deepen_inside, fill_up
from elbowroom.search.trees.balls.bounds.one_region import force_moves, region_bound
from elbowroom.search.trees.balls.bounds.pushed import pushed_bound
from elbowroom.search.trees.balls.bounds.simplex import best_cover
from elbowroom.search.trees.balls.exits import divide
from elbowroom.search.trees.balls.geometry import KIND, NORM, Geometry, gap_for, guard, move_cost, phi
from elbowroom.search.trees.balls.learn import bad_region_at
from elbowroom.search.trees.balls.limits import (
    CHILDREN,
    COARSE,
    DEEPEST,
    LATER,
    LEAST_EASE,
    MAX_MET,
    MOST_ROUNDS,
    NEARLY,
    PLUNGE_EVERY,
    RISE,
    TARGET,
)
from elbowroom.search.trees.balls.literals import Literals, list_literals
from elbowroom.search.trees.balls.node import Node, copy_range, settle_node
from elbowroom.search.trees.balls.regions import ROW, BallRegions, look_around, next_met
from elbowroom.search.trees.balls.workspace import COUNT, Workspace
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.heap import HEAP, Nodes, lacks_room, pop, push
from elbowroom.search.trees.limits import GREED
from elbowroom.search.trees.question.question import Question
from elbowroom.search.trees.stop import STOP


@inner_kernel
def _ease(geometry: Geometry, node: Node, literals: Literals, n: int, need: float, base: float, spare: float) -> float:
    """How easy a region is to leave: its ways out, each the less the more of the budget its n-th part of the need takes."""
    total, scale = LEAST_EASE, GREED / spare if spare < math.inf else 0.0
    for i in range(n):
        d, cost = literals.dim[i], literals.price[i]
        if geometry.kind[d] == KIND.ROUND:
            gap = literals.gap[i]
            more = gap_for(geometry.square, need / n + phi(geometry.square, gap)) - gap
            move = literals.dead[i] + more * geometry.axis[d] * geometry.rate[d]
            cost = move_cost(geometry.norm, node.paid[d], move, base)
        total += math.exp(-scale * min(cost, spare))
    return total


@inner_kernel
def _list_met(
    geometry: Geometry, regions: BallRegions, base: float, budget: float, workspace: Workspace, stop: bool
) -> tuple[int, int, float]:
    """Number of listed regions (or ROW.PRUNED, ROW.MOVED), the place of the one to split on, and the best bound of a single one."""
    node, literals, cover = workspace.node, workspace.literals, workspace.cover
    listed, chosen, highest, best_score = int64(0), int64(-1), 0.0, -1.0
    spare = budget - base
    forget_slots(cover)
    look_around(regions, geometry, node.x)
    while listed < MAX_MET:
        row, used = next_met(regions, geometry, node.x, NEARLY)
        if row < 0:
            break
        need = TARGET - used
        n = list_literals(geometry, node, regions.first[row], regions.last[row], need, base, budget, literals)
        value = region_bound(geometry, node, literals, n, need, base, workspace.arrays.taken)
        if value >= spare:
            return ROW.PRUNED, -1, 0.0
        if not stop and force_moves(geometry, node, literals, n, need):
            return ROW.MOVED, -1, 0.0
        highest = max(highest, value)
        score = need / _ease(geometry, node, literals, n, need, base, spare)
        if need < COARSE:
            score *= LATER
        if score > best_score:
            best_score, chosen = score, listed
        cover.row[listed], cover.value[listed], cover.size[listed] = row, value, n
        cover.need[listed], cover.right[listed] = need, 1.0
        for i in range(n):
            cover.slot[listed, i] = slot_for(cover, 2 * literals.dim[i] + literals.up[i])
            cap = literals.cap[i]
            cover.chord[listed, i] = literals.gain[i] / (need * cap) if cap > 0.0 else math.inf
        listed += 1
    return listed, chosen, highest


@inner_kernel
def _reduce(geometry: Geometry, node: Node, load: Floats, proven: float, spare: float) -> None:
    """Cut values that the budget cannot pay for at reduced prices."""
    if spare == math.inf:
        return
    for d in range(node.x.shape[0]):
        if geometry.rate[d] == 0.0 or node.low[d] == node.high[d]:
            continue
        x = node.x[d]
        for side in range(2):
            part = 1.0 - load[2 * d + side]
            if part > 1e-6:
                length = (spare - proven) / part / geometry.rate[d]
                length = length * (1.0 + 1e-9) + guard(x, length)
                if side == 1:
                    node.high[d] = min(node.high[d], x + length)
                else:
                    node.low[d] = max(node.low[d], x - length)


@inlined
def _moved(workspace: Workspace) -> bool:
    node = workspace.node
    for d in range(node.x.shape[0]):  # noqa: SIM110
        if node.x[d] < node.low[d] or node.x[d] > node.high[d]:
            return True
    return False


@inlined
def _tree_bounds(
    model: Ensemble, question: Question, geometry: Geometry, regions: BallRegions, chosen: int, base: float,
    greedy: float, proven: float, budget: float, workspace: Workspace,
) -> float:  # fmt: skip
    """Bounds for the chosen region's inscribed box: the best extra cost (inf: prune).

    First for its deepest cell, at full prices; then for one that is hard to leave, on top of the greedy cover (the best
    cover leaves hardly any prices to build on).
    """
    cover, arrays, inside, best = workspace.cover, workspace.arrays, workspace.inside, proven
    row = cover.row[chosen]
    rival = regions.rival[row]
    regions.uses[row] += 1
    fill_up(geometry, workspace.node, regions, row, inside)
    for attempt in range(2):
        choose_bad_cell(geometry, question, workspace.node, regions, row, inside)
        load, paid = arrays.none, 0.0
        if attempt == 0:
            deepen_inside(model, geometry, workspace.node, rival, inside, arrays.suffix, arrays.spare)
        elif geometry.norm == NORM.SUM:
            load, paid = cover.load, greedy
        workspace.progress.count[COUNT.BOUNDS] += 1
        value = pushed_bound(
            model=model, geometry=geometry, node=workspace.node, rival=rival, base=base, proven=paid, budget=budget,
            load=load, inside=inside, cells=workspace.cells, scratch=workspace.scratch,
        )  # fmt: skip
        if base + value >= budget:
            return math.inf
        best = max(best, value)
        if _moved(workspace):
            break
    return best


@inlined
def work_on(
    model: Ensemble, question: Question, geometry: Geometry, regions: BallRegions, stack: Stack, workspace: Workspace,
    budget: float, limit: int, waiting: int,
) -> tuple[int, float, float]:  # fmt: skip
    """Steps 1 to 3 for workspace.node: a row to split on (or ROW.NOTHING, ROW.UNSURE, ROW.PRUNED), the cost of x, and the bound.

    ``waiting`` is the row that the node was to be split on when it was put back (-1: it is new).
    """
    node, cover = workspace.node, workspace.cover
    base = best = 0.0
    coarse = True  # deep violations first
    for rounds in range(2 * MOST_ROUNDS):
        base = settle_node(question, geometry, node, budget)
        if base >= budget:
            return ROW.PRUNED, base, best
        best = max(best, base)
        listed, chosen, highest = _list_met(geometry, regions, base, budget, workspace, rounds >= MOST_ROUNDS)
        if listed == ROW.PRUNED:
            return ROW.PRUNED, base, best
        if listed == ROW.MOVED:
            coarse = True
            continue
        if listed == 0 or (coarse and cover.need[chosen] < COARSE):
            threshold = 1.0 - COARSE if coarse else NEARLY
            row = bad_region_at(
                model=model, question=question, geometry=geometry, regions=regions, x=node.x, threshold=threshold,
                limit=limit, stack=stack, workspace=workspace,
            )  # fmt: skip
            if row == ROW.UNSURE or (row == ROW.NOTHING and not coarse):
                return row, base, best
            coarse = False
            if listed == 0 or row >= 0:
                continue
        greedy = proven = 0.0
        if geometry.norm == NORM.SUM:
            greedy = proven = cover_bound(cover, listed)
            if base + proven < budget:
                proven = best_cover(geometry, node, regions, cover, listed, greedy, budget - base)
            if base + proven >= budget:
                return ROW.PRUNED, base, best
            _reduce(geometry, node, cover.load, greedy, budget - base)
            _reduce(geometry, node, cover.best_load, proven, budget - base)
        best = max(best, base + max(highest, proven))
        row = cover.row[chosen]
        if row == waiting and not _moved(workspace):
            return row, base, best
        value = _tree_bounds(
            model=model, question=question, geometry=geometry, regions=regions, chosen=chosen, base=base,
            greedy=greedy, proven=proven, budget=budget, workspace=workspace,
        )  # fmt: skip
        if value == math.inf:
            return ROW.PRUNED, base, best
        best = max(best, base + value)
        if not _moved(workspace):
            return row, base, best
        coarse = True
        if rounds >= MOST_ROUNDS:
            break
    return ROW.AGAIN, base, best


@inner_kernel
def expand_balls(
    model: Ensemble, question: Question, geometry: Geometry, regions: BallRegions, nodes: Nodes, stack: Stack,
    workspace: Workspace, budget: float, share: int, limit: int,
) -> int:  # fmt: skip
    """Work on up to ``share`` nodes, for centres of total cost < budget. A dive goes on at the next call."""
    node, progress, worked = workspace.node, workspace.progress, 0
    diving, depth, dive_key = progress.dive[0] > 0, progress.dive[0] - 1, progress.key[1]
    progress.dive[0] = 0
    while diving or nodes.count[HEAP.OPEN] > 0:
        if model.ended[0] != 0:
            return STOP.ENDED
        note = int64(0)
        if diving:
            if worked >= share:
                progress.dive[0], progress.key[1] = depth + 1, dive_key
                return STOP.PAUSED
            key = dive_key
            copy_range(workspace.trial, node)
        else:
            if nodes.key[0] >= budget:
                nodes.count[HEAP.OPEN] = 0
                break
            if worked >= share:
                return STOP.PAUSED
            if lacks_room(nodes, CHILDREN + 2 * node.x.shape[0]):
                return STOP.FULL
            key, note = pop(nodes, node.low, node.high)
        plunge = diving or progress.count[COUNT.NODES] % PLUNGE_EVERY == 0
        depth = depth if diving else 0
        diving = False
        worked += 1
        progress.count[COUNT.NODES] += 1
        before = key
        row, base, best = work_on(
            model=model, question=question, geometry=geometry, regions=regions, stack=stack, workspace=workspace,
            budget=budget, limit=limit, waiting=note - 1,
        )  # fmt: skip
        if model.ended[0] != 0:
            return STOP.ENDED
        key = max(key, best)
        if row == ROW.PRUNED:
            continue
        progress.key[0] = key
        if row == ROW.AGAIN:
            push(nodes, node.low, node.high, key, note)
            continue
        if row == ROW.UNSURE:
            push(nodes, node.low, node.high, key, note)
            return STOP.STUCK
        if row == ROW.NOTHING:
            progress.count[COUNT.CLOSED] += 1
            return STOP.CANDIDATE
        if (
            not plunge
            and note == 0
            and nodes.count[HEAP.OPEN] > 0
            and key > nodes.key[0]
            and key > before + RISE * abs(before)
        ):
            push(nodes, node.low, node.high, key, row + 1)
            continue
        if lacks_room(nodes, CHILDREN + 2 * node.x.shape[0]):
            push(nodes, node.low, node.high, key, note)
            return STOP.FULL
        children, dive_key = divide(
            geometry=geometry, regions=regions, row=row, nodes=nodes, base=base, key=key, budget=budget,
            plunge=plunge, workspace=workspace,
        )  # fmt: skip
        if children < 0:
            return STOP.FINE
        diving = plunge and children > 0
        depth = depth + 1 if diving else 0
        if depth > DEEPEST:
            push(nodes, workspace.trial.low, workspace.trial.high, dive_key, int64(0))
            diving, depth = False, 0
    return STOP.EMPTY
