"""The one question that is asked about every row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from elbowroom.errors import InputError
from elbowroom.explainer.method import Method
from elbowroom.problem import Distance, Room, Rule, Target
from elbowroom.problem.parsing import check_seed, parse_enum, seconds_of
from elbowroom.problem.rules import parse_rules, rules_out
from elbowroom.result import NoRegion, Region
from elbowroom.result.question_json import room_out, space_out, target_out
from elbowroom.version import __version__

if TYPE_CHECKING:
    import pandas as pd

    from elbowroom.explainer import Explainer


@dataclass(frozen=True)
class BatchQuestion:
    """What `Explainer.explain` is asked about each row: everything but the row."""

    room: Room
    target: object
    distance: Distance
    rules: tuple[Rule, ...]
    time_limit: float  # for each row
    method: str
    seed: int

    @classmethod
    def of(
        cls,
        room: Room,
        target: object,
        distance: Distance | str,
        rules: Sequence[Rule],
        time_limit: float,
        method: str,
        seed: int,
    ) -> BatchQuestion:
        """Checked before the first row is asked: what is wrong with the question is wrong with every row."""
        if not isinstance(room, Room):
            raise InputError(f"room={room!r}: give Box(...), Ball(...) or Diamond(...)")
        check_seed(seed)
        chosen = parse_enum(Method, method, "method").value
        return cls(
            room, target, Distance.parse(distance), parse_rules(rules), seconds_of(time_limit), chosen, int(seed)
        )

    def check(self, explainer: Explainer) -> None:
        """Refuse what no row could be asked: a room, or a target, that does not fit the model."""
        self.room.walls(explainer.space)
        info = explainer.model.info
        if self.target is not None:
            Target.parse(self.target, info)
        elif len(info.classes) != 1:  # a single class has a proven answer of its own
            Target.other(info, 0)

    def ask(self, explainer: Explainer, row: pd.Series) -> Region | NoRegion:
        return explainer.explain(
            row,
            room=self.room,
            target=self.target,
            distance=self.distance,
            rules=self.rules,
            time_limit=self.time_limit,
            method=self.method,
            seed=self.seed,
        )

    def within(self, seconds: float) -> BatchQuestion:
        """The same question with another time limit per row."""
        return replace(self, time_limit=seconds)

    def document(self, explainer: Explainer, columns: Sequence[str]) -> dict[str, Any]:
        """Everything that an answer depends on, as JSON: a store is about one of these. The time limit is not part of it:
        a later run may give more time to the same question. Versions of other libraries are not, either: the model is
        known by its fingerprint, and every answer says with which versions it was found."""
        wanted = None if self.target is None else target_out(Target.parse(self.target, explainer.model.info))
        return {
            "model": explainer.model.fingerprint,
            "source": explainer.model.info.source,
            "space": space_out(explainer.space),
            "room": room_out(self.room),
            "target": wanted,
            "distance": self.distance.value,
            "rules": rules_out(self.rules),
            "method": self.method,
            "seed": self.seed,
            "columns": list(columns),
            "elbowroom": __version__,
        }


def digest(document: dict[str, Any]) -> str:
    """The same for the same document, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
