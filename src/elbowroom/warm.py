"""``python -m elbowroom.warm``: compile all numerical kernels once; later processes find them in the disk cache."""

from __future__ import annotations

import sys
import time


def warm() -> float:
    """Run every kernel on a tiny question and return the seconds it took."""
    start = time.perf_counter()
    import numpy as np

    from elbowroom.explainer import Explainer
    from elbowroom.models import Decision, Link, ModelInfo, TreeEnsemble
    from elbowroom.problem import Ball, Box

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
    for room in (Box(0.1), Ball(0.1)):
        explainer.explain(np.zeros(2), room=room)
    explainer.radius(np.zeros(2))
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.stderr.write(f"kernels ready in {warm():.1f} s\n")
