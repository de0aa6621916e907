"""Answers for the files: what is said about them, and signatures beside what is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from elbowroom.errors import InputError
from elbowroom.present.outputs import Kind, Output
from elbowroom.signature import Signer as Signer
from elbowroom.signature import signature_path

if TYPE_CHECKING:
    from elbowroom.result import NoRegion, Region


def with_signatures(wanted: Mapping[str, tuple[Path | None, Kind]]) -> dict[str, tuple[Path | None, Kind]]:
    """The files asked for, each with the one beside it that holds its signature."""
    files = {option: (path, kind) for option, (path, kind) in wanted.items() if path is not None}
    if not files:
        raise InputError("--sign signs files; say which to write, for example with --output region.json")
    beside = {f"--sign, for {o}": (signature_path(path), Kind.SIGNATURE) for o, (path, _) in files.items()}
    return {**wanted, **beside}


def sign_written(signer: Signer, files: Mapping[str, Output]) -> None:
    """Sign what was written, as it was written."""
    for option, output in list(files.items()):
        if output.kind is not Kind.SIGNATURE and output.written:
            files[f"--sign, for {option}"].write(signer.sign(output.content))


def attested(answer: Region | NoRegion, case: str, purpose: str, model: str, *, signed: bool) -> Region | NoRegion:
    """The answer with what is said about it, if anything is, or if it is to be signed."""
    return answer.attested(case, purpose, model=model) if case or purpose or signed else answer
