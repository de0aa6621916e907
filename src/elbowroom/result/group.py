"""Answers for a group: one move for many rows, and the moves that serve everybody."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from elbowroom.numerics import Floats
from elbowroom.problem import Distance, Room, Space, Target
from elbowroom.problem.class_names import NO_NAMES, ClassNames
from elbowroom.result.certificate import Certificate
from elbowroom.result.origin import is_closed
from elbowroom.result.status import Status


@dataclass(frozen=True, eq=False)
class GroupAnswer:
    """One move for several rows, or none, with what is proven. True if there is a move.

    Attributes:
        space: The space of the rows.
        rows: The rows asked about, as inner floats.
        target: What is wanted of each row that is served.
        room: The room around each of them.
        metric: The norm of the move.
        least: How many rows have to be served.
        move_values: The move, column by column; None if there is none.
        certificates: By position of the row: that its whole room has the wanted outcome after the move.
        distance: Of the move; inf without one.
        lower_bound: No move that serves so many rows is closer; inf: none exists.
        tolerance: The relative gap up to which the answer counts as optimal.
        method: How it was found.
        reason: Why there is no move, or what limited the proof.
        seconds: Of the search.
        labels: What classes are called in words.

    Examples:
        >>> group = explainer.explain_group(X[~model.predict(X)].head(3), room=Box({"salary": 100}))
        >>> group.status.name, len(group.served)
        ('OPTIMAL', 3)
    """

    space: Space
    rows: Floats
    target: Target
    room: Room
    metric: Distance
    least: int
    move_values: Floats | None
    certificates: Mapping[int, Certificate]
    distance: float
    lower_bound: float
    tolerance: float
    method: str
    reason: str = ""
    seconds: float = 0.0
    labels: ClassNames = field(default=NO_NAMES)

    def __post_init__(self) -> None:
        if self.move_values is not None and len(self.certificates) < self.least:
            raise ValueError("a move for a group needs a Certificate for each row that it serves")

    def __bool__(self) -> bool:
        return self.move_values is not None

    @property
    def status(self) -> Status:
        """OPTIMAL, CERTIFIED (with a gap), NONE_EXISTS or UNKNOWN."""
        if self.move_values is None:
            return Status.NONE_EXISTS if math.isinf(self.lower_bound) else Status.UNKNOWN
        return Status.OPTIMAL if is_closed(self.distance, self.lower_bound, self.tolerance) else Status.CERTIFIED

    @property
    def gap(self) -> float:
        """How much closer another move could be at most, as a share of the distance."""
        if not math.isfinite(self.distance) or self.distance == 0.0:
            return 0.0 if self.distance == 0.0 else math.inf
        return max(0.0, (self.distance - self.lower_bound) / self.distance)

    @property
    def served(self) -> tuple[int, ...]:
        """Positions of the rows that the move serves, each with a certificate."""
        return tuple(sorted(self.certificates))

    @property
    def move(self) -> pd.Series | None:
        """What is added to each column of numbers; None if there is no move."""
        if self.move_values is None:
            return None
        numbers = np.flatnonzero(self.space.group_of < 0)
        return pd.Series(self.move_values[numbers], [self.space.names[f] for f in numbers], name="move")

    @property
    def centers(self) -> pd.DataFrame:
        """Where the rows that are served end up, by position."""
        found = [self.certificates[i].body.center for i in self.served]
        names = list(self.space.names)
        return pd.DataFrame(np.array(found).reshape(-1, len(names)), index=list(self.served), columns=names)

    def sentence(self) -> str:
        """The move in words.

        Returns:
            One sentence.
        """
        from elbowroom.present.group import group_sentence

        return group_sentence(self)

    def __str__(self) -> str:
        from elbowroom.present.group import group_text

        return group_text(self)

    def __repr__(self) -> str:
        if self.move_values is None:
            return f"<GroupAnswer {self.status.name} for {len(self.rows)} rows>"
        return f"<GroupAnswer {self.status.name}, distance {self.distance:.6g}, serves {len(self.served)} of {len(self.rows)} rows>"

    def _repr_html_(self) -> str:
        from elbowroom.present.group import group_fragment

        return group_fragment(self)


@dataclass(frozen=True, eq=False)
class GroupActions(Sequence[GroupAnswer]):
    """Moves that serve all rows together, and how few there can be.

    Attributes:
        answers: One per move, for the rows of its ``members``.
        members: Positions of the rows that each move is for.
        unserved: Positions of rows that no move within the limit serves (or none was found in time).
        least: At least so many moves are needed for the rows that are served: proven.

    Examples:
        >>> acts = explainer.actions(X[~model.predict(X)].head(4), room=Box({"salary": 50}), within=2.0)
        >>> len(acts) >= acts.least, sum(map(len, acts.members)) + len(acts.unserved)
        (True, 4)
    """

    answers: tuple[GroupAnswer, ...]
    members: tuple[tuple[int, ...], ...]
    unserved: tuple[int, ...]
    least: int

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        return self.answers[place]

    def __len__(self) -> int:
        return len(self.answers)

    def __str__(self) -> str:
        from elbowroom.present.group import actions_lines

        return "\n".join(actions_lines(self))

    def __repr__(self) -> str:
        served = sum(map(len, self.members))
        return f"<GroupActions: {len(self)} moves for {served} of {served + len(self.unserved)} rows, at least {self.least} needed>"

    def _repr_html_(self) -> str:
        from elbowroom.present.group import actions_fragment

        return actions_fragment(self)
