"""The front door: read a model once, ask many times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import numpy.typing as npt
import pandas as pd

from elbowroom.certify.judge import prepare
from elbowroom.errors import InputError
from elbowroom.explainer.answer import answer, single_class
from elbowroom.explainer.asking import ask, same_columns
from elbowroom.explainer.attempt import Attempt
from elbowroom.explainer.filling import choices, closest_filling, fillable, without_bound
from elbowroom.explainer.group import Grouping
from elbowroom.explainer.judging import Judging
from elbowroom.explainer.many import Many
from elbowroom.explainer.method import Method
from elbowroom.explainer.nearby import open_any, refuse_nearby
from elbowroom.explainer.opening import Opened, without_numbers
from elbowroom.explainer.proving import Proving
from elbowroom.explainer.retrained import Retrained
from elbowroom.explainer.several import Several, parse_share
from elbowroom.explainer.together import opened_together, several, versions_of_each
from elbowroom.explainer.why_not import WhyNone
from elbowroom.models import Model, members_of
from elbowroom.models.nearby import NearbyLinear
from elbowroom.numerics import TOLERANCES, Floats
from elbowroom.problem import Box, Distance, Probability, RecourseProblem, Room, Rule, Space
from elbowroom.problem.class_names import ClassNames
from elbowroom.problem.keeping import parse_keeps
from elbowroom.problem.parsing import check_run, parse_bool, parse_enum, parse_threads, seconds_of
from elbowroom.problem.shapes import Shape
from elbowroom.result import NoRegion, Origin, Region
from elbowroom.search.contract import Clock, Engine, OnProgress
from elbowroom.search.hulls import within_hulls
from elbowroom.visible import listed, visible

MOST_PATTERNS = 4  # of missing numbers whose models are kept


class Explainer(Many, Judging, Several, WhyNone, Proving, Grouping):
    """Answers questions about one model: reads it once, compares the copy with the original, and is asked many times.

    Args:
        model: A fitted model of any library that is read; see "Your own model" in the documentation. A list of models asks
            for what all of them say at once, see `AllOf`; `Retrained` for what holds when it is fitted again.
        space: What the features mean: a `Space`, or the table that the model was fitted on, from which it is read. Without
            it they are plain numbers, and the categories that the model knows.
        data: A table of rows on which the copy is compared with the original, besides those that are made for it.
        labels: What classes are called in words: ``{0: "rejected", 1: "approved"}``.

    Examples:
        >>> explainer = Explainer(model, space, labels={False: "rejected", True: "approved"})
        >>> explainer.explain(row, room=Box({"salary": 100}))
        <Region OPTIMAL, distance 0.2, 1 feature has to change>
    """

    def __init__(
        self,
        model: object,
        space: Space | pd.DataFrame | None = None,
        *,
        data: object = None,
        labels: Mapping[Any, str] | None = None,
    ) -> None:
        model = model.together if isinstance(model, Retrained) else model
        given = several(model)
        found = open_any(model, space, data) if given is None else opened_together(given, space, data, open_any)
        self._begin(replace(found, labels=ClassNames.parse(labels, found.model.info)), versions_of_each(model), ())
        self._engine(Method.AUTO).prepare(Shape.BOX)
        prepare(self._model)

    def _begin(self, found: Opened, versions: dict[str, str], missing: tuple[str, ...]) -> None:
        self._opened, self._versions = found, versions
        self._model, self._space, self._predict = found.model, found.space, found.predict
        self._missing = missing  # columns of numbers that all rows lack
        self._whole = self  # of rows that lack nothing
        self._engines: dict[tuple[Method, bool], Engine] = {}
        self._lacking: dict[tuple[str, ...], Explainer] = {}

    def __repr__(self) -> str:
        info = self.model.info
        said = "values" if info.is_regressor else f"classes {listed(info.classes)}"
        return f"<Explainer of {visible(info.source)}: {len(self._space.columns)} columns, {said}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self._space._repr_html_()}"

    @property
    def model(self) -> Model:
        """The parsed model."""
        return self._model

    @property
    def space(self) -> Space:
        """What the features mean."""
        return self._space

    @property
    def labels(self) -> ClassNames:
        """What classes are called in words."""
        return self._opened.labels

    @property
    def versions(self) -> dict[str, str]:
        """Of elbowroom, Python, numpy and the libraries that the model comes from."""
        return dict(self._versions)

    def predict(self, rows: Floats | pd.DataFrame) -> npt.NDArray[Any]:
        """What the original model object says.

        Args:
            rows: A table, or floats in the order of the space.

        Returns:
            A label for each row; values of a regressor. Several models: one column for each.

        Examples:
            >>> explainer.predict(X.head(3)).tolist()
            [False, False, False]
        """
        if isinstance(rows, pd.DataFrame):
            rows = self._space.inner(rows, allow_missing=True)
        return self._predict(rows)

    # ---- rows that lack numbers ---------------------------------------------------------------------------------------
    def for_missing(self, missing: Sequence[str]) -> Explainer:
        """The explainer of rows that lack a number: of the model that is left when they do.

        Args:
            missing: Names of the columns that lack one, in the order of the space.

        Returns:
            An explainer for such rows alone.
        """
        names = tuple(missing)
        if names == self._missing:
            return self
        if self._whole is not self:
            return self._whole.for_missing(names)
        if names not in self._lacking:
            while len(self._lacking) >= MOST_PATTERNS:
                del self._lacking[next(iter(self._lacking))]
            other = Explainer.__new__(Explainer)
            other._begin(without_numbers(self._opened, names), self._versions, names)
            other._whole = self
            self._lacking[names] = other
        return self._lacking[names]

    def with_space(self, space: Space) -> Explainer:
        """The same model, which is not read again, with another space: other bounds, scales and rules of change.

        Args:
            space: For the same columns.

        Returns:
            An explainer of its own.

        Examples:
            >>> frozen = explainer.with_space(Space.from_frame(X, immutable=["salary"]))
            >>> frozen.explain(row).status.name
            'NONE_EXISTS'
        """
        if not isinstance(space, Space) or space.names != self._space.names:
            raise InputError(
                "with_space takes a Space with the columns of the present one, for example replace(explainer.space, ...)"
            )
        other = Explainer.__new__(Explainer)
        other._begin(replace(self._whole._opened, space=space), self._versions, ())
        return other

    def _for_row(self, row: object, what: str = "row") -> Explainer:
        """Who answers for a row: this explainer, or the one for the numbers that the row lacks."""
        if isinstance(row, Region):
            same_columns(row, self._space)
            return self.for_missing(row.missing)
        return self.for_missing(self._space.without_missing(self._space.row(row, what, allow_missing=True))[1])

    def _point(self, row: object, what: str, space: Space | None = None) -> Floats:
        """A row as inner floats, with 0 in place of the numbers that all rows of this explainer lack."""
        space = space or self._space
        return space.without_missing(space.row(row, what, allow_missing=bool(self._missing)))[0]

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
        on_progress: OnProgress | bool | None = None,
        *,
        prefer_few: float | None = None,
        proof: bool = False,
        n_jobs: int = 1,
        keeps: Probability | None = None,
    ) -> Region | NoRegion:
        """The closest centre whose whole room has the wanted class. Numbers that the row lacks stay missing or, where the space
        says that they may be filled, are filled in.

        Args:
            row: What is asked about: a Series, a frame of one row, a mapping, or numbers in the order of the space.
            room: How much space is wanted around the answer: `Box`, `Ball` or `Diamond`.
            target: The wanted class, or a `Target`; None: the other class of two.
            distance: What closest means: "l1", "l2" or "linf", in units of the scales.
            rules: What the answer has to obey, for example ``[AtMost(2)]``.
            time_limit: Seconds; when they are over, the answer is the best certified region so far.
            method: "auto", or the name of another search, see the guide.
            seed: Fixes every random choice.
            on_progress: True (a bar on a terminal, a line in a notebook), or a function that is told by a `Step`.
            prefer_few: 0.05: among the answers within 5 % of the closest, the one with the fewest changes (and the closest of
                those); ``region.few`` tells what the closest of all is. Then numbers that the row lacks stay missing.
            proof: True: the answer comes with a proof for strangers, ``region.proof``; writing it may take ``time_limit``
                again.
            n_jobs: Threads for the proof on large ensembles of trees; their number changes neither the answer nor the bound of a
                search that ends by itself. Other searches use one.
            keeps: ``Probability(0.95, sigma=0.05)``: of the centres whose room has the class, the closest whose Gaussian slips
                keep it with that probability; ``region.kept`` holds the proven bounds. ``room=Box(0)`` asks for that alone.

        Returns:
            A certified `Region`, or a `NoRegion` that says what is proven: ``bool(answer)`` tells them apart.

        Examples:
            >>> region = explainer.explain(row, room=Box({"salary": 100, "debt": 50}), rules=[AtMost(1)])
            >>> region.status.name
            'OPTIMAL'
        """
        if isinstance(on_progress, bool):
            from elbowroom.present.progress import search_progress

            with search_progress(on_progress, seconds_of(time_limit)) as shown:
                return self.explain(
                    row, room, target, distance, rules, time_limit, method, seed, shown, prefer_few=prefer_few, proof=proof,
                    n_jobs=n_jobs,
                    keeps=keeps,
                )  # fmt: skip
        promise, proof = parse_keeps(keeps), parse_bool(proof, "proof")
        if promise is not None and (proof or prefer_few is not None):
            raise InputError("keeps= is a question of its own; leave proof and prefer_few out")
        if proof and prefer_few is not None:
            raise InputError("proof=True proves the closest answer; leave prefer_few out")
        check_run(seed, on_progress)
        threads = parse_threads(n_jobs)
        values = self._space.row(row, allow_missing=True)
        names = fillable(self._space, values, rules, room) if prefer_few is None and promise is None else ()
        if proof:
            diary: list[object] = []
            asked = row, room, target, distance, rules, time_limit, method, seed, on_progress
            found = self.explain(*asked, n_jobs=n_jobs) if names else self._explain(*asked, diary=diary, n_jobs=threads)
            return self._with_proof(found, seconds_of(time_limit), diary)
        if not names or len(self.model.info.classes) == 1:
            share = None if prefer_few is None else parse_share(prefer_few)
            return self._explain(
                row, room, target, distance, rules, time_limit, method, seed, on_progress, share, n_jobs=threads, promise=promise
            )  # fmt: skip
        kept = self._for_row(row)._ask(row, room, target, distance, rules)
        share, told = seconds_of(time_limit) / len(choices(names)), on_progress and without_bound(on_progress)
        return closest_filling(
            self._space, values, names, kept.predicted,
            lambda filled: self._explain(
                filled, room, kept.target, distance, rules, share, method, seed, told, n_jobs=threads
            ),
        )  # fmt: skip

    def _explain(
        self,
        row: object,
        room: Room,
        target: object,
        distance: Distance | str,
        rules: Sequence[Rule],
        time_limit: float,
        method: Method | str,
        seed: int,
        on_progress: OnProgress | None,
        share: float | None = None,
        diary: list[object] | None = None,
        n_jobs: int = 1,
        promise: Probability | None = None,
    ) -> Region | NoRegion:
        able = self._for_row(row)
        if able is not self:
            return able._explain(
                row, room, target, distance, rules, time_limit, method, seed, on_progress, share, diary, n_jobs, promise
            )  # fmt: skip
        seconds, chosen = seconds_of(time_limit), parse_enum(Method, method, "method")
        if len(self.model.info.classes) == 1 and target is None:
            return single_class(self._opened, row, room, distance, self._origin(seed, seconds), self.why_not)
        problem = self._ask(row, room, target, distance, rules)
        problem = problem if promise is None else replace(problem, keeps=promise)
        engine = self._ready(chosen, problem)
        clock, origin = Clock(seconds, on_progress, n_jobs=n_jobs), self._origin(seed, seconds)
        clock.diary = diary
        if share is None:
            attempt = Attempt(problem, clock, engine)
            return answer(attempt, attempt.run(seed), self.widen, origin, self.why_not)
        attempt = Attempt(problem, Clock(seconds / 2, on_progress, seconds, n_jobs), engine)
        free = answer(attempt, attempt.run(seed), self.widen, origin, self.why_not)
        if isinstance(free, NoRegion):
            return free
        return self._with_few(free, share, chosen, seed, clock, problem, on_progress)

    def _ask(
        self, row: object, room: Room, target: object, distance: Distance | str, rules: Sequence[Rule]
    ) -> RecourseProblem:
        about = self._space, row, room, target, distance, rules
        return ask(self.model, self._whole.model, *about, allow_missing=bool(self._missing), labels=self._opened.labels)

    def _origin(self, seed: int, time_limit: float) -> Origin:
        members = tuple(member.fingerprint for member in members_of(self.model))
        return Origin(
            self.model.fingerprint, int(seed), time_limit, TOLERANCES.optimal_gap, self._versions, members=members
        )

    def _engine(self, method: Method, some: bool = False) -> Engine:
        """The engine of a method, for questions about all of the models or about some of them; it keeps what it learns from
        one question to the next."""
        if (method, some) not in self._engines:
            from elbowroom.search.some_models import SomeModelsEngine
            from elbowroom.search.weights import WeightsEngine

            made = SomeModelsEngine(self.model, method.engine) if some else method.engine(self.model)
            self._engines[method, some] = WeightsEngine(made) if isinstance(self.model, NearbyLinear) else made
        return self._engines[method, some]

    def _ready(self, method: Method, problem: RecourseProblem) -> Engine:
        """The engine, if it takes the question; compiled code is loaded (once after installation: made) before a clock
        starts."""
        some = problem.target.count is not None
        engine = within_hulls(self._engine(method, some), problem)
        if problem.keeps is not None:
            _ = problem.target.need  # refused by name for some of several models
            refuse_nearby(self.model, "keeps=")
            from elbowroom.certify.kept import prepare_promise
            from elbowroom.search.keeping import KeepingEngine

            prepare_promise(problem)
            engine = KeepingEngine(engine)
        refusal = engine.refuses(problem)
        if refusal is not None:
            raise InputError(refusal)
        engine.prepare(problem.walls.shape)
        return engine
