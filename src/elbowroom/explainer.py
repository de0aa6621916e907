"""The front door: read a model once, ask many times."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from elbowroom.certify.judge import certify
from elbowroom.errors import InputError
from elbowroom.importers import open_model
from elbowroom.models import LinearModel, Model, ObliqueEnsemble, ReluNetwork, TreeEnsemble
from elbowroom.numerics import Floats
from elbowroom.problem import Ball, Body, Box, Diamond, Direction, Distance, RecourseProblem, Room, Rule, Space, Target
from elbowroom.problem.rooms import Shape
from elbowroom.result import Certificate, NoRegion, RadiusResult, Region, Status, Undecided, Verdict
from elbowroom.search.contract import Accept, Clock, OnProgress, Outcome

if TYPE_CHECKING:
    from elbowroom.search.trees.memory import TreeMemory

ROOM_OF_NORM: dict[str, type[Box] | type[Ball] | type[Diamond]] = {"linf": Box, "l2": Ball, "l1": Diamond}


class Method(Enum):
    """How a region is searched for."""

    AUTO = "auto"
    ADVERSARIAL = "adversarial"
    ADVERSARIAL_SCIP = "adversarial-scip"
    ADVERSARIAL_GUROBI = "adversarial-gurobi"
    ONE_LEAF = "one_leaf"

    @classmethod
    def parse(cls, value: Method | str) -> Method:
        if isinstance(value, cls):
            return value
        try:
            return cls(value)
        except ValueError:
            raise InputError(f"method={value!r} is unknown; use one of {[m.value for m in cls]}") from None


class Explainer:
    """Answers questions about one model. ``space`` says what the features mean; without it they are plain numbers.

    >>> explainer = Explainer(model, Space.from_frame(X, immutable=["sex"]))
    >>> region = explainer.explain(X.iloc[0], room=Box(0.05))
    """

    def __init__(self, model: object, space: Space | None = None, *, data: object = None) -> None:
        if space is not None and not isinstance(space, Space):
            raise InputError(f"space={space!r}: give a Space, for example Space.from_frame(X)")
        self._model, self._predict = _open(model, space, data)
        names = self._model.info.names
        self._space = Space.plain(names) if space is None else space.select(names)
        self._memory: dict[tuple[int, float | None], TreeMemory] = {}
        self._make_ready(Shape.BOX)

    @property
    def model(self) -> Model:
        """The parsed model."""
        return self._model

    @property
    def space(self) -> Space:
        return self._space

    def predict(self, rows: Floats) -> npt.NDArray[Any]:
        """Labels from the original model object, for float rows in the order of the space."""
        return self._predict(rows)

    # ---- the closest region -------------------------------------------------------------------------------------------
    def explain(
        self,
        row: object,
        room: Room = Box(0.05),  # noqa: B008 - rooms are frozen
        target: object = None,
        distance: Distance | str = "l1",
        rules: Sequence[Rule] = (),
        time_limit: float = 60.0,
        method: Method | str = "auto",
        seed: int = 0,
        on_progress: OnProgress | None = None,
    ) -> Region | NoRegion:
        """The closest centre whose whole room has the wanted class; see `Region` and `NoRegion`."""
        if on_progress is not None and not callable(on_progress):
            raise InputError(f"on_progress={on_progress!r} must be a function of one Step")
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise InputError(f"seed={seed!r} must be a whole number of at least 0")
        seconds, chosen = _seconds(time_limit), Method.parse(method)
        if len(self.model.info.classes) == 1 and target is None:
            return self._single_class(row, room, distance)
        problem = RecourseProblem.ask(self.model, self._space, row, room, target, distance, rules)
        self._make_ready(problem.walls.shape)
        clock = Clock(seconds, on_progress)
        attempt = _Attempt(problem, clock)
        outcome = attempt.run(chosen, seed, self._memory_for(problem))
        return self._answer(attempt, outcome)

    def _memory_for(self, problem: RecourseProblem) -> TreeMemory | None:
        """What was learned about this model and target stays valid for the next row and the next radius."""
        if not isinstance(self.model, TreeEnsemble):
            return None
        from elbowroom.search.trees.memory import TreeMemory

        key = (problem.target_index, problem.target.probability)
        if key not in self._memory:
            self._memory[key] = TreeMemory(self.model, self._space, problem.target_index, problem.target.probability)
        return self._memory[key]

    def _make_ready(self, shape: Shape) -> None:
        """Compiled code is loaded (once after installation: made) before a clock starts; only trees need any."""
        if isinstance(self.model, TreeEnsemble):
            from elbowroom.warm import ready

            ready(shape)

    def _single_class(self, row: object, room: Room, distance: Distance | str) -> NoRegion:
        only = self.model.info.classes[0]
        if not isinstance(room, Room):
            raise InputError(f"room={room!r}: give Box(...), Ball(...) or Diamond(...)")
        return NoRegion(
            Status.NONE_EXISTS,
            f"the model knows only the class {only!r}, so no input gets another one",
            self._space,
            self._space.row(row),
            Target(None),
            room,
            Distance.parse(distance),
            math.inf,
            "auto",
            0.0,
        )

    def _answer(self, attempt: _Attempt, outcome: Outcome) -> Region | NoRegion:
        problem, clock = attempt.problem, attempt.clock
        if attempt.center is not None and attempt.certificate is not None:
            lower_bound = min(outcome.lower_bound, attempt.distance)
            closed = attempt.distance - lower_bound <= outcome.tolerance * attempt.distance
            return Region(
                Status.OPTIMAL if closed else Status.CERTIFIED,
                problem.space,
                problem.factual,
                problem.predicted,
                problem.target,
                problem.room,
                problem.distance,
                attempt.distance,
                lower_bound,
                attempt.certificate,
                outcome.method,
                clock.seconds,
                self.model.info.source,
                tuple(clock.trace),
            )
        none = math.isinf(outcome.lower_bound)
        return NoRegion(
            Status.NONE_EXISTS if none else Status.UNKNOWN,
            outcome.reason or "the search ended without an answer",
            problem.space,
            problem.factual,
            problem.target,
            problem.room,
            problem.distance,
            outcome.lower_bound,
            outcome.method,
            clock.seconds,
            tuple(clock.trace),
        )

    # ---- judging any answer -------------------------------------------------------------------------------------------
    def certify(
        self,
        center: object,
        room: Room | None = None,
        target: object = None,
        *,
        factual: object = None,
        time_limit: float = 60.0,
    ) -> Verdict:
        """A `Certificate` that every point of the room around ``center`` has the wanted class, or a `Counterexample`.

        ``center`` is a row (whoever made it) or a `Region`; ``target=None`` means the class the model gives the centre
        (for a `Region`: its own target). With ``factual``, immutable and one-way features limit the room as they would
        in `explain`; without it, immutable features stay at the centre's value and the others move both ways.
        """
        seconds = _seconds(time_limit)
        if isinstance(center, Region):
            if center.space.names != self._space.names:
                raise InputError(
                    f"the region is about the columns {list(center.space.names)}, not {list(self._space.names)}"
                )
            if room is None and target is None:
                return certify(self.model, center.target, center.body, seconds)
            target = center.target if target is None else target
            factual = center.factual_values if factual is None else factual
            center = center.body.center
        if room is None:
            raise InputError("certify needs a room, for example certify(point, Box(0.05))")
        point = self._space.row(center, "center")
        problem = self._about(point, room, target, None if factual is None else self._space.row(factual, "factual"))
        if ((point < problem.lower) | (point > problem.upper)).any():
            f = int(np.flatnonzero((point < problem.lower) | (point > problem.upper))[0])
            raise InputError(
                f"center, column {self._space.names[f]!r}: {point[f]:g} lies outside [{problem.lower[f]:g}, "
                f"{problem.upper[f]:g}]; widen the bounds of the space or move the centre"
            )
        return certify(self.model, problem.target, problem.body(point), seconds)

    def _about(self, point: Floats, room: Room, target: object, factual: Floats | None) -> RecourseProblem:
        """The question whose answer would be ``point``; without a target, the class that the model gives the point;
        without a factual, features have no direction."""
        space = self._space
        if factual is None:
            both_ways = tuple(replace(f, direction=Direction.ANY) for f in space.features)
            space, factual = replace(space, features=both_ways), point
        if target is None:
            index = int(self.model.info.labels_of(self.model.scores(point[None]))[0])
            target = Target(self.model.info.classes[index])
        return RecourseProblem.ask(self.model, space, factual, room, target)

    # ---- the largest room around a point -----------------------------------------------------------------------------
    def radius(
        self, point: object, norm: str = "linf", target: object = None, *, time_limit: float = 60.0
    ) -> RadiusResult:
        """The largest radius (in units of the features' scales) around ``point`` with one class, with both bounds.

        ``norm`` is "linf" (boxes), "l2" (balls) or "l1" (diamonds). ``target=None``: the class of the point itself.
        """
        if not isinstance(norm, str) or norm not in ROOM_OF_NORM:
            raise InputError(f'norm={norm!r} is unknown; use "linf", "l2" or "l1"')
        from elbowroom.search.radius import largest_radius

        seconds = _seconds(time_limit)
        values = self._space.row(point, "point")
        problem = self._about(values, ROOM_OF_NORM[norm](1.0), target, None)
        shape = problem.walls.shape
        self._make_ready(shape)
        clock = Clock(seconds)

        def accept(body: Body, seconds: float) -> Verdict:
            return certify(self.model, problem.target, body, seconds)

        return largest_radius(self.model, self._space, values, problem.target, shape, accept, clock)


@dataclass
class _Attempt:
    """One search: offers candidates to the judge and keeps the best accepted one, whatever becomes of the engine."""

    problem: RecourseProblem
    clock: Clock
    center: Floats | None = None
    certificate: Certificate | None = None
    distance: float = math.inf

    def __call__(self, center: Floats, seconds: float | None = None, /) -> Verdict:
        """Judge a candidate, in so many seconds; the best accepted one is the answer."""
        center = np.asarray(center, dtype=np.float64) + 0.0
        if not self.problem.admissible(center):
            return Undecided("the centre breaks a limit, a whole number, a one-hot group or a rule")
        body = self.problem.body(center)
        verdict = certify(self.problem.model, self.problem.target, body, self._left(seconds))
        if isinstance(verdict, Certificate):
            distance = self.problem.measure(center)
            if distance < self.distance:
                self.center, self.certificate, self.distance = body.center, verdict, distance
                self.clock.report(best_distance=distance, note="certified")
        return verdict

    def about(self, problem: RecourseProblem) -> Accept:
        """The judge for a related question of the engine's own; what it accepts is no answer to this one."""

        def judge(center: Floats, seconds: float | None = None, /) -> Verdict:
            return certify(problem.model, problem.target, problem.body(center), self._left(seconds))

        return judge

    def _left(self, seconds: float | None) -> float:
        """What is left of the time limit, or less if the engine asks for less."""
        left = max(self.clock.remaining, 0.05)
        return left if seconds is None else min(left, max(seconds, 0.0))

    def run(self, method: Method, seed: int, memory: TreeMemory | None) -> Outcome:
        """The engine's outcome; an interrupt ends the search with the best certified answer so far."""
        try:
            return self._trivial() or self._engine(method, seed, memory)
        except KeyboardInterrupt:
            return Outcome(
                "interrupted",
                min(self.clock.lower_bound, self.distance),
                reason="interrupted before a region was certified",
            )

    def _engine(self, method: Method, seed: int, memory: TreeMemory | None) -> Outcome:
        from elbowroom.search.engines import search_auto, search_heuristic, search_paper
        from elbowroom.search.solvers.protocol import SolverName

        match method:
            case Method.AUTO:
                return search_auto(self.problem, self, self.clock, seed, memory)
            case Method.ADVERSARIAL:
                return search_paper(self.problem, self, self.clock, seed, SolverName.HIGHS)
            case Method.ADVERSARIAL_SCIP:
                return search_paper(self.problem, self, self.clock, seed, SolverName.SCIP)
            case Method.ADVERSARIAL_GUROBI:
                return search_paper(self.problem, self, self.clock, seed, SolverName.GUROBI)
            case Method.ONE_LEAF:
                return search_heuristic(self.problem, self, self.clock, seed)

    def _trivial(self) -> Outcome | None:
        """Answers that need no search: nothing can exist, the factual is good already, or nothing may move."""
        problem = self.problem
        if problem.trouble is not None:
            return Outcome("limits", math.inf, reason=problem.trouble)
        if problem.admissible(problem.factual):
            verdict = self(problem.factual)
            if isinstance(verdict, Certificate):
                return Outcome("factual", 0.0, verdict.body.center, verdict)
            if bool((problem.lower == problem.upper).all()):
                if isinstance(verdict, Undecided):
                    return Outcome(
                        "limits", 0.0, reason=f"nothing may move, and the judge could not decide: {verdict.reason}"
                    )
                return Outcome(
                    "limits", math.inf, reason="every feature is immutable, and the factual itself is not good"
                )
        return None


def _open(model: object, space: Space | None, data: object) -> tuple[Model, Callable[[Floats], npt.NDArray[Any]]]:
    """The parsed model and the original's predict; a model that is parsed already speaks for itself."""
    if isinstance(model, (LinearModel, TreeEnsemble, ObliqueEnsemble, ReluNetwork)):
        parsed = model
        labels = np.array(parsed.info.classes)
        return parsed, lambda rows: labels[parsed.info.labels_of(parsed.scores(rows))]
    opened = open_model(model, data=data)
    unnamed = opened.original.columns.names is None
    if space is not None and unnamed and len(space.names) == opened.model.info.n_features:
        named = replace(opened.model, info=replace(opened.model.info, names=space.names))
        return named, opened.predict
    return opened.model, opened.predict


def _seconds(time_limit: object) -> float:
    if isinstance(time_limit, bool) or not isinstance(time_limit, (int, float, np.integer, np.floating)):
        raise InputError(f"time_limit={time_limit!r} must be a number of seconds")
    if math.isnan(time_limit) or time_limit < 0:
        raise InputError(f"time_limit={time_limit!r} must be a number of seconds of at least 0")
    return float(time_limit)
