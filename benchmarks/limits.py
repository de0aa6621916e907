"""Do limits hold? Time over the limit for hard questions about large models, and memory after thousands of questions.

Every question is the first one of a fresh Explainer, so that all preparation counts; only reading the model, in the
constructor, and compiling kernels, once, do not. The product's clock is that of the processor here: what other programs
do to the machine changes nothing. Promised: not more than the larger of half a second and 5 % over the limit; and memory
that does not grow with the number of questions and of targets.
"""

from __future__ import annotations

import itertools
import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from elbowroom import Ball, Box, Diamond, Explainer, Target

LIMITS = (0.05, 0.5, 2.0)
ROOMS = (Box(0.02), Ball(0.05), Diamond(0.05))
DISTANCES = ("l1", "l2", "linf")


def run_limits(rows: int = 100, questions: int = 5_000) -> dict[str, Any]:
    """``rows`` questions in all, spread over families, limits, rooms and distances; then the memory."""
    told, found = [], []
    per_cell = max(1, round(rows / (len(FAMILIES) * len(LIMITS))))
    for family, (make, size, columns) in FAMILIES.items():
        X, y = _data(size, columns)
        read = Explainer(make().fit(X, y)).model
        for room in ROOMS:
            Explainer(replace(read)).explain(X[0], room, time_limit=0.0)  # kernels are loaded
        for limit in LIMITS:
            kinds = itertools.islice(itertools.cycle(itertools.product(DISTANCES, ROOMS)), per_cell)
            over = []
            for i, (distance, room) in enumerate(kinds):
                seconds, status = _seconds(Explainer(replace(read)), X[i], room, distance, limit)
                over.append(seconds - limit)
                found.append({"family": family, "limit": limit, "distance": distance, "room": type(room).__name__,
                              "seconds": seconds, "status": status})  # fmt: skip
            told.append({"family": family, "limit": limit, "questions": len(over), "worst_over": max(over)})
            print(f"{family:36} limit {limit:4} s: worst {max(over):+.3f} s over {len(over)} questions", flush=True)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        memory = pool.submit(memory_after, questions).result()
    print(f"memory: {memory}")
    return {"limits": told, "memory": memory, "instances": found}


def memory_after(questions: int, targets: int = 200) -> dict[str, float]:
    """Megabytes of a process after 100 questions and after all, about a forest of 300 trees."""
    X, y = _data(2_000, 30)
    explainer, after = Explainer(RandomForestClassifier(300, random_state=0).fit(X, y)), {}
    for k in range(1, questions + 1):
        target = Target(k % 2, 0.5 + 0.4 * (k % targets) / targets)
        explainer.explain(X[k % len(X)], Box(0.02), target=target, time_limit=2.0 if k % 50 == 0 else 0.05)
        if k in (100, questions):
            after[f"after_{k}"] = _resident()
    return after


def _seconds(explainer: Explainer, x: Any, room: Any, distance: str, limit: float) -> tuple[float, str]:
    with patch("time.perf_counter", time.process_time):
        began = time.process_time()
        answer = explainer.explain(x, room, distance=distance, time_limit=limit)
        return time.process_time() - began, answer.status.name


def _resident() -> float:
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def _data(size: int, columns: int) -> tuple[Any, Any]:
    """Two classes that overlap: trees grow to full depth."""
    random = np.random.default_rng(columns)
    X = random.normal(size=(size, columns))
    score = X @ random.normal(size=columns) + 2.0 * np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2]
    return X, (score + random.normal(size=size) > 0.0).astype(int)


FAMILIES: dict[str, tuple[Callable[[], Any], int, int]] = {
    "linear, 2,000 columns": (lambda: LogisticRegression(max_iter=200), 3_000, 2_000),
    "network (200, 200)": (lambda: MLPClassifier((200, 200), max_iter=60, random_state=0), 2_000, 12),
    "boosting, 500 trees of depth 5": (
        lambda: GradientBoostingClassifier(n_estimators=500, max_depth=5, random_state=0), 3_000, 15
    ),
    "forest, 300 trees, 2,000 rows": (lambda: RandomForestClassifier(300, random_state=0), 2_000, 30),
    "forest, 500 trees, 20,000 rows": (lambda: RandomForestClassifier(500, random_state=0), 20_000, 12),
}  # fmt: skip
