"""Every proof about trees that is written is confirmed; what it proves is true."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from elbowroom import Allowed, AtMost, Ball, Diamond, Explainer, InputError, Target
from elbowroom.models import Link
from elbowroom.problem import Box, RecourseProblem, Space
from elbowroom.proof.prover import Prover
from elbowroom.proof.question_file import question_document
from elbowroom_checker import check
from elbowroom_checker.model import Trees, read_model
from elbowroom_checker.question import Box as CheckedBox
from elbowroom_checker.question import margins, read_question
from elbowroom_checker.reading import parsed
from elbowroom_checker.trees import Walker, meets, tree_row
from tests.support.brute import closest
from tests.support.hostile import attack
from tests.support.proofs import Proven, proven, random_proven
from tests.support.small_models import random_trees
from tests.support.small_questions import hard_question, random_question


def labels(problem: RecourseProblem, points: np.ndarray) -> np.ndarray:
    return problem.model.info.labels_of(problem.model.scores(points))


def confirm(found: Proven) -> None:
    """Both halves are written, confirmed, and say what the answer says."""
    assert found.proof.is_complete, found.proof.missing
    said = check(found.proof.text.encode(), found.model_file)
    assert said.valid == (found.body is not None)
    assert said.bound == found.lower_bound
    if found.body is not None:
        assert said.distance == pytest.approx(found.distance, rel=1e-12)
        attack(
            lambda rows: labels(found.problem, rows), found.body, found.problem.target_index, found.problem.model.cuts
        )


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_random_questions(first: int) -> None:
    """Whole numbers, groups fixed and free, limits, one-way features, two and three classes, ties, three norms, AtMost."""
    for seed in range(first, first + 40):
        found = random_proven(seed)
        confirm(found)
        said = check(found.proof.text.encode(), found.model_file)
        wanted = found.problem.target_index
        truth = closest(found.problem, lambda points, problem=found.problem, w=wanted: labels(problem, points) == w)
        assert said.bound is not None
        assert said.bound <= truth * (1.0 + 1e-12), (
            f"seed {seed}: no valid centre below {said.bound}, but there is one at {truth}"
        )


def test_a_search_that_works_for_its_answer() -> None:
    for seed, distance in ((0, "l1"), (1, "l2"), (2, "linf")):
        found = proven(hard_question(seed, distance=distance))
        confirm(found)
        assert found.proof.document is not None
        assert len(found.proof.document["optimality"]["tree"]) > 3


def test_a_limit_on_changes_is_part_of_the_question() -> None:
    found = proven(hard_question(3, rules=(AtMost(2),)))
    confirm(found)
    assert found.proof.document is not None
    assert found.proof.document["question"]["most_changes"] == 2


@pytest.mark.parametrize("room", [Ball(0.4), Diamond(0.5)])
def test_balls_and_diamonds(room: object) -> None:
    """Validity always; that none is closer often, and then no bound is above the distance. What is missing is named."""
    seen = complete = 0
    for seed in range(30):
        question = replace(random_question(np.random.default_rng(seed)), room=room)
        found = proven(question)
        if found.proof.document is None:
            assert "ball or diamond" in found.proof.missing or "cannot be divided" in found.proof.missing
            continue
        said = check(found.proof.text.encode(), found.model_file)
        assert said.valid == (found.body is not None)
        assert said.bound is None or said.bound <= found.distance
        assert found.proof.is_complete == (said.bound is not None) or said.bound == math.inf
        complete += found.proof.is_complete
        if found.body is not None:
            seen += 1
            attack(lambda rows, p=question: labels(p, rows), found.body, question.target_index, question.model.cuts)
    assert seen > 6 and complete > 6, (seen, complete)


@pytest.mark.parametrize("room", [Ball(0.4), Diamond(0.5)])
def test_certified_centers_meet_no_bad_box(room: object) -> None:
    """The room of a centre that the judge accepted has no bad point: no bad box is met, however it was found."""
    tried = 0
    for seed in range(30):
        question = replace(random_question(np.random.default_rng(seed)), room=room)
        found = proven(question)
        if found.body is None:
            continue
        rng, center = np.random.default_rng(seed), found.body.center.tolist()
        model = read_model(parsed(found.model_file))
        assert isinstance(model.parts, Trees)
        asked = read_question(question_document(question, found.body), model)
        walker = Walker(model.parts, asked)
        rows = [tree_row(model, model.parts, margin) for margin in margins(model, asked)]
        for _ in range(200):
            middle, half = center + rng.normal(0.0, 1.0, len(center)), rng.uniform(0.0, 0.4, len(center))
            corners = np.array([middle - half, middle + half])
            bad = asked.limits.copy()
            for f, (low, high) in enumerate(corners.T.tolist()):
                if rng.random() < 0.8 and asked.group_of[f] < 0:
                    bad.cut(f, low, high)
            if asked.narrow(bad) and any(walker.is_bad(row, bad) for row in rows):
                tried += 1
                assert not meets(asked, CheckedBox(center, center), bad), f"seed {seed}: {bad}"
    assert tried > 40, tried


def test_probabilities() -> None:
    rng = np.random.default_rng(5)
    cuts = [rng.normal(size=8) for _ in range(3)]
    model = random_trees(rng, n_features=3, n_trees=6, depth=3, cuts=cuts, exact=False)
    model = replace(model, info=replace(model.info, link=Link.LOGISTIC))
    question = RecourseProblem.ask(model, Space.plain(model.info.names), np.zeros(3), Box(0.05), Target(1, 0.7))
    found = proven(question)
    confirm(found)
    assert found.body is not None
    scores = model.scores(found.body.sample(2000))[:, 0]
    assert (1.0 / (1.0 + np.exp(-scores)) >= 0.7).all()


def test_what_cannot_be_written_is_named() -> None:
    question = hard_question(0)
    some = proven(replace(question, room=Box(0.2, on="changed"))).proof
    assert 'on="changed"' in some.missing and some.missing.startswith("optimality: ")
    assert check(some.text.encode(), proven(question).model_file).bound is None
    ruled = proven(hard_question(0, rules=(Allowed({"x0": [0.0, 1.0]}),))).proof
    assert "rules other than AtMost" in ruled.missing
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    explainer = Explainer(DecisionTreeRegressor(max_depth=3).fit(X, X[:, 0]))
    answer = explainer.explain(X[0], room=Box(0.01), target=Target(at_least=0.5), proof=True)
    assert answer.proof is not None and "regressor" in answer.proof.missing
    with pytest.raises(InputError, match="no proof to write"):
        answer.to_proof("nowhere.json")
    with pytest.raises(InputError, match="proof=True"):
        explainer.explain(X[0], room=Box(0.01), target=Target(at_least=0.5)).to_proof("nowhere.json")


@pytest.mark.parametrize("seed", range(3))
def test_a_bound_below_the_distance_has_a_proof(seed: int) -> None:
    """What a search has shown when its time is over; also without its log."""
    found = proven(hard_question(seed))
    bound = 0.7 * found.distance
    assert math.isfinite(bound)
    proof = Prover(found.problem.model).prove(found.problem, found.body, bound, 30.0)
    assert proof.is_complete, proof.missing
    assert check(proof.text.encode(), found.model_file).bound == bound


def test_a_bound_that_is_too_high_cannot_be_written() -> None:
    """Above the true distance there is a good centre, which nothing refutes."""
    found = proven(hard_question(0))
    assert math.isfinite(found.distance)
    proof = Prover(found.problem.model).prove(found.problem, found.body, found.distance * 1.001, 30.0)
    assert "could not be refuted" in proof.missing
