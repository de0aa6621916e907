"""Large ensembles: a region at once, then the proof on what is left of the trees.

1. Rounds on the trees themselves (`first`): a region within milliseconds, most of the quality within a second.
2. What no closer centre can reach is cut out of the trees (`first.collapse`).
3. Shares of the cost bound what is left (`first.split`), part by part (`first.branch`).
4. Where few leaves are left, the best-first search in cells; whenever its best centre has come much closer, 2 to 4 begin again.

Everything before the proof is limited by work that is counted, so that a run that ends by itself gives the same answer on
every machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from elbowroom.kernels.warm import PATIENCE
from elbowroom.models import TreeEnsemble
from elbowroom.models.margins import Need, TreeMargins, tree_margins
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import Box, Distance, RecourseProblem, Space, Takes
from elbowroom.problem.further import Key
from elbowroom.problem.on import On
from elbowroom.problem.problem import Case
from elbowroom.problem.rooms import room_of
from elbowroom.problem.shapes import Shape, is_round
from elbowroom.search.cases import Division, Part
from elbowroom.search.contract import NEAR_TIES, Clock, Ending, Referee
from elbowroom.search.rehearsal import Prompter
from elbowroom.search.trees.boxes.limits import CLOSE
from elbowroom.search.trees.by_shape import search_of
from elbowroom.search.trees.drive import Known
from elbowroom.search.trees.first.asked import Asked, asked_of
from elbowroom.search.trees.first.branch import Branch
from elbowroom.search.trees.first.collapse import Collapse, Collapsed
from elbowroom.search.trees.first.forest import Forest
from elbowroom.search.trees.first.limits import (
    BRANCH_SHARE,
    BYTES_PER_LEAF,
    CLOSER,
    COPIES,
    FIRST_SHARE,
    JUDGE_LOOKS,
    LEAST_SWEEPS,
    LEAST_WORK,
    LONG_SHARE,
    MANY_LEFT,
    MOST_PARTS,
    MOST_WORK,
    SECONDS_PER_LEAF,
    SHARES_BYTES,
    SPLIT_SHARE,
    TABLE_BYTES,
    WORK_PER_SECOND,
)
from elbowroom.search.trees.first.rounds import Rounds
from elbowroom.search.trees.first.split import Split, where_to_stand
from elbowroom.search.trees.memory import TreeMemory, tied_columns

BY_SHARES = "large trees: shares of the cost"
LEFT_TO_THE_JUDGE = Takes(
    rows=True, most_changes=True, domains=True, prices=True
)  # clauses: centres that break one are refused


@dataclass(frozen=True, eq=False)
class Standing:
    """A model and a wanted class, walked: what is kept from question to question."""

    model: TreeEnsemble
    need: Need
    target_index: int
    margins: TreeMargins
    forest: Forest
    beside: Forest  # with the trees of further margins
    further: tuple[Key, ...]
    whole: bytes

    @classmethod
    def of(cls, problem: RecourseProblem) -> Standing:
        model = problem.model
        assert isinstance(model, TreeEnsemble)
        margins = tree_margins(model, problem.target_index, problem.target.need)
        forest = Forest.of(model, problem.space, margins)
        beside = forest
        for each in problem.further:
            beside = beside.beside(Forest.of(each.model, problem.space, each.margins), not each.everywhere)
        keys, whole = tuple(each.key for each in problem.further), problem.space.whole_room.tobytes()
        return cls(model, problem.target.need, problem.target_index, margins, forest, beside, keys, whole)

    def fits(self, problem: RecourseProblem) -> bool:
        return (
            self.model is problem.model
            and self.target_index == problem.target_index
            and self.need == problem.target.need
            and self.further == tuple(each.key for each in problem.further)
            and self.whole == problem.space.whole_room.tobytes()
        )


class First:
    """The rounds of one question, and what they leave for the proof."""

    def __init__(self, problem: RecourseProblem, standing: Standing, referee: Referee, clock: Clock, seed: int) -> None:
        self._problem, self._standing, self._referee, self._clock, self._seed = problem, standing, referee, clock, seed
        self._rounds: Rounds | None = None
        self._counters: dict[str, float] = {}

    def find(self) -> bool:
        """A region, as good as a share of the time allows; False if no climb arrived anywhere."""
        rounds = self._arrive()
        if rounds is None:
            return False
        self._rounds = rounds
        rounds.go_on(self._work(FIRST_SHARE if self._problem.case is None else 0.0))
        return True

    def _arrive(self) -> Rounds | None:
        """Rounds that stand at a region: of the question itself; or where the good centre that they arrive at breaks a rule, of
        parts of the question in which no centre breaks it, the nearest first."""
        division = Division(self._problem, LEFT_TO_THE_JUDGE)
        todo: list[Part | None] = [None]
        for _ in range(MOST_PARTS):
            if not todo or self._clock.expired:
                return None
            part = todo.pop()
            problem = self._problem if part is None else division.question(part)
            asked = asked_of(problem, self._standing.beside)
            if asked is None:
                continue
            rounds = Rounds(problem, self._standing.beside, asked, self._referee, self._clock, self._seed)
            if rounds.first():
                return rounds
            if rounds.broken is not None:
                todo += _parts(division, part or division.root, rounds.broken)[::-1]
        return None

    def _work(self, share: float) -> int:
        """A share of the time limit, as work that is counted."""
        return int(max(LEAST_WORK, share * min(self._clock.nominal * WORK_PER_SECOND, MOST_WORK)))

    def prove(self, hopeful: bool) -> Ending:
        """The best-first search on what the best centre leaves of the trees, again whenever that is much less."""
        bound = 0.0
        if (
            self._rounds is not None and self._left(self._problem)[1].n_leaves > MANY_LEFT
        ):  # far: make the region better
            self._rounds.go_on(self._work(LONG_SHARE if self._problem.case is None else 0.0))
        while True:
            center = self._referee.center
            assert center is not None
            before = self._total(self._referee.distance)
            problem, small, split = self._narrowed(before)
            bound = max(bound, self._distance(split))
            total = self._total(self._referee.distance)
            if split >= self._worth():
                return Ending(BY_SHARES, min(bound, self._referee.distance), counters=self._counters)
            self._clock.report(lower_bound=bound)
            if self._clock.expired:
                return Ending(BY_SHARES, bound, "the time limit was reached", counters=self._counters)
            if total < before:
                continue
            memory = TreeMemory(
                small.model,
                self._problem.space,
                self._standing.target_index,
                self._standing.need,
                hopeful,
                self._problem.further,
                tied=tied_columns(self._problem),
                margins=small.margins(self._standing.margins),
                table_bytes=TABLE_BYTES,
            )
            known = Known(center, total, CLOSER * total)
            search = search_of(self._problem.walls.shape)
            ending = search(problem, self._referee, self._clock, self._seed, memory, known=known)
            bound = max(bound, ending.lower_bound)
            counters = {**self._counters, **ending.counters, "leaves": float(small.n_leaves)}
            again = self._total(self._referee.distance) < known.restart_below and not self._clock.expired
            if not again or ending.counters.get(NEAR_TIES):
                return replace(ending, lower_bound=min(bound, self._referee.distance), counters=counters)

    def _narrowed(self, total: float) -> tuple[RecourseProblem, Collapsed, float]:
        """What is left for the search: the question within the windows that shares of the cost leave, the trees that are met
        there, and the total cost that these shares prove: for all centres, since those beyond the windows cost ``total``."""
        problem = self._problem
        asked, small = self._left(problem)
        additive = problem.distance is not Distance.LINF and problem.walls.on is On.ALL
        shared = None if asked is None or not additive else self._for_shares(problem, asked)
        if asked is None or shared is None or not (small.model.feature >= 0).any():
            return problem, small, 0.0
        too_large = COPIES * BYTES_PER_LEAF * small.n_leaves > SHARES_BYTES
        if too_large or self._clock.remaining < SECONDS_PER_LEAF * small.n_leaves:
            return problem, small, 0.0
        margins, home = self._standing.margins, asked.home[: problem.factual.size]
        stand, rival = where_to_stand(problem, self._standing.model, margins, home)
        place = shared.home.copy()
        place[: stand.size] = stand
        split = Split(self._standing.forest, shared, small, margins, rival, place, total)
        share, least = (SPLIT_SHARE, LEAST_SWEEPS) if problem.case is None else (0.0, 0)
        split.run(self._work(share), self._clock, self._raised, least)
        alone = small.n_leaves > MANY_LEFT or not self._wide
        branch = Branch(split, partial(self._offer, split), self._clock.n_jobs)
        work = math.inf if alone else self._work(BRANCH_SHARE if problem.case is None else 0.0)
        bound = branch.run(self._worth, self._clock, self._raised, work)
        self._counters["parts"] = self._counters.get("parts", 0.0) + branch.parts
        if bound >= self._worth():
            return problem, small, bound
        cells = branch.windows(total)
        if cells is not None:
            problem = _within(problem, *split.limits_of(*cells))
            small = self._left(problem)[1]
        return problem, small, bound

    @property
    def _wide(self) -> bool:
        """False: rooms are single points."""
        return bool((self._problem.walls.down + self._problem.walls.up).max(initial=0.0) > 0.0)

    def _worth(self) -> float:
        """Totals from here on are not worth a search."""
        return self._total(self._referee.distance) * (1.0 - CLOSE)

    def _raised(self, total: float) -> None:
        """Publish a bound that shares of the cost prove."""
        if self._distance(total) > self._clock.lower_bound:
            self._clock.report(lower_bound=self._distance(total))

    def _offer(self, split: Split, first: Ints, last: Ints) -> None:
        """A centre that is good as far as the shares know: for single points they know all."""
        problem = self._problem
        if self._wide or problem.space.groups:
            return
        low, high = (limit[: problem.factual.size] for limit in split.limits_of(first, last))
        center = np.clip(problem.factual, *problem.centers)
        center = np.minimum(
            np.maximum(center, np.maximum(low, problem.centers[0])), np.minimum(high, problem.centers[1])
        )
        if self._total(problem.measure(center)) < self._total(self._referee.distance):
            self._referee(center, JUDGE_LOOKS)

    def _left(self, problem: RecourseProblem) -> tuple[Asked | None, Collapsed]:
        """What the best centre leaves of the trees; all of them if only those of further margins have anything that moves."""
        standing = self._standing
        asked = asked_of(problem, standing.forest, everywhere=True)
        if asked is None:
            return None, Collapsed(standing.model, standing.model.leaf_order.place, np.zeros(0, np.int64))
        collapse = Collapse(standing.model, standing.forest, asked)
        return asked, collapse.below(self._total(self._referee.distance))

    def _for_shares(self, problem: RecourseProblem, asked: Asked) -> Asked | None:
        """An adversary who moves in every column by itself stays in a box. In other rooms it is the centre."""
        if not is_round(problem.walls.shape):
            return asked
        point = replace(problem, room=Box(0.0, categories=problem.room.categories))
        return asked_of(point, self._standing.forest)

    def _distance(self, total: float) -> float:
        return max(total, 0.0) ** 0.5 if self._problem.distance is Distance.L2 else total

    def _total(self, distance: float) -> float:
        return distance**2 if self._problem.distance is Distance.L2 else distance


def _within(problem: RecourseProblem, low: Floats, high: Floats) -> RecourseProblem:
    """The same question for the centres between two corners; columns of splits by category are left out."""
    lower, upper = problem.centers
    whole = problem.space.whole_center | (problem.space.group_of >= 0)
    n = lower.size
    low, high = np.where(whole, np.ceil(low[:n]), low[:n]), np.where(whole, np.floor(high[:n]), high[:n])
    case = Case(np.maximum(lower, low), np.minimum(upper, high), problem.conditions, problem.metric)
    return replace(problem, case=case)


def _parts(division: Division, part: Part, center: Floats) -> list[Part]:
    """Parts of a part in which no centre breaks the rule that ``center`` breaks, nearest first: one per option of a clause, or
    the columns of a row stay where they are."""
    problem = division.problem
    found = division.divided(part, center)
    for row in problem.conditions.rows:
        home = np.clip(problem.factual, part.lower, part.upper)
        if not found and not row.holds(center) and row.holds(home):
            used = row.coefficients != 0.0
            found = [Part(np.where(used, home, part.lower), np.where(used, home, part.upper))]
    tight = [made for each in found if not each.is_empty() and (made := division.tightened(each)) is not None]
    return sorted(tight, key=lambda each: problem.measure(np.clip(problem.factual, each.lower, each.upper)))


def rehearse_first(model: TreeEnsemble, shape: Shape) -> None:
    """A tiny question, so that all kernels are loaded or compiled. The answer is discarded."""
    row = np.zeros(model.info.n_features)
    problem = RecourseProblem.ask(model, Space.plain(model.info.names), row, room_of(shape)(0.1))
    standing = Standing.of(problem)
    asked = asked_of(problem, standing.forest)
    assert asked is not None
    rounds = Rounds(problem, standing.forest, asked, Prompter(), Clock(PATIENCE), 0)
    rounds.rehearse()
    small = Collapse(model, standing.forest, asked).below(1.0)
    small.margins(standing.margins)
    split = Split(standing.forest, asked, small, standing.margins, 0, asked.home, 1.0)
    split.sweep(Clock(PATIENCE))
    Branch(split, lambda first, last: None).run(lambda: 1.0, Clock(PATIENCE), lambda bound: None, 1.0)
