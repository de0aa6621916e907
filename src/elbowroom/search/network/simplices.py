"""Lower bounds by simplices, for two and more hidden layers: an affine function on a simplex is its values at the vertices.

With moves v >= 0 everything within an l1 distance D of the factual is the simplex of the factual and of the vertices D e_i. On a
simplex a margin is bounded above by an affine function, kept as its values F at the vertices: relu of an affine function is
convex, so that it lies below the interpolation of its values at the vertices (exact there); from below it has any slope alpha
in [0, 1]. A layer is then two matrix products. The last hidden layer's neurons that stay linear (on, or of negative weight) are
summed up over the layer below before that one is relaxed, so that they cancel.

The nearest point where the upper bound reaches 0,  min theta . dist  s.t.  theta . F >= 0  on the unit simplex, lies on an edge.
There the simplex is cut in two, best first: the cut becomes a vertex, where bounds are exact. Edges that are short already are
left alone: then the cut is at the kinks of the neurons of the first layer that change their sign.

The room: any affine map y(x) into the room of x may play the adversary, because {(x, y) : y in room(x)} is convex. It is one shift,
the worst one at the parent's answer; near limits it is interpolated between its clipped values at both ends of the simplex.

Sound for any slopes, cuts and maps. Roundings of values, of cuts and of shifts are a few dozen units in the last place of the
largest term of a margin: ``slack`` is many times that.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count

import numpy as np

from elbowroom.numerics import TOLERANCES, Floats, Ints
from elbowroom.problem import Distance
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.first_regions import FirstRegions
from elbowroom.search.network.nearest import nearest_answer

_PASSES, _STEP = 3, 0.4  # rounds of slopes: each moves so far towards the signs at the relaxed answer
_BATCH = 16  # simplices at once
_KEEN, _SHORT, _LEAST_SHARE = 2.0, 0.15, 0.1  # when to cut at the answer; no part gets less than this share of an edge
_ROUNDINGS = 64.0  # times the rounding of a margin; shifts that are interpolated may triple the size of a vertex
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
    shift: Floats
    rival: int
    slopes: tuple[Floats, ...]  # per hidden layer
    depth: int


@dataclass(frozen=True, eq=False)
class _Answer:
    """The relaxed answer of a simplex: on the edge from ``a`` to ``b``, with the bound's values there."""

    a: int
    b: int
    share: float
    at_a: float
    at_b: float


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
        size = np.abs(self._table).max(axis=0) + np.where(np.isfinite(walls), walls, 0.0) + 1.0
        self.slack = _ROUNDINGS * self.network.rounding(size)
        self._ticket = count()
        self._heap: list[tuple[float, int, _Simplex, _Answer]] = []
        self._size = 1
        self._numbers = self._rows + self.network.n_neurons  # kept with a simplex
        shift, rival, _ = self._worst(base[0])
        hidden, slopes = base + shift, list[Floats]()
        for weight, bias in zip(self.network.weights[:-1], self.network.biases[:-1], strict=True):
            z = hidden @ weight.T + bias
            slopes.append((z[0] > 0.0) * 1.0)
            hidden = np.maximum(z, 0.0)
        self._todo = [(0.0, _Simplex(np.arange(self._rows), shift, rival, tuple(slopes), 0))]

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
            if self.search.clock.expired or self._numbers * len(self._heap) > _MOST_NUMBERS:
                return False
            for _ in range(min(self._size, len(self._heap))):
                bound, _, simplex, answer = heapq.heappop(self._heap)
                if bound >= best:
                    break
                self._todo += [(bound, child) for child in self._children(simplex, answer)]
            self._size = min(2 * self._size, _BATCH)
            if self.nodes >= until:
                return False
        return True

    def _evaluate_all(self) -> None:
        """Bounds of the fresh simplices."""
        todo, self._todo = self._todo, []
        V = self._table[np.array([s.vertices for _, s in todo])]
        distance = self._distance[np.array([s.vertices for _, s in todo])]
        Y = self._shifted(V, np.array([s.shift for _, s in todo]))
        rival = np.array([s.rival for _, s in todo])
        slopes = [np.array(part) for part in zip(*(s.slopes for _, s in todo), strict=True)]
        best, answers = np.full(len(todo), -1.0), list[_Answer | None]([None] * len(todo))
        kept = [part.copy() for part in slopes]
        low, high = self.low, self.high
        for k in range(_PASSES):
            F, middle = self._upper(Y, slopes, rival)
            F += self.slack
            point = np.zeros(distance.shape)
            for i in range(len(todo)):
                value, a, b, share = nearest_answer(F[i], distance[i], V[i], low, high, self.bounded)
                if value > best[i]:
                    best[i], answers[i] = value, _Answer(a, b, share, float(F[i, a]), float(F[i, b]))
                    for mine, fresh in zip(kept, slopes, strict=True):
                        mine[i] = fresh[i]
                point[i, a] += 1.0 - share
                point[i, b] += share
            if k < _PASSES - 1:
                signs = [np.matmul(point[:, None, :], z)[:, 0] > 0.0 for z in middle]
                slopes = [part + _STEP * (on - part) for part, on in zip(slopes, signs, strict=True)]
        self.nodes += len(todo)
        for i, (parent, simplex) in enumerate(todo):
            bound, answer = max(float(best[i]), parent), answers[i]
            if bound < min(self.cutoff, self.search.best_distance):
                assert answer is not None
                improved = _Simplex(
                    simplex.vertices, simplex.shift, simplex.rival, tuple(part[i] for part in kept), simplex.depth
                )
                heapq.heappush(self._heap, (bound, next(self._ticket), improved, answer))

    def _children(self, simplex: _Simplex, answer: _Answer) -> list[_Simplex]:
        """Two parts of a simplex, with the adversary that is worst at its relaxed answer."""
        V = self._table[simplex.vertices]
        p = (1.0 - answer.share) * V[answer.a] + answer.share * V[answer.b]
        p = np.clip(p, self.low, self.high)
        shift, rival, margin = self._worst(p)
        if margin >= 0.0:  # a centre that no attack breaks: perhaps a better answer
            self.regions.settle(self.search.moves.of_center(p))
        if simplex.depth >= _DEEPEST:
            return [simplex]
        a, b, share = self._cut(simplex, V, answer)
        new = self._add(simplex.vertices[a], simplex.vertices[b], share)
        children = []
        for out in (a, b):
            vertices = simplex.vertices.copy()
            vertices[out] = new
            children.append(_Simplex(vertices, shift, rival, simplex.slopes, simplex.depth + 1))
        return children

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

    def _upper(self, Y: Floats, slopes: list[Floats], rival: Ints) -> tuple[Floats, list[Floats]]:
        """Values at the vertices of affine functions above a rival's margin, (simplices, vertices); and middle values of z."""
        weights, biases = self.network.weights, self.network.biases
        B, N, columns = Y.shape
        above = below = (Y.reshape(B * N, columns) @ weights[0].T + biases[0]).reshape(B, N, -1)
        depth, middle = len(weights) - 1, list[Floats]()
        active = low = above
        for k in range(1, depth):
            middle.append(above if above is below else 0.5 * (above + below))
            on, off = below.min(axis=1) >= 0.0, above.max(axis=1) <= 0.0
            active = np.maximum(above, 0.0)
            low = below * np.where(on, 1.0, slopes[k - 1] * ~off)[:, None, :]
            positive, negative = np.maximum(weights[k], 0.0).T, np.minimum(weights[k], 0.0).T
            high_rows, low_rows = active.reshape(B * N, -1), low.reshape(B * N, -1)
            above = (high_rows @ positive + low_rows @ negative + biases[k]).reshape(B, N, -1)
            below = (low_rows @ positive + high_rows @ negative + biases[k]).reshape(B, N, -1)
        middle.append(0.5 * (above + below))
        w = weights[-1][rival]
        on, off = below.min(axis=1) >= 0.0, above.max(axis=1) <= 0.0
        slope = np.where(on, 1.0, np.where(off, 0.0, slopes[-1]))
        direct = ~on & ~off & (w >= 0.0)
        value = np.matmul(np.maximum(above, 0.0), (direct * w)[:, :, None])[:, :, 0]
        summed = np.where(direct, 0.0, slope) * w
        lam = summed @ weights[-2]
        value += np.matmul(active, np.maximum(lam, 0.0)[:, :, None])[:, :, 0]
        value += np.matmul(low, np.minimum(lam, 0.0)[:, :, None])[:, :, 0]
        return value + (summed @ biases[-2] + biases[-1][rival])[:, None], middle

    def _cut(self, simplex: _Simplex, V: Floats, answer: _Answer) -> tuple[int, int, float]:
        """Where to cut: at the answer, if interpolation on its edge loses; else at kinks of the first layer."""
        Y = self._shifted(V[None], simplex.shift[None])[0]
        a, b, share = answer.a, answer.b, answer.share
        y = (1.0 - share) * Y[a] + share * Y[b]
        true = self.network.margins(np.array([Y[a], Y[b], y]))[:, simplex.rival]
        at_ends = (1.0 - share) * (answer.at_a - true[0]), share * (answer.at_b - true[1])
        loss = (1.0 - share) * answer.at_a + share * answer.at_b - true[2]
        scale = self._scale
        reach = (np.abs(V - V[a]) * scale).sum(axis=1)
        if a != b and sum(at_ends) < _KEEN * loss and reach[b] > _SHORT * reach.max():
            return a, b, min(max(share, _LEAST_SHARE), 1.0 - _LEAST_SHARE)
        if share > 0.5 or (a != b and at_ends[0] < at_ends[1]):
            a = b
            reach = (np.abs(V - V[a]) * scale).sum(axis=1)
        z = Y @ self.network.weights[0].T + self.network.biases[0]
        small = np.where((z > 0.0) != (z[a] > 0.0), np.minimum(np.abs(z), np.abs(z[a])), 0.0) * self._effect(y, simplex)
        score = small.sum(axis=1)
        c = int(np.argmax(score))
        if score[c] <= 0.0:
            return a, int(np.argmax(reach)), 0.5
        at = float((small[c] * np.abs(z[a]) / (np.abs(z[a]) + np.abs(z[c]) + 1e-300)).sum() / score[c])
        return a, c, min(max(at, _LEAST_SHARE), 1.0 - _LEAST_SHARE)

    @property
    def _scale(self) -> Floats:
        """Distance per raw unit, column by column."""
        scale, moves = np.zeros(self.low.size), self.search.moves
        for column in (moves.plus, moves.minus):
            used = column >= 0
            scale[column[used]] = 1.0 / moves.unit[used]
        return scale

    def _effect(self, y: Floats, simplex: _Simplex) -> Floats:
        """About |d margin / d neuron| of the first layer at a point."""
        network, masks, hidden = self.network, list[Floats](), y
        for weight, bias in zip(network.weights[:-1], network.biases[:-1], strict=True):
            z = weight @ hidden + bias
            masks.append(np.where(z > 0.0, 1.0, _FEWER))
            hidden = np.maximum(z, 0.0)
        slope = network.weights[-1][simplex.rival]
        for weight, mask in zip(network.weights[-2:0:-1], masks[:0:-1], strict=True):
            slope = (slope * mask) @ weight
        return np.abs(slope)

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
