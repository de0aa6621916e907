"""Algorithm 1: the certified radius of an iterate, for every family of models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from elbowroom.models import LinearModel, ObliqueEnsemble, ReluNetwork, TreeEnsemble
from elbowroom.problem import RecourseProblem
from elbowroom.result import Certificate
from elbowroom.search.adversarial import iterate
from tests.support.linear_problems import random_problem
from tests.support.oblique_models import oblique_question, question_about
from tests.support.referee import Engine, Referee, run_engine
from tests.support.small_models import random_network, random_trees

FAMILIES = {"trees": TreeEnsemble, "linear": LinearModel, "oblique": ObliqueEnsemble, "network": ReluNetwork}


def question(family: str, seed: int) -> RecourseProblem:
    rng = np.random.default_rng([8, seed])
    match family:
        case "trees":
            cuts = [np.sort(rng.normal(size=6)) for _ in range(3)]
            return question_about(rng, random_trees(rng, 3, 5, 3, cuts), seed % 3)
        case "linear":
            return random_problem(seed)
        case "oblique":
            return oblique_question(seed)
    return question_about(rng, random_network(rng, (2, 4)), seed % 3)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_radius_is_certified_and_hardly_any_larger_one_is(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The question asks for more room than there is: the largest that there is must be found."""
    if family != "network":  # there the judge needs the more time the nearer to the boundary
        monkeypatch.setattr(iterate, "SECONDS", 30.0)
        monkeypatch.setattr(iterate, "SECONDS_ON_TREES", 30.0)
    found = 0
    for seed in range(120):
        if found >= 30:
            break
        problem = question(family, seed)
        assert isinstance(problem.model, FAMILIES[family])
        if problem.room.size is None or problem.target.probability is not None:
            continue
        large = replace(problem, room=replace(problem.room, radius=8.0))
        rng = np.random.default_rng(seed)
        for _ in range(4):
            center = problem.factual + np.where(problem.space.whole_center, 0.0, rng.normal(size=problem.factual.size))
            if not large.admissible(center):
                continue
            radius = iterate.certified_radius(large, Referee(large), center)
            if not radius or radius == 8.0:
                continue
            found += 1
            for times, good in [(1.0, True), (1.0 + 1e-6, False)]:
                asked = replace(large, room=replace(problem.room, radius=radius * times))
                verdict = Referee(asked)(center)
                assert isinstance(verdict, Certificate) == good or (not good and family == "network"), (seed, radius)
    assert found >= 10


@pytest.mark.parametrize("family", ["linear", "oblique", "network"])
def test_the_trace_keeps_radii_beyond_trees(family: str) -> None:
    kept = 0
    for seed in range(30):
        problem = question(family, seed)
        found = run_engine(Engine.ADVERSARIAL, problem, seconds=5.0)
        rounds = [step for step in found.clock.trace if "master at" in step.note]
        radii = [step.certified_radius for step in rounds if step.certified_radius is not None]
        assert all(0.0 <= radius <= (problem.room.size or 0.0) for radius in radii)
        kept += len(radii)
        if kept > 5:
            break
    assert kept > 0
