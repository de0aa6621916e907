"""Rules in positions: the values that a column may take at all, and what clauses forbid.

Where only some values are allowed, the nearest centre beyond a cut is the first allowed one beyond it, and home is the
allowed value next to the factual: on either side, if the factual itself is not allowed. Clauses add the ends of their
ranges, and forbid a range of positions in all of their columns at once: like a bad region, but learned from a rule.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from elbowroom.numerics import Floats, Ints
from elbowroom.problem import RecourseProblem
from elbowroom.problem.conditions import Clause
from elbowroom.problem.domains import Values
from elbowroom.search.trees.question.pairs import tied_positions, ties_of

if TYPE_CHECKING:
    from elbowroom.search.trees.question.layout import Layout

Forbidden: TypeAlias = "tuple[Ints, Ints]"  # positions: all between these, in every dimension


class Choices:
    """The allowed values of columns, and the ranges that clauses are about."""

    def __init__(self, problem: RecourseProblem) -> None:
        self._problem = problem
        conditions, whole = problem.conditions, problem.space.whole_center
        self._first, self._last = problem.centers
        self._start = np.clip(problem.factual, self._first, self._last)
        columns = {domain.column for domain in conditions.domains}
        tied = [option for clause in conditions.clauses for option in clause.options]
        self._ends: dict[int, list[tuple[float, float]]] = {}
        for option in tied:
            if problem.space.group_of[option.column] < 0:
                self._ends.setdefault(option.column, []).append((option.low, option.high))
        self._values = {
            f: Values(tuple(d for d in conditions.domains if d.column == f), bool(whole[f]))
            for f in columns | self._ends.keys()
        }

    def settle(self, idle: Floats) -> str | None:
        """Move the factual to the nearest allowed values, in place; the reason if there is none."""
        for f in self._values:
            options = self._next_to(f, float(self._start[f]))
            if not options:
                return f"no value of column {self._problem.space.names[f]!r} within the limits obeys the rules"
            column = np.full(len(options), f)
            cost = self._problem.metric.costs(column, self._problem.factual[column], np.array(options))
            idle[f] = options[int(np.argmin(cost))]
        return None

    def _next_to(self, f: int, x: float) -> list[float]:
        values, low, high = self._values[f], float(self._first[f]), float(self._last[f])
        found = values.at_or_below(min(x, high), low), values.at_or_above(max(x, low), high)
        return [v for v in dict.fromkeys(found) if math.isfinite(v)]

    def among(self, values: Floats, owner: Ints, columns: Ints, cuts: dict[int, Floats]) -> tuple[Floats, Ints]:
        """Positions, sorted by column and value, moved to the allowed values beyond them; with the ends of clauses, and what
        rows of two columns need."""
        ties = ties_of(self._problem) if self._problem.conditions.rows else ()
        if not self._values and not ties:
            return values, owner
        marks = {f: [x for ends in pairs for x in ends] for f, pairs in self._ends.items()}
        tied = tied_positions(self._problem, ties, cuts, marks) if ties else {}
        made_values, made_owners = [], []
        for d, f in enumerate(columns.tolist()):
            mine = values[owner == d]
            if f in tied:
                mine = np.union1d(mine, tied[f])
            if f in self._values:
                mine = self._allowed(f, mine)
            made_values.append(mine)
            made_owners.append(np.full(mine.size, d, dtype=np.int64))
        none = np.zeros(0)
        return np.concatenate([none, *made_values]), np.concatenate([none.astype(np.int64), *made_owners])

    def _allowed(self, f: int, positions: Floats) -> Floats:
        start, values = float(self._start[f]), self._values[f]
        low, high = float(self._first[f]), float(self._last[f])
        wanted = [*positions.tolist(), start]
        for a, b in self._ends.get(f, ()):
            wanted += [x for x in (a, b) if math.isfinite(x)]
        places = np.unique([x for x in wanted if math.isfinite(x)])
        up = places if f in self._ends else places[places >= start]  # the other end of a range may be the nearest one
        down = places if f in self._ends else places[places <= start]
        found = {*values.nearest_of(up, True, high).tolist(), *values.nearest_of(down, False, low).tolist()}
        return np.array(sorted(v + 0.0 for v in found if low <= v <= high and math.isfinite(v)), dtype=np.float64)


def forbidden_at(layout: Layout, clauses: tuple[Clause, ...], x: Ints) -> Forbidden | None:
    """A range of positions around x in which every centre breaks the same clause; None if x breaks none."""
    center = layout.center(x)
    question, columns = layout.question, layout.dimensions.columns
    for clause in clauses:
        if clause.holds(center):
            continue
        sizes = np.diff(question.pos_start)
        below, above = np.full(sizes.size, -1, dtype=np.int64), sizes.astype(np.int64)
        for f in {option.column for option in clause.options}:
            d = int(np.flatnonzero(columns == f)[0])
            values = layout.values[question.pos_start[d] : question.pos_start[d + 1]]
            kept = np.zeros(values.size, dtype=np.bool_)
            for option in clause.options:
                if option.column == f:
                    kept |= (values >= option.low) & (values <= option.high)
            left, right = np.flatnonzero(kept[: x[d]]), np.flatnonzero(kept[x[d] :])
            below[d] = left[-1] if left.size else -1
            above[d] = x[d] + right[0] if right.size else values.size
        return below, above
    return None
