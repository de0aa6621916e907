"""The paper's heuristic: the whole room inside one leaf (one tree) or one joint leaf (ensembles).

For a split on one column the dual norm of the room is its half-width there, whatever the shape: the room around x lies
left of the cut t iff x + up <= t and right of it iff x - down > t. So balls and diamonds are treated as their bounding
boxes. One tree: every leaf of the wanted class gives an interval per column, and the nearest point of the nearest leaf is
the answer. Ensembles, and linear rules: the master program of `adversarial` with one copy of the trees. Closer regions
that overlap several leaves are missed, so that nothing is claimed about how far from optimal the answer is.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from elbowroom.models import TreeEnsemble
from elbowroom.numerics import Floats, next_up
from elbowroom.problem import RecourseProblem, Takes, allowed_categories
from elbowroom.problem.shapes import Shape
from elbowroom.result.certificate import Certificate
from elbowroom.search.adversarial.center import farthest
from elbowroom.search.adversarial.chain import breakpoints
from elbowroom.search.adversarial.encode_trees import EnsembleCopy, TreeFamily
from elbowroom.search.adversarial.limits import LEAF_REACHES, MOST_ATTEMPTS
from elbowroom.search.adversarial.master import Stance
from elbowroom.search.adversarial.scenario import Scenario
from elbowroom.search.adversarial.splits import sets_refusal
from elbowroom.search.contract import Clock, Ending, Referee, refusal
from elbowroom.search.solvers.protocol import Chain, SolverName, open_solver

SHAPES = (Shape.BOX, Shape.BALL, Shape.DIAMOND)
TAKES = Takes(rows=True, most_changes=True, slant=True)


class OneLeafEngine:
    """A certified region inside one leaf, or none. ``solver`` replaces HiGHS, ``most_nodes`` limits its search. Keeps
    nothing between questions."""

    def __init__(self, solver: Chain | None = None, most_nodes: int | None = None) -> None:
        self._solver, self._most_nodes = solver, most_nodes

    def refuses(self, problem: RecourseProblem) -> str | None:
        engine = "the engine for rooms inside one leaf"
        beyond = problem.stated.beyond(TAKES)  # also those that are no more than narrower limits for others
        if beyond is not None:
            return f"{engine} does not take {beyond}; leave the rule out, or try another method"
        return refusal(problem, engine, SHAPES, TAKES) or sets_refusal(problem.model, engine)

    def prepare(self, shape: Shape) -> None:
        """There is nothing to compile."""

    def search(self, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> Ending:
        """The nearest good leaf; nothing here is random, so ``seed`` is not used."""
        if not isinstance(problem.model, TreeEnsemble):
            raise TypeError("the heuristic of one leaf answers questions about tree ensembles")
        method = "one leaf"
        if clock.expired:
            return Ending(method, 0.0, "the time limit was reached before the search began")
        family = TreeFamily(problem)
        if problem.model.leaves.n_trees == 1 and not family.linear_rules:
            candidates = _nearest_leaves(family)
        else:
            solver = self._solver or Chain([open_solver(SolverName.HIGHS)])
            method = f"one joint leaf on {solver.name}"
            candidates = _solutions(family, solver, clock, self._most_nodes)
        for center in candidates:
            if clock.remaining <= 0.0:
                return Ending(method, 0.0, "the time limit was reached before a leaf was found")
            if problem.admissible(center) and isinstance(referee(center), Certificate):
                return Ending(method, 0.0)
        return Ending(
            method,
            0.0,
            "no leaf with the wanted outcome was found that has room for the region; other regions may exist",
        )


def whole_room(problem: RecourseProblem, family: TreeFamily) -> EnsembleCopy:
    """Where the centre must lie for the whole room to be left or right of every split."""
    feature, cut = family.splits.feature, family.splits.cut
    grouped = problem.space.group_of >= 0
    whole = problem.space.whole_room
    ends = []
    for sign, walls in ((1.0, problem.walls.up), (-1.0, problem.walls.down)):
        shift = np.where(grouped, 0.0, np.where(whole, np.floor(walls), walls))
        ends.append(breakpoints(problem, Scenario(sign * shift), feature, cut))
    left, right = ends
    for g in problem.walls.free_groups:  # every allowed category must lie on the same side
        mine = np.isin(feature, problem.space.members[g])
        left = np.where(mine, np.where(problem.upper[feature] <= cut, np.inf, -np.inf), left)
        right = np.where(mine, np.where(problem.lower[feature] <= cut, np.inf, -np.inf), right)
    return EnsembleCopy(left, right)


def _nearest_leaves(family: TreeFamily) -> list[Floats]:
    """The nearest centre of every good leaf, closest first."""
    problem, splits = family.problem, family.splits
    copy = whole_room(problem, family)
    found: list[tuple[float, int, Floats]] = []
    for leaf in np.flatnonzero(family.usable):
        low, high = problem.lower.copy(), problem.upper.copy()
        for split in splits.left_row[splits.left_leaf == leaf]:
            f = splits.feature[split]
            high[f] = min(high[f], copy.left[split])
        for split in splits.right_row[splits.right_leaf == leaf]:
            f = splits.feature[split]
            edge = float(copy.right[split])
            after = edge + 1.0 if problem.space.whole_center[f] and math.isfinite(edge) else float(next_up(edge))
            low[f] = max(low[f], after if edge < math.inf else math.inf)
        if (low > high).any():
            continue
        center = np.clip(problem.factual, low, high)
        if _choose_categories(problem, center, low, high) and _few_changes(problem, center):
            found.append((problem.measure(center), int(leaf), center + 0.0))
    found.sort(key=lambda entry: entry[:2])
    return [center for _, _, center in found[:MOST_ATTEMPTS]]


def _choose_categories(problem: RecourseProblem, center: Floats, low: Floats, high: Floats) -> bool:
    """Set every one-hot group to the factual's category if the leaf allows it, else to any that it allows."""
    for members in problem.space.members:
        allowed = allowed_categories(low[members], high[members])
        if not allowed.any():
            return False
        now = int(np.argmax(problem.factual[members]))
        center[members] = np.eye(members.size)[now if allowed[now] else int(np.argmax(allowed))]
    return True


def _few_changes(problem: RecourseProblem, center: Floats) -> bool:
    most = problem.conditions.most_changes
    return most is None or int(problem.changed(center).sum()) <= most


def _solutions(family: TreeFamily, solver: Chain, clock: Clock, most_nodes: int | None) -> list[Floats]:
    """The program's answer; where tolerances spoil it, its combination of leaves is excluded and the next one sought."""
    problem = family.problem
    copy = whole_room(problem, family)
    longest = farthest(problem)
    reaches = [r for r in LEAF_REACHES if r < longest] + [longest] if family.needs_reach else [math.inf]
    found: list[Floats] = []
    for reach in reaches:
        for _ in range(MOST_ATTEMPTS):
            if clock.expired:
                return found
            if math.isinf(reach) and family.needs_reach:
                break
            master = family.assembled([copy], Stance.ASK, reach)
            answer = solver.solve(replace(master.program, most_nodes=most_nodes), clock.remaining)
            if not answer.usable or answer.x is None:
                break
            center = master.decode(answer.x)
            found.append(center)
            if family.spare(center[None])[0] >= 0 or not family.harden(0, center):
                return found
    return found
