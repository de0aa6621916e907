"""How loops are compiled: on first use, and kept on disk where a folder for it can be written to.

Kernels get plain arrays, so each has exactly one signature and is compiled once; the result is kept in numba's disk cache.
Where no place for a cache can be written, kernels are compiled again in every process. With ``NUMBA_DISABLE_JIT=1``
they are plain Python functions, with the arithmetic of kernels, that a debugger can step through.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from enum import Enum
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, Final, TypeVar

import numba
import numpy as np

from elbowroom.kernels.cache import KernelCache, kept_code
from elbowroom.kernels.lean import lean

F = TypeVar("F", bound=Callable[..., Any])
njit: Any = numba.njit

_config: Any = numba.config
PLAIN: Final = bool(_config.DISABLE_JIT)  # NUMBA_DISABLE_JIT=1
_IMPORT: Final = re.compile(r"^from elbowroom(?:\.([\w.]+))? import (\([^)]*\)|[^\n]*)", re.MULTILINE)
_WORD: Final = re.compile(r"\w+")
_ROOT: Final = Path(__file__).parent.parent
_ALWAYS: Final = (Path(__file__), Path(__file__).with_name("lean.py"), Path(__file__).with_name("bundle.py"))


def kernel(function: F) -> F:
    """A kernel that Python calls and that makes no arrays: compiled on first use, kept on disk where possible.

    Division is that of C (no exceptions), and references are not counted: there are none. Python runs on meanwhile, so that
    an alarm can ring (see `kernels.alarm`).
    """
    return _plain(function) if PLAIN else _kept(function, _nrt=False, error_model="numpy", nogil=True)


def inner_kernel(function: F) -> F:
    """A kernel that only kernels call: no entry for Python, which takes longer to compile than the code."""
    return function if PLAIN else _part(function, _nrt=False, error_model="numpy")


def inlined(function: F) -> F:
    """A kernel that is copied into its callers: for the smallest ones, where handing over a model's arrays costs more
    than the work itself."""
    made: F = function if PLAIN else njit(inline="always", error_model="numpy")(function)
    return made


def _plain(function: F) -> F:
    """Without the compiler: overflow and division by zero pass in silence, as they do in machine code."""

    @wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*(np.float64(a) if type(a) is float else a for a in arguments))

    made: Any = run
    kept: F = made
    return kept


def _kept(function: F, **options: Any) -> F:
    """Numba takes cached code for fresh as long as the function's own file is unchanged, but kernels call kernels of
    other files: the code is stamped with all files it was made from, and with the compiler that made it."""
    chosen = lean(inner=False)
    made: Any = njit(no_cfunc_wrapper=True, **options, **chosen)(function)
    stamp = _fingerprint(Path(function.__code__.co_filename))
    made._cache = kept_code(function, f"{stamp}, {'lean' if chosen else 'ordinary'}")
    kept: F = made
    return kept


def _part(function: F, **options: Any) -> F:
    """What is kept on disk contains its inner kernels; they are kept as well only where numba compiles each one by
    itself."""
    options |= {"no_cpython_wrapper": True}
    chosen = lean(inner=True)
    made: F = njit(no_cfunc_wrapper=True, **options, **chosen)(function) if chosen else _kept(function, **options)
    return made


# ---- the stamp --------------------------------------------------------------------------------------------------------
def _fingerprint(path: Path) -> str:
    """A digest of a file, of every file of the package that it uses, directly or through others, and of the way in which
    they are compiled. A constant of any of them may be frozen into the machine code."""
    todo, seen = [path, *_ALWAYS], {path, *_ALWAYS}
    while todo:
        new = _read(todo.pop(), _ROOT)[1] - seen
        todo += new
        seen |= new
    digest = hashlib.sha256()
    for used in sorted(seen):
        digest.update(_read(used, _ROOT)[0])
    return digest.hexdigest()


@lru_cache(maxsize=1024)
def _read(path: Path, root: Path) -> tuple[bytes, frozenset[Path]]:
    """The digest of a file, and the files of the package that are imported when it is. Imports inside of functions do not
    count: kernels see what is global."""
    content = path.read_bytes()
    named = _IMPORT.findall(content.decode("utf-8"))
    return hashlib.sha256(content).digest(), frozenset(
        file for module, names in named for file in _files(root, module, names)
    )


def _files(root: Path, module: str, names: str) -> Iterator[Path]:
    """Where ``from elbowroom.module import names`` finds what it imports: modules, packages, modules of a package."""
    place = root.joinpath(*module.split(".")) if module else root
    if not place.is_dir():
        yield place.with_suffix(".py")
        return
    yield place / "__init__.py"
    for name in _WORD.findall(names):
        inside = place / f"{name}.py"
        if inside.is_file():
            yield inside


# ---- what must happen before a kernel runs ------------------------------------------------------------------------------
class Readiness(Enum):
    """What must happen before a kernel runs."""

    READY = "it is loaded, or on disk and up to date"
    COMPILE_ONCE = "it is compiled and kept on disk"
    COMPILE_ANEW = "as before, because what was kept is damaged; that has been said"
    COMPILE_ALWAYS = "it is compiled in every process: there is no folder that may be written to"


def readiness(compiled: Any) -> Readiness:
    """Of a kernel that Python calls. Code on disk that was made from other sources does not count."""
    if PLAIN or compiled.signatures:
        return Readiness.READY
    cache: Any = compiled._cache
    if not isinstance(cache, KernelCache):
        return Readiness.COMPILE_ALWAYS
    if cache.files.holds_something():
        return Readiness.READY
    return Readiness.COMPILE_ANEW if cache.files.damaged else Readiness.COMPILE_ONCE
