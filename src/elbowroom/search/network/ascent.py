"""Local search with a trust region: first make the worst margin good, then make the distance small.

At a centre with moves v every scenario's margin is replaced by its tangent. Inside a box of half-width D around v

    climb:   max t      s.t. tangents >= t                (until the attack finds no bad point)
    settle:  min dist   s.t. tangents >= safety           (while the attack finds no bad point)

are linear programs. A step that the attack confirms doubles D; either way the attack's points join the scenarios. A step
that fails leaves the tangents at its end in the program (a bundle): where a margin bends downwards the tangent at v alone
would lead to the same failure again. Only after some failures in a row D is halved. Unlike sequential programs over the
whole space this works where tangents far away are useless.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elbowroom.numerics import TOLERANCES, Floats
from elbowroom.problem import Distance
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.limits import (
    BUNDLE,
    CONSIDERED,
    FIRST_RADIUS,
    GENEROUS,
    LARGE_BUNDLE,
    MORE,
    MOST_SETTLINGS,
    NARROWEST,
    PASSES,
    STEP_GAIN,
    SURPRISES,
    TIE_BREAK,
    WORTHWHILE,
)
from elbowroom.search.network.part import Part


def climb_and_settle(search: NetworkSearch, start: Floats, rounds: int = 40, part: Part | None = None) -> bool:
    """From any centre to a locally best one; offered to the judge. True if the best improved.

    What the judge or the thorough attack before it refuses has taught a new scenario: climb again from there, with
    more margin. What is accepted is polished.
    """
    part = part or Part.everything(search.moves)
    aim = search.safety
    tried: list[Floats] = []
    for _ in range(PASSES):
        known = len(search.scenarios)
        good = _climb(search, start, max(GENEROUS, 2.0 * aim), rounds, part)
        if good is None:
            return False
        start = _settle(search, good, aim, rounds, part)
        if any(np.array_equal(start, other) for other in tried):
            return False
        tried.append(start)
        if search.offer(start):
            _polish(search, rounds, part)
            return True
        if search.problem.measure(start) >= search.best_distance or search.clock.expired:
            return False
        aim *= (
            MORE if len(search.scenarios) > known else MORE * MORE
        )  # undecided candidates are the more expensive ones
    return False


def _polish(search: NetworkSearch, rounds: int, part: Part) -> None:
    """Settle again and again from the best centre, which is good in all scenarios, while refusals teach new ones."""
    aim, refuted = search.safety, 0
    for _ in range(MOST_SETTLINGS):
        if search.best is None or search.clock.expired:
            return
        known, surprises = len(search.scenarios), search.surprises
        center = _settle(search, search.best, aim, rounds, part)
        if search.problem.measure(center) >= search.best_distance * (1.0 - WORTHWHILE):
            return
        if search.offer(center):
            continue
        refuted += search.surprises - surprises  # by the judge: a proof for each is too expensive, ask for more margin
        if refuted > SURPRISES or len(search.scenarios) == known:
            aim, refuted = MORE * aim, 0


def _climb(search: NetworkSearch, start: Floats, goal: float, rounds: int, part: Part) -> Floats | None:
    moves = search.moves
    v = moves.of_center(start)
    value = search.attack(start, remember=4)
    radius = FIRST_RADIUS * max(moves.measure(v), 0.5)
    failed: list[Floats] = []
    for _ in range(rounds):
        if value >= goal or radius < NARROWEST or search.clock.expired:
            break
        G, h = _tangents(search, v, failed, np.inf)
        known = len(search.scenarios)
        low, high = _box(part, v, radius)
        # the further column t is the smallest tangent
        program = search.program
        program.start(np.hstack([G, -np.ones((len(G), 1))]), h, np.append(low, -1e6), np.append(high, 2.0 * goal), 1e9)
        cost = np.zeros(program.cost.size)
        cost[: moves.size], cost[moves.size] = TIE_BREAK * moves.cost, -1.0
        if moves.distance is Distance.L1 and moves.measure(v) < search.best_distance < np.inf:
            nearer = np.zeros(program.cost.size)
            nearer[: moves.size] = -moves.cost
            program.add_row(nearer, -search.best_distance * (1.0 - TOLERANCES.continuous_gap))
        program.change_cost(cost)
        solved = program.solve(search.clock.remaining)
        if solved.x is None:
            return None
        trial = moves.center(solved.x[: moves.size])
        reached = search.attack(trial, remember=4)
        if reached > value and search.problem.measure(trial) < search.best_distance:
            v, value, radius, failed = moves.of_center(trial), reached, 2.0 * radius, []
        elif len(failed) < BUNDLE:
            failed.append(moves.of_center(trial))
        elif len(search.scenarios) == known or radius > 0.01:
            failed, radius = [], 0.5 * radius
    return moves.center(v) if value >= search.safety else None


def _settle(search: NetworkSearch, good: Floats, aim: float, rounds: int, part: Part) -> Floats:
    moves = search.moves
    center, v = good, moves.of_center(good)
    radius = FIRST_RADIUS * max(moves.measure(v), 0.5)
    failed: list[Floats] = []
    for _ in range(rounds):
        if radius < NARROWEST or search.clock.expired:
            break
        G, h = _tangents(search, v, failed, aim)
        low, high = _box(part, v, radius)
        search.program.start(G, h + aim, low, high, 1e9)
        solved = search.program.nearest(search.clock.remaining)
        trial = center if solved.x is None else moves.center(solved.x)
        if search.problem.measure(trial) >= search.problem.measure(center) * (1.0 - STEP_GAIN):
            if not failed:
                break
            failed, radius = [], 0.5 * radius  # where a margin bends upwards, tangents elsewhere forbid too much
        elif search.attack(trial, remember=4) >= 0.5 * aim:
            center, v, radius, failed = trial, moves.of_center(trial), 2.0 * radius, []
        elif len(failed) < LARGE_BUNDLE:
            failed.append(moves.of_center(trial))
        else:
            failed, radius = [], 0.5 * radius
    return center


def _tangents(
    search: NetworkSearch, v: Floats, failed: Sequence[Floats] = (), enough: float = 0.0
) -> tuple[Floats, Floats]:
    """Rows G v' >= h: the tangents at v of the worst scenarios' margins, all rivals; and those at points that failed,
    of margins that are not enough there."""
    rows, lows = [], []
    for k, at in enumerate((v, *failed)):
        x = search.moves.center(at)
        Y = search.scenarios.points(x)
        margin = search.network.margins(Y)
        for r in range(search.network.n_rivals):
            chosen = np.argsort(margin[:, r], kind="stable")[:CONSIDERED]
            if k:
                chosen = chosen[margin[chosen, r] < enough]
            value, slope, _ = search.network.gradient(Y[chosen], np.full(chosen.size, r))
            tangent = search.moves.pull(np.where(search.scenarios.following(x, chosen), slope, 0.0))
            rows.append(tangent)
            lows.append(tangent @ at - value)
    return np.vstack(rows), np.concatenate(lows)


def _box(part: Part, v: Floats, radius: float) -> tuple[Floats, Floats]:
    low = np.maximum(part.low, v - radius)
    return low, np.maximum(np.minimum(part.high, v + radius), low)
