"""Every regressor that is read, against the original's own predict: values, regions under attack, and refusals."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from elbowroom import Ball, Box, Explainer, InputError, Region, ReplayMismatch, Space, Target, UnsupportedModel
from elbowroom.importers import open_model, replay
from elbowroom.importers.replay import values_agree
from elbowroom.models import Decision, LinearModel, ReluNetwork, TreeEnsemble
from elbowroom.models.values import values_of
from tests.support.importer_cases import asked, fitted, one_thread, probing_rows
from tests.support.regressors import LINEAR, LINKED, NETWORKS, REGRESSORS, TREES, attack_values, fitted_regressor, table

__all__ = ["one_thread"]
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("piped", [False, True], ids=["bare", "piped"])
@pytest.mark.parametrize("kind", REGRESSORS)
def test_values_equal_the_originals(kind: str, piped: bool) -> None:
    model, frame = fitted_regressor(kind, piped)
    opened = open_model(model, replay=False)
    parsed = opened.model
    rows = probing_rows(parsed, frame, 2_000)
    theirs = model.predict(asked(model, frame, rows))
    assert parsed.info.decision is Decision.VALUE and parsed.info.classes == ()
    assert values_agree(parsed, rows, theirs).all()
    assert np.array_equal(opened.predict(rows), theirs)
    if kind in TREES:  # one addition per tree, in the original's order
        assert np.array_equal(values_of(parsed.info, parsed.scores(rows)), theirs)
    else:
        np.testing.assert_allclose(values_of(parsed.info, parsed.scores(rows)), theirs, rtol=1e-11, atol=1e-9)
    assert not values_agree(parsed, rows, theirs * (1 + 1e-9) + 1e-9).any()  # a wrong value shows
    assert replay(parsed, opened.original, limit=1_000).points >= 200


def test_families() -> None:
    for kind in REGRESSORS:
        parsed = open_model(fitted_regressor(kind)[0], replay=False).model
        if kind in LINEAR or kind in ("Poisson", "Gamma", "Tweedie", "ridge of log", "network without activation"):
            assert isinstance(parsed, LinearModel), kind
        else:
            assert isinstance(parsed, ReluNetwork if kind in NETWORKS else TreeEnsemble), kind


@pytest.mark.parametrize(
    "kind", ["Ridge", "Poisson", "tree", "random forest", "boosting", "network", *list(LINKED)[3:]]
)
def test_regions_hold_under_attack(kind: str) -> None:
    """Judged by the values that the original predicts."""
    model, frame = fitted_regressor(kind, piped=True)
    explainer, values = Explainer(model, Space.from_frame(frame)), model.predict(frame)
    row = frame.iloc[int(np.argmin(values))]
    low, high = (float(q) for q in np.quantile(values, [0.6, 0.95]))
    found = 0
    for target, room in product((Target(at_least=low), Target(at_least=low, at_most=high)), (Box(0.02), Ball(0.03))):
        region = explainer.explain(row, room, target, time_limit=20.0)
        if not isinstance(region, Region):
            continue
        cuts = explainer.model.cuts if isinstance(explainer.model, TreeEnsemble) else None
        attack_values(lambda X: model.predict(pd.DataFrame(X, columns=frame.columns)), region.body, target, cuts)
        assert region.predicted == pytest.approx(float(values.min()), rel=1e-9)
        found += 1
    assert found >= 3


def test_a_wrong_copy_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One leaf off by a millionth, and one weight by a billionth."""
    for kind in ("random forest", "Ridge"):
        model, _ = fitted_regressor(kind)
        opened = open_model(model, replay=False)
        parsed = opened.model
        if isinstance(parsed, TreeEnsemble):
            leaf = int(parsed.apply(table()[0].to_numpy()[:1])[0, 0])
            parsed.value[leaf] *= 1 + 1e-6
        else:
            assert isinstance(parsed, LinearModel)
            parsed.affine.weight[0, 0] *= 1 + 1e-9
        with pytest.raises(
            ReplayMismatch, match=r"the values differ by more than rounding. At .* the original predicts"
        ):
            replay(parsed, opened.original, data=table()[0])


# ---- refusals --------------------------------------------------------------------------------------------------------
def two_outputs(model: Any) -> Any:
    X, y = table()
    return fitted(model, X.to_numpy(), np.column_stack([y, -y]))


@pytest.mark.parametrize(
    "model",
    [LinearRegression(), DecisionTreeRegressor(), RandomForestRegressor(3), MLPRegressor(max_iter=2)],
    ids=lambda model: type(model).__name__,
)
def test_several_outputs_are_refused(model: Any) -> None:
    with pytest.raises(UnsupportedModel, match=r"predicts 2 numbers at once; .* fit one model per output"):
        open_model(two_outputs(model))


def test_a_column_of_one_output_is_read() -> None:
    X, y = table()
    model = LinearRegression().fit(X.to_numpy(), y[:, None])
    assert open_model(model).report is not None


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (
            TransformedTargetRegressor(Ridge(), transformer=StandardScaler()),
            r"transformer=StandardScaler\(\).*np.expm1",
        ),
        (TransformedTargetRegressor(Ridge(), func=np.sqrt, inverse_func=np.square), "inverse_func=square.*np.exp"),
        (
            TransformedTargetRegressor(
                TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp), func=np.log, inverse_func=np.exp
            ),
            "predicts through a function already",
        ),
        (GradientBoostingRegressor(init=Ridge(), n_estimators=2), "starts from another model's predictions"),
        (MLPRegressor(activation="tanh", max_iter=2), "not piecewise linear"),
        (DummyRegressor(), "cannot be read exactly"),
    ],
)
def test_other_regressors_are_refused_by_name(model: Any, words: str) -> None:
    X, y = table()
    with pytest.raises(UnsupportedModel, match=words):
        open_model(fitted(model, X.to_numpy(), y))


def test_questions_for_the_other_kind_of_model_name_the_cure() -> None:
    X, y = table()
    values = Explainer(Ridge().fit(X, y), Space.from_frame(X))
    classes = Explainer(LogisticRegression(max_iter=9000).fit(X, y > 140), Space.from_frame(X))
    row = X.iloc[0]
    for target in (None, 200, "high", Target(200), [1, 2]):
        with pytest.raises(InputError, match=r"regressor.*target=Target\(at_least=1000\)"):
            values.explain(row, target=target)
    with pytest.raises(InputError, match="200: sklearn Ridge is a regressor: it predicts numbers, not classes"):
        values.explain(row, target=200)
    for ask in (
        lambda target: values.certify(row, Box(0.01), target),
        lambda target: values.radius(row, target=target),
        lambda target: values.frontier(row, [0.01], target=target),
        lambda target: values.probability_kept(row, 0.1, target),
    ):
        for target in (None, "high"):
            with pytest.raises(InputError, match=r"regressor.*target=Target\(at_least=1000\)"):
                ask(target)
    with pytest.raises(InputError, match=r"is a classifier: .* Target\(True, probability=0.7\)"):
        classes.explain(row, target=Target(at_least=0.7))
    tree = Explainer(DecisionTreeClassifier(max_depth=2).fit(X, y > 140), Space.from_frame(X))
    with pytest.raises(InputError, match="is a classifier"):
        tree.radius(row, target=Target(at_most=1))
    positive = Explainer(fitted_regressor("Poisson", piped=True)[0], Space.from_frame(X))
    with pytest.raises(InputError, match=r"target at_most=-1: every value of .*PoissonRegressor.* is above 0"):
        positive.explain(row, target=Target(at_most=-1))
