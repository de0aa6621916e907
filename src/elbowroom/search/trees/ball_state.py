"""The node at hand: its nearest centre, what that costs, and bad regions that its room meets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import Words, sort_by
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.adversary import BAD, GOOD, Stack
from elbowroom.search.trees.ball_adversary import exits_first, find_bad_near
from elbowroom.search.trees.ball_cover import Cover
from elbowroom.search.trees.ball_geometry import LARGEST, SQUARES, Geometry, guard, longest_move
from elbowroom.search.trees.ball_inscribed import Inscribed
from elbowroom.search.trees.ball_regions import BallRegions, Literals, Node, add_ball_region, look_around, next_met
from elbowroom.search.trees.ball_shared import settle_group
from elbowroom.search.trees.bits import Ensemble
from elbowroom.search.trees.gains import Scratch
from elbowroom.search.trees.grow import grow
from elbowroom.search.trees.question import Question

NOTHING = -1  # no bad region is met
UNSURE = -2  # the adversary needs a larger limit or stack

# Indices into Bench.count
NODES = 0
BOUNDS = 1
CLOSED = 2  # nodes whose nearest centre is good or nearly so


@dataclass(frozen=True, eq=False)
class Bench(Bundle):
    """Arrays without a place of their own."""

    used: Floats  # (dims,)
    order: Ints  # (2 dims,)
    rank: Floats
    taken: Ints
    none: Floats  # (2 dims,) no load
    low: Ints  # (dims,)
    high: Ints
    suffix: Words  # (2 dims + 1, words)
    spare: Words  # (3, words)
    work: Ints  # (1,)
    count: Ints
    random: Words  # (1,)
    key: Floats  # (2,) of the node handed over, and of the one in desk.trial during a dive
    dive: Ints  # (1,) 1 + the depth of a dive that goes on with desk.trial at the next call; 0: none does
    ends: Floats  # (6,) of children

    @classmethod
    def of(cls, n_words: int, n_dims: int, seed: int) -> Bench:
        sides = 2 * n_dims
        return cls(
            np.zeros(n_dims), np.zeros(sides, np.int64), np.zeros(sides), np.zeros(sides, np.int64), np.zeros(sides),
            np.zeros(n_dims, np.int64), np.zeros(n_dims, np.int64), np.zeros((sides + 1, n_words), np.uint64),
            np.zeros((3, n_words), np.uint64), np.zeros(1, np.int64), np.zeros(3, np.int64),
            np.array([seed], dtype=np.uint64), np.zeros(2), np.zeros(1, np.int64), np.zeros(6),
        )  # fmt: skip


class Desk(NamedTuple):
    """Room to work on one node."""

    node: Node
    trial: Node
    literals: Literals
    cover: Cover
    inside: Inscribed
    bench: Bench
    cells: Question
    scratch: Scratch

    @classmethod
    def of(cls, model: Ensemble, cells: Question, seed: int) -> Desk:
        n_words, n_dims = model.everything.size, cells.home.size
        return cls(
            Node.of(n_dims), Node.of(n_dims), Literals.of(n_dims), Cover.of(n_dims), Inscribed.of(n_dims),
            Bench.of(n_words, n_dims, seed), cells, Scratch.of(model, cells),
        )  # fmt: skip


@inner_kernel
def settle_node(question: Question, geometry: Geometry, node: Node, budget: float) -> float:
    """The nearest centre of the node and its total cost (inf: none); values beyond budget or changes are cut off."""
    low, high, x, paid = node.low, node.high, node.x, node.paid
    base, changes = question.constant, 0
    for b in range(question.group_home.shape[0]):
        d = question.block_start[b]
        if question.group_home[b] >= 0:
            chosen = settle_group(question, b, low, high, x)
            if chosen < 0:
                return math.inf
            moved = chosen != question.group_home[b]
            cost = question.group_price[b] if moved else 0.0
            for e in range(d, question.block_start[b + 1]):
                paid[e] = 0.0
                node.unpaid[e] = 0 if moved else 1
        else:
            if geometry.whole[d] == 1:
                low[d], high[d] = np.ceil(low[d]), np.floor(high[d])
            if not low[d] <= high[d]:
                return math.inf
            x[d] = min(max(geometry.home[d], low[d]), high[d])
            moved = x[d] != geometry.home[d]
            paid[d] = geometry.rate[d] * abs(x[d] - geometry.factual[d])
            cost = paid[d] * paid[d] if geometry.norm == SQUARES else paid[d]
            node.unpaid[d] = 0
        base = max(base, cost) if geometry.norm == LARGEST else base + cost
        if moved:
            changes += question.block_counts[b]
    if changes > question.changes or base >= budget:
        return math.inf
    spare = budget - base
    for b in range(question.group_home.shape[0]):
        d = question.block_start[b]
        if question.group_home[b] >= 0:
            price = question.group_price[b]
            dear = price >= budget if geometry.norm == LARGEST else price >= spare
            if node.unpaid[d] == 1 and (changes == question.changes or dear):
                for e in range(d, question.block_start[b + 1]):
                    low[e] = high[e] = x[e]
        elif changes == question.changes and x[d] == geometry.home[d] and question.block_counts[b] == 1:
            low[d] = high[d] = x[d]
        elif low[d] < high[d] and spare < math.inf and geometry.rate[d] > 0.0:
            length = longest_move(geometry.norm, paid[d], spare, base) / geometry.rate[d]
            reach = length * (1.0 + 1e-12) + guard(x[d], length)
            low[d], high[d] = max(low[d], x[d] - reach), min(high[d], x[d] + reach)
    return base


@inner_kernel
def _learn_region(
    model: Ensemble, geometry: Geometry, regions: BallRegions, x: Floats, rival: int, stack: Stack, bench: Bench
) -> int:
    """Grow the bad range in row 0 of the stack, cheapest exits first, and store it; its row."""
    exits_first(geometry, x, stack, bench.order, bench.rank)
    sort_by(bench.order, bench.rank, 2 * x.shape[0])
    for d in range(x.shape[0]):
        bench.low[d], bench.high[d] = stack.low[0, d], stack.high[0, d]
    grow(
        model, rival, bench.low, bench.high, bench.order, geometry.low_cell, geometry.high_cell, bench.suffix, bench.spare
    )  # fmt: skip
    return add_ball_region(regions, geometry, bench.low, bench.high, rival, bench.random)


@inner_kernel
def bad_region_at(
    model: Ensemble, question: Question, geometry: Geometry, regions: BallRegions, x: Floats, threshold: float,
    limit: int, stack: Stack, desk: Desk,
) -> int:  # fmt: skip
    """A stored region that the room at x meets, or a new one; NOTHING or UNSURE otherwise."""
    look_around(regions, geometry, x)
    row, _ = next_met(regions, geometry, x, threshold)
    if row >= 0:
        return row
    verdict, rival = find_bad_near(
        model, question, geometry, x, threshold, limit, stack, desk.bench.used, desk.bench.work
    )
    if verdict == GOOD:
        return NOTHING
    if verdict != BAD:
        return UNSURE
    return _learn_region(model, geometry, regions, x, rival, stack, desk.bench)
