"""Questions about trees with their answers, proofs and model files; and what damages files."""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.explainer.attempt import Attempt
from elbowroom.models import Decision, Link, ModelInfo, TreeEnsemble
from elbowroom.problem import Body, RecourseProblem
from elbowroom.proof.model_file import model_bytes
from elbowroom.proof.prover import Prover
from elbowroom.result.proof import Proof
from elbowroom.search.contract import Clock
from elbowroom.search.trees.engine import TreeEngine
from tests.support.small_questions import random_question


@dataclass(frozen=True)
class Proven:
    """A question with its answer; ``distance`` is inf where no region exists."""

    problem: RecourseProblem
    body: Body | None
    distance: float
    lower_bound: float
    proof: Proof
    model_file: bytes


def proven(problem: RecourseProblem) -> Proven:
    """Search, and write the proof."""
    clock, diary = Clock(30.0), list[object]()
    clock.diary = diary
    attempt = Attempt(problem, clock, TreeEngine())
    ending = attempt.run(0)
    certificate, distance = attempt.referee.certificate, attempt.referee.distance
    body, bound = (None if certificate is None else certificate.body), min(ending.lower_bound, distance)
    proof = Prover(problem.model).prove(problem, body, bound, 30.0, diary)
    return Proven(problem, body, distance, bound, proof, model_bytes(problem.model))


def random_proven(seed: int) -> Proven:
    return proven(random_question(np.random.default_rng(seed)))


def packed(document: Any) -> bytes:
    return json.dumps(document).encode()


def about(document: dict[str, Any], model_file: bytes) -> dict[str, Any]:
    """The same proof about another model file."""
    return {**document, "model_sha256": hashlib.sha256(model_file).hexdigest()}


# ---- damage ------------------------------------------------------------------------------------------------------------
def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every part of a document, by the keys that lead there."""
    inner = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    found = [path] if path else []
    for key, value in inner:
        found += places(value, (*path, key))
    return found


def damaged(rng: np.random.Generator, document: Any, within: tuple[Any, ...] = ()) -> Any:
    """A copy with one part changed, removed, doubled, exchanged or replaced by something of another kind."""
    made = copy.deepcopy(document)
    inside = made
    for key in within:
        inside = inside[key]
    candidates = places(inside)
    if not candidates:
        return made
    *way, last = candidates[int(rng.integers(len(candidates)))]
    holder = inside
    for key in way:
        holder = holder[key]
    match int(rng.integers(6)):
        case 0:
            del holder[last]
        case 1 if isinstance(holder, list):
            holder.insert(int(rng.integers(len(holder) + 1)), copy.deepcopy(holder[last]))
        case 2 if isinstance(holder, list):
            other = int(rng.integers(len(holder)))
            holder[last], holder[other] = holder[other], holder[last]
        case 3:
            holder[last] = [None, 0, 1, -1, "", [], {}, True, 1e308, -1e-320, [0], [[]]][int(rng.integers(12))]
        case _:
            holder[last] = _nearby(rng, holder[last])
    return made


def _nearby(rng: np.random.Generator, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + int(rng.choice([-2, -1, 1, 2]))
    if isinstance(value, float):
        ways = [
            np.nextafter(value, np.inf),
            np.nextafter(value, -np.inf),
            -value,
            value * 1.01,
            value * 0.9,
            value + 0.5,
            0.0,
        ]
        return float(rng.choice(ways))
    if isinstance(value, str):
        return value + "x"
    return 0.25 if value is None else None


# ---- the model of a file -----------------------------------------------------------------------------------------------
def trees_of(model_file: bytes) -> TreeEnsemble:
    """A model file of trees as arrays again."""
    file = json.loads(model_file)
    trees = file["trees"]
    width = max(len(file["classes"]) if file["rule"] == "ARGMAX" else 1, 1)
    info = ModelInfo(
        tuple(file["names"]),
        tuple(range(len(file["classes"]))),
        Decision[file["rule"]],
        Link[file["link"]],
        file["source"],
        file["evaluation_error"],
        fused_products=file["fused_products"],
        ties_last=file["ties_last"],
        threshold=file["threshold"],
    )
    return TreeEnsemble(
        info,
        np.array(trees["roots"], dtype=np.int64),
        np.array(trees["feature"], dtype=np.int64),
        np.array([float(cut) for cut in trees["cut"]]),
        np.array(trees["left"], dtype=np.int64),
        np.array(trees["right"], dtype=np.int64),
        np.array(
            [value if f < 0 else [0.0] * width for f, value in zip(trees["feature"], trees["value"], strict=True)],
            dtype=float,
        ),
        np.array(trees["base"], dtype=float),
        divisor=trees["divisor"],
        single=trees["single"],
    )
