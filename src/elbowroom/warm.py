"""Compiled kernels, made ready once: ``python -m elbowroom.warm`` fills the disk cache for all later processes.

Whoever asks without having done so waits once, before the clock of the first question starts: compiling is work of the
installation, and no time limit should be spent on it.
"""

from __future__ import annotations

import sys
import time
from typing import Final

from elbowroom.problem import Ball, Box, Diamond
from elbowroom.problem.rooms import Shape

_ROOMS: Final = {Shape.BOX: Box(0.1), Shape.BALL: Ball(0.1), Shape.DIAMOND: Diamond(0.1)}
_NORMS: Final = {Shape.BOX: "linf", Shape.BALL: "l2", Shape.DIAMOND: "l1"}
_begun: Final[set[Shape]] = set()


def ready(shape: Shape) -> None:
    """Load, or compile if need be, what questions about trees and rooms of this shape need; at once the second time."""
    if shape in _begun:
        return
    _begun.add(shape)  # first: the tiny question below asks for the same
    import numpy as np

    from elbowroom.explainer import Explainer
    from elbowroom.models import Decision, Link, ModelInfo, TreeEnsemble

    info = ModelInfo(("x", "y"), (0, 1), Decision.POSITIVE, Link.LOGISTIC, "two stumps")
    nodes = (
        np.array(a, dtype=np.int64)
        for a in ([0, 3], [0, -1, -1, 1, -1, -1], [1, -1, -1, 4, -1, -1], [2, -1, -1, 5, -1, -1])
    )
    roots, feature, left, right = nodes
    value = np.array([[0.0], [-1.0], [1.0], [0.0], [-0.5], [0.25]])
    cut = np.array([0.5, 0.0, 0.0, 0.5, 0.0, 0.0])
    model = TreeEnsemble(info, roots, feature, cut, left, right, value, np.zeros(1))
    explainer = Explainer(model)
    try:
        explainer.explain(np.zeros(2), room=_ROOMS[shape])
        explainer.radius(np.zeros(2), _NORMS[shape])
    except BaseException:
        _begun.discard(shape)  # interrupted: the next question tries again
        raise


def warm() -> float:
    """Run every kernel on a tiny question and return the seconds it took."""
    start = time.perf_counter()
    for shape in Shape:
        ready(shape)
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.stderr.write(f"kernels ready in {warm():.1f} s\n")
