"""Kernels are made ready before a clock starts: compiling is work of the installation, and no time limit should be spent
on it. One line in the log says what is happening and how long it takes."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from elbowroom.kernels.cache import refusal
from elbowroom.kernels.kernel import PLAIN, Readiness, readiness
from elbowroom.kernels.notices import LOGGER, Topic, mark

PATIENCE: Final = 3600.0  # seconds for a tiny question: on a busy machine compiling must not run out of its time
_DURATION: Final = "5 to 20 s"
_NOWHERE: Final = (
    "no writable folder was found to cache them; set NUMBA_CACHE_DIR to a folder that only you can write to"
)


def is_loaded(compiled: Any) -> bool:
    """True if a kernel can run at once in this process."""
    return PLAIN or bool(compiled.signatures)


@contextmanager
def without_collection() -> Iterator[None]:
    """Without the garbage collector, which looks through the compiler's millions of objects again and again: a fifth of
    the time of compiling, and it finds nothing."""
    active = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if active:
            gc.enable()


def announce(largest: Any, what: str) -> None:
    """Say that the next seconds go into compiling ``largest`` and its like, if they do. A warning is shown even where no
    log is set up."""
    match readiness(largest):
        case Readiness.READY | Readiness.COMPILE_ANEW:
            return
        case Readiness.COMPILE_ONCE:
            LOGGER.warning(
                "elbowroom compiles its kernels for %s: once per installation, %s "
                "(python -m elbowroom.warm does it beforehand)",
                what,
                _DURATION,
            )
        case Readiness.COMPILE_ALWAYS:
            mark(Topic.REFUSED)
            LOGGER.warning(
                "elbowroom compiles its kernels for %s in this process, %s: %s",
                what,
                _DURATION,
                refusal() or _NOWHERE,
            )
