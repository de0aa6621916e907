"""Causes and covariances against enumeration: small random questions, and what looking at every cell says."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy.optimize import lsq_linear

from elbowroom import Box, Causal, Covariance, Explainer, Feature, Region, Space, Status
from elbowroom.models import LinearModel, Model, ReluNetwork, TreeEnsemble
from tests.support import cell_truth as truth
from tests.support.hostile import attack
from tests.support.linear_problems import linear_model
from tests.support.small_models import random_trees
from tests.support.small_networks import network


def _space(rng: np.random.Generator, n: int) -> Space:
    features = []
    for f in range(n):
        weight, scale = (float(v) for v in rng.choice([0.5, 1.0, 2.0], 2))
        features.append(Feature(f"x{f}", lower=-4.0, upper=5.0, weight=weight, scale=scale))
    return Space(tuple(features))


def _causes(rng: np.random.Generator, n: int) -> Causal:
    """A random graph from columns to later ones in a random order."""
    order, graph = rng.permutation(n), {}
    for i, j in combinations(range(n), 2):
        if rng.random() < 0.7:
            graph.setdefault(f"x{order[i]}", {})[f"x{order[j]}"] = float(rng.choice([-1.5, -0.5, 0.25, 1.0, 2.0]))
    if not graph:
        graph = {f"x{order[0]}": {f"x{order[1]}": 1.0}}
    acts = None if rng.random() < 0.4 else [f"x{f}" for f in range(n) if rng.random() < 0.7 or f == order[0]]
    return Causal(graph, acts)


def _model(rng: np.random.Generator, n: int, family: str) -> Model:
    if family == "linear":
        return linear_model(rng.normal(size=(1, n)), rng.normal(size=1) * 2)
    if family == "network":
        return network(rng, n, (3,))
    cuts = [np.sort(rng.uniform(-3.0, 3.5, 3)) for _ in range(n)]
    return random_trees(rng, n, int(rng.integers(1, 4)), 2, cuts, exact=bool(rng.random() < 0.5))


def _closest(model: Model, sign: float, space: Space, factual: np.ndarray, radius: np.ndarray, norm: str) -> float:
    """The least cost of actions, over all cells."""
    causes = space.causes
    assert causes is not None
    n = factual.size
    A = np.zeros((n, n))
    for cause, effect, coefficient in causes.edges:
        A[int(effect[1:]), int(cause[1:])] = coefficient
    forms = np.eye(n) - A
    slant = (space.weight / space.scale)[:, None] * forms
    idle = [f for f in range(n) if causes.acts is not None and f"x{f}" not in causes.acts]
    still = [(forms[f], float(forms[f] @ factual)) for f in idle]
    lower, upper, best = space.lower, space.upper, np.inf
    match model:
        case TreeEnsemble():
            label = 1 if sign > 0 else 0

            def good(c: np.ndarray) -> bool:
                return truth.room_is_good(model, label, np.maximum(c - radius, lower), np.minimum(c + radius, upper))

            for low, high in truth.cells(truth.tree_breaks(model, radius, lower, upper), good):
                best = min(best, truth.least_cost(slant, factual, norm, low, high, still=still))
        case LinearModel():
            for low, high, row in truth.linear_cells(model, sign, radius, lower, upper):
                best = min(best, truth.least_cost(slant, factual, norm, low, high, [row], still))
        case ReluNetwork():
            for rows in truth.network_cells(model, sign):
                best = min(best, truth.least_cost(slant, factual, norm, lower, upper, rows, still))
        case _:
            raise AssertionError(type(model))
    return best


def causes(seed: int, family: str | None = None) -> str:
    """One question about actions on causes; how it ended."""
    rng = np.random.default_rng([2105, seed])
    family = family or str(rng.choice(["linear", "trees", "trees", "network"]))
    n = int(rng.integers(2, 4))
    space = replace(_space(rng, n), causes=_causes(rng, n))
    model, factual = _model(rng, n, family), rng.uniform(-3, 3, n).round(3)
    radius = np.zeros(n) if family == "network" else rng.choice([0.0, 0.05, 0.3], n)
    norm = str(rng.choice(["l1", "l1", "linf"]))
    now = int(model.info.labels_of(model.scores(factual[None]))[0])
    sign = -1.0 if now == 1 else 1.0
    room = Box({f"x{f}": float(radius[f]) for f in range(n)})
    answer = Explainer(model, space).explain(factual, room, 1 - now, norm, time_limit=30.0)
    expected = _closest(model, sign, space, factual, radius, norm)
    said = f"causes, seed {seed}, {family}, {norm}: {answer.status.name}"
    assert answer.lower_bound <= expected + 1e-9 * max(1.0, expected), (said, answer.lower_bound, expected)
    if not isinstance(answer, Region):
        assert np.isinf(expected) or answer.status is Status.UNKNOWN, (said, expected, answer.reason)
        return "none" if answer.status is Status.NONE_EXISTS else "unknown"
    tolerance = 1e-5 if family != "trees" else 1e-7  # of Algorithm 1 on continuous scores, and of rows on trees
    assert abs(answer.distance - expected) <= tolerance * max(1.0, expected), (said, answer.distance, expected)
    actions = answer.actions
    assert actions is not None
    idle = [] if space.causes is None or space.causes.acts is None else [
        name for name in space.names if name not in space.causes.acts
    ]  # fmt: skip
    assert (actions[idle] == 0.0).all(), (said, actions)
    cuts = model.cuts if isinstance(model, TreeEnsemble) else None
    attack(lambda X: model.info.labels_of(model.scores(X)), answer.body, 1 - now, cuts)
    return "found" if answer.status is Status.OPTIMAL else "found with a gap"


def covariance(seed: int) -> str:
    """One question about the Mahalanobis distance; trees by least squares in every cell, linear models in closed form."""
    rng = np.random.default_rng([2106, seed])
    family, n = str(rng.choice(["linear", "trees"])), int(rng.integers(2, 4))
    names = tuple(f"x{f}" for f in range(n))
    mixed = rng.normal(size=(n, n))
    S = mixed @ mixed.T + 0.3 * np.eye(n)
    S = (S + S.T) / 2
    wide = family == "linear"
    space = Space(
        tuple(Feature(name) if wide else Feature(name, lower=-4.0, upper=5.0) for name in names),
        covariance=Covariance(names, tuple(map(tuple, S.tolist()))),
    )
    model, factual = _model(rng, n, family), rng.uniform(-3, 3, n).round(3)
    radius = rng.choice([0.0, 0.05, 0.3], n)
    now = int(model.info.labels_of(model.scores(factual[None]))[0])
    room = Box(dict(zip(names, radius.tolist(), strict=True)))
    answer = Explainer(model, space).explain(factual, room, 1 - now, "l2", time_limit=30.0)
    W, expected = np.linalg.inv(np.linalg.cholesky(S)), np.inf
    if isinstance(model, LinearModel):
        w, sign = model.affine.weight[0], 1.0 if now == 0 else -1.0
        need = np.abs(w) @ radius - sign * float(w @ factual + model.affine.bias[0])
        expected = max(need, 0.0) / float(np.sqrt(w @ S @ w))
    elif isinstance(model, TreeEnsemble):
        lower, upper = space.lower, space.upper

        def good(c: np.ndarray) -> bool:
            return truth.room_is_good(model, 1 - now, np.maximum(c - radius, lower), np.minimum(c + radius, upper))

        for low, high in truth.cells(truth.tree_breaks(model, radius, lower, upper), good):
            fit = lsq_linear(W, W @ factual, (low, high), tol=1e-14)
            expected = min(expected, float(np.linalg.norm(W @ (fit.x - factual))))
    said = f"covariance, seed {seed}, {family}: {answer.status.name}"
    assert answer.lower_bound <= expected + 1e-7 * max(1.0, expected), (said, answer.lower_bound, expected)
    if not isinstance(answer, Region):
        assert np.isinf(expected) or answer.status is Status.UNKNOWN, (said, expected, answer.reason)
        return "none" if answer.status is Status.NONE_EXISTS else "unknown"
    assert abs(answer.distance - expected) <= 1e-5 * max(1.0, expected), (said, answer.distance, expected)
    cuts = model.cuts if isinstance(model, TreeEnsemble) else None
    attack(lambda X: model.info.labels_of(model.scores(X)), answer.body, 1 - now, cuts)
    return "found" if answer.status is Status.OPTIMAL else "found with a gap"
