"""A network inside one room, reduced to its open neurons; every rounding of the reduction is bounded.

Neurons whose sign is the same in the whole room are linear there, or 0. What is left are the open neurons of all layers, in
order, i = 1 ... n, and the margins r:

    z_i = A_i x + B_i h + c_i + e_i,    h_i = relu(z_i),    margin_r = C_r x + D_r h + f_r + e_r,

B strictly lower triangular by layers, x the columns that move. The coefficients are floats, and the e are what they and all
sums of this module and of `compact_kernels` may be wrong by. With a_k = X x + H h + k0 the activations of layer k, within E of
the real ones, the products of the next layer are wrong by at most  |W| (E + gamma (|X| |x| + |H| |h| + |k0|)) + gamma |b|.

To bound a row from below, `compact_kernels.back` goes through the neurons backwards with any multipliers m, as in `intervals`.
The computed coefficients of x and of h are sums of at most n products m_i A_ij, so they err by gamma(n + 1) sum |m_i| |A_ij|; times
|x_j|, that is at most  |m_i| gamma (|A_i| |x| + |B_i| |h| + |c_i|)  per neuron. So ``error_i`` = e_i + this sum, found once, and a
pass subtracts sum |m_i| error_i: rigour costs one product per neuron.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

import numpy as np

from elbowroom.certify.inputs import InputSet
from elbowroom.certify.intervals import Interval
from elbowroom.kernels.bundle import Bundle
from elbowroom.models import Affine
from elbowroom.numerics import TINY, Floats, Ints, gamma
from elbowroom.problem.shapes import Shape

_ROOM_FOR_ERRORS = 1.01  # error terms are sums of nonnegative floats: 1 % outweighs their own rounding
_SPARE = 64  # roundings beside those of the long sums


def _code(shape: Shape) -> int:
    """What the kernels tell shapes apart by."""
    match shape:
        case Shape.BOX:
            return 0
        case Shape.BALL:
            return 1
        case Shape.DIAMOND:
            return 2
        case _:
            assert_never(shape)


@dataclass(frozen=True, eq=False)
class Compact(Bundle):
    """What the kernels read. ``low`` ... ``highest`` describe the room: ends of x, and for balls and diamonds the centre, the
    semi-axes and the range of y = (x - center) / axes, rounded outwards."""

    A: Floats  # (neurons, columns)
    B: Floats  # (neurons, neurons)
    c: Floats
    error: Floats
    first: Ints  # (neurons,): neurons before this one feed it
    C: Floats  # (rows, columns)
    D: Floats  # (rows, neurons)
    f: Floats  # less what is needed
    row_error: Floats
    low: Floats
    high: Floats
    center: Floats
    axes: Floats
    lowest: Floats
    highest: Floats
    rounding: float  # gamma of the longest sum of a pass
    shape: int
    cut: int  # 1: limits cut the ball or diamond

    @property
    def size(self) -> int:
        return int(self.c.size)


@dataclass(frozen=True, eq=False)
class Reduced:
    """The compact network, with the intervals of its neurons in the whole room, and where they are: (layer, neuron)."""

    net: Compact
    at: Interval
    places: tuple[tuple[int, int], ...]
    columns: Ints


def reduce_network(
    layers: Sequence[Affine], inputs: InputSet, intervals: Sequence[Interval], rivals: Ints, needed: Floats
) -> Reduced | None:
    """The open neurons of a room, for some rows of the last layer; None if numbers overflow."""
    columns = inputs.moving
    fixed = np.flatnonzero(inputs.lower >= inputs.upper)
    magnitude = inputs.magnitude[columns]
    chosen = [np.flatnonzero(at.unstable) for at in intervals]
    total = sum(part.size for part in chosen)
    activation = np.concatenate([at.high[part] for at, part in zip(intervals, chosen, strict=True)])
    first_layer = layers[0]
    X, H = first_layer.weight[:, columns], np.zeros((first_layer.bias.size, total))
    at_fixed = np.abs(first_layer.weight[:, fixed]) @ inputs.magnitude[fixed] + np.abs(first_layer.bias)
    constant = first_layer.weight[:, fixed] @ inputs.lower[fixed] + first_layer.bias
    error = gamma(fixed.size + _SPARE) * at_fixed * _ROOM_FOR_ERRORS + TINY
    A, B, c, e, before = [], [], [], [], []
    known = 0
    for k, at in enumerate(intervals):
        part = chosen[k]
        A.append(X[part])
        B.append(H[part])
        c.append(constant[part])
        e.append(error[part])
        before.append(np.full(part.size, known))
        on = at.low >= 0.0  # the others are 0, or open: then a variable of their own, without any error
        X, constant, error = X * on[:, None], constant * on, error * on
        H = H * on[:, None]
        H[part, known + np.arange(part.size)] = 1.0
        known += part.size
        layer = layers[k + 1]
        weight, bias = layer.weight, layer.bias
        if k + 1 == len(intervals):
            weight, bias = weight[rivals], bias[rivals]
        size = np.abs(X) @ magnitude + np.abs(H) @ activation + np.abs(constant)
        rounding = gamma(size.size + _SPARE)
        error = np.abs(weight) @ (error + rounding * size) + rounding * np.abs(bias)
        error = error * _ROOM_FOR_ERRORS + TINY
        X, H, constant = weight @ X, weight @ H, weight @ constant + bias
    rounding = gamma(4 * (total + columns.size) + _SPARE)
    A_all, B_all, c_all = np.vstack(A), np.vstack(B), np.concatenate(c)
    sizes = np.abs(A_all) @ magnitude + np.abs(B_all) @ activation + np.abs(c_all)
    row_sizes = np.abs(X) @ magnitude + np.abs(H) @ activation + np.abs(constant) + np.abs(needed[rivals])
    body, low, high = inputs.body, np.zeros(columns.size), np.zeros(columns.size)
    if inputs.round_columns.size:
        low, high = inputs.ranges
    made = Compact(
        A=np.ascontiguousarray(A_all), B=np.ascontiguousarray(B_all), c=c_all,
        error=(np.concatenate(e) + rounding * sizes) * _ROOM_FOR_ERRORS + TINY,
        first=np.concatenate(before).astype(np.int64), C=np.ascontiguousarray(X), D=np.ascontiguousarray(H),
        f=constant - needed[rivals], row_error=(error + rounding * row_sizes) * _ROOM_FOR_ERRORS + TINY,
        low=inputs.lower[columns], high=inputs.upper[columns], center=body.center[columns], axes=body.axes[columns],
        lowest=low, highest=high, rounding=rounding, shape=_code(body.shape),
        cut=int(bool((low > -1.0).any() or (high < 1.0).any())),
    )  # fmt: skip
    finite = all(
        np.isfinite(a).all() for a in (made.A, made.B, made.c, made.error, made.C, made.D, made.f, made.row_error)
    )
    if not finite or (inputs.round_columns.size and inputs.round_columns.size != columns.size):
        return None
    ends = Interval(*(np.concatenate([side[p] for side, p in zip(s, chosen, strict=True)]) for s in _sides(intervals)))
    places = tuple((k, int(q)) for k, part in enumerate(chosen) for q in part)
    return Reduced(made, ends, places, columns)


def _sides(intervals: Sequence[Interval]) -> tuple[list[Floats], list[Floats]]:
    return [at.low for at in intervals], [at.high for at in intervals]
