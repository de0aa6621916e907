"""Balls and diamonds: the best-first search over ranges of values, as one resumable kernel.

A node is a range of values per dimension; its key bounds the cost of every good centre in it from below. Per node:

1. x is its nearest centre;
2. stored bad regions that the room at x meets are listed; each may prune the node, force moves, or raise its bound. The
   adversary looks for one that the room overlaps deeply if there is none, and then for any; if that fails too (for a
   room smaller by NEARLY) the node is closed: x bounds its cost, and is handed over to be repaired;
3. all listed regions together are covered by cheap moves at a proven cost; then the bound for boxes, for a box inside
   the room, prunes, raises the key or cuts values (then again from 1);
4. the node is split along one literal of one region: beyond the full length, in between, within the dead length.

A node whose key has risen above that of the next one goes back to the heap with a note of the region it was to be split
on; if it is still that one when its turn comes, the bound for boxes is not asked again. Every few nodes the search follows
the best child down instead of going back to the heap. A pause and a later call go on exactly as one call would.
"""

from __future__ import annotations

import math

from elbowroom.kernels.kernel import inlined, inner_kernel
from elbowroom.kernels.tools import int64
from elbowroom.numerics import Floats
from elbowroom.search.trees.bad.find import Stack
from elbowroom.search.trees.balls.bounds.cover import MAX_MET, cover_bound, forget_slots, slot_for
from elbowroom.search.trees.balls.bounds.inscribed import choose_bad_cell, deepen_inside, fill_up
from elbowroom.search.trees.balls.bounds.one_region import force_moves, region_bound
from elbowroom.search.trees.balls.bounds.pushed import pushed_bound
from elbowroom.search.trees.balls.bounds.simplex import best_cover
from elbowroom.search.trees.balls.geometry import ROUND, SUM, Geometry, gap_for, guard, move_cost, phi
from elbowroom.search.trees.balls.learn import NOTHING, UNSURE, bad_region_at
from elbowroom.search.trees.balls.literals import Literals, list_literals
from elbowroom.search.trees.balls.node import Node, copy_range, settle_node
from elbowroom.search.trees.balls.regions import TARGET, BallRegions, look_around, next_met
from elbowroom.search.trees.balls.split import split_node
from elbowroom.search.trees.balls.workspace import BOUNDS, CLOSED, NODES, Desk
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.heap import FREE, OPEN_NODES, USED, Nodes, pop, push
from elbowroom.search.trees.question.question import Question

# How `expand_balls` stopped.
EMPTY = 0  # no node with a key below the budget is left
PAUSED = 1  # the share of nodes is used up
CANDIDATE = 2  # the node in desk.node is closed: its nearest centre is good, or nearly so
FULL = 3  # the pool of nodes has no room for another split
STUCK = 4  # the adversary needs a larger limit or stack
FINE = 5  # the node in desk.node is too small to be split any further

NEARLY = 1.0 - 1e-6  # phi(radius) that closes a node: splits at a finer scale would creep
PLUNGE_EVERY = 30
DEEPEST = 40  # nodes of a dive
GREED = 4.0  # how steeply a way out counts less with its cost, in units of the remaining budget
COARSE = 0.4  # need below which a region waits until no other is left: splits at a fine scale gain little
LATER = 1e-9
TINY = 1e-300
MOST_ROUNDS = 30  # of tightening per node
RISE = 1e-3  # relative rise of the key that puts a node back

# Besides rows of regions, NOTHING and UNSURE
PRUNED = -3
MOVED = -4  # a move was forced: start again with the new nearest centre
AGAIN = -5  # much was cut off, and more may be: put back


@inner_kernel
def _ease(geometry: Geometry, node: Node, literals: Literals, n: int, need: float, base: float, spare: float) -> float:
    """How easy a region is to leave: its ways out, each the less the more of the budget its n-th part of the need takes."""
    total, scale = TINY, GREED / spare if spare < math.inf else 0.0
    for i in range(n):
        d, cost = literals.dim[i], literals.price[i]
        if geometry.kind[d] == ROUND:
            gap = literals.gap[i]
            more = gap_for(geometry.square, need / n + phi(geometry.square, gap)) - gap
            move = literals.dead[i] + more * geometry.axis[d] * geometry.rate[d]
            cost = move_cost(geometry.norm, node.paid[d], move, base)
        total += math.exp(-scale * min(cost, spare))
    return total


@inner_kernel
def _list_met(
    geometry: Geometry, regions: BallRegions, base: float, budget: float, desk: Desk, stop: bool
) -> tuple[int, int, float]:
    """Number of listed regions (or PRUNED, MOVED), the place of the one to split on, and the best bound of a single one."""
    node, literals, cover = desk.node, desk.literals, desk.cover
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
        value = region_bound(geometry, node, literals, n, need, base, desk.bench.taken)
        if value >= spare:
            return PRUNED, -1, 0.0
        if not stop and force_moves(geometry, node, literals, n, need):
            return MOVED, -1, 0.0
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
def _moved(desk: Desk) -> bool:
    node = desk.node
    for d in range(node.x.shape[0]):  # noqa: SIM110
        if node.x[d] < node.low[d] or node.x[d] > node.high[d]:
            return True
    return False


@inlined
def _tree_bounds(
    model: Ensemble, question: Question, geometry: Geometry, regions: BallRegions, chosen: int, base: float,
    greedy: float, proven: float, budget: float, desk: Desk,
) -> float:  # fmt: skip
    """Bounds for the chosen region's inscribed box: the best extra cost (inf: prune).

    First for its deepest cell, at full prices; then for one that is hard to leave, on top of the greedy cover (the best
    cover leaves hardly any prices to build on).
    """
    cover, bench, inside, best = desk.cover, desk.bench, desk.inside, proven
    row = cover.row[chosen]
    rival = regions.rival[row]
    regions.uses[row] += 1
    fill_up(geometry, desk.node, regions, row, inside)
    for attempt in range(2):
        choose_bad_cell(geometry, question, desk.node, regions, row, inside)
        load, paid = bench.none, 0.0
        if attempt == 0:
            deepen_inside(model, geometry, desk.node, rival, inside, bench.suffix, bench.spare)
        elif geometry.norm == SUM:
            load, paid = cover.load, greedy
        bench.count[BOUNDS] += 1
        value = pushed_bound(
            model, geometry, desk.node, rival, base, paid, budget, load, inside, desk.cells, desk.scratch
        )
        if base + value >= budget:
            return math.inf
        best = max(best, value)
        if _moved(desk):
            break
    return best


@inlined
def work_on(
    model: Ensemble, question: Question, geometry: Geometry, regions: BallRegions, stack: Stack, desk: Desk,
    budget: float, limit: int, waiting: int,
) -> tuple[int, float, float]:  # fmt: skip
    """Steps 1 to 3 for desk.node: a row to split on (or NOTHING, UNSURE, PRUNED), the cost of x, and the bound.

    ``waiting`` is the row that the node was to be split on when it was put back (-1: it is new).
    """
    node, cover = desk.node, desk.cover
    base = best = 0.0
    coarse = True  # deep violations first
    for rounds in range(2 * MOST_ROUNDS):
        base = settle_node(question, geometry, node, budget)
        if base >= budget:
            return PRUNED, base, best
        best = max(best, base)
        listed, chosen, highest = _list_met(geometry, regions, base, budget, desk, rounds >= MOST_ROUNDS)
        if listed == PRUNED:
            return PRUNED, base, best
        if listed == MOVED:
            coarse = True
            continue
        if listed == 0 or (coarse and cover.need[chosen] < COARSE):
            threshold = 1.0 - COARSE if coarse else NEARLY
            row = bad_region_at(model, question, geometry, regions, node.x, threshold, limit, stack, desk)
            if row == UNSURE or (row == NOTHING and not coarse):
                return row, base, best
            coarse = False
            if listed == 0 or row >= 0:
                continue
        greedy = proven = 0.0
        if geometry.norm == SUM:
            greedy = proven = cover_bound(cover, listed)
            if base + proven < budget:
                proven = best_cover(geometry, node, regions, cover, listed, greedy, budget - base)
            if base + proven >= budget:
                return PRUNED, base, best
            _reduce(geometry, node, cover.load, greedy, budget - base)
            _reduce(geometry, node, cover.best_load, proven, budget - base)
        best = max(best, base + max(highest, proven))
        row = cover.row[chosen]
        if row == waiting and not _moved(desk):
            return row, base, best
        value = _tree_bounds(model, question, geometry, regions, chosen, base, greedy, proven, budget, desk)
        if value == math.inf:
            return PRUNED, base, best
        best = max(best, base + value)
        if not _moved(desk):
            return row, base, best
        coarse = True
        if rounds >= MOST_ROUNDS:
            break
    return AGAIN, base, best


@inner_kernel
def expand_balls(
    model: Ensemble, question: Question, geometry: Geometry, regions: BallRegions, nodes: Nodes, stack: Stack,
    desk: Desk, budget: float, share: int, limit: int,
) -> int:  # fmt: skip
    """Work on up to ``share`` nodes, for centres of total cost < budget. A dive goes on at the next call."""
    node, bench, worked = desk.node, desk.bench, 0
    diving, depth, dive_key = bench.dive[0] > 0, bench.dive[0] - 1, bench.key[1]
    bench.dive[0] = 0
    while diving or nodes.count[OPEN_NODES] > 0:
        note = int64(0)
        if diving:
            if worked >= share:
                bench.dive[0], bench.key[1] = depth + 1, dive_key
                return PAUSED
            key = dive_key
            copy_range(desk.trial, node)
        else:
            if nodes.key[0] >= budget:
                nodes.count[OPEN_NODES] = 0
                break
            if worked >= share:
                return PAUSED
            if nodes.count[USED] - nodes.count[FREE] + 8 > nodes.note.shape[0]:
                return FULL
            key, note = pop(nodes, node.low, node.high)
        plunge = diving or desk.bench.count[NODES] % PLUNGE_EVERY == 0
        depth = depth if diving else 0
        diving = False
        worked += 1
        desk.bench.count[NODES] += 1
        before = key
        row, base, best = work_on(model, question, geometry, regions, stack, desk, budget, limit, note - 1)
        key = max(key, best)
        if row == PRUNED:
            continue
        desk.bench.key[0] = key
        if row == AGAIN:
            push(nodes, node.low, node.high, key, note)
            continue
        if row == UNSURE:
            push(nodes, node.low, node.high, key, note)
            return STUCK
        if row == NOTHING:
            desk.bench.count[CLOSED] += 1
            return CANDIDATE
        if (
            not plunge
            and note == 0
            and nodes.count[OPEN_NODES] > 0
            and key > nodes.key[0]
            and key > before + RISE * abs(before)
        ):
            push(nodes, node.low, node.high, key, row + 1)
            continue
        if nodes.count[USED] - nodes.count[FREE] + 8 > nodes.note.shape[0]:
            push(nodes, node.low, node.high, key, note)
            return FULL
        children, dive_key = split_node(geometry, regions, row, nodes, base, key, budget, plunge, desk)
        if children < 0:
            return FINE
        diving = plunge and children > 0
        depth = depth + 1 if diving else 0
        if depth > DEEPEST:
            push(nodes, desk.trial.low, desk.trial.high, dive_key, int64(0))
            diving, depth = False, 0
    return EMPTY
