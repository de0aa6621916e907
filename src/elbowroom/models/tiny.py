"""The smallest models that kernels can work on, for making them ready."""

from __future__ import annotations

import numpy as np

from elbowroom.models.base import Decision, Link, Model, ModelInfo
from elbowroom.models.linear import Affine
from elbowroom.models.network import ReluNetwork
from elbowroom.models.trees import TreeEnsemble


def two_stumps() -> TreeEnsemble:
    """Class 1 where x > 1/2, in two columns."""
    nodes = ([0, 3], [0, -1, -1, 1, -1, -1], [1, -1, -1, 4, -1, -1], [2, -1, -1, 5, -1, -1])
    roots, feature, left, right = (np.array(a, dtype=np.int64) for a in nodes)
    return TreeEnsemble(
        info=ModelInfo(("x", "y"), (0, 1), Decision.POSITIVE, Link.LOGISTIC, "two stumps"),
        roots=roots,
        feature=feature,
        cut=np.array([0.5, 0.0, 0.0, 0.5, 0.0, 0.0]),
        left=left,
        right=right,
        value=np.array([[0.0], [-1.0], [1.0], [0.0], [-0.5], [0.25]]),
        base=np.zeros(1),
    )


def tiny_models() -> tuple[Model, ...]:
    """One of every family whose engine or judge has kernels."""
    info = ModelInfo(("x", "y"), (0, 1), Decision.POSITIVE, Link.LOGISTIC, "a tiny network")
    first = Affine.exact(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([0.1, -0.1]))
    last = Affine.exact(np.array([[1.0, 1.0]]), np.array([-1.0]))
    return two_stumps(), ReluNetwork(info, (first, last))
