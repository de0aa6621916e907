"""Room on the changed (or kept) columns only, for engines that know rooms on all columns: branch and bound over which
columns change, with ordinary questions as relaxations.

A node has decided for some columns whether they change, and how; the others are open. Its ordinary question has, column
by column, these limits and this room (K is what a kept value may slip to, w the least change; see `problem.on`):

    decision   on="changed"                      on="kept"
    open       the limits, room 0                the limits, room 0
    keep       the factual alone, room 0         K, with a room that always covers all of K
    change     the limits, room r                above: from factual + w on, below: up to factual - w, both with room 0

*Every centre of the node that is valid for the question is valid for the node's question*, because there no column has
more room than it has in truth: open columns have none, and around the factual the room of a kept column is K, which is
what the node's question covers whatever the centre. So the engine's bound for the node's question bounds the node, and
its proof that none exists holds for the node. *What the node's question accepts* is offered to the judge of the question
itself (kept columns put back to the factual, which costs less and changes nothing of the room); if it is accepted, the
node is done. If it is not, then some open column has less room in the node's question than it would have, or (on="kept")
is changed by less than w: the node is divided by what such a column does. "change" with on="changed" still admits the factual, with
more room than asked: valid as well, and covered by "keep". Every division decides a column, so the search ends.

Centres are put back to the factual column by column, so rows that tie columns together are not taken with on="kept".
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import count

import numpy as np

from elbowroom.numerics import Floats, next_up
from elbowroom.problem import Box, Direction, RecourseProblem
from elbowroom.problem.conditions import Clause, Row
from elbowroom.problem.domains import Domain
from elbowroom.problem.further import Further
from elbowroom.problem.hull import Hull
from elbowroom.problem.on import On
from elbowroom.result.certificate import Certificate
from elbowroom.search.contract import Clock, Ending, Engine, Referee

METHOD = "room on some columns"


def rows_refusal(problem: RecourseProblem, who: str) -> str | None:
    """Rows tie columns together: a kept column could not be put back to the factual by itself."""
    if problem.walls.on is not On.KEPT:
        return None
    return _refused(problem, who, problem.conditions.rows)


def rules_with_some_columns(problem: RecourseProblem, who: str) -> str | None:
    """The positions that boxes on trees leave out are dominated only where nothing but their number limits the changes."""
    if problem.walls.on is On.ALL:
        return None
    conditions = problem.conditions
    return _refused(
        problem,
        who,
        (*conditions.rows, *conditions.domains, *conditions.clauses, *conditions.further, *conditions.hulls),
    )


def _refused(problem: RecourseProblem, who: str, parts: Sequence[Row | Domain | Clause | Further | Hull]) -> str | None:
    if not parts:
        return None
    on = problem.walls.on.value
    return (
        f"{who} does not take rooms with on={on!r} together with {parts[0].source}; leave the rule out, or use on='all'"
    )


class Choice(IntEnum):
    """What a node has decided about a column."""

    OPEN = 0
    KEEP = 1
    CHANGE = 2  # on="changed"
    ABOVE = 3  # on="kept": changed by the width of its room or more
    BELOW = 4


@dataclass(frozen=True, eq=False)
class Node:
    """Decisions per column, and what is proven about all its centres."""

    choices: tuple[Choice, ...]
    bound: float


def search_some_columns(engine: Engine, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> Ending:
    """The closest centre of a question with room on some columns, by an engine for room on all."""
    return _Search(engine, problem, referee, clock, seed).run()


class _Search:
    def __init__(self, engine: Engine, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> None:
        self.engine, self.problem, self.referee, self.clock, self.seed = engine, problem, referee, clock, seed
        self.on = problem.walls.on
        self.low, self.high = problem.kept_ends
        self.below, self.above = problem.least_moves
        walls, movable = problem.walls, problem.lower < problem.upper
        self.roomy = ((walls.down > 0.0) | (walls.up > 0.0)) & movable  # columns that anything is decided about
        self.settled = math.inf  # smallest bound of a node that nothing more can be said about
        self.tolerance, self.asked, self.method, self.reason = 0.0, 0, METHOD, ""

    def run(self) -> Ending:
        number = count()
        root = Node((Choice.OPEN,) * self.problem.factual.size, 0.0)
        heap = [(0.0, next(number), root)]
        while heap and not self.clock.expired:
            node = heapq.heappop(heap)[2]
            if node.bound >= self._enough:
                heap.clear()
                break
            for child in self._expand(node):
                heapq.heappush(heap, (child.bound, next(number), child))
            self.clock.report(lower_bound=min(self._bound(heap), self.referee.distance))
        bound = self._bound(heap)
        counters = {"questions": float(self.asked)}
        if math.isinf(bound) and math.isinf(self.referee.distance):
            return Ending(self.method, bound, self.reason or "no centre has a good room", self.tolerance, counters)
        reason = "the time limit was reached" if heap else self.reason or "the judge could not decide"
        return Ending(self.method, min(bound, self.referee.distance), reason, self.tolerance, counters)

    @property
    def _enough(self) -> float:
        return self.referee.distance * (1.0 - self.tolerance)

    def _bound(self, heap: list[tuple[float, int, Node]]) -> float:
        return min(heap[0][0] if heap else math.inf, self.settled)

    def _expand(self, node: Node) -> list[Node]:
        """Ask the node's question; nothing if that settles it, else its children."""
        bound, center = self._ask(node)
        if bound >= self._enough:
            self.settled = min(self.settled, bound) if math.isfinite(bound) else self.settled
            return []
        if center is None:
            self.settled = min(self.settled, bound)
            return []
        accepted = isinstance(self.referee(center), Certificate)
        if accepted and bound >= self.problem.measure(center) * (1.0 - self.tolerance):
            self.settled = min(self.settled, bound)
            return []
        column = self._column(node, center)
        if column is None:  # its question was the true one: what is missing is a proof
            self.settled = min(self.settled, bound)
            return []
        if self.asked == 1:
            self._ask_straight(center)
        keep = (Choice.KEEP,) if self.low[column] <= self.high[column] else ()
        change = (Choice.CHANGE,) if self.on is On.CHANGED else (Choice.ABOVE, Choice.BELOW)
        return [
            self._child(node, column, choice, bound) for choice in (*keep, *change) if self._possible(column, choice)
        ]

    def _child(self, node: Node, column: int, choice: Choice, bound: float) -> Node:
        choices = list(node.choices)
        choices[column] = choice
        return Node(tuple(choices), bound)

    def _possible(self, f: int, choice: Choice) -> bool:
        if choice is Choice.ABOVE:
            return bool(self.above[f] <= self.problem.upper[f])
        if choice is Choice.BELOW:
            return bool(self.below[f] >= self.problem.lower[f])
        return True

    def _ask(self, node: Node) -> tuple[float, Floats | None]:
        """Bound and best centre of the node's question."""
        self.asked += 1
        question = self._question(node)
        judge = self.referee.about(question)
        ending = self.engine.search(question, judge, Clock(max(self.clock.remaining, 0.0)), self.seed)
        self.tolerance = max(self.tolerance, ending.tolerance)
        self.method, self.reason = f"{ending.method}, {METHOD}", ending.reason
        bound = max(node.bound, min(ending.lower_bound, judge.distance))
        if judge.center is None:
            return bound, None
        kept = np.array(node.choices) == Choice.KEEP
        return bound, np.where(kept, self.problem.factual, judge.center)

    def _ask_straight(self, center: Floats) -> None:
        """For a first answer: everything decided as the relaxation's own centre has it."""
        moved, inside = center != self.problem.factual, (center > self.below) & (center < self.above)
        change = np.where(center > self.problem.factual, Choice.ABOVE, Choice.BELOW)
        change = np.full(center.size, Choice.CHANGE) if self.on is On.CHANGED else change
        keep = ~moved | (inside & (self.on is On.KEPT))
        choices = np.where(self.roomy, np.where(keep, Choice.KEEP, change), Choice.OPEN)
        _, straight = self._ask(Node(tuple(Choice(int(c)) for c in choices), 0.0))
        if straight is not None:
            self.referee(straight)

    def _question(self, node: Node) -> RecourseProblem:
        """The ordinary question of a node; see the module."""
        problem, walls = self.problem, self.problem.walls
        down, up = np.zeros_like(walls.down), np.zeros_like(walls.up)
        features = list(problem.space.features)
        for f, choice in enumerate(node.choices):
            lower, upper = float(problem.lower[f]), float(problem.upper[f])
            match choice:
                case Choice.OPEN:
                    continue
                case Choice.KEEP if self.on is On.CHANGED:
                    lower = upper = float(problem.factual[f])
                case Choice.KEEP:
                    lower, upper = float(self.low[f]), float(self.high[f])
                    down[f] = up[f] = float(next_up(next_up(upper - lower)))
                case Choice.CHANGE:
                    down[f], up[f] = walls.down[f], walls.up[f]
                case Choice.ABOVE:
                    lower = max(lower, float(self.above[f]))
                case Choice.BELOW:
                    upper = min(upper, float(self.below[f]))
            features[f] = replace(features[f], lower=lower, upper=upper, direction=Direction.ANY)
        room = Box(low=tuple(down.tolist()), high=tuple(up.tolist()), categories=problem.room.categories)
        return replace(problem, space=replace(problem.space, features=tuple(features)), room=room)

    def _column(self, node: Node, center: Floats) -> int | None:
        """The open column to decide next: of those that have less room than in truth, or lie where none may, the one whose
        room changes the model's scores most."""
        changed = center != self.problem.factual
        inside = (center > self.below) & (center < self.above)
        short = changed if self.on is On.CHANGED else ~changed | inside
        open_columns = np.flatnonzero((np.array(node.choices) == Choice.OPEN) & self.roomy & short)
        if open_columns.size == 0:
            return None
        body = self.problem.body(center) if self.on is On.CHANGED else None
        low = self.low if body is None else body.lower
        high = self.high if body is None else body.upper
        points = np.repeat(center[None], 2 * open_columns.size + 1, axis=0)
        for i, f in enumerate(open_columns):
            points[2 * i, f], points[2 * i + 1, f] = low[f], high[f]
        scores = np.asarray(self.problem.model.scores(points), dtype=np.float64).reshape(points.shape[0], -1)
        drop = np.abs(scores[:-1] - scores[-1]).max(axis=1).reshape(-1, 2).max(axis=1)
        return int(open_columns[np.argmax(drop)])
