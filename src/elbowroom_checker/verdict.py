"""What a proof file proves about a model file, in plain words."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any, Final

from elbowroom_checker.centers import check_centers
from elbowroom_checker.costs import as_distance, least_cost
from elbowroom_checker.linear import check_linear_centers, check_linear_region, linear_rows
from elbowroom_checker.model import Model, Trees, read_model
from elbowroom_checker.question import Box, Question, read_question, room_around
from elbowroom_checker.reading import MOST_MEMORY, Budget, Refused, need, number, numbers, parsed, part, weight
from elbowroom_checker.rows import tree_rows
from elbowroom_checker.trees import check_tree_of_boxes, simplified

VERSION: Final = 1
SECONDS: Final = 600.0


@dataclass(frozen=True)
class Proven:
    """Sentences, and the same for programs."""

    sentences: list[str]
    valid: bool
    distance: float | None  # of the centre, rounded
    bound: float | None  # no valid centre is closer; inf: there is none. None: nothing is proven about that


def check(proof: bytes, model: bytes, seconds: float = SECONDS) -> Proven:
    """What is proven. Raises `Refused` if any part of the file does not hold."""
    budget = Budget(seconds)
    need(weight(proof) + weight(model) <= MOST_MEMORY, "the files are too large")
    try:
        return _check(parsed(proof), read_model(parsed(model)), hashlib.sha256(model).hexdigest(), budget)
    except (OverflowError, MemoryError, RecursionError) as error:
        raise Refused(f"numbers or lists are too large: {type(error).__name__}") from None


def _check(file: dict[str, Any], model: Model, digest: str, budget: Budget) -> Proven:
    need(part(file, "format") == "elbowroom proof" and part(file, "version") == VERSION, "no proof file of version 1")
    need(part(file, "model_sha256") == digest, "the proof is about another model file")
    question = read_question(part(file, "question"), model)
    trees = simplified(model.parts, question) if isinstance(model.parts, Trees) else None
    rows = [] if trees is None else tree_rows(model, trees, question.target)
    said = _asked(model, question)
    region, distance = part(file, "region"), None
    if region is not None:
        center, box = _region(region, question)
        distance = as_distance(question, least_cost(question, Box(center.copy(), center.copy())) or 0)
        steps = part(file, "validity")
        if trees is not None:
            need(isinstance(steps, list) and len(steps) == len(rows), "validity: not one proof per rival")
            count = sum(
                check_tree_of_boxes(trees, question, row, box, center, each, budget)
                for row, each in zip(rows, steps, strict=True)
            )
            how = f"{count} boxes of inputs, the smallest leaf values of each added up exactly"
        else:
            check_linear_region(linear_rows(model, question.target), question, box, center, steps)
            how = "the worst point of every rival, exactly"
        for name, c, low, high in zip(model.names, center, box.low, box.high, strict=True):
            said.append(f"region, column {name!r}: centre {c!r}, from {low!r} to {high!r}")
        said.append(f"VALID: every input of the {question.shape} around the centre has the wanted outcome ({how}).")
        said.append(f"The centre is at distance {distance:.17g} ({question.norm}) from the row.")
    bound = _bound(file, model, trees, question, rows, budget, said)
    need(region is not None or bound is not None, "the file proves nothing: neither a region nor a bound")
    return Proven(said + _assumptions(model), region is not None, distance, bound)


def _region(region: Any, question: Question) -> tuple[list[float], Box]:
    n = len(question.factual)
    center = numbers(part(region, "center"), n, "center")
    claimed = Box(numbers(part(region, "lower"), n, "lower"), numbers(part(region, "upper"), n, "upper"))
    point = Box(center.copy(), center.copy())
    inside = all(a <= c <= b for a, c, b in zip(question.lower, center, question.upper, strict=True))
    need(inside and question.narrow(point) and point.low == center, "the centre is not within the limits")
    need(least_cost(question, point) is not None, "the centre changes more than is allowed")
    room = room_around(question, center)
    fits = all(a <= b for a, b in zip(claimed.low, room.low, strict=True))
    fits = fits and all(a >= b for a, b in zip(claimed.high, room.high, strict=True))
    need(fits, "the region does not hold the whole room around its centre")
    need(question.shape == "box" or claimed == room, "the region is not the room around its centre")
    return center, claimed


def _bound(
    file: dict[str, Any],
    model: Model,
    trees: Trees | None,
    question: Question,
    rows: list[Any],
    budget: Budget,
    said: list[str],
) -> float | None:
    optimality = part(file, "optimality")
    if isinstance(optimality, str):
        said.append(f"Nothing is proven about closer centres: {optimality[:300]!r}")
        return None
    bound = part(optimality, "bound")
    bound = None if bound is None else number(bound, "bound")
    need(bound is None or bound >= 0.0, "the bound is negative")
    if trees is not None:
        need(question.shape == "box", "bounds for balls and diamonds on trees are unknown to this checker")
        count = check_centers(trees, question, rows, optimality, bound, budget)
        how = ", ".join(f"{number} by {reason}" for reason, number in count.items())
    else:
        how = check_linear_centers(linear_rows(model, question.target), question, optimality, bound, budget)
    where = "" if bound is None else f" at a distance below {bound:.17g}"
    word = "NONE EXISTS" if bound is None else "NOT CLOSER"
    said.append(f"{word}: the {question.shape} of every admissible centre{where} holds another outcome ({how}).")
    if bound is None:
        return math.inf
    return bound


def _asked(model: Model, question: Question) -> list[str]:
    """The question in words; texts of the files are shown as Python shows them, without control characters."""
    wanted = f"the class {model.classes[question.target.index]!r}"
    if question.target.probability is not None:
        wanted += f" with probability at least {question.target.probability!r}"
    said = [f"Model {model.source!r} with fingerprint {model.fingerprint!r}; wanted: {wanted}."]
    for f, name in enumerate(model.names):
        limits = f"between {question.lower[f]!r} and {question.upper[f]!r}" + ", whole" * question.whole[f]
        room = f"-{question.down[f]!r} +{question.up[f]!r}, a move of 1 costs {question.factor[f]!r}"
        said.append(f"row, column {name!r}: {question.factual[f]!r}, {limits}; room {room}")
    for group in question.groups:
        members = ", ".join(repr(model.names[f]) for f in group.members)
        inside = "any category inside the room" if group.free else "the same category inside the room"
        said.append(f"one of {members} is 1; {inside}; another category costs {group.price!r}")
    if question.most_changes is not None:
        said.append(f"at most {question.most_changes} columns or categories may change")
    return said


def _assumptions(model: Model) -> list[str]:
    said = [
        "ASSUMED: the model file states what the model does (elbowroom replays it against the model when it reads it).",
        "ASSUMED: inputs are finite float64 numbers, whole and one-hot where the file says so, within its limits.",
    ]
    if isinstance(model.parts, Trees):
        precision = "float32" if model.parts.single else "float64"
        said.append(f"ASSUMED: leaf values are added up in {precision}, in any order.")
    else:
        said.append("ASSUMED: scores are within the error bounds of the model file.")
    said.append("NOT CHECKED: rules about centres other than limits, whole numbers, groups and the number of changes.")
    return said
