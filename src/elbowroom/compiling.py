"""How loops are compiled: on first use, and kept on disk where a folder for it can be written to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """The function as machine code; without a place for numba's cache it is made anew in every process."""
    make: Any = numba.njit
    try:
        made: F = make(cache=True)(function)
    except RuntimeError:  # numba found no directory that it may write to
        made = make()(function)
    return made
