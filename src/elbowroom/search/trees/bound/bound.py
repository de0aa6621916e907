"""How much further must a centre go before a bad cell lets it through?

Fix a bad cell v that the room at x covers. The adversary may stay in v as long as the room covers it, and otherwise
is at the nearest cell that the room does cover: at positions p it is at clamp(v, A(p), B(p)), A and B being the
first and last cell of the room. Let F0 < need be the rival's sum at v. For every tree and every leaf that is reachable
within the budget, the gain of the leaf over the present one is shared among the dimensions that must move, in proportion
to their cost; g_f(p) is the running maximum of these shares along f. Whatever leaf a tree ends up in,

    F(x') <= F0 + sum_f G_f(x'_f),    G_f = sum over trees of g_f,

so the deficit need - F0 must be filled by sum_f G_f: a knapsack. Its relaxation over the concave hulls of (cost, G_f)
bounds the extra cost from below. One dimension per tree carries the exact envelope of what remains, which may be
negative. With the multiplier lam of the relaxation, positions whose lam G_f(p) - cost_f(p) falls so far behind the best
one of f that the budget cannot pay for it are cut off.

With the largest cost instead of the sum (linf), a leaf's whole gain lies on its most expensive dimension, and the bound is the
smallest cost at which all gains up to it fill the deficit.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import int64, sort_by
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.bound.gains import Scratch, clamp, collect_gains
from elbowroom.search.trees.cells.leaves import Ensemble, narrow, smallest_sum
from elbowroom.search.trees.question.question import COSTS, Question, extra


class _Bound(NamedTuple):
    """What the bound says about a node."""

    OPEN: int = 0  # the bound holds, the node lives on
    PRUNED: int = 1  # no centre of the node within the budget can pass this cell
    HOLDS: int = 2  # the cell is not bad by this engine's own sums (the judge was stricter): no bound


BOUND: Final = _Bound()


@inner_kernel
def bound(
    model: Ensemble, question: Question, rival: int, cell: Ints, low: Ints, high: Ints, x: Ints, paid: Floats,
    base: float, budget: float, scratch: Scratch,
) -> tuple[int, float]:  # fmt: skip
    """OPEN, BOUND.PRUNED or BOUND.HOLDS, and a lower bound on the total cost of any centre of the node that passes ``cell``.

    The node is the positions low..high, tightened in place; x is its nearest centre, of total cost ``base``, and its
    room covers ``cell``, which is bad for ``rival``. Only centres of total cost < budget are of interest.
    """
    n_dims = x.shape[0]
    scratch.price[0] = -1.0
    begin, end = model.word_start[rival], model.word_start[rival + 1]
    for w in range(begin, end):
        scratch.here[w] = scratch.reach[w] = model.everything[w]
    for d in range(n_dims):
        o = question.pos_start[d]
        narrow(scratch.here, model, d, cell[d], cell[d], begin, end)
        first = clamp(cell[d], question.low_cell[o + low[d]], question.high_cell[o + low[d]])
        final = clamp(cell[d], question.low_cell[o + high[d]], question.high_cell[o + high[d]])
        narrow(scratch.reach, model, d, first, final, begin, end)
        for p in range(o + d + low[d], o + d + high[d] + 2):
            scratch.gain[p] = 0.0
    deficit = model.need[rival] - smallest_sum(scratch.here, model, rival)
    if deficit <= 0.0:
        return BOUND.HOLDS, base
    deficit -= model.guard[rival]
    most = collect_gains(
        model=model, question=question, rival=rival, cell=cell, low=low, high=high, paid=paid, base=base,
        budget=budget, floor=-4.0 * model.biggest[rival], scratch=scratch,
    )  # fmt: skip
    if model.ended[0] != 0:
        return BOUND.HOLDS, base
    if most < deficit:
        return BOUND.PRUNED, base
    for d in range(n_dims):  # increments become the functions G
        o = question.pos_start[d] + d
        total = 0.0
        for p in range(o + low[d], o + high[d] + 1):
            total += scratch.gain[p]
            scratch.gain[p] = total
    if question.norm != COSTS.ADDITIVE:
        return fill_by_cost(
            question=question, low=low, high=high, x=x, paid=paid, base=base, budget=budget, deficit=deficit,
            scratch=scratch,
        )  # fmt: skip
    value, price = fill_by_ratio(
        question=question, low=low, high=high, x=x, paid=paid, base=base, budget=budget, deficit=deficit,
        scratch=scratch,
    )  # fmt: skip
    scratch.price[0] = price
    if price < 0.0 or base + value >= budget:
        return BOUND.PRUNED, base
    if budget < math.inf and not tighten(
        question=question, low=low, high=high, paid=paid, base=base, budget=budget, deficit=deficit, price=price,
        scratch=scratch,
    ):  # fmt: skip
        return BOUND.PRUNED, base
    return BOUND.OPEN, base + value


@inner_kernel
def steps_outwards(
    question: Question, d: int, low: int, high: int, x: int, paid: Floats, limit: float, n_steps: int,
    scratch: Scratch,
) -> int:  # fmt: skip
    """Append the steps (cost, gain) by which G rises along one dimension, cheapest first; if costs add up, along its
    concave hull."""
    o, cost, gain = question.pos_start[d] + d, scratch.hull_cost, scratch.hull_gain
    concave = question.norm == COSTS.ADDITIVE
    cost[0] = gain[0] = 0.0
    size, up, down = 1, x + 1, x - 1
    while up <= high or down >= low:
        if down < low or (up <= high and extra(question, paid, d, up) <= extra(question, paid, d, down)):
            p = up
            up += 1
        else:
            p = down
            down -= 1
        c, g = extra(question, paid, d, p), scratch.gain[o + p]
        if c >= limit:
            break
        if g <= gain[size - 1]:
            continue
        while (
            concave
            and size >= 2
            and (g - gain[size - 2]) * (cost[size - 1] - cost[size - 2])
            >= (gain[size - 1] - gain[size - 2]) * (c - cost[size - 2])
        ):
            size -= 1
        cost[size], gain[size] = c, g
        size += 1
    for i in range(1, size):
        scratch.step_cost[n_steps] = cost[i] - cost[i - 1] if concave else cost[i]
        scratch.step_gain[n_steps] = gain[i] - gain[i - 1]
        n_steps += 1
    return n_steps


@inner_kernel
def _all_steps(question: Question, low: Ints, high: Ints, x: Ints, paid: Floats, limit: float, scratch: Scratch) -> int:
    """The steps of all dimensions, in scratch.step_cost and scratch.step_gain; their number."""
    n_steps = int64(0)
    for d in range(x.shape[0]):
        if low[d] < high[d]:
            n_steps = steps_outwards(
                question=question, d=d, low=low[d], high=high[d], x=x[d], paid=paid, limit=limit, n_steps=n_steps,
                scratch=scratch,
            )  # fmt: skip
    return n_steps


@inner_kernel
def fill_by_ratio(
    question: Question, low: Ints, high: Ints, x: Ints, paid: Floats, base: float, budget: float, deficit: float,
    scratch: Scratch,
) -> tuple[float, float]:  # fmt: skip
    """The knapsack over concave hulls: extra cost, and the price of the last unit of gain (-1: cannot be filled)."""
    n_steps = _all_steps(question, low, high, x, paid, budget - base, scratch)
    for i in range(n_steps):
        scratch.order[i] = i
        scratch.rank[i] = scratch.step_cost[i] / scratch.step_gain[i]
    sort_by(scratch.order, scratch.rank, n_steps)
    if deficit <= 0.0:
        return 0.0, 0.0
    missing, value = deficit, 0.0
    for t in range(n_steps):
        i = scratch.order[t]
        if scratch.step_gain[i] >= missing:
            return value + scratch.rank[i] * missing, scratch.rank[i]
        missing -= scratch.step_gain[i]
        value += scratch.step_cost[i]
    return value, -1.0


@inner_kernel
def fill_by_cost(
    question: Question, low: Ints, high: Ints, x: Ints, paid: Floats, base: float, budget: float, deficit: float,
    scratch: Scratch,
) -> tuple[int, float]:  # fmt: skip
    """The same for the largest cost: the smallest cost at which everything up to it fills the deficit."""
    n_steps = _all_steps(question, low, high, x, paid, budget, scratch)
    for i in range(n_steps):
        scratch.order[i] = i
    sort_by(scratch.order, scratch.step_cost, n_steps)
    missing = deficit
    if missing <= 0.0:
        return BOUND.OPEN, base
    for t in range(n_steps):
        i = scratch.order[t]
        missing -= scratch.step_gain[i]
        if missing <= 0.0:
            return BOUND.OPEN, max(base, scratch.step_cost[i])
    return BOUND.PRUNED, base


@inner_kernel
def tighten(
    question: Question, low: Ints, high: Ints, paid: Floats, base: float, budget: float, deficit: float, price: float,
    scratch: Scratch,
) -> bool:  # fmt: skip
    """Cut positions that the budget cannot pay for; False if nothing is left.

    By weak duality every centre x' that fills the deficit costs at least
    base + price deficit - sum_f reward_f + (reward_f - price G_f(x'_f) + extra_f(x'_f)), reward_f = max_p of the last.
    Of two linked dimensions a rival looks at one: the other one's cost is the same cost, and must not count beside it.
    """
    n_dims = low.shape[0]
    value = price * deficit
    for d in range(n_dims):
        o, reward = question.pos_start[d] + d, 0.0
        for p in range(low[d], high[d] + 1):
            reward = max(reward, price * scratch.gain[o + p] - extra(question, paid, d, p))
        scratch.hull_cost[d] = reward
        value -= reward
    room = budget - base - value
    for d in range(n_dims):
        if low[d] == high[d] or _gains_beside(question, low, high, d, scratch):
            continue
        o, first, final = question.pos_start[d] + d, low[d], high[d]
        enough = scratch.hull_cost[d] - room
        while first <= final and price * scratch.gain[o + first] - extra(question, paid, d, first) <= enough:
            first += 1
        while final >= first and price * scratch.gain[o + final] - extra(question, paid, d, final) <= enough:
            final -= 1
        if first > final:
            return False
        low[d], high[d] = first, final
    return True


@inner_kernel
def _gains_beside(question: Question, low: Ints, high: Ints, d: int, scratch: Scratch) -> bool:
    """True if a linked dimension gains anything: what d costs is then paid there."""
    other = question.partner[d]
    if other >= 0:
        o = question.pos_start[other] + other
        for p in range(low[other], high[other] + 1):
            if scratch.gain[o + p] != 0.0:
                return True
    return False
