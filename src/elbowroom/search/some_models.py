"""At least k of m models, the same k at every point of the room: branch and bound over which of them have to say what is
wanted, with questions about all of some models as relaxations.

An answer is a centre c and a set K of at least k models, each of which says what is wanted of it everywhere in the room of c.
A node (S, T) stands for the answers with S inside K, and with some k models of K outside T. All of S agree on them, so the bound
of the question about all of S bounds the node. Let c be the closest centre for S, and F the models outside S that
refuse its room (or are not decided about it in time):

* at most m - k of them: c is an answer, and none of the node is closer;
* more: k models of K lie outside T, so K has one of the first m - k - |T| + 1 models f_1, f_2, ... of F that lie outside T. The node is divided:
  f_1 in S; f_1 in T and f_2 in S; f_1, f_2 in T and f_3 in S; ... Each part asks one more model, of which c is no answer.

The division does not depend on c: where the engine found none, any models outside S and T serve. A node with k models in S is an
answer, or none exists in it. Nodes are asked nearest first, each for a share of the time as long as others wait; those that
found nothing in it are asked again when no other is left, so that one hard set of models does not keep the others from
answering. No answer is closer than the smallest bound of a node that is left.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final, TypeAlias

import numpy as np

from elbowroom.models import Model, members_of, some_of
from elbowroom.numerics import Floats
from elbowroom.problem import RecourseProblem
from elbowroom.problem.shapes import Shape
from elbowroom.result.certificate import Certificate, Verdict
from elbowroom.search.contract import NEAR_TIES, Clock, Ending, Engine, Referee
from elbowroom.search.menu import Until

METHOD: Final = "some of several models"
MOST_ENGINES: Final = 64  # of sets of models, that are kept with what they learned
SHARE: Final = 0.25  # of the time that is left, for one node while others wait

Node: TypeAlias = tuple[float, int, tuple[int, ...], tuple[int, ...]]  # bound, order, S, T


def question_about(problem: RecourseProblem, chosen: Sequence[int]) -> RecourseProblem:
    """The same question about all of the models at these positions."""
    return replace(problem, model=some_of(problem.model, chosen), target=problem.target.some(chosen))


class SomeModelsEngine:
    """Any engine of one model or of all of several, for questions about some of them."""

    def __init__(self, model: Model, engine_of: Callable[[Model], Engine]) -> None:
        self._model, self._engine_of = model, engine_of
        self._engines: dict[tuple[int, ...], tuple[Model, Engine]] = {}

    def refuses(self, problem: RecourseProblem) -> str | None:
        everyone = tuple(range(len(problem.target.each)))
        return self.about(problem, everyone)[1].refuses(question_about(problem, everyone))

    def prepare(self, shape: Shape) -> None:
        self._engine(tuple(range(len(members_of(self._model)))))[1].prepare(shape)

    def search(self, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> Ending:
        return _Search(self, problem, referee, clock, seed).run()

    def about(self, problem: RecourseProblem, chosen: Sequence[int]) -> tuple[RecourseProblem, Engine]:
        """The question about all of some models, and who answers it."""
        model, engine = self._engine(tuple(sorted(chosen)))
        return replace(problem, model=model, target=problem.target.some(sorted(chosen))), engine

    def _engine(self, chosen: tuple[int, ...]) -> tuple[Model, Engine]:
        if chosen not in self._engines:
            while len(self._engines) >= MOST_ENGINES:
                del self._engines[next(iter(self._engines))]
            model = some_of(self._model, chosen)
            self._engines[chosen] = model, self._engine_of(model)
        return self._engines[chosen]


@dataclass
class NodeReferee:
    """The judge as the engine of a node sees it; what it accepts for the node is offered as an answer to the question."""

    main: Referee
    own: Referee

    @property
    def center(self) -> Floats | None:
        return self.own.center

    @property
    def distance(self) -> float:
        return self.own.distance

    def __call__(self, center: Floats, looks: float = math.inf, /) -> Verdict:
        verdict = self.own(center, looks)
        if isinstance(verdict, Certificate):
            self.main(center, looks)
        return verdict

    def about(self, problem: RecourseProblem) -> Referee:
        return self.main.about(problem)


@dataclass
class _Search:
    engine: SomeModelsEngine
    problem: RecourseProblem
    referee: Referee
    clock: Clock
    seed: int
    tolerance: float = 0.0
    settled: float = math.inf  # smallest bound of a node that is not divided any further
    nodes: int = 0
    reason: str = ""
    counters: dict[str, float] = field(default_factory=dict)

    def run(self) -> Ending:
        target, order = self.problem.target, count(1)
        heap: list[Node] = [(0.0, 0, target.always, ())]
        waiting: list[Node] = []  # found nothing in their share of the time
        last = False
        while (heap or waiting) and not self.clock.expired:
            if not heap:
                heap, waiting, last = sorted(waiting), [], True
            bound, place, chosen, left_out = heapq.heappop(heap)
            if bound >= (1.0 - self.tolerance) * self.referee.distance:
                self.settled = min(self.settled, bound)
                continue
            share = 1.0 / (len(heap) + 1) if last else SHARE if heap or waiting else 1.0
            bound, center, in_time = self._asked(bound, chosen, share)
            if not in_time and not last and share < 1.0 and bound < self.referee.distance:
                heapq.heappush(waiting, (bound, place, chosen, left_out))
            else:
                parts = [] if math.isinf(bound) else self._divided(chosen, left_out, center)
                if not parts:
                    self.settled = min(self.settled, bound)
                for more, without in parts:
                    heapq.heappush(heap, (bound, next(order), more, without))
            self.clock.report(lower_bound=self._bound(heap, waiting))
        return self._ending(self._bound(heap, waiting), bool(heap or waiting))

    def _bound(self, *left: Sequence[Node]) -> float:
        """No answer is closer."""
        return min([self.settled, *(node[0] for nodes in left for node in nodes)])

    def _ending(self, lower_bound: float, open_: bool) -> Ending:
        if math.isinf(lower_bound):
            self.reason = f"no centre within the limits has its whole room in what {self.problem.target.count} of the models are asked for"
        elif open_ and self.clock.expired:
            self.reason = "the time limit was reached"
        counters = {**self.counters, "sets of models": float(self.nodes)}
        return Ending(METHOD, lower_bound, self.reason, self.tolerance, counters)

    def _asked(self, bound: float, chosen: tuple[int, ...], share: float) -> tuple[float, Floats | None, bool]:
        """The bound of a node, the closest centre on which all of its models agree (for no model, the row itself), and
        whether that, or that there is none, was found in its share of the time."""
        if not chosen:
            self.referee(self.problem.factual)  # without a hull that is asked for beside it, the row may be an answer
            return bound, self.problem.factual, True
        problem, engine = self.engine.about(self.problem, chosen)
        referee = NodeReferee(self.referee, self.referee.about(problem))
        if isinstance(referee(problem.factual), Certificate):
            return bound, problem.factual, True
        engine.prepare(problem.walls.shape)
        seconds = max(self.clock.remaining, 0.0) * share
        clock = Until(seconds, None, self.clock.nominal, self.referee.distance)
        clock.n_jobs = self.clock.n_jobs
        ending = engine.search(problem, referee, clock, self.seed)
        self.nodes += 1
        self.tolerance = max(self.tolerance, ending.tolerance)
        if not math.isinf(ending.lower_bound):  # that some of the models have none says nothing about the others
            self.reason = self.reason or ending.reason
        for name, value in ending.counters.items():
            known = self.counters.get(name, 0.0)
            self.counters[name] = max(known, value) if name == NEAR_TIES else known + value
        return max(bound, ending.lower_bound), referee.center, referee.center is not None or not clock.expired

    def _divided(
        self, chosen: tuple[int, ...], left_out: tuple[int, ...], center: Floats | None
    ) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The parts of a node; none if its closest centre is an answer, or nothing is left to ask."""
        target = self.problem.target
        assert target.count is not None
        size = len(target.each)
        refusing = [i for i in range(size) if i not in chosen and not self._keeps(i, center)]
        if len(chosen) >= target.count or len(refusing) <= size - target.count:
            return []
        one_of = [i for i in refusing if i not in left_out][: size - target.count - len(left_out) + 1]
        return [((*chosen, i), (*left_out, *one_of[:place])) for place, i in enumerate(one_of)]

    def _keeps(self, i: int, center: Floats | None) -> bool:
        """Does this model say what is wanted of it in the whole room?"""
        if center is None or self.problem.why_outside(center) is not None:
            return False
        problem = self.engine.about(self.problem, (i,))[0]
        return isinstance(self.referee.about(problem)(np.asarray(center)), Certificate)
