"""Answers with proofs, and the model file that they are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from elbowroom.disk import write_whole
from elbowroom.errors import UnsupportedModel
from elbowroom.explainer.nearby import refuse_nearby
from elbowroom.models import Model
from elbowroom.problem import RecourseProblem
from elbowroom.result import NoRegion, Region
from elbowroom.result.proof import Proof

if TYPE_CHECKING:
    from elbowroom.proof.prover import Prover

Answer = TypeVar("Answer", bound=Region | NoRegion)


class Proving:
    """The part of an `Explainer` that writes what strangers can check."""

    _model: Model

    def export_model(self, path: str | Path) -> None:
        """Write the parsed model to ``path``, a file of its own, which proofs are about: docs/proofs.md says what it holds.

        Args:
            path: Where the file is written; docs/proofs.md says what it holds.

        Examples:
            >>> explainer.export_model("model.json")
        """
        from elbowroom.proof.model_file import model_bytes

        if self._model.info.members:
            raise UnsupportedModel(
                f"{self._model.info.source}: a model file holds one model; write one for each with Explainer(model, space)"
            )

        refuse_nearby(self._model, "export_model")
        write_whole(path, model_bytes(self._model))

    @cached_property
    def _prover(self) -> Prover:
        from elbowroom.proof.prover import Prover

        return Prover(self._model)

    def _with_proof(self, answer: Answer, seconds: float, diary: Sequence[object]) -> Answer:
        """The answer with its proof; writing it gets as many seconds as the search had, and what that has written down."""
        return replace(answer, proof=self._proof_of(answer, seconds, diary))

    def _proof_of(self, answer: Region | NoRegion, seconds: float, diary: Sequence[object]) -> Proof:
        if answer.missing or getattr(answer, "filled", ()):
            return Proof(None, "no proofs can be written for rows in which something is missing yet")
        if self._model.info.members:
            return Proof(
                None,
                "no proofs can be written for several models at once yet; ask for one with Explainer(model, space) for each",
            )
        if self._model.info.nearby:
            return Proof(
                None, "no proofs can be written for a model with all models near it yet; ask for one of the model alone"
            )
        if len(self._model.info.classes) == 1:
            return Proof(None, "no proofs can be written for a model with a single class: there is nothing to prove")
        problem = RecourseProblem.ask(
            self._model, answer.space, answer.factual_values, answer.room, answer.target, answer.metric, answer.rules
        )
        body = answer.body if isinstance(answer, Region) else None
        return self._prover.prove(problem, body, answer.lower_bound, seconds, diary)
