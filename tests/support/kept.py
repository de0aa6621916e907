"""A small kernel whose compiled code is kept in a folder of one's own choice, for tests that damage it.

Every `Kept.process` is what a new process would see: the kernel is loaded from the folder, or compiled and kept there.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np

from elbowroom.kernels import cache, notices
from elbowroom.kernels.kernel import kernel

ROW = np.array([3.0, -4.0, 12.0])
ANSWER = 169.0


def squares(x: np.ndarray) -> float:
    """What the kernel computes."""
    result = 0.0
    for i in range(x.size):
        result += x[i] * x[i]
    return result


def cubes(x: np.ndarray) -> float:
    """Another kernel, whose files are foreign to the first."""
    result = 0.0
    for i in range(x.size):
        result += x[i] * x[i] * x[i]
    return result


@contextmanager
def cache_in(folder: Path) -> Iterator[None]:
    """Kernels that are made inside of this keep their code below ``folder``, as with ``NUMBA_CACHE_DIR``."""
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


@dataclass(frozen=True)
class Process:
    """What one process computed, whether it found compiled code, and the lines that it said."""

    answer: float
    loaded: bool
    lines: list[str]


@dataclass(frozen=True)
class Kept:
    """The cache of the kernel in a folder."""

    folder: Path

    def kernel(self, function: Any = squares) -> Any:
        with cache_in(self.folder):
            return kernel(function)

    def process(self, function: Any = squares) -> Process:
        notices._SAID.clear()
        cache._refusals.clear()
        lines: list[str] = []
        listener = logging.Handler()
        listener.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
        notices.LOGGER.addHandler(listener)
        try:
            made = self.kernel(function)
            answer = made(ROW)
        finally:
            notices.LOGGER.removeHandler(listener)
        return Process(answer, bool(made.stats.cache_hits), lines)

    def files(self, ending: str) -> list[Path]:
        return sorted(self.folder.rglob(f"*{ending}"))

    def only(self, ending: str) -> Path:
        (found,) = self.files(ending)
        return found
