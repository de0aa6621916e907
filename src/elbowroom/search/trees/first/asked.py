"""The question on the trees themselves: where a centre must stand for its room to lie on one side of a cut.

The room around the centre c lies right of the cut of node i iff c >= above_i, and left of it (or on it) iff c <= below_i;
in between it meets both sides. Both numbers are exact (see `question.positions`). So no walk needs the ends of a room, and
the nearest centre at which a room leaves a leaf is always one of these numbers. Costs do not fall away from home.

Room on some columns only: the centres between home and these numbers are never needed (see `question.positions`), so that home
counts for every cut that its own room keeps to one side of, and all other centres for those beyond. Where only some values are
allowed, both numbers are the next allowed ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.kernels.bundle import Bundle
from elbowroom.models import TreeEnsemble
from elbowroom.numerics import Floats, Ints, next_up, next_value
from elbowroom.problem import Distance, RecourseProblem, allowed_categories
from elbowroom.problem.domains import Values
from elbowroom.problem.on import On
from elbowroom.search.trees.first.forest import Forest
from elbowroom.search.trees.first.sides import left_of, right_of
from elbowroom.search.trees.question.choices import Choices
from elbowroom.search.trees.question.layout import costs_of, power_of
from elbowroom.search.trees.question.positions import Room, ends_at_home
from elbowroom.search.trees.question.question import COSTS


@dataclass(frozen=True, eq=False)
class Asked(Bundle):
    """Block b is one column that may move, or a one-hot group with the columns of the splits that ask for its category. A
    group stands at one of its choices: the row choice_start[b] + k of values for its columns, from choice_value[b] on."""

    below: Floats  # (nodes,) -inf: no room lies left of the cut
    above: Floats  # (nodes,) inf: no room lies right of it
    below_cost: Floats  # (nodes,) of the columns that may move; inf where there is no such centre
    above_cost: Floats
    home: Floats  # (columns,) the factual, moved into the limits
    home_cost: Floats  # (columns,)
    block_start: Ints  # (blocks + 1,)
    block_column: Ints
    is_group: Ints  # (blocks,)
    counts: Ints  # (blocks,) 1 if leaving home is a change
    choices: Ints  # (blocks,) of groups
    choice_start: Ints  # (blocks,) into choice_cost
    choice_cost: Floats
    choice_at: Ints  # (blocks,) into choice_value
    choice_value: Floats
    home_choice: Ints  # (blocks,)
    user_start: Ints  # (blocks + 1,) trees that split on any column of the block
    user: Ints
    width: Floats  # (columns,) of the room; 0 where it is not the same around all centres
    norm: int
    constant: float  # cost of what does not move
    changes: int  # blocks that may leave home

    @property
    def n_blocks(self) -> int:
        return len(self.is_group)


def asked_of(problem: RecourseProblem, forest: Forest, everywhere: bool = False) -> Asked | None:
    """The question for the kernels; None if no centre exists at all, or if nothing may move. ``everywhere``: as if all columns
    had their room, whatever the centre."""
    model = problem.model
    if problem.trouble is not None or not isinstance(model, TreeEnsemble):
        return None
    space, n = problem.space, model.info.n_features
    idle = np.clip(problem.factual, *problem.centers)
    blocks = _Blocks(problem, forest, model)
    if Choices(problem).settle(idle) is not None or not blocks.add_groups(idle):
        return None
    below, above, below_cost, above_cost = _sides(problem, forest, idle, blocks, everywhere)
    blocks.add_columns(idle)
    if not blocks.columns:
        return None
    most = problem.conditions.most_changes
    already = problem.changed(idle)
    settled = already.copy()
    already[[len(space.names) + g for g in blocks.moving]] = False
    home = np.concatenate([idle, np.zeros(forest.n_columns - n)])
    for column, value in blocks.set_home.items():
        home[column] = value
    home_cost = np.zeros(forest.n_columns)
    single = np.flatnonzero(space.group_of < 0)
    home_cost[single] = costs_of(problem, single, idle[single])
    in_block = np.zeros(n, np.bool_)
    for columns in blocks.columns:
        in_block[[f for f in columns if f < n]] = True
    rest = [float(home_cost[f]) for f in single if not in_block[f]] + blocks.constants
    width = np.zeros(forest.n_columns)
    if problem.walls.on is On.ALL:
        width[:n] = problem.walls.down + problem.walls.up
    counts = [
        1 if group else 1 - int(settled[columns[0]])
        for columns, group in zip(blocks.columns, blocks.is_group, strict=True)
    ]
    users = [
        np.unique(np.concatenate([forest.user[forest.user_start[f] : forest.user_start[f + 1]] for f in columns]))
        for columns in blocks.columns
    ]
    return Asked(
        below=below,
        above=above,
        below_cost=below_cost,
        above_cost=above_cost,
        home=home,
        home_cost=home_cost,
        block_start=_starts(len(columns) for columns in blocks.columns),
        block_column=np.array([f for columns in blocks.columns for f in columns], dtype=np.int64),
        is_group=np.array(blocks.is_group, dtype=np.int64),
        counts=np.array(counts, dtype=np.int64),
        choices=np.array([len(cost) for cost in blocks.cost], dtype=np.int64),
        choice_start=_starts(len(cost) for cost in blocks.cost)[:-1],
        choice_cost=np.array([c for cost in blocks.cost for c in cost], dtype=np.float64),
        choice_at=_starts(value.size for value in blocks.value)[:-1],
        choice_value=np.concatenate([np.zeros(0), *(value.ravel() for value in blocks.value)]),
        home_choice=np.array(blocks.home_choice, dtype=np.int64),
        user_start=_starts(user.size for user in users),
        user=np.concatenate(users).astype(np.int64),
        width=width,
        norm=COSTS.MAXIMUM if problem.distance is Distance.LINF else COSTS.ADDITIVE,
        constant=max([0.0, *rest]) if problem.distance is Distance.LINF else float(sum(rest)),
        changes=(len(space.names) if most is None else min(most, len(space.names))) - int(already.sum()),
    )  # fmt: skip


def _starts(sizes: object) -> Ints:
    return np.cumsum([0, *sizes], dtype=np.int64)  # type: ignore[misc]


class _Blocks:
    """What may move, collected: one-hot groups first, then single columns."""

    def __init__(self, problem: RecourseProblem, forest: Forest, model: TreeEnsemble) -> None:
        self._problem, self._forest, self._model = problem, forest, model
        self.columns: list[list[int]] = []
        self.is_group: list[int] = []
        self.cost: list[list[float]] = []
        self.value: list[Floats] = []
        self.home_choice: list[int] = []
        self.moving: list[int] = []  # groups of the space
        self.constants: list[float] = []
        self.set_home: dict[int, float] = {}  # columns of splits by category, as they are at home
        self.both: set[int] = set()  # columns of which the room covers both values

    def add_groups(self, idle: Floats) -> bool:
        """False if a group has no category left. Sets their columns in ``idle``."""
        problem, space = self._problem, self._problem.space
        price = problem.metric.group_price ** power_of(problem)
        lower, upper = problem.centers
        for g, members in enumerate(space.members):
            allowed = allowed_categories(lower[members], upper[members])
            in_room = allowed_categories(problem.lower[members], problem.upper[members])
            if not allowed.any():
                return False
            factual = int(np.argmax(problem.factual[members]))
            chosen = factual if allowed[factual] else int(np.argmax(allowed))
            idle[members] = np.eye(members.size)[chosen]
            splits, sides = self._splits(members)
            free = g in problem.walls.free_groups
            for column, side in zip(splits, sides, strict=True):
                self.set_home[column] = float(side[chosen])
                if free and len(set(side[in_room].tolist())) > 1:
                    self.both.add(column)
            columns = [int(f) for f in members] + splits
            used = any(self._forest.user_start[f + 1] > self._forest.user_start[f] for f in columns)
            if free or not used or int(allowed.sum()) == 1:
                self.constants.append(float(price[g]) if chosen != factual else 0.0)
                continue
            choices = np.flatnonzero(allowed)
            rows = np.concatenate([np.eye(members.size)[choices], *[side[choices][:, None] for side in sides]], axis=1)
            self.columns.append(columns)
            self.is_group.append(1)
            self.cost.append([0.0 if c == factual else float(price[g]) for c in choices])
            self.value.append(rows)
            self.home_choice.append(int(np.flatnonzero(choices == factual)[0]) if allowed[factual] else -1)
            self.moving.append(g)
        return True

    def _splits(self, members: Ints) -> tuple[list[int], list[Floats]]:
        """Columns of the splits by category that ask for this group, and on which side of each every member is."""
        sets, n = self._model.sets, self._model.info.n_features
        if sets is None:
            return [], []
        mine = np.flatnonzero((sets.left | sets.right)[:, members].any(axis=1))
        return [n + int(s) for s in mine], [sets.right[s, members].astype(np.float64) for s in mine]

    def add_columns(self, idle: Floats) -> None:
        """Single columns with a split that have more than one place to be."""
        problem, start = self._problem, self._forest.user_start
        lower, upper = problem.centers
        for f in range(idle.size):
            alone = problem.space.group_of[f] < 0
            if alone and start[f + 1] > start[f] and lower[f] < upper[f]:
                self.columns.append([f])
                self.is_group.append(0)
                self.cost.append([])
                self.value.append(np.zeros(0))
                self.home_choice.append(-1)


def _sides(
    problem: RecourseProblem, forest: Forest, idle: Floats, blocks: _Blocks, everywhere: bool
) -> tuple[Floats, Floats, Floats, Floats]:
    """below, above and their costs, node by node."""
    n, size = idle.size, len(forest.feature)
    below, above = np.full(size, -np.inf), np.full(size, np.inf)
    below_cost, above_cost = np.full(size, np.inf), np.full(size, np.inf)
    group = np.append(
        problem.space.group_of >= 0, np.ones(forest.n_columns - n + 1, np.bool_)
    )  # the last is a leaf's -1
    inner = forest.feature >= 0
    # a group takes one of its categories: x <= cut or x > cut, unless it is free and both are in the room
    body = problem.body(idle)
    fixed = np.flatnonzero(inner & group[forest.feature])
    column, cut = forest.feature[fixed], forest.cut[fixed]
    both = np.zeros(forest.n_columns, np.bool_)
    both[list(blocks.both)] = True
    for members in body.free_groups:
        both[members] = body.lower[members] < body.upper[members]
    below[fixed], above[fixed] = np.where(both[column], -np.inf, cut), np.where(both[column], np.inf, next_up(cut))
    # single columns
    single = np.flatnonzero(inner & ~group[forest.feature])
    of: Ints = forest.feature[single].astype(np.int64)
    cut = forest.cut[single]
    room = Room(problem)
    if everywhere:
        room.on = On.ALL
    for at_center, where in ((0, room), (1, room.of_points())):
        mine = np.flatnonzero(np.isfinite(cut) & (forest.at_center[single] == at_center))
        if mine.size:
            _single_sides(
                problem, where, idle, of[mine], cut[mine], single[mine], (below, above, below_cost, above_cost)
            )
    infinite = ~np.isfinite(cut)  # splits on what is missing: decided
    below[single[infinite & (cut > 0)]], above[single[infinite & (cut < 0)]] = np.inf, -np.inf
    return below, above, below_cost, above_cost


def _single_sides(
    problem: RecourseProblem, room: Room, idle: Floats, of: Ints, cut: Floats, nodes: Ints,
    sides: tuple[Floats, Floats, Floats, Floats],
) -> None:  # fmt: skip
    """Fill in below, above and their costs for nodes with a finite cut of a single column."""
    below, above, below_cost, above_cost = sides
    low, high, low_end, high_end = ends_at_home(room, np.arange(idle.size), idle)
    for right, exists, at_home, values, costs in (
        (True, cut < low_end[of], low[of] > cut, above, above_cost),
        (False, cut >= high_end[of], high[of] <= cut, below, below_cost),
    ):
        at = np.flatnonzero(exists)
        found = _allowed(problem, of[at], _beyond(room, of[at], cut[at], idle, right), right)
        values[nodes[at]] = found
        inside = np.isfinite(found) & (found >= room.first[of[at]]) & (found <= room.last[of[at]])
        costs[nodes[at[inside]]] = costs_of(problem, of[at[inside]], found[inside])
        there, home = nodes[at_home], idle[of[at_home]]
        nearer = values[there] > home if right else values[there] < home
        values[there[nearer]] = home[nearer]
        costs[there[nearer]] = costs_of(problem, of[at_home][nearer], home[nearer])


def _beyond(room: Room, column: Ints, cut: Floats, idle: Floats, right: bool) -> Floats:
    """The nearest centre whose room lies right (left) of each cut; with on="kept", of those that are not home, which are points."""
    if room.on is not On.KEPT:
        return right_of(room, column, cut) if right else left_of(room, column, cut)
    keeps = idle[column] == room.factual[column]
    if right:
        least = np.where(keeps, room.above[column], idle[column])
        return np.asarray(np.maximum(least, next_value(cut, room.whole_center[column])))
    return np.asarray(np.minimum(np.where(keeps, room.below[column], idle[column]), cut))


def _allowed(problem: RecourseProblem, column: Ints, found: Floats, right: bool) -> Floats:
    """The next allowed values from there on, where only some are."""
    domains, (lower, upper) = problem.conditions.domains, problem.centers
    for f in {domain.column for domain in domains}:
        values = Values(tuple(d for d in domains if d.column == f), bool(problem.space.whole_center[f]))
        mine = np.flatnonzero((column == f) & np.isfinite(found))
        found[mine] = values.nearest_of(found[mine], right, float(upper[f] if right else lower[f]))
    return found
