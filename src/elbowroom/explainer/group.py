"""One action for a group of rows, and the fewest actions that serve everybody."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.explainer.common import common_region, meeting_of
from elbowroom.explainer.crowd import Crowd
from elbowroom.explainer.nearby import refuse_nearby
from elbowroom.models import LinearModel, TreeEnsemble
from elbowroom.problem import Box, Distance, RecourseProblem, Room
from elbowroom.problem.on import On
from elbowroom.problem.parsing import check_seed, plain_number, seconds_of
from elbowroom.problem.shapes import is_round
from elbowroom.result.common import CommonRegion
from elbowroom.result.group import GroupActions, GroupAnswer
from elbowroom.search.contract import Clock, Ending
from elbowroom.search.group.members import Members
from elbowroom.search.group.shares import closest_for_some

if TYPE_CHECKING:
    from elbowroom.explainer.explainer import Explainer

ENOUGH = 1e-9  # relative: a move this little beyond the limit of its length counts as within it


class Grouping:
    """The part of an `Explainer` that answers for several rows at once."""

    def explain_group(  # type: ignore[misc]  # it is part of nothing else
        self: Explainer,
        rows: pd.DataFrame | object,
        room: Room = Box(0.05),  # noqa: B008 - rooms are frozen
        target: object = None,
        distance: Distance | str = "l1",
        *,
        share: float = 1.0,
        time_limit: float = 60.0,
        seed: int = 0,
    ) -> GroupAnswer:
        """The closest common move: what is added to the numbers of every row, so that the whole room around each of them, or
        around at least a share of them, has the wanted class. Categories stay as they are. Trees and linear models, boxes.

        Args:
            rows: A table, or a list of rows.
            room: The box around each row that is served; it is clipped to the limits of the row.
            target: The wanted class; None: the other class than that of the first row, of two.
            distance: The norm of the move: "l1", "l2" or "linf", in units of the scales.
            share: Which share of the rows has to be served, rounded up to whole rows.
            time_limit: Seconds; when they are over, the answer is the best certified move so far.
            seed: Fixes every random choice.

        Returns:
            The move with a certificate for each row that it serves, and a proven lower bound.
        """
        members = self._members(rows, room, target, distance)
        part = plain_number(share, "share", "give a number above 0, at most 1")
        if not 0.0 < part <= 1.0:
            raise InputError(f"share={share!r}: give a number above 0, at most 1")
        size = len(members.problems)
        least = min(size, max(1, math.ceil(part * size - 1e-9)))
        return self._closest_move(members, least, Clock(seconds_of(time_limit)), seed)

    def common_region(  # type: ignore[misc]
        self: Explainer,
        rows: pd.DataFrame | object,
        room: Room = Box(0.05),  # noqa: B008
        target: object = None,
        *,
        time_limit: float = 60.0,
        seed: int = 0,
    ) -> CommonRegion:
        """The region with the wanted class that is closest to all rows on average (l1): one place where all of them can go,
        whatever their columns hold now. Every family and room; limits, immutable and one-way columns of every row are kept to.

        Args:
            rows: A table, or a list of rows.
            room: The room around the centre.
            target: The wanted class; None: the other class than that of the first row, of two.
            time_limit: Seconds; when they are over, the answer is the best certified region so far.
            seed: Fixes every random choice.

        Returns:
            The region with its certificate, the distance of each row, and a proven lower bound on their mean.

        Examples:
            >>> explainer.common_region(X[~model.predict(X)].head(3), room=Box({"salary": 100}))
            <CommonRegion OPTIMAL for 3 rows, mean distance 0.216667>
        """
        clock = Clock(seconds_of(time_limit))
        check_seed(seed)
        meeting = meeting_of(self._questions(rows, room, target, "l1"))
        return common_region(self, meeting, room, clock, seed)

    def actions(  # type: ignore[misc]
        self: Explainer,
        rows: pd.DataFrame | object,
        room: Room = Box(0.05),  # noqa: B008
        target: object = None,
        distance: Distance | str = "l1",
        *,
        within: float,
        most: int | None = None,
        time_limit: float = 60.0,
        seed: int = 0,
    ) -> GroupActions:
        """Few moves, none longer than ``within``, that serve all rows together: greedy, with a proven lower bound on how few
        there can be. Two rows that no move within the limit serves together need two; rows that are all apart in this way
        need as many moves as they are.

        Args:
            rows: A table, or a list of rows.
            room: The box around each row.
            target: The wanted class; None: the other class than that of the first row, of two.
            distance: The norm of the moves.
            within: How long a move may be.
            most: At most so many moves; rows that are left over are ``unserved``. None: as many as it takes.
            time_limit: Seconds for all of it.
            seed: Fixes every random choice.

        Returns:
            The moves with their rows, the rows that no move serves, and the proven least number.
        """
        members, clock = self._members(rows, room, target, distance), Clock(seconds_of(time_limit))
        limit = plain_number(within, "within", "give a positive number")
        if not limit > 0.0:
            raise InputError(f"within={within!r}: give a positive number, in units of the distance")
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
            raise InputError(f"most={most!r}: give a positive whole number, or None")
        known: dict[tuple[int, ...], GroupAnswer] = {}

        def answered(chosen: tuple[int, ...]) -> GroupAnswer:
            if chosen not in known:
                some = Members(tuple(members.problems[i] for i in chosen))
                known[chosen] = self._closest_move(some, len(chosen), clock, seed)
            return known[chosen]

        def fits(chosen: tuple[int, ...]) -> bool:
            found = answered(chosen)
            return bool(found) and found.distance <= limit * (1.0 + ENOUGH)

        size = len(members.problems)
        alone = [i for i in range(size) if fits((i,))]
        groups: list[tuple[int, ...]] = []
        left = sorted(alone, key=lambda i: -answered((i,)).distance)
        while left and (most is None or len(groups) < most):
            chosen: tuple[int, ...] = (left[0],)
            for i in left[1:]:
                if not clock.expired and fits(tuple(sorted((*chosen, i)))):
                    chosen = tuple(sorted((*chosen, i)))
            groups.append(chosen)
            left = [i for i in left if i not in chosen]
        together = {pair for chosen in groups for pair in combinations(chosen, 2)}
        pairs = [pair for pair in combinations(alone, 2) if pair not in together]
        apart = {p for p in pairs if not clock.expired and answered(p).lower_bound > limit * (1.0 + ENOUGH)}
        clique: list[int] = []
        for i in sorted(alone, key=lambda i: -sum(i in pair for pair in apart)):
            if all((min(i, j), max(i, j)) in apart for j in clique):
                clique.append(i)
        unserved = tuple(sorted(set(range(size)) - {i for chosen in groups for i in chosen}))
        least = len([i for i in clique if i not in unserved])
        return GroupActions(tuple(answered(c) for c in groups), tuple(groups), unserved, max(least, int(bool(groups))))

    def _questions(  # type: ignore[misc]
        self: Explainer, rows: object, room: Room, target: object, distance: Distance | str
    ) -> list[RecourseProblem]:
        """One question for each row; without a target about the class that the first one lacks."""
        if isinstance(rows, pd.DataFrame):
            given: list[object] = [rows.iloc[i] for i in range(len(rows))]
        else:
            given = list(np.atleast_2d(rows)) if isinstance(rows, np.ndarray) else list(rows)  # type: ignore[call-overload]
        if not given:
            raise InputError("a group needs at least one row")
        problems: list[RecourseProblem] = []
        for row in given:
            wanted = target if target is not None or not problems else problems[0].target
            problems.append(self._ask(row, room, wanted, distance, ()))
        return problems

    def _members(self: Explainer, rows: object, room: Room, target: object, distance: Distance | str) -> Members:  # type: ignore[misc]
        """The questions of all rows, or why they have no common answer."""
        refuse_nearby(self.model, "explain_group")
        if not isinstance(self.model, LinearModel | TreeEnsemble):
            raise InputError(
                f"common moves are known for linear models and trees, not for {self.model.info.source}; explain the rows one by "
                "one, or ask for a common_region"
            )
        problems = self._questions(rows, room, target, distance)
        first = problems[0]
        walls = first.walls
        if is_round(walls.shape) or walls.on is not On.ALL or walls.free_groups:
            raise InputError(
                "common moves are known for boxes around all columns; use Box(...) without on= and categories="
            )
        if first.metric.priced or first.metric.slant is not None:
            raise InputError("common moves are not known together with prices, causes or a covariance; leave them out")
        return Members(tuple(problems))

    def _closest_move(self: Explainer, members: Members, least: int, clock: Clock, seed: int) -> GroupAnswer:  # type: ignore[misc]
        """An interrupt ends the search with the best certified move so far."""
        crowd, size, first = Crowd(members, least, clock), len(members.problems), members.first
        still, began = np.zeros(members.rows.shape[1]), clock.seconds
        try:
            if len(crowd.serve(still)) >= least:
                ending = Ending("common move: none is needed", 0.0)
            elif least == size:
                ending = crowd.closest(tuple(range(size)), seed)[0]
            else:
                ending = closest_for_some(
                    size, least, lambda rows: crowd.closest(rows, seed), crowd.serve, crowd.best, still, clock
                )
        except KeyboardInterrupt:
            ending = Ending("interrupted", 0.0, "interrupted before a move was certified")
        return GroupAnswer(
            space=first.space,
            rows=members.rows,
            target=first.target,
            room=first.room,
            metric=first.distance,
            least=least,
            move_values=crowd.move,
            certificates=crowd.certificates,
            distance=crowd.distance,
            lower_bound=min(ending.lower_bound, crowd.distance),
            tolerance=ending.tolerance,
            method=ending.method,
            reason=ending.reason,
            seconds=clock.seconds - began,
            labels=first.labels,
        )
