"""The same question, asked of an explainer that has answered thousands of others and of a fresh one: equal to the bit."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from tests.support.same import PATIENCE, answer, models, questions

from elbowroom import Explainer


def run_same(questions_asked: int = 2000) -> dict[str, Any]:
    known = models()
    used = {family: Explainer(model, space) for family, (model, space) in known.items()}
    asked, differ, late, cpu = Counter[str](), [], 0, {"used": 0.0, "fresh": 0.0}
    for number, question in enumerate(questions(known, questions_asked)):
        start, began = time.perf_counter(), time.process_time()
        first = answer(used[question.family], question)
        middle = time.process_time()
        second = answer(Explainer(*known[question.family]), question)
        cpu["used"] += middle - began
        cpu["fresh"] += time.process_time() - middle
        asked[f"{question.family}, {question.kind}"] += 1
        if time.perf_counter() - start > PATIENCE:
            late += 1  # an answer that ended by the time limit may differ
        elif first != second:
            differ.append({"number": number, "question": repr(question)})
            print(differ[-1], flush=True)
        if number % 100 == 99:
            print(f"{number + 1} questions, {len(differ)} answers differ, {cpu}", flush=True)
    return {"questions": questions_asked, "asked": dict(asked), "differ": differ, "late": late, "cpu_seconds": cpu}
