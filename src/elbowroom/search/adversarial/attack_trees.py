"""The adversary of trees: the deepest bad point of a room.

The Lipschitz stand-in of the paper is tau minus the smallest slack in a bad leaf, so that the adversary looks for the bad
point that is farthest from the faces of its leaf (in units of the room). One tree: every bad leaf by itself, by
bisection over the depth. Ensembles: leaf binaries z per tree, a point y and the depth alpha,

    sum z lower_f + w_f alpha <= y_f <= sum z upper_f - w_f alpha     for every tree and column,

with leaf bounds cut to what the room can reach: these rows are the convex hull of each tree's leaves, without big-M.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elbowroom.models import Leaves, TreeMargins
from elbowroom.numerics import Floats, Ints, next_up
from elbowroom.problem import Body, RecourseProblem
from elbowroom.problem.shapes import is_round, spent_at_once
from elbowroom.search.adversarial.limits import HALVINGS, MOST_SCENARIOS
from elbowroom.search.adversarial.room_block import add_room, into_body
from elbowroom.search.program import Builder
from elbowroom.search.solvers.protocol import Chain
from elbowroom.search.solvers.tolerances import EPSILONS


class TreeAttack:
    def __init__(self, problem: RecourseProblem, leaves: Leaves, margins: TreeMargins) -> None:
        self.problem, self.leaves, self.margins = problem, leaves, margins

    # ---- exact values ---------------------------------------------------------------------------------------------
    def reached(self, point: Floats) -> Ints:
        """The leaf of every tree at a point."""
        return np.flatnonzero(((self.leaves.lower < point) & (point <= self.leaves.upper)).all(axis=1))

    def spare(self, points: Floats) -> Floats:
        margins = self.margins
        values = [margins.base + margins.value[self.reached(p)].sum(axis=0) - margins.slack for p in points]
        return np.asarray(np.array(values).reshape(len(points), -1).min(axis=1))

    # ---- the adversary --------------------------------------------------------------------------------------------
    def points(self, center: Floats, solver: Chain, seconds_left: Callable[[], float]) -> list[Floats]:
        body = self.problem.body(center)
        if self.leaves.n_trees == 1:
            return self._single(body)
        found = []
        for rival in range(self.margins.slack.size):
            found += self._ensemble(body, rival, solver, seconds_left())
        return [self.deepened(body, p) for p in found[:MOST_SCENARIOS]]

    def _single(self, body: Body) -> list[Floats]:
        bad = (self.margins.base + self.margins.value < self.margins.slack).any(axis=1)
        found: list[tuple[float, Floats]] = []
        for leaf in np.flatnonzero(bad):
            low, high = next_up(self.leaves.lower[leaf]), self.leaves.upper[leaf]
            if (np.maximum(low, body.lower) > np.minimum(high, body.upper)).any():
                continue
            depth, point = _deepest(body, self.leaves.lower[leaf], high)
            if point is not None:
                found.append((depth, point))
        found.sort(key=lambda pair: -pair[0])
        return [point for _, point in found[:MOST_SCENARIOS]]

    def deepened(self, body: Body, point: Floats) -> Floats:
        """The deepest point of the joint leaf of a bad point."""
        reached = self.reached(point)
        low, high = self.leaves.lower[reached].max(axis=0), self.leaves.upper[reached].min(axis=0)
        for members in body.free_groups:  # the category stays
            low[members], high[members] = point[members] - 0.5, point[members]
        _, deep = _deepest(body, low, high)
        return point if deep is None else deep

    def _ensemble(self, body: Body, rival: int, solver: Chain, seconds: float) -> list[Floats]:
        leaves, value = self.leaves, self.margins.value[:, rival]
        meets = ((next_up(leaves.lower) <= body.upper) & (leaves.upper >= body.lower)).all(axis=1)
        rows = np.flatnonzero(meets)
        tree = np.searchsorted(leaves.offsets, rows, side="right") - 1
        width = np.where(body.whole, 0.0, np.maximum(body.upper - body.center, body.center - body.lower))
        builder = Builder()
        y = add_room(builder, body)
        alpha = builder.columns(1, 0.0, 1.0, cost=-1.0)[0]
        z = builder.columns(rows.size, 0.0, 1.0, True)
        n_trees = leaves.n_trees
        builder.block(tree, z, 1.0, np.ones(n_trees), np.ones(n_trees))
        for f in np.flatnonzero(body.lower < body.upper):
            top, bottom = body.upper[f] + width[f], body.lower[f] - width[f]
            high = np.minimum(leaves.upper[rows, f], top)
            low = np.maximum(next_up(leaves.lower[rows, f]) if body.whole[f] else leaves.lower[rows, f], bottom)
            for edge, sign in ((high, 1.0), (low, -1.0)):
                far = top if sign > 0 else bottom
                concerned = np.unique(tree[edge != far])
                place = np.full(n_trees, -1)
                place[concerned] = np.arange(concerned.size)
                mine = place[tree] >= 0
                one = np.arange(concerned.size)
                builder.block(  # sign (y - sum z edge) + w alpha <= 0
                    np.concatenate([place[tree[mine]], one, one]),
                    np.concatenate([z[mine], np.full(one.size, y[f]), np.full(one.size, alpha)]),
                    np.concatenate([-sign * edge[mine], np.full(one.size, sign), np.full(one.size, width[f])]),
                    np.full(one.size, -np.inf),
                    np.zeros(one.size),
                )
        needed = float(self.margins.slack[rival] - self.margins.base[rival])
        needed -= EPSILONS.below_slack * (float(np.abs(value[rows]).max(initial=0.0)) + abs(needed))
        builder.row(z, value[rows], -np.inf, needed)

        def bad_point(x: Floats | None) -> Floats | None:
            point = None if x is None or not np.isfinite(x).all() else into_body(body, x[y])
            return point if point is not None and self.spare(point[None])[0] < 0 else None

        answer = solver.solve(builder.program(), seconds, enough=lambda x: bad_point(x) is not None)
        return [point for x in (answer.x, *answer.pool) if (point := bad_point(x)) is not None]


def _deepest(body: Body, low: Floats, high: Floats) -> tuple[float, Floats | None]:
    """The point of {low < y <= high} in the body with the largest smallest slack, in units of the room; -1 if none."""
    width = np.maximum(np.maximum(body.upper - body.center, body.center - body.lower), 0.0)
    fixed = body.lower == body.upper
    first, final = np.maximum(next_up(low), body.lower), np.minimum(high, body.upper)
    first, final = np.where(body.whole, np.ceil(first), first), np.where(body.whole, np.floor(final), final)
    if (first > final).any():
        return -1.0, None
    if not is_round(body.shape):
        point = _middle(body, low, high, first, final)
        slack = np.where(
            fixed | body.whole, np.inf, np.minimum(point - low, high - point) / np.where(width > 0, width, 1)
        )
        return float(min(slack.min(initial=np.inf), 1.0)), point if body.contains(point)[0] else None
    best: tuple[float, Floats | None] = (-1.0, None)
    columns = body.round_columns
    goal = _middle(body, low, high, first, final)
    left, right = 0.0, 1.0
    for step in range(HALVINGS):
        depth = 0.0 if step == 0 else (left + right) / 2
        inner = np.clip(body.center, np.minimum(low + depth * width, goal), np.maximum(high - depth * width, goal))
        point = np.clip(np.where(body.whole, np.clip(body.center, first, final), inner), first, final)
        ratio = np.abs(point[columns] - body.center[columns]) / body.axes[columns]
        fits = spent_at_once(body.shape, ratio) <= 1.0 and bool(body.contains(point)[0])
        if fits:
            best, left = (depth, point), depth
        elif step == 0:
            return best
        else:
            right = depth
    return best


def _middle(body: Body, low: Floats, high: Floats, first: Floats, final: Floats) -> Floats:
    """Half way between the faces, or as far from the only face as the room goes; the centre where there is no face."""
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isfinite(low), np.where(np.isfinite(high), low / 2 + high / 2, final), first)
    middle = np.where(np.isfinite(low) | np.isfinite(high), middle, body.center)
    middle = np.where(body.whole, np.round(middle), middle)
    return np.clip(middle, first, final) + 0.0
