"""Large ensembles: a region at once, then the proof on what is left of the trees.

1. Rounds on the trees themselves (`first`): a region within milliseconds, most of the quality within a second.
2. What no closer centre can reach is cut out of the trees (`first.collapse`).
3. The best-first search on what is left; whenever its best centre has come much closer, 2 and 3 begin again.

Everything before the proof is limited by work that is counted, so that a run that ends by itself gives the same answer on
every machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elbowroom.kernels.warm import PATIENCE
from elbowroom.models import TreeEnsemble
from elbowroom.models.margins import Need, TreeMargins, tree_margins
from elbowroom.problem import Distance, RecourseProblem, Space
from elbowroom.problem.rooms import room_of
from elbowroom.problem.shapes import Shape
from elbowroom.search.contract import NEAR_TIES, Clock, Ending, Referee
from elbowroom.search.rehearsal import Prompter
from elbowroom.search.trees.boxes.search import Known, search_boxes
from elbowroom.search.trees.first.asked import Asked, asked_of
from elbowroom.search.trees.first.collapse import Collapse, Collapsed
from elbowroom.search.trees.first.forest import Forest
from elbowroom.search.trees.first.limits import (
    CLOSER,
    FIRST_SHARE,
    LEAST_WORK,
    LONG_SHARE,
    MANY_LEFT,
    MOST_WORK,
    TABLE_BYTES,
    WORK_PER_SECOND,
)
from elbowroom.search.trees.first.rounds import Rounds
from elbowroom.search.trees.memory import TreeMemory


@dataclass(frozen=True, eq=False)
class Standing:
    """A model and a wanted class, walked: what is kept from question to question."""

    model: TreeEnsemble
    need: Need
    target_index: int
    margins: TreeMargins
    forest: Forest
    whole: bytes

    @classmethod
    def of(cls, problem: RecourseProblem) -> Standing:
        model = problem.model
        assert isinstance(model, TreeEnsemble)
        margins = tree_margins(model, problem.target_index, problem.target.need)
        forest = Forest.of(model, problem.space, margins)
        whole = problem.space.whole_room.tobytes()
        return cls(model, problem.target.need, problem.target_index, margins, forest, whole)

    def fits(self, problem: RecourseProblem) -> bool:
        return (
            self.model is problem.model
            and self.target_index == problem.target_index
            and self.need == problem.target.need
            and self.whole == problem.space.whole_room.tobytes()
        )


class First:
    """The rounds of one question, and what they leave for the proof."""

    def __init__(self, problem: RecourseProblem, standing: Standing, referee: Referee, clock: Clock, seed: int) -> None:
        self._problem, self._standing, self._referee, self._clock, self._seed = problem, standing, referee, clock, seed
        asked = asked_of(problem, standing.forest)
        self._asked: Asked | None = asked
        self._rounds = None if asked is None else Rounds(problem, standing.forest, asked, referee, clock, seed)

    def find(self) -> bool:
        """A region, as good as a share of the time allows; False if the climb arrived nowhere."""
        rounds = self._rounds
        if rounds is None or not rounds.first():
            return False
        rounds.go_on(self._work(FIRST_SHARE))
        return True

    def _work(self, share: float) -> int:
        """A share of the time limit, as work that is counted."""
        return int(max(LEAST_WORK, share * min(self._clock.nominal * WORK_PER_SECOND, MOST_WORK)))

    def prove(self, hopeful: bool) -> Ending:
        """The best-first search on what the best centre leaves of the trees, again whenever that is much less."""
        standing, asked = self._standing, self._asked
        assert asked is not None
        collapse = Collapse(standing.model, standing.forest, asked)
        bound, counters = 0.0, {}
        if (
            self._rounds is not None and self._left(collapse).n_leaves > MANY_LEFT
        ):  # the proof is far: make the region better
            self._rounds.go_on(self._work(LONG_SHARE))
        while True:
            center = self._referee.center
            assert center is not None
            total, small = self._total(self._referee.distance), self._left(collapse)
            memory = TreeMemory(
                small.model,
                self._problem.space,
                standing.target_index,
                standing.need,
                hopeful,
                margins=small.margins(standing.margins),
                table_bytes=TABLE_BYTES,
            )
            known = Known(center, total, CLOSER * total)
            ending = search_boxes(self._problem, self._referee, self._clock, self._seed, memory, known=known)
            bound = max(bound, ending.lower_bound)
            counters = {**ending.counters, "leaves": float(small.n_leaves)}
            again = self._total(self._referee.distance) < known.restart_below and not self._clock.expired
            if not again or ending.counters.get(NEAR_TIES):
                return replace(ending, lower_bound=min(bound, self._referee.distance), counters=counters)

    def _left(self, collapse: Collapse) -> Collapsed:
        """What the best centre leaves of the trees."""
        return collapse.below(self._total(self._referee.distance))

    def _total(self, distance: float) -> float:
        return distance**2 if self._problem.distance is Distance.L2 else distance


def rehearse_first(model: TreeEnsemble, shape: Shape) -> None:
    """A tiny question, so that all kernels are loaded or compiled. The answer is discarded."""
    row = np.zeros(model.info.n_features)
    problem = RecourseProblem.ask(model, Space.plain(model.info.names), row, room_of(shape)(0.1))
    standing = Standing.of(problem)
    asked = asked_of(problem, standing.forest)
    assert asked is not None
    rounds = Rounds(problem, standing.forest, asked, Prompter(), Clock(PATIENCE), 0)
    rounds.rehearse()
    Collapse(model, standing.forest, asked).below(1.0).margins(standing.margins)
