"""The best region so far, made better by ruin and recreate.

A round sends some of the changed blocks home, climbs again with random factors on the rates, shrinks, and keeps what is
better. For rooms of some width, half of the work goes into rounds in which the walking adversary decides (`exact`). What is
done depends on work that was counted, never on time: the clock only ends it.
"""

from __future__ import annotations

import math

import numpy as np

from elbowroom.kernels.alarm import alarm
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import RecourseProblem
from elbowroom.result.certificate import Certificate, Inadmissible
from elbowroom.search.contract import Clock, Referee
from elbowroom.search.trees.first.asked import Asked
from elbowroom.search.trees.first.climb import WAY, climb, shrink
from elbowroom.search.trees.first.exact import exact_climb, exact_shrink
from elbowroom.search.trees.first.forest import Forest
from elbowroom.search.trees.first.limits import (
    ASK_EVERY,
    EXACT_SHARE,
    FIRST_CLIMBS,
    JUDGE_LOOKS,
    LAZY,
    LOOK,
    LOOSE,
    NOISES,
    PATIENCE,
    POLISH,
    STEPS,
)
from elbowroom.search.trees.first.profile import line_for
from elbowroom.search.trees.first.stand import go_home, send_blocks_home, stand_at_home, total_cost
from elbowroom.search.trees.first.walk import walk_for


class Rounds:
    """The search for good centres of one question; accepted ones are the referee's."""

    def __init__(
        self, problem: RecourseProblem, forest: Forest, asked: Asked, referee: Referee, clock: Clock, seed: int
    ) -> None:
        self._problem, self._forest, self._asked, self._referee, self._clock = problem, forest, asked, referee, clock
        self._stand, self._line, self._walk = stand_at_home(forest, asked, seed), line_for(forest), walk_for(forest)
        self._places, self._costs = np.zeros(len(self._line.place) + 1), np.zeros(len(self._line.place) + 1)
        self._random = np.random.default_rng(seed)
        self._wide = bool((problem.walls.down + problem.walls.up).max(initial=0.0) > 0.0)
        self._exact_work = 0
        self._better_at = 0  # work when the best centre was found
        self.best = math.inf  # total cost of the best accepted centre
        self._x: Floats | None = None
        self._choice: Ints = self._stand.choice.copy()
        self._cost: Floats = self._stand.cost.copy()
        self._first_work = 0  # of the first climb
        self.rounds = 0
        self.broken: Floats | None = None  # the last centre that is good, and breaks a rule

    @property
    def work(self) -> int:
        """Nodes walked so far."""
        return int(self._stand.work[0])

    # ---- the plan -----------------------------------------------------------------------------------------------------
    def first(self) -> bool:
        """From home to a good room, at once; True if the judge accepts one."""
        with alarm(self._stand.ended, self._clock.deadline):
            return self._first()

    def _first(self) -> bool:
        go_home(self._asked, self._stand)
        arrived = self._climb(math.inf, 0.0, LAZY)
        if arrived:
            shrink(self._forest, self._asked, self._stand, self._line)
        elif self._wide:  # the sum of smallest values may be too strict for any room of this width
            go_home(self._asked, self._stand)
            arrived = self._climb_exactly(math.inf, 0.0, LAZY)
        self._first_work = self.work
        if arrived:
            self._offer()
        if self._x is None:
            return False
        if self._wide:
            self._polish()
        return True

    def go_on(self, work: int) -> None:
        """Rounds until so much work is done in all, nothing better has come for long, or the time is over."""
        with alarm(self._stand.ended, self._clock.deadline):
            self._go_on(work)

    def _go_on(self, work: int) -> None:
        while self._x is not None and self.work < work and not self._clock.expired:
            fruitless = self.work - self._better_at
            if fruitless > PATIENCE * max(FIRST_CLIMBS * self._first_work, self._better_at):
                return
            if not self._round():
                return

    def _round(self) -> bool:
        """False if there is nothing to be ruined."""
        before = self.work
        self._return()
        changed = self._changed()
        if not changed.size:
            return False
        self.rounds += 1
        size = int(self._random.integers(1, max(2, 2 * changed.size // 3) + 1))
        gone = self._random.choice(changed, min(size, changed.size), replace=False).astype(np.int64)
        noise = NOISES[int(self._random.integers(len(NOISES)))] / 10
        lazy = LAZY if self._random.integers(2) else math.inf
        exact = self._wide and self._exact_work < EXACT_SHARE * self.work
        send_blocks_home(self._asked, self._stand, gone)
        if exact:
            arrived = self._climb_exactly(self.best, noise, lazy)
            self._exact_work += self.work - before
        else:
            arrived = self._climb(self.best * (LOOSE if self._wide else 1.0), noise, lazy)
            if arrived:
                shrink(self._forest, self._asked, self._stand, self._line)
        if arrived:
            self._offer()
            if self._wide and self._total < LOOSE * self.best:
                self._polish()
        return True

    def rehearse(self) -> None:
        """Every kernel once."""
        self._climb(math.inf, 0.0, LAZY)
        shrink(self._forest, self._asked, self._stand, self._line)
        self._climb_exactly(math.inf, 0.0, LAZY)
        self._polish()
        send_blocks_home(self._asked, self._stand, self._changed())

    # ---- moves ----------------------------------------------------------------------------------------------------------
    def _climb(self, budget: float, noise: float, lazy: float) -> bool:
        about = self._forest, self._asked, self._stand, self._line
        return bool(climb(*about, budget, noise, lazy, STEPS) == WAY.ARRIVED)

    def _climb_exactly(self, budget: float, noise: float, lazy: float) -> bool:
        about = self._forest, self._asked, self._stand, self._line, self._walk
        return bool(exact_climb(*about, budget, noise, lazy, STEPS, ASK_EVERY, LOOK) == WAY.ARRIVED)

    def _polish(self) -> None:
        before = self.work
        about = self._forest, self._asked, self._stand, self._line, self._walk
        exact_shrink(*about, self._places, self._costs, LOOK, POLISH)
        self._exact_work += self.work - before
        self._offer()

    # ---- the best -----------------------------------------------------------------------------------------------------
    @property
    def _total(self) -> float:
        return float(total_cost(self._asked, self._stand))

    def _changed(self) -> Ints:
        asked, stand = self._asked, self._stand
        single = (
            stand.x[asked.block_column[asked.block_start[:-1]]]
            != asked.home[asked.block_column[asked.block_start[:-1]]]
        )
        return np.flatnonzero(np.where(asked.is_group != 0, stand.choice != asked.home_choice, single))

    def _return(self) -> None:
        """Stand at the best centre."""
        if self._x is not None:
            self._stand.x[:], self._stand.choice[:], self._stand.cost[:] = self._x, self._choice, self._cost

    def _offer(self) -> None:
        """A centre that is better than the best goes to the judge at once, who knows the rules that the moves do not know."""
        total = self._total
        if total >= self.best:
            return
        center = self._stand.x[: self._problem.factual.size] + 0.0
        verdict = self._referee(center, JUDGE_LOOKS)
        if isinstance(verdict, Inadmissible):
            self.broken = center
        elif isinstance(verdict, Certificate):
            self.best, self._better_at = total, self.work
            self._x = self._stand.x.copy()
            self._choice, self._cost = self._stand.choice.copy(), self._stand.cost.copy()
