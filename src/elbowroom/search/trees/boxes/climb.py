"""Good centres without waiting for a proof.

Ascent: from a start, take again and again the single move (of one dimension or one category) that lowers the shortfall
of the rivals' smallest sums over the room most per cost, until nothing is lacking (or the adversary finds nothing bad).
Shrink: bring every changed block back towards home, to the cheapest position at which the room is still all good.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from elbowroom.kernels.bundle import Bundle, array
from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.kernels.tools import Words, int64, sort_by
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.bad.find import FINDING, Stack, find_bad_in
from elbowroom.search.trees.boxes.limits import LONG_LOOK, SHORT_LOOK, SHRINK_LOOK, SHRINK_ROUNDS
from elbowroom.search.trees.cells.leaves import Ensemble, narrow, smallest_share, smallest_sum
from elbowroom.search.trees.question.question import COSTS, Question


class _Climb(NamedTuple):
    """How `ascend` stopped."""

    LOST: int = 0  # no move helps
    ARRIVED: int = 1  # the room at x is all good
    CLIMBING: int = 2  # the share of steps is used up; call again


CLIMB: Final = _Climb()


@dataclass(frozen=True, eq=False)
class Ladder(Bundle):
    """Scratch arrays of the ascent, and of nothing else."""

    partial: Words = array("ends", "words")  # leaves met by the first b blocks, then by all blocks from b on
    trial: Words = array(2, "words")
    low: Ints = array("dims")
    high: Ints = array("dims")
    order: Ints = array("blocks")
    price: Floats = array("blocks")
    sums: Floats = array("rivals")  # smallest sum over the room at x
    rest: Floats = array("rivals")  # the part of it that one block does not touch


@inner_kernel
def keep_room(mask: Words, model: Ensemble, question: Question, d: int, position: int) -> None:
    """Leaves that the room at a position of one dimension meets."""
    i = question.pos_start[d] + position
    narrow(mask, model, d, question.low_cell[i], question.high_cell[i], int64(0), mask.shape[0])


@inner_kernel
def block_price(question: Question, block: int, x: Ints) -> float:
    """Cost of one block at x."""
    begin = question.block_start[block]
    home = question.group_home[block]
    if home >= 0:
        return 0.0 if x[home] == 1 else question.group_price[block]
    return question.cost[question.pos_start[begin] + x[begin]]


@inner_kernel
def at_home(question: Question, block: int, x: Ints) -> bool:
    """True if a block has not been changed (or could not be left unchanged)."""
    home = question.group_home[block]
    if home >= 0:
        return x[home] == 1
    begin = question.block_start[block]
    return x[begin] == question.home[begin] or question.block_counts[block] == 0


@kernel
def total_cost(question: Question, x: Ints, without: int) -> tuple[float, int]:
    """Total cost and number of changes at x, leaving one block out (-1: none)."""
    total, changes = question.constant, 0
    for b in range(question.group_home.shape[0]):
        if b != without:
            price = block_price(question, b, x)
            total = total + price if question.norm == COSTS.ADDITIVE else max(total, price)
            if not at_home(question, b, x):
                changes += 1
    return total, changes


@inner_kernel
def is_good(model: Ensemble, question: Question, x: Ints, limit: int, stack: Stack, ladder: Ladder, work: Ints) -> bool:
    """True if the adversary finds nothing bad in the room at x."""
    for d in range(x.shape[0]):
        ladder.low[d] = question.low_cell[question.pos_start[d] + x[d]]
        ladder.high[d] = question.high_cell[question.pos_start[d] + x[d]]
    verdict, _ = find_bad_in(model, question, ladder.low, ladder.high, limit, stack, work)
    return verdict == FINDING.GOOD


@inner_kernel
def _lack(model: Ensemble, question: Question, x: Ints, ladder: Ladder) -> float:
    """What the rivals' smallest sums over the room at x lack, all together; fills ladder.partial and ladder.sums."""
    partial, n_blocks, n_words = ladder.partial, question.group_home.shape[0], model.everything.shape[0]
    for w in range(n_words):
        partial[0, w] = partial[2 * n_blocks + 1, w] = model.everything[w]
    for k in range(2 * n_blocks):
        forwards = k < n_blocks
        b = k if forwards else 2 * n_blocks - 1 - k
        row = b + 1 if forwards else n_blocks + 1 + b
        for w in range(n_words):
            partial[row, w] = partial[row - 1 if forwards else row + 1, w]
        for d in range(question.block_start[b], question.block_start[b + 1]):
            keep_room(partial[row], model, question, d, x[d])
    lack = 0.0
    for r in range(model.need.shape[0]):
        ladder.sums[r] = smallest_sum(partial[n_blocks], model, r)
        lack += max(0.0, model.need[r] - ladder.sums[r])
    return lack


@inner_kernel
def _gain(
    model: Ensemble, question: Question, block: int, choice: int, group: bool, lack: float, ladder: Ladder
) -> float:
    """What a move of one block gains: to a category of a group, or to a position of a single dimension."""
    trial, rest = ladder.trial[0], ladder.trial[1]
    begin, end = question.block_start[block], question.block_start[block + 1]
    for w in range(trial.shape[0]):
        trial[w] = rest[w]
    for d in range(begin, end):
        keep_room(trial, model, question, d, choice if not group else (1 if d == begin + choice else 0))
    gain = lack
    for r in range(model.need.shape[0]):
        if group:
            sums = smallest_sum(trial, model, r)
        else:  # a rival looks at one of two linked dimensions
            sums = ladder.rest[r]
            for d in range(begin, end):
                sums += smallest_share(trial, model, r, d)
        gain -= max(0.0, model.need[r] - sums)  # where several dimensions change at once, everything is summed
    return gain


@inner_kernel
def _best_move(
    model: Ensemble, question: Question, first: Ints, final: Ints, x: Ints, budget: float, total: float, lack: float,
    ladder: Ladder,
) -> tuple[int, int]:  # fmt: skip
    """The block (-1: none), and its category or position, that gains most per cost within the budget."""
    n_blocks, n_words = question.group_home.shape[0], model.everything.shape[0]
    partial, rest = ladder.partial, ladder.trial[1]
    best_score, best_block, best_choice = 0.0, -1, -1
    for b in range(n_blocks):
        begin, end = question.block_start[b], question.block_start[b + 1]
        group = question.group_home[b] >= 0
        others, changes = total_cost(question, x, b)
        for w in range(n_words):
            rest[w] = partial[b, w] & partial[n_blocks + 2 + b, w]
        for r in range(model.need.shape[0]):
            ladder.rest[r] = ladder.sums[r]
            for d in range(begin, begin + 1 if group else end):
                ladder.rest[r] -= smallest_share(partial[n_blocks], model, r, d)
        for i in range(end - begin if group else final[begin] - first[begin] + 1):
            choice = i if group else first[begin] + i
            if group:
                if x[begin + i] == 1 or final[begin + i] == 0:
                    continue
                stays = begin + i == question.group_home[b]
                price = 0.0 if stays else question.group_price[b]
            else:
                if choice == x[begin]:
                    continue
                stays = choice == question.home[begin] or question.block_counts[b] == 0
                price = question.cost[question.pos_start[begin] + choice]
            after = others + price if question.norm == COSTS.ADDITIVE else max(others, price)
            if after >= budget or (not stays and changes + 1 > question.changes):
                continue
            gain = _gain(model, question, b, choice, group, lack, ladder)
            if gain <= 1e-12 * lack:
                continue
            rise = after - total
            score = gain / rise if rise > 0.0 else 1e100 * gain
            if score > best_score:
                best_score, best_block, best_choice = score, b, choice
            if model.ended[0] != 0:
                return -1, -1
    return best_block, best_choice


@kernel
def ascend(
    model: Ensemble, question: Question, first: Ints, final: Ints, x: Ints, budget: float, steps: int, stack: Stack,
    ladder: Ladder, work: Ints,
) -> int:  # fmt: skip
    """Climb from x (in place) within positions first..final to a room that is all good at a cost < budget.

    The adversary is asked at the last of the steps, and whenever no move helps.
    """
    for step in range(steps):
        lack = _lack(model, question, x, ladder)
        total, _ = total_cost(question, x, int64(-1))
        if total < budget:
            if lack <= 0.0:
                return CLIMB.ARRIVED
            if step == steps - 1 and is_good(model, question, x, int64(SHORT_LOOK), stack, ladder, work):
                return CLIMB.ARRIVED
        block, choice = _best_move(
            model=model, question=question, first=first, final=final, x=x, budget=budget, total=total, lack=lack,
            ladder=ladder,
        )  # fmt: skip
        if block < 0:
            good = total < budget and is_good(model, question, x, int64(LONG_LOOK), stack, ladder, work)
            return CLIMB.ARRIVED if good else CLIMB.LOST
        begin, end = question.block_start[block], question.block_start[block + 1]
        if question.group_home[block] >= 0:
            for d in range(begin, end):
                x[d] = 1 if d == begin + choice else 0
        else:
            for d in range(begin, end):
                x[d] = choice
    return CLIMB.CLIMBING


@kernel
def shrink(
    model: Ensemble, question: Question, first: Ints, final: Ints, x: Ints, most_work: int, stack: Stack,
    ladder: Ladder, work: Ints,
) -> None:  # fmt: skip
    """Bring blocks back towards home while the room stays good, the most expensive first, until the work is done."""
    n_blocks, end_of_work = question.group_home.shape[0], work[0] + most_work
    for _ in range(SHRINK_ROUNDS):
        changed = False
        for b in range(n_blocks):
            ladder.order[b] = b
            ladder.price[b] = -block_price(question, b, x)
        sort_by(ladder.order, ladder.price, n_blocks)
        for i in range(n_blocks):
            b = ladder.order[i]
            begin, end = question.block_start[b], question.block_start[b + 1]
            home = question.group_home[b]
            if home >= 0:
                if x[home] == 1 or final[home] == 0:
                    continue
                now = begin
                for d in range(begin, end):
                    if x[d] == 1:
                        now = d
                x[now], x[home] = 0, 1
                if is_good(model, question, x, int64(SHRINK_LOOK), stack, ladder, work):
                    changed = True
                else:
                    x[now], x[home] = 1, 0
                continue
            before = x[begin]
            p = min(max(question.home[begin], first[begin]), final[begin])
            step = 1 if before > p else -1
            while p != before and work[0] < end_of_work and model.ended[0] == 0:
                for d in range(begin, end):
                    x[d] = p
                if is_good(model, question, x, int64(SHRINK_LOOK), stack, ladder, work):
                    changed = True
                    break
                for d in range(begin, end):
                    x[d] = before
                p += step
        if not changed:
            break
