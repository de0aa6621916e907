"""Promised probabilities of networks: against sampling and centres of a grid, by the model's own arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from elbowroom import Box, Explainer, Feature, NoRegion, Probability, Region, Space
from elbowroom.certify.kept import kept_probability, slip_of
from elbowroom.certify.kept_needs import Needs
from elbowroom.models import Decision, ReluNetwork
from elbowroom.numerics import Floats
from elbowroom.present.checking_kept import kept_again
from elbowroom.problem import RecourseProblem
from elbowroom.search.keeping.guessed import Guess
from tests.support.hostile import attack
from tests.support.small_models import random_network

PATIENCE = 30.0


def labels_of(model: ReluNetwork):
    return lambda rows: model.info.labels_of(model.scores(rows))


def row_against(model: ReluNetwork, target: int, seed: int) -> Floats:
    rows = np.random.default_rng(seed).uniform(0.0, 1.0, (500, model.layers[0].weight.shape[1]))
    return np.asarray(rows[np.flatnonzero(labels_of(model)(rows) != target)[0]])


def balanced(seed: int, sizes: tuple[int, ...], classes: int = 2) -> ReluNetwork:
    """A small network that gives each class a good share of the unit cube."""
    rng = np.random.default_rng(seed)
    while True:
        model = random_network(rng, sizes, classes, Decision.POSITIVE if classes == 2 else Decision.ARGMAX)
        found = labels_of(model)(rng.uniform(size=(2000, sizes[0])))
        if np.bincount(found, minlength=classes).min() > 400:
            return model


@pytest.mark.parametrize(
    ("sizes", "distance", "classes"), [((2, 5), "l1", 2), ((3, 4, 4), "l2", 2), ((2, 6), "linf", 3)]
)
def test_answers_keep_what_they_promise(sizes: tuple[int, ...], distance: str, classes: int) -> None:
    model = balanced(len(sizes), sizes, classes)
    space = Space(tuple(Feature(f"x{i}", lower=0.0, upper=1.0) for i in range(sizes[0])))
    explainer, sigma = Explainer(model, space), 0.05
    row = row_against(model, 1, 0)
    promise = Probability(0.9, sigma=sigma)
    found = explainer.explain(row, Box(0.01), target=1, distance=distance, keeps=promise, time_limit=4.0)
    assert isinstance(found, Region), found.reason
    assert found.kept is not None
    slips = np.clip(found.body.center + sigma * np.random.default_rng(1).normal(size=(40_000, sizes[0])), 0.0, 1.0)
    share = float((labels_of(model)(slips) == 1).mean())
    noise = 5.0 * math.sqrt(max(share * (1.0 - share), 1e-4) / 40_000)
    assert 0.9 <= found.kept.lower <= found.kept.upper
    assert found.kept.lower - noise <= share <= found.kept.upper + noise
    assert found.lower_bound <= found.distance
    attack(labels_of(model), found.body, 1)
    plain = explainer.explain(row, Box(0.01), target=1, distance=distance, time_limit=PATIENCE)
    assert found.distance >= plain.lower_bound
    again = Region.from_json(found.to_json())
    assert again.kept is not None
    assert (again.kept.lower, again.kept.upper) == (found.kept.lower, found.kept.upper)
    findings = kept_again(again, explainer, PATIENCE)
    assert findings[0].good is True
    assert all(finding.good is not False for finding in findings)
    if sizes[0] == 2:
        order = {"l1": 1, "l2": 2, "linf": math.inf}[distance]
        grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 21)] * 2), axis=-1).reshape(-1, 2)
        for center in grid[np.linalg.norm(grid - row, ord=order, axis=1) < found.lower_bound]:
            slips = np.clip(center + sigma * np.random.default_rng(2).normal(size=(2000, 2)), 0.0, 1.0)
            kept = (labels_of(model)(slips) == 1).mean()
            assert kept < 0.94 or labels_of(model)(center[None])[0] != 1


@pytest.mark.parametrize("seed", range(6))
def test_no_centre_of_a_box_that_is_ruled_out_keeps_the_promise(seed: int) -> None:
    model = balanced(seed, (2, 5) if seed % 2 else (2, 3, 3))
    rng = np.random.default_rng(seed)
    space = Space(tuple(Feature(f"x{i}", lower=0.0, upper=1.0) for i in range(2)))
    explainer = Explainer(model, space)
    problem = RecourseProblem.ask(explainer.model, explainer.space, row_against(model, 1, seed), Box(0.0), target=1)
    needs = Needs(explainer.model, problem.target, np.full(2, 0.1), problem.lower, problem.upper, space.whole_room)
    ruled_out = 0
    for _ in range(25):
        low = rng.uniform(0.0, 1.0, 2)
        high = np.minimum(low + rng.choice([0.0, 0.02, 0.1], 2), 1.0)
        if needs.of_box(low, high, 0.8, math.inf) is not None:
            continue
        ruled_out += 1
        for share in (np.zeros(2), np.ones(2), *rng.random((3, 2))):
            center = low + share * (high - low)
            kept = kept_probability(explainer.model, problem.target, needs.slip(center), None, 1e-3, math.inf)
            assert kept.lower < 0.8 or labels_of(model)(center[None])[0] != 1
    assert ruled_out > 3


def test_what_no_centre_keeps_has_no_answer() -> None:
    """Half of the slips leave every centre between two bounds that are closer than a deviation."""
    model = balanced(3, (2, 4))
    space = Space(tuple(Feature(f"x{i}", lower=0.0, upper=1.0) for i in range(2)))
    row = row_against(model, 1, 1)
    found = Explainer(model, space).explain(row, Box(0.0), target=1, keeps=Probability(0.99, sigma=5.0), time_limit=2.0)
    assert isinstance(found, NoRegion)


def test_the_estimate_is_the_share_of_slips() -> None:
    model = balanced(1, (3, 5))
    space = Space((Feature("x0", lower=0.0, upper=1.0), Feature("x1"), Feature("x2", "integer", lower=-5, upper=5)))
    explainer = Explainer(model, space)
    row = np.array([0.5, 0.2, 1.0])
    asked = RecourseProblem.ask(explainer.model, explainer.space, row, Box(0.0), target=1)
    asked = replace(asked, keeps=Probability(0.9, sigma=0.3))
    guess = Guess(asked, 0, 0.0)
    center = np.array([0.4, 0.6, 0.0])
    kept = kept_probability(explainer.model, asked.target, slip_of(asked, center), None, 1e-3, math.inf)
    if labels_of(model)(center[None])[0] == asked.target_index:
        assert kept.lower - 0.06 <= guess.share(center) <= kept.upper + 0.06
    else:
        assert guess.share(center) < guess.least


def test_several_networks_at_once() -> None:
    """Kept is what every one of them keeps: by the bounds, by the estimate, and by sampling."""
    first, second = balanced(1, (2, 5)), balanced(2, (2, 4))
    explainer = Explainer([first, second])
    rows = np.random.default_rng(0).uniform(size=(500, 2))
    row = rows[(labels_of(first)(rows) == 1) & (labels_of(second)(rows) == 1)][0]
    asked = RecourseProblem.ask(explainer.model, explainer.space, row, Box(0.0), target=1)
    guess = Guess(replace(asked, keeps=Probability(0.5, sigma=0.1)), 0, 0.0)
    kept = explainer.probability_kept(row, 0.1, target=1)
    slips = row + 0.1 * np.random.default_rng(1).normal(size=(20_000, 2))
    share = float(((labels_of(first)(slips) == 1) & (labels_of(second)(slips) == 1)).mean())
    assert kept.upper - kept.lower <= 1e-3
    assert kept.lower - 0.02 <= share <= kept.upper + 0.02
    assert guess.share(row) == pytest.approx(share, abs=0.05)
