"""The best cover of bad regions: max sum_R right_R y_R subject to load <= 1 and y >= 0.

Few constraints (slots of literals) and many columns (rows of the cover): the simplex method with an explicit inverse,
from y = 0. The prices of the slots are moves, and the row that they violate most enters the basis; when none is left,
more are asked for (`signed`). Whatever it ends with is clipped at 0, its loads are summed again, and it is scaled
down to loads of at most 1, so nothing depends on its rounding.
"""

from __future__ import annotations

import math

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import int64
from elbowroom.search.trees.balls.bounds.cover import Cover
from elbowroom.search.trees.balls.bounds.signed import add_signed, set_reach
from elbowroom.search.trees.balls.geometry import Geometry
from elbowroom.search.trees.balls.limits import BEYOND, MAX_SIGNED, NEGLIGIBLE, PIVOTS, SAFE
from elbowroom.search.trees.balls.node import Node
from elbowroom.search.trees.balls.regions import BallRegions
from elbowroom.search.trees.limits import ROUNDING


@inner_kernel
def _price(cover: Cover, n: int, queued: int) -> tuple[int, int]:
    """The most violated row in the queue; an empty queue is first filled with the most violated ones of all.

    Its place in the queue (-1: none is violated) and the length of the queue.
    """
    size, slot, chord, right = cover.size, cover.slot, cover.chord, cover.right
    move, queue, rank = cover.move, cover.queue, cover.missing
    for attempt in range(2):
        best = int64(-1)
        for t in range(queued):
            r = queue[t]
            missing = right[r]
            for j in range(size[r]):
                missing -= chord[r, j] * move[slot[r, j]]
            rank[t] = missing
            if missing > NEGLIGIBLE and (best < 0 or missing > rank[best]):
                best = t
        if best >= 0 or attempt == 1:
            return best, queued
        queued, least = int64(0), int64(0)
        for r in range(n):
            missing = right[r]
            for j in range(size[r]):
                missing -= chord[r, j] * move[slot[r, j]]
            if not missing > NEGLIGIBLE:  # also where a way out costs nothing: its chord is infinite
                continue
            if queued < queue.shape[0]:
                queue[queued], rank[queued] = r, missing
                queued += 1
            elif missing > rank[least]:
                queue[least], rank[least] = r, missing
            else:
                continue
            least = int64(0)
            for t in range(1, queued):
                if rank[t] < rank[least]:
                    least = t
    return int64(-1), queued


@inner_kernel
def _widen(cover: Cover, before: int) -> None:
    """Slots from ``before`` on join the program: nothing loads them yet, so that their slacks are basic."""
    after = cover.count[0]
    for i in range(before, after):
        cover.basis[i], cover.level[i], cover.move[i] = -1, 1.0, 0.0
        for j in range(after):
            cover.inverse[i, j] = cover.inverse[j, i] = 0.0
        cover.inverse[i, i] = 1.0


@inner_kernel
def _enter(cover: Cover, entering: int, slack: int, m: int) -> None:
    """The column of a row, or of a slack, in terms of the basis."""
    column, inverse = cover.column, cover.inverse
    if slack >= 0:
        for i in range(m):
            column[i] = inverse[i, slack]
        return
    for i in range(m):
        column[i] = 0.0
    for j in range(cover.size[entering]):
        p, a = cover.slot[entering, j], cover.chord[entering, j]
        for i in range(m):
            column[i] += inverse[i, p] * a


@inner_kernel
def _pivot(cover: Cover, entering: int, leaving: int, step: float, most: float, m: int) -> None:
    """Put the entering column into the basis in place of the leaving one; the inverse stays sparse for a long time."""
    column, inverse, level, move, nonzero = cover.column, cover.inverse, cover.level, cover.move, cover.nonzero
    filled = int64(0)
    for j in range(m):
        if inverse[leaving, j] != 0.0:
            inverse[leaving, j] /= column[leaving]
            move[j] += most * inverse[leaving, j]
            nonzero[filled] = j
            filled += 1
    for i in range(m):
        if i != leaving and column[i] != 0.0:
            level[i] -= step * column[i]
            for t in range(filled):
                inverse[i, nonzero[t]] -= column[i] * inverse[leaving, nonzero[t]]
    cover.basis[leaving], level[leaving] = entering, step


@inner_kernel
def best_cover(
    geometry: Geometry, node: Node, regions: BallRegions, cover: Cover, n: int, proven: float, enough: float
) -> float:
    """The better of the program and of what `cover_bound` has ``proven``, with its load in cover.best_load.

    Stops as soon as more than ``enough`` is proven.
    """
    for j in range(cover.load.shape[0]):
        cover.best_load[j] = cover.load[j]
    m, most_slots = cover.count[0], cover.move.shape[0]
    if m > most_slots:
        return proven
    near = set_reach(geometry, node, enough, cover)
    basis, level, move, column = cover.basis, cover.level, cover.move, cover.column
    _widen(cover, 0)
    spare_row = basis.shape[0] - 1
    basis[spare_row], level[spare_row] = -1, 0.0
    total, queued, most_rows = 0.0, int64(0), n + MAX_SIGNED
    for _ in range(PIVOTS * cover.load.shape[0]):
        slack, most, entering = int64(-1), NEGLIGIBLE, int64(-1)
        for i in range(m):
            if -move[i] > most:
                slack, most = i, -move[i]
        if slack < 0:
            place, queued = _price(cover, n, queued)
            if place < 0:
                end = add_signed(geometry, node, regions, cover, n, most_rows) if near else n
                if end == n or cover.count[0] > most_slots:
                    break
                _widen(cover, m)
                n, m = end, cover.count[0]
                continue
            entering, most = cover.queue[place], cover.missing[place]
        _enter(cover, entering, slack, m)
        leaving, step, largest = int64(-1), math.inf, 0.0
        for i in range(m):
            largest = max(largest, abs(column[i]))
        for i in range(m):
            if column[i] > NEGLIGIBLE * largest and level[i] < step * column[i]:
                leaving, step = i, max(0.0, level[i]) / column[i]
        if leaving < 0:  # the row can be loaded without end: no centre of the node is good
            if entering >= 0 and enough < math.inf:
                step = BEYOND * (enough - total) / most
                basis[spare_row], level[spare_row] = entering, step
                for i in range(m):
                    level[i] -= step * column[i]
            break
        _pivot(cover, entering, leaving, step, most, m)
        total += step * most
        if total * SAFE > enough:
            break
    return _checked(cover, m, proven)


@inner_kernel
def _checked(cover: Cover, m: int, proven: float) -> float:
    """What the basis proves, whatever rounding did to it: levels clipped at 0, loads summed again and scaled."""
    for j in range(m):
        cover.trial[j] = 0.0
    total, heaviest = 0.0, 1.0
    for i in range(m + 1):
        place = i if i < m else cover.basis.shape[0] - 1
        r, level = cover.basis[place], cover.level[place]
        if r >= 0 and level > 0.0:
            worth = level * cover.right[r]
            total += worth - ROUNDING * abs(worth)
            for j in range(cover.size[r]):
                load = level * cover.chord[r, j]
                cover.trial[cover.slot[r, j]] += load + ROUNDING * abs(load)
    for j in range(m):
        heaviest = max(heaviest, cover.trial[j])
    if not total / heaviest * SAFE > proven:
        return proven
    for j in range(cover.load.shape[0]):
        cover.best_load[j] = 0.0
    for j in range(m):
        cover.best_load[cover.literal[j]] = cover.trial[j] / heaviest
    return total / heaviest * SAFE
