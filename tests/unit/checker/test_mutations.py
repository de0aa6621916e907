"""Damaged proofs are refused, or still prove what is true. Truth is found by brute force, with the model's own labels."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from elbowroom import Ball, Box, Diamond, Explainer, Region
from elbowroom.problem import Body, RecourseProblem, Shape
from elbowroom.proof.model_file import model_bytes
from elbowroom.proof.prover import Prover
from elbowroom_checker import Refused, check
from elbowroom_checker.verdict import Proven as Verdict
from tests.support.brute import closest
from tests.support.hostile import hostile_points
from tests.support.proofs import Proven, about, damaged, packed, random_proven, trees_of
from tests.support.small_models import every_cell

KINDS = ("validity", "optimality", "region", "model", "question")


def labelled(problem: RecourseProblem, points: np.ndarray, wanted: int) -> np.ndarray:
    """Which points have the wanted class, by the model's own sums."""
    return problem.model.info.labels_of(problem.model.scores(points)) == wanted


def is_true(found: Proven, problem: RecourseProblem, document: dict[str, Any], said: Verdict) -> bool:
    """Whether everything that the checker said is so. (A changed question has another closest answer, which nobody knows.)"""
    assert found.proof.document is not None
    question, wanted = document["question"], document["question"]["target"]["class"]
    if question == found.proof.document["question"] and said.bound is not None:
        truth = closest(problem, lambda points: labelled(problem, points, wanted))
        if said.bound > truth * (1 + 1e-12):
            return False
    if not said.valid:
        return True
    region = document["region"]
    center, lower, upper = (np.array(region[key], dtype=float) for key in ("center", "lower", "upper"))
    whole = np.isin(np.arange(center.size), question["whole"])
    members = [np.array(group["members"]) for group in question["groups"]]
    free = tuple(each for each in members if (lower[each] < upper[each]).any())
    body = Body(center, lower, upper, Shape.BOX, np.ones(center.size), whole, free)
    points = [hostile_points(body, problem.model.cuts)]
    if not free and not (upper - lower)[whole].max(initial=0.0) > 50.0:
        points.append(every_cell(problem.model, body))
    return bool(labelled(problem, np.concatenate(points), wanted).all())


def attempt(found: Proven, kind: str, rng: np.random.Generator) -> bool:
    """True if a damaged proof was refused; False if it was confirmed, and is true. Everything else is an error."""
    document, file, problem = found.proof.document, found.model_file, found.problem
    assert document is not None
    if kind == "model":
        file = packed(damaged(rng, json.loads(file), ("trees",)))
        document = about(document, file)
    else:
        document = damaged(rng, document, (kind,))
    try:
        said = check(packed(document), file, seconds=20.0)
    except Refused:
        return True
    if kind == "model":
        problem = replace(problem, model=trees_of(file))
    assert is_true(found, problem, document, said), f"confirmed, and not true: {document}, {file!r}"
    return False


def campaign(seeds: range, tries: int) -> tuple[dict[str, int], int]:
    """How many of each kind were refused, and how many were tried. Where no region exists, there is none to damage."""
    refused, tried = dict.fromkeys(KINDS, 0), 0
    for seed in seeds:
        found = random_proven(seed)
        assert found.proof.document is not None
        rng = np.random.default_rng(seed)
        for kind in KINDS:
            if kind == "model" or found.proof.document[kind]:
                refused[kind] += sum(attempt(found, kind, rng) for _ in range(tries))
                tried += tries
    return refused, tried


def test_damaged_proofs() -> None:
    refused, _ = campaign(range(24), 6)
    assert all(count > 10 for count in refused.values()), refused


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_twenty_thousand_damaged_proofs() -> None:
    refused, tried = campaign(range(1000, 1600), 10)
    assert tried >= 20_000 and all(count > 1000 for count in refused.values()), (tried, refused)


def test_damaged_proofs_of_linear_models() -> None:
    """Refused, or confirmed; a confirmed bound is not above the true distance, whatever else was changed in the proof."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    model = LogisticRegression().fit(X, X @ [1.0, -2.0, 0.5] > 0.3)
    explainer, refused = Explainer(model), 0
    file = model_bytes(explainer.model)
    for room in (Box(0.05), Ball(0.1), Diamond(0.1)):
        region = explainer.explain(X[0], room=room, proof=True)
        assert isinstance(region, Region) and region.proof is not None
        for kind in ("validity", "optimality", "region", "question"):
            for _ in range(30):
                document = damaged(rng, region.proof.document, (kind,))
                try:
                    said = check(packed(document), file, seconds=20.0)
                except Refused:
                    refused += 1
                    continue
                assert kind == "question" or said.bound is None or said.bound <= region.distance
    assert refused > 180


# ---- seeded bugs of whoever writes proofs ------------------------------------------------------------------------------
LIES: dict[str, list[tuple[str, Any]]] = {
    "the whole space is bad": [("_Writer.is_bad", lambda *_: True), ("Positions.sides", lambda *_: [])],
    "every room meets every bad box": [("meets", lambda *_: True)],
    "every centre is too expensive": [("_Writer.is_closed", lambda *_: True)],
    "every multiplier is enough": [("_Writer.settles", lambda *_: True), ("_Writer.wins", lambda *_: True)],
    "one position alone": [("BoxKernels.root_high", property(lambda self: self.root_low, lambda *_: None))],
}


@cache
def honest() -> list[Proven]:
    return [each for each in map(random_proven, range(50)) if each.body is not None and each.distance > 0.0]


@pytest.mark.parametrize("name", LIES)
def test_lies_of_the_writer_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a bound half as large again as the true distance, every proof that comes out is refused, and some come out. The
    checker's own copy of what lies is untouched."""
    answers = honest()
    for what, lie in LIES[name]:
        monkeypatch.setattr(f"elbowroom.proof.centers.{what}", lie, raising=False)
    refused = 0
    for found in answers:
        proof = Prover(found.problem.model).prove(found.problem, found.body, 1.5 * found.distance, 20.0)
        if not proof.is_complete:
            continue
        with pytest.raises(Refused):
            check(proof.text.encode(), found.model_file)
        refused += 1
    assert refused > 0, "this lie was never told"


def test_a_false_region_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The room around the row itself, which is not good, as a writer states it that needs no split."""
    answers = [each for each in honest() if each.problem.admissible(each.problem.factual)]
    monkeypatch.setattr("elbowroom.proof.validity._split", lambda *_: None)
    assert len(answers) > 3
    for found in answers:
        false = found.problem.body(found.problem.factual)
        proof = Prover(found.problem.model).prove(found.problem, false, found.lower_bound, 20.0)
        with pytest.raises(Refused, match="validity proof does not hold"):
            check(proof.text.encode(), found.model_file)
