"""Incumbents for one hidden layer: the convex-concave procedure.

Tangents at the present centre replace the neurons with positive output weight (an underestimate), the others are
concave and kept exact by cuts. Every solution is valid for the scenarios in the pool; the attack adds new ones.
"""

from __future__ import annotations

import numpy as np

from elbowroom.numerics import Bools, Floats
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.limits import CLOSER, MISSED, MOST_INNER_CUTS, STEP_GAIN
from elbowroom.search.network.part import Part


class _Inner:
    """The inner approximation of all margins around one centre."""

    def __init__(self, search: NetworkSearch, x: Floats) -> None:
        self.search = search
        self.weight, self.bias = search.network.weights[0], search.network.biases[0]
        self.out, self.out_bias = search.network.weights[1], search.network.biases[1]
        self.pattern: Bools = np.zeros((0, self.bias.size), dtype=bool)
        self.x = x

    def values(self, x: Floats) -> Floats:
        """(scenarios, rivals): tangents for positive, exact values for negative output weights."""
        known, pool = len(self.pattern), self.search.scenarios
        if known < len(pool):
            at_start = pool.points(self.x, slice(known, len(pool))) @ self.weight.T + self.bias > 0.0
            self.pattern = np.vstack([self.pattern, at_start])
        self.z = pool.points(x) @ self.weight.T + self.bias
        relu = np.maximum(self.z, 0.0)
        return np.asarray(
            (self.z * self.pattern) @ np.maximum(self.out, 0.0).T + relu @ np.minimum(self.out, 0.0).T + self.out_bias
        )

    def cut(self, x: Floats, v: Floats, j: int, r: int, value: float) -> tuple[Floats, float]:
        """The tangent at x of the inner margin, as a row g v >= h."""
        active = np.where(self.out[r] > 0.0, self.pattern[j], self.z[j] > 0.0)
        slope = (self.out[r] * active) @ self.weight
        g = self.search.moves.pull(np.where(self.search.scenarios.following(x, slice(j, j + 1))[0], slope, 0.0))
        return g, self.search.safety - value + float(g @ v)


def improve(search: NetworkSearch, start: Floats, rounds: int = 8, part: Part | None = None) -> bool:
    """Run the procedure from a start; offer what it ends with. True if the best improved."""
    x, reached, best = start, np.inf, None
    for _ in range(rounds):
        solved = _solve_inner(search, x, min(reached, search.best_distance), part or Part.everything(search.moves))
        if solved is None:
            break
        distance = search.problem.measure(solved)
        if distance >= reached * (1.0 - STEP_GAIN):
            break
        x, reached, best = solved, distance, solved
    return best is not None and search.offer(best)


def _solve_inner(search: NetworkSearch, x: Floats, target: float, part: Part) -> Floats | None:
    """The closest centre in the inner approximation around x, robust against the attack; None if not below target."""
    moves = search.moves
    inner = _Inner(search, x)
    v = moves.of_center(x)
    value = inner.values(x)
    rows = []
    for flat in np.argsort(value, axis=None, kind="stable")[:6]:
        j, r = divmod(int(flat), value.shape[1])
        rows.append(inner.cut(x, v, j, r, float(value[j, r])))
    reach = target if np.isfinite(target) else 1e9
    G, h = np.array([g for g, _ in rows]), np.array([h for _, h in rows])
    search.program.start(G, h, part.low, part.high, reach)
    last: Floats | None = None
    for _ in range(MOST_INNER_CUTS):
        if search.clock.expired:
            return None
        solved = search.program.nearest()
        if solved.x is None or moves.measure(solved.x) >= target * (1.0 - CLOSER):
            return None
        center = moves.center(solved.x)
        if last is not None and np.array_equal(center, last):  # whole numbers: cuts at a rounded centre change nothing
            return None
        last = center
        v = moves.of_center(center)
        value = inner.values(center)
        worst = [divmod(int(k), value.shape[1]) for k in np.argsort(value, axis=None, kind="stable")[:3]]
        violated = [(j, r) for j, r in worst if value[j, r] < search.safety - MISSED]
        if not violated:
            known = len(search.scenarios)
            if search.attack(center) >= 0.5 * search.safety:
                return center
            value = inner.values(center)
            violated = [(j, int(np.argmin(value[j]))) for j in range(known, len(value))]
            if not violated:
                return None
        for j, r in violated:
            search.program.cut(*inner.cut(center, v, j, r, float(value[j, r])))
    return None
