"""Local search with a trust region: first make the worst margin good, then make the distance small.

At a centre with moves v every scenario's margin is replaced by its tangent. Inside a box of half-width D around v

    climb:   max t      s.t. tangents >= t                (until the attack finds no bad point)
    settle:  min dist   s.t. tangents >= safety           (while the attack finds no bad point)

are linear programs. A step that the attack confirms doubles D, another one halves it; either way the attack's points join
the scenarios. Unlike sequential programs over the whole space this works where tangents far away mean nothing.
"""

from __future__ import annotations

import numpy as np

from elbowroom.numerics import TOLERANCES, Floats
from elbowroom.search.network.candidates import Hunt
from elbowroom.search.network.region import Part

CONSIDERED = 80  # scenarios, the worst ones, per rival
NARROWEST = 1e-6
PASSES = 24
MORE = 3.0  # times the margin aimed for after a refusal
FIRST_RADIUS = 0.02  # of the trust region, as a share of the distance
TIE_BREAK = 1e-3  # price of distance against margin while climbing
GENEROUS = 0.02  # margin at which climbing ends, at least: settling needs room to move


def climb_and_settle(hunt: Hunt, start: Floats, rounds: int = 40, part: Part | None = None) -> bool:
    """From any centre to a locally best one; offered to the judge. True if the best improved.

    What the judge or the thorough attack before it refuses has taught a new scenario: climb again from there, with more
    margin in hand. What is accepted is tried again with less.
    """
    part = part or Part.everything(hunt.moves)
    improved, aim = False, hunt.safety
    tried: list[Floats] = []
    for _ in range(PASSES):
        known = len(hunt.scenarios)
        good = _climb(hunt, start, max(GENEROUS, 2.0 * aim), rounds, part)
        if good is None:
            break
        start = _settle(hunt, good, aim, rounds, part)
        if any(np.array_equal(start, other) for other in tried):
            break
        tried.append(start)
        before = hunt.best_distance
        if hunt.offer(start):
            improved = True
            if aim <= hunt.safety or hunt.best_distance > before * (1.0 - 0.1 * TOLERANCES.continuous_gap):
                break
            aim = max(aim / MORE, hunt.safety)
        elif hunt.problem.measure(start) >= before or hunt.clock.expired:
            break
        else:  # undecided candidates are the more expensive ones
            aim *= MORE if len(hunt.scenarios) > known else MORE * MORE
    return improved


def _climb(hunt: Hunt, start: Floats, goal: float, rounds: int, part: Part) -> Floats | None:
    moves = hunt.moves
    v = moves.of_center(start)
    value = hunt.attack(start, remember=4)
    radius = FIRST_RADIUS * max(moves.measure(v), 0.5)
    for _ in range(rounds):
        if value >= goal:
            break
        if radius < NARROWEST or hunt.clock.expired:
            return None
        G, h = _tangents(hunt, v)
        known = len(hunt.scenarios)
        low, high = _box(part, v, radius)
        # the further column t is the smallest tangent
        program = hunt.program
        program.start(np.hstack([G, -np.ones((len(G), 1))]), h, np.append(low, -1e6), np.append(high, 2.0 * goal), 1e9)
        cost = np.zeros(program.cost.size)
        cost[: moves.size], cost[moves.size] = TIE_BREAK * moves.cost, -1.0
        program.change_cost(cost)
        solved = program.solve()
        if solved.x is None:
            return None
        trial = moves.center(solved.x[: moves.size])
        reached = hunt.attack(trial, remember=4)
        if reached > value and hunt.problem.measure(trial) < hunt.best_distance:
            v, value, radius = moves.of_center(trial), reached, 2.0 * radius
        elif len(hunt.scenarios) == known or radius > 0.01:
            radius *= 0.5
    center = moves.center(v)
    return center if value >= hunt.safety else None


def _settle(hunt: Hunt, good: Floats, aim: float, rounds: int, part: Part) -> Floats:
    moves = hunt.moves
    center, v = good, moves.of_center(good)
    radius = FIRST_RADIUS * max(moves.measure(v), 0.5)
    for _ in range(rounds):
        if radius < NARROWEST or hunt.clock.expired:
            break
        G, h = _tangents(hunt, v)
        low, high = _box(part, v, radius)
        hunt.program.start(G, h + aim, low, high, 1e9)
        solved = hunt.program.nearest()
        if solved.x is None:
            break
        trial = moves.center(solved.x)
        if hunt.problem.measure(trial) >= hunt.problem.measure(center) * (1.0 - 1e-7):
            break
        if hunt.attack(trial, remember=4) >= 0.5 * aim:
            center, v, radius = trial, moves.of_center(trial), 2.0 * radius
        else:
            radius *= 0.5
    return center


def _tangents(hunt: Hunt, v: Floats) -> tuple[Floats, Floats]:
    """Rows G v' >= h: the tangents at v of the worst scenarios' margins, all rivals."""
    x = hunt.moves.center(v)
    Y = hunt.scenarios.points(x)
    margin = hunt.network.margins(Y)
    rows, lows = [], []
    for r in range(hunt.network.n_rivals):
        chosen = np.argsort(margin[:, r], kind="stable")[:CONSIDERED]
        value, slope, _ = hunt.network.gradient(Y[chosen], np.full(chosen.size, r))
        tangent = hunt.moves.pull(np.where(hunt.scenarios.following(x, chosen), slope, 0.0))
        rows.append(tangent)
        lows.append(tangent @ v - value)
    return np.vstack(rows), np.concatenate(lows)


def _box(part: Part, v: Floats, radius: float) -> tuple[Floats, Floats]:
    low = np.maximum(part.low, v - radius)
    return low, np.maximum(np.minimum(part.high, v + radius), low)
