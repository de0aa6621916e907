"""One question through the front door against the truth: what must hold of every answer, and how it ended.

Whatever is wrong raises AssertionError; questions that are refused by name, and those that end within rounding of a tie, say so.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from elbowroom import AtLeast, Explainer, InputError, LinearRule, NoRegion, Region, Status
from elbowroom.models import TreeEnsemble, members_of
from elbowroom.problem import RecourseProblem
from tests.support import people_truth, whole_truth
from tests.support.hostile import attack
from tests.support.whole_truth import Kind

CLOSE, OF_ROWS = 1e-9, 3e-8  # rows hold to 1e-9 of their terms
GAP = 1e-4 + 1e-7  # at which networks, balls and diamonds call an answer optimal
SECONDS = 60.0


def attacked(explainer: Explainer, region: Region) -> None:
    """By the copy of the model for the numbers that the row lacks; a region of a class."""
    whole = explainer.for_missing(region.missing).model
    each = list(zip(members_of(whole) or (whole,), region.target.each or (region.target,), strict=True))
    if region.target.count is not None:
        keepers = region.certificate.keepers
        assert len(keepers) >= region.target.count and set(region.target.always) <= set(keepers)
        each = [each[i] for i in keepers]
    for model, target in each:
        labels = np.array(model.info.classes)
        cuts = model.cuts if isinstance(model, TreeEnsemble) else None
        attack(lambda X, m=model, names=labels: names[m.info.labels_of(m.scores(X))], region.body, target.label, cuts)


def people(seed: int) -> str:
    """Rules, steps, prices, room on some columns, plausibility, missing values: boxes on trees."""
    asked = people_truth.asked(seed)
    try:
        answer = asked.explainer.explain(**asked.question(), time_limit=SECONDS)  # type: ignore[arg-type]
    except InputError:
        return "refused"
    problem = replace(asked.problem, rules=answer.rules)
    truth, said = people_truth.truth(problem), f"seed {seed}: {asked.said}"
    close = OF_ROWS if any(isinstance(rule, LinearRule) for rule in asked.rules) else CLOSE
    tied = bool(problem.stated.further)  # a small isolation forest often calls a point usual by nothing at all
    assert answer.lower_bound <= truth * (1.0 + close) + close, f"{said}: bound {answer.lower_bound}, truth {truth}"
    if isinstance(answer, NoRegion):
        assert math.isinf(truth), f"{said}: {answer.status.name} ({answer.reason}), but there is one at {truth}"
        assert answer.status is Status.NONE_EXISTS or tied, f"{said}: {answer.reason}"
        return "none" if answer.status is Status.NONE_EXISTS else "within rounding of a tie"
    attacked(asked.explainer, answer)
    assert abs(answer.distance - truth) <= close * max(1.0, truth), f"{said}: {answer.distance}, truth {truth}"
    assert answer.status is Status.OPTIMAL or tied, f"{said}: {answer.lower_bound} of {answer.distance}"
    return "region" if answer.status is Status.OPTIMAL else "within rounding of a tie"


def whole(seed: int, families: tuple[str, ...] = whole_truth.FAMILIES, method: str = "auto") -> str:
    """Whole numbers: every family, shape and kind of rule."""
    problem, rules = whole_truth.drawn(seed, families)
    explainer = whole_truth.explainer_of(problem)
    try:
        answer = explainer.explain(**whole_truth.asked(problem, rules), method=method, time_limit=SECONDS)  # type: ignore[arg-type]
    except InputError:
        return "refused"
    problem = replace(problem, rules=answer.rules)
    _is_true(explainer, problem, answer, whole_truth.closest(problem), f"seed {seed}: {_said(problem)}")
    return "region" if isinstance(answer, Region) else "none"


def together(seed: int, families: tuple[str, ...] = whole_truth.FAMILIES) -> str:
    """Whole numbers, and several models at once."""
    problem, rules = whole_truth.drawn_together(seed, families)
    explainer = Explainer(list(members_of(problem.model)), problem.space)
    try:
        answer = explainer.explain(**whole_truth.asked(problem, rules), time_limit=SECONDS)  # type: ignore[arg-type]
    except InputError:
        return "refused"
    problem = replace(problem, rules=answer.rules)
    _is_true(explainer, problem, answer, whole_truth.closest(problem), f"seed {seed}: {_said(problem)}")
    return "region" if isinstance(answer, Region) else "none"


def some_of(seed: int, families: tuple[str, ...] = whole_truth.FAMILIES) -> str:
    """Whole numbers, and several models of which some are enough, the same at every point."""
    problem, rules = whole_truth.drawn_some(seed, families)
    target, models = problem.target, list(members_of(problem.model))
    always = [f"model {i + 1}" for i in target.always]
    explainer = Explainer(AtLeast(target.count or len(models), models, always), problem.space)
    question = whole_truth.asked(problem, rules) | {"target": list(target.each)}
    try:
        answer = explainer.explain(**question, time_limit=SECONDS)  # type: ignore[arg-type]
    except InputError:
        return "refused"
    assert answer.target == target
    problem = replace(problem, rules=answer.rules)
    said, truth = f"seed {seed}: {target.count} of {_said(problem)}", whole_truth.closest(problem)
    if answer.status is Status.UNKNOWN and "time limit" in answer.reason:
        assert answer.lower_bound <= truth * (1.0 + 1e-8) + CLOSE, f"{said}: bound {answer.lower_bound}, truth {truth}"
        return "open"
    _is_true(explainer, problem, answer, truth, said)
    return "region" if isinstance(answer, Region) else "none"


def _said(problem: RecourseProblem) -> str:
    return f"{problem.model.info.source}, {[rule.words for rule in problem.rules]}, {problem.room}, {problem.distance}"


def _is_true(
    explainer: Explainer, problem: RecourseProblem, answer: Region | NoRegion, truth: float, said: str
) -> None:
    assert answer.lower_bound <= truth * (1.0 + 1e-8) + CLOSE, f"{said}: bound {answer.lower_bound}, truth {truth}"
    if isinstance(answer, NoRegion):
        assert answer.status is Status.NONE_EXISTS and math.isinf(truth), f"{said}: {answer.reason}, truth {truth}"
        return
    attacked(explainer, answer)
    assert truth * (1.0 - 1e-8) - CLOSE <= answer.distance <= truth * (1.0 + GAP) + 1e-8, (
        f"{said}: {answer.distance}, truth {truth}"
    )


def several(seed: int, families: tuple[str, ...] = ("trees", "linear")) -> str:
    """Menus, the fewest changes near the closest, and answers of different kinds, under rules."""
    problem, rules = whole_truth.drawn(seed, families)
    explainer, question = whole_truth.explainer_of(problem), whole_truth.asked(problem, rules)
    try:
        menu = explainer.menu(**question, time_limit=SECONDS)  # type: ignore[arg-type]
        found = explainer.explain_diverse(k=4, **question, time_limit=SECONDS)  # type: ignore[arg-type]
        few = explainer.explain(**question, prefer_few=0.5, time_limit=SECONDS)  # type: ignore[arg-type]
    except InputError:
        return "refused"
    problem = replace(problem, rules=menu.closest.rules)
    truth, said = whole_truth.by_kind(problem), f"seed {seed}: {_said(problem)}"
    for k, answer in enumerate(menu.limited, 1):
        least = min((d for kind, d in truth.items() if len(kind) <= k), default=math.inf)
        _is_true(explainer, problem, answer, least, f"{said}, at most {k} changes")
    _is_true(explainer, problem, menu.closest, min(truth.values(), default=math.inf), said)
    _are_of_different_kinds(explainer, problem, found, truth, said)
    if isinstance(few, Region):
        _has_fewest(problem, few, truth, said)
    return "several" if len(found) > 1 else "one" if found else "none"


def _are_of_different_kinds(
    explainer: Explainer, problem: RecourseProblem, found: list[Region], truth: dict[Kind, float], said: str
) -> None:
    former: list[Kind] = []
    for place in range(4):
        left = {kind: d for kind, d in truth.items() if not any(one <= kind for one in former)}
        if not left or frozenset() in former:
            assert len(found) == place, f"{said}: {len(found)} answers, there are {place}"
            return
        assert len(found) > place, f"{said}: {len(found)} answers, there are more: {left}"
        region = found[place]
        _is_true(explainer, problem, region, min(left.values()), f"{said}, answer {place + 1}")
        kind = whole_truth.kind_of(problem, region.body.center)
        assert kind in left, f"{said}: answer {place + 1} changes {sorted(kind)}, as an earlier one does"
        former.append(kind)


def _has_fewest(problem: RecourseProblem, region: Region, truth: dict[Kind, float], said: str) -> None:
    limit, changes = 1.5 * min(truth.values()), len(whole_truth.kind_of(problem, region.body.center))
    within = [len(kind) for kind, d in truth.items() if d <= limit * (1.0 + 2.0 * GAP) + 1e-8]
    surely = [len(kind) for kind, d in truth.items() if d <= limit * (1.0 - 2.0 * GAP)]
    assert min(within) <= changes <= min(surely, default=99), f"{said}: {changes} changes, fewest {min(within)}"
    least = min(d for kind, d in truth.items() if len(kind) <= changes)
    assert abs(region.distance - least) <= GAP * least + 1e-8, f"{said}: {region.distance}, truth {least}"
