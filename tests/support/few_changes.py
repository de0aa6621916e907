"""Few changes and several answers, by enumeration: every centre that can matter, its distance and what it changes."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from elbowroom.problem import RecourseProblem
from tests.support.brute import _axes, provable  # the lists of cells and centres, without any search

Kind = frozenset[int]  # axes that change: single columns in order, then groups


def best_by_kind(problem: RecourseProblem) -> dict[Kind, float]:
    """For every set of axes: the smallest distance of a centre with a good room that changes exactly these."""
    if (problem.lower > problem.upper).any():
        return {}
    axes = _axes(problem, {})
    if any(len(axis.centers) == 0 for axis in axes):
        return {}
    shape = tuple(len(axis.samples) for axis in axes)
    points = np.zeros((math.prod(shape), len(problem.space.names)))
    for axis, index in zip(axes, np.unravel_index(np.arange(len(points)), shape), strict=True):
        points[:, axis.columns] = axis.samples[index]
    good = provable(problem, points).reshape(shape)
    found: dict[Kind, float] = {}
    for choice in product(*(range(len(axis.centers)) for axis in axes)):
        room = tuple(
            axis.always if axis.always is not None else slice(axis.first[i], axis.final[i] + 1)
            for axis, i in zip(axes, choice, strict=True)
        )
        inside = good
        for place, part in enumerate(room):
            inside = (
                np.take(inside, part, axis=place)
                if isinstance(part, np.ndarray)
                else inside[(slice(None),) * place + (part,)]
            )
        if not inside.all():
            continue
        kind = frozenset(a for a, (axis, i) in enumerate(zip(axes, choice, strict=True)) if axis.changed[i])
        moves = np.array([axis.moves[i] for axis, i in zip(axes, choice, strict=True)])
        found[kind] = min(found.get(kind, math.inf), problem.distance.norm(moves))
    return found


def kind_of(problem: RecourseProblem, center: np.ndarray) -> Kind:
    """The axes that a centre changes."""
    single = [f for f in range(len(problem.space.names)) if problem.space.group_of[f] < 0]
    changed = problem.changed(center)
    axes = [*single, *range(len(problem.space.names), len(problem.space.names) + len(problem.space.groups))]
    return frozenset(a for a, f in enumerate(axes) if changed[f])
