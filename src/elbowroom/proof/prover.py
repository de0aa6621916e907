"""Proofs of answers, half by half; what cannot be written is said by name."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np

from elbowroom.models import LinearModel, Model, ReluNetwork
from elbowroom.problem import RecourseProblem
from elbowroom.problem.body import Body
from elbowroom.problem.shapes import is_round
from elbowroom.proof.centers import centers_document, fresh_kernels
from elbowroom.proof.linear import linear_centers_document, region_leaves
from elbowroom.proof.model_file import model_bytes
from elbowroom.proof.network import network_steps
from elbowroom.proof.network_centers import network_centers_document
from elbowroom.proof.positions import Positions
from elbowroom.proof.question_file import question_document, region_document, why_no_bound, why_not_at_all
from elbowroom.proof.rounds import round_centers_document
from elbowroom.proof.validity import NotWritten, tree_of_boxes
from elbowroom.result.proof import Proof
from elbowroom.search.contract import Clock
from elbowroom.search.trees.balls.calls import BallKernels
from elbowroom.search.trees.boxes.calls import BoxKernels
from elbowroom.search.trees.memory import TreeMemory
from elbowroom_checker import model as read
from elbowroom_checker.maps import Maps
from elbowroom_checker.question import Box, Question, margins, read_question
from elbowroom_checker.reading import Refused, parsed
from elbowroom_checker.trees import Walker, tree_row

FORMAT: Final = "elbowroom proof"
VERSION: Final = 4
MOST_KNOWN: Final = 1000  # bad regions of a search for balls that are tried, those of most use first


class Halves(Protocol):
    """The two halves of a proof about one question."""

    def validity(self, body: Body) -> Any: ...

    def optimality(self, body: Body | None, lower_bound: float) -> dict[str, Any]: ...


class TreeHalves:
    def __init__(
        self,
        model: read.Model,
        question: Question,
        problem: RecourseProblem,
        memory: Callable[[RecourseProblem], TreeMemory],
        clock: Clock,
        diary: Sequence[object] = (),
    ) -> None:
        assert isinstance(model.parts, read.Trees)
        trees, self._clock = model.parts, clock
        self._walker = Walker(trees, question)
        self._rows = [tree_row(model, trees, margin) for margin in margins(model, question)]
        self._problem, self._memory = problem, memory
        kernels = diary[0] if diary else None
        self._kernels = kernels if isinstance(kernels, BoxKernels | BallKernels) else None

    def validity(self, body: Body) -> Any:
        region, center = Box(body.lower.tolist(), body.upper.tolist()), body.center.tolist()
        return [tree_of_boxes(self._walker, row, region, center, self._clock) for row in self._rows]

    def optimality(self, body: Body | None, lower_bound: float) -> dict[str, Any]:
        if is_round(self._problem.walls.shape):
            about = self._problem, self._walker, self._rows, self._known_boxes()
            return round_centers_document(*about, lower_bound, self._clock)
        logged = self._kernels if isinstance(self._kernels, BoxKernels) else None
        kernels = logged or fresh_kernels(self._problem, self._memory(self._problem), self._clock)
        if kernels is None:
            return {"bound": None, "bad": [], "points": [], "tree": [0]}
        return centers_document(self._problem, kernels, self._walker, self._rows, lower_bound, self._clock)

    def _known_boxes(self) -> list[Box]:
        """What the search took for bad."""
        if not isinstance(self._kernels, BallKernels):
            return []
        regions, positions = self._kernels.regions, Positions(self._kernels.layout, self._walker.question)
        found = []
        for i in np.argsort(-regions.uses[: int(regions.count[0])])[:MOST_KNOWN].tolist():
            box = self._walker.question.limits.copy()
            for f, first, final in positions.sides(regions.low[i], regions.high[i]):
                box.cut(int(f or 0), -math.inf if first is None else first, math.inf if final is None else final)
            found.append(box)
        return found


class LinearHalves:
    def __init__(self, model: read.Model, question: Question, clock: Clock) -> None:
        assert isinstance(model.parts, list)
        self._maps, self._clock = Maps(model.parts, question, margins(model, question)), clock

    def validity(self, body: Body) -> Any:
        return region_leaves(self._maps, Box(body.lower.tolist(), body.upper.tolist()), body.center.tolist())

    def optimality(self, body: Body | None, lower_bound: float) -> dict[str, Any]:
        center = None if body is None else body.center.tolist()
        return linear_centers_document(self._maps, center, lower_bound, self._clock)


class NetworkHalves:
    def __init__(self, model: read.Model, question: Question, problem: RecourseProblem, clock: Clock) -> None:
        assert isinstance(model.parts, list)
        self._maps, self._problem = Maps(model.parts, question, margins(model, question)), problem
        self._clock = clock

    def validity(self, body: Body) -> Any:
        assert isinstance(self._problem.model, ReluNetwork)
        return network_steps(self._maps, self._problem.model, self._problem.target, body, self._clock)

    def optimality(self, body: Body | None, lower_bound: float) -> dict[str, Any]:
        return network_centers_document(self._problem, self._maps, lower_bound, self._clock)


class Prover:
    """Writes proofs about one model; what depends on the model alone is made once."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._memories: dict[tuple[int, object], TreeMemory] = {}

    @cached_property
    def _file(self) -> bytes:
        return model_bytes(self._model)

    @cached_property
    def _read(self) -> read.Model:
        return read.read_model(parsed(self._file))

    def prove(
        self,
        problem: RecourseProblem,
        body: Body | None,
        lower_bound: float,
        seconds: float,
        diary: Sequence[object] = (),
    ) -> Proof:
        """A proof that every point of ``body`` (None: there is none) has the wanted class, and that no admissible centre is
        closer than ``lower_bound``; ``diary`` holds what the search has written down."""
        clock = Clock(seconds)
        missing = why_not_at_all(problem)
        if missing is not None:
            return Proof(None, missing)
        stated = question_document(problem, body)
        question = read_question(stated, self._read)
        halves: Halves
        match problem.model:
            case LinearModel():
                halves = LinearHalves(self._read, question, clock)
            case ReluNetwork():
                halves = NetworkHalves(self._read, question, problem, clock)
            case _:
                halves = TreeHalves(self._read, question, problem, self._memory, clock, diary)
        document: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "model_sha256": hashlib.sha256(self._file).hexdigest(),
            "question": stated,
            "region": None if body is None else region_document(body),
            "validity": None,
        }
        try:
            if body is not None:
                document["validity"] = halves.validity(body)
        except (NotWritten, Refused) as reason:
            return Proof(None, f"validity: {reason}", clock.seconds)
        try:
            missing = why_no_bound(problem)
            if missing is None:
                document["optimality"] = halves.optimality(body, lower_bound)
        except (NotWritten, Refused) as reason:
            missing = str(reason)
        if missing is not None:
            document["optimality"] = missing
            if body is None:
                return Proof(None, missing, clock.seconds)
        return Proof(document, "" if missing is None else f"optimality: {missing}", clock.seconds)

    def _memory(self, problem: RecourseProblem) -> TreeMemory:
        key = problem.target_index, problem.target.need
        memory = self._memories.get(key)
        if memory is None or not memory.fits(problem):
            memory = self._memories[key] = TreeMemory.of(problem, hopeful=True)
        return memory.anew()
