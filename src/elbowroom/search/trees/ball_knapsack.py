"""The knapsack over the gains of `ball_gains`: bounds on the extra cost, and cuts of the node by reduced costs."""

from __future__ import annotations

import math

from elbowroom.numerics import Floats
from elbowroom.search.trees.ball_bound import SAFE
from elbowroom.search.trees.ball_gains import Tally, count_gains
from elbowroom.search.trees.ball_geometry import LARGEST, SQUARES, Geometry, guard, longest_move
from elbowroom.search.trees.ball_regions import Node
from elbowroom.search.trees.bits import Ensemble
from elbowroom.search.trees.compiled import inner_kernel, int64, sort_by


@inner_kernel
def _reach_bound(tally: Tally, n_reach: int, deficit: float) -> float:
    """The smallest extra budget within which the trees' best leaves fill the deficit."""
    for i in range(n_reach):
        tally.order[i] = i
    sort_by(tally.order, tally.reach_cost, n_reach)
    missing = deficit
    for t in range(n_reach):
        missing -= tally.reach_rise[tally.order[t]]
        if missing <= 0.0:
            return tally.reach_cost[tally.order[t]]
    return math.inf


@inner_kernel
def _hull(tally: Tally, begin: int, end: int, n_steps: int) -> int:
    """Append the steps of the concave hull of max(G up, G down) of one dimension, cheapest first."""
    cost, gain = tally.hull_cost, tally.hull_gain
    cost[0] = gain[0] = 0.0
    size, up, down = 1, 0.0, 0.0
    for t in range(begin, end):
        i = tally.order[t]
        if tally.event_key[i] & 1:
            up += tally.event_rise[i]
        else:
            down += tally.event_rise[i]
        c, g = tally.event_cost[i], max(up, down)
        if g <= gain[size - 1]:
            continue
        while size >= 2 and (g - gain[size - 2]) * (cost[size - 1] - cost[size - 2]) >= (
            gain[size - 1] - gain[size - 2]
        ) * (c - cost[size - 2]):
            size -= 1
        if c <= cost[size - 1]:  # a gain that costs nothing: a step of its own
            tally.step_cost[n_steps], tally.step_gain[n_steps] = 0.0, g - gain[size - 1]
            n_steps += 1
            gain[size - 1] = g
            continue
        cost[size], gain[size] = c, g
        size += 1
    for i in range(1, size):
        tally.step_cost[n_steps] = cost[i] - cost[i - 1]
        tally.step_gain[n_steps] = gain[i] - gain[i - 1]
        n_steps += 1
    return n_steps


@inner_kernel
def knapsack_bound(
    model: Ensemble, geometry: Geometry, node: Node, rival: int, base: float, proven: float, budget: float,
    load: Floats, tally: Tally,
) -> float:  # fmt: skip
    """A lower bound on the extra cost of every good centre of the node (inf: none within the budget).

    tally.half and tally.cell name the inscribed box and the bad cell. The node is tightened in place where the budget
    cannot pay for a position.
    """
    n_dims = node.x.shape[0]
    deficit, n_events, n_reach = count_gains(model, geometry, node, rival, base, proven, budget, load, tally)
    if deficit <= 0.0:
        return proven
    reach = _reach_bound(tally, n_reach, deficit) * SAFE
    if base + reach >= budget or geometry.norm == LARGEST:
        return reach
    for i in range(n_events):
        tally.order[i] = i
    sort_by(tally.order, tally.event_cost, n_events)
    # Counting sort by dimension keeps the order of costs.
    for d in range(n_dims + 1):
        tally.start[d] = 0
    for i in range(n_events):
        tally.start[(tally.event_key[i] >> 1) + 1] += 1
    for d in range(n_dims):
        tally.start[d + 1] += tally.start[d]
    for i in range(n_events):
        tally.rank[i] = tally.order[i]
    for t in range(n_events):
        i = int64(tally.rank[t])
        d = tally.event_key[i] >> 1
        tally.order[tally.start[d]] = i
        tally.start[d] += 1
    for d in range(n_dims, 0, -1):
        tally.start[d] = tally.start[d - 1]
    tally.start[0] = 0
    n_steps = int64(0)
    for d in range(n_dims):
        if tally.start[d + 1] > tally.start[d]:
            n_steps = _hull(tally, tally.start[d], tally.start[d + 1], n_steps)
    value, price = _fill(tally, n_steps, deficit)
    if value == math.inf or base + proven + value * SAFE >= budget:
        return math.inf
    if (
        budget < math.inf
        and price > 0.0
        and not _cut(geometry, node, base, proven, budget, deficit, price, load, tally)
    ):
        return math.inf
    return max(reach, proven + value * SAFE)


@inner_kernel
def _fill(tally: Tally, n_steps: int, deficit: float) -> tuple[float, float]:
    """Cost of the fractional knapsack, and the price of its last unit of gain."""
    # entry_key and entry_cost are free by now
    for i in range(n_steps):
        tally.entry_key[i] = i
        tally.entry_cost[i] = tally.step_cost[i] / tally.step_gain[i]
    sort_by(tally.entry_key, tally.entry_cost, n_steps)
    missing, value = deficit, 0.0
    for t in range(n_steps):
        i = tally.entry_key[t]
        if tally.step_gain[i] >= missing:
            return value + tally.entry_cost[i] * missing, tally.entry_cost[i]
        missing -= tally.step_gain[i]
        value += tally.step_cost[i]
    return math.inf, 0.0


@inner_kernel
def _span(tally: Tally, begin: int, end: int, direction: int, price: float, enough: float) -> tuple[float, float]:
    """Smallest and largest cost c along one direction with price G(c) - c > enough (1, -1: none)."""
    nearest, farthest = 1.0, -1.0
    at, gain = 0.0, 0.0
    t = begin
    while True:
        while t < end and (
            (tally.event_key[tally.order[t]] & 1) != direction or tally.event_cost[tally.order[t]] <= at
        ):
            if (tally.event_key[tally.order[t]] & 1) == direction:
                gain += tally.event_rise[tally.order[t]]
            t += 1
        until = tally.event_cost[tally.order[t]] if t < end else math.inf
        reach = price * gain - enough
        if reach >= at:
            if farthest < 0.0:
                nearest = at
            farthest = min(reach, until)
        if t >= end:
            return nearest, farthest
        at = until


@inner_kernel
def _cut(
    geometry: Geometry, node: Node, base: float, proven: float, budget: float, deficit: float, price: float,
    load: Floats, tally: Tally,
) -> bool:  # fmt: skip
    """Cut positions that the budget cannot pay for; False if nothing is left.

    By weak duality every good centre x' costs at least base + proven + price deficit - sum_f reward_f
    + (reward_f - price G_f(x'_f) + cost_f(x'_f)), where reward_f is the largest value of price G_f - cost_f.
    """
    n_dims = node.x.shape[0]
    value = price * deficit
    for d in range(n_dims):
        up = down = reward = 0.0
        for t in range(tally.start[d], tally.start[d + 1]):
            i = tally.order[t]
            if tally.event_key[i] & 1:
                up += tally.event_rise[i]
            else:
                down += tally.event_rise[i]
            reward = max(reward, price * max(up, down) - tally.event_cost[i])
        tally.hull_cost[d] = reward
        value -= reward
    room = (budget - base - proven) - value + 1e-9 * (budget - base + price * deficit)
    for d in range(n_dims):
        if node.low[d] == node.high[d] or geometry.rate[d] == 0.0:
            continue
        enough = tally.hull_cost[d] - room
        begin, end = tally.start[d], tally.start[d + 1]
        up_near, up_far = _span(tally, begin, end, 1, price, enough)
        down_near, down_far = _span(tally, begin, end, 0, price, enough)
        if up_far < 0.0 and down_far < 0.0:
            return False
        x = node.x[d]
        if up_far >= 0.0:
            length = _raw(geometry, node, d, up_far, load[2 * d + 1], base)
            node.high[d] = min(node.high[d], x + length * (1.0 + 1e-9) + guard(x, length))
        if down_far >= 0.0:
            length = _raw(geometry, node, d, down_far, load[2 * d], base)
            node.low[d] = max(node.low[d], x - length * (1.0 + 1e-9) - guard(x, length))
        if down_far < 0.0:
            length = _raw(geometry, node, d, up_near, load[2 * d + 1], base)
            if length < math.inf:
                node.low[d] = max(node.low[d], x + length * SAFE - guard(x, length))
        elif up_far < 0.0:
            length = _raw(geometry, node, d, down_near, load[2 * d], base)
            if length < math.inf:
                node.high[d] = min(node.high[d], x - length * SAFE + guard(x, length))
        if node.low[d] > node.high[d]:
            return False
    return True


@inner_kernel
def _raw(geometry: Geometry, node: Node, d: int, cost: float, load: float, base: float) -> float:
    """Raw length of a move of a given reduced cost."""
    part = 1.0 - load
    if part <= 1e-6 or cost == math.inf:
        return math.inf
    if geometry.norm == SQUARES:
        return longest_move(geometry.norm, node.paid[d], cost / part, base) / geometry.rate[d]
    return cost / part / geometry.rate[d]
