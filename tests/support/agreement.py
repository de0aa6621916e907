"""Several answers to one question and the truth: everything in which they contradict one another."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np

from elbowroom import NoRegion, Region
from elbowroom.models import TreeEnsemble
from elbowroom.problem import RecourseProblem
from tests.support.hostile import attack
from tests.support.plane_truth import Truth

FLOATS = 1e-8  # the truth is computed in floats without proof


def contradictions(problem: RecourseProblem, truth: Truth, answers: dict[str, Region | NoRegion]) -> list[str]:
    """The truth lies between the bounds of every answer, no bound of one lies above the distance of another, and every
    region is what it says: certified for its own body, and good at every hostile point."""
    found = []
    for name, answer in answers.items():
        distance = _distance(answer)
        if not answer.lower_bound <= distance:
            found.append(f"{name}: its lower bound {answer.lower_bound!r} is above its distance {distance!r}")
        least = min(truth.distance, truth.looked)
        if distance < least - FLOATS * (1.0 + least):
            found.append(f"{name}: {distance!r} is closer than the closest, {least!r}")
        if truth.certain and answer.lower_bound > truth.distance + FLOATS * (1.0 + truth.distance):
            found.append(f"{name}: its lower bound {answer.lower_bound!r} is above the truth {truth.distance!r}")
        if isinstance(answer, Region):
            found += [f"{name}: {word}" for word in _faults(problem, answer)]
    for (one, answer), (other, rival) in permutations(answers.items(), 2):
        if answer.lower_bound > _distance(rival) * (1.0 + 1e-9) + 1e-12:
            found.append(f"the lower bound of {one}, {answer.lower_bound!r}, is above the distance of {other}")
    return found


def _distance(answer: Region | NoRegion) -> float:
    return answer.distance if isinstance(answer, Region) else math.inf


def _faults(problem: RecourseProblem, answer: Region) -> list[str]:
    info, model = problem.model.info, problem.model
    center = answer.body.center
    if not problem.admissible(center):
        return [f"the centre {center!r} is not admissible"]
    asked = problem.body(center)
    if not (np.array_equal(asked.lower, answer.body.lower) and np.array_equal(asked.upper, answer.body.upper)):
        return ["the certificate is about another body"]
    labels = np.array(info.classes)
    cuts = model.cuts if isinstance(model, TreeEnsemble) else None
    try:
        attack(lambda X: labels[info.labels_of(model.scores(X))], asked, problem.target.label, cuts)
    except AssertionError as fault:
        return [str(fault)]
    return []
