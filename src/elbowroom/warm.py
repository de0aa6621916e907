"""Compiled kernels, made ready once: ``python -m elbowroom.warm`` fills the disk cache for all later processes.

Whoever asks without having done so waits once, before the clock of the first question starts: compiling is work of the
installation, and no time limit should be spent on it. One line on the log says what is happening and how long it takes.
"""

from __future__ import annotations

import gc
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from elbowroom.problem import Ball, Box, Diamond
from elbowroom.problem.rooms import Shape

if TYPE_CHECKING:
    from elbowroom.explainer import Explainer
    from elbowroom.kernels.kernel import Readiness

_ROOMS: Final = {Shape.BOX: Box(0.1), Shape.BALL: Ball(0.1), Shape.DIAMOND: Diamond(0.1)}
_DURATION: Final = "5 to 20 s"
_BALLS: Final = "balls"  # the part of the work that a second process takes over
_PATIENCE: Final = 3600.0  # seconds for a tiny question: on a busy machine compiling must not run out of its time
_begun: Final[set[Shape]] = set()
_begun_networks: Final[set[Shape]] = set()
LOGGER = logging.getLogger("elbowroom")


def ready(shape: Shape, alone: bool = False) -> None:
    """Load, or compile if need be, what questions about trees and rooms of this shape need; at once the second time.

    ``alone``: without the kernels of boxes, which another process sees to.
    """
    if shape in _begun:
        return
    _begun.add(shape)  # first: the tiny question below asks for the same
    if alone:
        _begun.add(Shape.BOX)
    elif shape is not Shape.BOX:
        ready(Shape.BOX)  # hard questions about balls and diamonds begin with boxes
    _announce(shape)
    try:
        with _no_collection():
            explainer = _two_stumps()
            explainer.explain([0.0, 0.0], room=_ROOMS[shape], time_limit=_PATIENCE)
            explainer.radius([0.0, 0.0], shape.distance.value, time_limit=_PATIENCE)
    except BaseException:
        _begun.discard(shape)  # interrupted: the next question tries again
        raise


def _two_stumps() -> Explainer:
    """The smallest model that all kernels for trees can work on."""
    import numpy as np

    from elbowroom.explainer import Explainer
    from elbowroom.models import Decision, Link, ModelInfo, TreeEnsemble

    info = ModelInfo(("x", "y"), (0, 1), Decision.POSITIVE, Link.LOGISTIC, "two stumps")
    nodes = (
        np.array(a, dtype=np.int64)
        for a in ([0, 3], [0, -1, -1, 1, -1, -1], [1, -1, -1, 4, -1, -1], [2, -1, -1, 5, -1, -1])
    )
    roots, feature, left, right = nodes
    value = np.array([[0.0], [-1.0], [1.0], [0.0], [-0.5], [0.25]])
    cut = np.array([0.5, 0.0, 0.0, 0.5, 0.0, 0.0])
    model = TreeEnsemble(info, roots, feature, cut, left, right, value, np.zeros(1))
    return Explainer(model)


def ready_networks(shape: Shape) -> None:
    """The same for networks, whose kernels are few and small: two tiny networks, shallow and deep."""
    if shape in _begun_networks:
        return
    _begun_networks.add(shape)
    import numpy as np

    from elbowroom.certify.corners import prove_corners
    from elbowroom.certify.dual_ascent import climb_multipliers
    from elbowroom.explainer import Explainer
    from elbowroom.models import Affine, Decision, Link, ModelInfo, ReluNetwork

    info = ModelInfo(("x", "y"), (0, 1), Decision.POSITIVE, Link.LOGISTIC, "two tiny networks")
    first = Affine.exact(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([0.1, -0.1]))
    last = Affine.exact(np.array([[1.0, 1.0]]), np.array([-1.0]))
    one, line, square = np.ones(1), np.ones(2), np.eye(2)
    try:
        with _no_collection():
            prove_corners(0.0, line, square, square, line, -line, -9.0, 1)  # easy questions do not come this far
            climb_multipliers(one, line, one, np.ones((1, 2)), one, -one, one, np.empty((3, 2)), 1)
            for layers in ((first, last), (first, first, last)):
                Explainer(ReluNetwork(info, layers)).explain(np.zeros(2), room=_ROOMS[shape], time_limit=_PATIENCE)
    except BaseException:
        _begun_networks.discard(shape)
        raise


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without the garbage collector, which looks through the compiler's millions of objects again and again: a fifth of
    the time of compiling, and it finds nothing."""
    active = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if active:
            gc.enable()


def _readiness(shape: Shape) -> Readiness:
    """Of the largest kernel that questions about rooms of this shape need."""
    from elbowroom.kernels.kernel import readiness

    if shape is Shape.BOX:
        from elbowroom.search.trees.expand import expand

        return readiness(expand)
    from elbowroom.search.trees.ball_entry import run

    return readiness(run)


def _announce(shape: Shape) -> None:
    """Say that the next seconds go into compiling, if they do. A warning is shown even where no log is set up."""
    from elbowroom.kernels.kernel import Readiness

    rooms = "boxes" if shape is Shape.BOX else "balls and diamonds"
    match _readiness(shape):
        case Readiness.READY:
            return
        case Readiness.COMPILE_ONCE:
            LOGGER.warning(
                "elbowroom compiles its kernels for %s on trees: once per installation, %s "
                "(python -m elbowroom.warm does it beforehand)",
                rooms,
                _DURATION,
            )
        case Readiness.COMPILE_ALWAYS:
            LOGGER.warning(
                "elbowroom compiles its kernels for %s on trees in this process, %s: no folder to keep them can be "
                "written to; set NUMBA_CACHE_DIR to one that can",
                rooms,
                _DURATION,
            )


def _cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def warm() -> float:
    """Run every kernel on a tiny question and return the seconds it took. With a second core, balls are compiled there
    at the same time; where that process fails, this one does its part."""
    from elbowroom.kernels.kernel import Readiness

    start = time.perf_counter()
    beside = None
    if _cores() > 1 and _readiness(Shape.BALL) is Readiness.COMPILE_ONCE:
        beside = subprocess.Popen([sys.executable, "-m", "elbowroom.warm", _BALLS])
    ready(Shape.BOX)
    ready_networks(Shape.BOX)
    if beside is not None:
        beside.wait()
    for shape in Shape:
        ready(shape)
        ready_networks(shape)
    _two_stumps().probability_kept([0.0, 0.0], 0.1)
    return time.perf_counter() - start


if __name__ == "__main__":
    from elbowroom import warm as module  # not this copy: the questions asked inside come back to that one

    if sys.argv[1:] == [_BALLS]:
        module.ready(Shape.BALL, alone=True)
    else:
        sys.stderr.write(f"kernels ready in {module.warm():.1f} s\n")
