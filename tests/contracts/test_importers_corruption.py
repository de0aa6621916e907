"""A wrong copy must never pass the replay: every corruption here is caught."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from elbowroom.errors import ReplayMismatch
from elbowroom.importers import Original, open_model, replay
from elbowroom.importers.inputs import Columns, Inputs
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.models import Affine, LinearModel, Model, ReluNetwork, TreeEnsemble
from elbowroom.numerics import next_down, next_up
from tests.support.importer_cases import OTHERS, TREES, fitted, fitted_case, one_thread, table

__all__ = ["one_thread"]
pytestmark = pytest.mark.usefixtures("one_thread")


def _caught(copy: Model, original: Original) -> bool:
    try:
        replay(copy, original, limit=3_000)
    except ReplayMismatch as mismatch:
        return str(mismatch).startswith(copy.info.source) and "original" in str(mismatch)
    return False


def _opened(kind: str, data: str = "cancer", piped: bool = False) -> tuple[Any, Original]:
    opened = open_model(fitted_case(kind, data, "strings", piped)[0], replay=False)
    return opened.model, opened.original


@pytest.mark.parametrize("piped", [False, True], ids=["bare", "piped"])
@pytest.mark.parametrize("kind", ["gradient boosting", "histogram boosting", "random forest"])
def test_one_cut_moved_by_one_float_is_caught(kind: str, piped: bool) -> None:
    parsed, original = _opened(kind, piped=piped)
    replay(parsed, original, limit=3_000)
    splits = [n for n in np.flatnonzero(parsed.feature >= 0) if _matters(parsed, n)]
    assert len(splits) >= 8
    for node in splits[:12]:
        for move in (next_up, next_down):
            cut = parsed.cut.copy()
            cut[node] = move(cut[node])
            assert _caught(replace(parsed, cut=cut), original), (node, move)


def _matters(parsed: TreeEnsemble, node: int) -> bool:
    """True for a split into two leaves that differ beyond rounding: every row that reaches it shows where it goes."""
    left, right = parsed.left[node], parsed.right[node]
    both_leaves = parsed.feature[left] < 0 and parsed.feature[right] < 0
    return bool(both_leaves and (np.abs(parsed.value[left] - parsed.value[right]) > 1e-9).any())


@pytest.mark.parametrize("kind", TREES)
def test_less_than_instead_of_at_most_is_caught(kind: str) -> None:
    parsed, original = _opened(kind)
    assert _caught(replace(parsed, cut=np.asarray(next_down(parsed.cut))), original)


@pytest.mark.parametrize("kind", ["gradient boosting", "histogram boosting"])
@pytest.mark.parametrize("data", ["cancer", "wine"])
def test_a_dropped_prior_is_caught(kind: str, data: str) -> None:
    parsed, original = _opened(kind, data)
    assert _caught(replace(parsed, base=np.zeros_like(parsed.base)), original)


@pytest.mark.parametrize("kind", ["decision tree", "random forest", "gradient boosting"])
def test_a_dropped_cast_is_caught(kind: str) -> None:
    """Thresholds as stored, without the cast to float32 folded in."""
    model, _ = fitted_case(kind, "cancer", "strings", False)
    opened = open_model(model)
    parsed = opened.model
    assert isinstance(parsed, TreeEnsemble)
    trees = [model] if kind == "decision tree" else list(np.ravel(model.estimators_))
    stored = np.concatenate([tree.tree_.threshold for tree in trees])
    inner = parsed.feature >= 0
    assert (stored[inner] != parsed.cut[inner]).any()
    assert _caught(replace(parsed, cut=np.where(inner, stored, 0.0)), opened.original)


@pytest.mark.parametrize("kind", TREES)
def test_swapped_children_and_classes_are_caught(kind: str) -> None:
    parsed, original = _opened(kind)
    left, right = parsed.left.copy(), parsed.right.copy()
    left[parsed.roots[0]], right[parsed.roots[0]] = right[parsed.roots[0]], left[parsed.roots[0]]
    assert _caught(replace(parsed, left=left, right=right), original)
    info = replace(parsed.info, classes=parsed.info.classes[::-1])
    assert _caught(replace(parsed, info=info), original)


def test_a_scaler_inverted_by_hand_is_caught() -> None:
    """The threshold mapped back as threshold * scale + mean is wrong by a few floats in most nodes."""
    frame, y = table("cancer")
    model = fitted(make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)), frame, y)
    opened = open_model(model)
    parsed = opened.model
    assert isinstance(parsed, TreeEnsemble)
    inner, tree, scaler = parsed.feature >= 0, model[-1].tree_, model[0]
    cut = parsed.cut.copy()
    cut[inner] = tree.threshold[inner] * scaler.scale_[tree.feature[inner]] + scaler.mean_[tree.feature[inner]]
    assert (cut[inner] != parsed.cut[inner]).mean() > 0.5
    assert _caught(replace(parsed, cut=cut), opened.original)


def _changed(affine: Affine, weight: Any = None, bias: Any = None) -> Affine:
    return replace(
        affine, weight=affine.weight if weight is None else weight, bias=affine.bias if bias is None else bias
    )


@pytest.mark.parametrize("piped", [False, True], ids=["bare", "piped"])
@pytest.mark.parametrize("kind", [kind for kind in OTHERS if kind != "network"])
def test_a_wrong_weight_or_bias_of_a_linear_model_is_caught(kind: str, piped: bool) -> None:
    parsed, original = _opened(kind, piped=piped)
    assert isinstance(parsed, LinearModel)
    affine = parsed.affine
    used = int(np.argmax(np.abs(affine.weight[0])))
    weight = affine.weight.copy()
    weight[0, used] *= 1 + 1e-6
    assert _caught(replace(parsed, affine=_changed(affine, weight=weight)), original)
    assert _caught(replace(parsed, affine=_changed(affine, weight=-affine.weight)), original)
    size = np.abs(affine.weight) @ np.abs(_middle(original.preprocessing)) + np.abs(affine.bias)
    assert _caught(replace(parsed, affine=_changed(affine, bias=affine.bias + 1e-6 * size)), original)


def _middle(preprocessing: Preprocessing) -> Any:
    middle = np.ones(preprocessing.width)
    trace = preprocessing.trace
    middle[trace.variable] = np.abs(trace.offset / trace.factor)
    return middle


def test_a_wrong_layer_of_a_network_is_caught() -> None:
    for piped in (False, True):
        parsed, original = _opened("network", piped=piped)
        assert isinstance(parsed, ReluNetwork)
        first, *rest = parsed.layers
        assert _caught(replace(parsed, layers=(_changed(first, weight=first.weight * (1 + 1e-5)), *rest)), original)
        last = parsed.layers[-1]
        shifted = _changed(last, bias=last.bias + 1e-4)
        assert _caught(replace(parsed, layers=(*parsed.layers[:-1], shifted)), original)


class _LabelsOnly:
    """An original that shows nothing but labels."""

    def __init__(self, inside: Any) -> None:
        self.inside = inside

    def predict(self, X: Any) -> Any:
        return self.inside.predict(X)


def test_labels_alone_reveal_a_moved_cut_of_one_tree() -> None:
    frame, y = table("cancer")
    model = fitted(DecisionTreeClassifier(max_depth=1, random_state=0), frame.to_numpy(), y)
    parsed = open_model(model).model
    assert isinstance(parsed, TreeEnsemble)
    original = Original(
        _LabelsOnly(model), Inputs.of(Columns.numbers(8, None)), Preprocessing.of_numbers(parsed.info.names)
    )
    report = replay(parsed, original)
    assert report.points > 1_000 and report.open_points == 0
    for move in (next_up, next_down):
        with pytest.raises(ReplayMismatch, match="the original says"):
            replay(replace(parsed, cut=np.where(parsed.feature >= 0, move(parsed.cut), 0.0)), original)


def test_a_label_that_is_no_class_is_caught() -> None:
    class Other(_LabelsOnly):
        def predict(self, X: Any) -> Any:
            return np.where(super().predict(X) == "approved", "approved", "something else")

    for kind in ("decision tree", "logistic"):
        model, _ = fitted_case(kind, "cancer", "strings", False)
        parsed = open_model(model).model
        original = Original(
            Other(model), Inputs.of(Columns.numbers(8, None)), Preprocessing.of_numbers(parsed.info.names)
        )
        with pytest.raises(ReplayMismatch, match="something else"):
            replay(parsed, original)


def test_a_tie_within_the_declared_error_of_the_decision_stays_open() -> None:
    """A tree ensemble that decides by rounded probabilities may disagree there, and only there."""
    read = open_model(fitted_case("histogram boosting", "cancer", "0/1", False)[0], replay=False).model
    assert isinstance(read, TreeEnsemble) and read.info.evaluation_error > 0
    value = np.where(read.value > 0, 1e-16, read.value)  # the second class wins by less than a probability shows
    parsed = replace(read, roots=read.roots[:1], base=np.zeros(1), value=value)

    class ByProbability:
        def predict(self, X: Any) -> Any:
            return (expit(parsed.scores(X)[:, 0]) > 0.5).astype(int)

    original = Original(
        ByProbability(), Inputs.of(Columns.numbers(8, None)), Preprocessing.of_numbers(parsed.info.names)
    )
    assert replay(parsed, original).open_points > 0
    with pytest.raises(ReplayMismatch, match="the original says 0, the copy 1"):
        replay(replace(parsed, info=replace(parsed.info, evaluation_error=0.0)), original)
