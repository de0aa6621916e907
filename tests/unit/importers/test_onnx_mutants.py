"""Damaged ONNX files: a clear error or a model that replays; never a crash, a hang or a copy that the replay contradicts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("skl2onnx")

from tests.support.onnx_mutants import run


def _check(outcomes: list[dict[str, Any]], count: int) -> None:
    assert len(outcomes) == count
    bad = [o for o in outcomes if not o["outcome"].startswith(("refused: ", "replayed"))]
    assert not bad, bad[:3]
    kinds = Counter(o["outcome"].partition(":")[0] for o in outcomes)
    assert kinds["replayed"] > count // 10  # mutants that hit nothing, or only numbers
    assert kinds["refused"] > count // 3
    assert all(len(o["outcome"]) < 1500 for o in outcomes)


def test_three_hundred_damaged_files() -> None:
    _check(run(seed=7, count=300, seconds=280), 300)


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_five_thousand_damaged_files() -> None:
    _check(run(seed=8, count=5000, seconds=2900), 5000)
