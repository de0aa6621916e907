"""Descents with an exact penalty: the nearest centre whose room has some margin, as far as attacks can tell.

The merit of a vector of moves v is  distance(v) + M max(0, aim - worst margin found in the room of v).  One linear program per
step: tangents of the worst scenarios' margins must reach aim - t inside a trust region, at the price M t. A step that lowers
the merit is taken and the region doubles; else the tangents at its end stay in the program (a bundle), then the region
shrinks. Where steps end before the margin is reached, violations get dearer: M grows. Margins may be missing all the way,
so that a descent starts anywhere, and answers move few columns, as linear programs over l1 do.
"""

from __future__ import annotations

import numpy as np

from elbowroom.numerics import NONZERO, Bools, Floats, Ints
from elbowroom.problem import Body
from elbowroom.search.network.attack import extreme_points
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.limits import LEAST_DESCENT
from elbowroom.search.network.objective import MoveProgram
from elbowroom.search.network.scenarios import Scenarios

_DEAR = 4.0  # first price of a unit of margin, against the distance that buys it at the factual; and its growth
_DEAREST = 1e5  # times the first price: beyond it a descent ends
_TAKEN = 0.1  # share of the promised gain that must be kept
_SHRINK, _LARGEST_BUNDLE = 0.4, 3
_NARROWEST, _STILL = 1e-4, 1e-4  # of the length of the question: of trust regions, and of the gain that is still one
_WORST, _WORST_OF_BUNDLE = 24, 8  # scenarios per rival, at the centre and where steps failed
_COULD_BIND = 1.5  # of many rivals, only margins up to this much above the smallest are kept
_MANY_MOVES, _STEEPEST, _STEEPEST_OF_WORST = 64, 32, 16  # above so many, only those that move or help most take part
_KEPT_POINTS, _MOST_SCENARIOS = 3, 240
_STARTS, _ROUNDS, _SLIDES, _SLID = 4, 8, 4, 6  # of an attack
_SAME = 1e-6  # of the room: shifts closer than this are one scenario


class Penalty:
    """Descents of one question, with a pool of scenarios of their own: attacks see a centre as the pool and a few more
    starts do. ``length`` is the distance at which the factual's own tangent reaches the margin that is missing."""

    def __init__(self, search: NetworkSearch) -> None:
        self.search, self.moves, self.network = search, search.moves, search.network
        self.pool = Scenarios(search.problem)
        self.program = MoveProgram(search.moves)
        self.programs = 0
        self.whole = bool(self.moves.whole.any())
        start = self.moves.low
        value, slope = self._steepest(start)
        self.missing = max(-value, NONZERO)
        self.length = min(max(self.missing / max(slope, NONZERO), 1e-6), 1e6)
        self.dear = self.dearest = _DEAR / max(slope, NONZERO)
        room = search.problem.walls
        self._smooth = not search.problem.space.whole_room[np.maximum(room.up, room.down) > 0.0].any()
        self._smooth &= not room.free_groups

    def _steepest(self, v: Floats) -> tuple[float, float]:
        value, slope, _ = self.network.gradient(self.moves.center(v)[None])
        pulled = np.abs(self.moves.pull(slope[0]))[self.moves.high > self.moves.low]
        return float(value[0]), float(pulled.max(initial=0.0))

    # ---- the adversary --------------------------------------------------------------------------------------------
    def attack(self, center: Floats) -> float:
        """The smallest margin found in the room of a centre; its worst points join the pool, bad or not."""
        self.search.count("attacks")
        body = self.search.problem.body(center)
        pool = self.pool.points(center)
        margin = self.network.worst(pool)
        near = pool[np.argsort(margin, kind="stable")[:4]]
        value, points = self._weak_points(body, near)
        for point in points[:_KEPT_POINTS]:
            self.pool.add(center, point)
        if len(self.pool) > _MOST_SCENARIOS:
            self._forget(center)
        return float(min(value, margin.min()))

    def _weak_points(self, body: Body, near: Floats) -> tuple[float, Floats]:
        """Full steps to the minimiser of the local linear piece; then shorter ones towards it, because deep networks are
        lowest between the corners, too."""
        rng, network = self.search.rng, self.network
        Y = np.vstack([body.center[None], extreme_points(body, rng.standard_normal((_STARTS, body.center.size))), near])
        best, points, live = np.full(len(Y), np.inf), Y.copy(), np.arange(len(Y))
        for _ in range(_ROUNDS):
            value, slope, _ = network.gradient(Y[live])
            better = value < best[live] - LEAST_DESCENT
            live = live[better]
            if not live.size:
                break
            best[live], points[live] = value[better], Y[live]
            Y[live] = extreme_points(body, slope[better])
        order = np.argsort(best, kind="stable")
        best, points = best[order], points[order]
        if not self._smooth:
            return float(best[0]), points
        P, low, step = points[:_SLID].copy(), best[:_SLID].copy(), 0.5
        Z = P.copy()
        for _ in range(_SLIDES):
            value, slope, _ = network.gradient(Z)
            better = value < low
            P[better], low[better] = Z[better], value[better]
            Z = P + step * (extreme_points(body, slope) - P)
            step *= 0.6
        order = np.argsort(low, kind="stable")
        return float(low[order[0]]), P[order]

    def _forget(self, center: Floats) -> None:
        """Only the worst scenarios of a centre are kept."""
        worst = np.argsort(self.network.worst(self.pool.points(center)), kind="stable")[: _MOST_SCENARIOS // 2]
        self.pool.keep(worst)

    # ---- one descent ----------------------------------------------------------------------------------------------
    def descend(self, v: Floats, aim: float, rounds: int = 30, allowed: Bools | None = None) -> tuple[Floats, float]:
        """A locally best vector of moves whose worst margin found is at least ``aim``, and that margin. Moves that are not
        ``allowed`` stay as they are."""
        search, moves = self.search, self.moves
        self.dear = max(self.dearest, 0.25 * self.dear)
        radius, bundle = 0.5 * self.length, list[Floats]()
        v, value, cost = self._look(v)
        merit = cost + self.dear * max(0.0, aim - value)
        for _ in range(rounds):
            if search.clock.expired:
                break
            low, high = np.maximum(moves.low, v - radius), np.minimum(moves.high, v + radius)
            if allowed is not None:
                low, high = np.where(allowed, low, v), np.where(allowed, high, v)
            solved = self._step(v, aim, radius, low, np.maximum(low, high), bundle)
            promised = np.inf if solved is None else moves.measure(solved[0]) + self.dear * solved[1]
            if radius < _NARROWEST * self.length or merit - promised <= _STILL * max(cost, 0.01 * self.length):
                if value < aim * (1.0 - 1e-6) and self.dear < _DEAREST * self.dearest:
                    self.dear, radius, bundle = _DEAR * self.dear, max(radius, 0.25 * self.length), []
                    merit = cost + self.dear * max(0.0, aim - value)
                elif bundle and radius >= _NARROWEST * self.length:
                    bundle, radius = [], 0.5 * radius
                else:
                    break
                continue
            if solved is None:
                break
            trial, reached, farther = self._look(np.clip(solved[0], low, np.maximum(low, high)))
            fresh = farther + self.dear * max(0.0, aim - reached)
            if fresh < merit - _TAKEN * (merit - promised):
                v, value, cost, merit, bundle, radius = trial, reached, farther, fresh, [], 2.0 * radius
            elif len(bundle) < _LARGEST_BUNDLE and not self.whole:
                bundle.append(trial)
            else:
                bundle, radius = [], _SHRINK * radius
        return v, value

    def _look(self, v: Floats) -> tuple[Floats, float, float]:
        """The moves of an admissible centre, its worst margin found, its distance."""
        center = self.moves.center(v)
        if self.whole:
            v = self.moves.of_center(center)
        return v, self.attack(center), self.moves.measure(v)

    def _step(
        self, v: Floats, aim: float, radius: float, low: Floats, high: Floats, bundle: list[Floats]
    ) -> tuple[Floats, float] | None:
        """One program: the next moves, and the largest violation that they promise."""
        rows, lows = self._tangents(v, _WORST, np.inf)
        for other in bundle:
            more, further = self._tangents(other, _WORST_OF_BUNDLE, aim)
            rows, lows = np.vstack([rows, more]), np.concatenate([lows, further])
        slack = rows @ v - lows
        binds = slack - radius * np.abs(rows).sum(axis=1) < aim  # the others hold everywhere in the trust region
        binds[np.argmin(slack)] = True
        rows, lows = rows[binds], lows[binds]
        if v.size > _MANY_MOVES:
            taking = self._taking_part(v, rows, lows)
            low, high = np.where(taking, low, v), np.where(taking, high, v)
        self.programs += 1
        size = self.moves.size
        with_violation = np.hstack([rows, np.ones((len(rows), 1))])
        self.program.start(with_violation, lows + aim, np.append(low, 0.0), np.append(high, 1e9), 1e9, as_given=True)
        cost = self.program.cost.copy()
        cost[size] = self.dear
        self.program.change_cost(cost)
        solved = self.program.nearest(max(self.search.clock.remaining, 0.0))
        return None if solved.x is None else (solved.x[:size], float(max(solved.x[size], 0.0)))

    def _taking_part(self, v: Floats, rows: Floats, lows: Floats) -> Bools:
        taking = v > self.moves.low
        worst = rows[np.argmin(rows @ v - lows)]
        taking[np.argsort(-rows.max(axis=0), kind="stable")[:_STEEPEST]] = True
        taking[np.argsort(-worst, kind="stable")[:_STEEPEST_OF_WORST]] = True
        return np.asarray(taking)

    def _tangents(self, v: Floats, most: int, below: float) -> tuple[Floats, Floats]:
        """Rows G v' >= h - aim: tangents of the worst scenarios' margins, every rival that comes near."""
        center = self.moves.center(v)
        Y = self.pool.points(center)
        margin = self.network.margins(Y)
        floor = float(margin.min())
        scenario, rival = self._chosen(margin, most, min(below, floor + _COULD_BIND if margin.shape[1] > 2 else np.inf))
        if not scenario.size:
            return np.zeros((0, v.size)), np.zeros(0)
        value, slope, _ = self.network.gradient(Y[scenario], rival)
        rows = self.moves.pull(np.where(self.pool.following(center, scenario), slope, 0.0))
        return rows, rows @ v - value

    @staticmethod
    def _chosen(margin: Floats, most: int, below: float) -> tuple[Ints, Ints]:
        order = np.argsort(margin, axis=0, kind="stable")[:most]
        rival = np.broadcast_to(np.arange(margin.shape[1]), order.shape)
        near = margin[order, rival] < below
        return order[near], rival[near]
