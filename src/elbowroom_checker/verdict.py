"""What a proof file proves about a model file, in plain words."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any, Final

from elbowroom_checker.centers import check_centers
from elbowroom_checker.linear import check_linear_centers, check_range, linear_row, worst_margin
from elbowroom_checker.model import Affine, Model, Trees, read_model
from elbowroom_checker.network import Network
from elbowroom_checker.question import Box, Question, read_question
from elbowroom_checker.reading import (
    BITS,
    MOST_MEMORY,
    Budget,
    Refused,
    kind,
    need,
    number,
    numbers,
    parsed,
    part,
    weight,
)
from elbowroom_checker.rows import margins, tree_row
from elbowroom_checker.trees import Walker, check_tree_of_boxes

SECONDS: Final = 600.0
ASSUMED: Final = (
    "the model file states what the model does (elbowroom replays it against the model when it reads it).",
    "inputs are finite float64 numbers, whole and one-hot where the file says so, within its limits.",
    "the model's own arithmetic strays from real numbers by no more than its file states, sums in any order.",
)
NOT_CHECKED: Final = (
    "NOT CHECKED: rules about centres other than limits, whole numbers, groups and the number of changes."
)


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
    need(part(file, "format") == "elbowroom proof" and part(file, "version") == 2, "no proof file of version 2")
    need(part(file, "model_sha256") == digest, "the proof is about another model file")
    question = read_question(part(file, "question"), model)
    said, region, distance = _asked(model, question), part(file, "region"), None
    if region is not None:
        center, box = _region(region, question)
        cost = question.least_cost(Box(center.copy(), center.copy())) or 0
        distance = (math.isqrt(cost) if question.norm == "l2" else cost) / (1 << 2 * BITS)
        how = _check_region(model, question, box, center, part(file, "validity"), budget)
        for name, c, low, high in zip(model.names, center, box.low, box.high, strict=True):
            said.append(f"region, column {name!r}: centre {c!r}, from {low!r} to {high!r}")
        said.append(f"VALID: every input of the {question.shape} around the centre has the wanted outcome ({how}).")
        said.append(f"The centre is at distance {distance:.17g} ({question.norm}) from the row.")
    optimality, bound = part(file, "optimality"), None
    if isinstance(optimality, str):
        need(region is not None, "the file proves nothing: neither a region nor a bound")
        said.append(f"Nothing is proven about closer centres: {optimality[:300]!r}")
    else:
        stated = part(optimality, "bound")
        bound = math.inf if stated is None else number(stated, "bound", 0.0)
        count = _check_centers(model, question, optimality, None if stated is None else bound, budget)
        how = ", ".join(f"{number} by {reason}" for reason, number in count.items())
        words = "NONE EXISTS: the {}" if stated is None else f"NOT CLOSER: at a distance below {bound:.17g}, the {{}}"
        said.append(f"{words.format(question.shape)} of every admissible centre holds another outcome ({how}).")
    for key, value in kind(file.get("attestation", {}), dict, "attestation").items():
        said.append(f"ATTESTED, NOT PROVEN: {key!r}: {value!r:.300}")
    assumed = [f"ASSUMED: {each}" for each in ASSUMED]
    return Proven([*said, *assumed, NOT_CHECKED], region is not None, distance, bound)


def _check_region(model: Model, question: Question, box: Box, center: list[float], steps: Any, budget: Budget) -> str:
    """How it was shown that every input of a region is good."""
    rivals, parts = margins(model, question), model.parts
    need(isinstance(steps, list) and len(steps) == len(rivals), "validity: not one proof per rival")
    if isinstance(parts, Trees):
        about, walker = zip(rivals, steps, strict=True), Walker(parts, question)
        proofs = [(tree_row(model, parts, rival), each) for rival, each in about]
        count = sum(check_tree_of_boxes(walker, row, box, center, each, budget) for row, each in proofs)
        return f"{count} boxes of inputs, the smallest leaf values of each added up exactly"
    if isinstance(parts, list):
        network = Network(parts, question, box, center)
        count = sum(network.check(rival, each, budget) for rival, each in zip(rivals, steps, strict=True))
        return f"{count} parts, a linear bound of the network in each, rounded outwards"
    check_range(parts, box)
    for rival, u in zip(rivals, numbers(steps, len(rivals), "validity", 0.0), strict=True):
        worst = worst_margin(linear_row(parts, rival), question, box, center, u)
        need(worst > 0, "the region has a point whose margin is within the error bound")
    return "the worst point of every rival, exactly"


def _check_centers(model: Model, question: Question, file: Any, bound: float | None, budget: Budget) -> dict[str, int]:
    """By which reasons no centre is closer than the bound."""
    rivals, parts = margins(model, question), model.parts
    if isinstance(parts, Trees):
        rows = [tree_row(model, parts, rival) for rival in rivals]
        return check_centers(Walker(parts, question), rows, file, bound, budget)
    need(isinstance(parts, Affine), "bounds for networks are unknown to this checker")
    assert isinstance(parts, Affine)
    check_range(parts, question.limits)
    return check_linear_centers([linear_row(parts, rival) for rival in rivals], question, file, bound, budget)


def _region(region: Any, question: Question) -> tuple[list[float], Box]:
    n = len(question.factual)
    center, low, high = (numbers(part(region, key), n, key) for key in ("center", "lower", "upper"))
    need(question.is_input(center), "the centre is not within the limits")
    need(not question.is_closed(Box(center.copy(), center.copy()), None), "the centre changes more than is allowed")
    need(Box(low, high) == question.room(center), "the region is not the room around its centre")
    return center, Box(low, high)


def _asked(model: Model, question: Question) -> list[str]:
    """The question in words; texts of the files are shown as Python shows them, without control characters."""
    sure = "" if question.probability is None else f" with probability at least {question.probability!r}"
    wanted = f"the class {model.classes[question.target]!r}{sure}"
    said = [f"Model {model.source!r} with fingerprint {model.fingerprint!r}; wanted: {wanted}."]
    for f, name in enumerate(model.names):
        limits = f"between {question.limits.low[f]!r} and {question.limits.high[f]!r}" + ", whole" * question.whole[f]
        room = f"-{question.down[f]!r} +{question.up[f]!r}, a move of 1 costs {question.factor[f]!r}"
        said.append(f"row, column {name!r}: {question.factual[f]!r}, {limits}; room {room}")
    for group in question.groups:
        members = ", ".join(repr(model.names[f]) for f in group.members)
        inside = "any category inside the room" if group.free else "the same category inside the room"
        said.append(f"one of {members} is 1; {inside}; another category costs {group.price!r}")
    if question.most_changes is not None:
        said.append(f"at most {question.most_changes} columns or categories may change")
    return said
