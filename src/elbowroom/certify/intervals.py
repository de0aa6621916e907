"""Sound bounds on ReLU networks: intervals of every neuron, and linear bounds with free multipliers.

Notation: z_1 = W_1 x + b_1, h_k = relu(z_k), z_{k+1} = W_{k+1} h_k + b_{k+1}. To bound c . h_k + d from below over a set
of inputs with known intervals z_i in [l_i, u_i], go backwards: for ANY multipliers m_i

    lambda . h_k  =  m . z_k + sum_i (lambda_i relu(z_i) - m_i z_i)  >=  m . z_k + sum_i min(at l_i, at 0, at u_i),

because a function of one variable that is linear on both sides of 0 takes its minimum over an interval at an end or at
0; then m . z_k = (m W_k) . h_{k-1} + m . b_k, and so on down to a linear function of x. This is the Lagrangian dual of
the triangle relaxation: m = lambda times the slope of a relaxing line gives CROWN's bounds, an LP's dual values give
the LP's bound, and intervals cut by a decided phase (z >= 0 or z <= 0) give the bounds of branch and bound. Whatever
the multipliers, the result is a proof; every rounding of this computation is bounded and subtracted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elbowroom.certify.inputs import InputSet
from elbowroom.models import Affine
from elbowroom.numerics import TINY, Bools, Floats, gamma

_ROOM_FOR_ERRORS = 1.01  # error terms are sums of nonnegative floats: 1 % outweighs their own rounding


@dataclass(frozen=True, eq=False)
class Interval:
    """low <= z <= high for every neuron of a layer, before its ReLU."""

    low: Floats
    high: Floats

    @property
    def empty(self) -> bool:
        return bool((self.low > self.high).any())

    @property
    def activation(self) -> Floats:
        """Upper bounds of relu(z)."""
        return np.maximum(self.high, 0.0)

    @property
    def unstable(self) -> Bools:
        return (self.low < 0.0) & (self.high > 0.0)


@dataclass(frozen=True, eq=False)
class LinearBound:
    """Lower bounds of several rows, with the coefficients that gave them."""

    value: Floats  # (rows,)
    inputs: Floats  # (rows, features): the linear function of x
    slopes: tuple[Floats, ...]  # lambda of every hidden layer, first layer first
    multipliers: tuple[Floats, ...]  # m of every hidden layer
    least: tuple[Floats, ...]  # min of lambda relu(z) - m z of every neuron


def lower_bound(
    rows: Floats,
    constants: Floats,
    hidden: tuple[Affine, ...],
    intervals: list[Interval],
    inputs: InputSet,
    multipliers: Sequence[Floats] | None = None,
) -> LinearBound:
    """Lower bounds of rows @ relu(z_k) + constants, k = len(intervals); without multipliers: CROWN's choice."""
    slopes = rows
    total, size, error = constants.copy(), np.abs(constants), np.zeros(len(rows))
    used: list[tuple[Floats, Floats, Floats]] = []
    for k in reversed(range(len(intervals))):
        at, layer = intervals[k], hidden[k]
        m = _crown(slopes, at) if multipliers is None else multipliers[k]
        low_value = slopes * np.maximum(at.low, 0.0) - m * at.low
        high_value = slopes * np.maximum(at.high, 0.0) - m * at.high
        least = np.minimum(low_value, high_value)
        least = np.where((at.low <= 0.0) & (at.high >= 0.0), np.minimum(least, 0.0), least)
        used.append((slopes, m, least))
        reach = (np.abs(slopes) + np.abs(m)) * np.maximum(np.abs(at.low), np.abs(at.high))
        # Where m equals the slope of a decided neuron the two terms cancel exactly, without any rounding.
        exact = ((m == slopes) & (at.low >= 0.0)) | ((m == 0.0) & (at.high <= 0.0))
        error += gamma(at.low.size + 8) * np.where(exact, 0.0, reach).sum(axis=1)
        relaxed, bias = least.sum(axis=1), m @ layer.bias
        total += relaxed + bias
        size += np.abs(relaxed) + np.abs(bias)
        bound_of_previous = inputs.magnitude if k == 0 else intervals[k - 1].activation
        error += gamma(at.low.size + 4) * (
            np.abs(m) @ np.abs(layer.bias) + (np.abs(m) @ np.abs(layer.weight)) @ bound_of_previous
        )
        slopes = m @ layer.weight
    last = inputs.minima(slopes)
    size += np.abs(last)
    error += gamma(3 * len(intervals) + 6) * size
    of_layers = tuple(zip(*reversed(used), strict=True))
    return LinearBound(total + last - error * _ROOM_FOR_ERRORS - TINY, slopes, *of_layers)


def _crown(slopes: Floats, at: Interval) -> Floats:
    """Slope times that of a line below relu (0 or 1, whichever errs less) or above it (the chord)."""
    width = np.where(at.unstable, at.high - at.low, 1.0)
    chord = np.where(at.unstable, at.high / width, 1.0)
    below = np.where(at.unstable, (at.high > -at.low).astype(np.float64), 1.0)
    return np.where(at.high <= 0.0, 0.0, slopes * np.where(slopes >= 0.0, below, chord))


def propagate(
    hidden: tuple[Affine, ...],
    inputs: InputSet,
    phases: list[Floats],
    known: list[Interval] | None = None,
    unchanged: int = 0,
) -> list[Interval] | None:
    """Intervals of all hidden neurons; phases (+1: z >= 0, -1: z <= 0, 0: open) cut them. None: proven empty.

    ``known`` intervals of a larger set are kept where they are tighter; the first ``unchanged`` layers are known to
    have no better ones.
    """
    found: list[Interval] = []
    for k, layer in enumerate(hidden):
        if known is not None and k < unchanged:
            low, high = known[k].low, known[k].high
        else:
            low, high = _layer(k, layer, hidden, found, inputs)
            if known is not None:
                low, high = np.fmax(low, known[k].low), np.fmin(high, known[k].high)
        low = np.where(phases[k] > 0, np.maximum(low, 0.0), low)
        high = np.where(phases[k] < 0, np.minimum(high, 0.0), high)
        at = Interval(low, high)
        if at.empty:
            return None
        found.append(at)
    return found


def _layer(
    k: int, layer: Affine, hidden: tuple[Affine, ...], before: list[Interval], inputs: InputSet
) -> tuple[Floats, Floats]:
    """Bounds of the neurons of layer k from those of the layers before."""
    if k == 0:
        low, high = inputs.minima(layer.weight), -inputs.minima(-layer.weight)
        slack = 2 * gamma(4) * (np.maximum(np.abs(low), np.abs(high)) + np.abs(layer.bias)) + TINY
        return low + layer.bias - slack, high + layer.bias + slack
    below = lower_bound(layer.weight, layer.bias, hidden[:k], before, inputs)
    above = lower_bound(-layer.weight, -layer.bias, hidden[:k], before, inputs)
    plain_low, plain_high = _plain(layer, before[-1])
    return np.fmax(below.value, plain_low), np.fmin(-above.value, plain_high)


def _plain(layer: Affine, before: Interval) -> tuple[Floats, Floats]:
    """Interval arithmetic: every activation at its own worst end."""
    low, high = np.maximum(before.low, 0.0), before.activation
    positive, negative = np.maximum(layer.weight, 0.0), np.minimum(layer.weight, 0.0)
    size = np.abs(layer.weight) @ high + np.abs(layer.bias)
    slack = gamma(2 * high.size + 8) * size * _ROOM_FOR_ERRORS + TINY
    return (
        positive @ low + negative @ high + layer.bias - slack,
        positive @ high + negative @ low + layer.bias + slack,
    )


def evaluation_error(layers: tuple[Affine, ...], inputs: InputSet, intervals: list[Interval]) -> Floats:
    """How far the original's floating-point outputs may stray from the real network's, anywhere in the set.

    |computed z - z| <= |W| e + own, own = slope (|h| + e) + constant, where e is the error of the activations before; ReLU
    does not enlarge it. The length of the vector of errors is carried along: it grows by the spectral norm of W at most,
    and every error of the next layer is at most the length of its row times it. Of both bounds the smaller one counts:
    deep networks of float32 gain a factor of ten and more. Infinite where the original's own numbers may overflow.
    """
    error, size, length = np.zeros(inputs.lower.size), inputs.magnitude, 0.0
    for k, layer in enumerate(layers):
        if layer.overflows(size + error):
            return np.full(layers[-1].bias.size, np.inf)
        own = layer.error_slope @ (size + error) + layer.error_constant
        passed_on = np.minimum(np.abs(layer.weight) @ error, layer.row_lengths * length)
        error = (passed_on + own) * _ROOM_FOR_ERRORS + TINY
        if k < len(intervals):
            grown = layer.spectral_norm * length if length > 0.0 else 0.0
            length = min(grown + float(np.hypot.reduce(own)), float(np.hypot.reduce(error))) * _ROOM_FOR_ERRORS + TINY
            size = intervals[k].activation
    return error
