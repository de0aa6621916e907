"""Proofs from the command line."""

from __future__ import annotations

from collections.abc import Mapping

from elbowroom.explainer import Explainer
from elbowroom.present.outputs import Output
from elbowroom.present.screen import Screen
from elbowroom.result import NoRegion, Region


def deliver_proof(screen: Screen, explainer: Explainer, answer: Region | NoRegion, files: Mapping[str, Output]) -> None:
    """Write the proof and the model file that were asked for; say what could not be written."""
    if "--proof-model" in files:
        from elbowroom.proof.model_file import model_bytes

        files["--proof-model"].write(model_bytes(explainer.model))
    proof = answer.proof
    if "--proof" not in files or proof is None:
        return
    if proof.missing:
        screen.line(f"Not in the proof: {proof.missing}.")
    if proof.document is not None:
        files["--proof"].write(proof.text)
