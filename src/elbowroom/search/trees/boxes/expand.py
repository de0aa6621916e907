"""The best-first search over ranges of positions, as one resumable kernel.

A node is a range of positions per dimension; its key bounds the cost of every good centre in it from below. Per node:

1. x is its nearest centre; one-hot groups and the limit on changes are propagated, positions beyond the budget cut;
2. a learned bad region that the room at x meets is chosen; if there is none, the adversary looks for one, and if that
   fails x is the best centre of the node: a candidate for the judge;
3. the bound of `bound` for a bad cell of the room prunes, raises the key, or cuts positions (then again from 1);
4. the node is split along the literals of the region's clause, cheapest first, each child excluding the earlier ones.

The first candidate popped is optimal. A pause at any node and a later call go on exactly as one call would.
"""

from __future__ import annotations

import math

from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.kernels.tools import int64, sort_by
from elbowroom.search.trees.bad.find import FINDING, Stack, find_bad_in
from elbowroom.search.trees.bad.grow import grow_by
from elbowroom.search.trees.bound.bound import BOUND, bound
from elbowroom.search.trees.bound.gains import Scratch
from elbowroom.search.trees.boxes.cell import choose_cell, deepen
from elbowroom.search.trees.boxes.limits import MOST_DELAYS
from elbowroom.search.trees.boxes.log import NOTES, Log, keep_ends, log_bound, log_child, log_split
from elbowroom.search.trees.boxes.node import settle
from elbowroom.search.trees.boxes.regions import Regions, add_region, literal_cost, met_regions
from elbowroom.search.trees.boxes.workspace import COUNT, Workspace
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.heap import HEAP, Nodes, lacks_room, pop, push
from elbowroom.search.trees.question.question import COSTS, Question
from elbowroom.search.trees.stop import STOP


@inner_kernel
def learn(
    model: Ensemble, question: Question, workspace: Workspace, stack: Stack, regions: Regions, rival: int, budget: float
) -> int:
    """Grow the bad range in row 0 of the stack, cheapest exits first, and store it."""
    n_dims = workspace.x.shape[0]
    for d in range(n_dims):
        o, e = question.pos_start[d], question.edge_start[d] + 1
        n = question.pos_start[d + 1] - o
        # Beyond the cells that any affordable position meets a region has nothing to forbid.
        p, q = 0, n - 1
        while p < workspace.x[d] and question.cost[o + p] >= budget:
            p += 1
        while q > workspace.x[d] and question.cost[o + q] >= budget:
            q -= 1
        workspace.first[d], workspace.final[d] = question.high_cell[o + p], question.low_cell[o + q]
        below = question.last_high[e + stack.low[0, d] - 1]
        above = question.first_low[e + stack.high[0, d] + 1]
        workspace.rank[2 * d] = (
            literal_cost(question, workspace.paid, workspace.member, d, below) if below >= 0 else math.inf
        )
        workspace.rank[2 * d + 1] = (
            literal_cost(question, workspace.paid, workspace.member, d, above) if above < n else math.inf
        )
    low, high = stack.low[0], stack.high[0]
    grow_by(
        model=model, rival=rival, low=low, high=high, order=workspace.order, rank=workspace.rank, low_limit=workspace.first, high_limit=workspace.final, suffix=workspace.suffix,
        spare=workspace.spare,
    )  # fmt: skip
    return add_region(regions, question, low, high, rival, workspace.random)


@inner_kernel
def log_region(log: Log, node: int, regions: Regions, row: int) -> int:
    """A region divides a node: where its record begins."""
    return log_split(log, node, regions.rival[row], regions.low[row], regions.high[row])


@inner_kernel
def split(
    question: Question,
    workspace: Workspace,
    regions: Regions,
    row: int,
    nodes: Nodes,
    base: float,
    key: float,
    budget: float,
    log: Log,
    node: int,
) -> None:
    """One child per live literal of the region's clause, cheapest first; each excludes the literals before it."""
    record = log_region(log, node, regions, row)
    low, high, n_dims = workspace.low, workspace.high, workspace.x.shape[0]
    additive = question.norm == COSTS.ADDITIVE
    n_literals = int64(0)
    for d in range(n_dims):
        for side in range(2):
            p = int64(regions.below[row, d] if side == 0 else regions.above[row, d])
            if (p >= low[d]) if side == 0 else (p <= high[d]):
                cost = literal_cost(question, workspace.paid, workspace.member, d, p)
                total = base + cost if additive else max(base, cost)
                if total < budget:
                    workspace.order[n_literals] = 2 * d + side
                    workspace.rank[2 * d + side] = total
                    n_literals += 1
    sort_by(workspace.order, workspace.rank, n_literals)
    for i in range(n_literals):
        d, up = workspace.order[i] // 2, workspace.order[i] % 2 == 1
        p = regions.above[row, d] if up else regions.below[row, d]
        first, final = low[d], high[d]
        if p < first or p > final:
            continue
        if up:
            low[d] = p
        else:
            high[d] = p
        note = log_child(log, record, d, int64(up), p)
        push(nodes, low, high, max(key, workspace.rank[workspace.order[i]]), note)
        low[d], high[d] = first, final
        if up:
            high[d] = p - 1
        else:
            low[d] = p + 1
        if low[d] > high[d]:
            break


@inner_kernel
def log_outcome(
    log: Log, node: int, rival: int, workspace: Workspace, price: float, outcome: int, value: float
) -> None:
    """What the bound said about a node, unless it said nothing."""
    if outcome != BOUND.HOLDS:
        left = math.inf if outcome == BOUND.PRUNED else value
        log_bound(log, node, rival, workspace.cell, workspace.x, workspace.low, workspace.high, price, left)


@inner_kernel
def x_is_cut_off(workspace: Workspace) -> bool:
    """True if the nearest centre is no longer in the node."""
    for d in range(workspace.x.shape[0]):
        if workspace.x[d] < workspace.low[d] or workspace.x[d] > workspace.high[d]:
            return True
    return False


@inner_kernel
def room_at_x(question: Question, workspace: Workspace) -> None:
    """Cells of the room of the nearest centre."""
    for d in range(workspace.x.shape[0]):
        workspace.first[d] = question.low_cell[question.pos_start[d] + workspace.x[d]]
        workspace.final[d] = question.high_cell[question.pos_start[d] + workspace.x[d]]


@kernel
def expand(
    model: Ensemble, question: Question, regions: Regions, nodes: Nodes, stack: Stack, scratch: Scratch, workspace: Workspace,
    budget: float, share: int, adversary_limit: int, log: Log,
) -> int:  # fmt: skip
    """Work on up to ``share`` nodes, looking for centres of total cost < budget."""
    n_dims, worked = workspace.x.shape[0], 0
    while nodes.count[HEAP.OPEN] > 0:
        if model.ended[0] != 0:
            return STOP.ENDED
        if nodes.key[0] >= budget:
            nodes.count[HEAP.OPEN] = 0
            break
        if worked >= share:
            return STOP.PAUSED
        if lacks_room(nodes, 2 * n_dims + 2):
            return STOP.FULL
        key, note = pop(nodes, workspace.low, workspace.high)
        node, delays = note // NOTES, note % NOTES
        workspace.note[0] = note
        worked += 1
        workspace.count[COUNT.NODES] += 1
        row, base = int64(-1), math.inf
        while True:
            base = settle(question, workspace, budget)
            if base >= budget:
                row = -1
                break
            key = max(key, base)
            hits = met_regions(
                regions=regions, question=question, x=workspace.x, low=workspace.low, high=workspace.high, paid=workspace.paid, member=workspace.member, base=base, budget=budget, found=workspace.found,
                weight=workspace.weight,
            )  # fmt: skip
            if hits == 0:
                room_at_x(question, workspace)
                verdict, rival = find_bad_in(
                    model, question, workspace.first, workspace.final, adversary_limit, stack, workspace.work
                )
                if verdict == FINDING.LIMIT:
                    push(nodes, workspace.low, workspace.high, key, note)
                    return STOP.STUCK
                if verdict != FINDING.BAD:
                    return STOP.CANDIDATE
                workspace.found[0] = learn(model, question, workspace, stack, regions, rival, budget)
                workspace.weight[0], hits = 1.0, int64(1)
            else:
                workspace.count[COUNT.MEETINGS] += 1
            row = workspace.found[0] if workspace.weight[0] > 0.0 else -1
            if row < 0:  # nothing of this region's clause is left within the budget
                log_region(log, node, regions, workspace.found[0])
            moved = False
            for attempt in range(2):  # the deepest cell of the room first, then one of the region that is hard to leave
                if row < 0 or moved or regions.rival[row] < 0:  # what a rule forbids has no cell to defend
                    break
                choose_cell(question, workspace, regions, row)
                if attempt == 0:
                    regions.uses[row] += 1
                    deepen(model, question, workspace, regions.rival[row])
                workspace.count[COUNT.BOUNDS] += 1
                keep_ends(log, workspace.low, workspace.high)
                outcome, value = bound(
                    model=model, question=question, rival=regions.rival[row], cell=workspace.cell, low=workspace.low, high=workspace.high, x=workspace.x,
                    paid=workspace.paid, base=base, budget=budget, scratch=scratch,
                )  # fmt: skip
                if model.ended[0] != 0:
                    return STOP.ENDED
                log_outcome(log, node, regions.rival[row], workspace, scratch.price[0], outcome, value)
                if outcome == BOUND.PRUNED:
                    row = -1
                    break
                key = max(key, value)
                moved = moved or x_is_cut_off(workspace)
            if row < 0 or not moved:
                break
        if row < 0:
            continue
        if delays < MOST_DELAYS and nodes.count[HEAP.OPEN] > 0 and key > nodes.key[0]:
            push(nodes, workspace.low, workspace.high, key, note + 1)
            continue
        split(question, workspace, regions, row, nodes, base, key, budget, log, node)
    return STOP.EMPTY
