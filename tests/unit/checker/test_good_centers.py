"""A centre that is good is never ruled out: whatever box, point, multiplier, side or bad box a proof names."""

from __future__ import annotations

import math

import numpy as np

from elbowroom.problem import RecourseProblem
from elbowroom.proof.centers import Offer
from elbowroom.proof.model_file import model_bytes
from elbowroom.proof.question_file import question_document
from elbowroom_checker.model import Trees, read_model
from elbowroom_checker.question import Box, Question, margins, read_question
from elbowroom_checker.reading import parsed
from elbowroom_checker.trees import Auction, Row, Walker, meets, tree_row
from tests.support.small_models import every_cell
from tests.support.small_questions import random_question


def some_values(rng: np.random.Generator, problem: RecourseProblem, f: int) -> float:
    """A value at which something changes, or any other."""
    cuts, walls = problem.model.cuts[f], problem.walls
    near = [problem.factual[f], *cuts, *(cuts + walls.down[f]), *(cuts - walls.up[f])]
    value = float(rng.choice(near)) if rng.random() < 0.8 else float(rng.normal(0.0, 3.0))
    value = float(np.nextafter(value, rng.choice([-np.inf, np.inf]))) if rng.random() < 0.5 else value
    value = float(np.round(value)) if problem.space.whole_center[f] else value
    return float(np.clip(value, problem.lower[f], problem.upper[f])) + 0.0


def some_input(rng: np.random.Generator, problem: RecourseProblem) -> np.ndarray:
    point = np.array([some_values(rng, problem, f) for f in range(problem.factual.size)])
    for members in problem.space.members:
        allowed = np.flatnonzero(problem.upper[members] >= 1.0)
        point[members] = np.eye(members.size)[rng.choice(allowed)] if allowed.size else 0.0
    return point


def good_centers(rng: np.random.Generator, problem: RecourseProblem, tries: int) -> list[np.ndarray]:
    """Admissible centres whose whole room has the class, by the model's own labels."""
    found = []
    for _ in range(tries):
        center = some_input(rng, problem)
        if not problem.admissible(center) or problem.walls.free_groups:
            continue
        points = every_cell(problem.model, problem.body(center))
        if (problem.model.info.labels_of(problem.model.scores(points)) == problem.target_index).all():
            found.append(center)
    return found


def around(rng: np.random.Generator, question: Question, center: np.ndarray) -> Box:
    """A box of centres that holds this one."""
    low, high = question.limits.low.copy(), question.limits.high.copy()
    for f, c in enumerate(center.tolist()):
        if rng.random() < 0.6:
            low[f] = max(low[f], c - float(rng.choice([0.0, 0.0, 1.0, 4.0])))
        if rng.random() < 0.6:
            high[f] = min(high[f], c + float(rng.choice([0.0, 0.0, 1.0, 4.0])))
    return Box(low, high)


def try_to_outbid(
    rng: np.random.Generator, problem: RecourseProblem, walker: Walker, rows: list[Row], center: np.ndarray
) -> int:
    """How many leaves were tried: all must fail, because the centre is in their box, below the bound and good."""
    question = walker.question
    box = around(rng, question, center)
    assert question.narrow(box)
    cost = question.least_cost(Box(center.tolist(), center.tolist()))
    assert cost is not None
    limit = cost + 1 if rng.random() < 0.7 else question.price(1e6)
    row, point = rows[int(rng.integers(len(rows)))], some_input(rng, problem).tolist()
    if not question.is_input(point):
        return 0
    auction = Auction(walker, row, point, box, limit)
    best = Offer(auction)
    assert not best.settled, f"{center} is outbid"
    multipliers = [None, 0.0, 1.0, float(np.exp(rng.normal(0.0, 4.0))), *([best.multiplier] if best.multiplier else [])]
    for multiplier in multipliers:
        assert not auction.wins(multiplier), f"{center} is outbid with multiplier {multiplier}"
        f = int(rng.integers(center.size))
        c, whole = float(center[f]), question.whole[f]
        step = 1.0 if whole else abs(c) * 1e-15 + 1e-300
        for side in ((f, c + step, math.inf), (f, -math.inf, c - step)):
            low, high = max(side[1], box.low[f] - 1.0), min(side[2], box.high[f] + 1.0)
            if math.isfinite(low) and math.isfinite(high):
                assert not auction.wins(multiplier, [(f, low, high)]), f"{center} is cut off"
    return len(multipliers)


def test_good_centers_are_not_ruled_out() -> None:
    tried = kept = met = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        problem = random_question(rng)
        if problem.trouble is not None:
            continue
        centers = good_centers(rng, problem, 12)
        if not centers:
            continue
        kept += 1
        model = read_model(parsed(model_bytes(problem.model)))
        question = read_question(question_document(problem, None), model)
        assert isinstance(model.parts, Trees)
        walker = Walker(model.parts, question)
        rows = [tree_row(model, model.parts, margin) for margin in margins(model, question)]
        for center in centers[:4]:
            tried += sum(try_to_outbid(rng, problem, walker, rows, center) for _ in range(3))
            for _ in range(10):
                bad = around(rng, question, some_input(rng, problem))
                if question.narrow(bad) and any(walker.is_bad(row, bad) for row in rows):
                    met += 1
                    point = Box(center.tolist(), center.tolist())
                    assert not meets(question, point, bad), f"the room of {center} is good and meets {bad}"
    assert kept > 20 and tried > 300 and met > 30, (kept, tried, met)
