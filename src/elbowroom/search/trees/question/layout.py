"""The row in cells: a question for the kernels, and the way back to centres.

What the model ignores stays as near to the factual as the limits allow, at a constant cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.errors import InputError
from elbowroom.kernels.kernel import kernel
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import Distance, RecourseProblem, allowed_categories
from elbowroom.search.trees.cells.dimensions import Dimensions
from elbowroom.search.trees.question.choices import Choices
from elbowroom.search.trees.question.groups import Groups
from elbowroom.search.trees.question.positions import Room, escapes
from elbowroom.search.trees.question.question import COSTS, Question


@dataclass(frozen=True, eq=False)
class Layout:
    """A question for the kernels, with the way back to centres."""

    question: Question
    values: Floats  # flat: the raw value of every position
    root_low: Ints  # (dims,) first and last allowed position
    root_high: Ints
    idle: Floats  # (columns,) the factual moved into the limits
    dimensions: Dimensions

    def center(self, positions: Ints) -> Floats:
        """The centre at the given positions."""
        point = self.idle.copy()
        point[self.dimensions.columns] = self.values[self.question.pos_start[:-1] + positions]
        return point + 0.0

    def nearest(self, point: Floats) -> Ints:
        """Positions near a point, rounded towards home: where a search for incumbents may start."""
        q = self.question
        found = q.home.copy()
        for d, f in enumerate(self.dimensions.columns):
            values = self.values[q.pos_start[d] : q.pos_start[d + 1]]
            if point[f] > values[q.home[d]]:
                found[d] = np.searchsorted(values, point[f], "right") - 1
            elif point[f] < values[q.home[d]]:
                found[d] = np.searchsorted(values, point[f], "left")
        return np.asarray(np.clip(found, self.root_low, self.root_high))


def lay_out(problem: RecourseProblem, dimensions: Dimensions) -> Layout | str:
    """Positions of every dimension; or the reason why there is none."""
    if problem.trouble is not None:
        return problem.trouble
    space, columns, n_single = problem.space, dimensions.columns, int(dimensions.group_start[0])
    # positions of centres and cells of rooms are made of the same whole numbers
    assert np.array_equal(space.whole_center, space.whole_room)
    idle = np.clip(problem.factual, *problem.centers)
    choices = Choices(problem)
    trouble = choices.settle(idle)
    if trouble is not None:
        return trouble
    groups = _lay_out_groups(problem, dimensions, idle)
    if isinstance(groups, str):
        return groups
    values, owner, low, high = _lay_out_single(problem, dimensions, choices)
    cost = costs_of(problem, columns[owner], values)
    most = problem.conditions.most_changes
    already = problem.changed(idle)  # what the limits alone force to change
    second = (dimensions.partner >= 0) & dimensions.of_center  # of two linked dimensions, which are one block
    starts = np.flatnonzero(~second[:n_single])
    settled = already[columns[starts]].astype(np.int64)
    already[[len(space.names) + g for g in groups.moving]] = False  # these are counted when they move
    values, owner = np.concatenate([values, groups.values]), np.concatenate([owner, groups.owner]).astype(np.int64)
    pos_start = np.searchsorted(owner, np.arange(columns.size + 1)).astype(np.int64)
    home = [int(np.searchsorted(values[pos_start[d] : pos_start[d + 1]], idle[columns[d]])) for d in range(n_single)]
    low_cell, high_cell = np.zeros(values.size, np.int64), np.zeros(values.size, np.int64)
    edge_start = dimensions.cell_start + 2 * np.arange(columns.size + 1)
    edges = np.zeros((4, int(edge_start[-1])), np.int64)
    low, high = np.concatenate([low, groups.low]), np.concatenate([high, groups.high])
    cuts = np.concatenate([np.zeros(0), *dimensions.cuts])
    _fill_cells(dimensions.cell_start, cuts, pos_start, low, high, edge_start, low_cell, high_cell, edges)
    free = np.ascontiguousarray(np.array(groups.free, dtype=np.int64).reshape(-1, 4).T)
    question = Question(
        pos_start=pos_start,
        cost=np.concatenate([cost, groups.cost]),
        low_cell=low_cell,
        high_cell=high_cell,
        home=np.array(home + groups.home, dtype=np.int64),
        edge_start=edge_start,
        first_low=edges[0],
        first_high=edges[1],
        last_low=edges[2],
        last_high=edges[3],
        partner=dimensions.partner,
        block_start=np.array([*starts, n_single, *groups.block_ends], dtype=np.int64),
        group_home=np.array([-1] * starts.size + groups.block_home, dtype=np.int64),
        group_price=np.array([0.0] * starts.size + groups.block_price, dtype=np.float64),
        block_counts=np.concatenate([1 - settled, np.ones(len(groups.block_ends), np.int64)]),
        free_start=np.array(groups.free_ends, dtype=np.int64),
        free_dim=free[0],
        free_zero=free[1],
        free_one=free[2],
        free_allowed=free[3],
        in_free=np.isin(np.arange(columns.size), free[0]).astype(np.int64),
        norm=COSTS.MAXIMUM if problem.distance is Distance.LINF else COSTS.ADDITIVE,
        constant=_constant(problem, columns, idle, groups.constants),
        changes=(len(space.names) if most is None else min(most, len(space.names))) - int(already.sum()),
    )
    sizes = np.diff(pos_start[: n_single + 1]) - 1
    return Layout(
        question=question,
        values=values,
        root_low=np.array([0] * n_single + groups.root_low, dtype=np.int64),
        root_high=np.concatenate([sizes, np.array(groups.root_high, dtype=np.int64)]).astype(np.int64),
        idle=idle,
        dimensions=dimensions,
    )


def _lay_out_single(
    problem: RecourseProblem, dimensions: Dimensions, choices: Choices
) -> tuple[Floats, Ints, Floats, Floats]:
    """Positions of the dimensions of single columns: values, dimension, and the ends of the room (or the centre) there.
    Linked dimensions share the positions that either of them needs."""
    n = int(dimensions.group_start[0])
    columns, room = dimensions.columns[:n], Room(problem)
    start = np.clip(problem.factual, *problem.centers)[columns]
    if not dimensions.of_center.any():
        values, owner = escapes(room, columns, dimensions.cuts[:n], start)
        cuts_of = {int(f): cuts for f, cuts in zip(dimensions.columns, dimensions.cuts, strict=True)}
        values, owner = choices.among(values, owner, columns, cuts_of)
        return values, owner, *room.true_ends(columns[owner], values)
    point, found = room.of_points(), []
    for kind, where in ((False, room), (True, point)):
        mine = np.flatnonzero(dimensions.of_center[:n] == kind)
        values, owner = escapes(where, columns[mine], tuple(dimensions.cuts[d] for d in mine), start[mine])
        found.append((values, mine[owner]))
    values, owner = (np.concatenate(some) for some in zip(*found, strict=True))
    linked = dimensions.partner[owner] >= 0
    values, owner = np.append(values, values[linked]), np.append(owner, dimensions.partner[owner[linked]])
    order = np.lexsort((values, owner))
    values, owner = values[order], owner[order]
    fresh = np.append(True, (values[1:] != values[:-1]) | (owner[1:] != owner[:-1]))[: values.size]
    values, owner = values[fresh], owner[fresh]
    low, high = room.ends(columns[owner], values)
    center = dimensions.of_center[owner]
    return values, owner, np.where(center, values, low), np.where(center, values, high)


def _lay_out_groups(problem: RecourseProblem, dimensions: Dimensions, idle: Floats) -> Groups | str:
    """What the one-hot groups contribute; or the reason why one has no category. Sets their columns in ``idle``."""
    space, norm = problem.space, problem.distance
    price = problem.metric.group_price ** power_of(problem)
    groups = Groups()
    lower, upper = problem.centers
    for g, members in enumerate(space.members):
        allowed = allowed_categories(lower[members], upper[members])
        if not allowed.any():
            return f"one-hot group {space.groups[g].name!r}: the bounds of its columns allow no category"
        factual = int(np.argmax(problem.factual[members]))
        chosen = factual if allowed[factual] else int(np.argmax(allowed))
        idle[members] = np.eye(members.size)[chosen]
        used = g in dimensions.groups
        if used and g not in problem.walls.free_groups:
            begin = int(dimensions.group_start[dimensions.groups.index(g)])
            half = float(price[g]) if norm is Distance.LINF else float(price[g]) / 2
            groups.add_fixed(begin, allowed, chosen, factual, float(price[g]), half)
            groups.moving.append(g)
            continue
        if used:
            begin = int(dimensions.group_start[dimensions.groups.index(g)])
            taken = allowed_categories(problem.lower[members], problem.upper[members])
            groups.add_free(begin, taken, chosen, dimensions.cuts)
        groups.constants.append(float(price[g]) if chosen != factual else 0.0)
    return groups


def power_of(problem: RecourseProblem) -> int:
    """Costs add up: squares for the Euclidean distance."""
    return 2 if problem.distance is Distance.L2 else 1


def costs_of(problem: RecourseProblem, columns: Ints, values: Floats) -> Floats:
    """What single columns cost at the given values."""
    with np.errstate(over="ignore"):
        cost = problem.metric.costs(columns, problem.factual[columns], values) ** power_of(problem)
    if not np.isfinite(cost).all():
        name = problem.space.names[int(columns[int(np.flatnonzero(~np.isfinite(cost))[0])])]
        raise InputError(
            f"column {name!r}: a move to some cut of the model is too long to be squared or weighted; rescale it"
        )
    return np.asarray(cost)


def _constant(problem: RecourseProblem, columns: Ints, idle: Floats, of_groups: list[float]) -> float:
    """The cost of what does not move: of groups, and of columns that the model ignores."""
    with np.errstate(over="ignore"):
        away = problem.metric.costs(np.arange(idle.size), problem.factual, idle) ** power_of(problem)
    ignored = np.setdiff1d(np.arange(len(problem.space.names)), columns)
    constants = of_groups + away[ignored[problem.space.group_of[ignored] < 0]].tolist()
    return max([0.0, *constants]) if problem.distance is Distance.LINF else float(sum(constants))


@kernel
def _fill_cells(
    cell_start: Ints, cuts: Floats, pos_start: Ints, low: Floats, high: Floats, edge_start: Ints, low_cell: Ints,
    high_cell: Ints, edges: Ints,
) -> None:  # fmt: skip
    """Cells of the room's ends for every position, and for every cell the first and last positions around it
    (the rows of ``edges`` are first_low, first_high, last_low, last_high)."""
    for d in range(pos_start.shape[0] - 1):
        begin, count = cell_start[d] - d, cell_start[d + 1] - cell_start[d] - 1  # of the cuts
        n = pos_start[d + 1] - pos_start[d]
        a = b = 0
        for p in range(pos_start[d], pos_start[d + 1]):  # both ends only ever move up
            while a < count and cuts[begin + a] < low[p]:
                a += 1
            while b < count and cuts[begin + b] < high[p]:
                b += 1
            low_cell[p], high_cell[p] = a, b
        first_low = first_high = 0
        for c in range(-1, count + 2):
            o, i = pos_start[d], edge_start[d] + c + 1
            while first_low < n and low_cell[o + first_low] < c:
                first_low += 1
            while first_high < n and high_cell[o + first_high] < c:
                first_high += 1
            after_low, after_high = first_low, first_high
            while after_low < n and low_cell[o + after_low] <= c:
                after_low += 1
            while after_high < n and high_cell[o + after_high] <= c:
                after_high += 1
            edges[0, i], edges[1, i], edges[2, i], edges[3, i] = first_low, first_high, after_low - 1, after_high - 1
