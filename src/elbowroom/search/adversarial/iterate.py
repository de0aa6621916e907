"""How large a room around an iterate of Algorithm 1 is good: the paper's measure of its progress.

The judge is asked about one radius after the other, up to that of the question. A refusal gives a point of another class
within the room, hence a radius that is too large; a certificate gives one that is not. On trees the largest good radius is
the one just below the nearest bad cell, so that the radius just below the newest witness is tried; elsewhere halving goes
on until both are practically equal. Every iterate gets a little time only, and keeps what was certified in it.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from elbowroom.models import TreeEnsemble
from elbowroom.numerics import Floats
from elbowroom.problem import Ball, Box, Diamond, RecourseProblem
from elbowroom.result.certificate import Certificate, Counterexample
from elbowroom.search.adversarial.limits import RADIUS_GAP, RADIUS_STEPS, SECONDS, SECONDS_ON_TREES
from elbowroom.search.contract import LOOKS_PER_SECOND, Referee
from elbowroom.search.solvers.tolerances import EPSILONS


def certified_radius(problem: RecourseProblem, accept: Referee, center: Floats) -> float | None:
    """The largest radius, up to that of the question, that the judge certifies around a centre (None: not found)."""
    room = problem.room
    if room.size is None or not isinstance(room, (Box, Ball, Diamond)) or not room.size > 0.0:
        return None
    on_trees = isinstance(problem.model, TreeEnsemble)
    began, limit = time.perf_counter(), SECONDS_ON_TREES if on_trees else SECONDS
    good, bad, radius = None, room.size, room.size
    for _ in range(RADIUS_STEPS):
        left = limit - (time.perf_counter() - began)
        if left <= 0.0:
            break
        asked = replace(problem, room=replace(room, radius=radius))
        verdict = accept.about(asked)(center, left * LOOKS_PER_SECOND)
        if isinstance(verdict, Certificate):
            good = radius
            if on_trees or radius == room.size:
                break
        elif isinstance(verdict, Counterexample):
            bad = radius * min(_share(asked, center, verdict.point), 1.0)
        else:
            break
        low = good or 0.0
        if bad - low <= RADIUS_GAP * bad:
            break
        radius = bad * (1.0 - EPSILONS.rounding) if on_trees else (low + bad) / 2.0
    return 0.0 if good is None and bad == 0.0 else good


def _share(problem: RecourseProblem, center: Floats, point: Floats) -> float:
    """How large the smallest room around the centre is that reaches a point, as a part of the room."""
    moved = np.flatnonzero((problem.space.group_of < 0) & (problem.walls.up > 0))
    ratio = np.abs(point - center)[moved] / problem.walls.up[moved]
    return problem.walls.shape.distance.norm(ratio)
