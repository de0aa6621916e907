"""Table 3 with causes: both methods minimise the same action, and the table counts what the records say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.baselines.gradient import Network, Settings, robust_recourse
from benchmarks.causal import BMI, EDGES, GLUCOSE, INSULIN, Bench, _asked, effects_of
from benchmarks.report import sources
from benchmarks.report.causal import causal_section
from sklearn.linear_model import LogisticRegression

from elbowroom import Ball, Region
from tests.support.hostile import hostile_points

RHO = 0.05


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    """Six columns in which glucose and insulin follow exactly, but for rows that were not measured."""
    X = np.random.default_rng(0).uniform(0.1, 0.5, (80, 6))
    X[:, GLUCOSE] = 0.1 + 0.5 * X[:, BMI]
    X[:, INSULIN] = 0.05 + 0.8 * X[:, GLUCOSE]
    X[:5, INSULIN] = 0.0
    return X


def test_coefficients_come_from_the_measured_rows(table: np.ndarray) -> None:
    A = effects_of(table)
    assert A[GLUCOSE, BMI] == pytest.approx(0.5)
    assert A[INSULIN, GLUCOSE] == pytest.approx(0.8)
    assert np.count_nonzero(A) == len(EDGES)


def test_both_methods_count_the_same_action(table: np.ndarray) -> None:
    noise = np.random.default_rng(1).normal(0.0, 0.05, len(table))
    y = (table[:, BMI] + 2.0 * table[:, INSULIN] - table[:, 0] + noise > 0.6).astype(int)
    model = LogisticRegression(C=100.0).fit(table, y)
    bench, x = Bench(model, effects_of(table)), table[10]
    ours, *others = _asked(bench, x, RHO, 20.0, {"row": 10})
    answer = bench.caused.explain(x, room=Ball(RHO))
    assert isinstance(answer, Region)
    # by hand: |a|_1 is least on the column whose action moves the logit most, all effects counted
    slope = np.linalg.inv(np.eye(6) - bench.A).T @ model.coef_[0]
    sign = 1.0 if bench.wanted(x) == 1 else -1.0
    missing = RHO * np.linalg.norm(model.coef_[0]) - sign * model.decision_function(x[None])[0]
    assert ours["distance"] == pytest.approx(missing / np.abs(slope).max(), rel=1e-6)
    assert ours["distance"] == pytest.approx(answer.distance, rel=1e-9)
    assert ours["optimum"] == pytest.approx(answer.distance, rel=1e-9)
    assert ours["robust"] is True
    points = hostile_points(answer.body)
    assert (model.predict(points) == bench.wanted(x)).all()
    assert len(others) == 2
    for other in others:
        assert other["valid"]
        assert other["robust"] is True
        assert other["distance"] >= ours["distance"] * (1 - 1e-9)


def test_a_linear_model_is_a_network_without_a_hidden_layer(table: np.ndarray) -> None:
    model = LogisticRegression().fit(table, np.arange(len(table)) % 2)
    value, slope = Network.of(model, 0).logit(table[3])
    assert value == pytest.approx(-model.decision_function(table[3:4])[0])
    assert slope == pytest.approx(-model.coef_[0])


def test_the_gradient_is_taken_through_the_action() -> None:
    """The first column lowers the logit by itself and raises it by what follows: an action on it has to go up."""
    model = LogisticRegression().fit(np.array([[0.0, 0.0], [1.0, 1.0]]), [0, 1])
    model.coef_, model.intercept_ = np.array([[-1.0, 4.0]]), np.array([-3.0])
    x, reach = np.zeros(2), np.array([[1.0, 0.0], [0.5, 1.0]])
    center, content = robust_recourse(model, x, 1, 0.1, Settings(weight=0.01), reach)
    action = np.linalg.solve(reach, center - x)
    assert content
    assert action[0] > 0.0
    assert robust_recourse(model, x, 1, 0.1, Settings(weight=0.01))[0][0] < 0.0  # without causes the column falls
    assert float(model.decision_function(center[None])[0]) >= 0.1 * np.sqrt(17.0) * (1 - 1e-9)


def test_the_section_counts_proofs_and_leaves_the_rest_out_of_the_ratio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = {"data": "diabetes", "model": "NN-10", "rho": 0.1, "answered": True, "valid": True}
    records = [
        {**where, "row": 0, "method": "elbowroom", "robust": True, "distance": 0.5, "optimum": 0.5},
        {**where, "row": 1, "method": "elbowroom", "robust": True, "distance": 0.6, "optimum": None},
        {**where, "row": 0, "method": "gradient", "robust": True, "distance": 1.0, "optimum": 0.5},
        {**where, "row": 1, "method": "gradient", "robust": False, "distance": 9.0, "optimum": None},
    ]
    here = {"commit": "0" * 40, "command": "x", "python": "3.11", "machine": "a machine", "versions": {"scikit-learn": "1.5"}}  # fmt: skip
    graph = [{"cause": 5, "effect": 1, "coefficient": 0.25}, {"cause": 1, "effect": 4, "coefficient": 0.5}]
    monkeypatch.setattr(sources, "RESULTS", tmp_path)
    assert causal_section() == ""
    content = {"environment": here, "graph": graph, "limit": 20.0, "instances": records}
    (tmp_path / "causal.json").write_text(json.dumps(content))
    text = causal_section()
    assert "| diabetes NN-10 | 0.1 | 1 of 2 | 100 % | 100 % | 1.00 | 50 % | 100 % | 2.00 |" in text
    assert "by 0.250 a unit" in text
