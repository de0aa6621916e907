"""How a region is searched for: the word a user gives, and the engine that it stands for."""

from __future__ import annotations

from enum import Enum
from typing import assert_never

from elbowroom.errors import InputError, UnsupportedModel
from elbowroom.models import Model
from elbowroom.problem import RecourseProblem
from elbowroom.search.contract import Engine
from elbowroom.search.engines import engine_for


class Method(Enum):
    """How a region is searched for."""

    AUTO = "auto"
    ADVERSARIAL = "adversarial"
    ADVERSARIAL_SCIP = "adversarial-scip"
    ADVERSARIAL_GUROBI = "adversarial-gurobi"
    ONE_LEAF = "one_leaf"

    @classmethod
    def parse(cls, value: Method | str) -> Method:
        if isinstance(value, cls):
            return value
        try:
            return cls(value)
        except ValueError:
            raise InputError(f"method={value!r} is unknown; use one of {[m.value for m in cls]}") from None

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
                return AdversarialEngine(names[self])
            case Method.ONE_LEAF:
                from elbowroom.search.trees.one_leaf import OneLeafEngine

                return OneLeafEngine()
            case _ as never:
                assert_never(never)

    def demand(self, engine: Engine, problem: RecourseProblem) -> None:
        """Raise what the engine cannot answer, before anything is computed; the same for every row."""
        refusal = engine.refuses(problem)
        if refusal is not None:
            raise (UnsupportedModel if self is Method.ONE_LEAF else InputError)(refusal)
