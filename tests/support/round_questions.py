"""Random small questions about balls and diamonds on trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.models import Link
from elbowroom.problem import Ball, Diamond, RecourseProblem, Space, Target
from tests.support.small_questions import random_question


def random_round_question(rng: np.random.Generator) -> RecourseProblem:
    """As `random_question`, with a ball or diamond; some ask for a probability."""
    problem = random_question(rng)
    problem = replace(problem, room=_room(rng, problem.space))
    if len(problem.model.info.classes) == 2 and rng.random() < 0.15:
        model = replace(problem.model, info=replace(problem.model.info, link=Link.LOGISTIC))
        if problem.model.base.size == 1:
            problem = replace(problem, model=model, target=Target(problem.target.label, float(rng.uniform(0.5, 0.8))))
    return problem


def _room(rng: np.random.Generator, space: Space) -> Ball | Diamond:
    shape = Ball if rng.random() < 0.5 else Diamond
    categories = {g.name: str(rng.choice(["any", "fixed"])) for g in space.groups}
    if rng.random() < 0.6:
        return shape(float(rng.choice([0.05, 0.25, 0.5, 1.0])), categories=categories)
    single = [n for f, n in enumerate(space.names) if space.group_of[f] < 0]
    return shape({n: float(rng.choice([0.0, 0.1, 0.5, 1.5])) for n in single}, categories=categories)
