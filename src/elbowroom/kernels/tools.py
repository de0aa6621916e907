"""The few tools that kernels share: sorting, random numbers, bits, and the types of their arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from elbowroom.kernels.kernel import PLAIN, inner_kernel
from elbowroom.numerics import Floats, Ints

Words = npt.NDArray[np.uint64]
Shorts = npt.NDArray[np.int32]

int64: Any = np.int64  # in kernels: a number that is not a constant (kernels are compiled once per constant argument)


@inner_kernel
def sort_by(order: Ints, key: Floats, size: int) -> None:
    """Sort order[:size] by key[order[i]], ascending, ties by index (Shell's method: short, stable answers)."""
    gap = 1
    while gap < size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, size):
            item = order[i]
            j = i
            while j >= gap and (
                key[order[j - gap]] > key[item] or (key[order[j - gap]] == key[item] and order[j - gap] > item)
            ):
                order[j] = order[j - gap]
                j -= gap
            order[j] = item
        gap //= 3


@inner_kernel
def random_below(state: Words, bound: int) -> int:
    """A pseudo-random whole number in 0 .. bound - 1 (splitmix64; the state is the caller's, so runs repeat)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return int64((z ^ (z >> np.uint64(31))) >> np.uint64(1)) % bound


# ---- bits -------------------------------------------------------------------------------------------------------------
@intrinsic
def _lowest(context: Any, x: Any) -> Any:
    """Index of the lowest set bit of a nonzero word."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@intrinsic
def _leading_zeros(context: Any, x: Any) -> Any:
    """63 minus the index of the highest set bit of a nonzero word."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


def _lowest_plain(x: Any) -> Any:
    return np.uint64((int(x) & -int(x)).bit_length() - 1)


def _leading_zeros_plain(x: Any) -> Any:
    return np.uint64(64 - int(x).bit_length())


lowest: Any = _lowest_plain if PLAIN else _lowest
leading_zeros: Any = _leading_zeros_plain if PLAIN else _leading_zeros
