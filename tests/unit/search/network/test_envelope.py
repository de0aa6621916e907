"""The linear bounds of a ReLU over a budgeted box: valid everywhere, and as low as a linear program can make them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from elbowroom.search.network.envelope import envelopes, relaxed_sum, supports


def random_set(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    caps = rng.uniform(0.0, 1.0, size)
    cost = (rng.random(size) < 0.8).astype(float)
    budget = float(rng.uniform(0.2, 1.2) * max(caps @ cost, 0.1))
    w = rng.uniform(0.0, 1.0, size) * caps
    if cost @ w > budget:
        w *= budget / (cost @ w)
    return caps, cost, budget, w


def inside(rng: np.random.Generator, caps: np.ndarray, cost: np.ndarray, budget: float, n: int) -> np.ndarray:
    W = rng.uniform(0.0, 1.0, (n, caps.size)) * caps * (rng.random((n, caps.size)) < 0.7)
    W[: n // 2] = np.where(W[: n // 2] > 0, caps, 0.0)
    used = W @ cost
    over = used > budget
    W[over] *= (budget / used[over])[:, None]
    return W


@pytest.mark.parametrize("seed", range(40))
def test_support_is_the_knapsack(seed: int) -> None:
    rng = np.random.default_rng(seed)
    caps, cost, budget, _ = random_set(rng, 6)
    g = rng.normal(size=6)
    best = linprog(-g, A_ub=cost[None], b_ub=[budget], bounds=np.column_stack([np.zeros(6), caps]))
    assert supports(g[None], caps, cost, budget)[0] == pytest.approx(-best.fun, abs=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_envelope_is_valid_and_tight(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 8))
    caps, cost, budget, w = random_set(rng, size)
    if seed % 4 == 0:
        caps, cost = np.full(size, budget), np.ones(size)  # a simplex
        w *= budget / max(budget, float(w.sum()))
    a, z0 = rng.normal(size=size), float(rng.normal() * 0.5)
    tops, slopes = envelopes(np.array([1, 0]), np.full(2, z0), np.vstack([a, a]), caps, cost, budget, w)
    alpha, beta = tops[0], slopes[0]
    assert tops[1] == 0.0 and not slopes[1].any()  # this one was not asked for
    W = inside(rng, caps, cost, budget, 400)
    assert (alpha + W @ beta >= np.maximum(0.0, z0 + W @ a) - 1e-12).all()
    # the concave envelope at w: maximize a.u + lam z0 over w = u + rest, u in lam P, rest in (1 - lam) P
    eye = np.eye(size)
    rows = [np.hstack([eye, -caps[:, None]]), np.append(cost, -budget)[None],
            np.hstack([-eye, caps[:, None]]), np.append(-cost, budget)[None]]  # fmt: skip
    limits = np.concatenate([np.zeros(size), [0.0], caps - w, [budget - cost @ w]])
    bounds = [(0.0, float(x)) for x in w] + [(0.0, 1.0)]
    best = linprog(-np.append(a, z0), A_ub=np.vstack(rows), b_ub=limits, bounds=bounds)
    assert best.status == 0
    assert alpha + beta @ w == pytest.approx(-best.fun, abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_relaxed_sum_is_above_the_network(seed: int) -> None:
    rng = np.random.default_rng(seed)
    caps, cost, budget, w = random_set(rng, 5)
    A, z0, out = rng.normal(size=(7, 5)), rng.normal(size=7) * 0.3, rng.normal(size=7)
    low, high = z0 - supports(-A, caps, cost, budget), z0 + supports(A, caps, cost, budget)
    slope, loss = np.empty(5), np.empty(7)
    intercept = relaxed_sum(out, z0, A, low, high, caps, cost, budget, w, slope, loss)
    W = inside(rng, caps, cost, budget, 400)
    true = np.maximum(z0 + W @ A.T, 0.0) @ out
    assert (intercept + W @ slope >= true - 1e-12).all()
    at_w = float(np.maximum(z0 + A @ w, 0.0) @ out)
    assert intercept + slope @ w - at_w == pytest.approx(loss.sum(), abs=1e-9)
    assert (loss >= -1e-12).all()
