"""The parsed model: plain arrays, no machine-learning library."""

from elbowroom.models.base import Decision, Link, Model, ModelInfo
from elbowroom.models.joint import join, members_of
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
    "join",
    "may_miss",
    "members_of",
    "with_missing",
]
