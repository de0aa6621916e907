"""The finitely many centres per column that an optimal answer needs, exactly.

Let the room around centre c cover [low(c), high(c)] in one column, exactly as `numerics.room_ends` says (rounded inwards,
clipped, whole). Both ends grow with c. Among all centres above the factual whose room covers the same cells or fewer,
the nearest is the first one with low(c) > t for some cut t; below the factual it is the last one with high(c) <= t. So
these, and the factual itself (moved into the limits), are all the positions an optimal centre needs:

* low(c) > t   iff c - down > t in real numbers: the first such float is the first one above t + down;
* high(c) <= t iff c + up < next(t) in real numbers: the last such float is the last one below next(t) - up;

and likewise with whole numbers. Every position is checked against `room_ends`, and so is its neighbour; where
rounding or clipping makes the formula miss, the position is found by bisection over all floats.

**Room on some columns only** (`problem.on`). The kernels need both ends of the room to grow with the position, and home
to be the cheapest position. Both stay true:

* on="changed": home (if it is the factual) is a single point of one cell. A position whose room meets that cell covers
  it, at a higher cost and one more change: home is at least as good wherever it is good, so it is left out. What
  remains has its room right (left) of a cut that home does not lie right (left) of, hence wholly right (left) of home's
  cell, and among these all have their usual room: the positions above, with the room at home replaced by a point.
* on="kept": home covers K; all other positions are single points at most ``below``, which is at most the low end of K, or
  at least ``above``, which is at least its high end. So both ends still grow from the points below over K to the points
  above. Among the points >= above the nearest one in each cell is enough: ``above`` itself, and the first value right of
  each cut t >= above; likewise below. A home that is changed already (moved into the limits) is a point like the others.
"""

from __future__ import annotations

import copy

import numpy as np

from elbowroom.numerics import Bools, Floats, Ints, last_float_where, next_down, next_up, next_value, room_ends, two_sum
from elbowroom.problem import RecourseProblem
from elbowroom.problem.on import On


class Room:
    """The room of a question, column by column: where its ends lie for many centres of (equal or different) columns."""

    def __init__(self, problem: RecourseProblem) -> None:
        self.lower, self.upper = problem.limits
        self.first, self.last = problem.centers  # where centres may lie; rooms are clipped to the limits alone
        self.down, self.up = problem.walls.down, problem.walls.up
        self.whole_center, self.whole_room = problem.space.whole_center, problem.space.whole_room
        self.on, self.factual = problem.walls.on, problem.factual
        self.below, self.above = problem.least_moves

    def true_ends(self, f: Ints, centers: Floats) -> tuple[Floats, Floats]:
        """The same, with a room of 0 in the columns that have none at these centres."""
        low, high = self.ends(f, centers)
        if self.on is On.ALL:
            return low, high
        point = (centers == self.factual[f]) == (self.on is On.CHANGED)
        return np.where(point, centers, low) + 0.0, np.where(point, centers, high) + 0.0

    def of_points(self) -> Room:
        """The room that is the centre alone."""
        made = copy.copy(self)
        made.down, made.up = np.zeros_like(self.down), np.zeros_like(self.up)
        return made

    def ends(self, f: Ints, centers: Floats) -> tuple[Floats, Floats]:
        """Smallest and largest value of the room in columns f, around the given centres."""
        centers = np.array(centers, dtype=np.float64) + 0.0
        low, high = room_ends(centers, self.down[f], self.up[f], self.lower[f], self.upper[f], self.whole_room[f])
        return low + 0.0, high + 0.0


def escapes(room: Room, columns: Ints, cuts: tuple[Floats, ...], start: Floats) -> tuple[Floats, Ints]:
    """All positions of single columns: sorted values and the index of their column (into ``columns``).

    ``start`` is the home of every column: the factual moved into the limits.
    """
    cut = np.concatenate([np.zeros(0), *cuts])
    owner = np.repeat(np.arange(columns.size), [c.size for c in cuts])
    if room.on is On.KEPT:
        values, owners = _points_beyond(room, columns, cut, owner, start)
    else:
        column = columns[owner]
        low, high, low_end, high_end = ends_at_home(room, columns, start)
        right = (cut >= low[owner]) & (cut < low_end[owner])  # home does not lie right of the cut, but some centre does
        left = (cut < high[owner]) & (cut >= high_end[owner])
        above = first_right_of(room, column[right], cut[right])
        below = last_left_of(room, column[left], cut[left])
        values = np.concatenate([start, above, below])
        owners = np.concatenate([np.arange(columns.size), owner[right], owner[left]])
    inside = (values >= room.first[columns[owners]]) & (values <= room.last[columns[owners]])
    values, owners = values[inside], owners[inside]
    order = np.lexsort((values, owners))
    values, owners = values[order], owners[order]
    fresh = np.ones(values.size, dtype=bool)
    fresh[1:] = (values[1:] != values[:-1]) | (owners[1:] != owners[:-1])
    return values[fresh], owners[fresh]


def ends_at_home(room: Room, columns: Ints, start: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """The ends of the room at home; the largest low end and the smallest high end that any room within the limits has
    (infinite if unlimited)."""
    lower, upper = room.first[columns], room.last[columns]
    below, above = np.isfinite(lower), np.isfinite(upper)
    n, m = columns.size, int(above.sum())
    asked = np.concatenate([columns, columns[above], columns[below]])
    low, high = room.true_ends(asked, np.concatenate([start, upper[above], lower[below]]))
    low_end, high_end = np.full(n, np.inf), np.full(n, -np.inf)
    low_end[above], high_end[below] = low[n : n + m], high[n + m :]
    return low[:n], high[:n], low_end, high_end


def _points_beyond(room: Room, columns: Ints, cut: Floats, owner: Ints, start: Floats) -> tuple[Floats, Ints]:
    """Home, the nearest points that count as changed, and beyond them the nearest point of every cell (on="kept")."""
    keeps = start == room.factual[columns]
    under = np.where(keeps, room.below[columns], start)
    over = np.where(keeps, room.above[columns], start)
    right, left = cut >= over[owner], cut < under[owner]
    beyond = next_value(cut[right], room.whole_center[columns[owner[right]]])
    everyone = np.arange(columns.size)
    values = np.concatenate([start, under, over, beyond, cut[left]])
    return values, np.concatenate([everyone, everyone, everyone, owner[right], owner[left]])


def first_right_of(room: Room, column: Ints, cut: Floats) -> Floats:
    """The smallest centre whose room lies right of the cut: low(c) > cut."""
    whole, n = room.whole_center[column], cut.size
    total, error = two_sum(cut, room.down[column])
    floor = np.floor(total) - ((total == np.floor(total)) & (error < 0))
    guess = np.where(whole, next_value(floor, True), np.where(error < 0, total, next_up(total)))
    before = -next_value(-guess, whole)
    right = room.ends(np.concatenate([column, column]), np.concatenate([guess, before]))[0] > np.concatenate([cut, cut])
    missed = np.flatnonzero(~right[:n] | right[n:])
    if missed.size:
        snap = whole[missed]

        def left_or_on(x: Floats) -> Bools:
            return np.asarray(room.ends(column[missed], np.where(snap, np.ceil(x), x))[0] <= cut[missed])

        with np.errstate(over="ignore", invalid="ignore"):  # the bisection starts at the ends of all floats
            edge = next_up(last_float_where(left_or_on, missed.size))
        guess[missed] = np.where(snap, np.ceil(edge), edge)
    return guess


def last_left_of(room: Room, column: Ints, cut: Floats) -> Floats:
    """The largest centre whose room lies left of the cut: high(c) <= cut."""
    whole, n = room.whole_center[column], cut.size
    total, error = two_sum(next_value(cut, whole), -room.up[column])
    ceiling = np.ceil(total) + ((total == np.ceil(total)) & (error > 0))
    guess = np.where(whole, -next_value(-ceiling, True), np.where(error > 0, total, next_down(total)))
    beyond = next_value(guess, whole)
    left = room.ends(np.concatenate([column, column]), np.concatenate([guess, beyond]))[1] <= np.concatenate([cut, cut])
    missed = np.flatnonzero(~left[:n] | left[n:])
    if missed.size:
        snap = whole[missed]

        def left_of(x: Floats) -> Bools:
            return np.asarray(room.ends(column[missed], np.where(snap, np.floor(x), x))[1] <= cut[missed])

        with np.errstate(over="ignore", invalid="ignore"):
            edge = last_float_where(left_of, missed.size)
        guess[missed] = np.where(snap, np.floor(edge), edge)
    return guess
