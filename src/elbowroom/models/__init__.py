"""The parsed model: plain arrays, no machine-learning library."""

from elbowroom.models.base import Decision, Link, Model, ModelInfo
from elbowroom.models.joint import asked_for, join, members_of, some_of
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.margins import AffineMargins, Each, NetworkMargins, TreeMargins
from elbowroom.models.missing import may_miss, with_missing
from elbowroom.models.network import ReluNetwork
from elbowroom.models.oblique import ObliqueEnsemble, ObliqueLeaves
from elbowroom.models.trees import Leaves, TreeEnsemble

__all__ = [
    "Affine",
    "AffineMargins",
    "Decision",
    "Each",
    "Leaves",
    "LinearModel",
    "Link",
    "Model",
    "ModelInfo",
    "NetworkMargins",
    "ObliqueEnsemble",
    "ObliqueLeaves",
    "ReluNetwork",
    "TreeEnsemble",
    "TreeMargins",
    "asked_for",
    "join",
    "may_miss",
    "members_of",
    "some_of",
    "with_missing",
]
