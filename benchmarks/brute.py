"""Random small problems (all feature kinds, rooms and distances) against brute force: status and distance must agree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tests.support.brute import closest
from tests.support.hostile import hostile_points
from tests.support.small_questions import random_question

from elbowroom import Explainer, Region, Status


def run_brute(problems: int = 5000, seed: int = 0) -> dict[str, Any]:
    wrong: list[dict[str, Any]] = []
    counts = {"problems": problems, "regions": 0, "none_exists": 0, "hostile_points": 0, "false_points": 0}
    for number in range(problems):
        problem = random_question(np.random.default_rng([seed, number]))
        truth = closest(problem)
        explainer = Explainer(problem.model, problem.space)
        answer = explainer.explain(problem.factual, problem.room, problem.target, problem.distance, problem.rules)
        found = answer.distance if isinstance(answer, Region) else math.inf
        counts["regions" if isinstance(answer, Region) else "none_exists"] += 1
        proven = answer.status in (Status.OPTIMAL, Status.NONE_EXISTS)
        if not proven or not (found == truth or abs(found - truth) <= 1e-9 * max(truth, 1e-300)):
            wrong.append({"problem": number, "status": answer.status.name, "distance": found, "truth": truth})
        if isinstance(answer, Region):
            points = hostile_points(answer.body, problem.model.cuts)
            counts["hostile_points"] += len(points)
            counts["false_points"] += int((explainer.predict(points) != problem.target.label).sum())
        if (number + 1) % 500 == 0:
            print(f"{number + 1} problems, {len(wrong)} wrong, {counts['false_points']} false points", flush=True)
    return {"summary": {**counts, "wrong": len(wrong)}, "wrong": wrong}
