"""elbowroom: regions of counterfactual explanations, proven closest and proven valid at every point.

Public names are loaded when they are first used, so that ``import elbowroom`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elbowroom.version import __version__

_HOME = {
    "Explainer": "elbowroom.explainer",
    "AllOf": "elbowroom.explainer.together",
    "AtLeast": "elbowroom.explainer.together",
    "Retrained": "elbowroom.explainer.retrained",
    "Nearby": "elbowroom.explainer.nearby",
    "Audit": "elbowroom.batch.audit",
    "BatchDisplay": "elbowroom.present.batch",
    "BatchProgress": "elbowroom.batch",
    "BatchResult": "elbowroom.batch",
    "Space": "elbowroom.problem",
    "Feature": "elbowroom.problem",
    "Group": "elbowroom.problem",
    "Box": "elbowroom.problem",
    "Ball": "elbowroom.problem",
    "Diamond": "elbowroom.problem",
    "Target": "elbowroom.problem",
    "AtMost": "elbowroom.problem",
    "LinearRule": "elbowroom.problem",
    "NotAll": "elbowroom.problem",
    "Causal": "elbowroom.problem",
    "Covariance": "elbowroom.problem",
    "Price": "elbowroom.problem",
    "Probability": "elbowroom.problem",
    "Allowed": "elbowroom.problem",
    "Forbidden": "elbowroom.problem",
    "Implies": "elbowroom.problem",
    "LeastChange": "elbowroom.problem",
    "Ordered": "elbowroom.problem",
    "Steps": "elbowroom.problem",
    "Together": "elbowroom.problem",
    "Transitions": "elbowroom.problem",
    "Plausible": "elbowroom.problem",
    "Region": "elbowroom.result",
    "Attestation": "elbowroom.result",
    "sign_file": "elbowroom.signature",
    "verify_file": "elbowroom.signature",
    "NoRegion": "elbowroom.result",
    "CommonRegion": "elbowroom.result.common",
    "GroupAnswer": "elbowroom.result.group",
    "GroupActions": "elbowroom.result.group",
    "Status": "elbowroom.result",
    "Step": "elbowroom.result",
    "Certificate": "elbowroom.result",
    "Counterexample": "elbowroom.result",
    "Undecided": "elbowroom.result",
    "RadiusResult": "elbowroom.result",
    "Frontier": "elbowroom.result",
    "FrontierDisplay": "elbowroom.present.frontier",
    "KeptProbability": "elbowroom.result",
    "Menu": "elbowroom.result",
    "MapDisplay": "elbowroom.present.map",
    "MenuDisplay": "elbowroom.present.menu",
    "RegionDisplay": "elbowroom.present.plots",
    "Few": "elbowroom.result",
    "Breakpoint": "elbowroom.result",
    "Widening": "elbowroom.result",
    "End": "elbowroom.result",
    "WhyNot": "elbowroom.result",
    "Nearest": "elbowroom.result",
    "Part": "elbowroom.problem",
    "PartKind": "elbowroom.problem",
    "LinearModel": "elbowroom.models",
    "TreeEnsemble": "elbowroom.models",
    "ObliqueEnsemble": "elbowroom.models",
    "ReluNetwork": "elbowroom.models",
    "read_model": "elbowroom.importers",
    "ElbowroomError": "elbowroom.errors",
    "ElbowroomWarning": "elbowroom.errors",
    "InputError": "elbowroom.errors",
    "UnsupportedModel": "elbowroom.errors",
    "ReplayMismatch": "elbowroom.errors",
    "SolverMissing": "elbowroom.errors",
}
_MODULES = ("chance",)

if TYPE_CHECKING:
    from elbowroom import chance
    from elbowroom.batch import BatchProgress, BatchResult
    from elbowroom.batch.audit import Audit
    from elbowroom.errors import (
        ElbowroomError,
        ElbowroomWarning,
        InputError,
        ReplayMismatch,
        SolverMissing,
        UnsupportedModel,
    )
    from elbowroom.explainer import Explainer
    from elbowroom.explainer.nearby import Nearby
    from elbowroom.explainer.retrained import Retrained
    from elbowroom.explainer.together import AllOf, AtLeast
    from elbowroom.importers import read_model
    from elbowroom.models import LinearModel, ObliqueEnsemble, ReluNetwork, TreeEnsemble
    from elbowroom.present.batch import BatchDisplay
    from elbowroom.present.frontier import FrontierDisplay
    from elbowroom.present.map import MapDisplay
    from elbowroom.present.menu import MenuDisplay
    from elbowroom.present.plots import RegionDisplay
    from elbowroom.problem import (
        Allowed,
        AtMost,
        Ball,
        Box,
        Causal,
        Covariance,
        Diamond,
        Feature,
        Forbidden,
        Group,
        Implies,
        LeastChange,
        LinearRule,
        NotAll,
        Ordered,
        Part,
        PartKind,
        Plausible,
        Price,
        Probability,
        Space,
        Steps,
        Target,
        Together,
        Transitions,
    )
    from elbowroom.result import (
        Attestation,
        Breakpoint,
        Certificate,
        Counterexample,
        End,
        Few,
        Frontier,
        KeptProbability,
        Menu,
        Nearest,
        NoRegion,
        RadiusResult,
        Region,
        Status,
        Step,
        Undecided,
        WhyNot,
        Widening,
    )
    from elbowroom.result.common import CommonRegion
    from elbowroom.result.group import GroupActions, GroupAnswer
    from elbowroom.signature import sign_file, verify_file

__all__ = [
    "AllOf",
    "Allowed",
    "AtLeast",
    "AtMost",
    "Attestation",
    "Audit",
    "Ball",
    "BatchDisplay",
    "BatchProgress",
    "BatchResult",
    "Box",
    "Breakpoint",
    "Causal",
    "Certificate",
    "CommonRegion",
    "Counterexample",
    "Covariance",
    "Diamond",
    "ElbowroomError",
    "ElbowroomWarning",
    "End",
    "Explainer",
    "Feature",
    "Few",
    "Forbidden",
    "Frontier",
    "FrontierDisplay",
    "Group",
    "GroupActions",
    "GroupAnswer",
    "Implies",
    "InputError",
    "KeptProbability",
    "LeastChange",
    "LinearModel",
    "LinearRule",
    "MapDisplay",
    "Menu",
    "MenuDisplay",
    "Nearby",
    "Nearest",
    "NoRegion",
    "NotAll",
    "ObliqueEnsemble",
    "Ordered",
    "Part",
    "PartKind",
    "Plausible",
    "Price",
    "Probability",
    "RadiusResult",
    "Region",
    "RegionDisplay",
    "ReluNetwork",
    "ReplayMismatch",
    "Retrained",
    "SolverMissing",
    "Space",
    "Status",
    "Step",
    "Steps",
    "Target",
    "Together",
    "Transitions",
    "TreeEnsemble",
    "Undecided",
    "UnsupportedModel",
    "WhyNot",
    "Widening",
    "__version__",
    "chance",
    "read_model",
    "sign_file",
    "verify_file",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = import_module(f"elbowroom.{name}")
    else:
        raise AttributeError(f"module 'elbowroom' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
