"""The proof of an attested answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from elbowroom.result.attestation import attestation_out
from elbowroom.result.no_region import NoRegion
from elbowroom.result.origin import origin_out
from elbowroom.result.proof import Proof
from elbowroom.result.region import Region
from elbowroom.result.schema import write_answer


def checksum_of(answer: Region | NoRegion) -> str:
    """The checksum of the answer's file: of everything else in it."""
    checksum: str = json.loads(write_answer(answer))["checksum"]
    return checksum


def attested_proof(answer: Region | NoRegion) -> Proof | None:
    """The same proof, which also says what the answer says, and of which answer it is: by the checksum of its file."""
    proof, said = answer.proof, answer.attestation
    if proof is None or proof.document is None or said is None:
        return proof
    origin: dict[str, Any] = origin_out(answer.origin) or {}
    kept = {key: origin.get(key) for key in ("model_file", "versions")}
    stated = {**attestation_out(said), **kept, "answer": checksum_of(answer)}
    return replace(proof, document=proof.document | {"attestation": stated})
