"""What a proof file proves about a model file, in plain words."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from elbowroom_checker.exact import BITS
from elbowroom_checker.maps import Maps
from elbowroom_checker.model import Model, read_model
from elbowroom_checker.question import Box, Leaf, Question, margins, read_question, walk
from elbowroom_checker.reading import MOST_MEMORY, Budget, Refused, kind, need, number, numbers, parsed, part, weight
from elbowroom_checker.trees import walker

SECONDS: Final = 600.0
ASSUMED: Final = (
    "ASSUMED: the model file states what the model does (elbowroom replays it against the model when it reads it).",
    "ASSUMED: inputs are finite float64 numbers, whole and one-hot where the file says so, within its limits.",
    "ASSUMED: the model's own arithmetic strays from real numbers by no more than its file states, sums in any order.",
    "NOT CHECKED: rules about centres other than limits, whole numbers, groups and the number of changes.",
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
    need(part(file, "format") == "elbowroom proof" and part(file, "version") == 4, "no proof file of version 4")
    need(part(file, "model_sha256") == digest, "the proof is about another model file")
    question = read_question(part(file, "question"), model)
    rivals, parts = margins(model, question), model.parts
    family: Any = Maps(parts, question, rivals) if isinstance(parts, list) else walker(model, parts, question, rivals)
    said, region, distance = _asked(model, question), part(file, "region"), None
    if region is not None:
        center, box = _region(region, question)
        cost = question.least_cost(Box(center.copy(), center.copy())) or 0
        distance = (math.isqrt(cost) if question.norm == "l2" else cost) / (1 << 2 * BITS)
        count = Counter[str]()
        for j, steps in enumerate(kind(part(file, "validity"), list, "validity: one proof per rival", len(rivals))):
            proof = family.region(j, center)
            leaves = walk(steps, box, question, "a validity proof", budget, proof.neurons)
            count += _reasons(leaves, question, proof, lambda _: False)
        for name, c, low, high in zip(model.names, center, box.low, box.high, strict=True):
            said.append(f"region, column {name!r}: centre {c!r}, from {low!r} to {high!r}")
        said.append(f"VALID: every input of the {question.shape} around the centre has the wanted outcome{_how(count)}")
        said.append(f"The centre is at distance {distance:.17g} ({question.norm}) from the row.")
    optimality, bound = part(file, "optimality"), None
    if isinstance(optimality, str):
        need(region is not None, "the file proves nothing: neither a region nor a bound")
        said.append(f"Nothing is proven about closer centres: {optimality[:300]!r}")
    else:
        stated, steps = part(optimality, "bound"), part(optimality, "tree")
        bound = math.inf if stated is None else number(stated, "bound", 0.0)
        limit = None if stated is None else question.price(bound)
        proof = family.centers(optimality, None if stated is None else bound, budget)
        leaves = walk(steps, question.limits, question, "the tree of centres", budget, proof.neurons)
        count = _reasons(leaves, question, proof, lambda box: question.is_closed(box, limit))
        words = "NONE EXISTS: the {}" if stated is None else f"NOT CLOSER: at a distance below {bound:.17g}, the {{}}"
        said.append(f"{words.format(question.shape)} of every admissible centre holds another outcome{_how(count)}")
    for key, value in kind(file.get("attestation", {}), dict, "attestation").items():
        said.append(f"ATTESTED, NOT PROVEN: {key!r}: {value!r:.300}")
    return Proven([*said, *ASSUMED], region is not None, distance, bound)


def _reasons(leaves: Iterator[Leaf], question: Question, proof: Any, is_closed: Callable[[Box], bool]) -> Counter[str]:
    """Why the leaves of a list of steps hold: 0 may say that nothing is left of a box, or nothing below the bound."""
    count = Counter[str]()
    for step, box, stack in leaves:
        is_open = question.narrow(box) and not is_closed(box)
        reason, rest = ("nothing left", []) if step == 0 and not is_open else proof.closes(step, box, is_open)
        stack += rest
        count[reason] += 1
    return count


def _how(count: Counter[str]) -> str:
    return f" ({', '.join(f'{number} by {reason}' for reason, number in count.items())})."


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
    wanted, limits = f"the class {model.classes[question.target]!r}{sure}", question.limits
    said = [f"Model {model.source}; wanted: {wanted}."]
    for f, name in enumerate(model.names):
        ends = f"between {limits.low[f]!r} and {limits.high[f]!r}" + ", whole" * question.whole[f]
        room = f"-{question.down[f]!r} +{question.up[f]!r}, a move of 1 costs {question.factor[f]!r}"
        said.append(f"row, column {name!r}: {question.factual[f]!r}, {ends}; room {room}")
    for group in question.groups:
        members = ", ".join(repr(model.names[f]) for f in group.members)
        inside = f"{'any' if group.free else 'the same'} category inside the room"
        said.append(f"one of {members} is 1; {inside}; another category costs {group.price!r}")
    if question.most_changes is not None:
        said.append(f"at most {question.most_changes} columns or categories may change")
    return said
