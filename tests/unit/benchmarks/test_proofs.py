"""Proof files that a run keeps are those that it weighed, and the checker can be asked about them again."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from benchmarks.proofs import MODEL, _Asked, confirm_again
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Box, Explainer


def test_kept_files_are_confirmed_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, X[:, 0] > 0.3)
    shelf = tmp_path / "toy DT-2"
    asked = _Asked(Explainer(model), 20.0, shelf)
    records = [asked.record(X[i], Box(0.1), i) for i in range(2)]
    assert all(each["confirmed"] for each in records)
    kept = sorted(path for path in shelf.iterdir() if path.name != MODEL)
    assert [len(gzip.decompress(path.read_bytes())) for path in kept] == [each["bytes"] for each in records]
    assert confirm_again(tmp_path) == {"both_halves": 2, "valid_alone": 0, "refused": 0}
    damaged = (
        gzip.decompress(kept[0].read_bytes())
        .replace(b'"version": 4', b'"version": 3')
        .replace(b'"version":4', b'"version":3')
    )
    kept[0].write_bytes(gzip.compress(damaged))
    assert confirm_again(tmp_path) == {"both_halves": 1, "valid_alone": 0, "refused": 1}
    assert kept[0].name in capsys.readouterr().out
