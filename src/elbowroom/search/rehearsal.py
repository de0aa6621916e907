"""A tiny question, asked of an engine so that its kernels are loaded or compiled. The answer is discarded."""

from __future__ import annotations

import math

import numpy as np

from elbowroom.kernels.warm import PATIENCE
from elbowroom.models import Model
from elbowroom.numerics import Floats
from elbowroom.problem import RecourseProblem, Space
from elbowroom.problem.rooms import room_of
from elbowroom.problem.shapes import Shape
from elbowroom.result.certificate import Counterexample, Undecided, Verdict
from elbowroom.search.contract import Clock, Engine


class Prompter:
    """Stands in for the referee: refuses the first centre with a counterexample and decides nothing about the others, so
    that an engine does everything it ever does with a verdict, except believing in one."""

    center: Floats | None = None
    distance = math.inf

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, center: Floats, looks: float = math.inf, /) -> Verdict:
        self.asked += 1
        return Counterexample(center, 0, -1.0, 0.0) if self.asked == 1 else Undecided("only a rehearsal")

    def about(self, problem: RecourseProblem) -> Prompter:
        return Prompter()


def rehearse(engine: Engine, model: Model, shape: Shape) -> None:
    """Ask about a room of the shape around the origin of a tiny model, with all the time that compiling may need."""
    row = np.zeros(model.info.n_features)
    problem = RecourseProblem.ask(model, Space.plain(model.info.names), row, room_of(shape)(0.1))
    engine.search(problem, Prompter(), Clock(PATIENCE), 0)
