"""How the kernels of this folder are compiled, and the few tools that all of them share.

Kernels get plain arrays, most of them in a `Bundle`, so each has exactly one signature and is compiled once; see
`elbowroom.compiling`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from elbowroom.compiling import Readiness, inlined, inner_kernel, kernel, readiness
from elbowroom.numerics import Floats, Ints

__all__ = [
    "Readiness", "Shorts", "Words", "inlined", "inner_kernel", "int64", "kernel", "random_below", "readiness", "sort_by",
]  # fmt: skip

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
