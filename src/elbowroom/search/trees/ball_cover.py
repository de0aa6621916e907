"""What it costs at least to leave many bad regions together (l1 only).

gain(c) / need <= a c with the chord a = gain(cap) / (need cap), so every good centre satisfies sum_j a_Rj c_j >= 1 for
every region R: a covering problem. Any y >= 0 with load_j = sum_R a_Rj y_R <= 1 proves the extra cost sum_R y_R, and
reduced prices 1 - load_j for whatever else is proven about the same moves.

A first y is made greedily. The best one is a linear program, max sum_R y_R subject to load <= 1, with few rows (literals)
and many columns (regions): the simplex method with an explicit inverse, from y = 0. Whatever it ends with is clipped
at 0, loaded anew and scaled down to loads of at most 1, so that nothing depends on its rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.ball_bound import SAFE
from elbowroom.search.trees.bundle import Bundle
from elbowroom.search.trees.compiled import inner_kernel, int64, sort_by

MAX_MET = 800  # regions that are compared and covered: the more, the better the bound, and most nodes meet fewer
MOST_ROWS = 256  # literals of the linear program
QUEUE = 16  # regions that are priced at every pivot; all of them only when these are covered
PIVOTS = 4  # per row
TINY = 1e-9  # relative: what does not count as a violated row, or as a pivot


@dataclass(frozen=True, eq=False)
class Cover(Bundle):
    """Regions that the room at x meets, with the chords of their literals, and room for the linear program."""

    row: Ints  # (MAX_MET,)
    value: Floats  # bound of the region alone
    need: Floats
    size: Ints
    key: Ints  # (MAX_MET, 2 dims): 2 d + up
    chord: Floats
    order: Ints
    rank: Floats
    load: Floats  # (2 dims,) of the greedy cover
    best_load: Floats  # of the linear program
    trial: Floats
    basis: Ints  # (rows,) region, or -1 for the slack
    level: Floats  # (rows,) value of the basic column
    move: Floats  # (rows,) the program's prices: moves along the literals
    column: Floats  # (rows,)
    nonzero: Ints  # (rows,)
    queue: Ints  # (QUEUE,) regions that are looked at first
    missing: Floats
    inverse: Floats  # (rows, rows)

    @classmethod
    def of(cls, n_dims: int) -> Cover:
        n, sides, rows = MAX_MET + 1, 2 * n_dims, min(2 * n_dims, MOST_ROWS)
        return cls(
            np.zeros(n, np.int64), np.zeros(n), np.zeros(n), np.zeros(n, np.int64), np.zeros((n, sides), np.int64),
            np.zeros((n, sides)), np.zeros(n, np.int64), np.zeros(n), np.zeros(sides), np.zeros(sides), np.zeros(sides),
            np.zeros(rows, np.int64), np.zeros(rows), np.zeros(rows), np.zeros(rows),
            np.zeros(rows, np.int64), np.zeros(QUEUE, np.int64), np.zeros(QUEUE), np.zeros((rows, rows)),
        )  # fmt: skip


@inner_kernel
def cover_bound(cover: Cover, n: int) -> float:
    """Greedy dual ascent, dearest regions first, once at full steps and once in three smaller ones; fills cover.load."""
    for i in range(n):
        cover.order[i] = i
        cover.rank[i] = -cover.value[i]
    sort_by(cover.order, cover.rank, n)
    best = -1.0
    for run in range(2):
        total = 0.0
        for j in range(cover.trial.shape[0]):
            cover.trial[j] = 0.0
        for sweep in range(1 if run == 0 else 3):
            part = 1.0 if run == 0 or sweep == 2 else (0.4 if sweep == 0 else 0.6)
            for t in range(n):
                r = cover.order[t]
                step = math.inf
                for j in range(cover.size[r]):
                    rest = 1.0 - cover.trial[cover.key[r, j]]
                    if rest <= 1e-12:
                        step = 0.0
                        break
                    step = min(step, rest / cover.chord[r, j])
                if step == 0.0 or step == math.inf:
                    continue
                total += step * part
                for j in range(cover.size[r]):
                    cover.trial[cover.key[r, j]] += step * part * cover.chord[r, j]
        if total > best:
            best = total
            for j in range(cover.trial.shape[0]):
                cover.load[j] = cover.trial[j]
    return max(0.0, best) * SAFE


@inner_kernel
def _price(cover: Cover, n: int, queued: int) -> tuple[int, int]:
    """The most violated region in the queue; an empty queue is first filled with the most violated ones of all.

    Its place in the queue (-1: none is violated) and the length of the queue.
    """
    size, key, chord, move, queue, rank = cover.size, cover.key, cover.chord, cover.move, cover.queue, cover.missing
    for attempt in range(2):
        best = int64(-1)
        for t in range(queued):
            r = queue[t]
            missing = 1.0
            for j in range(size[r]):
                missing -= chord[r, j] * move[key[r, j]]
            rank[t] = missing
            if missing > TINY and (best < 0 or missing > rank[best]):
                best = t
        if best >= 0 or attempt == 1:
            return best, queued
        queued, least = int64(0), int64(0)
        for r in range(n):
            missing = 1.0
            for j in range(size[r]):
                missing -= chord[r, j] * move[key[r, j]]
            if not missing > TINY:  # also where a way out costs nothing: its chord is infinite
                continue
            if queued < QUEUE:
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
def best_cover(cover: Cover, n: int, proven: float, enough: float) -> float:
    """The linear program, given what `cover_bound` has proven: the better of both, with its load in cover.best_load.

    Stops as soon as more than ``enough`` is proven. A row per literal: its slack is basic at first. The prices of the rows
    are moves along the literals, and the region that they leave uncovered most enters the basis.
    """
    m = cover.load.shape[0]
    for j in range(m):
        cover.best_load[j] = cover.load[j]
    if m > cover.basis.shape[0]:
        return proven
    basis, level, move, column = cover.basis, cover.level, cover.move, cover.column
    inverse, key, chord, nonzero = cover.inverse, cover.key, cover.chord, cover.nonzero
    for i in range(m):
        basis[i], level[i], move[i] = -1, 1.0, 0.0
        for j in range(m):
            inverse[i, j] = 0.0
        inverse[i, i] = 1.0
    total, queued = 0.0, int64(0)
    for _ in range(PIVOTS * m):
        slack, most = int64(-1), TINY
        for i in range(m):
            if -move[i] > most:
                slack, most = i, -move[i]
        entering = int64(-1)
        if slack >= 0:
            for i in range(m):
                column[i] = inverse[i, slack]
        else:
            place, queued = _price(cover, n, queued)
            if place < 0:
                break
            entering, most = cover.queue[place], cover.missing[place]
            for i in range(m):
                column[i] = 0.0
            for j in range(cover.size[entering]):
                p, a = key[entering, j], chord[entering, j]
                for i in range(m):
                    column[i] += inverse[i, p] * a
        leaving, step, largest = int64(-1), math.inf, 0.0
        for i in range(m):
            largest = max(largest, abs(column[i]))
        for i in range(m):
            if column[i] > TINY * largest and level[i] < step * column[i]:
                leaving, step = i, max(0.0, level[i]) / column[i]
        if leaving < 0:
            break
        filled = int64(0)  # the inverse stays sparse for a long time
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
        basis[leaving], level[leaving] = entering, step
        total += step * most
        if total * SAFE > enough:
            break
    return _checked(cover, m, proven)


@inner_kernel
def _checked(cover: Cover, m: int, proven: float) -> float:
    """What the basis proves, whatever rounding did to it: levels clipped at 0, loads added up anew and scaled."""
    for j in range(cover.trial.shape[0]):
        cover.trial[j] = 0.0
    total, heaviest = 0.0, 1.0
    for i in range(m):
        r = cover.basis[i]
        if r >= 0 and cover.level[i] > 0.0:
            total += cover.level[i]
            for j in range(cover.size[r]):
                cover.trial[cover.key[r, j]] += cover.level[i] * cover.chord[r, j]
    for j in range(cover.trial.shape[0]):
        heaviest = max(heaviest, cover.trial[j])
    if total / heaviest * SAFE <= proven:
        return proven
    for j in range(cover.trial.shape[0]):
        cover.best_load[j] = cover.trial[j] / heaviest
    return total / heaviest * SAFE
