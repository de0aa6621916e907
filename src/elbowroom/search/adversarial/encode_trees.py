"""Axis-aligned trees as a master without any big-M.

Scenario s sends the centre x left of the cut t in column f iff x_f <= b, where b is a float that is computed exactly
(`breakpoint`). So the centre matters only through the cells between breakpoints: binaries u_fb = [x_f <= b], increasing
in b. For every scenario each tree chooses one leaf, z >= 0, sum z = 1, and at every split

    sum of z left of the split <= u_fb,        sum of z right of the split <= 1 - u_fb,

which makes z whole as soon as u is (Misic 2020). One tree: only leaves of the wanted class. Ensembles: for every rival
base + sum value z >= slack (proofs let ties within rounding pass). The distance of a cell is that of its nearest float, so that the objective is linear in u
for l1, a maximum of linear forms for linf, and the square is linear for l2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from elbowroom.models import TreeEnsemble
from elbowroom.models.margins import tree_margins
from elbowroom.numerics import Bools, Floats, Ints, gamma
from elbowroom.problem import Distance, RecourseProblem
from elbowroom.problem.shapes import is_round
from elbowroom.search.adversarial.attack_trees import TreeAttack
from elbowroom.search.adversarial.center import add_center, bounds_within, tidy
from elbowroom.search.adversarial.chain import CellAxis, breakpoints
from elbowroom.search.adversarial.master import Master, Stance
from elbowroom.search.adversarial.scenario import Scenario, stretched
from elbowroom.search.adversarial.splits import Splits, no_leaves_suffice, usable_leaves
from elbowroom.search.program import Builder
from elbowroom.search.solvers.protocol import Chain
from elbowroom.search.solvers.tolerances import EPSILONS


@dataclass(frozen=True, eq=False)
class EnsembleCopy:
    """One copy of the ensemble: at split i a leaf on the left needs x_f <= left_i, one on the right x_f > right_i.

    A scenario has left == right; a whole room in one leaf has left <= right. ``scenario`` is the number of the scenario
    whose bad combinations of leaves are excluded here (negative: none).
    """

    left: Floats
    right: Floats
    scenario: int = 0


class TreeFamily:
    """Trees, forests and boosting."""

    def __init__(self, problem: RecourseProblem) -> None:
        model = problem.model
        assert isinstance(model, TreeEnsemble)
        self.problem, self.leaves = problem, model.leaves
        self.margins = tree_margins(model, problem.target_index, problem.target.need)
        self.splits = Splits.of(model)
        self.tree_of_leaf = np.repeat(np.arange(self.leaves.n_trees), np.diff(self.leaves.offsets))
        self.linear_rules = bool(problem.conditions.rows) or problem.metric.slant is not None
        self.needs_reach = self.linear_rules
        self.no_goods: list[tuple[int, Ints]] = []
        self.exact: list[int] = []  # scenarios that a candidate must also satisfy at their true length
        self._attack = TreeAttack(problem, self.leaves, self.margins)
        self.hopeful = self.margins.hopeful or self.margins  # proofs count ties within rounding as good
        self.usable = usable_leaves(self.margins, self.leaves.offsets)

    @property
    def hopeless(self) -> str:
        return no_leaves_suffice(self.hopeful, self.leaves.offsets)

    # ---- the adversary ------------------------------------------------------------------------------------------------
    def attack(self, center: Floats, solver: Chain, seconds_left: Callable[[], float]) -> list[Floats]:
        return self._attack.points(center, solver, seconds_left)

    def deepened(self, center: Floats, point: Floats) -> Floats:
        return self._attack.deepened(self.problem.body(center), point)

    def spare(self, points: Floats) -> Floats:
        return self._attack.spare(points)

    def nowhere(self, scenarios: list[Scenario], seconds_left: Callable[[], float]) -> bool:
        del scenarios, seconds_left
        return False  # without linear rules the master has no reach: its own proof is about all centres

    def harden(self, scenario: int | None, point: Floats) -> bool:
        """A stretched shift may reach a good leaf behind the bad one of the true shift: then both are asked for.
        Otherwise this combination of leaves is bad, and no centre may choose it again in this scenario."""
        if scenario is None:
            return False
        if self.stretches and scenario not in self.exact:
            self.exact.append(scenario)
            return True
        if self.leaves.n_trees == 1:
            return False
        self.no_goods.append((scenario, self._attack.reached(point)))
        return True

    # ---- the master ---------------------------------------------------------------------------------------------------
    def master(self, scenarios: list[Scenario], stance: Stance, reach: float) -> Master:
        problem, numbers, asked = self.problem, list(range(len(scenarios))), scenarios
        if stance is Stance.ASK and self.stretches:
            asked = [stretched(s, problem, 1.0 + EPSILONS.stretch_trees) for s in scenarios] + [
                scenarios[i] for i in self.exact
            ]
            numbers = [-1 if i in self.exact else i for i in numbers] + self.exact
        breaks = [breakpoints(problem, s, self.splits.feature, self.splits.cut) for s in asked]
        return self.assembled(
            [EnsembleCopy(b, b, number) for b, number in zip(breaks, numbers, strict=True)], stance, reach
        )

    @property
    def stretches(self) -> bool:
        """Candidates for round rooms are asked for with longer shifts, so that they hold with something to spare."""
        return is_round(self.problem.walls.shape)

    def assembled(self, copies: list[EnsembleCopy], stance: Stance, reach: float) -> Master:
        """The master that has these copies of the ensemble."""
        problem, builder = self.problem, Builder()
        limits = bounds_within(problem, reach)
        axes = self._axes(builder, np.array([b for copy in copies for b in (copy.left, copy.right)]), limits)
        for copy in copies:
            self._add_copy(builder, copy, axes, limits, stance)

        def literals(center: Floats) -> Floats:
            start = np.full(builder.n_columns, np.nan)
            for f, axis in axes.items():
                start[axis.columns] = axis.literals(float(center[f]))
            return start

        if self.linear_rules:
            block = add_center(builder, problem, reach, stance)
            for f, axis in axes.items():
                axis.link(builder, int(block.columns[f]), float(block.lower[f]), float(block.upper[f]))

            def decode(x: Floats) -> Floats:
                center = tidy(problem, x[block.columns])
                for f, axis in axes.items():
                    center[f] = axis.clamp(x, float(center[f]))
                return center

            def settle(center: Floats) -> Floats:
                start = literals(center)
                start[block.columns] = center
                return start

            return Master(builder.program(), decode, settle, lambda v: v, lambda d: d)
        self._add_distance(builder, axes)

        def nearest(x: Floats) -> Floats:
            center = np.clip(problem.factual, *problem.centers)
            for f, axis in axes.items():
                center[f] = axis.value(x)
            return center + 0.0

        if problem.distance is Distance.L2:
            return Master(builder.program(), nearest, literals, lambda v: math.sqrt(max(v, 0.0)), lambda d: d * d)
        return Master(builder.program(), nearest, literals, lambda v: v, lambda d: d)

    def _axes(self, builder: Builder, breaks: Floats, limits: tuple[Floats, Floats]) -> dict[int, CellAxis]:
        """The cells of every column that any literal looks at; members of one-hot groups always have theirs."""
        problem, axes = self.problem, {}
        lower, upper = limits
        for f in range(problem.factual.size):
            values = breaks[:, self.splits.feature == f].ravel()
            if problem.space.group_of[f] >= 0:
                values = np.append(values, 0.0)
            inside = values[(values >= lower[f]) & (values < upper[f])]
            if inside.size:
                axes[f] = CellAxis.of(builder, problem, f, np.unique(inside), float(lower[f]), float(upper[f]))
        for members in problem.space.members:
            moving = [f for f in members if f in axes]
            fixed = sum(float(problem.centers[0][f]) for f in members if f not in axes)
            if moving:  # x_m = 1 - [x_m <= 0]
                total = len(moving) + fixed - 1.0
                builder.row([int(axes[f].columns[0]) for f in moving], 1.0, total, total)
        return axes

    def _add_copy(
        self,
        builder: Builder,
        copy: EnsembleCopy,
        axes: dict[int, CellAxis],
        limits: tuple[Floats, Floats],
        stance: Stance,
    ) -> None:
        splits, leaves = self.splits, self.leaves
        sides = [self._literals(breaks, axes, limits) for breaks in (copy.left, copy.right)]
        margins = self.hopeful if stance is Stance.PROVE else self.margins
        usable = usable_leaves(margins, leaves.offsets)
        upper = np.where(usable & ~splits.excluded(always=sides[1][1], never=sides[0][2]), 1.0, 0.0)
        z = builder.columns(upper.size, 0.0, upper)
        n_trees = leaves.n_trees
        builder.block(self.tree_of_leaf, z, 1.0, np.ones(n_trees), np.ones(n_trees))
        for (literal, always, never), rows, members, sign, limit in (
            (sides[0], splits.left_row, splits.left_leaf, -1.0, 0.0),
            (sides[1], splits.right_row, splits.right_leaf, 1.0, 1.0),
        ):
            open_splits = np.flatnonzero(~always & ~never)
            place = np.full(always.size, -1)
            place[open_splits] = np.arange(open_splits.size)
            kept = (place[rows] >= 0) & (upper[members] > 0)
            builder.block(
                np.concatenate([place[rows][kept], np.arange(open_splits.size)]),
                np.concatenate([z[members[kept]], literal[open_splits]]),
                np.concatenate([np.ones(int(kept.sum())), np.full(open_splits.size, sign)]),
                np.full(open_splits.size, -np.inf),
                np.full(open_splits.size, limit),
            )
        if n_trees > 1:
            for rival in range(margins.slack.size):
                value, needed = margins.value[:, rival], margins.slack[rival] - margins.base[rival]
                if stance is Stance.PROVE:
                    needed -= gamma(n_trees + 8) * (float(np.abs(value).sum()) + abs(float(needed)))
                builder.row(z, value, float(needed))
        for scenario, bad in self.no_goods:
            if scenario == copy.scenario and not margins.holds(bad):
                builder.row(z[bad], 1.0, -np.inf, n_trees - 1.0)

    def _literals(
        self, breaks: Floats, axes: dict[int, CellAxis], limits: tuple[Floats, Floats]
    ) -> tuple[Ints, Bools, Bools]:
        """The column of [x_f <= breakpoint] for every split, or that it is always or never true."""
        feature = self.splits.feature
        never, always = breaks < limits[0][feature], breaks >= limits[1][feature]
        literal = np.zeros(breaks.size, dtype=np.int64)
        for f, axis in axes.items():
            mine = np.flatnonzero((feature == f) & ~always & ~never)
            literal[mine] = axis.columns[np.searchsorted(axis.breaks, breaks[mine])]
        return literal, always, never

    def _add_distance(self, builder: Builder, axes: dict[int, CellAxis]) -> None:
        """The norm of the moves of the cells; what cannot move keeps its move."""
        problem = self.problem
        home = problem.metric.moves(problem.factual, np.clip(problem.factual, *problem.centers))
        single = [f for f in range(problem.factual.size) if problem.space.group_of[f] < 0]
        fixed = [float(home[f]) for f in single if f not in axes]
        pieces = [axes[f].moves() for f in single if f in axes]
        for g, members in enumerate(problem.space.members):
            now = int(members[np.argmax(problem.factual[members])])
            price = float(problem.metric.group_price[g])
            if now in axes:  # changed iff x_now = 0, that is [x_now <= 0] = 1
                pieces.append((axes[now].columns[:1], np.array([price]), 0.0))
            else:
                fixed.append(price if problem.centers[1][now] < 1.0 else 0.0)
        match problem.distance:
            case Distance.L1:
                builder.constant = sum(fixed) + sum(p[2] for p in pieces)
                self._set_costs(builder, pieces)
            case Distance.L2:
                squares = [axes[f].moves(squared=True) for f in single if f in axes]
                squares += [(c, v * v, k) for c, v, k in pieces[len(squares) :]]
                builder.constant = sum(v * v for v in fixed) + sum(p[2] for p in squares)
                self._set_costs(builder, squares)
            case Distance.LINF:
                longest = max([0.0, *fixed, *(p[2] + float(np.abs(p[1]).sum()) for p in pieces)])
                t = builder.columns(1, max([0.0, *fixed]), longest * (1.0 + EPSILONS.outwards), cost=1.0)
                for columns, values, constant in pieces:
                    builder.row(np.append(columns, t), np.append(-values, 1.0), constant)
        self._add_at_most(builder, axes)

    @staticmethod
    def _set_costs(builder: Builder, pieces: list[tuple[Ints, Floats, float]]) -> None:
        cost = np.concatenate([np.array(c) for c in builder.cost])
        for columns, values, _ in pieces:
            cost[columns] += values
        builder.cost = [cost]

    def _add_at_most(self, builder: Builder, axes: dict[int, CellAxis]) -> None:
        problem = self.problem
        limit = problem.conditions.most_changes
        if limit is None:
            return
        lower, upper = problem.centers
        columns, values, already = [], [], 0.0
        for f in range(problem.factual.size):
            if problem.space.group_of[f] >= 0:
                continue
            if f in axes:
                found, signs, constant = axes[f].changed()
                columns += list(found)
                values += list(signs)
                already += constant
            else:
                already += float(not lower[f] <= problem.factual[f] <= upper[f])
        for members in problem.space.members:
            now = int(members[np.argmax(problem.factual[members])])
            if now in axes:
                columns.append(int(axes[now].columns[0]))
                values.append(1.0)
            else:
                already += float(upper[now] < 1.0)
        builder.row(np.array(columns, dtype=np.int64), np.array(values), -np.inf, float(limit) - already)
