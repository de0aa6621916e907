"""The finitely many centres per column that an optimal answer needs, exactly.

Let the room around centre c cover [low(c), high(c)] in one column, exactly as `Body.around` says (rounded inwards,
clipped, whole). Both ends grow with c. Among all centres above the factual whose room covers the same cells or fewer,
the nearest is the first one with low(c) > t for some cut t; below the factual it is the last one with high(c) <= t. So
these, and the factual itself (moved into the limits), are all the positions an optimal centre needs:

* low(c) > t   iff c - down > t in real numbers: the first such float is the first one above t + down;
* high(c) <= t iff c + up < next(t) in real numbers: the last such float is the last one below next(t) - up;

and likewise with whole numbers. Every position is checked against `Body.around`, and so is its neighbour; where
rounding or clipping makes the formula miss, the position is found by bisection over all floats.
"""

from __future__ import annotations

import numpy as np

from elbowroom.numerics import Bools, Floats, Ints, last_float_where, next_down, next_up
from elbowroom.problem import Body, RecourseProblem, Shape, Walls

WHOLE_SPACING = 2.0**52  # from here on neighbouring floats are whole numbers


def room_edges(problem: RecourseProblem, columns: Ints, centers: Floats) -> tuple[Floats, Floats]:
    """Smallest and largest value of the room in one column, for many centres of (equal or different) columns."""
    walls = Walls(Shape.BOX, problem.walls.down[columns], problem.walls.up[columns])
    body = Body.around(
        centers, walls, problem.lower[columns], problem.upper[columns], problem.space.whole_room[columns], ()
    )
    return body.lower, body.upper


def escapes(problem: RecourseProblem, columns: Ints, cuts: tuple[Floats, ...], start: Floats) -> tuple[Floats, Ints]:
    """All positions of single columns: sorted values and the index of their column (into ``columns``).

    ``start`` is the home of every column: the factual moved into the limits.
    """
    cut = np.concatenate([np.zeros(0), *cuts])
    owner = np.repeat(np.arange(columns.size), [c.size for c in cuts])
    column = columns[owner]
    low, high = room_edges(problem, columns, start)
    low_end, high_end = _ends(problem, columns)
    right = (cut >= low[owner]) & (cut < low_end[owner])  # home does not lie right of the cut, but some centre does
    left = (cut < high[owner]) & (cut >= high_end[owner])
    above = _first_right_of(problem, column[right], cut[right])
    below = _last_left_of(problem, column[left], cut[left])
    values = np.concatenate([start, above, below])
    owners = np.concatenate([np.arange(columns.size), owner[right], owner[left]])
    inside = (values >= problem.lower[columns[owners]]) & (values <= problem.upper[columns[owners]])
    values, owners = values[inside], owners[inside]
    order = np.lexsort((values, owners))
    values, owners = values[order], owners[order]
    fresh = np.ones(values.size, dtype=bool)
    fresh[1:] = (values[1:] != values[:-1]) | (owners[1:] != owners[:-1])
    return values[fresh], owners[fresh]


def _ends(problem: RecourseProblem, columns: Ints) -> tuple[Floats, Floats]:
    """The largest low end and the smallest high end that any room within the limits has (infinite if unlimited)."""
    lower, upper = problem.lower[columns], problem.upper[columns]
    low_end, high_end = np.full(columns.size, np.inf), np.full(columns.size, -np.inf)
    bounded = np.isfinite(upper)
    low_end[bounded] = room_edges(problem, columns[bounded], upper[bounded])[0]
    bounded = np.isfinite(lower)
    high_end[bounded] = room_edges(problem, columns[bounded], lower[bounded])[1]
    return low_end, high_end


def _first_right_of(problem: RecourseProblem, column: Ints, cut: Floats) -> Floats:
    """The smallest centre whose room lies right of the cut: low(c) > cut."""
    whole = problem.space.whole_center[column]
    total, error = _sum(cut, problem.walls.down[column])
    floor = np.floor(total) - ((total == np.floor(total)) & (error < 0))
    guess = np.where(whole, _next_whole(floor), np.where(error < 0, total, next_up(total)))

    def right_of(centers: Floats, chosen: Ints) -> Bools:
        return np.asarray(room_edges(problem, column[chosen], centers)[0] > cut[chosen])

    everyone = np.arange(cut.size)
    before = np.where(whole, -_next_whole(-guess), next_down(guess))
    missed = np.flatnonzero(~right_of(guess, everyone) | right_of(before, everyone))
    if missed.size:
        snap = whole[missed]

        def left_or_on(x: Floats) -> Bools:
            return ~right_of(np.where(snap, np.ceil(x), x), missed)

        with np.errstate(over="ignore", invalid="ignore"):  # the bisection starts at the ends of all floats
            edge = next_up(last_float_where(left_or_on, missed.size))
        guess[missed] = np.where(snap, np.ceil(edge), edge)
    return guess


def _last_left_of(problem: RecourseProblem, column: Ints, cut: Floats) -> Floats:
    """The largest centre whose room lies left of the cut: high(c) <= cut."""
    whole = problem.space.whole_center[column]
    after = np.where(whole, _next_whole(cut), next_up(cut))
    total, error = _sum(after, -problem.walls.up[column])
    ceiling = np.ceil(total) + ((total == np.ceil(total)) & (error > 0))
    guess = np.where(whole, -_next_whole(-ceiling), np.where(error > 0, total, next_down(total)))

    def left_of(centers: Floats, chosen: Ints) -> Bools:
        return np.asarray(room_edges(problem, column[chosen], centers)[1] <= cut[chosen])

    everyone = np.arange(cut.size)
    beyond = np.where(whole, _next_whole(guess), next_up(guess))
    missed = np.flatnonzero(~left_of(guess, everyone) | left_of(beyond, everyone))
    if missed.size:
        snap = whole[missed]

        def left(x: Floats) -> Bools:
            return left_of(np.where(snap, np.floor(x), x), missed)

        with np.errstate(over="ignore", invalid="ignore"):
            edge = last_float_where(left, missed.size)
        guess[missed] = np.where(snap, np.floor(edge), edge)
    return guess


def _next_whole(x: Floats) -> Floats:
    """The whole number after a whole number."""
    return np.where(np.abs(x) < WHOLE_SPACING, x + 1.0, next_up(x))


def _sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Knuth's TwoSum: the rounded sum and its exact error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)
