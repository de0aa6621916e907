"""Corner by corner: whatever the multipliers, what is proven holds, and good ones prove a lot."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pytest

from elbowroom.certify.corners import proven_at_corners
from elbowroom.certify.inputs import InputSet
from elbowroom.certify.network_boxes import BoxSearch, Neuron
from elbowroom.models import Affine
from elbowroom.problem import Body, Shape

PLENTY = 1e8


def setting(seed: int, convex: int) -> tuple[Neuron, InputSet, np.random.Generator]:
    rng = np.random.default_rng(seed)
    n, q = int(rng.integers(1, 7)), int(rng.integers(2, 12))
    out = -rng.uniform(0.1, 1.0, q)
    out[:convex] *= -1.0
    f = Neuron(Affine.exact(rng.normal(size=(q, n)), rng.normal(size=q) * 0.3), out, 0.2)
    center, radius = rng.normal(size=n) * 0.3, rng.uniform(0.1, 1.0, n)
    body = Body(center, center - radius, center + radius, Shape.BOX, radius, np.zeros(n, dtype=bool))
    return f, InputSet.all_of(body), rng


def values(f: Neuron, X: np.ndarray) -> np.ndarray:
    return np.asarray(np.maximum(f.layer(X), 0.0) @ f.out + f.constant)


def corners(inputs: InputSet) -> np.ndarray:
    ends = np.array(list(product((False, True), repeat=inputs.lower.size)))
    return np.where(ends, inputs.upper, inputs.lower)


def prove(f: Neuron, inputs: InputSet, theta: np.ndarray, beta: np.ndarray, needed: float, work: float = PLENTY):
    at = BoxSearch(f, needed, time.perf_counter() + 5.0, lambda x: None)._interval(inputs)
    return proven_at_corners(f.layer, f.out, f.constant, at, inputs, theta, beta, needed, work)


@pytest.mark.parametrize("convex", [0, 1, 3])
@pytest.mark.parametrize("seed", range(30))
def test_what_is_proven_holds(seed: int, convex: int) -> None:
    f, inputs, rng = setting(seed, convex)
    X = np.vstack([corners(inputs), rng.uniform(inputs.lower, inputs.upper, (3000, inputs.lower.size))])
    lowest = float(values(f, X).min())
    for _ in range(10):
        theta, beta = rng.uniform(-0.5, 1.5, f.out.size), rng.normal(size=f.layer.weight.shape)
        assert prove(f, inputs, theta, beta, lowest + 1e-9) is None
        for short in (1e-6, 0.1, 3.0):
            proven = prove(f, inputs, theta, beta, lowest - short)
            assert proven is None or lowest - short <= proven <= lowest


@pytest.mark.parametrize("seed", range(30))
def test_a_concave_function_is_decided_whatever_the_multipliers(seed: int) -> None:
    """Its minimum lies at a corner, and at corners the bound is exact."""
    f, inputs, rng = setting(seed, 0)
    lowest = float(values(f, corners(inputs)).min())
    theta, beta = np.zeros(f.out.size), rng.normal(size=f.layer.weight.shape)
    proven = prove(f, inputs, theta, beta, lowest - 1e-9)
    assert proven is not None and lowest - 1e-9 <= proven <= lowest


def test_no_work_no_proof() -> None:
    f, inputs, _ = setting(3, 0)
    lowest = float(values(f, corners(inputs)).min())
    bad = np.full(f.layer.weight.shape, 50.0)
    assert prove(f, inputs, np.zeros(f.out.size), bad, lowest - 1e-9, work=1.0) is None


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_nonsense_proves_nothing(wrong: float) -> None:
    f, inputs, _ = setting(1, 0)
    beta = np.full(f.layer.weight.shape, wrong)
    with np.errstate(invalid="ignore"):
        assert prove(f, inputs, np.zeros(f.out.size), beta, -100.0) is None
    assert prove(f, inputs, np.zeros(f.out.size), np.zeros_like(beta), np.inf) is None


def test_a_large_concave_function_is_settled() -> None:
    """2^28 corners: far too many for splitting with a program per part, easy with shared multipliers."""
    rng = np.random.default_rng(5)
    n, q = 28, 42
    f = Neuron(Affine.exact(rng.normal(size=(q, n)) * 0.3, rng.normal(size=q) * 0.2), -rng.uniform(0.1, 1.0, q), 0.0)
    center, radius = np.zeros(n), np.full(n, 0.15)
    body = Body(center, center - radius, center + radius, Shape.BOX, radius, np.zeros(n, dtype=bool))
    inputs = InputSet.all_of(body)
    low: list[float] = []
    BoxSearch(f, np.inf, time.perf_counter() + 0.5, lambda x: low.append(float(values(f, x[None])[0]))).settle(inputs)
    lowest = min(low)
    proof = BoxSearch(f, lowest - 0.02, time.perf_counter() + 60.0, lambda x: None).settle(inputs)
    assert isinstance(proof, float) and lowest - 0.02 <= proof <= lowest
