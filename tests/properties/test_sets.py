"""Set splits against brute force: fixed, free and named categories, boxes, on random ensembles."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from elbowroom import Box, Explainer, Feature, Space, Status
from elbowroom.numerics import next_up
from elbowroom.problem import Group
from tests.unit.models.test_sets import LABELS, random_ensemble

CUTS = (0.0, 1.0, 2.0)
OTHERS = ("p", "q", "r")


def space(names: tuple[str, ...]) -> Space:
    features = (Feature("x", lower=-1.0, upper=3.0), *(Feature(name, "binary") for name in names[1:]))
    groups = (Group("g", names[1:6], 0.7, labels=LABELS), Group("h", names[6:], 0.4, labels=OTHERS))
    return Space(features, groups)


def good(model, low: float, high: float, g: list[int], h: int) -> bool:
    """Every point of the room has the second class: its ends, and both sides of every cut inside."""
    xs = [low, high, *(x for cut in CUTS for x in (cut, float(next_up(cut))) if low <= x <= high)]
    rows = [np.concatenate([[x], np.eye(5)[c], np.eye(3)[h]]) for x in xs for c in g]
    return bool((model.scores(np.array(rows))[:, 0] > 0).all())


def truth(model, x0: float, g0: int, h0: int, radius: float, allowed: list[int] | None) -> float:
    """The smallest distance over all centres worth trying; ``allowed``: the categories of g that the room holds."""
    xs = {x0, -1.0, 3.0}
    for cut in CUTS:
        xs |= {cut - radius, float(next_up(cut)) + radius, float(next_up(float(next_up(cut)) + radius))}
    best = np.inf
    for x, g, h in itertools.product(sorted(xs), range(5), range(3)):
        if not -1.0 <= x <= 3.0 or (allowed is not None and g not in allowed):
            continue
        if good(model, max(x - radius, -1.0), min(x + radius, 3.0), [g] if allowed is None else allowed, h):
            best = min(best, abs(x - x0) + 0.7 * (g != g0) + 0.4 * (h != h0))
    return best


@pytest.mark.parametrize("categories", [None, {"g": "any"}, {"g": ["b", "d"]}], ids=["fixed", "free", "named"])
@pytest.mark.parametrize("radius", [0.0, 0.3])
def test_the_closest_region_is_the_one_of_brute_force(radius: float, categories: dict | None) -> None:
    found = 0
    for seed in range(25):
        model = random_ensemble(seed, trees=4, depth=4)
        explainer = Explainer(model, space(model.info.names))
        rng = np.random.default_rng(seed)
        x0, g0, h0 = float(rng.uniform(-1, 3)), int(rng.integers(5)), int(rng.integers(3))
        row = {"x": x0, "g": LABELS[g0], "h": OTHERS[h0]}
        wanted = None if categories is None else categories["g"]
        allowed = None if wanted is None else [i for i, c in enumerate(LABELS) if wanted == "any" or c in wanted]
        answer = explainer.explain(row, Box({"x": radius}, categories=categories), target=1, time_limit=20)
        expected = truth(model, x0, g0, h0, radius, allowed)
        if np.isinf(expected):
            assert answer.status is Status.NONE_EXISTS
            continue
        found += 1
        assert answer.status is Status.OPTIMAL, (seed, answer)
        assert answer.distance == pytest.approx(expected, abs=1e-9)
        sample = answer.body.sample(300, seed=seed)
        assert (model.scores(sample)[:, 0] > 0).all()
    assert found >= 5


def test_the_chance_of_keeping_the_class_with_set_splits() -> None:
    for seed in range(6):
        model = random_ensemble(seed, trees=4, depth=4)
        explainer = Explainer(model, space(model.info.names))
        rng = np.random.default_rng(seed)
        row = {"x": float(rng.uniform(-1, 3)), "g": LABELS[int(rng.integers(5))], "h": OTHERS[int(rng.integers(3))]}
        kept = explainer.probability_kept(row, sigma={"x": 0.8})
        point = explainer.space.row(row)
        slips = np.repeat(point[None], 40_000, axis=0)
        slips[:, 0] = np.clip(slips[:, 0] + 0.8 * rng.normal(size=len(slips)), -1.0, 3.0)
        label = model.scores(point[None])[0, 0] > 0
        share = float(((model.scores(slips)[:, 0] > 0) == label).mean())
        assert kept.lower - 0.015 <= share <= kept.upper + 0.015
