"""How many files one call of `explain` passes through, and how often it goes from one to another.

Counted with Python's own profiler hook: a change is a call of a function in another file of the package than the call
before it. Kernels are visible by their entries only.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

import elbowroom
from elbowroom import Ball, Box, Explainer
from elbowroom.problem import Room


def run_walk() -> list[dict[str, Any]]:
    """Four questions, each the first one of its explainer."""
    X, y = load_breast_cancer(return_X_y=True)
    X = ((X - X.min(0)) / (X.max(0) - X.min(0)))[:, :6]
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    network = MLPClassifier((8,), max_iter=500, random_state=0).fit(X, y)
    asked: list[tuple[str, Any, Room]] = [
        ("linear, box", LogisticRegression().fit(X, y), Box(0.02)),
        ("forest, box", forest, Box(0.02)),
        ("forest, ball", forest, Ball(0.02)),
        ("network, box", network, Box(0.02)),
    ]
    return [{"question": name, **_walk(model, X[0], room)} for name, model, room in asked]


def _walk(model: Any, row: Any, room: Room) -> dict[str, Any]:
    Explainer(model).explain(row, room)  # kernels and modules are loaded
    explainer, home, visited = Explainer(model), str(Path(elbowroom.__file__).parent), list[str]()

    def follow(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(home) and visited[-1:] != [file]:
            visited.append(file)

    sys.setprofile(follow)
    try:
        answer = explainer.explain(row, room)
    finally:
        sys.setprofile(None)
    return {"status": answer.status.name, "files": len(set(visited)), "changes": len(visited)}
