"""Proofs on boxes for one hidden layer: any suggestion gives a valid value, and the search ends at the true minimum."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pytest

from elbowroom.certify.box_program import sorted_cuts
from elbowroom.certify.inputs import InputSet
from elbowroom.certify.network_boxes import BoxSearch, Neuron, Open, proven_value
from elbowroom.models import Affine
from elbowroom.problem import Body, Shape


def setting(seed: int, concave: bool = False) -> tuple[Neuron, InputSet, np.random.Generator]:
    rng = np.random.default_rng(seed)
    n, q = int(rng.integers(1, 6)), int(rng.integers(1, 12))
    out = rng.normal(size=q)
    f = Neuron(Affine.exact(rng.normal(size=(q, n)), rng.normal(size=q) * 0.5), -np.abs(out) if concave else out, 0.3)
    center, radius = rng.normal(size=n) * 0.3, rng.uniform(0.1, 1.0, n)
    whole = np.zeros(n, dtype=bool)
    body = Body(center, center - radius, center + radius, Shape.BOX, radius, whole)
    return f, InputSet.all_of(body), rng


def values(f: Neuron, X: np.ndarray) -> np.ndarray:
    return np.asarray(np.maximum(f.layer(X), 0.0) @ f.out + f.constant)


@pytest.mark.parametrize("seed", range(30))
def test_any_suggestion_is_a_proof(seed: int) -> None:
    f, inputs, rng = setting(seed)
    search = BoxSearch(f, 0.0, time.perf_counter() + 5.0, lambda x: None)
    at = search._interval(inputs)
    X = rng.uniform(inputs.lower, inputs.upper, (2000, inputs.lower.size))
    lowest = values(f, X).min()
    for _ in range(20):
        theta, beta = rng.normal(size=f.out.size), rng.normal(size=f.layer.weight.shape)
        assert proven_value(f, at, inputs, theta, beta) <= lowest


@pytest.mark.parametrize("seed", range(30))
def test_sorted_cuts_touch_the_envelope(seed: int) -> None:
    """At t the cut equals the largest concave interpolation of corner values (a linear program over corners)."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    a, t = rng.normal(size=n), rng.uniform(0, 1, n)
    z0 = -np.minimum(a, 0.0).sum() - rng.uniform(0.05, 0.95) * np.abs(a).sum()  # the sign is open
    low, high = z0 + np.minimum(a, 0).sum(), z0 + np.maximum(a, 0).sum()
    if not low < 0 < high:
        pytest.skip("the sign is known")
    slope = sorted_cuts(a[None], np.array([z0]), t)[0]
    top = max(np.maximum(-slope, 0).sum(), z0 + np.maximum(a - slope, 0).sum())
    corners = np.array(list(product((0.0, 1.0), repeat=n)))
    heights = np.maximum(z0 + corners @ a, 0.0)
    assert (top + corners @ slope >= heights - 1e-12).all()
    best = linprog(-heights, A_eq=np.vstack([corners.T, np.ones(len(corners))]), b_eq=np.append(t, 1.0))
    assert top + slope @ t == pytest.approx(-best.fun, abs=1e-8)


@pytest.mark.parametrize("concave", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_the_search_ends_at_the_minimum(seed: int, concave: bool) -> None:
    """Just below the minimum there is a proof, just above it a point."""
    f, inputs, rng = setting(seed, concave)
    seen: list[np.ndarray] = []
    BoxSearch(f, np.inf, time.perf_counter() + 0.3, seen.append).settle(inputs)
    X = np.vstack([rng.uniform(inputs.lower, inputs.upper, (3000, inputs.lower.size)), np.array(seen)])
    lowest = float(values(f, X).min())
    proof = BoxSearch(f, lowest - 1e-3, time.perf_counter() + 20.0, lambda x: None).settle(inputs)
    assert not isinstance(proof, Open)
    assert lowest - 1e-3 <= proof <= lowest + 1e-9
    best: list[float] = []
    wrong = BoxSearch(f, lowest + 1e-3, time.perf_counter() + 0.3, lambda x: best.append(float(values(f, x[None])[0])))
    assert isinstance(wrong.settle(inputs), Open)
    assert min(best) < lowest + 1e-3


def test_a_minimum_that_only_touches_is_a_matter_of_precision() -> None:
    """f(x) = |x| reaches 0 and no more: no time limit helps, and the search says so instead of running on."""
    f = Neuron(Affine.exact(np.array([[1.0], [-1.0]]), np.zeros(2)), np.ones(2), 0.0)
    body = Body(
        np.array([-0.1]), np.array([-1.0]), np.array([0.7]), Shape.BOX, np.array([1.0]), np.zeros(1, dtype=bool)
    )
    assert BoxSearch(f, 0.0, time.perf_counter() + 60.0, lambda x: None).settle(InputSet.all_of(body)) is Open.PRECISION
    proof = BoxSearch(f, -1e-9, time.perf_counter() + 60.0, lambda x: None).settle(InputSet.all_of(body))
    assert not isinstance(proof, Open)
    assert -1e-9 <= proof <= 0.0


def test_a_spent_deadline_is_told_apart() -> None:
    """The same spent deadline: time where a part could still be divided, precision where none can, a proof if one look is enough."""
    f, inputs, _ = setting(3)
    assert BoxSearch(f, np.inf, time.perf_counter() - 1.0, lambda x: None).settle(inputs) is Open.TIME
    f = Neuron(
        Affine.exact(np.array([[1.0, 0.3], [-1.0, 0.2], [0.4, -1.0]]), np.zeros(3)), np.array([1.0, 1.0, -1.0]), 0.0
    )
    body = Body(np.zeros(2), -np.ones(2), np.ones(2), Shape.BOX, np.ones(2), np.zeros(2, dtype=bool))
    late = BoxSearch(f, 10.0, time.perf_counter() - 1.0, lambda x: None)
    assert late.settle(InputSet.all_of(body)) is Open.TIME
    linear = Neuron(Affine.exact(np.array([[1.0, 0.5]]), np.array([3.0])), np.ones(1), 0.0)  # x0 + x1 / 2 + 3 > 0
    late = BoxSearch(linear, 10.0, time.perf_counter() - 1.0, lambda x: None)
    assert late.settle(InputSet.all_of(body)) is Open.PRECISION
    late = BoxSearch(linear, 1.0, time.perf_counter() - 1.0, lambda x: None)
    assert late.settle(InputSet.all_of(body)) == pytest.approx(1.5)
