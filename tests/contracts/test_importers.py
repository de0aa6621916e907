"""Every importer against the original's own predict: all labels, numbers of classes, bare and behind scalers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from elbowroom.importers import open_model, replay
from elbowroom.models import Decision, LinearModel, ReluNetwork, TreeEnsemble
from tests.support.importer_cases import DATA, LABELS, MODELS, TREES, asked, fitted_case, one_thread, probing_rows

__all__ = ["one_thread"]
pytestmark = pytest.mark.usefixtures("one_thread")

ROWS_PER_CASE = 1_000
CASES = [
    (kind, data, labels, piped)
    for kind, data, labels, piped in product(MODELS, DATA[:2], LABELS, (False, True))
    if data == "cancer" or labels != "bools"
]


def test_the_cases_cover_two_hundred_thousand_rows() -> None:
    """Together with the row count that each case below asserts, this is the total."""
    assert len(CASES) * ROWS_PER_CASE >= 200_000


@pytest.mark.parametrize("piped", [False, True], ids=["bare", "piped"])
@pytest.mark.parametrize("data", DATA[:2])
@pytest.mark.parametrize("kind", MODELS)
def test_labels_equal_the_originals(kind: str, data: str, piped: bool) -> None:
    compared = 0
    of_this = [case for case in CASES if (case[0], case[1], case[3]) == (kind, data, piped)]
    for _, _, labels, _ in of_this:
        model, frame = fitted_case(kind, data, labels, piped)
        opened = open_model(model, replay=False)
        parsed = opened.model
        rows = probing_rows(parsed, frame, ROWS_PER_CASE)
        theirs = model.predict(asked(model, frame, rows))
        scores = parsed.scores(rows)
        ours = np.array(parsed.info.classes, dtype=theirs.dtype)[parsed.info.labels_of(scores)]
        assert (ours == theirs).all(), (labels, rows[ours != theirs][0])
        assert list(parsed.info.classes) == LABELS[labels][: 2 if data == "cancer" else 3]
        assert [type(label) for label in parsed.info.classes] == [type(label) for label in LABELS[labels]][
            : len(parsed.info.classes)
        ]
        assert (opened.predict(rows) == theirs).all()
        assert replay(parsed, opened.original, limit=1_000).points >= 200
        if kind in TREES:
            assert np.array_equal(scores, _original_scores(model, asked(model, frame, rows)))
        compared += len(rows)
    assert compared == len(of_this) * ROWS_PER_CASE


def _original_scores(model: object, rows: object) -> np.ndarray:
    ask = getattr(model, "decision_function", None) or model.predict_proba  # type: ignore[attr-defined]
    return np.asarray(ask(rows)).reshape(len(rows), -1)  # type: ignore[arg-type]


def test_families_and_decisions() -> None:
    found = {}
    for kind in MODELS:
        parsed = open_model(fitted_case(kind, "cancer", "0/1", False)[0], replay=False).model
        found[kind] = (type(parsed), parsed.info.decision)
    forests = ("decision tree", "extra tree", "random forest", "extra trees")
    assert all(found[kind] == (TreeEnsemble, Decision.ARGMAX) for kind in forests)
    assert found["gradient boosting"] == (TreeEnsemble, Decision.NONNEGATIVE)
    assert found["histogram boosting"] == (TreeEnsemble, Decision.POSITIVE)
    assert found["network"] == (ReluNetwork, Decision.POSITIVE)
    rest = set(found) - {*TREES, "network"}
    assert all(found[kind] == (LinearModel, Decision.POSITIVE) for kind in rest)


@pytest.mark.parametrize("kind", TREES)
def test_raw_scores_of_trees_are_bit_equal_with_many_classes(kind: str) -> None:
    model, frame = fitted_case(kind, "wine", "strings", False)
    parsed = open_model(model).model
    rows = probing_rows(parsed, frame, 4_000, seed=1)
    raw = getattr(model, "_raw_predict", None) or model.predict_proba
    prepared = rows.astype(np.float32) if kind == "gradient boosting" else rows
    assert np.array_equal(parsed.scores(rows), raw(prepared))


def test_probabilities_follow_the_link() -> None:
    """Where a link is declared, probabilities made from the parsed scores are the original's."""
    from scipy.special import expit, softmax

    from elbowroom.models import Link

    seen = set()
    for kind, data in product(MODELS, DATA[:2]):
        model, frame = fitted_case(kind, data, "0/1", False)
        opened = open_model(model, replay=False)
        info, scores = opened.model.info, opened.model.scores(frame.to_numpy())
        ask = opened.original.predict_proba
        if info.link is Link.NONE:
            continue
        assert ask is not None
        expected = {
            Link.IDENTITY: lambda s: s,
            Link.SOFTMAX: lambda s: softmax(s, axis=1),
            Link.LOGISTIC: lambda s: np.column_stack([1 - expit(s[:, 0]), expit(s[:, 0])]),
        }[info.link](scores)
        np.testing.assert_allclose(ask(frame.to_numpy()), expected, rtol=1e-9, atol=1e-12)
        seen.add((kind, info.link))
    assert ("logistic", Link.SOFTMAX) in seen and ("logistic", Link.LOGISTIC) in seen
    assert len(seen) >= 16
