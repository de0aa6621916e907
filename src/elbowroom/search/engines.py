"""Which engine answers which question."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, assert_never

from elbowroom.models import LinearModel, ObliqueEnsemble, ReluNetwork, TreeEnsemble
from elbowroom.problem import RecourseProblem, Shape
from elbowroom.search.contract import Clock, Outcome, Referee

if TYPE_CHECKING:
    from elbowroom.search.solvers.protocol import SolverName
    from elbowroom.search.trees.memory import TreeMemory


def search_auto(
    problem: RecourseProblem, accept: Referee, clock: Clock, seed: int, memory: TreeMemory | None = None
) -> Outcome:
    """The fast exact engine of the model's family. Imports wait until they are needed."""
    match problem.model:
        case LinearModel():
            from elbowroom.search.linear import search_linear

            return search_linear(problem, accept, clock, seed)
        case TreeEnsemble():
            if problem.walls.shape is Shape.BOX:
                from elbowroom.search.trees import search_boxes

                return search_boxes(problem, accept, clock, seed, memory)
            from elbowroom.search.trees.ball import search_balls

            return search_balls(problem, accept, clock, seed, memory)
        case ObliqueEnsemble():
            from elbowroom.search.adversarial import search_adversarial

            return search_adversarial(problem, accept, clock, seed)
        case ReluNetwork():
            return _search_network(problem, accept, clock, seed)
        case _ as never:
            assert_never(never)


def _search_network(problem: RecourseProblem, accept: Referee, clock: Clock, seed: int) -> Outcome:
    """The network engine; where columns have no limits and it found nothing however far it looked, Algorithm 1 has the
    last word: its exact contradictions also prove that no centre exists at any distance."""
    from elbowroom.search.network import FARTHEST, search_network

    outcome = search_network(problem, accept, clock, seed)
    if outcome.center is not None or not FARTHEST < outcome.lower_bound < math.inf or clock.expired:
        return outcome
    from elbowroom.search.adversarial import search_adversarial

    last = search_adversarial(problem, accept, clock, seed)
    return last if last.center is not None or last.lower_bound == math.inf else outcome


def search_paper(problem: RecourseProblem, accept: Referee, clock: Clock, seed: int, solver: SolverName) -> Outcome:
    """The paper's Algorithm 1 on a mixed-integer solver."""
    from elbowroom.search.adversarial import search_adversarial

    return search_adversarial(problem, accept, clock, seed, solver)


def search_heuristic(problem: RecourseProblem, accept: Referee, clock: Clock, seed: int) -> Outcome:
    """The paper's heuristic: the whole room inside one leaf."""
    from elbowroom.search.trees.one_leaf import search_one_leaf

    return search_one_leaf(problem, accept, clock, seed)
