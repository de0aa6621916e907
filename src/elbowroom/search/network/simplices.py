"""Lower bounds by simplices, for two and more hidden layers: an affine function on a simplex is its values at the vertices.

With moves v >= 0 everything within an l1 distance D of the factual is the simplex of the factual and of the vertices D e_i. On a
simplex a margin is bounded above by affine functions (`simplex_bounds`), one for every choice of slopes, shift and rival. Each is a
row of values F at the vertices with  theta . F >= 0  for every valid centre  sum theta_i vertex_i;  limits of columns are rows, too.
The nearest point that satisfies all rows is a small linear program (`nearest`). Rows that matter are handed on: on a part of the
simplex they stay valid, with the value of an edge's interpolation at a vertex on that edge.

The simplex is cut in two, best first, on the edge between vertices of the answer where interpolation loses most: the cut becomes a
vertex, where bounds are exact. Edges that are short already are left alone: then the cut is at the kinks of the neurons of the first
layer that change their sign. Another way to divide it is the sign of the neuron that loses most: its hyperplane is a row of both parts,
on whose sides relu is z or 0. Both ways are tried, and the one whose parts gain more is taken. Bounds lose with the size of the
simplex, so D grows towards the best distance: see `rising`.

The room: any affine map y(x) into the room of x may play the adversary, because {(x, y) : y in room(x)} is convex. It is one shift,
the worst one at the parent's answer; near limits it is interpolated between its clipped values at both ends of the simplex.

Sound for any slopes, cuts, maps and multipliers. Roundings of values, of cuts and of shifts are a few dozen units in the last place
of the largest term of a margin: ``slack`` is many times that.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple

import numpy as np

from elbowroom.numerics import EPS, TOLERANCES, Floats, Ints
from elbowroom.problem import Distance
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.first_regions import FirstRegions
from elbowroom.search.network.nearest import nearest_answer
from elbowroom.search.network.simplex_bounds import Signs, bounds_above

_PASSES, _STEP = 2, 0.7  # rounds of slopes: each moves so far towards the signs at the relaxed answer
_MOST_ROWS = 12  # handed on
_LIMITS, _INSIDE, _WIDER = (
    6,
    1e-9,
    1e-12,
)  # of columns: rows per program; relative: what counts as inside, and the rows' slack
_BATCH = 16  # simplices at once
_SHORT, _LEAST_SHARE = (
    0.15,
    0.1,
)  # edges that are left alone, against the longest; no part gets less than this share of an edge
_ENDS, _TOUCHED = 6, 1e-3  # vertices of the answer whose edges are tried, and their least share
_ROUNDINGS = 64.0  # times the rounding of a margin; shifts that are interpolated may triple the size of a vertex
_MOST_SIGNS = 24  # of neurons, decided in one simplex
_LEAST_GAIN = 1e-4  # of a part, as a share of the goal: the other part's gain counts as well
_DEEPEST = 800  # cuts of cuts: each moves a vertex by a rounding
_BISECTIONS = 8  # sizes of the first simplex that are tried for the bound at once
_MOST_NUMBERS = 2.5e7  # kept with waiting simplices
_FEWER = 0.25  # weight of a neuron that is off, against one that is on, when kinks are chosen


def fits(search: NetworkSearch) -> bool:
    """Distances and rooms for which the simplices are written: l1, no categories or whole numbers inside rooms."""
    problem, moves = search.problem, search.moves
    moving = np.maximum(problem.walls.up, problem.walls.down) > 0.0
    smooth = not problem.walls.free_groups and not (problem.space.whole_room & moving).any()
    return moves.distance is Distance.L1 and moves.size > 0 and bool((moves.cost == 1.0).all()) and smooth


@dataclass(frozen=True, eq=False)
class _Simplex:
    vertices: Ints  # numbers of rows in the table of vertices
    rows: Floats  # (rows, vertices): affine functions that are not negative at any valid centre of the simplex
    shift: Floats
    rival: int
    slopes: tuple[Floats, ...]  # per hidden layer
    depth: int
    signs: Signs

    @property
    def numbers(self) -> int:
        """About how many are kept with it."""
        return self.rows.size + self.signs.rows.size + sum(part.size for part in self.slopes)


@dataclass(frozen=True, eq=False)
class _Answer:
    """The relaxed answer of a simplex: shares of its vertices, and the bound of its own shift there."""

    share: Floats
    F: Floats


class _Cut(NamedTuple):
    """A simplex with a proven bound, and ways to divide it: the parts of each cover all of its valid centres."""

    bound: float
    ways: tuple[tuple[_Simplex, ...], ...]


class Simplices:
    """All centres closer than a cutoff; ``run`` goes on where it stopped."""

    def __init__(self, search: NetworkSearch, regions: FirstRegions, cutoff: float) -> None:
        self.search, self.regions, self.network = search, regions, search.network
        self.cutoff, self.bound, self.nodes = cutoff, 0.0, 0
        moves, problem = search.moves, search.problem
        self.low, self.high = problem.lower, problem.upper
        self.bounded = bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())
        left = max(cutoff - float(moves.low.sum()), 0.0)
        base = moves.points(moves.low[None])
        corners = moves.low + left * np.eye(moves.size)
        X = np.repeat(base, moves.size, axis=0)
        for column, sign in ((moves.plus, 1.0), (moves.minus, -1.0)):
            used = np.flatnonzero(column >= 0)
            X[used, column[used]] += sign * left * moves.unit[used]
        self._table, self._distance = np.vstack([base, X]), np.concatenate([[moves.low.sum()], corners.sum(axis=1)])
        self._rows = len(self._table)
        walls = np.maximum(problem.walls.up, problem.walls.down)
        self._reach = np.abs(self._table).max(axis=0) + 1.0
        size = self._reach + np.where(np.isfinite(walls), walls, 0.0)
        self.slack = _ROUNDINGS * self.network.rounding(size)
        largest = np.abs(self.network.weights[0]) @ size + np.abs(self.network.biases[0])
        self._first_slack = _ROUNDINGS * (size.size + 8) * 2.0**-51 * largest  # the same for the first layer alone
        self._ticket, self._kept = count(), 0
        self._heap: list[tuple[float, int, _Simplex, _Answer]] = []
        self._size = 1
        shift, rival, _ = self._worst(base[0])
        hidden, slopes = base + shift, list[Floats]()
        for weight, bias in zip(self.network.weights[:-1], self.network.biases[:-1], strict=True):
            z = hidden @ weight.T + bias
            slopes.append((z[0] > 0.0) * 1.0)
            hidden = np.maximum(z, 0.0)
        no_rows = np.zeros((0, self._rows))
        root = _Simplex(np.arange(self._rows), no_rows, shift, rival, tuple(slopes), 0, Signs.none(self._rows))
        self._todo = [_Cut(0.0, ((root,),))]

    # ---- the search -----------------------------------------------------------------------------------------------
    def run(self, nodes: int) -> bool:
        """So many more simplices; True if all that is closer than the best is done."""
        until = self.nodes + nodes
        while self._todo or self._heap:
            if self._todo:
                self._evaluate_all()
            best = min(self.cutoff, self.search.best_distance)
            self.bound = max(self.bound, min(self._heap[0][0] if self._heap else np.inf, best))
            self.search.prove(self.bound * (1.0 - 1e-9))
            if not self._heap or self.bound >= best * (1.0 - 0.5 * TOLERANCES.continuous_gap):
                self._todo, self._heap = [], []
                return True
            if self.search.clock.expired or self._kept > _MOST_NUMBERS:
                return False
            for _ in range(min(self._size, len(self._heap))):
                bound, _, simplex, answer = heapq.heappop(self._heap)
                if bound >= best:
                    break
                self._kept -= simplex.numbers
                self._todo.append(self._cut(simplex, answer, bound))
            self._size = min(2 * self._size, _BATCH)
            if self.nodes >= until:
                return False
        return True

    def _evaluate_all(self) -> None:
        """Bounds of the fresh simplices; where there are two ways to cut, the parts of the better one are kept."""
        todo, self._todo = self._todo, []
        made = iter(self._evaluated([(cut.bound, s) for cut in todo for parts in cut.ways for s in parts]))
        goal = min(self.cutoff, self.search.best_distance)
        for cut in todo:
            ways = [[next(made) for _ in parts] for parts in cut.ways]
            gains = [
                math.prod(max(min(bound, goal) - cut.bound, _LEAST_GAIN * goal) for bound, _, _ in way) for way in ways
            ]
            for bound, simplex, answer in ways[gains.index(max(gains))]:
                if bound < goal:
                    assert answer is not None
                    self._kept += simplex.numbers
                    heapq.heappush(self._heap, (bound, next(self._ticket), simplex, answer))

    def _evaluated(self, todo: list[tuple[float, _Simplex]]) -> list[tuple[float, _Simplex, _Answer | None]]:
        """Bounds, with the rows and slopes that gave them, and relaxed answers. ``todo``: with bounds that are known already."""
        V = self._table[np.array([s.vertices for _, s in todo])]
        distance = self._distance[np.array([s.vertices for _, s in todo])]
        Y = self._shifted(V, np.array([s.shift for _, s in todo]))
        rival, signs = np.array([s.rival for _, s in todo]), [s.signs for _, s in todo]
        slopes = [np.array(part) for part in zip(*(s.slopes for _, s in todo), strict=True)]
        best, answers = np.full(len(todo), -1.0), list[_Answer | None]([None] * len(todo))
        rows = [s.rows for _, s in todo]
        for k in range(_PASSES):
            F, middle = bounds_above(self.network, Y, slopes, rival, signs)
            F += self.slack
            point = np.zeros(distance.shape)
            for i in range(len(todo)):
                value, point[i], rows[i] = self._solve(signs[i].rows, np.vstack([rows[i], F[i]]), distance[i], V[i])
                if value > best[i]:
                    best[i], answers[i] = value, _Answer(point[i].copy(), F[i])
            if k < _PASSES - 1:
                active = [np.matmul(point[:, None, :], z)[:, 0] > 0.0 for z in middle]
                slopes = [part + _STEP * (on - part) for part, on in zip(slopes, active, strict=True)]
        self.nodes += len(todo)
        found = []
        for i, (known, simplex) in enumerate(todo):
            improved = replace(simplex, rows=rows[i][-_MOST_ROWS:], slopes=tuple(part[i] for part in slopes))
            found.append((max(float(best[i]), known), improved, answers[i]))
        return found

    def _solve(self, fixed: Floats, rows: Floats, distance: Floats, V: Floats) -> tuple[float, Floats, Floats]:
        """The nearest answer of all rows, about where it is, and which of ``rows`` decide it; limits that it breaks become rows."""
        value, share, weight = nearest_answer(np.vstack([fixed, rows]), distance)
        for _ in range(_LIMITS if self.bounded else 0):
            if value == np.inf:
                break
            p = share @ V
            beyond = np.maximum(p - self.high, self.low - p) / self._reach
            f = int(np.argmax(beyond))
            if beyond[f] <= _INSIDE:
                break
            over = p[f] > self.high[f]
            limit = self.high[f] if over else self.low[f]
            row = (limit - V[:, f] if over else V[:, f] - limit) + _WIDER * (np.abs(V[:, f]) + self._reach[f])
            rows = np.vstack([row, rows])
            value, share, weight = nearest_answer(np.vstack([fixed, rows]), distance)
        return value, share, rows[weight[len(fixed) :] > 0.0]

    def _cut(self, simplex: _Simplex, answer: _Answer, bound: float) -> _Cut:
        """Ways to divide a simplex, with the adversary that is worst at its relaxed answer."""
        V = self._table[simplex.vertices]
        p = np.clip(answer.share @ V, self.low, self.high)
        shift, rival, margin = self._worst(p)
        if margin >= 0.0:  # a centre that no attack breaks: perhaps a better answer
            self.regions.settle(self.search.moves.of_center(p))
        if simplex.depth >= _DEEPEST:
            return _Cut(bound, ((simplex,),))
        fresh = replace(simplex, shift=shift, rival=rival, depth=simplex.depth + 1)
        Y = self._shifted(V[None], simplex.shift[None])[0]
        z = Y @ self.network.weights[0].T + self.network.biases[0]
        effect = self._effect(answer.share @ Y, simplex)
        ways = [self._two_halves(fresh, *self._edge(simplex, V, Y, z, effect, answer))]
        neuron = self._neuron(simplex, z, effect, answer)
        if neuron is not None:
            row, slack = z[:, neuron], self._first_slack[neuron]
            ways.append(
                [
                    replace(fresh, signs=simplex.signs.and_one(neuron, on, (row if on else -row) + slack))
                    for on in (True, False)
                ]
            )
        return _Cut(bound, tuple(map(tuple, ways)))

    def _two_halves(self, simplex: _Simplex, a: int, b: int, share: float) -> list[_Simplex]:
        """Cut on the edge from a to b."""
        new = self._add(simplex.vertices[a], simplex.vertices[b], share)
        halves = []
        for out in (a, b):
            vertices, rows, known = simplex.vertices.copy(), simplex.rows.copy(), simplex.signs.rows.copy()
            vertices[out] = new
            for values, given in ((rows, simplex.rows), (known, simplex.signs.rows)):
                values[:, out] = (1.0 - share) * given[:, a] + share * given[:, b]
                values[:, out] += 4.0 * EPS * (np.abs(given[:, a]) + np.abs(given[:, b]))
            halves.append(replace(simplex, vertices=vertices, rows=rows, signs=simplex.signs._replace(rows=known)))
        return halves

    def _add(self, a: int, b: int, share: float) -> int:
        """A further vertex, on an edge."""
        if self._rows == len(self._table):
            self._table = np.concatenate([self._table, np.empty_like(self._table)])
            self._distance = np.concatenate([self._distance, np.empty_like(self._distance)])
        self._table[self._rows] = (1.0 - share) * self._table[a] + share * self._table[b]
        self._distance[self._rows] = (1.0 - share) * self._distance[a] + share * self._distance[b]
        self._rows += 1
        return self._rows - 1

    # ---- bounds ---------------------------------------------------------------------------------------------------
    def _shifted(self, V: Floats, shift: Floats) -> Floats:
        """y(x) of a shift: inside the room and the limits for every x of the simplex that is inside the limits."""
        if not self.bounded:
            return np.asarray(V + shift[:, None, :])
        low = np.maximum(V.min(axis=1), self.low)
        high = np.maximum(np.minimum(V.max(axis=1), self.high), low)
        at_low = np.clip(low + shift, self.low, self.high) - low
        at_high = np.clip(high + shift, self.low, self.high) - high
        slope = np.where(high > low, (at_high - at_low) / np.where(high > low, high - low, 1.0), 0.0)
        return np.asarray(V + at_low[:, None, :] + slope[:, None, :] * (V - low[:, None, :]))

    def _edge(
        self, simplex: _Simplex, V: Floats, Y: Floats, z: Floats, effect: Floats, answer: _Answer
    ) -> tuple[int, int, float]:
        """Where to cut: on the edge of the answer where interpolation loses most, unless it is short; else at kinks."""
        share, scale = answer.share, self._scale
        ends = np.argsort(-share, kind="stable")[:_ENDS]
        ends = ends[share[ends] > _TOUCHED]
        if ends.size > 1:
            A, B = (ends[side] for side in np.triu_indices(ends.size, 1))
            weight = share[A] + share[B]
            part = share[B] / weight
            between = (1.0 - part)[:, None] * Y[A] + part[:, None] * Y[B]
            bound = (1.0 - part) * answer.F[A] + part * answer.F[B]
            k = int(np.argmax((bound - self.network.margins(between)[:, simplex.rival]) * weight))
            a, b = int(A[k]), int(B[k])
            reach = np.abs(V - V[a]) @ scale
            if reach[b] > _SHORT * reach.max():
                return a, b, min(max(float(part[k]), _LEAST_SHARE), 1.0 - _LEAST_SHARE)
        a = int(ends[0])
        small = np.where((z > 0.0) != (z[a] > 0.0), np.minimum(np.abs(z), np.abs(z[a])), 0.0) * np.abs(effect)
        score = small.sum(axis=1)
        c = int(np.argmax(score))
        if score[c] <= 0.0:
            return a, int(np.argmax(np.abs(V - V[a]) @ scale)), 0.5
        at = float((small[c] * np.abs(z[a]) / (np.abs(z[a]) + np.abs(z[c]) + 1e-300)).sum() / score[c])
        return a, c, min(max(at, _LEAST_SHARE), 1.0 - _LEAST_SHARE)

    def _neuron(self, simplex: _Simplex, z: Floats, effect: Floats, answer: _Answer) -> int | None:
        """The open neuron of the first layer whose relaxation loses most at the answer."""
        if simplex.signs.neuron.size >= _MOST_SIGNS:
            return None
        at = answer.share @ z
        active = np.maximum(at, 0.0)
        above, below = answer.share @ np.maximum(z, 0.0) - active, active - simplex.slopes[0] * at
        loss = np.where(effect > 0.0, effect * above, -effect * below)
        loss[(z.min(axis=0) >= 0.0) | (z.max(axis=0) <= 0.0)] = 0.0
        loss[simplex.signs.neuron] = 0.0
        q = int(np.argmax(loss))
        return q if loss[q] > 0.0 else None

    @property
    def _scale(self) -> Floats:
        """Distance per raw unit, column by column."""
        scale, moves = np.zeros(self.low.size), self.search.moves
        for column in (moves.plus, moves.minus):
            used = column >= 0
            scale[column[used]] = 1.0 / moves.unit[used]
        return scale

    def _effect(self, y: Floats, simplex: _Simplex) -> Floats:
        """About d margin / d neuron of the first layer at a point."""
        network, masks, hidden = self.network, list[Floats](), y
        for weight, bias in zip(network.weights[:-1], network.biases[:-1], strict=True):
            z = weight @ hidden + bias
            masks.append(np.where(z > 0.0, 1.0, _FEWER))
            hidden = np.maximum(z, 0.0)
        slope = network.weights[-1][simplex.rival]
        for weight, mask in zip(network.weights[-2:0:-1], masks[:0:-1], strict=True):
            slope = (slope * mask) @ weight
        return slope

    def _worst(self, x: Floats) -> tuple[Floats, int, float]:
        """The worst known scenario and rival at a point; attacks its room if none is bad: shift, rival, margin."""
        pool, network = self.regions.penalty.pool, self.network
        x = np.clip(x, self.low, self.high)
        margin = network.margins(pool.points(x))
        if margin.min() >= -1e-6:
            self.regions.penalty.attack(x)
            margin = network.margins(pool.points(x))
        k, rival = np.unravel_index(int(np.argmin(margin)), margin.shape)
        return pool.shift[int(k)], int(rival), float(margin[k, rival])


def bound_at_once(search: NetworkSearch, regions: FirstRegions, size: float) -> float:
    """The bound of one simplex, the best of several sizes: it doubles while all of it is proven to be bad, then halves."""
    low, high, best = 0.0, np.inf, 0.0
    for _ in range(_BISECTIONS):
        if search.clock.expired:
            break
        simplex = Simplices(search, regions, size)
        simplex.run(1)
        best = max(best, simplex.bound)
        if simplex.bound >= size * (1.0 - TOLERANCES.continuous_gap):
            low, size = size, 2.0 * size if high == np.inf else 0.5 * (size + high)
        else:
            high, size = size, 0.5 * (low + size)
    return best
