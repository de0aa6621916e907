"""Every family of models, every shape of room and every kind of rule on whole numbers: the truth by trying every centre with
every point of its room.

`drawn` makes up a question, `answers` lists all centres that obey the words of the rules and whose whole room has the wanted
outcome. Nothing of what rules come down to, and of any engine, is used for that.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import TypeAlias

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from elbowroom import Ball, Box, Diamond, Explainer, Feature, Group, NotAll, Plausible, Space, Target
from elbowroom.models import Decision, LinearModel, Model, ObliqueEnsemble, ReluNetwork, TreeEnsemble, join, members_of
from elbowroom.problem import RecourseProblem, Room, Rule
from elbowroom.problem.rules import AtMost
from elbowroom.problem.rules.plausible import InHull
from tests.support import rule_truth
from tests.support.linear_problems import linear_model
from tests.support.oblique_models import random_oblique
from tests.support.small_models import random_trees
from tests.support.small_networks import network

FAMILIES = ("linear", "network", "trees", "oblique")
KINDS = {"linear": LinearModel, "network": ReluNetwork, "trees": TreeEnsemble, "oblique": ObliqueEnsemble}
Kind: TypeAlias = frozenset[int]  # what a centre changes, as `Space.changed` numbers it


def drawn(seed: int, families: tuple[str, ...] = FAMILIES) -> tuple[RecourseProblem, tuple[Rule, ...]]:
    """A question without its rules, and rules for it; most have an answer if the rules are left out."""
    rng = np.random.default_rng([161, seed])
    while True:
        problem = _question(rng, str(rng.choice(families)))
        if rng.random() < 0.15 or answers(problem):
            break
    if rng.random() < 0.3:
        problem = rule_truth.with_prices(rng, problem, flat=rng.random() < 0.8)
    return problem, _rules(rng, problem)


def drawn_together(seed: int, families: tuple[str, ...] = FAMILIES) -> tuple[RecourseProblem, tuple[Rule, ...]]:
    """The same question about two or three models of one family, each with classes and a wanted class of its own."""
    rng = np.random.default_rng([162, seed])
    family = (str(rng.choice(families)),)
    problem, rules = drawn(seed, family)
    single = len(problem.space.names) - sum(members.size for members in problem.space.members)
    while True:
        models = [problem.model]
        models += [_model(rng, *family, single, len(problem.space.names) - single) for _ in range(rng.integers(1, 3))]
        targets = [problem.target, *(Target(int(rng.integers(len(model.info.classes)))) for model in models[1:])]
        joint = join(models, [f"model {i + 1}" for i in range(len(models))])
        assert joint is not None
        found = replace(problem, model=joint, target=Target(each=tuple(targets)))
        if rng.random() < 0.3 or answers(found):
            return found, rules


def drawn_some(seed: int, families: tuple[str, ...] = FAMILIES) -> tuple[RecourseProblem, tuple[Rule, ...]]:
    """The same question about two to four models of one family, some of which are enough; now and then one of them has to be
    among these."""
    rng = np.random.default_rng([163, seed])
    problem, rules = drawn_together(seed, families)
    single = sum(problem.space.group_of < 0)
    family = next(name for name, kind in KINDS.items() if isinstance(members_of(problem.model)[0], kind))
    models, targets = list(members_of(problem.model)), list(problem.target.each)
    for _ in range(int(rng.integers(0, 3))):
        models.append(_model(rng, family, single, len(problem.space.names) - single))
        targets.append(Target(int(rng.integers(len(models[-1].info.classes)))))
    joint = join(models, [f"model {i + 1}" for i in range(len(models))])
    assert joint is not None
    count = int(rng.integers(1, len(models)))
    always = (int(rng.integers(len(models))),) if rng.random() < 0.3 else ()
    target = Target(each=tuple(targets), count=count, always=always)
    return replace(problem, model=joint, target=target), rules


def explainer_of(problem: RecourseProblem) -> Explainer:
    return Explainer(problem.model, problem.space)


def asked(problem: RecourseProblem, rules: tuple[Rule, ...]) -> dict[str, object]:
    """As a user would ask it."""
    return {
        "row": problem.factual, "room": problem.room, "target": problem.target, "distance": problem.distance, "rules": rules,
    }  # fmt: skip


def _question(rng: np.random.Generator, family: str) -> RecourseProblem:
    single = int(rng.integers(2, 4))
    group = int(rng.choice([0, 0, 2, 3])) if single == 2 else 0
    names = tuple(f"x{i}" for i in range(single + group))
    features, row = [], []
    for name in names[:single]:
        low = int(rng.integers(-3, 1))
        high = low + int(rng.integers(2, 6))
        features.append(
            Feature(
                name, "integer", low, high, immutable=bool(rng.random() < 0.07),
                direction=str(rng.choice(["any", "any", "any", "increasing", "decreasing"])),
                scale=float(rng.choice([1.0, 1.0, 2.0, 0.7])), weight=float(rng.choice([1.0, 1.0, 2.5, 0.3])),
            )
        )  # fmt: skip
        row.append(float(rng.integers(low, high + 1)) if rng.random() < 0.95 else high + 1.0)
    features += [Feature(name, "binary", upper=0.0 if rng.random() < 0.05 else 1.0) for name in names[single:]]
    row += list(np.eye(group)[rng.integers(group)]) if group else []
    groups = (Group("city", names[single:], float(rng.choice([0.5, 1.0, 2.0]))),) if group else ()
    space, factual = Space(tuple(features), groups), np.array(row)
    model = _model(rng, family, single, group)
    now = int(model.info.labels_of(model.scores(factual[None]))[0])
    target = int(rng.choice([c for c in range(len(model.info.classes)) if c != now]))
    distance = str(rng.choice(["l1", "l2", "linf"]))
    return RecourseProblem.ask(model, space, factual, _room(rng, space, single), target, distance)


def _model(rng: np.random.Generator, family: str, single: int, group: int) -> Model:
    size, classes = single + group, int(rng.choice([2, 2, 3]))
    if family == "linear":
        rows = 1 if classes == 2 else classes
        return linear_model(rng.normal(size=(rows, size)), 2.0 * rng.normal(size=rows))
    if family == "network":
        return network(rng, size, (4,) if rng.random() < 0.6 else (3, 3), classes)
    if family == "oblique":
        return random_oblique(rng, size, int(rng.integers(1, 4)), 2)
    cuts = [rng.choice(np.arange(-8, 9) / 2.0 + 0.25, 6) if f < single else np.array([0.5]) for f in range(size)]
    decision = Decision.ARGMAX if classes == 3 else Decision.POSITIVE
    exact = bool(rng.random() < 0.5)
    return random_trees(rng, size, int(rng.integers(1, 6)), 3, cuts, classes, decision, exact=exact, base=-0.25)


def _room(rng: np.random.Generator, space: Space, single: int) -> Room:
    categories = {"city": str(rng.choice(["any", "fixed"]))} if space.groups else None
    radius = float(rng.choice([0.0, 1.0, 1.0, 1.0, 1.5, 2.0]))
    match int(rng.integers(6)):
        case 0:
            return Ball(radius, categories=categories)
        case 1:
            return Diamond(radius, categories=categories)
        case 2:
            low, high = float(rng.choice([0.0, 1.0])), float(rng.choice([0.0, 1.0, 2.0]))
            return Box(low=low, high=high, categories=categories)
        case 3:
            return Box(radius, on=str(rng.choice(["changed", "kept"])))
        case 4:
            return Box({n: float(rng.choice([0.0, 1.0, 2.0])) for n in space.names[:single]}, categories=categories)
        case _:
            return Box(radius, categories=categories)


def _rules(rng: np.random.Generator, problem: RecourseProblem) -> tuple[Rule, ...]:
    space = problem.space
    rules: list[Rule] = []
    if rng.random() < 0.2:
        rules.append(AtMost(int(rng.integers(0, 3))))
    if rng.random() < 0.6:
        rules += rule_truth.random_rules(rng, problem, int(rng.integers(1, 3)))
    if rng.random() < 0.25:
        rules.append(rule_truth.random_row(rng, problem))
    if rng.random() < 0.1:
        both = [n for n in space.names if space.group_of[space.position[n]] < 0] + [g.name for g in space.groups]
        rules.append(NotAll([str(n) for n in rng.choice(both, 2, replace=False)]))
    if rng.random() < 0.15:
        rules.append(_hull(rng, problem))
    return tuple(rules)


def _hull(rng: np.random.Generator, problem: RecourseProblem) -> Plausible:
    space = problem.space
    rows = np.array([[float(rng.integers(int(f.lower), int(f.upper) + 1)) for f in space.features] for _ in range(12)])
    for members in space.members:
        rows[:, members] = np.eye(members.size)[rng.integers(members.size, size=12)]
    return Plausible(pd.DataFrame(rows, columns=list(space.names)), how="hull", nearest=int(rng.integers(3, 9)))


# ---- the truth --------------------------------------------------------------------------------------------------------
def answers(problem: RecourseProblem) -> list[tuple[float, np.ndarray]]:
    """All valid centres with their distances."""
    space = problem.space
    axes = [np.arange(low, high + 1.0) for low, high in zip(problem.lower, problem.upper, strict=True)]
    points = np.array(list(product(*axes))).reshape(-1, len(axes))
    for members in space.members:
        points = points[points[:, members].sum(axis=1) == 1.0]
    if not len(points):
        return []
    wanted, models = problem.target, members_of(problem.model) or (problem.model,)
    targets, least = wanted.each or (wanted,), wanted.count or len(models)
    good = np.column_stack(
        [
            model.info.labels_of(model.scores(points)) == target.index(model.info)
            for model, target in zip(models, targets, strict=True)
        ]
    )
    found = []
    for center in points:
        inside = problem.body(center).contains(points)
        keeps = good[inside].all(axis=0)  # which models say what is wanted of them at every point
        if keeps.sum() < least or not keeps[list(wanted.always)].all() or _moves_too_little(problem, center):
            continue
        if all(_obeys(rule, problem, center, points[inside]) for rule in problem.rules):
            found.append((problem.measure(center), center))
    return found


def closest(problem: RecourseProblem) -> float:
    return min((distance for distance, _ in answers(problem)), default=math.inf)


def by_kind(problem: RecourseProblem) -> dict[Kind, float]:
    """The smallest distance for every set of changes."""
    found: dict[Kind, float] = {}
    for distance, center in answers(problem):
        kind = kind_of(problem, center)
        found[kind] = min(found.get(kind, math.inf), distance)
    return found


def kind_of(problem: RecourseProblem, center: np.ndarray) -> Kind:
    return frozenset(np.flatnonzero(problem.space.changed(problem.factual, center)).tolist())


def _moves_too_little(problem: RecourseProblem, center: np.ndarray) -> bool:
    """on="kept": a value that could be kept is kept, or moves by its room at least."""
    if problem.walls.on.value != "kept":
        return False
    width, move = np.maximum(problem.walls.down, problem.walls.up), np.abs(center - problem.factual)
    could_stay = (problem.factual >= problem.lower) & (problem.factual <= problem.upper)
    return bool(((move > 0.0) & (move < width) & could_stay & (problem.space.group_of < 0)).any())


def _obeys(rule: Rule, problem: RecourseProblem, center: np.ndarray, room: np.ndarray) -> bool:
    if isinstance(rule, AtMost):
        return len(kind_of(problem, center)) <= rule.changes
    if isinstance(rule, InHull):
        return _in_hull(rule, problem, center)
    if getattr(rule, "everywhere", False):
        return all(rule_truth.holds(rule, problem, point) for point in room)
    return rule_truth.holds(rule, problem, center)


def _in_hull(rule: InHull, problem: RecourseProblem, center: np.ndarray) -> bool:
    x, points = center[[problem.space.position[name] for name in rule.columns]], rule.points
    slack = 1e-7 * np.abs(points).max(axis=0) + 1e-12
    found = linprog(
        np.zeros(len(points)), A_ub=np.vstack([points.T, -points.T]), b_ub=np.concatenate([x + slack, slack - x]),
        A_eq=np.ones((1, len(points))), b_eq=[1.0], bounds=(0.0, None),
    )  # fmt: skip
    return bool(found.status == 0)
