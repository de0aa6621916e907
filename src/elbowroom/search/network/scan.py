"""Starts for descents: moves of one or two columns that look good enough, nearest first, because answers move few columns.

A batch of centres on a geometric grid is valued by  margin - what the room costs to first order,  radius times the dual norm
of the gradient. Every single move is tried, then pairs of those that gain most per unit of distance.
"""

from __future__ import annotations

from typing import assert_never

import numpy as np

from elbowroom.numerics import NONZERO, Floats
from elbowroom.problem import Shape
from elbowroom.search.network.penalty import Penalty

_FIRST, _GROWTH, _STEPS = 0.15, 1.4, 16  # of the grid: in lengths of the question
_LEADING = 10  # moves that are paired
_PAIRED = slice(1, None, 2)  # every other step of the grid


def scan(penalty: Penalty, aim: float, wanted: int = 4) -> list[Floats]:
    """At most ``wanted`` vectors of moves with different columns."""
    moves = penalty.moves
    free = np.flatnonzero(moves.high > moves.low)
    steps = penalty.length * _FIRST * _GROWTH ** np.arange(_STEPS)
    amounts = np.clip(steps[None], moves.low[free, None], moves.high[free, None])
    V = np.repeat(np.repeat(moves.low[None], free.size, axis=0)[:, None], _STEPS, axis=1)
    V[np.arange(free.size), :, free] = amounts
    value = _worth(penalty, V.reshape(-1, moves.size)).reshape(free.size, _STEPS)
    base = _worth(penalty, moves.low[None])[0]
    found = [V[k, int(np.argmax(good))] for k, good in enumerate(value >= aim) if good.any()]
    gain = ((value - base) / np.maximum(amounts, NONZERO)).max(axis=1, initial=-np.inf)
    leading = free[np.argsort(-gain, kind="stable")[:_LEADING]]
    some = steps[_PAIRED]
    for a, i in enumerate(leading):
        for j in leading[:a]:
            if moves.block[i] == moves.block[j]:
                continue
            pair = np.repeat(moves.low[None], some.size**2, axis=0)
            pair[:, i] = np.clip(np.repeat(some, some.size), moves.low[i], moves.high[i])
            pair[:, j] = np.clip(np.tile(some, some.size), moves.low[j], moves.high[j])
            good = pair[_worth(penalty, pair) >= aim]
            if len(good):
                found.append(good[np.argmin([moves.measure(v) for v in good])])
    return _different(penalty, found, wanted)


def _different(penalty: Penalty, found: list[Floats], wanted: int) -> list[Floats]:
    """Nearest first; moves that contain all moves of an earlier one are left out."""
    moves, kept = penalty.moves, list[Floats]()
    for v in sorted(found, key=moves.measure):
        used = v > moves.low
        if not any((used >= (w > moves.low)).all() for w in kept):
            kept.append(v)
        if len(kept) >= wanted:
            break
    return kept


def _worth(penalty: Penalty, V: Floats) -> Floats:
    """A guess at the worst margin of every room."""
    walls = penalty.search.problem.walls
    X = penalty.moves.points(V)
    value, slope, _ = penalty.network.gradient(X)
    shape = walls.shape
    reach = np.where(np.isfinite(walls.up), walls.up, 0.0)
    cost = np.abs(slope) * reach
    match shape:
        case Shape.BOX:
            return np.asarray(value - cost.sum(axis=1))
        case Shape.BALL:
            return np.asarray(value - np.sqrt(np.square(cost).sum(axis=1)))
        case Shape.DIAMOND:
            return np.asarray(value - cost.max(axis=1))
        case _:
            assert_never(shape)
