"""A lower bound by splitting the cost among the trees: the dual of the linear program over leaves, by block ascent.

An adversary who stands at v takes the point y(x) = clamp(v, low(x), high(x)) of the room around x. It lies right of a cut iff x >
`below` of the cut (where v does), or x >= `above` of it (where v does not): so every split is a threshold on the centre, and the
question becomes   min sum_f c_f(x_f)   s.t.   base + sum_t value of the leaf of tree t that x reaches >= need.   With any mu >= 0 and
any shares of the cost,  sum_t lam_tf(x_f) <= c_f(x_f),  no good centre costs less than

    mu (need - base) + sum_t min over leaves l of t [ -mu value_l + sum_f min over l's range of lam_tf ].

lam_tf is constant between the thresholds of tree t: one number per threshold. One ascent is exact in all shares of a column
(`split_kernels.ascend`). E(p) - min E + the bound then is a bound for centres in cell p of that column: what reaches the best cost is
cut off, and the column keeps a window. Shares that exceed the cost by rounding are counted against the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from elbowroom.kernels.alarm import alarm
from elbowroom.kernels.tools import Shorts
from elbowroom.models import TreeEnsemble
from elbowroom.models.margins import TreeMargins
from elbowroom.numerics import Bools, Floats, Ints, next_down, next_up
from elbowroom.problem import RecourseProblem
from elbowroom.problem.shapes import is_round
from elbowroom.search.contract import Clock
from elbowroom.search.trees.first.asked import Asked
from elbowroom.search.trees.first.collapse import Collapsed
from elbowroom.search.trees.first.dual import BUDGET, ROUNDING, Dual
from elbowroom.search.trees.first.forest import Forest
from elbowroom.search.trees.first.limits import FEW_SWEEPS, RISING, STAND_STEPS
from elbowroom.search.trees.first.narrow import tighten
from elbowroom.search.trees.first.split_kernels import Paths, Shares, list_leaves

_VALUES = 7  # per column, of the room


@dataclass(frozen=True, eq=False)
class _Thresholds:
    """Every split as a threshold: the centre goes left iff x <= theta. ``cost``: of centres beyond it, seen from home."""

    theta: Floats  # (nodes,) -inf: always right; inf: always left
    cost: Floats


def _thresholds(forest: Forest, asked: Asked, nodes: Ints, stand: Floats, away: Floats) -> _Thresholds:
    of = forest.feature[nodes]
    right = stand[of] > forest.cut[nodes]
    below, above = asked.below[nodes], asked.above[nodes]
    theta = np.where(right, below, np.where(np.isfinite(above), next_down(above), above))
    cost = np.where(right, asked.below_cost[nodes], asked.above_cost[nodes])
    return _Thresholds(theta, np.where(np.isnan(away[of]), cost, away[of]))


def _away(asked: Asked, n_columns: int, n_features: int) -> Floats:
    """What leaving home costs in columns of groups: half of the category's price for each of the two columns that change; nothing in
    columns of splits by category, which are not paid for twice. NaN: a single column, inf: one that does not move."""
    away = np.full(n_columns, np.inf)
    for b in range(asked.n_blocks):
        columns = asked.block_column[asked.block_start[b] : asked.block_start[b + 1]]
        away[columns] = 0.0 if asked.is_group[b] else np.nan
        if not asked.is_group[b] or asked.home_choice[b] < 0:
            continue
        begin, at = int(asked.choice_start[b]), int(asked.choice_at[b])
        costs = asked.choice_cost[begin : begin + asked.choices[b]]
        rows = asked.choice_value[at : at + costs.size * columns.size].reshape(-1, columns.size)
        for k in np.flatnonzero(columns < n_features):
            moves = rows[:, k] != rows[asked.home_choice[b], k]
            away[columns[k]] = 0.5 * float(costs[moves].min(initial=np.inf))
    return away


class Split(Dual):
    """The bound for one rival on collapsed trees, for centres of total cost < budget."""

    def __init__(
        self, forest: Forest, asked: Asked, small: Collapsed, margins: TreeMargins, rival: int, stand: Floats, budget: float
    ) -> None:  # fmt: skip
        model, self.budget, ended = small.model, budget, np.zeros(1, np.int64)
        kept = margins.hopeful or margins
        self._asked, self._forest = asked, forest
        inner = np.flatnonzero(model.feature >= 0)
        nodes = small.node[inner]
        limits = _thresholds(forest, asked, nodes, stand, _away(asked, forest.n_columns, model.info.n_features))
        column = forest.feature[nodes].astype(np.int64)
        fixed = ~np.isfinite(limits.theta)
        tree = np.searchsorted(model.roots, inner, "right") - 1
        paths = self._slots(model.feature, model.left, model.right, model.roots, inner, tree, column, limits, fixed)
        leaf, leaf_start, entry_start, entries = self._leaves(paths)
        value = kept.value[small.leaf[leaf], rival]
        n_slots, n_cells = self._slot_column.size, int(self._cell_start[-1])
        widest = int(np.diff(self._cell_start).max(initial=1))
        level = np.zeros(widest + 1, np.int32)
        level[1:] = np.log2(np.arange(1, widest + 1) + 0.5)
        by_column = np.argsort(self._slot_column, kind="stable")
        shares = Shares(
            value=np.ascontiguousarray(value, dtype=np.float64),
            leaf_start=leaf_start,
            priced=np.zeros(leaf.size),
            stamp=np.full(leaf.size, -1, np.int32),
            entry_start=entry_start,
            entry_leaf=entries[0],
            entry_low=entries[1],
            entry_high=entries[2],
            entry_share=np.zeros(entries[0].size),
            floor=np.zeros(n_slots),
            tree_floor=np.zeros(model.n_trees),
            slot_tree=self._slot_tree,
            column_start=np.searchsorted(self._slot_column[by_column], np.arange(forest.n_columns + 1)).astype(
                np.int64
            ),
            column_slot=by_column.astype(np.int64),
            lam_start=self._lam_start,
            lam=np.zeros(int(self._lam_start[-1])),
            coarse=self._coarse,
            cell_start=self._cell_start,
            cost=self._costs(),
            total=np.zeros(n_cells),
            lost=np.zeros(n_cells, np.int64),
            level=level,
            least=np.zeros((int(level[-1]) + 1, widest)),
        )
        missing = float(kept.slack[rival] - kept.base[rival])
        sizes = abs(missing) + float(np.abs(value).max(initial=0.0)) * model.n_trees
        super().__init__(shares, self._at_home(), missing - ROUNDING * sizes, sizes, ended)
        self.work = leaf.size + 2 * entries[0].size + int(np.diff(leaf_start)[self._slot_tree].sum())  # of one sweep

    # ---- the trees as thresholds --------------------------------------------------------------------------------------
    def _slots(
        self, feature: Ints, left: Ints, right: Ints, roots: Ints, inner: Ints, tree: Ints, column: Ints,
        limits: _Thresholds, fixed: Bools,
    ) -> Paths:  # fmt: skip
        """Fine cells of every column, coarse ones of every (tree, column), and where each node divides them."""
        n_columns, open_ = self._forest.n_columns, np.flatnonzero(~fixed)
        self._theta, self._theta_cost, rank = [], [], np.zeros(inner.size, np.int64)
        for f in range(n_columns):
            mine = open_[column[open_] == f]
            theta, place = np.unique(limits.theta[mine], return_inverse=True)
            cost = np.full(theta.size, np.inf)
            np.minimum.at(cost, place, limits.cost[mine])
            rank[mine] = place
            self._theta.append(theta)
            self._theta_cost.append(cost)
        self._cell_start = np.cumsum([0, *(theta.size + 1 for theta in self._theta)], dtype=np.int64)
        widest = int(max((theta.size for theta in self._theta), default=0)) + 1
        key = (tree * n_columns + column)[open_]
        pair, own = np.unique(key * widest + rank[open_], return_inverse=True)
        slots, start = np.unique(pair // widest, return_index=True)
        start = np.append(start, pair.size)
        of_node = np.searchsorted(slots, key)
        self._slot_tree, self._slot_column = slots // n_columns, slots % n_columns
        thresholds = np.diff(start)
        self._lam_start = np.concatenate([[0], np.cumsum(thresholds + 1)]).astype(np.int64)
        self._coarse = np.zeros(int(self._lam_start[-1]), np.int32)
        first = np.zeros(self._coarse.size, np.bool_)
        first[self._lam_start[:-1]] = True
        self._coarse[~first] = pair % widest + 1
        slot_start = np.searchsorted(self._slot_tree, np.arange(roots.size + 1)).astype(np.int64)
        own_of, slot_of = np.zeros(feature.size, np.int64), np.zeros(feature.size, np.int64)
        own_of[inner[fixed]] = np.where(limits.theta[fixed] > 0.0, -2, -1)
        own_of[inner[open_]] = own - start[of_node]
        slot_of[inner[open_]] = of_node - slot_start[tree[open_]]
        return Paths(
            feature.astype(np.int64), left.astype(np.int64), right.astype(np.int64), roots.astype(np.int64), own_of, slot_of,
            slot_start, thresholds.astype(np.int64),
        )  # fmt: skip

    def _leaves(self, paths: Paths) -> tuple[Ints, Ints, Ints, tuple[Shorts, Shorts, Shorts]]:
        """Leaves, where those of each tree and the entries of each slot begin, and the entries."""
        most, n_slots = int(np.diff(paths.slot_start).max(initial=0)) + 1, int(paths.slot_start[-1])
        stack = np.zeros((3, len(paths.feature) + 2), np.int64)
        low, high, leaf_start = (np.zeros(n, np.int64) for n in (most, most, len(paths.roots) + 1))
        start, at = np.zeros(n_slots + 1, np.int64), np.zeros(n_slots, np.int64)
        leaf, entries = np.zeros(0, np.int64), (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int32))
        for fill in (0, 1):
            list_leaves(paths, stack, low, high, fill, leaf, leaf_start, at, *entries)
            if fill == 0:
                start[1:] = np.cumsum(at)
                at[:] = start[:-1]
                leaf, size = np.zeros(int(leaf_start[-1]), np.int64), int(start[-1])
                entries = np.zeros(size, np.int32), np.zeros(size, np.int32), np.zeros(size, np.int32)
        return leaf, leaf_start, start, entries

    def _costs(self) -> Floats:
        """What a centre in each fine cell costs at least in its column; centres do not get cheaper away from home."""
        cost = np.zeros(int(self._cell_start[-1]))
        for f, (theta, beyond) in enumerate(zip(self._theta, self._theta_cost, strict=True)):
            mine = cost[self._cell_start[f] : self._cell_start[f + 1]]
            home = int(np.searchsorted(theta, self._asked.home[f]))
            mine[home] = self._asked.home_cost[f]
            mine[:home], mine[home + 1 :] = beyond[:home], beyond[home:]
        return cost

    def _at_home(self) -> float:
        """The cost of blocks that no threshold is about, and of what does not move."""
        asked, rest = self._asked, self._asked.constant
        for b in range(asked.n_blocks):
            f = int(asked.block_column[asked.block_start[b]])
            if asked.is_group[b]:
                begin = int(asked.choice_start[b])
                rest += float(asked.choice_cost[begin : begin + asked.choices[b]].min())
            elif not self._theta[f].size:
                rest += float(asked.home_cost[f])
        return rest

    # ---- the bound ------------------------------------------------------------------------------------------------------
    def sweep(self, clock: Clock) -> None:
        """All columns once, and the best mu."""
        if not clock.expired:
            self.ascend()

    def run(self, work: float, clock: Clock, raised: Callable[[float], None] = lambda _: None) -> None:
        """Sweeps until so much work is done, the bound hardly rises any more, or the time is over; ``raised`` is told of every bound."""
        with alarm(self.ended, clock.deadline):
            self._run(work, clock, raised)

    def _run(self, work: float, clock: Clock, raised: Callable[[float], None]) -> None:
        done, before, sweeps = 0.0, self.bound, 0
        if self.mu == 0.0:
            self.search_mu(0.0)
        while done < work and self.bound < self.budget and not clock.expired:
            self.sweep(clock)
            raised(self.bound)
            done += self.work
            sweeps += 1
            if sweeps % FEW_SWEEPS == 0:
                if self.bound - before < RISING * self.budget:
                    break
                before = self.bound

    def windows(self, clock: Clock) -> tuple[Floats, Floats] | None:
        """Where centres that cost less than the budget can be, column by column; None if nowhere: the budget is proven."""
        first, last = (np.zeros(self._forest.n_columns, np.int64) for _ in range(2))
        enough = self.budget * (1.0 + BUDGET) + BUDGET * self.mu * self.sizes
        if clock.expired:
            self.ended[0] = 1
        now = self.now()  # an ascent never lowers it
        if not tighten(self.shares, self.mu, now, enough, first, last, self.ended):
            self.bound = self.budget
            return None
        return self.limits_of(first, last)

    def limits_of(self, first: Ints, last: Ints) -> tuple[Floats, Floats]:
        """The smallest and largest centre in the cells first .. last of every column."""
        low, high = np.full(first.size, -np.inf), np.full(first.size, np.inf)
        for f, theta in enumerate(self._theta):
            if first[f] > 0:
                low[f] = float(next_up(theta[first[f] - 1]))
            if last[f] < theta.size:
                high[f] = float(theta[last[f]])
        return low, high


def where_to_stand(
    problem: RecourseProblem, model: TreeEnsemble, margins: TreeMargins, home: Floats
) -> tuple[Floats, int]:
    """A point of the room at home where a margin is small, and whose it is: steepest descent over a few values per column."""
    body, place = problem.body(home), model.leaf_order.place
    ends = np.where(body.axes > 0.0, body.lower, home), np.where(body.axes > 0.0, body.upper, home)
    moving = np.flatnonzero((problem.space.group_of < 0) & (ends[0] < ends[1]))

    def lacks(rows: Floats) -> Floats:
        """What is needed beyond the margins: (rows, rivals)."""
        return np.asarray(margins.slack - margins.base - margins.value[place[model.apply(rows)]].sum(axis=1))

    x = home.copy()
    lack = lacks(x[None])[0]
    for _ in range(STAND_STEPS if moving.size and not is_round(body.shape) else 0):
        rows = np.repeat(x[None], _VALUES * moving.size, axis=0)
        for k, f in enumerate(moving):
            values = np.linspace(ends[0][f], ends[1][f], _VALUES)
            rows[k * _VALUES : (k + 1) * _VALUES, f] = np.rint(values) if body.whole[f] else values
        rows = rows[body.contains(rows)]
        if not len(rows):
            break
        found = lacks(rows)
        best = int(np.argmax(found.max(axis=1)))
        if not found[best].max() > lack.max():
            break
        x, lack = rows[best].copy(), found[best]
    return x, int(np.argmax(lack))
