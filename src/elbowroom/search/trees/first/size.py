"""Which models are searched on their trees first. Nothing here needs a kernel."""

from __future__ import annotations

from elbowroom.models import TreeEnsemble
from elbowroom.problem import RecourseProblem
from elbowroom.search.trees.first.limits import LARGE


def is_large(problem: RecourseProblem) -> bool:
    """True if the model is too large to be in cells within a moment."""
    model = problem.model
    return isinstance(model, TreeEnsemble) and int((model.feature < 0).sum()) > LARGE
