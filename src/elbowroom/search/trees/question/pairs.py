"""Rows of two columns on trees, a x_i + b x_j <= c, for the l1 distance: finitely many centres are enough.

Between two cuts nothing about the rooms changes, so the closest centre under rows is a corner of a polyhedron whose sides
are rows, limits of columns and bends of the cost. Where rows form a forest over the columns, every tree of tight rows has a
column at a limit or bend of its own, and the others follow from it along tight rows. So the positions of a column are its
own edges (from both sides of every cut), and the edges of the columns it is tied to, carried over along the rows. Two rows of
the same columns that are not parallel may both be tight: where they cross counts as an edge of either column.

A row then forbids positions like a clause: beyond some position of one column and some position of the other, all centres
break it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from elbowroom.numerics import Bools, Floats, Ints
from elbowroom.problem import Distance, RecourseProblem
from elbowroom.problem.conditions import ROW_SLACK, Row
from elbowroom.search.trees.question.positions import Room, first_right_of, last_left_of

if TYPE_CHECKING:
    from elbowroom.search.trees.question.layout import Layout

MOST_TIED: Final = 5  # columns of one tree of rows
MOST_POSITIONS: Final = 20_000  # of one column


class TooManyPositionsError(Exception):
    """Rows carry more positions to a column than are searched; leaving some out would make bounds false."""


@dataclass(frozen=True, eq=False)
class Tie:
    """first * x_i + second * x_j + rest <= most, where ``rest`` is what fixed columns add; one column: j = i, second = 0."""

    i: int
    j: int
    first: float
    second: float
    rest: float
    size: float  # of the fixed terms
    most: float

    def broken(self, x: Floats, y: Floats) -> Bools:
        """Which pairs of values break it, beyond the rounding of its terms."""
        u, v = (self.first * x)[:, None], (self.second * y)[None, :]
        slack = ROW_SLACK * (np.abs(u) + np.abs(v) + self.size)
        return np.asarray(u + v + self.rest > self.most + slack)

    def carried(self, column: int, values: Floats) -> Floats:
        """The values of the other column with which it is tight."""
        mine, other = (self.first, self.second) if column == self.i else (self.second, self.first)
        return np.asarray((self.most - self.rest - mine * values) / other)


def ties_of(problem: RecourseProblem) -> tuple[Tie, ...] | None:
    """The rows of a question as ties; None if they are of another kind (see the module)."""
    if problem.distance is not Distance.L1:
        return None
    first, last = problem.centers
    found: list[Tie] = []
    parent = {f: f for f in range(first.size)}

    def root(f: int) -> int:
        while parent[f] != f:
            f = parent[f]
        return f

    edges: dict[tuple[int, int], Floats] = {}
    for row in problem.conditions.rows:
        free = np.flatnonzero((row.coefficients != 0.0) & (first < last))
        if free.size > 2 or bool((problem.space.group_of[free] >= 0).any()):
            return None
        if free.size == 2:
            i, j = int(free[0]), int(free[1])
            whole = problem.space.whole_center[free]
            if whole.all() and abs(row.coefficients[i]) != abs(row.coefficients[j]):
                return None
            if (i, j) not in edges:
                if root(i) == root(j):
                    return None
                parent[root(i)] = root(j)
            elif whole.any() and not _parallel(edges[i, j], row.coefficients[free]):
                return None  # the closest whole numbers need not be next to where they cross
            edges.setdefault((i, j), row.coefficients[free])
        found += _sides(row, free, first)
    trees = [root(f) for f in parent]
    return None if max(map(trees.count, set(trees))) > MOST_TIED else tuple(found)


def _parallel(a: Floats, b: Floats) -> bool:
    return bool(a[0] * b[1] == a[1] * b[0])


def _sides(row: Row, free: Ints, fixed: Floats) -> list[Tie]:
    still = np.setdiff1d(np.arange(fixed.size), free)
    terms = row.coefficients[still] * np.where(row.coefficients[still] != 0.0, fixed[still], 0.0)
    rest, size = float(terms.sum()), float(np.abs(terms).sum())
    i, j = (int(free[0]), int(free[-1])) if free.size else (int(np.argmax(row.coefficients != 0.0)), -1)
    made = []
    for sign, most in ((1.0, row.high), (-1.0, -row.low)):
        if math.isfinite(most):
            a = sign * float(row.coefficients[i]) if free.size else 0.0
            b = sign * float(row.coefficients[j]) if free.size == 2 else 0.0
            made.append(Tie(i, j if free.size == 2 else i, a, b, sign * rest, size, most))
    return made


def tied_positions(
    problem: RecourseProblem, ties: tuple[Tie, ...], cuts: dict[int, Floats], marks: dict[int, list[float]]
) -> dict[int, Floats]:
    """All positions of the columns that rows are about; ``marks`` are further edges of them."""
    room, (first, last) = Room(problem), problem.centers
    whole = problem.space.whole_center
    found: dict[int, set[float]] = {}
    for f in {f for tie in ties for f in (tie.i, tie.j)}:
        own = cuts.get(f, np.zeros(0))
        own = own[np.isfinite(own)]
        column = np.full(own.size, f)
        edges = [first[f : f + 1], last[f : f + 1], first_right_of(room, column, own), last_left_of(room, column, own)]
        bends = [np.clip(problem.factual[f], first[f], last[f])[None], np.array(marks.get(f, []))]
        for sign in (1.0, -1.0) if f in problem.metric.priced else ():
            bends.append(
                problem.factual[f] + sign * problem.metric.pieces(f, float(problem.factual[f]), sign > 0).starts
            )
        found[f] = _inside(np.concatenate([*edges, *bends]), first[f], last[f], bool(whole[f]))
    for tie in ties:
        if tie.i == tie.j and tie.first != 0.0:
            edge = np.array([(tie.most - tie.rest) / tie.first])
            found[tie.i] |= _inside(edge, first[tie.i], last[tie.i], bool(whole[tie.i]))
    pairs = [tie for tie in ties if tie.i != tie.j]
    for one, other in combinations(pairs, 2):
        if (one.i, one.j) == (other.i, other.j):
            for f, edge in zip((one.i, one.j), _crossing(one, other), strict=True):
                found[f] |= _inside(edge, first[f], last[f], bool(whole[f]))
    spread = _rounded if any(whole[f] for f in found) else _along
    return {f: np.array(sorted(values)) for f, values in spread(pairs, found, problem).items()}


def _crossing(one: Tie, other: Tie) -> tuple[Floats, Floats]:
    """Where both are tight, by Cramer's rule; nowhere if they are parallel."""
    area = one.first * other.second - one.second * other.first
    if area == 0.0:
        return np.zeros(0), np.zeros(0)
    c, d = one.most - one.rest, other.most - other.rest
    x, y = c * other.second - one.second * d, one.first * d - c * other.first
    return np.array([x / area]), np.array([y / area])


def _along(pairs: list[Tie], own: dict[int, set[float]], problem: RecourseProblem) -> dict[int, set[float]]:
    """Every edge carried over along the only way from its column to each other one, by each row of two columns on that way."""
    first, last = problem.centers

    def reached(g: int, behind: int) -> set[float]:
        values = set(own[g])
        for f in {tie.i + tie.j - g for tie in pairs if g in (tie.i, tie.j)} - {behind}:
            from_there = np.array(sorted(reached(f, g)))
            for tie in pairs:
                if {tie.i, tie.j} == {f, g}:
                    values |= _inside(tie.carried(f, from_there), first[g], last[g], False)
        return _few_enough(values)

    return {g: reached(g, -1) for g in own}


def _rounded(pairs: list[Tie], own: dict[int, set[float]], problem: RecourseProblem) -> dict[int, set[float]]:
    """Whole numbers are rounded on the way, and what is rounded is an edge again: to and fro, until nothing is new."""
    (first, last), whole = problem.centers, problem.space.whole_center
    found = {f: set(values) for f, values in own.items()}
    for _ in range(2 * MOST_TIED):
        grown = False
        for tie in pairs:
            for f, g in ((tie.i, tie.j), (tie.j, tie.i)):
                more = _inside(tie.carried(f, np.array(sorted(found[f]))), first[g], last[g], bool(whole[g])) - found[g]
                found[g] = _few_enough(found[g] | more)
                grown |= bool(more)
        if not grown:
            break
    return found


def _few_enough(values: set[float]) -> set[float]:
    if len(values) > MOST_POSITIONS:
        raise TooManyPositionsError
    return values


def _inside(values: Floats, low: float, high: float, whole: bool) -> set[float]:
    if whole:
        values = np.concatenate([np.floor(values), np.ceil(values)])
    return set((values[np.isfinite(values) & (values >= low) & (values <= high)] + 0.0).tolist())


def forbidden_by_ties(layout: Layout, ties: tuple[Tie, ...], x: Ints) -> tuple[Ints, Ints] | None:
    """A range of positions around x in which every centre breaks the same row; None if x breaks none.

    Of all such ranges the one whose nearer way out is dearest.
    """
    question, columns = layout.question, layout.dimensions.columns
    for tie in ties:
        d, e = (int(np.flatnonzero(columns == f)[0]) for f in (tie.i, tie.j))
        (u, cost_u), (v, cost_v) = (_values(layout, dim) for dim in (d, e))
        if tie.second == 0.0:
            v, cost_v = np.zeros(1), np.zeros(1)
        at_u, at_v = int(x[d]), int(x[e]) if tie.second != 0.0 else 0
        if not tie.broken(u[at_u : at_u + 1], v[at_v : at_v + 1])[0, 0]:
            continue
        up, vp = _outwards(u.size, at_u, tie.first), _outwards(v.size, at_v, tie.second)
        broken = tie.broken(
            u[up], v[vp]
        )  # from x on, each column towards keeping the row; row 0 and column 0 are broken
        depth = _depths(
            broken
        )  # for each k: how many steps of v, such that all of the first k + 1 steps of u are broken
        best, chosen = -1.0, (0, 0)
        for k in range(int(broken[:, 0].argmin()) if not broken[:, 0].all() else up.size):
            steps = int(depth[k])
            out_u = float(cost_u[up[k + 1]]) if k + 1 < up.size else math.inf
            out_v = float(cost_v[vp[steps]]) if steps < vp.size else math.inf
            if min(out_u, out_v) > best:
                best, chosen = min(out_u, out_v), (k, steps)
        sizes = np.diff(question.pos_start).astype(np.int64)
        below, above = np.full(sizes.size, -1, dtype=np.int64), sizes
        _wall(below, above, d, up, chosen[0] + 1, tie.first)
        if tie.second != 0.0:
            _wall(below, above, e, vp, chosen[1], tie.second)
        return below, above
    return None


def _values(layout: Layout, dim: int) -> tuple[Floats, Floats]:
    part = slice(layout.question.pos_start[dim], layout.question.pos_start[dim + 1])
    return layout.values[part], layout.question.cost[part]


def _outwards(size: int, start: int, weight: float) -> Ints:
    """Positions from ``start`` on in the direction in which the row gets easier."""
    if weight == 0.0:
        return np.array([start])
    return np.arange(start, -1, -1) if weight > 0.0 else np.arange(start, size)


def _depths(broken: Bools) -> Ints:
    """For each row: the number of leading broken entries that all rows up to it have."""
    leading = np.where(broken.all(axis=1), broken.shape[1], broken.argmin(axis=1))
    return np.minimum.accumulate(leading)


def _wall(below: Ints, above: Ints, dim: int, outwards: Ints, steps: int, weight: float) -> None:
    """Positions before the ``steps``-th on the way out are forbidden, and all on the other side of the start."""
    if weight > 0.0:
        below[dim] = outwards[steps] if steps < outwards.size else -1
    else:
        above[dim] = outwards[steps] if steps < outwards.size else above[dim]


def ways_to_keep(layout: Layout, ties: tuple[Tie, ...], x: Ints) -> list[tuple[int, int]] | None:
    """For the first row that x breaks: how far either of its columns has to go alone, as (dimension, position); None if x
    breaks none."""
    columns = layout.dimensions.columns
    for tie in ties:
        d, e = (int(np.flatnonzero(columns == f)[0]) for f in (tie.i, tie.j))
        (u, _), (v, _) = (_values(layout, dim) for dim in (d, e))
        here_u, here_v = u[x[d] : x[d] + 1], v[x[e] : x[e] + 1]
        if not tie.broken(here_u, here_v)[0, 0]:
            continue
        found = []
        up, vp = _outwards(u.size, int(x[d]), tie.first), _outwards(v.size, int(x[e]), tie.second)
        for dim, places, broken in ((d, up, tie.broken(u[up], here_v)[:, 0]), (e, vp, tie.broken(here_u, v[vp])[0])):
            if not broken.all():
                found.append((dim, int(places[int(broken.argmin())])))
        return found
    return None
