"""Which engine answers questions about which family of models. Imports wait until they are needed."""

from __future__ import annotations

from typing import assert_never

from elbowroom.models import LinearModel, Model, ObliqueEnsemble, ReluNetwork, TreeEnsemble
from elbowroom.search.cases import CaseEngine, Divisible
from elbowroom.search.contract import Engine


def engine_for(model: Model) -> Engine:
    """The fast exact engine of the model's family, for all conditions. Rows on trees that are no matter of two columns each
    are left to Algorithm 1, and so are causes and covariances but for linear models, and networks under rules for which no region
    was found."""
    if isinstance(model, TreeEnsemble | ReluNetwork | LinearModel):
        from elbowroom.search.adversarial import AdversarialEngine

        return CaseEngine(_own_engine(model), otherwise=AdversarialEngine())
    return CaseEngine(_own_engine(model))


def _own_engine(model: Model) -> Divisible:
    match model:
        case LinearModel():
            from elbowroom.search.linear import LinearEngine

            return LinearEngine()
        case TreeEnsemble():
            from elbowroom.search.trees import TreeEngine

            return TreeEngine()
        case ObliqueEnsemble():
            from elbowroom.search.adversarial import AdversarialEngine

            return AdversarialEngine()
        case ReluNetwork():
            from elbowroom.search.adversarial import AdversarialEngine
            from elbowroom.search.network import NetworkEngine

            # Its exact contradictions also prove that no centre exists at any distance.
            return NetworkEngine(beyond=AdversarialEngine())
        case _ as never:
            assert_never(never)
