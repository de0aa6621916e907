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
from elbowroom.search.network.candidates import Hunt
from elbowroom.search.network.region import Part

CONSIDERED = 80  # scenarios, the worst ones, per rival
NARROWEST = 1e-6
PASSES = 24
POLISHES, SURPRISES = 100, 2  # attempts in all; verdicts against candidates before the aim rises
WORTHWHILE = 0.1 * TOLERANCES.continuous_gap  # least improvement that is worth a verdict
MORE = 3.0  # times the margin aimed for after a refusal
FIRST_RADIUS = 0.02  # of the trust region, as a share of the distance
TIE_BREAK = 1e-3  # price of distance against margin while climbing
BUNDLE, LARGE_BUNDLE = 3, 10  # failed steps in a row (climbing, settling) whose tangents are kept before D is halved
KEPT = 0.7  # share of the moves that survive a kick
GENEROUS = 0.02  # margin at which climbing ends, at least: settling needs room to move


def climb_and_settle(hunt: Hunt, start: Floats, rounds: int = 40, part: Part | None = None) -> bool:
    """From any centre to a locally best one; offered to the judge. True if the best improved.

    What the judge or the thorough attack before it refuses has taught a new scenario: climb again from there, with
    more margin. What is accepted is polished.
    """
    part = part or Part.everything(hunt.moves)
    aim = hunt.safety
    tried: list[Floats] = []
    for _ in range(PASSES):
        known = len(hunt.scenarios)
        good = _climb(hunt, start, max(GENEROUS, 2.0 * aim), rounds, part)
        if good is None:
            return False
        start = _settle(hunt, good, aim, rounds, part)
        if any(np.array_equal(start, other) for other in tried):
            return False
        tried.append(start)
        if hunt.offer(start):
            _polish(hunt, rounds, part)
            return True
        if hunt.problem.measure(start) >= hunt.best_distance or hunt.clock.expired:
            return False
        aim *= MORE if len(hunt.scenarios) > known else MORE * MORE  # undecided candidates are the more expensive ones
    return False


def _polish(hunt: Hunt, rounds: int, part: Part) -> None:
    """Settle again and again from the best centre, which is good in all scenarios, while refusals teach new ones."""
    aim, refuted = hunt.safety, 0
    for _ in range(POLISHES):
        if hunt.best is None or hunt.clock.expired:
            return
        known, surprises = len(hunt.scenarios), hunt.surprises
        center = _settle(hunt, hunt.best, aim, rounds, part)
        if hunt.problem.measure(center) >= hunt.best_distance * (1.0 - WORTHWHILE):
            return
        if hunt.offer(center):
            continue
        refuted += hunt.surprises - surprises  # by the judge: a proof for each is too expensive, ask for more margin
        if refuted > SURPRISES or len(hunt.scenarios) == known:
            aim, refuted = MORE * aim, 0


def kick(hunt: Hunt) -> bool:
    """Undo some of the best centre's moves and search again from there: the next valley is often one whose centres
    leave alone what this one changes. True if the best improved."""
    if hunt.best is None:
        return False
    v = hunt.moves.of_center(hunt.best)
    kept = hunt.rng.random(v.size) < KEPT
    return climb_and_settle(hunt, hunt.moves.center(np.where(kept, v, hunt.moves.low)))


def _climb(hunt: Hunt, start: Floats, goal: float, rounds: int, part: Part) -> Floats | None:
    moves = hunt.moves
    v = moves.of_center(start)
    value = hunt.attack(start, remember=4)
    radius = FIRST_RADIUS * max(moves.measure(v), 0.5)
    failed: list[Floats] = []
    for _ in range(rounds):
        if value >= goal or radius < NARROWEST or hunt.clock.expired:
            break
        G, h = _tangents(hunt, v, failed, np.inf)
        known = len(hunt.scenarios)
        low, high = _box(part, v, radius)
        # the further column t is the smallest tangent
        program = hunt.program
        program.start(np.hstack([G, -np.ones((len(G), 1))]), h, np.append(low, -1e6), np.append(high, 2.0 * goal), 1e9)
        cost = np.zeros(program.cost.size)
        cost[: moves.size], cost[moves.size] = TIE_BREAK * moves.cost, -1.0
        if moves.distance is Distance.L1 and moves.measure(v) < hunt.best_distance < np.inf:
            nearer = np.zeros(program.cost.size)
            nearer[: moves.size] = -moves.cost
            program.add_row(nearer, -hunt.best_distance * (1.0 - TOLERANCES.continuous_gap))
        program.change_cost(cost)
        solved = program.solve()
        if solved.x is None:
            return None
        trial = moves.center(solved.x[: moves.size])
        reached = hunt.attack(trial, remember=4)
        if reached > value and hunt.problem.measure(trial) < hunt.best_distance:
            v, value, radius, failed = moves.of_center(trial), reached, 2.0 * radius, []
        elif len(failed) < BUNDLE:
            failed.append(moves.of_center(trial))
        elif len(hunt.scenarios) == known or radius > 0.01:
            failed, radius = [], 0.5 * radius
    return moves.center(v) if value >= hunt.safety else None


def _settle(hunt: Hunt, good: Floats, aim: float, rounds: int, part: Part) -> Floats:
    moves = hunt.moves
    center, v = good, moves.of_center(good)
    radius = FIRST_RADIUS * max(moves.measure(v), 0.5)
    failed: list[Floats] = []
    for _ in range(rounds):
        if radius < NARROWEST or hunt.clock.expired:
            break
        G, h = _tangents(hunt, v, failed, aim)
        low, high = _box(part, v, radius)
        hunt.program.start(G, h + aim, low, high, 1e9)
        solved = hunt.program.nearest()
        trial = center if solved.x is None else moves.center(solved.x)
        if hunt.problem.measure(trial) >= hunt.problem.measure(center) * (1.0 - 1e-7):
            if not failed:
                break
            failed, radius = [], 0.5 * radius  # where a margin bends upwards, tangents elsewhere forbid too much
        elif hunt.attack(trial, remember=4) >= 0.5 * aim:
            center, v, radius, failed = trial, moves.of_center(trial), 2.0 * radius, []
        elif len(failed) < LARGE_BUNDLE:
            failed.append(moves.of_center(trial))
        else:
            failed, radius = [], 0.5 * radius
    return center


def _tangents(hunt: Hunt, v: Floats, failed: Sequence[Floats] = (), enough: float = 0.0) -> tuple[Floats, Floats]:
    """Rows G v' >= h: the tangents at v of the worst scenarios' margins, all rivals; and those at points that failed,
    of margins that are not enough there."""
    rows, lows = [], []
    for k, at in enumerate((v, *failed)):
        x = hunt.moves.center(at)
        Y = hunt.scenarios.points(x)
        margin = hunt.network.margins(Y)
        for r in range(hunt.network.n_rivals):
            chosen = np.argsort(margin[:, r], kind="stable")[:CONSIDERED]
            if k:
                chosen = chosen[margin[chosen, r] < enough]
            value, slope, _ = hunt.network.gradient(Y[chosen], np.full(chosen.size, r))
            tangent = hunt.moves.pull(np.where(hunt.scenarios.following(x, chosen), slope, 0.0))
            rows.append(tangent)
            lows.append(tangent @ at - value)
    return np.vstack(rows), np.concatenate(lows)


def _box(part: Part, v: Floats, radius: float) -> tuple[Floats, Floats]:
    low = np.maximum(part.low, v - radius)
    return low, np.maximum(np.minimum(part.high, v + radius), low)
