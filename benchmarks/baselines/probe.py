"""PROBE's objective, rebuilt from its published description (Pawelczyk and others, probabilistically robust recourse).

Minimized is  loss(f(x), 1) + lambda ||x - factual||_1 + max(0, rate(x) - wanted rate)  by gradient steps, where rate(x) is the
recourse invalidation rate: the chance that x + s, s ~ N(0, sigma^2 I), does not have the wanted class. For a model that is
linear around x it is 1 - Phi(f(x) / (sigma ||grad f(x)||)), f the logit. lambda is lowered until the rate is reached, as
far as the formula says. Nothing is proven: for a model that is linear everywhere, and slips that are not clipped, the formula
is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr

Logit = Callable[[np.ndarray], tuple[float, np.ndarray]]  # value and gradient at a point


@dataclass(frozen=True)
class Settings:
    """Steps, their size, and the weights of the distance that are tried, from the largest."""

    steps: int = 600
    size: float = 0.01
    weights: tuple[float, ...] = (1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01)


@dataclass(frozen=True)
class Recourse:
    """A point, and what the formula says of it."""

    point: np.ndarray
    claimed_rate: float


def linear_logit(weight: np.ndarray, bias: float) -> Logit:
    """The logit of a linear model, for the class whose margin is weight . x + bias."""
    return lambda x: (float(weight @ x) + bias, weight)


def network_logit(weights: Sequence[np.ndarray], biases: Sequence[np.ndarray], sign: float) -> Logit:
    """The logit of a ReLU network as scikit-learn keeps it; its gradient is that of the linear piece around the point."""

    def logit(x: np.ndarray) -> tuple[float, np.ndarray]:
        hidden, on = x, []
        for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
            hidden = hidden @ weight + bias
            on.append(hidden > 0.0)
            hidden = np.maximum(hidden, 0.0)
        slope = weights[-1][:, 0]
        for weight, positive in zip(reversed(weights[:-1]), reversed(on), strict=True):
            slope = weight @ (slope * positive)
        return sign * float(hidden @ weights[-1][:, 0] + biases[-1][0]), sign * slope

    return logit


def rate(logit: Logit, x: np.ndarray, sigma: float) -> tuple[float, np.ndarray]:
    """The invalidation rate of the linearized model, and its gradient (of the logit alone)."""
    value, slope = logit(x)
    spread = sigma * max(float(np.linalg.norm(slope)), 1e-12)
    density = math.exp(-0.5 * (value / spread) ** 2) / math.sqrt(2.0 * math.pi)
    return 1.0 - float(ndtr(value / spread)), -density * slope / spread


def probe(
    logit: Logit, factual: np.ndarray, sigma: float, wanted_rate: float, settings: Settings | None = None
) -> Recourse:
    """The closest point that reaches the rate for some weight of the distance, or the last one."""
    how = settings or Settings()
    best: Recourse | None = None
    last = Recourse(factual, rate(logit, factual, sigma)[0])
    for weight in how.weights:
        x = _descended(logit, factual, sigma, wanted_rate, weight, how)
        last = Recourse(x, rate(logit, x, sigma)[0])
        if last.claimed_rate <= wanted_rate and (
            best is None or _length(last.point, factual) < _length(best.point, factual)
        ):
            best = last
    return best or last


def _length(x: np.ndarray, factual: np.ndarray) -> float:
    return float(np.abs(x - factual).sum())


def _descended(
    logit: Logit, factual: np.ndarray, sigma: float, wanted_rate: float, weight: float, how: Settings
) -> np.ndarray:
    """Adam; of the points on the way, the closest that reaches the rate (the last one if none does)."""
    x, first, second, kept = factual.copy(), np.zeros_like(factual), np.zeros_like(factual), None
    for step in range(1, how.steps + 1):
        value, slope = logit(x)
        missed, missed_slope = rate(logit, x, sigma)
        if missed <= wanted_rate and (kept is None or _length(x, factual) < _length(kept, factual)):
            kept = x.copy()
        gradient = -float(expit(-value)) * slope + weight * np.sign(x - factual)
        if missed > wanted_rate:
            gradient = gradient + missed_slope
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        x = x - how.size * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return x if kept is None else kept
