"""One region for many rows: the mean of their distances as a price of one row's moves.

With the l1 distance the mean cost of a centre c over rows x_1 .. x_n is, column by column,

    m_f(c) = w_f / s_f * (1 / n) sum_i |c - x_if|,

which is convex and piecewise linear: right of c its slope is w_f / s_f * (rows at c or below - rows above) / n, left of c the
same the other way round. From a start b_f where it is smallest within the limits of all rows it rises both ways, so that

    m(c) = m(b) + the priced l1 distance of c from b.

Where as many rows lie below as above it is level; a slope of `LEVEL` stands for 0 there (prices rise; Algorithm 1 needs a steeper
one, because solvers drop small coefficients), which the bound is lowered by. A category k costs the group's weight times the share of rows with another one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np

from elbowroom.errors import InputError
from elbowroom.models import ObliqueEnsemble
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import Feature, RecourseProblem, Space
from elbowroom.problem.kinds import Direction

LEVEL: Final = 1e-10  # of the slope of one row
STEEPER: Final = 1e-6  # the same, for Algorithm 1
ROUNDING: Final = 1e-12  # of sums of moves
MOST_CATEGORIES: Final = 256  # combinations of categories that are asked about one by one


@dataclass(frozen=True, eq=False)
class Meeting:
    """Where one region for all of these rows may lie. Each problem is the question about one row."""

    problems: tuple[RecourseProblem, ...]

    @property
    def space(self) -> Space:
        return self.problems[0].space

    @property
    def rows(self) -> Floats:
        return np.array([problem.factual for problem in self.problems])

    @property
    def level(self) -> float:
        return STEEPER if isinstance(self.problems[0].model, ObliqueEnsemble) else LEVEL

    @property
    def limits(self) -> tuple[Floats, Floats]:
        """Of centres that every row may move to."""
        return np.max([p.lower for p in self.problems], axis=0), np.min([p.upper for p in self.problems], axis=0)

    @property
    def trouble(self) -> str:
        """Why no centre lies within the limits of all rows; empty if one may."""
        lower, upper = self.limits
        apart = np.flatnonzero(lower > upper)
        if not apart.size:
            return ""
        f = int(apart[0])
        group = int(self.space.group_of[f])
        name = self.space.names[f] if group < 0 else self.space.groups[group].name
        return f"the rows cannot all move to one value of {name!r}"

    def distances(self, center: Floats) -> Floats:
        """Of every row."""
        return np.array([problem.measure(center) for problem in self.problems])

    def parts(self) -> list[tuple[float, Floats, Space]]:
        """Mean cost, start and priced space of every combination of categories, cheapest first."""
        lower, upper = self.limits
        rows, made = self.rows, []
        start = np.clip(np.sort(rows, axis=0)[(len(rows) - 1) // 2], lower, upper)
        numbers = {f: self._priced(f, float(start[f]), float(lower[f]), float(upper[f])) for f in self._numbers}
        for chosen in self._categories(lower, upper):
            at, features = start.copy(), list(self.space.features)
            for members, member in zip(self.space.members, chosen, strict=True):
                at[members] = 0.0
                at[members[member]] = 1.0
                for f in members:
                    features[f] = replace(features[f], immutable=True)
            for f, feature in numbers.items():
                features[f] = feature
            made.append((float(self.distances(at).mean()), at, replace(self.space, features=tuple(features))))
        return sorted(made, key=lambda part: part[0])

    def slack(self) -> float:
        """By how much level pieces and rounding may raise what a centre costs."""
        lower, upper = self.limits
        rows, weight = self.rows, self.space.weight / self.space.scale
        spread = rows.max(axis=0) - rows.min(axis=0)
        numbers = self._numbers
        size = np.abs(rows).max(axis=0) + np.where(np.isfinite(lower), np.abs(lower), 0.0)
        size += np.where(np.isfinite(upper), np.abs(upper), 0.0)
        return float((weight[numbers] * (self.level * spread[numbers] + ROUNDING * size[numbers])).sum())

    @property
    def _numbers(self) -> Ints:
        return np.flatnonzero(self.space.group_of < 0)

    def _priced(self, f: int, start: float, lower: float, upper: float) -> Feature:
        feature, values = self.space.features[f], np.sort(self.rows[:, f])
        return replace(
            feature,
            lower=lower, upper=upper, direction=Direction.ANY,
            price_up=_slopes(start, values, 1.0, self.level), price_down=_slopes(start, values, -1.0, self.level),
        )  # fmt: skip

    def _categories(self, lower: Floats, upper: Floats) -> Iterator[tuple[int, ...]]:
        """Positions of members, one per group."""
        open_ = [
            [k for k in range(members.size) if upper[members[k]] >= 1.0 and not np.delete(lower[members], k).any()]
            for members in self.space.members
        ]
        if math.prod(len(each) for each in open_) > MOST_CATEGORIES:
            raise InputError(
                f"a common region asks about each combination of categories, here {math.prod(map(len, open_)):,}, and at most "
                f"{MOST_CATEGORIES}; declare columns of categories immutable, or ask about rows that share them"
            )
        return product(*open_)


def _slopes(start: float, values: Floats, way: float, level: float) -> Sequence[tuple[float, float]]:
    """(from which move on, slope as a share of that of one row) one way from the start."""
    ahead = np.unique(way * (values - start))
    found = []
    for begin in np.append(0.0, ahead[ahead > 0.0]):
        passed = int((way * (values - start) <= begin).sum())
        found.append((float(begin), max((2 * passed - values.size) / values.size, level)))
    return found
