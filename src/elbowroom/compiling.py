"""How loops are compiled: on first use, and kept on disk where a folder for it can be written to.

Kernels get plain arrays, so each has exactly one signature and is compiled once; the result is kept in numba's disk cache.
Where no place for a cache can be written, kernels are compiled anew in every process.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

import numba

from elbowroom.lean_compiler import lean

F = TypeVar("F", bound=Callable[..., Any])
njit: Any = numba.njit

_IMPORT: Final = re.compile(r"^from elbowroom\.([\w.]+) import", re.MULTILINE)
_ROOT: Final = Path(__file__).parent
_ALWAYS: Final = (Path(__file__), _ROOT / "lean_compiler.py")


def kernel(function: F) -> F:
    """A kernel that Python calls and that makes no arrays: compiled on first use, kept on disk if there is a place.

    Division is that of C (no exceptions), and references are not counted: there are none.
    """
    return _kept(function, _nrt=False, error_model="numpy")


def inner_kernel(function: F) -> F:
    """A kernel that only kernels call: no entry for Python, which takes longer to compile than the code."""
    return _part(function, _nrt=False, error_model="numpy")


def inlined(function: F) -> F:
    """A kernel that is copied into its callers: for the smallest ones, where handing over a model's arrays costs more
    than the work itself."""
    made: F = njit(inline="always", error_model="numpy")(function)
    return made


def _kept(function: F, **options: Any) -> F:
    """Numba takes cached code for fresh as long as the function's own file is unchanged, but kernels call kernels of
    other files: the code is stamped with all files it was made from."""
    options |= {"no_cfunc_wrapper": True, **lean(part=False)}
    made: Any = _cached(function, options)
    cache_file: Any = getattr(made._cache, "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = _fingerprint(Path(function.__code__.co_filename))
    kept: F = made
    return kept


def _part(function: F, **options: Any) -> F:
    """What is kept on disk contains its parts; only where numba compiles each by itself are they kept too."""
    options |= {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}
    chosen = lean(part=True)
    made: F = njit(**options, **chosen)(function) if chosen else _kept(function, **options)
    return made


def _cached(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no directory that it may write to
        return njit(**options)(function)


@lru_cache(maxsize=64)
def _fingerprint(path: Path) -> str:
    """A digest of a file, of all files of its folder that it uses, and of the way in which they are compiled."""
    digest, todo, seen = hashlib.sha256(), [path], {path}
    for used in _ALWAYS:
        digest.update(used.read_bytes())
    while todo:
        text = todo.pop().read_text(encoding="utf-8")
        digest.update(text.encode())
        named = {_ROOT.joinpath(*name.split(".")).with_suffix(".py") for name in _IMPORT.findall(text)}
        used_here = {file for file in named if file.parent == path.parent} - seen
        todo += sorted(used_here, reverse=True)
        seen |= used_here
    return digest.hexdigest()


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
