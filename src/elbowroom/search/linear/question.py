"""A linear question reduced to what can move and what it moves.

Columns: one per single feature that matters and can move, then one per one-hot group (0: the factual category, 1: any
other one). All values are kept relative to the factual, so that huge offsets cancel exactly once, here.

Rows: base_j + (what the moves add) >= needed_j. Model rows must hold at every point of the room, rule rows at the
centre only. With a_f = |w_f|, e_f = sign(w_f) (c_f - factual_f), t_f the shift towards the bad side and k_f the edge of
the limits on that side (also relative to the factual), column f adds  a_f max(e_f - t_f, k_f)  to its row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from elbowroom.models.linear import LinearModel
from elbowroom.models.margins import AffineMargins, linear_margins
from elbowroom.numerics import Bools, Floats, Ints, exact_dot
from elbowroom.problem.categories import allowed_categories
from elbowroom.problem.problem import RecourseProblem
from elbowroom.problem.shapes import Shape, is_round
from elbowroom.search.linear.ladder import Ladder
from elbowroom.search.linear.limits import LESS_ERROR
from elbowroom.search.linear.slanted import least_factor


@dataclass(frozen=True, eq=False)
class GroupColumn:
    """A one-hot group that may change its category."""

    members: Ints  # column positions
    current: int  # index into members of the factual category
    others: Ints  # indices into members of the other categories that the limits allow
    weight: Floats  # (rows, others)
    current_weight: Floats  # (rows,)

    @cached_property
    def delta(self) -> Floats:
        """(rows, others): what the change adds to each row."""
        return self.weight - self.current_weight[:, None]


@dataclass(frozen=True, eq=False)
class Question:
    """All arrays over columns have singles first, then groups."""

    problem: RecourseProblem
    margins: AffineMargins
    singles: Ints
    groups: tuple[GroupColumn, ...]
    start: Floats  # factual value; 0 for groups
    factor: Floats  # price of one unit
    lower: Floats  # of the centre
    upper: Floats
    room_lower: Floats  # what the room is clipped to
    room_upper: Floats
    whole: Bools
    weight: Floats  # (rows, columns), 0 in group columns
    exact_base: tuple[Fraction, ...]  # (rows,): value at the factual
    base: Floats  # the same, rounded
    needed: Floats  # (rows,): a lower bound on what any valid centre must reach
    n_model_rows: int
    shape: Shape
    axes_down: Floats
    axes_up: Floats
    most_changes: int | None
    default: Floats  # full-width point that the columns are written into
    slant: Floats | None = None  # (moves, columns): the distance is a norm of slant . (values - start); see `slanted`
    ladders: tuple[Ladder, ...] = ()  # what moves of each column cost, if any has a price of its own; see `priced`

    @property
    def n_rows(self) -> int:
        return self.base.size

    @property
    def n_columns(self) -> int:
        return self.start.size

    def center(self, values: Floats, categories: tuple[int, ...]) -> Floats:
        """The full-width centre; ``categories[i]`` picks among ``others`` where group column i is 1."""
        point = self.default.copy()
        point[self.singles] = values[: self.singles.size]
        for i, group in enumerate(self.groups):
            if values[self.singles.size + i] > 0.5:
                point[group.members] = 0.0
                point[group.members[group.others[categories[i]]]] = 1.0
        return point

    def strict_need(self, center: Floats) -> Floats:
        """What the judge will ask of each row at this centre, with a little to spare for its own rounding."""
        body = self.problem.body(center)
        magnitude = np.maximum(np.abs(body.lower), np.abs(body.upper))
        error = self.margins.affine.error(magnitude)
        need = self.needed.copy()
        need[: self.n_model_rows] = self.margins.slack + 1.25 * error
        return need


@dataclass(frozen=True)
class Hopeless:
    """No centre exists; the reason is human-readable."""

    reason: str


def read_question(problem: RecourseProblem, model: LinearModel) -> Question | Hopeless:
    """Fold rules, limits, walls and groups into rows and columns."""
    if problem.trouble is not None:
        return Hopeless(problem.trouble)
    space, factual = problem.space, problem.factual
    first, last = problem.centers
    margins = linear_margins(model, problem.target_index, problem.target.need)
    weights, biases, needs, n_model = _rows(problem, margins)
    grouped = space.group_of >= 0
    forced = (factual < first) | (factual > last)
    matters = (weights != 0).any(axis=0) | (problem.metric.slant is not None)  # others may make a move cheaper
    useful = matters & (problem.lower < problem.upper)
    singles = np.flatnonzero(~grouped & (useful | forced))
    base = [Fraction(float(b)) for b in biases]
    for j in range(len(base)):
        base[j] += exact_dot(weights[j, ~grouped], factual[~grouped])
    groups: list[GroupColumn] = []
    prices: list[float] = []
    must: list[bool] = []
    for g, members in enumerate(space.members):
        allowed = allowed_categories(first[members], last[members])
        if not allowed.any():
            return Hopeless(f"one-hot group {space.groups[g].name!r}: its bounds allow no category")
        current = int(np.argmax(factual[members]))
        part = weights[:, members].copy()
        if g in problem.walls.free_groups:  # the room takes every category, so the worst one counts
            taken = allowed_categories(problem.lower[members], problem.upper[members])
            part[:n_model] = part[:n_model, taken].min(axis=1, keepdims=True)
        for j in range(len(base)):
            base[j] += Fraction(float(part[j, current]))
        others = np.flatnonzero(allowed & (np.arange(members.size) != current))
        column = GroupColumn(members, current, others, part[:, others], part[:, current])
        if others.size and (column.delta.any() or not allowed[current]):
            groups.append(column)
            prices.append(float(problem.metric.group_price[g]))
            must.append(not allowed[current])
    n, k = singles.size, len(groups)
    zeros = np.zeros(k)
    # one column says both: how the centre branches and which steps the adversary takes
    assert np.array_equal(space.whole_center, space.whole_room)
    whole = np.concatenate([space.whole_center[singles], np.ones(k, dtype=np.bool_)])
    down, up = (np.concatenate([wall[singles], zeros]) for wall in (problem.walls.down, problem.walls.up))
    if not is_round(problem.walls.shape):  # from a whole centre only whole steps are inside
        down, up = np.where(whole, np.floor(down), down), np.where(whole, np.floor(up), up)
    factor, slant, ladders = _prices(problem, singles, np.array(prices))
    return Question(
        problem=problem,
        margins=margins,
        singles=singles,
        groups=tuple(groups),
        start=np.concatenate([factual[singles], zeros]),
        factor=factor,
        lower=np.concatenate([first[singles], np.array(must, dtype=np.float64)]),
        upper=np.concatenate([last[singles], np.ones(k)]),
        room_lower=np.concatenate([problem.lower[singles], np.array(must, dtype=np.float64)]),
        room_upper=np.concatenate([problem.upper[singles], np.ones(k)]),
        whole=whole,
        weight=np.hstack([weights[:, singles], np.zeros((len(base), k))]).reshape(len(base), n + k),
        exact_base=tuple(base),
        base=np.array([float(b) for b in base]),
        needed=needs,
        n_model_rows=n_model,
        shape=problem.walls.shape,
        axes_down=down,
        axes_up=up,
        most_changes=problem.conditions.most_changes,
        default=factual.copy(),
        slant=slant,
        ladders=ladders,
    )


def _prices(
    problem: RecourseProblem, singles: Ints, groups: Floats
) -> tuple[Floats, Floats | None, tuple[Ladder, ...]]:
    """What a unit of each column costs (with a slant: at least; with a price of its own: about), the slant, and ladders."""
    metric, n = problem.metric, singles.size
    factor = np.concatenate([metric.factor[singles], groups])
    if metric.slant is not None:
        numbers = np.flatnonzero(problem.space.group_of < 0)
        slant = np.zeros((numbers.size + groups.size, n + groups.size))
        slant[: numbers.size, :n] = metric.slant[np.ix_(numbers, singles)]
        slant[numbers.size :, n:] = np.diag(groups)
        return least_factor(slant, problem.distance), slant, ()
    if not any(int(f) in metric.priced for f in singles):
        return factor, None, ()
    ladders = [Ladder.straight(float(price)) for price in factor]
    first, last = problem.centers
    for i, f in enumerate(map(int, singles)):
        if f in metric.priced:
            now = float(problem.factual[f])
            ladders[i] = Ladder.of(metric.pieces(f, now, True), metric.pieces(f, now, False))
            factor[i] = ladders[i].typical(first[f] - now, last[f] - now)
    return factor, None, tuple(ladders)


def _rows(problem: RecourseProblem, margins: AffineMargins) -> tuple[Floats, Floats, Floats, int]:
    """Weights, biases and needs: model rows first, then both sides of every row of the conditions."""
    nearest_zero = np.where(
        (problem.lower > 0) | (problem.upper < 0), np.minimum(np.abs(problem.lower), np.abs(problem.upper)), 0.0
    )
    error = margins.affine.error_slope @ nearest_zero + margins.affine.error_constant
    weights, biases = [*margins.affine.weight], [*margins.affine.bias]
    needs = [*(margins.slack + error * (1.0 - LESS_ERROR))]
    for row in problem.conditions.rows:
        for sign, limit in ((1.0, row.low), (-1.0, -row.high)):
            if np.isfinite(limit):
                weights.append(sign * row.coefficients)
                biases.append(0.0)
                needs.append(limit)
    return np.array(weights), np.array(biases), np.array(needs), margins.slack.size
