"""Oblique trees: leaf binaries, and one big-M row per split and side with constants from the bounds of the point.

With L and R the sums of z over the leaves left and right of a split (a, b), a point p and the depth alpha,

    a.p + |a|_w alpha <= b + M (1 - L),        a.p - |a|_w alpha >= b - M' (1 - R),

M = max a.p - b and M' = b - min a.p over the box in which p lies. The master has no depth, but asks candidates to keep a
small distance from hyperplanes, because the rounding of a.p decides there; a proof grants that rounding instead.
One tree: the master has only leaves of the wanted class, the adversary is one linear program per other leaf.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from elbowroom.models import ObliqueEnsemble
from elbowroom.models.margins import tree_margins
from elbowroom.numerics import NONZERO, Bools, Floats, Ints, gamma
from elbowroom.problem import Body, RecourseProblem
from elbowroom.problem.shapes import is_round
from elbowroom.search.adversarial.center import add_center
from elbowroom.search.adversarial.limits import MOST_SCENARIOS, UNIT_WITHOUT_ROOM
from elbowroom.search.adversarial.master import Master, Stance
from elbowroom.search.adversarial.nowhere import (
    Alternative,
    Disjunction,
    combined,
    contradictory,
    necessary_conditions,
    scenario_point,
)
from elbowroom.search.adversarial.point_block import PointBlock, add_point
from elbowroom.search.adversarial.room_block import add_room, into_body
from elbowroom.search.adversarial.scenario import Scenario, stretched
from elbowroom.search.adversarial.splits import no_leaves_suffice, usable_leaves
from elbowroom.search.program import Builder
from elbowroom.search.solvers.protocol import Chain
from elbowroom.search.solvers.tolerances import EPSILONS


class ObliqueFamily:
    """Hyperplane trees, single or added up."""

    needs_reach = True

    def __init__(self, problem: RecourseProblem) -> None:
        assert isinstance(problem.model, ObliqueEnsemble)
        self.problem, self.model, self.leaves = problem, problem.model, problem.model.leaves
        self.margins = tree_margins(self.model, problem.target_index, problem.target.need)
        self.hopeful = self.margins.hopeful or self.margins  # proofs count ties within rounding as good
        self.single = self.leaves.n_trees == 1
        self.usable = usable_leaves(self.margins, self.leaves.offsets)
        self.tree_of_leaf = np.repeat(np.arange(self.leaves.n_trees), np.diff(self.leaves.offsets))
        self.extra = EPSILONS.first_distance
        self.exact: list[int] = []  # scenarios that a candidate must also satisfy at their true length
        room = np.maximum(problem.walls.down, problem.walls.up)
        step = np.where(problem.metric.factor > 0, 1.0 / np.maximum(problem.metric.factor, NONZERO), 1.0)
        self.unit = np.where(room > 0, room, UNIT_WITHOUT_ROOM * step)

    # ---- exact values -------------------------------------------------------------------------------------------------
    def _at(self, point: Floats) -> Bools:
        """Leaves that rounding could let the point reach."""
        dot, error = self.model.weight @ point, 2.0 * self.model.split_error(np.abs(point))
        left, right = dot <= self.model.threshold + error, dot >= self.model.threshold - error
        fine = np.where(self.leaves.goes_left, left[self.leaves.path_node], right[self.leaves.path_node])
        reached = np.ones(len(self.leaves.value), dtype=bool)
        reached[self.leaves.path_leaf[~fine]] = False
        return reached

    def spare(self, points: Floats) -> Floats:
        worst = []
        for point in points:
            value = np.where(self._at(point)[:, None], self.margins.value, np.inf)
            sums = np.minimum.reduceat(value, self.leaves.offsets[:-1], axis=0).sum(axis=0)
            worst.append(float((self.margins.base + sums - self.margins.slack).min()))
        return np.array(worst)

    def deepened(self, center: Floats, point: Floats) -> Floats:
        del center
        return point

    def nowhere(self, scenarios: list[Scenario], seconds_left: Callable[[], float]) -> bool:
        """The point of every scenario lies in a leaf of every tree (closed on both sides of its splits), and these leaves
        are good together."""
        conditions = necessary_conditions(self.problem)
        need, usable = self._needed(Stance.PROVE), usable_leaves(self.hopeful, self.leaves.offsets)
        for number, scenario in enumerate(scenarios):
            conditions.needs[number] = need
            point = scenario_point(conditions, self.problem, scenario)
            splits = [
                combined(row, point, -float(t)) for row, t in zip(self.model.weight, self.model.threshold, strict=True)
            ]
            for first, final in pairwise(self.leaves.offsets):
                found = []
                for leaf in range(first, final):
                    if usable[leaf]:
                        path = zip(*self.leaves.path(leaf), strict=True)
                        forms = tuple(splits[node].negative() if left else splits[node] for node, left in path)
                        found.append(Alternative(forms, self.hopeful.value[leaf]))
                conditions.disjunctions.append(Disjunction(tuple(found), number))
        return contradictory(conditions, seconds_left)

    def harden(self, scenario: int | None, point: Floats) -> bool:
        """A stretched shift may reach a good leaf behind the bad one of the true shift: then both are asked for.
        Otherwise more distance from the hyperplanes."""
        del point
        if self.stretches and scenario is not None and scenario not in self.exact:
            self.exact.append(scenario)
            return True
        self.extra *= EPSILONS.extra_step
        return self.extra <= EPSILONS.most_distance

    @property
    def stretches(self) -> bool:
        return is_round(self.problem.walls.shape)

    @property
    def hopeless(self) -> str:
        return no_leaves_suffice(self.hopeful, self.leaves.offsets)

    # ---- the adversary ------------------------------------------------------------------------------------------------
    def attack(self, center: Floats, solver: Chain, seconds_left: Callable[[], float]) -> list[Floats]:
        body = self.problem.body(center)
        found: list[tuple[float, Floats]] = []
        rivals = self.margins.slack.size
        if self.single:
            bad = np.flatnonzero(((self.margins.base + self.margins.value) < self.margins.slack).any(axis=1))
            for leaf in bad:
                only = np.zeros(len(self.leaves.value), dtype=bool)
                only[leaf] = True
                found += self._deepest(body, only, None, solver, seconds_left())
        else:
            for rival in range(rivals):
                found += self._deepest(body, self.usable, rival, solver, seconds_left())
        found.sort(key=lambda pair: -pair[0])
        return [point for _, point in found[:MOST_SCENARIOS]]

    def _deepest(
        self, body: Body, leaves: Bools, rival: int | None, solver: Chain, seconds: float
    ) -> list[tuple[float, Floats]]:
        builder = Builder()
        y = add_room(builder, body)
        room = PointBlock(y, np.zeros(y.size), body.lower, body.upper)
        alpha = int(builder.columns(1, 0.0, 1.0, cost=-1.0)[0])
        width = np.where(body.whole, 0.0, np.maximum(body.upper - body.center, body.center - body.lower))
        z = self._add_leaves(builder, leaves)
        self._add_splits(builder, z, leaves, room, np.zeros(len(self.model.weight)), alpha, width)
        if rival is not None:
            value = self.margins.value[:, rival]
            needed = float(self.margins.slack[rival] - self.margins.base[rival])
            builder.row(z, value, -np.inf, needed - EPSILONS.below_slack * (float(np.abs(value).max()) + abs(needed)))

        def bad_point(x: Floats | None) -> Floats | None:
            point = None if x is None or not np.isfinite(x).all() else into_body(body, x[y])
            return point if point is not None and self.spare(point[None])[0] < 0 else None

        answer = solver.solve(builder.program(), seconds, enough=lambda x: bad_point(x) is not None)
        points = [(x, bad_point(x)) for x in (answer.x, *answer.pool)]
        return [(float(x[alpha]), point) for x, point in points if x is not None and point is not None]

    # ---- the master ---------------------------------------------------------------------------------------------------
    def master(self, scenarios: list[Scenario], stance: Stance, reach: float) -> Master:
        problem, builder = self.problem, Builder()
        if stance is Stance.ASK and self.stretches:
            longer = [stretched(s, problem, 1.0 + EPSILONS.stretch_oblique) for s in scenarios]
            scenarios = longer + [scenarios[i] for i in self.exact]
        block = add_center(builder, problem, reach, stance)
        usable = usable_leaves(self.hopeful if stance is Stance.PROVE else self.margins, self.leaves.offsets)
        for scenario in scenarios:
            point = add_point(builder, problem, scenario, block)
            z = self._add_leaves(builder, usable)
            error = 2.0 * self.model.split_error(point.magnitude)
            kept = error + self.extra * (np.abs(self.model.weight) @ self.unit)
            self._add_splits(builder, z, usable, point, kept if stance is Stance.ASK else -2.0 * error)
            if not self.single:
                self._add_scores(builder, z, stance)
        return block.master(builder, problem)

    def _add_leaves(self, builder: Builder, leaves: Bools) -> Ints:
        """One leaf per tree."""
        z = builder.columns(leaves.size, 0.0, np.where(leaves, 1.0, 0.0), True)
        trees = np.ones(self.leaves.n_trees)
        builder.block(self.tree_of_leaf, z, 1.0, trees, trees)
        return z

    def _add_scores(self, builder: Builder, z: Ints, stance: Stance) -> None:
        margins = self.hopeful if stance is Stance.PROVE else self.margins
        for value, needed in zip(margins.value.T, self._needed(stance), strict=True):
            builder.row(z, value, float(needed))

    def _needed(self, stance: Stance) -> Floats:
        """What the leaves must add up to, per rival; a proof grants the rounding of the sum."""
        if stance is Stance.ASK:
            return self.margins.slack - self.margins.base
        needed = self.hopeful.slack - self.hopeful.base
        size = np.abs(self.hopeful.value).sum(axis=0) + np.abs(needed)
        return np.asarray(needed - gamma(self.leaves.n_trees + 8) * size)

    def _add_splits(
        self,
        builder: Builder,
        z: Ints,
        leaves: Bools,
        point: PointBlock,
        kept: Floats,
        alpha: int | None = None,
        width: Floats | None = None,
    ) -> None:
        """Rows of every split; ``kept`` is the distance to keep from its hyperplane, in units of a.p."""
        low, high = point.range_of(self.model.weight)
        path_node, path_leaf = self.leaves.path_node, self.leaves.path_leaf
        for node in np.unique(path_node):
            row = self.model.weight[node]
            columns, values, constant = point.expression(row)
            depth = 0.0 if width is None else float(np.abs(row) @ width)
            for goes_left, sign, farthest in ((True, 1.0, float(high[node])), (False, -1.0, -float(low[node]))):
                mine = path_leaf[(path_node == node) & (self.leaves.goes_left == goes_left)]
                mine = mine[leaves[mine]]
                limit = sign * float(self.model.threshold[node]) - float(kept[node])
                big = farthest + depth - limit  # the largest violation that the bounds of the point allow
                if not mine.size or big <= 0.0:
                    continue
                used = np.concatenate([columns, z[mine]])
                factors = np.concatenate([sign * values, np.full(mine.size, big)])
                if alpha is not None:
                    used, factors = np.append(used, alpha), np.append(factors, depth)
                builder.row(used, factors, -np.inf, limit + big - sign * constant)
