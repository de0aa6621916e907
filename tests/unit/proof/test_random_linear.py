"""Random linear questions: what is written is confirmed, and no good centre is ruled out by any multipliers."""

from __future__ import annotations

from collections import Counter

import numpy as np

from elbowroom.explainer.attempt import Attempt
from elbowroom.problem import RecourseProblem
from elbowroom.proof.linear import distance_of
from elbowroom.proof.model_file import model_bytes
from elbowroom.proof.prover import Prover
from elbowroom.proof.question_file import question_document
from elbowroom.search.contract import Clock
from elbowroom.search.linear import LinearEngine
from elbowroom_checker import Refused, check
from elbowroom_checker.maps import Maps
from elbowroom_checker.model import read_model
from elbowroom_checker.question import Box, Question, margins, read_question
from elbowroom_checker.reading import Budget, parsed
from tests.support.hostile import attack
from tests.support.linear_problems import random_problem


def has_outcome(problem: RecourseProblem, rows: np.ndarray) -> np.ndarray:
    """The wanted class, or its probability where that is what was asked."""
    scores, tau = problem.model.scores(rows), problem.target.probability
    if tau is None:
        return problem.model.info.labels_of(scores) == problem.target_index
    sign = 1.0 if problem.target_index == 1 else -1.0
    return 1.0 / (1.0 + np.exp(-sign * scores[:, 0])) >= tau


def test_random_questions() -> None:
    """Every region has its half; most bounds have theirs, and none is above the true distance."""
    written: Counter[str] = Counter()
    for seed in range(60):
        problem = random_problem(seed)
        engine = LinearEngine()
        if engine.refuses(problem) is not None:
            continue
        attempt = Attempt(problem, Clock(20.0), engine)
        ending = attempt.run(0)
        certificate = attempt.referee.certificate
        body = None if certificate is None else certificate.body
        bound = min(ending.lower_bound, attempt.referee.distance)
        proof = Prover(problem.model).prove(problem, body, bound, 20.0)
        assert not proof.missing.startswith("validity"), f"seed {seed}: {proof.missing}"
        written["complete" if proof.is_complete else "half"] += 1
        if proof.document is None:
            continue
        said = check(proof.text.encode(), model_bytes(problem.model))
        if said.bound is not None:
            assert said.bound <= attempt.referee.distance
        if body is not None:
            attack(lambda rows, asked=problem: has_outcome(asked, rows), body, True)
    assert written["complete"] > 20, written


def some_leaf(
    rng: np.random.Generator, problem: RecourseProblem, question: Question
) -> tuple[float, list[float], list[float]]:
    """A multiplier, weights of costs and a shift of the room as a stranger may choose them; some are too large."""
    n, groups = problem.factual.size, len(question.groups)
    shift = rng.uniform(-1.0, 1.0, n)
    if question.shape == "ball":
        shift /= max(float(np.sqrt(shift @ shift)), 1e-9) * rng.uniform(1.0, 2.0)
    if question.shape == "diamond":
        shift /= max(float(np.abs(shift).sum()), 1e-9) * rng.uniform(1.0, 2.0)
    shift *= np.where(shift < 0, question.down, question.up)
    shift = np.where(question.whole, np.trunc(shift), shift)
    weights = rng.uniform(0.0, 1.0, n + groups)
    if question.norm != "l1":
        weights /= weights.sum() if question.norm == "linf" else float(np.sqrt(weights @ weights))
        weights *= 0.999
    shift += 0.0
    for group in question.groups:
        if group.free:
            shift[rng.choice(sorted(question.categories(group, question.limits)))] = 1.0
    return float(np.exp(rng.normal(-1.0, 2.0))), weights.tolist(), shift.tolist()


def test_good_centers_are_not_ruled_out() -> None:
    tried = 0
    for seed in range(300, 350):
        problem = random_problem(seed)
        if LinearEngine().refuses(problem) is not None or problem.trouble is not None:
            continue
        attempt = Attempt(problem, Clock(5.0), LinearEngine())
        attempt.run(0)
        center = attempt.referee.center
        if center is None:
            continue
        rng = np.random.default_rng(seed)
        model = read_model(parsed(model_bytes(problem.model)))
        question = read_question(question_document(problem, None), model)
        assert isinstance(model.parts, list)
        maps = Maps(model.parts, question, margins(model, question))
        box, point = question.limits.copy(), Box(center.tolist(), center.tolist())
        cost = question.least_cost(point)
        if not question.narrow(box) or cost is None:
            continue
        bound = distance_of(question, cost) * (1.0 + 1e-12)
        for _ in range(30):
            small = Box(
                [max(a, c - float(rng.choice([0.0, 1.0, 1e9]))) for a, c in zip(box.low, center.tolist(), strict=True)],
                [
                    min(b, c + float(rng.choice([0.0, 1.0, 1e9])))
                    for b, c in zip(box.high, center.tolist(), strict=True)
                ],
            )
            assert question.narrow(small)
            multiplier, weights, shift = some_leaf(rng, problem, question)
            multipliers = [multiplier * float(rng.integers(2)) for _ in maps.rivals]
            try:
                excess = maps.centers({"shifts": [shift]}, bound, Budget(9.0)).excess(
                    [weights, [[0, multipliers, 0]]], small
                )
            except Refused:
                continue
            tried += 1
            assert excess <= 0, f"seed {seed}: {center} costs {bound}"
    assert tried > 350, tried
