"""The gradient method of Dominguez-Olmedo et al. (2022), adversarially robust recourse, for ReLU networks and l2 balls.

    loss(delta) = BCE(f(x + delta + s(delta)), wanted) + lambda |delta|_1,   s = rho g / |g|_2,  g = grad BCE at x + delta

delta starts at 0 and is moved by Adam. s is one first-order step to the worst case inside the ball. lambda is multiplied
by a decay after every outer round, so that validity wins in the end. A row is finished as soon as both x + delta and
x + delta + s have the wanted class. There is no guarantee: s need not be the worst point of the ball.

The hyper-parameters are the defaults of the authors' code: Adam with step 0.1 and the usual moments, lambda from 1,
decay 0.9, 100 outer rounds of 50 steps. Features are unlimited, as in the paper's tables, so that nothing is clipped.

With causes, delta is the action: x + delta above becomes x + R delta, where R = (I - A)^-1 says what an action reaches, the
gradient of the first term is R' times that of the features, and |delta|_1 counts the action alone. s stays a shift of the
features. A linear model is a network without a hidden layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Settings:
    step: float = 0.1
    weight: float = 1.0  # lambda at the start
    decay: float = 0.9
    rounds: int = 100
    steps: int = 50
    moments: tuple[float, float] = (0.9, 0.999)
    tiny: float = 1e-8


@dataclass(frozen=True, eq=False)
class Network:
    """A fitted `MLPClassifier` or linear classifier for two classes as the logit of the wanted class."""

    weights: list[np.ndarray]
    biases: list[np.ndarray]
    sign: float

    @classmethod
    def of(cls, model: Any, wanted: Any) -> Network:
        if len(model.classes_) != 2 or getattr(model, "activation", "relu") != "relu":
            raise ValueError("the gradient method is written for ReLU networks and linear models with two classes")
        sign = 1.0 if wanted == model.classes_[1] else -1.0
        if hasattr(model, "coef_"):
            return cls([model.coef_.T], [model.intercept_], sign)
        return cls(list(model.coefs_), list(model.intercepts_), sign)

    def logit(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """The logit of the wanted class and its gradient."""
        hidden, active = x, []
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            hidden = hidden @ weight + bias
            active.append(hidden > 0.0)
            hidden = hidden * active[-1]
        value = self.sign * float((hidden @ self.weights[-1] + self.biases[-1])[0])
        slope = self.sign * self.weights[-1][:, 0]
        for weight, on in zip(self.weights[-2::-1], active[::-1], strict=True):
            slope = weight @ (slope * on)
        return value, slope


def worst_shift(network: Network, x: np.ndarray, rho: float) -> np.ndarray:
    """One first-order step: BCE falls with the logit, so that the worst direction is against the logit's gradient."""
    slope = network.logit(x)[1]
    length = float(np.linalg.norm(slope))
    return -rho * slope / length if length > 0.0 else np.zeros_like(x)


def robust_recourse(
    model: Any,
    x: np.ndarray,
    wanted: Any,
    rho: float,
    settings: Settings | None = None,
    reach: np.ndarray | None = None,
) -> tuple[np.ndarray, bool]:
    """The centre that the method returns, and whether the method itself believes that it has succeeded.

    ``reach`` is R: what a unit of action on each column (in columns) adds to each feature. None: to that feature alone.
    """
    s = settings or Settings()
    network = Network.of(model, wanted)
    delta, first, second = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    weight, moves = s.weight, 0
    for _ in range(s.rounds):
        for _ in range(s.steps):
            center = x + (delta if reach is None else reach @ delta)
            shift = worst_shift(network, center, rho)
            if network.logit(center)[0] > 0.0 and network.logit(center + shift)[0] > 0.0:
                return center, True
            value, slope = network.logit(center + shift)
            slope = slope if reach is None else reach.T @ slope
            gradient = -slope / (1.0 + np.exp(np.clip(value, -700.0, 700.0))) + weight * np.sign(delta)
            moves += 1
            first = s.moments[0] * first + (1.0 - s.moments[0]) * gradient
            second = s.moments[1] * second + (1.0 - s.moments[1]) * gradient**2
            mean, spread = first / (1.0 - s.moments[0] ** moves), second / (1.0 - s.moments[1] ** moves)
            delta = delta - s.step * mean / (np.sqrt(spread) + s.tiny)
        weight *= s.decay
    return x + (delta if reach is None else reach @ delta), False
