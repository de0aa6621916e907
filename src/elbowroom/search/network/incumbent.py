"""Good centres without a proof: sequential linear programs over the scenarios.

At a centre x the margin of each scenario is replaced by its tangent, margin(y_s(x)) + grad . (y_s(x') - y_s(x)), and the
closest x' for which all tangents reach a small safety margin is the next centre (a linear program). The attack adds
scenarios on the way. Starts: the factual, gradient ascent from it, and random points of the wanted class nearby.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from elbowroom.numerics import NONZERO, Floats
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.limits import CLOSER, FIRST_ASCENT, LAST_ASCENT, LEAST_REACH, SAME_POINT, UNLIMITED_REACH
from elbowroom.search.network.part import Part


def descend(search: NetworkSearch, start: Floats, rounds: int = 40, part: Part | None = None) -> bool:
    """Sequential linear programs from a start; offers what survives the attack. True if the best improved."""
    moves, scenarios, network = search.moves, search.scenarios, search.network
    part = part or Part.everything(moves)
    x, improved = start, False
    survivors: list[Floats] = []
    for k in range(rounds):
        if search.clock.expired:
            break
        weakest = search.attack(x, starts=6, rounds=8, remember=4)
        distance = search.problem.measure(x)
        if weakest >= 0.5 * search.safety and distance < search.best_distance * (1.0 - CLOSER):
            survivors.append(x)
        Y = scenarios.points(x)
        margin = network.margins(Y)
        rows, lows = [], []
        v = moves.of_center(x)
        for r in range(network.n_rivals):
            chosen = np.argsort(margin[:, r], kind="stable")[:60]
            value, slope, _ = network.gradient(Y[chosen], np.full(chosen.size, r))
            tangent = moves.pull(np.where(scenarios.following(x, chosen), slope, 0.0))
            rows.append(tangent)
            lows.append(search.safety - value + tangent @ v)
        reach = UNLIMITED_REACH if not np.isfinite(search.best_distance) else max(search.best_distance, LEAST_REACH)
        search.program.start(np.vstack(rows), np.concatenate(lows), part.low, part.high, reach)
        solved = search.program.nearest(search.clock.remaining)
        if solved.x is None:
            break
        # tangents that chase each other: go half way
        following = moves.center(solved.x if k < 15 else 0.5 * (v + solved.x))
        if np.abs(moves.of_center(following) - v).max(initial=0.0) <= SAME_POINT * max(1.0, distance):
            known = len(scenarios)
            improved |= search.offer(x)
            if len(scenarios) == known:
                break
        x = following
    late = (
        search.clock.expired
    )  # then there is time for one verdict: the farthest has the most margin, and is the easiest
    survivors.sort(key=search.problem.measure, reverse=late)
    return any(search.offer(x) for x in survivors) or improved  # nearest first, until the judge agrees


def walk_back(search: NetworkSearch, good: Floats, steps: int = 12) -> Floats:
    """The nearest point to the factual on the segment to a good centre that still survives a quick attack."""
    moves = search.moves
    v = moves.of_center(good)
    near, far, best = 0.0, 1.0, good
    for _ in range(steps):
        if search.clock.expired:
            break
        middle = 0.5 * (near + far)
        x = moves.center(moves.low + middle * (v - moves.low))
        if search.problem.admissible(x) and search.attack(x, starts=3, rounds=5) >= 0.0:
            far, best = middle, x
        else:
            near = middle
    return best


def starts(search: NetworkSearch, wanted: int = 4) -> Iterator[Floats]:
    """Points of the wanted class: by gradient ascent from the factual; while nothing is accepted, random ones at
    growing range as well, nearest first."""
    moves = search.moves
    ascent = _ascend(search)
    if ascent is not None:
        yield ascent
    for size in (0.25, 0.5, 1.0, 2.0, 4.0):
        if _enough(search):
            return
        amount = search.rng.uniform(0.0, size, (400, moves.size)) * (search.rng.random((400, moves.size)) < 0.5)
        X = np.array([moves.center(a) for a in np.clip(amount, moves.low, moves.high)])
        good = X[search.network.worst(X) >= 0.0]
        distance = np.array([search.problem.measure(x) for x in good])
        for i in np.argsort(distance, kind="stable")[:wanted]:
            if _enough(search):
                return
            yield good[i]


def _enough(search: NetworkSearch) -> bool:
    return search.best is not None or search.clock.expired


def _ascend(search: NetworkSearch, rounds: int = 60) -> Floats | None:
    """Steepest ascent of the worst margin over the scenarios, in the cheapest coordinates, with doubling steps."""
    moves = search.moves
    if moves.size == 0:
        return None
    v = moves.low.copy()
    step = FIRST_ASCENT
    value = search.attack(moves.center(v), starts=4, rounds=5)
    for _ in range(rounds):
        if value >= 0.0 or search.clock.expired:
            break
        x = moves.center(v)
        Y = search.scenarios.points(x)
        i = int(np.argmin(search.network.worst(Y)))
        _, slope, _ = search.network.gradient(Y[i : i + 1])
        direction = moves.pull(slope[0])
        trial = np.clip(v + step * direction / max(np.abs(direction).max(), NONZERO), moves.low, moves.high)
        reached = search.attack(moves.center(trial), starts=4, rounds=5)
        if reached > value:
            v, value, step = trial, reached, step * 2.0
        else:
            step *= 0.5
            if step < LAST_ASCENT:
                break
    return moves.center(v) if value >= 0.0 else None
