"""Compiled kernels, made ready once: ``python -m elbowroom.warm`` fills the disk cache for all later processes.

Whoever asks without having done so waits once, before the clock of the first question starts: compiling is work of the
installation, and no time limit should be spent on it. One line on the log says what is happening and how long it takes.
"""

from __future__ import annotations

import logging
import sys
import time
from typing import Final

from elbowroom.problem import Ball, Box, Diamond
from elbowroom.problem.rooms import Shape

_ROOMS: Final = {Shape.BOX: Box(0.1), Shape.BALL: Ball(0.1), Shape.DIAMOND: Diamond(0.1)}
_NORMS: Final = {Shape.BOX: "linf", Shape.BALL: "l2", Shape.DIAMOND: "l1"}
_DURATION: Final = "10 to 30 s"
_begun: Final[set[Shape]] = set()
_begun_networks: Final[set[Shape]] = set()
LOGGER = logging.getLogger("elbowroom")


def ready(shape: Shape) -> None:
    """Load, or compile if need be, what questions about trees and rooms of this shape need; at once the second time."""
    if shape in _begun:
        return
    _begun.add(shape)  # first: the tiny question below asks for the same
    if shape is not Shape.BOX:
        ready(Shape.BOX)  # hard questions about balls and diamonds begin with boxes
    _announce(shape)
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
    explainer = Explainer(model)
    try:
        explainer.explain(np.zeros(2), room=_ROOMS[shape])
        explainer.radius(np.zeros(2), _NORMS[shape])
    except BaseException:
        _begun.discard(shape)  # interrupted: the next question tries again
        raise


def ready_networks(shape: Shape) -> None:
    """The same for networks, whose kernels are few and small: two tiny networks, shallow and deep."""
    if shape in _begun_networks:
        return
    _begun_networks.add(shape)
    import numpy as np

    from elbowroom.certify.corners import depth_first
    from elbowroom.certify.dual_ascent import climb_multipliers
    from elbowroom.explainer import Explainer
    from elbowroom.models import Affine, Decision, Link, ModelInfo, ReluNetwork

    info = ModelInfo(("x", "y"), (0, 1), Decision.POSITIVE, Link.LOGISTIC, "two tiny networks")
    first = Affine.exact(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([0.1, -0.1]))
    last = Affine.exact(np.array([[1.0, 1.0]]), np.array([-1.0]))
    one, line, square = np.ones(1), np.ones(2), np.eye(2)
    depth_first(0.0, line, square, square, line, -line, -9.0, 1)  # easy questions do not come this far
    climb_multipliers(one, one, np.ones((1, 2)), one, -one, one, 1)
    try:
        for layers in ((first, last), (first, first, last)):
            Explainer(ReluNetwork(info, layers)).explain(np.zeros(2), room=_ROOMS[shape])
    except BaseException:
        _begun_networks.discard(shape)
        raise


def _announce(shape: Shape) -> None:
    """Say that the next seconds go into compiling, if they do. A warning is shown even where no log is set up."""
    from elbowroom.search.trees.compiled import Readiness, readiness

    if shape is Shape.BOX:
        from elbowroom.search.trees.expand import expand

        state, rooms = readiness(expand), "boxes"
    else:
        from elbowroom.search.trees.ball_entry import run

        state, rooms = readiness(run), "balls and diamonds"
    match state:
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


def warm() -> float:
    """Run every kernel on a tiny question and return the seconds it took."""
    start = time.perf_counter()
    for shape in Shape:
        ready(shape)
        ready_networks(shape)
    return time.perf_counter() - start


if __name__ == "__main__":
    from elbowroom.warm import warm as warm_module  # not this copy: the questions asked inside come back to that one

    sys.stderr.write(f"kernels ready in {warm_module():.1f} s\n")
