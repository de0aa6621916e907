"""One process at work: it reads the model once and answers one question after the other.

A stop is a signal. It ends a search, which then returns the best region that is certified so far; between searches it is
only remembered, so that an answer that is there is never lost.
"""

from __future__ import annotations

import json
import math
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from multiprocessing.connection import Connection
from typing import Any, Final, TypeVar

import pandas as pd

from elbowroom.errors import ElbowroomError, InputError
from elbowroom.explainer import Explainer
from elbowroom.present import frontier_words
from elbowroom.present.questions import NORM_OF_ROOM, Question, parse_target, radius_json, radius_text, read_table
from elbowroom.present.web.asked import AboutRow, Certify, Explain, Frontier, Radius
from elbowroom.present.web.setup import Setup
from elbowroom.problem import AtMost, Room, Space
from elbowroom.problem.kinds import Direction, Kind
from elbowroom.problem.labels import is_missing
from elbowroom.problem.rooms import room_of
from elbowroom.problem.shapes import Shape
from elbowroom.result import Certificate, Counterexample, NoRegion, Region, Status, Step, Widening
from elbowroom.result.own_words import plain_values
from elbowroom.visible import message

FIRST_ROWS: Final = 200  # that the page can show without asking anyone
MOST_SPACES: Final = 8  # kept with other bounds and directions
EVERY: Final = 0.1  # seconds between two reports of progress
T = TypeVar("T")


class Desk:
    """The explainer and the table of one process."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.explainer, self.table, self.model_file = read_table(
            setup.model, setup.reference, trust_pickle=setup.trust_pickle, large_table=setup.large_table,
            scale=setup.scale, bounds=setup.bounds, labels=setup.labels, immutable=setup.immutable,
            increasing=setup.increasing, decreasing=setup.decreasing, integer=setup.integer, one_hot=setup.one_hot,
            space_file=setup.space_file,
        )  # fmt: skip
        self._spaces: dict[str, Explainer] = {}
        self.searching = self.stopped = False

    # ---- what the page has to know ---------------------------------------------------------------------------------------
    def about(self) -> dict[str, Any]:
        """The features, the outcomes and the first rows, as JSON."""
        space, info = self.explainer.space, self.explainer.model.info
        return {
            "model": self.setup.model.name,
            "source": info.source,
            "regressor": info.is_regressor,
            "classes": [] if info.is_regressor else [str(label) for label in info.classes],
            "labels": {str(label): str(self.explainer.labels(label)) for label in info.classes},
            "columns": [self._column(space, place) for place in range(len(space.columns))],
            "rows": len(self.table),
            "first": [self.row(i) for i in range(min(len(self.table), FIRST_ROWS))],
        }

    def _column(self, space: Space, place: int) -> dict[str, Any]:
        column = space.raw[place]
        feature = space.features[column.start]
        known = {"name": column.name, "immutable": feature.immutable, "categories": None, "unit": feature.unit or ""}
        if column.group is not None:
            return {**known, "kind": "category", "categories": list(column.labels)}
        kinds = {Kind.NUMERIC: "number", Kind.INTEGER: "whole", Kind.BINARY: "yes or no"}
        return {
            **known,
            "kind": kinds[Kind(feature.kind)],
            "lower": _finite(feature.lower),
            "upper": _finite(feature.upper),
            "direction": Direction(feature.direction).value,
            "scale": feature.scale,
        }

    def row(self, number: int) -> dict[str, Any]:
        """One row of the reference table."""
        if not 0 <= number < len(self.table):
            raise InputError(f"row {number}: the table has {len(self.table)} rows; the first is 0")
        held = self.table.iloc[number].to_dict()
        return {str(name): None if is_missing(v) else getattr(v, "item", lambda v=v: v)() for name, v in held.items()}

    # ---- questions -------------------------------------------------------------------------------------------------------
    def answer(self, asked: object, report: Callable[[Step], None]) -> dict[str, Any]:
        self.stopped = False
        match asked:
            case Explain():
                return self._explain(asked, report)
            case Certify():
                return self._certify(asked)
            case Radius():
                return self._radius(asked)
            case Frontier():
                return self._frontier(asked, report)
            case int():
                return self.row(asked)
        raise InputError(f"no such question: {type(asked).__name__}")

    def _search(self, ask: Callable[[], T]) -> T:
        """A stop reaches the search from here on, and no longer."""
        self.searching = True
        try:
            return ask()
        finally:
            self.searching = False

    def _explain(self, asked: Explain, report: Callable[[Step], None]) -> dict[str, Any]:
        begun = time.monotonic()
        explainer, row = self._able(asked), self._row(asked.row)
        room, rules = (
            _room(asked.shape, asked.radius),
            () if asked.most_changes is None else (AtMost(asked.most_changes),),
        )
        target = self._target(asked)
        about: dict[str, Any] = {
            "target": target, "distance": asked.distance, "rules": rules, "seed": asked.seed, "on_progress": report,
        }  # fmt: skip
        found = self._search(lambda: explainer.explain(row, room, time_limit=asked.time_limit, **about))
        if found.origin is not None:
            found = replace(found, origin=replace(found.origin, model_file=self.model_file))

        def left() -> float:
            return 0.0 if self.stopped else max(asked.time_limit - (time.monotonic() - begun), 0.0)

        head: dict[str, Any] = {"case": asked.case, "model": self.setup.model.name}
        if isinstance(found, NoRegion):
            page = self._why(found, left(), head)
        else:
            more: dict[str, Any] = {}
            if asked.menu and left() > 0.0:
                more["menu"] = self._also(lambda: explainer.menu(row, room, time_limit=left(), **about))
            if asked.widen and found.is_box and left() > 0.0:
                more["widening"] = self._also(lambda: found.widen(time_limit=left()))
            page = found.to_html(**more, **head)
            if isinstance(wide := more.get("widening"), Widening):
                head["proof"] = wide.proof()
        table = "" if isinstance(found, NoRegion) else _csv(found)
        return {**_told(found), "proof": head.get("proof", ""), "page": page, "table": table, "stopped": self.stopped}

    def _also(self, ask: Callable[[], T]) -> T | None:
        """Something beside the answer; a stop leaves it out."""
        try:
            return self._search(ask)
        except KeyboardInterrupt:
            return None

    def _why(self, found: NoRegion, seconds: float, head: dict[str, Any]) -> str:
        if found.status is Status.NONE_EXISTS and seconds > 0.0:
            why = self._also(lambda: found.why_not(time_limit=seconds))
            if why is not None:
                return why.to_html(**head)
        return found.to_html(**head)

    def _certify(self, asked: Certify) -> dict[str, Any]:
        if (asked.answer is None) == (asked.center is None):
            raise InputError("certify: give either an answer, as /explain gives it, or a center with a radius")
        if asked.answer is not None:
            try:
                text = json.dumps(asked.answer)
            except RecursionError:
                raise InputError("answer: nested too deeply; give a region as /explain gives it") from None
            region = Region.from_json(text)
            verdict = self._search(lambda: self.explainer.certify(region, time_limit=asked.time_limit))
        else:
            room, center = _room(asked.shape, asked.radius), self._row(asked.center)
            target = (
                None
                if asked.target is None
                else parse_target(self.explainer.model.info, asked.target, None, say=_field)
            )
            verdict = self._search(lambda: self.explainer.certify(center, room, target, time_limit=asked.time_limit))
        point = plain_values(self.explainer.space, verdict.point) if isinstance(verdict, Counterexample) else None
        if isinstance(verdict, Certificate):
            words = f"every point was proven by {verdict.method} (margin {verdict.margin:.4g}); seal {verdict.seal}"
        else:
            words = verdict.reason
        return {"certified": isinstance(verdict, Certificate), "words": message(words), "counterexample": point}

    def _radius(self, asked: Radius) -> dict[str, Any]:
        explainer, row = self._able(asked), self._row(asked.row)
        found = self._search(lambda: explainer.radius(row, norm=asked.norm, time_limit=asked.time_limit))
        question = Question(explainer, row, self.model_file)
        return {**radius_json(found, question), "words": radius_text(found, question)}

    def _frontier(self, asked: Frontier, report: Callable[[Step], None]) -> dict[str, Any]:
        explainer, row, target = self._able(asked), self._row(asked.row), self._target(asked)
        found = self._search(
            lambda: explainer.frontier(
                row, asked.radii, NORM_OF_ROOM[asked.shape], target, asked.distance, time_limit=asked.time_limit,
                seed=asked.seed, on_progress=report,
            )
        )  # fmt: skip
        return frontier_words.as_json(found)

    # ---- parts of a question -----------------------------------------------------------------------------------------------
    def _row(self, given: int | dict[str, Any] | None) -> pd.DataFrame:
        if isinstance(given, int):
            self.row(given)
            return self.table.iloc[[given]]
        return pd.DataFrame([given], dtype=object)

    def _target(self, asked: Explain | Frontier) -> Any:
        info = self.explainer.model.info
        return parse_target(info, asked.target, asked.probability, asked.at_least, asked.at_most, say=_field)

    def _able(self, asked: AboutRow) -> Explainer:
        """The explainer with what this question says about single columns."""
        key = json.dumps([asked.immutable, asked.increasing, asked.decreasing, asked.bounds], sort_keys=True)
        if key not in self._spaces:
            while len(self._spaces) >= MOST_SPACES:
                del self._spaces[next(iter(self._spaces))]
            self._spaces[key] = self.explainer.with_space(_declared(self.explainer.space, asked))
        return self._spaces[key]


def _field(option: str) -> str:
    """An option of the command line as a field of a question: --value-at-least is at_least."""
    return option.removeprefix("--").removeprefix("value-").replace("-", "_")


def _declared(space: Space, asked: AboutRow) -> Space:
    """The space with further columns frozen or one-way, and other bounds."""
    features = list(space.features)
    raw = {column.name: column for column in space.raw}
    for name in (*asked.immutable, *asked.increasing, *asked.decreasing, *asked.bounds):
        if name not in raw:
            raise InputError(f"column {name!r}: the model has no such column")
    for name in asked.immutable:
        for f in range(raw[name].start, raw[name].stop):
            features[f] = replace(features[f], immutable=True)
    for name, way in [(n, Direction.INCREASING) for n in asked.increasing] + [
        (n, Direction.DECREASING) for n in asked.decreasing
    ]:
        f = _number_of(space, name)
        if features[f].direction not in (Direction.ANY, way):
            only = "rise" if features[f].direction is Direction.INCREASING else "fall"
            raise InputError(f"column {name!r} may only {only} here; to hold it where it is, name it in immutable")
        features[f] = replace(features[f], direction=way)
    for name, (low, high) in asked.bounds.items():
        f = _number_of(space, name)
        lower = features[f].lower if low is None else low
        features[f] = replace(features[f], lower=lower, upper=features[f].upper if high is None else high)
    return replace(space, features=tuple(features))


def _number_of(space: Space, name: str) -> int:
    column = next(column for column in space.raw if column.name == name)
    if column.group is not None:
        raise InputError(f"column {name!r} holds categories: it can be frozen, but has no direction and no bounds")
    return column.start


def _room(shape: str, radius: float | dict[str, float]) -> Room:
    return room_of(Shape(shape))(radius)


def _csv(region: Region) -> str:
    """What is asked of each column, as a table."""
    content = StringIO()
    region.intervals.to_csv(content, index=False)
    return content.getvalue()


def _told(found: Region | NoRegion) -> dict[str, Any]:
    """The answer itself, and the little that a list of answers shows."""
    return {
        "status": found.status.name,
        "sentence": found.sentence(),
        "distance": found.distance if isinstance(found, Region) else None,
        "lower_bound": _finite(found.lower_bound),
        "gap": found.gap if isinstance(found, Region) else None,
        "seconds": found.seconds,
        "answer": json.loads(found.to_json()),
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


# ---- the process -----------------------------------------------------------------------------------------------------------
def work(setup: Setup, pipe: Connection) -> None:
    """Read the model, then answer until the other end is closed: ("ready" | "step" | "done" | "refused" | "failed", what)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        desk = Desk(setup)
        pipe.send(("ready", desk.about()))
    except ElbowroomError as error:
        pipe.send(("refused", str(error)))
        return
    except Exception as error:
        pipe.send(("failed", f"the model could not be read: {type(error).__name__}: {message(str(error))}"))
        return

    def stop(number: int, frame: object) -> None:
        desk.stopped = True
        if desk.searching:
            desk.searching = False
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, stop)
    last = 0.0

    def report(step: Step) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= EVERY:
            last = now
            pipe.send(
                (
                    "step",
                    {
                        "seconds": step.seconds,
                        "lower_bound": _finite(step.lower_bound),
                        "distance": _finite(step.best_distance),
                    },
                )
            )

    while True:
        try:
            asked = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            pipe.send(("done", desk.answer(asked, report)))
        except ElbowroomError as error:
            pipe.send(("refused", str(error)))
        except KeyboardInterrupt:
            pipe.send(("refused", "stopped before anything was found"))
        except Exception as error:
            pipe.send(("failed", f"{type(error).__name__}: {message(str(error))}"))
