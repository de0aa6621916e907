"""A proof of an answer as data: what its file says, and what could not be written."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from elbowroom.disk import write_whole
from elbowroom.errors import InputError


@dataclass(frozen=True, eq=False, repr=False)
class Proof:
    """What ``python -m elbowroom_checker`` confirms: docs/proofs.md.

    ``missing`` says which half could not be written and why ("": both are there). ``document`` is what the file holds; None if
    nothing could be proven. ``seconds``: what writing it took, after the search.
    """

    document: dict[str, Any] | None
    missing: str = ""
    seconds: float = 0.0

    @cached_property
    def text(self) -> str:
        """The file. Floats are exact."""
        if self.document is None:
            raise InputError(f"there is no proof to write: {self.missing}")
        return json.dumps(self.document, allow_nan=False, separators=(",", ":")) + "\n"

    @property
    def is_complete(self) -> bool:
        """True if both halves are there: every point of the region has the class, and no closer centre exists."""
        return not self.missing

    def write(self, path: str | Path) -> None:
        write_whole(path, self.text)

    def __repr__(self) -> str:
        size = "nothing" if self.document is None else f"{len(self.text)} bytes"
        return f"<Proof of {size}{'; ' + self.missing if self.missing else ''}>"


def write_proof(proof: Proof | None, path: str | Path) -> None:
    """To a file; an answer that was asked for without a proof has none."""
    if proof is None:
        raise InputError("this answer has no proof: ask with explain(..., proof=True)")
    proof.write(path)
