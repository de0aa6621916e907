"""Common moves against enumeration: small random groups, and what looking at every cell of moves says."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from elbowroom import Box, Explainer, Feature, GroupAnswer, Space, Status
from elbowroom.models import LinearModel, TreeEnsemble
from tests.support import cell_truth as truth
from tests.support.hostile import attack
from tests.support.linear_problems import linear_model
from tests.support.small_models import random_trees


def drawn(rng: np.random.Generator, family: str) -> tuple[LinearModel | TreeEnsemble, Space]:
    n = int(rng.integers(1, 4)) if family == "linear" else int(rng.integers(1, 3))
    features = []
    for f in range(n):
        weight, scale = (float(v) for v in rng.choice([0.5, 1.0, 2.0], 2))
        way = str(rng.choice(["any", "any", "any", "increasing"]))
        features.append(Feature(f"x{f}", lower=-5.0, upper=6.0, weight=weight, scale=scale, direction=way))
    if family == "linear":
        return linear_model(rng.normal(size=(1, n)), rng.normal(size=1) * 2), Space(tuple(features))
    cuts = [np.sort(rng.uniform(-3.0, 4.0, 3)) for _ in range(n)]
    return random_trees(rng, n, int(rng.integers(1, 4)), 2, cuts, exact=bool(rng.random() < 0.5)), Space(
        tuple(features)
    )


def _limits(space: Space, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rising = np.array([getattr(f.direction, "value", f.direction) == "increasing" for f in space.features])
    return np.where(rising, np.maximum(space.lower, row), space.lower), space.upper


def closest(
    model: LinearModel | TreeEnsemble, space: Space, rows: np.ndarray, wanted: int, radius: np.ndarray, norm: str, least: int
) -> float:  # fmt: skip
    """The least cost of a move that serves at least ``least`` rows."""
    factor = space.weight / space.scale
    limits = [_limits(space, row) for row in rows]
    if isinstance(model, LinearModel):
        sign = 1.0 if wanted == 1 else -1.0
        best = np.inf
        for chosen in combinations(range(len(rows)), least):
            best = min(best, _linear(model, sign, [(rows[i], *limits[i]) for i in chosen], radius, factor, norm))
        return best
    breaks = []
    for f in range(rows.shape[1]):
        edges = [
            b
            for row, (low, high) in zip(rows, limits, strict=True)
            for b in truth.tree_breaks(model, radius, low, high)[f] - row[f]
        ]
        edges.append(0.0)
        breaks.append(np.unique(edges))

    def good(move: np.ndarray) -> bool:
        served = 0
        for row, (low, high) in zip(rows, limits, strict=True):
            center = row + move
            if ((center >= low) & (center <= high)).all():
                served += truth.room_is_good(
                    model, wanted, np.maximum(center - radius, low), np.minimum(center + radius, high)
                )
        return served >= least

    orders = {"l1": 1, "l2": 2, "linf": np.inf}
    costs = [np.linalg.norm(factor * np.clip(0.0, low, high), orders[norm]) for low, high in truth.cells(breaks, good)]
    still = good(np.zeros(rows.shape[1]))
    return 0.0 if still else float(min(costs, default=np.inf))


def _linear(model: LinearModel, sign: float, members: list, radius: np.ndarray, factor: np.ndarray, norm: str) -> float:  # type: ignore[type-arg]
    """One linear program for every choice of what is clipped; choices that contradict each other are infeasible."""
    n = radius.size
    w, bias = sign * model.affine.weight[0], sign * float(model.affine.bias[0])
    low = np.max([lo - row for row, lo, _ in members], axis=0)
    high = np.min([hi - row for row, _, hi in members], axis=0)
    if (low > high).any():
        return np.inf
    breaks = []
    for f in range(n):
        kinks = [(lo[f] + radius[f] if w[f] > 0 else hi[f] - radius[f]) - row[f] for row, lo, hi in members]
        breaks.append(np.unique(np.clip([low[f], *kinks, high[f]], low[f], high[f])))
    best = np.inf
    for a, b in truth.cells(breaks, lambda middle: True):
        middle, needs = (a + b) / 2, []
        for row, lo, hi in members:
            form, constant = np.zeros(n), bias
            for f in range(n):
                end = row[f] + middle[f] + (-radius[f] if w[f] > 0 else radius[f])
                if lo[f] < end < hi[f]:
                    form[f] = w[f]
                    constant += w[f] * (row[f] + (-radius[f] if w[f] > 0 else radius[f]))
                else:
                    constant += w[f] * (lo[f] if w[f] > 0 else hi[f])
            needs.append((form, -constant))
        cost = (
            _least_l2(factor, a, b, needs)
            if norm == "l2"
            else truth.least_cost(np.diag(factor), np.zeros(n), norm, a, b, needs)
        )
        best = min(best, cost)
    return best


def _least_l2(factor: np.ndarray, low: np.ndarray, high: np.ndarray, needs: list[tuple[np.ndarray, float]]) -> float:
    """min |F m| over low <= m <= high with a . m >= b for ``needs``: the closest point is the one of least norm of all on which the
    same rows are tight, so every choice of at most n tight rows is tried."""
    n = factor.size
    rows = [(np.eye(n)[f], low[f]) for f in range(n)] + [(-np.eye(n)[f], -high[f]) for f in range(n)] + needs
    A, b = np.array([a for a, _ in rows]), np.array([v for _, v in rows])
    size = 1e-9 * (1.0 + np.abs(b))
    best = np.inf
    for count in range(n + 1):
        for tight in map(list, combinations(range(len(rows)), count)):
            scaled = np.linalg.lstsq(A[tight] / factor, b[tight], rcond=None)[0] if tight else np.zeros(n)
            if (A @ (scaled / factor) >= b - size).all():
                best = min(best, float(np.linalg.norm(scaled)))
    return best


def group(seed: int, family: str | None = None) -> str:
    """One question about a group; how it ended."""
    rng = np.random.default_rng([2104, seed])
    family = family or str(rng.choice(["linear", "trees"]))
    model, space = drawn(rng, family)
    n, k = len(space.names), int(rng.integers(2, 5))
    rows = rng.uniform(-3, 3, (k, n)).round(3)
    wanted = int(rng.integers(0, 2))
    radius = rng.choice([0.0, 0.05, 0.3], n)
    norm = str(rng.choice(["l1", "l2", "linf"]))
    least = k if rng.random() < 0.5 else int(rng.integers(1, k + 1))
    room = Box({f"x{f}": float(radius[f]) for f in range(n)})
    answer = Explainer(model, space).explain_group(rows, room, wanted, norm, share=least / k, time_limit=30.0)
    expected = closest(model, space, rows, wanted, radius, norm, least)
    said = f"group, seed {seed}, {family}, {norm}, {least} of {k}: {answer.status.name}"
    check(answer, model, rows, wanted, said)
    assert answer.lower_bound <= expected + 1e-9 * max(1.0, expected), (said, answer.lower_bound, expected)
    if not answer:
        assert np.isinf(expected) or answer.status is Status.UNKNOWN, (said, expected, answer.reason)
        return "none" if answer.status is Status.NONE_EXISTS else "unknown"
    assert abs(answer.distance - expected) <= 1e-7 * max(1.0, expected), (said, answer.distance, expected)
    return "found" if answer.status is Status.OPTIMAL else "found with a gap"


def check(answer: GroupAnswer, model: LinearModel | TreeEnsemble, rows: np.ndarray, wanted: int, said: str) -> None:
    """Enough rows are served, each around row + move, and every room is attacked."""
    if not answer:
        assert answer.reason, said
        return
    assert answer.move_values is not None and len(answer.served) >= answer.least, said
    cuts = model.cuts if isinstance(model, TreeEnsemble) else None
    for i in answer.served:
        body = answer.certificates[i].body
        assert np.array_equal(body.center, rows[i] + answer.move_values), said
        attack(lambda X: model.info.labels_of(model.scores(X)), body, wanted, cuts)


def actions(seed: int) -> str:
    """The fewest moves within a length: those found are within it, and the proven least is at most the true one."""
    rng = np.random.default_rng([2107, seed])
    model, space = drawn(rng, "trees")
    n, k, within = len(space.names), 4, float(rng.choice([0.5, 1.5, 4.0]))
    rows, wanted, radius = rng.uniform(-3, 3, (k, n)).round(3), int(rng.integers(0, 2)), rng.choice([0.0, 0.3], n)
    room = Box({f"x{f}": float(radius[f]) for f in range(n)})
    found = Explainer(model, space).actions(rows, room, wanted, within=within, time_limit=30.0)
    said = f"actions, seed {seed}: {found.members}, {found.unserved}, at least {found.least}"
    fits = {
        chosen: closest(model, space, rows[list(chosen)], wanted, radius, "l1", size) <= within
        for size in range(1, k + 1)
        for chosen in combinations(range(k), size)
    }
    assert sorted(i for chosen in found.members for i in chosen) == [i for i in range(k) if fits[(i,)]], said
    for chosen, answer in zip(found.members, found, strict=True):
        assert fits[chosen] and answer.distance <= within * (1 + 1e-9), said
        check(answer, model, rows[list(chosen)], wanted, said)
    served = [i for chosen in found.members for i in chosen]
    true = next((m for m in range(k + 1) if _covers(fits, set(served), m)), 0)
    assert found.least <= true <= len(found), (said, true)
    return "fewest" if len(found) == true else "more than needed"


def _covers(fits: dict[tuple[int, ...], bool], left: set[int], most: int) -> bool:
    """True if so many groups, each of them served by one move, hold all of these rows."""
    if not left:
        return True
    if most == 0:
        return False
    first = min(left)
    return any(
        good and first in chosen and _covers(fits, left - set(chosen), most - 1) for chosen, good in fits.items()
    )
