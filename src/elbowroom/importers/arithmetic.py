"""Layers of other libraries' networks, one after another, with every rounding of float32 or float64 counted.

Let u be the unit roundoff and g(n) = n u / (1 - n u). A layer v -> W v + b of n inputs, summed in any order and blocks, fused
or not, is off by at most g(n + 4) (|W| |v| + |b|), unless a number falls below the smallest normal one, t: it may be cut to
0, whether it is an input, a weight, a product or a sum. The second effect costs |W| t + (2 n + 2) t, and the weights below t.
Steps without a ReLU between them are multiplied out; `Affine.then` adds their errors up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from elbowroom.errors import UnsupportedModel, warn
from elbowroom.importers.replay_errors import network_error
from elbowroom.models.base import ModelInfo
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.network import ReluNetwork
from elbowroom.numerics import EPS, TINY, Floats, gamma

MOST_NUMBERS: Final = 50_000_000  # entries of one matrix
_TRIED, _COARSE = 64, 0.05  # rows, and the share of the outputs' spread from which on rounding is worth a warning
_OF_FOLDING: Final = gamma(8)  # our own roundings while a scale is multiplied out


@dataclass(frozen=True)
class Arithmetic:
    """How a library computes. ``label_error``: what it may lose between scores and label where it compares probabilities."""

    name: str
    unit: float
    smallest: float  # the smallest normal number
    largest: float | None  # numbers up to this do not overflow, whatever is rounded; None: float64, watched elsewhere
    label_error: float

    def gamma(self, operations: int) -> float:
        bound = operations * self.unit
        if bound >= 0.01:
            raise UnsupportedModel(
                f"a layer of {operations} inputs is too wide for {self.name}: its sums are not reliable"
            )
        return bound / (1.0 - bound)

    def affine(self, weight: Floats, bias: Floats) -> Affine:
        """The map W v + b with the error of this arithmetic."""
        weight, bias = np.array(weight, dtype=np.float64), np.array(bias, dtype=np.float64)
        size, inputs = np.abs(weight), weight.shape[1]
        relative = self.gamma(inputs + 4)
        slope = np.where(size < self.smallest, size, size * relative)
        constant = np.abs(bias) * relative + (size.sum(axis=1) + 2 * inputs + 2) * self.smallest * 1.01
        return self.watched(Affine(weight, bias, slope, constant), size, np.abs(bias))

    def watched(self, layer: Affine, slope: Floats, constant: Floats) -> Affine:
        """The layer with the share of the range that inputs, and sums of at most slope |v| + constant, can use up."""
        if self.largest is None:
            return layer
        widest = (slope.max(axis=0, initial=0.0) + 1.0) / self.largest
        most = float(constant.max(initial=0.0)) / self.largest
        if layer.range_slope is not None:
            widest, most = widest + layer.range_slope, most + layer.range_constant
        return replace(layer, range_slope=widest, range_constant=most)


SINGLE: Final = Arithmetic("float32", 2.0**-24, 2.0**-126, 2.0**127, 2.0**-21)
DOUBLE: Final = Arithmetic("float64", EPS, TINY, None, 16 * EPS)


class Chain:
    """The layers so far: finished ones, each followed by a ReLU, and the affine map that is being collected."""

    def __init__(self, width: int, arithmetic: Arithmetic) -> None:
        self.width = width
        self.arithmetic = arithmetic
        self._finished: list[Affine] = []
        self._current: Affine | None = None  # None: the identity
        self._cast = False  # whether what comes in is rounded before the first step

    def cast(self) -> None:
        """Rows of float64 numbers are rounded to this arithmetic before anything else."""
        self._cast = self.arithmetic.unit > EPS

    def linear(self, weight: Floats, bias: Floats | None = None) -> None:
        """v -> W v + b."""
        weight = np.asarray(weight, dtype=np.float64)
        bias = np.zeros(weight.shape[0]) if bias is None else np.asarray(bias, dtype=np.float64)
        if weight.ndim != 2 or weight.shape[1] != self.width or bias.shape != weight.shape[:1] or not weight.size:
            raise UnsupportedModel(
                f"a layer has weights of shape {weight.shape} and a bias of shape {bias.shape}, but {self.width} inputs; the "
                "parts of this network do not fit together"
            )
        layer = self.arithmetic.affine(weight, bias)
        if self._current is not None:
            self._refuse_size(weight.shape[0] * self._current.weight.shape[1])
            with np.errstate(over="ignore", invalid="ignore"):  # refused at the end
                self._current = self._current.then(layer)
        else:
            self._current = self._after_cast(layer)
        self.width = weight.shape[0]

    def scale(self, factor: Floats, offset: Floats, size: Floats, roundings: int) -> None:
        """v -> factor v + offset, entry by entry, off by at most g(roundings) (|factor v| + size), where size >= |offset|."""
        if not factor.shape == offset.shape == size.shape == (self.width,):
            raise UnsupportedModel(
                f"a scale has {factor.size} factors and {offset.size} offsets for {self.width} inputs; the parts of this "
                "network do not fit together"
            )
        before, relative = self._collected(), self.arithmetic.gamma(roundings) + _OF_FOLDING
        with np.errstate(over="ignore", invalid="ignore"):  # refused at the end
            self._current = self._scaled(before, factor, offset, size, relative)

    def _scaled(self, before: Affine, factor: Floats, offset: Floats, size: Floats, relative: float) -> Affine:
        f = np.abs(factor)
        slope, reach = np.abs(before.weight) + before.error_slope, np.abs(before.bias) + before.error_constant
        scaled = replace(
            before,
            weight=factor[:, None] * before.weight,
            bias=factor * before.bias + offset,
            error_slope=f[:, None] * (before.error_slope + relative * slope),
            error_constant=f * before.error_constant
            + relative * (f * reach + size)
            + (2 * f + 4) * self.arithmetic.smallest,
        )
        return self.arithmetic.watched(scaled, f[:, None] * slope, f * reach + size)

    def relu(self) -> None:
        """v -> max(v, 0)."""
        if self._current is None and self._finished and not self._cast:
            return  # nothing negative is left
        self._finished.append(self._collected())
        self._current = None

    def leaky(self, slope: Floats) -> None:
        """v -> v where v > 0, slope v elsewhere: relu(v) - slope relu(-v), two neurons per unit.

        The computed product is off by three roundings (slope itself may be cast); |z~ - z| bounds the error of both neurons.
        """
        if not slope.any():
            return self.relu()
        if self._current is None and self._finished and not self._cast:
            return None
        z, n = self._collected(), self.width
        self._refuse_size(2 * n * max(n, z.weight.shape[1]))
        both = replace(
            z,
            weight=np.concatenate([z.weight, -z.weight]),
            bias=np.concatenate([z.bias, -z.bias]),
            error_slope=np.concatenate([z.error_slope, z.error_slope]),
            error_constant=np.concatenate([z.error_constant, z.error_constant]),
        )
        self._finished.append(both)
        joined, none = np.hstack([np.eye(n), -np.diag(slope)]), np.zeros(n)
        off = np.hstack([np.zeros((n, n)), np.diag(np.abs(slope)) * self.arithmetic.gamma(3)])
        whole = Affine(joined, none, off, np.full(n, 2 * self.arithmetic.smallest))
        self._current = self.arithmetic.watched(whole, np.abs(joined), none)
        return None

    def model(self, info: ModelInfo) -> ReluNetwork | LinearModel:
        """What was collected; without any ReLU it is one affine map."""
        last = self._collected()
        for k, layer in enumerate((*self._finished, last)):
            if not all(np.isfinite(array).all() for array in layer.arrays):
                raise UnsupportedModel(
                    f"{info.source}: the numbers of layer {k} are not finite, or too large to multiply out"
                )
        if not self._finished:
            return LinearModel(info, last)
        network = ReluNetwork(info, (*self._finished, last))
        if self.arithmetic is SINGLE:
            _remark_on_coarseness(network)
        return network

    def _collected(self) -> Affine:
        if self._current is not None:
            return self._current
        self._refuse_size(self.width**2)
        one, none = np.eye(self.width), np.zeros(self.width)
        exact = Affine(one, none, np.zeros_like(one), none)
        return self._after_cast(self.arithmetic.watched(exact, one, none))

    def _after_cast(self, layer: Affine) -> Affine:
        """The map of the row as it is, where the layer sees the rounded one: off by u |x| + t."""
        if not self._cast:
            return layer
        self._cast = False
        size = np.abs(layer.weight) + layer.error_slope
        return replace(
            layer,
            error_slope=layer.error_slope + size * self.arithmetic.unit,
            error_constant=layer.error_constant + size.sum(axis=1) * self.arithmetic.smallest * 1.01,
        )

    @staticmethod
    def _refuse_size(numbers: int) -> None:
        if numbers > MOST_NUMBERS:
            raise UnsupportedModel(f"a layer of {numbers:,} numbers is too large; at most {MOST_NUMBERS:,} are read")


def _remark_on_coarseness(network: ReluNetwork) -> None:
    """Warn where the bound on float32's rounding is a visible share of what the scores vary by, over rows of size 1."""
    rows = np.random.default_rng(0).normal(size=(_TRIED, network.info.n_features))
    with np.errstate(over="ignore", invalid="ignore"):
        value, error = network_error(network.layers, rows)
        spread, share = float(value.std(axis=0).max()), 0.0
        if spread > 0.0:
            share = float(error.max()) / spread
    if share > _COARSE:
        warn(
            f"{network.info.source}: {len(network.layers)} layers in float32 may be off by {share:.0%} of what their outputs vary "
            "by (this is the bound, for rows of size 1), and regions keep that far from the boundary; give the network in "
            "float64: model.double() in torch"
        )
