"""The page says enough: a checker written from docs/proofs.md alone agrees with `elbowroom_checker`."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import numpy as np
import pytest

from elbowroom_checker import Refused, check
from tests.support import stranger
from tests.support.proofs import about, damaged, packed, random_proven

MOST_LINES = 300  # of code: without docstrings and empty lines


def lines_of_code(text: str) -> int:
    """Without docstrings, comments and empty lines."""
    lines = {k for k, line in enumerate(text.splitlines(), 1) if line.strip() and not line.lstrip().startswith("#")}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            lines -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


def theirs(document: object, file: bytes) -> tuple[bool, float | None] | None:
    """What the stranger finds proven; None if it refuses. It takes no care of files that are no proofs at all."""
    try:
        checker = stranger.Checker(packed(document), file)
        return checker.valid(), checker.closer()
    except (stranger.Refusal, ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
        return None


def ours(document: object, file: bytes) -> tuple[bool, float | None] | None:
    try:
        said = check(packed(document), file, seconds=20.0)
    except Refused:
        return None
    return bool(said.valid), said.bound


def is_weaker(found: tuple[bool, float | None] | None, than: tuple[bool, float | None]) -> bool:
    """Does it follow from what is proven?"""
    assert found is not None
    (valid, bound), (whole, most) = found, than
    return valid <= whole and (bound is None or (most is not None and bound <= most))


def compare(seed: int) -> None:
    found = random_proven(seed)
    document = found.proof.document
    assert document is not None
    said = theirs(document, found.model_file)
    assert said is not None
    assert said == ours(document, found.model_file)
    rng = np.random.default_rng(seed)
    for kind in ("validity", "optimality", "region", "model"):
        file, changed = found.model_file, document
        if kind == "model":
            file = packed(damaged(rng, json.loads(file), ("trees",)))
            changed = about(document, file)
        elif document[kind] is not None:
            changed = damaged(rng, document, (kind,))
        confirmed = ours(changed, file)
        if confirmed is None and kind == "model":
            continue  # a model whose nodes go round in circles: the stranger does not look out for these
        again = theirs(changed, file)
        if confirmed is not None and again is not None:
            assert again == confirmed
        elif again is not None:
            assert is_weaker(again, said)  # ours is stricter about form


@pytest.mark.parametrize("seed", range(8))
def test_both_readings_agree(seed: int) -> None:
    compare(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8, 200))
def test_both_readings_agree_on_two_hundred_proofs(seed: int) -> None:
    compare(seed)


def test_the_second_reading_is_short_and_shares_nothing() -> None:
    text = Path(stranger.__file__).read_text(encoding="utf-8")
    assert lines_of_code(text) <= MOST_LINES
    assert "import elbowroom" not in text and "from elbowroom" not in text
