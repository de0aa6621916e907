"""How a region is searched for: the word a user gives, and the engine that it stands for."""

from __future__ import annotations

from enum import Enum
from typing import assert_never

from elbowroom.errors import UnsupportedModel
from elbowroom.models import Model, TreeEnsemble
from elbowroom.search.cases import CaseEngine
from elbowroom.search.contract import Engine
from elbowroom.search.engines import engine_for


class Method(Enum):
    """How a region is searched for."""

    AUTO = "auto"
    ADVERSARIAL = "adversarial"
    ADVERSARIAL_SCIP = "adversarial-scip"
    ADVERSARIAL_GUROBI = "adversarial-gurobi"
    ONE_LEAF = "one_leaf"

    def engine(self, model: Model) -> Engine:
        """A new engine for questions about a model; a solver that is missing is noticed here."""
        match self:
            case Method.AUTO:
                return engine_for(model)
            case Method.ADVERSARIAL | Method.ADVERSARIAL_SCIP | Method.ADVERSARIAL_GUROBI:
                from elbowroom.search.adversarial import AdversarialEngine
                from elbowroom.search.solvers.protocol import SolverName

                names = {
                    Method.ADVERSARIAL: SolverName.HIGHS,
                    Method.ADVERSARIAL_SCIP: SolverName.SCIP,
                    Method.ADVERSARIAL_GUROBI: SolverName.GUROBI,
                }
                return CaseEngine(AdversarialEngine(names[self]))
            case Method.ONE_LEAF:
                from elbowroom.search.adversarial.one_leaf import OneLeafEngine

                if not isinstance(model, TreeEnsemble):
                    raise UnsupportedModel(
                        f"method='one_leaf' needs a model with axis-aligned leaves, not {model.info.source}; "
                        "use method='auto' or method='adversarial'"
                    )
                return OneLeafEngine()
            case _ as never:
                assert_never(never)
