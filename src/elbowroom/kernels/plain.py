"""Without compiled code: for a verdict that trusts neither a compiler nor anything that was kept on disk."""

from __future__ import annotations

import os
import sys
from typing import Any

from elbowroom.errors import InputError


def without_compiled_code() -> None:
    """From now on kernels are plain Python functions in this process, and no cache is looked at. To be called before the
    kernels are imported, which is why this module imports none of them."""
    kernels: Any = sys.modules.get("elbowroom.kernels.kernel")
    if kernels is not None and not kernels.PLAIN:
        raise InputError(
            "this process has loaded compiled kernels already; judge without them in a process of its own: "
            "elbowroom check --no-cache"
        )
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    numba: Any = sys.modules.get("numba")
    if numba is not None:  # it has read its environment
        numba.config.DISABLE_JIT = 1
