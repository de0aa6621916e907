"""How the kernels of this folder are compiled, and the few tools that all of them share.

Kernels get plain arrays, most of them in a `Bundle`, so each has exactly one signature and is compiled once; the result is
kept in numba's disk cache. Where no place for a cache can be written, kernels are compiled anew in every process.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt

from elbowroom.numerics import Floats, Ints

Words = npt.NDArray[np.uint64]
Shorts = npt.NDArray[np.int32]
F = TypeVar("F", bound=Callable[..., Any])

int64: Any = np.int64  # in kernels: a number that is not a constant (kernels are compiled once per constant argument)
njit: Any = numba.njit


_IMPORT = re.compile(r"from elbowroom\.search\.trees\.(\w+) import")


@lru_cache(maxsize=64)
def _fingerprint(path: Path) -> str:
    """A digest of a file of this folder and of all files of this folder that it uses."""
    digest, todo, seen = hashlib.sha256(), [path], {path}
    while todo:
        text = todo.pop().read_text(encoding="utf-8")
        digest.update(text.encode())
        used = {path.with_name(f"{name}.py") for name in _IMPORT.findall(text)} - seen
        todo += sorted(used, reverse=True)
        seen |= used
    return digest.hexdigest()


def kernel(function: F) -> F:
    """A kernel that Python calls: compiled on first use, and kept on disk if there is a place for it.

    Numba takes cached code for fresh as long as the function's own file is unchanged, but kernels call kernels of other
    files: the code is stamped with all files it was made from.
    """
    return _compiled(function, no_cfunc_wrapper=True)


def inner_kernel(function: F) -> F:
    """A kernel that only kernels call: without the entry for Python, which takes longer to compile than the code."""
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _compiled(function: F, **options: bool) -> F:
    options |= {"_nrt": False}  # kernels make no arrays, so there are no references to count
    try:
        compiled = njit(cache=True, error_model="numpy", **options)(function)
    except RuntimeError:  # numba found no directory that it may write to
        return njit(error_model="numpy", **options)(function)
    cache_file: Any = getattr(compiled._cache, "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = _fingerprint(Path(function.__code__.co_filename))
    return compiled


class Readiness(Enum):
    """What must happen before a kernel runs."""

    READY = "it is loaded, or on disk and up to date"
    COMPILE_ONCE = "it is compiled and kept on disk"
    COMPILE_ALWAYS = "it is compiled in every process: there is no folder that may be written to"


def readiness(compiled: Any) -> Readiness:
    """Of a kernel that Python calls. Code on disk that was made from other sources does not count."""
    if compiled.signatures:
        return Readiness.READY
    cache_file: Any = getattr(compiled._cache, "_cache_file", None)
    if cache_file is None:
        return Readiness.COMPILE_ALWAYS
    return Readiness.READY if cache_file._load_index() else Readiness.COMPILE_ONCE


def inlined(function: F) -> F:
    """A kernel that is copied into its callers: for the smallest ones, where handing over a model's arrays costs more
    than the work itself."""
    return njit(inline="always", error_model="numpy")(function)


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
