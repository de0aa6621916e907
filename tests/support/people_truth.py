"""Everything at once on small trees: rules, steps, prices, rooms on some columns, plausible answers and missing values.

`asked` makes up a question as a user would ask it, through the front door, together with the question that it comes down to;
`truth` finds its answer by looking at everything. The cuts of further ensembles (isolation forests, leaves with few rows) make
further candidates for centres; whether a centre obeys is decided from the words of the rules, point by point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from elbowroom import Box, Explainer, InputError, Plausible
from elbowroom.models import TreeEnsemble
from elbowroom.problem import Distance, RecourseProblem, Rule
from elbowroom.problem.on import On
from elbowroom.problem.rules.plausible import InForest, OnLeaves
from tests.support import plausible_truth, rule_truth
from tests.support.brute import closest
from tests.support.small_questions import random_question


@dataclass(frozen=True, eq=False)
class Asked:
    """``row`` holds NaN where ``problem``, about the model that is left without these columns, holds 0."""

    explainer: Explainer
    row: np.ndarray
    problem: RecourseProblem
    rules: tuple[Rule, ...]

    def question(self) -> dict[str, object]:
        problem = self.problem
        return {
            "row": self.row, "room": problem.room, "target": problem.target, "distance": problem.distance,
            "rules": self.rules,
        }  # fmt: skip

    @property
    def said(self) -> str:
        """For messages."""
        return f"{[rule.words for rule in self.rules]}, {self.problem.room}, {self.problem.distance}"


def asked(seed: int) -> Asked:
    """A random question; whether it is taken is for the front door."""
    rng = np.random.default_rng([160, seed])
    plain = replace(random_question(rng), rules=())
    while math.isinf(closest(plain)) and rng.random() < 0.9:  # most questions should have an answer
        plain = replace(random_question(rng), rules=())
    if rng.random() < 0.3:
        plain = rule_truth.with_prices(rng, plain)
    model, row = plain.model, plain.factual.copy()
    if rng.random() < 0.25:
        model, gone = _that_takes_missing(rng, plain)
        row[gone] = np.nan
    room = plain.room
    assert isinstance(room, Box)
    if rng.random() < 0.3:
        on = str(rng.choice(["changed", "kept"]))
        room = Box(room.radius, room.low, room.high, on=on)
    explainer = Explainer(model, plain.space)
    lacking = tuple(plain.space.names[f] for f in np.flatnonzero(np.isnan(row)))
    left = _without(model, np.isnan(row)) if lacking else model
    factual = np.where(np.isnan(row), 0.0, row)
    base = RecourseProblem(left, plain.space, factual, plain.target, room, plain.distance, (), lacking)
    return Asked(explainer, row, base, _rules(rng, base))


def _that_takes_missing(rng: np.random.Generator, plain: RecourseProblem) -> tuple[TreeEnsemble, list[int]]:
    """The model with a side for missing numbers in every column, and which columns of numbers are missing in the row."""
    model = plain.model
    assert isinstance(model, TreeEnsemble)
    single = plain.space.group_of < 0
    model = replace(model, missing_left=rng.random(model.feature.size) < 0.5, may_miss=single)
    numbers = [f for f in np.flatnonzero(single) if not plain.space.features[f].immutable]
    some = rng.permutation(numbers)[: int(rng.integers(1, 3))] if numbers else []
    return model, [int(f) for f in some][: max(len(numbers) - 1, 0)]


def _without(model: TreeEnsemble, gone: np.ndarray) -> TreeEnsemble:
    """What is left of a model: where a number is missing, every split has one side."""
    assert model.missing_left is not None
    lacks = (model.feature >= 0) & gone[np.maximum(model.feature, 0)]
    cut = np.where(lacks, np.where(model.missing_left, np.inf, -np.inf), model.cut)
    return replace(model, cut=cut, missing_left=None, may_miss=None)


def _rules(rng: np.random.Generator, problem: RecourseProblem) -> tuple[Rule, ...]:
    space = problem.space
    rules: list[Rule] = []
    if rng.random() < 0.2:
        rules.append(rule_truth.AtMost(int(rng.integers(1, 3))))
    if problem.walls.on is not On.ALL and rng.random() < 0.8:  # few rules are taken there
        return tuple(rules)
    drawn: list[Rule] = []
    if rng.random() < 0.7:
        drawn += rule_truth.random_rules(rng, problem, int(rng.integers(1, 3)))
    if (space.group_of < 0).sum() >= 2 and problem.distance is Distance.L1 and rng.random() < 0.2:
        drawn.append(rule_truth.random_row(rng, problem))
    rules += [rule for rule in drawn if _about_what_is_there(problem, rule)]
    if rng.random() < 0.4:
        rules.append(_plausible(rng, problem))
    return tuple(rules)


def _about_what_is_there(problem: RecourseProblem, rule: Rule) -> bool:
    """Rules about a number that is missing are refused; that is tested elsewhere."""
    try:
        replace(problem, rules=(rule,))
    except InputError as refused:
        return "missing in this row" not in str(refused)
    return True


def _plausible(rng: np.random.Generator, problem: RecourseProblem) -> Plausible:
    """A small isolation forest, or leaves, from rows around the factual."""
    space, count = problem.space, int(rng.integers(8, 40))
    rows = problem.factual + rng.normal(0.0, 2.5, (count, problem.factual.size))
    rows = np.where(space.whole_center, np.round(rows), rows)
    rows = np.clip(
        rows, np.where(np.isfinite(space.lower), space.lower, -50), np.where(np.isfinite(space.upper), space.upper, 50)
    )
    for f, feature in enumerate(space.features):
        if feature.kind.value == "binary":
            rows[:, f] = rng.integers(2, size=count)
    for members in space.members:
        allowed = [k for k, f in enumerate(members) if space.upper[f] > 0.0] or [0]
        rows[:, members] = np.eye(members.size)[rng.choice(allowed, count)]
    rows[:, [space.position[name] for name in problem.missing]] = 0.0  # no cuts there
    table = pd.DataFrame(rows, columns=list(space.names))
    everywhere = bool(rng.random() < 0.5)
    if rng.random() < 0.3:
        return Plausible(table, how="leaves", least=int(rng.integers(1, 4)), everywhere=everywhere)
    return Plausible(
        table, everywhere=everywhere, trees=int(rng.integers(1, 4)), sample=int(rng.integers(4, 9)),
        outliers=float(rng.choice([0.1, 0.3])), seed=int(rng.integers(100)),
    )  # fmt: skip


def truth(problem: RecourseProblem) -> float:
    """The smallest distance of a centre that obeys everything and whose whole room is good. ``problem`` has its rules
    settled, as those of an answer are."""
    plain = tuple(rule for rule in problem.rules if not isinstance(rule, (InForest, OnLeaves)))
    words = replace(problem, rules=plain)
    further = problem.stated.further
    more = rule_truth.more(words) if len(plain) or further else {}
    for f in more:
        more[f] = sorted({*more[f], *_near_cuts(problem, f)}) if further else more[f]

    def obeys(center: np.ndarray) -> bool:
        if not rule_truth.obeys(words, center):
            return False
        if not all(plausible_truth._holds(e, center[None]) for e in further if not e.everywhere):
            return False
        inside = [e for e in further if e.everywhere]
        if not inside:
            return True
        points = plausible_truth._points(problem, center, further)
        return all(plausible_truth._holds(e, points) for e in inside)

    if not more:
        return closest(words)
    return closest(words, more=more, obeys=obeys)


def _near_cuts(problem: RecourseProblem, f: int) -> list[float]:
    """All floats at which the centre, or an end of its room, passes a cut of any ensemble."""
    if problem.space.group_of[f] >= 0:
        return []
    whole = bool(problem.space.whole_center[f])
    found: list[float] = []
    for t in plausible_truth._cuts(problem, f, problem.stated.further):
        if not math.isfinite(t):
            continue
        for edge in (t, t + problem.walls.down[f], t - problem.walls.up[f]):
            if whole:
                found += [float(math.floor(edge) + k) for k in (-1, 0, 1, 2)]
            else:
                around = [float(edge)]
                for _ in range(2):
                    around = [math.nextafter(around[0], -math.inf), *around, math.nextafter(around[-1], math.inf)]
                found += around
    return [v for v in found if problem.lower[f] <= v <= problem.upper[f]]
