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

from dataclasses import dataclass

import numpy as np

from elbowroom.models import TreeEnsemble
from elbowroom.models.margins import TreeMargins
from elbowroom.numerics import Bools, Floats, Ints, next_down, next_up
from elbowroom.problem import RecourseProblem
from elbowroom.problem.shapes import is_round
from elbowroom.search.contract import Clock
from elbowroom.search.trees.first.asked import Asked
from elbowroom.search.trees.first.collapse import Collapsed
from elbowroom.search.trees.first.forest import Forest
from elbowroom.search.trees.first.limits import FEW_SWEEPS, MU_STEPS, RISING, STAND_STEPS
from elbowroom.search.trees.first.split_kernels import (
    Paths,
    Shares,
    ascend,
    excess,
    list_leaves,
    sum_up_shares,
    value_of,
)

_ROUNDING = 1e-10  # relative to the size of all terms: many times what their sums can lose
_VALUES = 7  # per column, of the room
_BUDGET = 1e-9  # relative: cells are cut off only beyond a cost that is this much larger


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


class Split:
    """The bound for one rival on collapsed trees, for centres of total cost < budget."""

    def __init__(
        self, forest: Forest, asked: Asked, small: Collapsed, margins: TreeMargins, rival: int, stand: Floats, budget: float
    ) -> None:  # fmt: skip
        model, self.budget = small.model, budget
        kept = margins.hopeful or margins
        self._asked, self._forest = asked, forest
        inner = np.flatnonzero(model.feature >= 0)
        nodes = small.node[inner]
        limits = _thresholds(forest, asked, nodes, stand, _away(asked, forest.n_columns, model.info.n_features))
        column = forest.feature[nodes].astype(np.int64)
        fixed = ~np.isfinite(limits.theta)
        tree = np.searchsorted(model.roots, inner, "right") - 1
        paths = self._slots(model.feature, model.left, model.right, model.roots, inner, tree, column, limits, fixed)
        leaf, entries, leaf_start = self._leaves(paths)
        value = kept.value[small.leaf[leaf], rival]
        order = np.argsort(entries[1], kind="stable")
        entries = entries[:, order]
        n_slots = self._slot_column.size
        by_column = np.argsort(self._slot_column, kind="stable")
        self.shares = Shares(
            value=np.ascontiguousarray(value, dtype=np.float64),
            leaf_start=leaf_start,
            priced=np.zeros(leaf.size),
            stamp=np.full(leaf.size, -1, np.int64),
            entry_start=np.searchsorted(entries[1], np.arange(n_slots + 1)).astype(np.int64),
            entry_leaf=entries[0],
            entry_low=entries[2],
            entry_high=entries[3],
            entry_share=np.zeros(entries.shape[1]),
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
            total=np.zeros(int(self._cell_start[-1])),
        )
        missing = float(kept.slack[rival] - kept.base[rival])
        self._sizes = abs(missing) + float(np.abs(value).max(initial=0.0)) * model.n_trees
        self.missing = missing - _ROUNDING * self._sizes
        self._constant = self._at_home()
        self.mu, self.bound = 0.0, 0.0
        self.work = leaf.size + 2 * entries.shape[1] + int(np.diff(leaf_start)[self._slot_tree].sum())  # of one sweep

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
        self._coarse = np.zeros(int(self._lam_start[-1]), np.int64)
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

    def _leaves(self, paths: Paths) -> tuple[Ints, Ints, Ints]:
        most = int(np.diff(paths.slot_start).max(initial=0)) + 1
        n_trees, counts = len(paths.roots), np.zeros(2, np.int64)
        stack, low, high = (
            np.zeros((3, len(paths.feature) + 2), np.int64),
            np.zeros(most, np.int64),
            np.zeros(most, np.int64),
        )
        leaf, entries, leaf_start = np.zeros(0, np.int64), np.zeros((4, 0), np.int64), np.zeros(n_trees + 1, np.int64)
        for fill in (0, 1):
            leaf, entries = np.zeros(int(counts[0]), np.int64), np.zeros((4, int(counts[1])), np.int64)
            list_leaves(paths, stack, low, high, counts, fill, leaf, leaf_start, entries)
        return leaf, entries, leaf_start

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
        for column in self._columns:
            if clock.expired:  # the shares prove something at any time
                break
            ascend(self.shares, column, self.mu)
        sum_up_shares(self.shares)
        self._search_mu()
        self.bound = max(self.bound, self.now())

    @property
    def _columns(self) -> list[int]:
        """Those with a threshold."""
        return np.flatnonzero(np.diff(self.shares.column_start)).tolist()

    def now(self) -> float:
        """The bound that the present shares prove."""
        size, largest = np.zeros(2), np.zeros(1)
        total = value_of(self.shares, self.mu, size)
        over = excess(self.shares, largest)
        gross = self._constant + self.mu * self.missing + total - over
        return float(gross - _ROUNDING * (abs(self._constant) + self.mu * self._sizes + size[1] + largest[0]))

    def _search_mu(self) -> None:
        """The bound is concave in mu: follow the sign of its slope."""
        picked = np.zeros(2)

        def rises(mu: float) -> bool:
            value_of(self.shares, mu, picked)
            return self.missing - picked[0] > 0.0

        low, high = 0.0, max(2.0 * self.mu, 1e-3)
        while rises(high) and high < 1e9:
            low, high = high, 2.0 * high
        for _ in range(MU_STEPS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if rises(middle) else (low, middle)
        self.mu = low

    def run(self, work: float, clock: Clock) -> None:
        """Sweeps until so much work is done, the bound hardly rises any more, or the time is over."""
        done, before, sweeps = 0.0, self.bound, 0
        if self.mu == 0.0:
            self._search_mu()
        while done < work and self.bound < self.budget and not clock.expired:
            self.sweep(clock)
            done += self.work
            sweeps += 1
            if sweeps % FEW_SWEEPS == 0:
                if self.bound - before < RISING * self.budget:
                    break
                before = self.bound

    def windows(self, clock: Clock) -> tuple[Floats, Floats] | None:
        """Where centres that cost less than the budget can be, column by column; None if nowhere: the budget is proven."""
        low, high = np.full(self._forest.n_columns, -np.inf), np.full(self._forest.n_columns, np.inf)
        now = self.now()  # an ascent never lowers it
        for f in self._columns:
            if clock.expired:
                break
            ascend(self.shares, f, self.mu)
            E = self.shares.total[self._cell_start[f] : self._cell_start[f + 1]]
            finite = E[E < np.inf]
            if not finite.size:
                self.bound = self.budget
                return None
            enough = self.budget * (1.0 + _BUDGET) + _BUDGET * float(np.abs(finite).max())
            alive = np.flatnonzero(now - float(finite.min()) + E < enough)
            if not alive.size:
                self.bound = self.budget
                return None
            theta = self._theta[f]
            if alive[0] > 0:
                low[f] = float(next_up(theta[alive[0] - 1]))
            if alive[-1] < theta.size:
                high[f] = float(theta[alive[-1]])
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
