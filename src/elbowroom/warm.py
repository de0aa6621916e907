"""``python -m elbowroom.warm`` fills the disk cache of compiled kernels for all later processes.

Without it, the first question waits once, before its clock starts (see `kernels.warm`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Final

from elbowroom.certify.judge import prepare
from elbowroom.certify.kept_trees import prepare_kept
from elbowroom.kernels.kernel import Readiness, readiness
from elbowroom.models.tiny import tiny_models, two_stumps
from elbowroom.problem.shapes import Shape
from elbowroom.search.engines import engine_for

_BALLS: Final = "balls"  # the part of the work that a second process takes over


def warm() -> float:
    """Load or compile everything and return the seconds it took. With a second core, balls are compiled there at the same
    time; where that process fails, this one does its part."""
    from elbowroom.search.trees.engine import largest_kernel

    start = time.perf_counter()
    beside = None
    if _cores() > 1 and readiness(largest_kernel(Shape.BALL)) in (Readiness.COMPILE_ONCE, Readiness.COMPILE_ANEW):
        beside = subprocess.Popen([sys.executable, "-m", "elbowroom.warm", _BALLS])
    _prepare_for(Shape.BOX)
    prepare_kept()
    if beside is not None:
        beside.wait()
    for shape in Shape:
        _prepare_for(shape)
    return time.perf_counter() - start


def _prepare_for(shape: Shape) -> None:
    """The engines and the judge of every family that has kernels."""
    for model in tiny_models():
        engine_for(model).prepare(shape)
        prepare(model)


def _cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    if sys.argv[1:] == [_BALLS]:
        engine_for(two_stumps()).prepare(Shape.BALL)
    else:
        sys.stderr.write(f"kernels ready in {warm():.1f} s\n")
