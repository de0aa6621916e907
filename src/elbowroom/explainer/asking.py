"""From what a user hands in to a question, with its rules settled; and questions about a point that is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from elbowroom.errors import InputError
from elbowroom.models import Model
from elbowroom.numerics import Floats
from elbowroom.problem import Direction, Distance, Plausible, RecourseProblem, Room, Rule, Space, Target
from elbowroom.problem.class_names import ClassNames
from elbowroom.problem.further import Further
from elbowroom.problem.rules import conditions_of, parse_rules
from elbowroom.result import Region
from elbowroom.result.own_words import with_missing
from elbowroom.visible import listed


def ask(
    model: Model,
    whole: Model,
    space: Space,
    row: object,
    room: Room,
    target: object,
    distance: Distance | str,
    rules: Sequence[Rule],
    allow_missing: bool,
    labels: ClassNames,
) -> RecourseProblem:
    """The question; ``whole`` is the model of rows that lack nothing."""
    asked, about = parse_rules(rules), (model, space, row, room, target, distance)
    if not any(isinstance(rule, Plausible) for rule in asked):
        return RecourseProblem.ask(*about, asked, allow_missing=allow_missing, labels=labels)
    from elbowroom.explainer.plausible import settled

    plain = RecourseProblem.ask(*about, (), allow_missing=allow_missing, labels=labels)
    return replace(plain, rules=settled(asked, plain, whole))


def further_of(region: Region) -> tuple[Further, ...]:
    """What the rules of a region claim of further trees."""
    return conditions_of(region.rules, region.space, region.factual_values).further


def question_about(
    model: Model,
    space: Space,
    missing: tuple[str, ...],
    point: Floats,
    room: Room,
    target: object,
    factual: Floats | None,
) -> RecourseProblem:
    """The question whose answer would be ``point``; without a target, the class that the model gives the point;
    without a factual, features have no direction."""
    if factual is None:
        both_ways = tuple(replace(f, direction=Direction.ANY) for f in space.features)
        space, factual = replace(space, features=both_ways), point
    if target is None and not model.info.is_regressor:  # whose missing target is refused by name
        said = model.info.says(model.scores(point[None]))[0]
        target = Target.parse(said, model.info) if model.info.members else Target(said)
    row = with_missing(space, factual, missing)
    return RecourseProblem.ask(model, space, row, room, target, allow_missing=bool(missing))


def outside(point: Floats, problem: RecourseProblem) -> InputError | None:
    """Why a point may not be the centre of a room, if it lies beyond the limits."""
    beyond = (point < problem.lower) | (point > problem.upper)
    if not beyond.any():
        return None
    f = int(np.argmax(beyond))
    return InputError(
        f"center, column {problem.space.names[f]!r}: {point[f]:g} lies outside [{problem.lower[f]:g}, "
        f"{problem.upper[f]:g}]; widen the bounds of the space or move the centre"
    )


def same_columns(region: Region, space: Space) -> None:
    """Refuse a region about other columns."""
    if region.space.names != space.names:
        raise InputError(f"the region is about the columns {listed(region.space.names)}, not {listed(space.names)}")
