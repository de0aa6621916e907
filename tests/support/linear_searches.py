"""The linear engine as its tests ask it: every region is attacked, every distance is proven."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.models import LinearModel
from elbowroom.numerics import Floats
from elbowroom.problem import Ball, Box, Diamond, Feature, RecourseProblem, Room, Rule, Space
from elbowroom.search.linear.adversary import Adversary
from elbowroom.search.linear.question import Question, read_question
from tests.support.hostile import attack
from tests.support.linear_problems import linear_model, random_problem
from tests.support.referee import Engine, Judge, Referee, Run, run_engine

DUAL = {"l1": np.inf, "l2": 2, "linf": 1}  # the norm that measures how much a unit of distance adds to a row
ROOM_DUAL = {Box: 1, Ball: 2, Diamond: np.inf}  # the norm that measures how much a unit of radius takes from a row


def ask(
    model: LinearModel,
    space: Space,
    row: ArrayLike,
    room: Room,
    target: object = None,
    distance: str = "l1",
    rules: Sequence[Rule] = (),
    seconds: float = 60.0,
    judge: Judge | None = None,
) -> Run:
    """Search; a region of a wanted class is attacked where attacking is quick."""
    problem = RecourseProblem.ask(model, space, row, room, target, distance, rules)
    found = run_engine(Engine.LINEAR, problem, Referee(problem, judge), seconds=seconds)
    if found.certificate is not None and problem.target.probability is None and model.info.n_features < 1_000:
        classes = np.array(model.info.classes)
        attack(lambda X: classes[model.info.labels_of(model.scores(X))], found.certificate.body, problem.target.label)
    return found


def proven_distance(found: Run) -> float:
    """The distance of an answer whose optimality the engine has proven."""
    assert found.center is not None, found.reason
    assert found.problem.admissible(found.center)
    assert found.lower_bound <= found.distance
    assert found.distance - found.lower_bound <= 1e-9 * found.distance
    return found.distance


def hard_question() -> tuple[LinearModel, Space, Floats]:
    """Fourteen whole columns with prices of their own: a real tree of nodes."""
    rng = np.random.default_rng(9)
    n = 14
    w = rng.normal(size=n)
    space = Space(tuple(Feature(f"x{i}", "integer", -3, 3, weight=float(rng.uniform(0.5, 2))) for i in range(n)))
    return linear_model([w], [-0.6 * 3 * float(np.abs(w).sum())]), space, np.zeros(n)


def read(problem: RecourseProblem) -> tuple[Question, list[Adversary]]:
    """The question in rows and columns, with the adversary of every row."""
    assert isinstance(problem.model, LinearModel)
    question = read_question(problem, problem.model)
    assert isinstance(question, Question)
    return question, [Adversary(question, j) for j in range(question.n_rows)]


def random_questions(count: int, room: type[Room] | None = None) -> list[tuple[Question, list[Adversary]]]:
    """The first random questions that have something to move, of one room or of all."""
    found = []
    for seed in range(50 * count):
        problem = random_problem(seed)
        if problem.trouble is None and (room is None or isinstance(problem.room, room)):
            question = read_question(problem, problem.model)  # type: ignore[arg-type]
            if isinstance(question, Question) and question.n_columns:
                found.append((question, [Adversary(question, j) for j in range(question.n_rows)]))
        if len(found) == count:
            return found
    raise AssertionError("too few questions")


def random_values(rng: np.random.Generator, question: Question, spread: float = 1.0) -> Floats:
    """A centre within the limits, whole where it must be, over the columns of the question."""
    values = np.clip(question.start + spread * rng.normal(size=question.n_columns), question.lower, question.upper)
    return np.where(question.whole, np.clip(np.round(values), question.lower, question.upper), values)
