"""A lower bound by splitting the cost among the trees: the dual of the linear program over leaves, by block ascent.

An adversary stands somewhere in the room of every centre: column by column in one of the fine cells, between two cuts, that the
room meets. A good centre is good there, too. Let c_f(y) be what the cheapest centre costs from which it comes to cell y of column
f (`adversary` says how it chooses; it begins at the point of the room nearest to one where a margin is small). The question becomes
min sum_f c_f(y_f)   s.t.   base + sum_t value of the leaf of tree t that y reaches >= need.   With any mu >= 0 and any shares of the
cost,  sum_t lam_tf(y_f) <= c_f(y_f),  no good centre costs less than

    mu (need - base) + sum_t min over leaves l of t [ -mu value_l + sum_f min over l's range of lam_tf ].

lam_tf is constant between the cuts of tree t: one number per cut. One ascent is exact in all shares of a column
(`split_kernels.ascend`). E(y) - min E + the bound then is a bound for centres from which the adversary comes to y: places of the
centre that reach the best cost are cut off, and the column keeps a window. Shares that exceed the cost by rounding are counted against the bound.
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
from elbowroom.search.trees.first.adversary import monotone, price_all_cells
from elbowroom.search.trees.first.asked import Asked
from elbowroom.search.trees.first.collapse import Collapsed
from elbowroom.search.trees.first.dual import BUDGET, ROUNDING, Dual
from elbowroom.search.trees.first.forest import Forest
from elbowroom.search.trees.first.limits import FEW_SWEEPS, PATIENT_SWEEPS, RISING, STAND_STEPS
from elbowroom.search.trees.first.narrow import tighten
from elbowroom.search.trees.first.shares import Shares
from elbowroom.search.trees.first.split_kernels import Paths, list_leaves

_VALUES = 7  # per column, of the room
_FAR = 64.0  # times the budget: cells in which the adversary never stands


@dataclass(frozen=True, eq=False)
class _Thresholds:
    """Every split as a boundary: up to ``low`` a centre's room lies left of it, beyond ``high`` right of it, and in between the
    adversary chooses. ``low_cost``, ``high_cost``: of centres beyond, seen from home. ``level``: in which order they follow each other."""

    level: Floats
    low: Floats  # (nodes,) -inf: never left alone
    high: Floats  # (nodes,) inf: never right alone
    low_cost: Floats
    high_cost: Floats


def _thresholds(forest: Forest, asked: Asked, nodes: Ints, stand: Floats, away: Floats) -> _Thresholds:
    """In columns without room, of groups and of splits by category, the adversary has nothing to choose: it stands at ``stand``
    where it can."""
    of = forest.feature[nodes]
    cut, below, above = forest.cut[nodes], asked.below[nodes], asked.above[nodes]
    above = np.where(np.isfinite(above), next_down(above), above)
    free = np.isnan(away) & (asked.width > 0.0) & monotone(of, cut, below, above, away.size)
    right, free = stand[of] > cut, free[of]
    low, high = np.where(free | right, below, above), np.where(free | ~right, above, below)
    costs = [
        np.where(np.isnan(away[of]), cost, away[of])
        for cost in (
            np.where(free | right, asked.below_cost[nodes], asked.above_cost[nodes]),
            np.where(free | ~right, asked.above_cost[nodes], asked.below_cost[nodes]),
        )
    ]
    return _Thresholds(np.where(free, cut, low), low, high, costs[0], costs[1])


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
        model, self.budget, self._sweeps, ended = small.model, budget, 0, np.zeros(1, np.int64)
        kept = margins.hopeful or margins
        self._asked, self._forest = asked, forest
        inner = np.flatnonzero(model.feature >= 0)
        nodes = small.node[inner]
        limits = _thresholds(forest, asked, nodes, stand, _away(asked, forest.n_columns, model.info.n_features))
        column = forest.feature[nodes].astype(np.int64)
        fixed = (limits.low == np.inf) | (limits.high == -np.inf)
        fixed |= (limits.low == limits.high) & ~np.isfinite(limits.low)
        tree = np.searchsorted(model.roots, inner, "right") - 1
        paths = self._slots(model.feature, model.left, model.right, model.roots, inner, tree, column, limits, fixed)
        places = self._places(stand, _FAR * budget)
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
            cost=np.zeros(n_cells),
            place_start=places[0],
            place_cost=places[1],
            place_first=places[2],
            place_last=places[3],
            policy=places[4],
            far=np.array([_FAR * budget]),
            queue=np.zeros(widest + 1, np.int64),
            total=np.zeros(n_cells),
            lost=np.zeros(n_cells, np.int64),
            level=level,
            least=np.zeros((int(level[-1]) + 1, widest)),
        )
        missing = float(kept.slack[rival] - kept.base[rival])
        sizes = abs(missing) + float(np.abs(value).max(initial=0.0)) * model.n_trees
        price_all_cells(shares)
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
        self._level, self._ends = list[Floats](), list[tuple[Ints, Ints]]()
        for f in range(n_columns):
            mine = open_[column[open_] == f]
            level, place = np.unique(limits.level[mine], return_inverse=True)
            ends = np.concatenate([limits.low[mine], limits.high[mine]])
            there = np.isfinite(ends)
            theta, of = np.unique(ends[there], return_inverse=True)
            cost = np.full(theta.size, np.inf)
            np.minimum.at(cost, of, np.concatenate([limits.low_cost[mine], limits.high_cost[mine]])[there])
            rank[mine] = place
            # the first place that meets the right side of a boundary, and the first that does not meet the left one
            meets, leaves = np.zeros(level.size, np.int64), np.full(level.size, theta.size + 1, np.int64)
            np.maximum.at(meets, place, np.searchsorted(theta, limits.low[mine]) + (limits.low[mine] > -np.inf))
            np.minimum.at(leaves, place, np.searchsorted(theta, limits.high[mine]) + (limits.high[mine] > -np.inf))
            self._theta.append(theta)
            self._theta_cost.append(cost)
            self._level.append(level)
            self._ends.append((meets, leaves))
        self._cell_start = np.cumsum([0, *(level.size + 1 for level in self._level)], dtype=np.int64)
        widest = int(max((level.size for level in self._level), default=0)) + 1
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
        own_of[inner[fixed]] = np.where(limits.low[fixed] == np.inf, -2, -1)
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

    def _places(self, stand: Floats, far: float) -> tuple[Ints, Floats, Ints, Ints, Ints]:
        """Where those of each column begin; what a centre in each costs at least in its column (centres do not get cheaper away from
        home); the cells that its room meets; and the one of them that is nearest to where the adversary would stand."""
        start = np.cumsum([0, *(theta.size + 1 for theta in self._theta)], dtype=np.int64)
        cost = np.zeros(int(start[-1]))
        first, last, policy = (np.zeros(int(start[-1]), np.int64) for _ in range(3))
        for f, (theta, beyond) in enumerate(zip(self._theta, self._theta_cost, strict=True)):
            mine = slice(int(start[f]), int(start[f + 1]))
            home = int(np.searchsorted(theta, self._asked.home[f]))
            cost[mine][home] = self._asked.home_cost[f]
            cost[mine][:home], cost[mine][home + 1 :] = beyond[:home], beyond[home:]
            meets, leaves = self._ends[f]
            at = np.arange(theta.size + 1)
            first[mine], last[mine] = np.searchsorted(leaves, at, "right"), np.searchsorted(meets, at, "right")
            chosen = int(np.searchsorted(self._level[f], stand[f]))
            policy[mine] = np.clip(chosen, first[mine], last[mine])
            if (first[mine] < last[mine]).any():  # another policy never lowers what a cell costs
                cost[mine] = np.minimum(cost[mine], far)
        return start, cost, first, last, policy

    def _at_home(self) -> float:
        """The cost of blocks that no threshold is about, and of what does not move."""
        asked, rest = self._asked, self._asked.constant
        for b in range(asked.n_blocks):
            f = int(asked.block_column[asked.block_start[b]])
            if asked.is_group[b]:
                begin = int(asked.choice_start[b])
                rest += float(asked.choice_cost[begin : begin + asked.choices[b]].min())
            elif not self._level[f].size:
                rest += float(asked.home_cost[f])
        return rest

    # ---- the bound ------------------------------------------------------------------------------------------------------
    def sweep(self, clock: Clock) -> None:
        """All columns once, and the best mu."""
        if not clock.expired:
            self.ascend(self._sweeps >= PATIENT_SWEEPS)
            self._sweeps += 1

    def run(
        self, work: float, clock: Clock, raised: Callable[[float], None] = lambda _: None, at_least: int = 0
    ) -> None:  # fmt: skip
        """Sweeps until so much work is done by ``at_least`` so many of them, the bound hardly rises any more, or the time is over;
        ``raised`` is told of every bound."""
        with alarm(self.ended, clock.deadline):
            self._run(work, clock, raised, at_least)

    def _run(self, work: float, clock: Clock, raised: Callable[[float], None], at_least: int) -> None:
        done, before, sweeps = 0.0, self.bound, 0
        if self.mu == 0.0:
            self.search_mu(0.0)
        while (done < work or sweeps < at_least) and self.bound < self.budget and not clock.expired:
            self.sweep(clock)
            raised(self.bound)
            done += self.work
            sweeps += 1
            if sweeps % FEW_SWEEPS == 0:
                calm = self.bound - before < RISING * self.budget
                if calm and self._sweeps >= PATIENT_SWEEPS + FEW_SWEEPS:
                    break
                self._sweeps = max(self._sweeps, PATIENT_SWEEPS if calm else 0)
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
        """The smallest and largest centre in the places first .. last of every column."""
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
