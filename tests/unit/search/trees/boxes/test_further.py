"""Further margins on trees: boxes against brute force, at the centre and everywhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.models import TreeEnsemble
from elbowroom.numerics import Floats
from elbowroom.problem import Ball, Box, Conditions, RecourseProblem, Rule, Space, Target
from elbowroom.problem.further import Further
from elbowroom.problem.reader import Reader
from tests.support.hostile import attack
from tests.support.plausible_truth import closest_plausible, same_distance
from tests.support.referee import Engine, run_engine
from tests.support.small_models import random_trees
from tests.support.small_questions import random_question


@dataclass(frozen=True, eq=False)
class Also(Rule):
    """Another ensemble must say 1 as well."""

    model: TreeEnsemble
    everywhere: bool

    def lower(self, space: Space, factual: Floats) -> Conditions:
        return Conditions(further=(Further(self.model, Target(1), self.everywhere, self.source),))

    @property
    def words(self) -> str:
        return "another ensemble says 1"

    def fields(self) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def read(cls, entry: Reader) -> Also:
        raise NotImplementedError


def question_with(seed: int, kinds: tuple[bool, ...]) -> RecourseProblem:
    """A random question with further ensembles; one for each kind: everywhere or at the centre."""
    rng = np.random.default_rng(seed)
    problem = random_question(rng)
    rules = list(problem.rules)
    for everywhere in kinds:
        cuts = []
        for f in range(len(problem.space.names)):
            if problem.space.group_of[f] >= 0:
                cuts.append(rng.choice([0.5, 0.25], 2))
            else:
                own = problem.model.cuts[f]  # type: ignore[union-attr]
                cuts.append(np.concatenate([rng.normal(0.0, 2.5, 3), rng.choice(own, min(2, own.size)), [0.0]]))
        other = random_trees(
            rng, len(problem.space.names), int(rng.integers(1, 4)), int(rng.integers(1, 4)), cuts,
            exact=bool(rng.random() < 0.5), base=float(rng.choice([0.0, 0.5, 1.0])),
        )  # fmt: skip
        rules.append(Also(other, everywhere))
    return replace(problem, rules=tuple(rules))


def check(problem: RecourseProblem) -> bool:
    try:
        run = run_engine(Engine.BOXES, problem, seconds=30.0)
    except InputError as refused:
        assert "several categories" in str(refused)
        return False
    limit = problem.conditions.most_changes
    truth = closest_plausible(problem) if limit is None else None
    if truth is not None:
        assert same_distance(problem, run.distance, truth), (run.distance, truth)
    assert run.lower_bound <= run.distance * (1 + 1e-9) or run.distance == np.inf
    if run.certificate is not None:
        body, model = run.certificate.body, problem.model
        attack(lambda X: model.info.labels_of(model.scores(X)), body, problem.target_index, model.cuts)  # type: ignore[union-attr]
        for each in problem.conditions.further:
            labels = lambda X, m=each.model: m.info.labels_of(m.scores(X))  # noqa: E731
            attack(labels, each.where(body), 1, each.model.cuts)
        assert run.certificate.further == tuple(each.key for each in problem.conditions.further)
    return True


@pytest.mark.parametrize("kinds", [(True,), (False,), (True, False), (False, False)], ids=str)
def test_the_closest_box_is_that_of_brute_force(kinds: tuple[bool, ...]) -> None:
    assert sum(check(question_with(1000 * len(kinds) + seed, kinds)) for seed in range(14)) >= 7


@pytest.mark.long
@pytest.mark.parametrize("block", range(20))
def test_many_boxes_are_those_of_brute_force(block: int) -> None:
    for seed in range(25):
        rng = np.random.default_rng([block, seed])
        kinds = tuple(bool(rng.integers(2)) for _ in range(int(rng.integers(1, 3))))
        check(question_with(10_000 + 100 * block + seed, kinds))


def test_a_room_that_is_a_point_has_one_kind_of_margin() -> None:
    problem = replace(question_with(3, (False,)), room=Box(0.0))
    assert all(each.everywhere for each in problem.further)
    assert not problem.conditions.further[0].everywhere


def test_balls_take_margins_everywhere_and_refuse_those_of_the_centre() -> None:
    for seed in range(4):
        problem = replace(question_with(50 + seed, (True,)), room=Ball(0.2), rules=())
        rules = question_with(50 + seed, (True,)).rules[-1:]
        run = run_engine(Engine.BALLS, replace(problem, rules=rules), seconds=20.0)
        if run.certificate is not None:
            for each in rules[0].lower(problem.space, problem.factual).further:
                labels = lambda X, m=each.model: m.info.labels_of(m.scores(X))  # noqa: E731
                attack(labels, run.certificate.body, 1, each.model.cuts)
    problem = replace(question_with(50, (False,)), room=Ball(0.2))
    with pytest.raises(InputError, match="everywhere=True"):
        run_engine(Engine.BALLS, problem)


def test_other_engines_refuse_by_name() -> None:
    problem = question_with(60, (True,))
    with pytest.raises(InputError, match="margins of further trees: Also"):
        run_engine(Engine.ADVERSARIAL, problem)
