"""Every ensemble of parts against the original's own predict, bare and behind scalers; wrong copies are caught."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from elbowroom.errors import ReplayMismatch
from elbowroom.importers import ReadModel, open_model, replay
from elbowroom.importers.replay import _certain
from elbowroom.models import ObliqueEnsemble, TreeEnsemble
from elbowroom.numerics import next_down
from tests.support.importer_cases import asked, one_thread, probing_rows
from tests.support.wrapper_cases import CASES, TREES, fitted_wrapper

__all__ = ["one_thread"]
pytestmark = pytest.mark.usefixtures("one_thread")

ROWS = 4_000


@pytest.mark.parametrize("piped", [False, True], ids=["bare", "piped"])
@pytest.mark.parametrize(("kind", "data"), CASES)
def test_labels_equal_the_originals(kind: str, data: str, piped: bool) -> None:
    model, frame = fitted_wrapper(kind, data, piped)
    opened = open_model(model, replay=False)
    parsed = opened.model
    assert replay(parsed, opened.original, limit=ROWS).points >= 500
    rows = probing_rows(parsed, frame, ROWS)
    scores = parsed.scores(rows)
    ours = parsed.info.labels_of(scores)
    theirs = np.asarray(model.predict(asked(model, frame, rows)))
    wrong = np.flatnonzero(np.array(parsed.info.classes)[ours] != theirs)
    assert (kind in TREES) == isinstance(parsed, TreeEnsemble)
    if wrong.size:  # only what rounding alone decides
        assert not _certain(parsed, rows[wrong], scores[wrong], ours[wrong]).any()
        assert wrong.size < ROWS / 100
    assert len(np.unique(theirs)) > 1
    assert sorted(parsed.info.classes) == sorted(model.classes_.tolist())


@pytest.mark.long
@pytest.mark.parametrize("piped", [False, True], ids=["bare", "piped"])
@pytest.mark.parametrize(("kind", "data"), CASES)
def test_the_whole_replay_agrees(kind: str, data: str, piped: bool) -> None:
    """As many rows as are asked when a user opens the model."""
    report = open_model(fitted_wrapper(kind, data, piped)[0]).report
    assert report is not None and report.points >= 1_000


def _caught(copy: Any, opened: ReadModel) -> bool:
    try:
        replay(copy, opened.original, limit=4_000)
    except ReplayMismatch:
        return True
    return False


@pytest.mark.parametrize(("kind", "data"), CASES)
def test_a_wrong_copy_is_caught(kind: str, data: str) -> None:
    """Seeded bugs: a cut or hyperplane moved, classes exchanged, a part forgotten, a value of a leaf changed."""
    model, _ = fitted_wrapper(kind, data, False)
    opened = open_model(model, replay=False)
    parsed: Any = opened.model
    info = parsed.info
    assert _caught(replace(parsed, info=replace(info, classes=(*info.classes[1:], info.classes[0]))), opened)
    match parsed:
        case TreeEnsemble():
            assert _caught(replace(parsed, cut=np.asarray(next_down(parsed.cut))), opened)
            assert _caught(replace(parsed, value=parsed.value[:, ::-1] * (1 if parsed.base.size > 1 else -1)), opened)
            if parsed.n_trees > 2:
                assert _caught(replace(parsed, roots=parsed.roots[:1]), opened)
        case ObliqueEnsemble():
            assert _caught(replace(parsed, threshold=parsed.threshold + 1e-6), opened)
            assert _caught(replace(parsed, value=parsed.value[::-1].copy()), opened)
            for error in ("error_slope", "error_constant"):
                assert getattr(parsed, error) is not None
        case _:
            affine = replace(parsed.affine, bias=parsed.affine.bias + np.arange(1, parsed.affine.bias.size + 1) * 1e-6)
            assert _caught(replace(parsed, affine=affine), opened)
    if info.threshold != 0.0:
        assert _caught(replace(parsed, info=replace(info, threshold=info.threshold + 1e3)), opened)
