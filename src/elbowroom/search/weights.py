"""Linear models whose weights may be off: the worst models of the set are found as they are needed.

The question about all of some models of the set is wider than that about the whole set, so its bound holds. If the
judge of the whole set accepts its closest centre, that is the answer. If not, the models of the set that are worst around this
centre and refuse it are added, and it is asked again. There are finitely many (one per side of the scores and vector of signs), and none is
found twice.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np

from elbowroom.models import LinearModel, join
from elbowroom.models.nearby import NearbyLinear
from elbowroom.numerics import Floats
from elbowroom.problem import RecourseProblem, Target
from elbowroom.problem.shapes import Shape, is_round
from elbowroom.result.certificate import Certificate
from elbowroom.search.contract import Clock, Ending, Engine, Referee
from elbowroom.search.menu import Until
from elbowroom.search.some_models import NodeReferee

METHOD: Final = "worst weights nearby"


class WeightsEngine:
    """An engine for plain linear models, asked about more and more models of a set."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def refuses(self, problem: RecourseProblem) -> str | None:
        return self._engine.refuses(replace(problem, model=_nominal(problem)))

    def prepare(self, shape: Shape) -> None:
        self._engine.prepare(shape)

    def search(self, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> Ending:
        known = self._refusing(problem, referee, np.clip(problem.factual, problem.lower, problem.upper), {})
        known = known or {(b"", b""): _nominal(problem)}
        bound, rounds = 0.0, 0
        ending = Ending(METHOD, 0.0, "the time limit was reached")
        while not clock.expired:
            rounds += 1
            asked = _about(problem, list(known.values()))
            own = NodeReferee(referee, referee.about(asked))
            inner = Until(max(clock.remaining, 0.0), None, clock.nominal, referee.distance)
            ending = self._engine.search(asked, own, inner, seed)
            bound = max(bound, ending.lower_bound)
            clock.report(lower_bound=min(bound, referee.distance))
            closed = bound >= (1.0 - ending.tolerance) * referee.distance
            if math.isinf(bound) or closed or own.center is None:
                break
            fresh = self._refusing(problem, referee, own.center, known)
            if not fresh:
                break
            known |= fresh
        counters = {**ending.counters, "weights": float(len(known)), "rounds": float(rounds)}
        return replace(ending, method=METHOD, lower_bound=bound, counters=counters)

    def _refusing(
        self, problem: RecourseProblem, referee: Referee, center: Floats, known: dict[tuple[bytes, bytes], LinearModel]
    ) -> dict[tuple[bytes, bytes], LinearModel]:
        """Models that are worst around a centre, are not known yet, and refuse it."""
        body, model = problem.body(center), problem.model
        assert isinstance(model, NearbyLinear)
        free = np.zeros(center.size, dtype=np.bool_)
        for members in body.free_groups:
            free[members] = True
        box = not is_round(body.shape)
        worst = model.worst(problem.target_index, problem.target.need, body.lower, body.upper, box, free) or {}
        return {
            key: member
            for key, member in worst.items()
            if key not in known and not isinstance(referee.about(_about(problem, [member]))(center), Certificate)
        }


def _nominal(problem: RecourseProblem) -> LinearModel:
    """The model itself, without those near it."""
    return LinearModel(problem.model.info, problem.model.affine)  # type: ignore[union-attr]


def _about(problem: RecourseProblem, models: list[LinearModel]) -> RecourseProblem:
    """The question about all of these models, each with the same wanted outcome."""
    if len(models) == 1:
        return replace(problem, model=models[0])
    joined = join(models, [str(i) for i in range(len(models))])
    assert joined is not None
    return replace(problem, model=joined, target=Target(each=(problem.target,) * len(models)))
