"""Regions of torch and ONNX models, attacked with hostile points and judged by the original's own call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from elbowroom import Ball, Box, Explainer, Region
from tests.support.hostile import attack


def _rows(width: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).normal(size=(300, width))
    return X, (X[:, 0] + X[:, 1] ** 2 - X[:, 2] > 0.5).astype(int)


def _attacked(model: Any, X: np.ndarray, rooms: tuple[Any, ...], predict: Any, questions: int = 2) -> int:
    """Regions for rows of the first class, all of them of the second one; how many points were asked."""
    explainer = Explainer(model)
    wanted = explainer.model.info.classes[1]
    rows = X[np.flatnonzero(explainer.predict(X) == explainer.model.info.classes[0])[:questions]]
    assert len(rows)
    asked = 0
    for row in rows:
        for room in rooms:
            answer = explainer.explain(row, room=room, target=wanted, time_limit=6)
            assert isinstance(answer, Region), answer
            asked += attack(predict, answer.certificate.body, wanted, getattr(explainer.model, "cuts", None))
    return asked


@pytest.mark.parametrize("double", [False, True], ids=["float32", "float64"])
@pytest.mark.parametrize("kind", ["10-50-2", "leaky", "custom", "linear"])
def test_regions_of_torch_modules(kind: str, double: bool) -> None:
    pytest.importorskip("torch")
    from elbowroom.importers import torch_network
    from tests.support.torch_networks import Custom, made, nn, trained

    make = {
        "10-50-2": lambda: nn.Sequential(nn.Linear(10, 50), nn.ReLU(), nn.Linear(50, 2)),
        "leaky": lambda: nn.Sequential(
            nn.BatchNorm1d(6), nn.Linear(6, 12), nn.LeakyReLU(0.1), nn.Dropout(0.2), nn.Linear(12, 1), nn.Sigmoid()
        ),
        "custom": Custom,
        "linear": lambda: nn.Linear(4, 2),
    }[kind]
    X, y = _rows({"10-50-2": 10, "linear": 4}.get(kind, 6))
    plain = made(make, double)
    inner = plain[:-1] if kind == "leaky" else plain  # the loss takes scores
    trained(inner, X, y, steps=60)
    model = plain.eval()
    rooms = (Box(0.05),) if kind == "custom" else (Box(0.05), Ball(0.1))
    asked = _attacked(model, X, rooms, lambda rows: torch_network.predict(model, rows), 2 if kind == "linear" else 1)
    assert asked > 1000


@pytest.mark.parametrize("kind", ["forest", "boosting", "extra trees that tie", "logistic", "network", "tree"])
def test_regions_of_onnx_models(kind: str) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    from elbowroom.importers import onnx_model
    from tests.support.onnx_models import exported

    model, _, X = exported(kind)
    scale = X.std(axis=0)
    rooms = (Box({f"x{i}": 0.03 * float(s) for i, s in enumerate(scale)}),)
    assert _attacked(model, X, rooms, lambda rows: onnx_model.predict(model, rows), 1) > 300


def test_a_float32_network_is_not_answered_where_its_numbers_overflow() -> None:
    pytest.importorskip("torch")
    from tests.support.torch_networks import made, nn, torch

    model = made(lambda: nn.Sequential(nn.Linear(2, 2, bias=False), nn.ReLU(), nn.Linear(2, 1)))
    with torch.no_grad():
        model[0].weight[:] = torch.tensor([[1e30, 0.0], [0.0, 1e30]])
        model[2].weight[:] = torch.tensor([[1e-30, -1e-30]])
        model[2].bias[:] = -1.0
    explainer = Explainer(model)
    small = explainer.explain({"x0": 0.0, "x1": 0.0}, room=Box(0.1), target=1, time_limit=5)
    assert isinstance(small, Region)
    large = explainer.explain({"x0": 0.0, "x1": 1e9}, room=Box(0.1), target=1, time_limit=5)
    assert not isinstance(large, Region)  # 1e30 * 1e9 is no float32 number
