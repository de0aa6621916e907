"""The parts of a question that may rule an answer out, and the same question without some of them.

A part is something that was asked or declared and could be given up: a rule, a frozen or one-way feature, one side of the
bounds of a column, a category that is not allowed, the categories that the room must hold, the size of the room, a
probability. What a column is (whole, 0 or 1, one of a group) and what the row lacks are no parts: they are facts.

*Given up* means as if it had not been asked: the centre and the room are then free in this respect. So giving up the
freezing of a column lets the room reach along it, too, and a bound that is given up no longer clips the room.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, assert_never

from elbowroom.numerics import Floats
from elbowroom.problem.features import Feature
from elbowroom.problem.kinds import Direction, Kind, Missing
from elbowroom.problem.problem import RecourseProblem
from elbowroom.problem.rooms import Ball, Box, Diamond, Room
from elbowroom.problem.rules import AtMost, Rule
from elbowroom.problem.target import Target
from elbowroom.visible import named

ROOM_STEPS: Final = 100  # a smaller room is looked for in hundredths of the one that was asked for
CERTAIN: Final = 0.5  # a probability above it implies the label, so that giving it up asks for less


class Side(Enum):
    """On which side of a number a bound holds a column; the number belongs to it."""

    AT_MOST = "at most"
    AT_LEAST = "at least"


class PartKind(Enum):
    """What kind of thing rules an answer out; the order is that in which parts are blamed first.

    Attributes:
        RULE: One of the rules.
        FROZEN: A feature that is immutable.
        DIRECTION: A feature that may only rise or fall.
        CATEGORY: A category that is not allowed.
        PROBABILITY: A probability of the target.
        CATEGORIES: Categories that the room has to hold.
        ROOM: The size of the room.
        BOUND: One side of the bounds of a column.

    Examples:
        >>> none.why_not().blocking[0].kind.name
        'RULE'
    """

    RULE = "rule"
    FROZEN = "frozen feature"
    DIRECTION = "one-way feature"
    CATEGORY = "category that is not allowed"
    PROBABILITY = "probability"
    CATEGORIES = "categories in the room"
    ROOM = "room"
    BOUND = "bound"


@dataclass(frozen=True)
class Part:
    """One part of a question, which could be given up.

    Attributes:
        kind: What kind of thing it is.
        name: Of the column, the group or the rule; empty for the room and the probability.
        words: The part as a clause.
        without: What would be the case if it were given up, as a clause.
        columns: Inner columns that it is about.
        place: Of a rule, among the rules.
        side: Of a bound: a lower bound holds the column at least there.
        beyond: How far a bound may be given up: to here the model has predictions.

    Examples:
        >>> none.why_not().blocking[0].without
        'it were not asked that salary lies between 0 and 2,500'
    """

    kind: PartKind
    name: str  # of the column, the group or the rule; empty for the room and the probability
    words: str
    without: str
    columns: tuple[int, ...] = ()  # inner columns that it is about
    place: int = -1  # of a rule among the rules
    side: Side | None = None  # of a bound: a lower bound holds the column AT_LEAST there
    beyond: float = math.nan  # how far a bound may be given up: to here the model has predictions

    @property
    def limits_rooms(self) -> bool:
        """True if rooms are clipped by it, so that giving it up makes rooms larger."""
        return self.kind in (PartKind.FROZEN, PartKind.DIRECTION, PartKind.CATEGORY, PartKind.BOUND)

    @property
    def makes_rooms(self) -> bool:
        """True if a room is more than a point because of it."""
        return self.kind in (PartKind.ROOM, PartKind.CATEGORIES)


@dataclass(frozen=True, eq=False)
class Milder:
    """A question in which a part asks for less; ``words`` says for what, as a clause."""

    words: str
    problem: RecourseProblem


def parts_of(problem: RecourseProblem, domain: tuple[Floats, Floats] | None = None) -> tuple[Part, ...]:
    """All parts, those that are blamed first at the beginning. ``domain``: where the model has predictions at all."""
    order = list(PartKind)
    return tuple(sorted(_parts(problem, domain), key=lambda part: order.index(part.kind)))


def _parts(problem: RecourseProblem, domain: tuple[Floats, Floats] | None) -> Iterator[Part]:
    for place, rule in enumerate(problem.rules):
        yield Part(PartKind.RULE, type(rule).__name__, rule.words, f"it were not asked that {rule.words}", place=place)
    probability = problem.target.probability
    if probability is not None and probability > CERTAIN:
        yield Part(
            PartKind.PROBABILITY, "", f"the probability is at least {probability:g}", "the class alone were enough"
        )
    yield from _of_room(problem)
    for f, feature in enumerate(problem.space.features):
        if problem.space.group_of[f] < 0 and feature.name not in problem.missing:
            low, high = (-math.inf, math.inf) if domain is None else (float(domain[0][f]), float(domain[1][f]))
            yield from _of_column(f, feature, low, high)
    for g in range(len(problem.space.groups)):
        yield from _of_group(problem, g)


def _of_room(problem: RecourseProblem) -> Iterator[Part]:
    walls = problem.walls
    if walls.down.any() or walls.up.any():
        yield Part(PartKind.ROOM, "", room_words(problem.room), "a single point were enough")
    for name, how in (problem.room.categories or {}).items():
        if how != "fixed":
            said = "every category" if isinstance(how, str) else "all the named categories"
            yield Part(
                PartKind.CATEGORIES,
                name,
                f"the region holds {said} of {named(name)}",
                f"one category of {named(name)} were enough",
            )


def room_words(room: Room) -> str:
    """the room is a box of radius 0.05."""
    shape = type(room).__name__.lower() if isinstance(room, Box | Ball | Diamond) else "region"
    return f"the room is a {shape}" + ("" if room.size is None else f" of radius {room.size:.4g}")


def _of_column(f: int, feature: Feature, low: float, high: float) -> Iterator[Part]:
    name = named(feature.name)
    if feature.immutable:
        yield Part(PartKind.FROZEN, feature.name, f"{name} may not change", f"{name} might change", (f,))
    match Direction(feature.direction):
        case Direction.INCREASING:
            yield Part(PartKind.DIRECTION, feature.name, f"{name} may only rise", f"{name} might fall, too", (f,))
        case Direction.DECREASING:
            yield Part(PartKind.DIRECTION, feature.name, f"{name} may only fall", f"{name} might rise, too", (f,))
        case Direction.ANY:
            pass
        case _ as never:
            assert_never(never)
    if feature.kind is Kind.BINARY:
        low, high = 0.0, 1.0
    unit = "" if feature.unit is None else f" {named(feature.unit)}"
    if feature.lower > low:
        end = f"{feature.lower:,.6g}{unit}"
        words, without = f"{name} is at least {end}", f"{name} might go below {end}"
        yield Part(PartKind.BOUND, feature.name, words, without, (f,), side=Side.AT_LEAST, beyond=low)
    if feature.upper < high:
        end = f"{feature.upper:,.6g}{unit}"
        words, without = f"{name} is at most {end}", f"{name} might go above {end}"
        yield Part(PartKind.BOUND, feature.name, words, without, (f,), side=Side.AT_MOST, beyond=high)


def _of_group(problem: RecourseProblem, g: int) -> Iterator[Part]:
    group, members = problem.space.groups[g], problem.space.members[g]
    features, name = [problem.space.features[f] for f in members], named(group.name)
    absent = group.missing_member is not None and problem.factual[members[group.missing_member]] == 1.0
    if absent and any(feature.missing is not Missing.FILL for feature in features):
        return  # it stays missing, whatever is asked
    if any(feature.immutable for feature in features):
        columns = tuple(int(f) for f in members)
        yield Part(PartKind.FROZEN, group.name, f"{name} may not change", f"{name} might change", columns)
    if len(members) == 1:
        return
    for i, (f, feature) in enumerate(zip(members, features, strict=True)):
        label = named(feature.name) if group.labels is None else repr(group.labels[i])
        if feature.upper < 1.0:
            words, without = f"{name} is not {label}", f"{name} might be {label}"
            yield Part(PartKind.CATEGORY, group.name, words, without, (int(f),), side=Side.AT_MOST, beyond=1.0)
        if feature.lower > 0.0:
            words, without = f"{name} is {label}", f"{name} might be something else than {label}"
            yield Part(PartKind.CATEGORY, group.name, words, without, (int(f),), side=Side.AT_LEAST, beyond=0.0)


# ---- giving parts up -------------------------------------------------------------------------------------------------
@dataclass
class _Draft:
    """A question while parts of it are given up."""

    features: list[Feature]
    rules: list[Rule | None]
    room: Room
    target: Target
    space_touched: bool = field(default=False)

    def give_up(self, part: Part) -> None:
        match part.kind:
            case PartKind.RULE:
                self.rules[part.place] = None
            case PartKind.ROOM:
                self.room = self.room.times(0.0)
            case PartKind.CATEGORIES:
                kept = {name: how for name, how in _freedom(self.room).items() if name != part.name}
                self.room = replace(self.room, categories=kept or None)  # type: ignore[type-var]  # rooms are dataclasses
            case PartKind.PROBABILITY:
                self.target = replace(self.target, probability=None)
            case PartKind.FROZEN:
                self._edit(part, immutable=False)
            case PartKind.DIRECTION:
                self._edit(part, direction=Direction.ANY)
            case PartKind.BOUND | PartKind.CATEGORY:
                self._edit(part, **{"lower" if part.side is Side.AT_LEAST else "upper": part.beyond})
            case _ as never:
                assert_never(never)

    def _edit(self, part: Part, **changes: object) -> None:
        self.space_touched = True
        for f in part.columns:
            self.features[f] = replace(self.features[f], **changes)  # type: ignore[arg-type]


def _freedom(room: Room) -> Mapping[str, object]:
    return room.categories or {}


def without(problem: RecourseProblem, given_up: Iterable[Part]) -> RecourseProblem:
    """The same question without these parts of it."""
    draft = _Draft(list(problem.space.features), list(problem.rules), problem.room, problem.target)
    for part in given_up:
        draft.give_up(part)
    space = replace(problem.space, features=tuple(draft.features)) if draft.space_touched else problem.space
    rules = tuple(rule for rule in draft.rules if rule is not None)
    return replace(problem, space=space, rules=rules, room=draft.room, target=draft.target)


def milder(problem: RecourseProblem, part: Part) -> list[Milder]:
    """Questions in which one part asks for less and less; in the last one it is given up."""
    last = Milder(part.without, without(problem, [part]))
    match part.kind:
        case PartKind.RULE:
            return [*_more_changes(problem, part.place), last]
        case PartKind.ROOM:
            return [*_smaller_rooms(problem), last]
        case PartKind.PROBABILITY:
            return [*_likely_enough(problem), last]
        case PartKind.FROZEN | PartKind.DIRECTION | PartKind.CATEGORY | PartKind.CATEGORIES | PartKind.BOUND:
            return [last]
        case _ as never:
            assert_never(never)


def _smaller_rooms(problem: RecourseProblem) -> Iterator[Milder]:
    for step in range(ROOM_STEPS - 1, 0, -1):
        room = problem.room.times(step / ROOM_STEPS)
        words = f"the room were {step} % of what was asked for"
        if room.size is not None:
            words = room_words(room).replace(" is ", " were ", 1)
        yield Milder(words, replace(problem, room=room))


def _more_changes(problem: RecourseProblem, place: int) -> Iterator[Milder]:
    """More changes than a limit allows; all that can change is no limit."""
    rule = problem.rules[place]
    if not isinstance(rule, AtMost):
        return
    most = int((problem.space.group_of < 0).sum()) + len(problem.space.groups)
    for changes in range(rule.changes + 1, most):
        more = AtMost(changes)
        rules = (*problem.rules[:place], more, *problem.rules[place + 1 :])
        yield Milder(f"{more.words.removesuffix('s')}d", replace(problem, rules=rules))


def _likely_enough(problem: RecourseProblem) -> Iterator[Milder]:
    probability = problem.target.probability
    assert probability is not None
    for percent in range(math.ceil(100.0 * probability) - 1, int(100.0 * CERTAIN), -1):
        share = percent / 100.0
        if share < probability:
            target = replace(problem.target, probability=share)
            yield Milder(f"a probability of {share:g} were enough", replace(problem, target=target))
