"""Small random networks, and the truth about them by exhaustive means."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from elbowroom.models import Affine, Decision, Link, ModelInfo, ReluNetwork
from elbowroom.problem import RecourseProblem
from tests.support.referee import Engine, Run, run_engine


def network(rng: np.random.Generator, features: int, hidden: tuple[int, ...], classes: int = 2) -> ReluNetwork:
    """Random weights; two classes have one score, more classes one each."""
    outputs = 1 if classes == 2 else classes
    sizes = (features, *hidden, outputs)
    layers = tuple(
        Affine.exact(rng.normal(size=(b, a)) / np.sqrt(a) * 1.5, rng.normal(size=b) * 0.7) for a, b in pairwise(sizes)
    )
    decision = Decision.POSITIVE if classes == 2 else Decision.ARGMAX
    info = ModelInfo(
        tuple(f"x{i}" for i in range(features)), tuple(range(classes)), decision, Link.NONE, "a random network"
    )
    return ReluNetwork(info, layers)


def solve(problem: RecourseProblem, seconds: float = 90.0, seed: int = 0) -> Run:
    return run_engine(Engine.NETWORK, problem, seconds=seconds, seed=seed)


def truth_on_whole_numbers(problem: RecourseProblem) -> float:
    """The smallest distance by trying every centre and every point of its region (all columns whole and bounded)."""
    space = problem.space
    axes = [np.arange(low, high + 1.0) for low, high in zip(problem.lower, problem.upper, strict=True)]
    points = np.array(list(product(*axes))).reshape(-1, len(axes))
    for members in space.members:
        points = points[points[:, members].sum(axis=1) == 1.0]
    if not len(points):
        return np.inf
    wanted = problem.model.info.labels_of(problem.model.scores(points)) == problem.target_index
    best = np.inf
    for center in points:
        distance = problem.measure(center)
        if distance < best and problem.admissible(center) and wanted[problem.body(center).contains(points)].all():
            best = distance
    return best


def truth_on_a_line(problem: RecourseProblem) -> float:
    """One numeric feature: the margins are piecewise linear, so the wrong points are intervals with known ends."""
    model = problem.model
    low, high = max(float(problem.lower[0]), -1e5), min(float(problem.upper[0]), 1e5)
    kinks = _kinks(model, low, high)
    sign = 1.0 if problem.target_index == 1 else -1.0
    values = sign * model.scores(np.array(kinks)[:, None])[:, 0]
    bad: list[tuple[float, float]] = []
    for a, b, fa, fb in zip(kinks[:-1], kinks[1:], values[:-1], values[1:], strict=True):
        if fa <= 0 and fb <= 0:
            bad.append((a, b))
        elif fa <= 0 < fb:
            bad.append((a, a + (b - a) * fa / (fa - fb)))
        elif fb <= 0 < fa:
            bad.append((a + (b - a) * fa / (fa - fb), b))
    merged: list[tuple[float, float]] = []
    for start, end in bad:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    # at an inner end the margin is 0, and centres may come as close as they like; at the limits they may not
    bad = [(-np.inf if start <= low else start, np.inf if end >= high else end) for start, end in merged]
    down, up = float(problem.walls.down[0]), float(problem.walls.up[0])
    x0 = float(problem.factual[0])
    candidates = [x0, low, high, *(end + down for _, end in bad), *(start - up for start, _ in bad)]
    best = np.inf
    for x in candidates:
        if low <= x <= high and all(end <= x - down + 1e-12 or start >= x + up - 1e-12 for start, end in bad):
            best = min(best, problem.measure(np.array([x])))
    return best


def _kinks(model: ReluNetwork, low: float, high: float) -> list[float]:
    """Where any neuron changes its sign on [low, high], layer by layer; the network is linear in between."""
    points = [low, high]
    for depth in range(1, len(model.layers)):
        found = set(points)
        z = np.array(points)[:, None]
        for k in range(depth):
            z = model.layers[k](z)
            if k < depth - 1:
                z = np.maximum(z, 0.0)
        for a, b, za, zb in zip(points[:-1], points[1:], z[:-1], z[1:], strict=True):
            for p, q in zip(za, zb, strict=True):
                if p * q < 0:
                    found.add(a + (b - a) * p / (p - q))
        points = sorted(found)
    return points
