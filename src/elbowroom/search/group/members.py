"""The rows of a group, each a question of its own, and what they ask of a common move."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from elbowroom.models import TreeEnsemble
from elbowroom.models.moved import moved_trees
from elbowroom.numerics import EPS, Bools, Floats
from elbowroom.problem import Conditions, Feature, Kind, Metric, RecourseProblem, Room, Space, Target, Walls
from elbowroom.problem.problem import Case

Serve: TypeAlias = Callable[[Floats], frozenset[int]]  # which rows a move serves: certified, every one
ROUNDINGS = 64.0  # of the numbers in a column: by how much a room is smaller in proofs, and moves are longer if they are refused


@dataclass(frozen=True, eq=False)
class _Given(Room):
    """A room in raw units."""

    given: Walls

    def walls(self, space: Space) -> Walls:
        return self.given

    @property
    def size(self) -> float | None:
        return None


@dataclass(frozen=True, eq=False)
class Members:
    """Questions about the same model, target, room and distance; they differ in their rows."""

    problems: tuple[RecourseProblem, ...]

    @property
    def first(self) -> RecourseProblem:
        return self.problems[0]

    @cached_property
    def rows(self) -> Floats:
        return np.array([problem.factual for problem in self.problems])

    @cached_property
    def metric(self) -> Metric:
        return Metric.of(self.space, self.first.distance)

    @cached_property
    def space(self) -> Space:
        """Of moves: whole where the columns are; categories stay, so their columns do not move."""
        return Space(
            tuple(
                Feature(
                    f.name, Kind.NUMERIC if f.kind is Kind.NUMERIC else Kind.INTEGER, scale=f.scale, weight=f.weight
                )
                for f in self.first.space.features
            )
        )

    @cached_property
    def whole(self) -> Bools:
        return self.first.space.whole_center

    def limits(self, among: Collection[int]) -> tuple[Floats, Floats]:
        """Of moves that keep these rows within their limits."""
        still = self.first.space.group_of >= 0
        lower = np.max([self.problems[i].lower - self.rows[i] for i in among], axis=0)
        upper = np.min([self.problems[i].upper - self.rows[i] for i in among], axis=0)
        return np.where(still, 0.0, lower) + 0.0, np.where(still, 0.0, upper) + 0.0

    @cached_property
    def blur(self) -> Floats:
        """How far rounding may carry an end of a room, column by column: of rows, cuts and walls added up."""
        model, walls = self.first.model, self.first.walls
        size = np.abs(self.rows).max(axis=0) + np.maximum(walls.down, walls.up)
        if isinstance(model, TreeEnsemble):
            size = size + np.array([np.abs(cuts).max(initial=0.0) for cuts in model.cuts])
        return np.where(self.whole, 0.0, ROUNDINGS * EPS * size)

    def longer(self, move: Floats, among: Collection[int]) -> Floats:
        """A move that is longer by more than rounding."""
        return np.clip(move + np.sign(move) * 2.0 * self.blur, *self.limits(among)) + 0.0

    def of_trees(self, among: tuple[int, ...]) -> RecourseProblem:
        """The closest move for these rows as a question about one ensemble over moves; its rooms are smaller by rounding, so
        that every move which serves the rows is an answer to it."""
        first = self.first
        assert isinstance(first.model, TreeEnsemble)
        chosen = list(among)
        lower = np.array([self.problems[i].lower for i in chosen])
        upper = np.array([self.problems[i].upper for i in chosen])
        model = moved_trees(first.model, first.target_index, first.target.need, self.rows[chosen], lower, upper)
        walls = first.walls
        smaller = replace(walls, down=np.maximum(walls.down - self.blur, 0.0), up=np.maximum(walls.up - self.blur, 0.0))
        asked = RecourseProblem(
            model, self.space, np.zeros(self.rows.shape[1]), Target(0), _Given(smaller), first.distance
        )
        low, high = self.limits(among)
        return replace(asked, case=Case(low, high, Conditions(), self.metric))
