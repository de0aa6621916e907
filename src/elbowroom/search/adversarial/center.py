"""The centre as columns of a master program: limits, whole numbers, one-hot groups, rules and the distance.

Every column is bounded by the limits and by ``reach``: no centre within distance ``reach`` of the factual lies outside
factual_f -+ reach / factor_f. All big-M constants of the encodings come from these bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import NONZERO, Floats, Ints
from elbowroom.problem import Distance, RecourseProblem, allowed_categories
from elbowroom.problem.causes import settled
from elbowroom.problem.conditions import ROW_SLACK
from elbowroom.problem.slant import unslanted
from elbowroom.search.adversarial.limits import FACTUAL_SHARE, HARDLY_MOVED, PRODUCT_ROUNDING, ROOT_ROUNDING
from elbowroom.search.adversarial.master import Master, Stance
from elbowroom.search.program import Builder, NormRow
from elbowroom.search.solvers.tolerances import EPSILONS


@dataclass(frozen=True, eq=False)
class CenterBlock:
    """Columns of the centre, with their bounds."""

    columns: Ints
    lower: Floats
    upper: Floats

    def master(self, builder: Builder, problem: RecourseProblem) -> Master:
        """The finished program, whose objective is the distance itself."""
        size = builder.n_columns

        def settle(center: Floats) -> Floats:
            start = np.full(size, np.nan)
            start[self.columns] = center
            return start

        return Master(builder.program(), lambda x: tidy(problem, x[self.columns]), settle, lambda v: v, lambda d: d)


def bounds_within(problem: RecourseProblem, reach: float) -> tuple[Floats, Floats]:
    """Where a centre within distance ``reach`` may lie (rounded outwards slightly)."""
    lower, upper = (side.copy() for side in problem.centers)
    single = np.flatnonzero(problem.space.group_of < 0)
    length = reach * (1.0 + EPSILONS.outwards) * _longest_steps(problem, single)
    length = length + EPSILONS.outwards * np.abs(problem.factual[single]) * FACTUAL_SHARE
    lower[single] = np.maximum(lower[single], problem.factual[single] - length)
    upper[single] = np.minimum(upper[single], problem.factual[single] + length)
    whole = single[problem.space.whole_center[single]]
    lower[whole], upper[whole] = np.ceil(lower[whole]), np.floor(upper[whole])
    return lower, upper


def _longest_steps(problem: RecourseProblem, single: Ints) -> Floats:
    """How far each column goes, at most, if no move is longer than 1."""
    slant = problem.metric.slant
    if slant is None:
        return 1.0 / problem.metric.factor[single]
    return np.asarray(np.abs(unslanted(slant, single)).sum(axis=1)) * (1.0 + EPSILONS.outwards)


def _slant(problem: RecourseProblem, single: Ints) -> Floats:
    """Moves as linear forms of the columns of numbers: diagonal, unless there are causes or a covariance."""
    slant = problem.metric.slant
    return np.diag(problem.metric.factor[single]) if slant is None else slant[np.ix_(single, single)]


def farthest(problem: RecourseProblem) -> float:
    """The largest distance of any centre within the limits; inf if a column is unlimited."""
    lower, upper = problem.centers
    single = problem.space.group_of < 0
    span = np.maximum(np.abs(lower - problem.factual), np.abs(upper - problem.factual))
    if not np.isfinite(span[single]).all():
        return math.inf
    longest = np.abs(_slant(problem, np.flatnonzero(single))) @ span[single]
    moves = np.concatenate([longest, problem.metric.group_price])
    return problem.distance.norm(moves) * (1.0 + EPSILONS.outwards)


def add_groups(builder: Builder, problem: RecourseProblem, columns: Ints) -> None:
    """Exactly one member of every one-hot group is 1."""
    for members in problem.space.members:
        builder.row(columns[members], 1.0, 1.0, 1.0)


def add_center(builder: Builder, problem: RecourseProblem, reach: float, stance: Stance) -> CenterBlock:
    """Columns x, their rules and the distance as objective; min distance = the program's objective."""
    lower, upper = bounds_within(problem, reach)
    n = problem.factual.size
    columns = builder.columns(n, lower, upper, problem.space.whole_center)
    add_groups(builder, problem, columns)
    single = np.flatnonzero(problem.space.group_of < 0)
    slant, factual = _slant(problem, single), problem.factual[single]
    most = np.abs(slant) @ np.maximum(np.abs(upper[single] - factual), np.abs(lower[single] - factual))
    price = 1.0 if problem.distance is Distance.L1 else 0.0
    moves = builder.columns(single.size, 0.0, np.maximum(most, 0.0) * (1.0 + EPSILONS.outwards), cost=price)
    rows, (of, at) = np.arange(single.size), np.nonzero(slant)
    for sign in (1.0, -1.0):
        builder.block(
            np.concatenate([rows, of]),
            np.concatenate([moves, columns[single[at]]]),
            np.concatenate([np.ones(single.size), -sign * slant[of, at]]),
            -sign * (slant @ factual) - _slack(np.abs(slant) @ np.abs(factual)),
            np.full(single.size, np.inf),
        )
    current = np.array([columns[m[np.argmax(problem.factual[m])]] for m in problem.space.members], dtype=np.int64)
    _add_distance(builder, problem, moves, current, most)
    _add_rows(builder, problem, columns, np.maximum(np.abs(lower), np.abs(upper)), stance)
    _add_at_most(builder, problem, moves, most, current)
    return CenterBlock(columns, lower, upper)


def _slack(size: Floats) -> Floats:
    """Rounding of the products in a row, given away so that the program stays a relaxation."""
    return PRODUCT_ROUNDING * np.abs(size)


def _add_distance(builder: Builder, problem: RecourseProblem, moves: Ints, current: Ints, most: Floats) -> None:
    price = problem.metric.group_price
    longest = problem.distance.norm(np.concatenate([most, price])) * (1.0 + EPSILONS.outwards)
    if problem.distance is Distance.L1:
        total = builder.columns(current.size, 0.0, 1.0, cost=price)
        for t, x in zip(total, current, strict=True):
            builder.row([t, x], [1.0, 1.0], 1.0)
        return
    t = int(builder.columns(1, 0.0, longest, cost=1.0)[0])
    if problem.distance is Distance.LINF:
        for m in moves:
            builder.row([t, m], [1.0, -1.0], 0.0)
        for p, x in zip(price, current, strict=True):
            builder.row([t, x], [1.0, p], p)
        return
    columns = np.concatenate([moves, current])
    weight = np.concatenate([np.ones(moves.size), -price])
    offset = np.concatenate([np.zeros(moves.size), -price])
    builder.norms.append(NormRow(columns, weight, offset, t))
    # the l1 norm over sqrt(k) and the largest move are below the l2 norm: a good start for tangents
    for m in moves:
        builder.row([t, m], [1.0, -1.0], 0.0)
    k = math.sqrt(max(columns.size, 1)) * (1.0 + ROOT_ROUNDING)
    builder.row(np.append(columns, t), np.append(-weight, k), -float(offset.sum()))


def _add_rows(builder: Builder, problem: RecourseProblem, columns: Ints, biggest: Floats, stance: Stance) -> None:
    """A row of the conditions holds up to a share of its terms: a proof grants twice that, a candidate does not ask."""
    for row in problem.conditions.rows:
        used = np.flatnonzero(row.coefficients)
        values = row.coefficients[used]
        granted = 2.0 * ROW_SLACK * float(np.abs(values) @ biggest[used]) if stance is Stance.PROVE else 0.0
        builder.row(columns[used], values, row.low - granted, row.high + granted)


def _add_at_most(builder: Builder, problem: RecourseProblem, moves: Ints, most: Floats, current: Ints) -> None:
    limit = problem.conditions.most_changes
    if limit is None:
        return
    changed = builder.columns(moves.size, 0.0, 1.0, True)
    for c, m, biggest in zip(changed, moves, most, strict=True):
        builder.row([m, c], [1.0, -float(biggest) * (1.0 + EPSILONS.outwards)], -np.inf, 0.0)
    row = np.concatenate([changed, current])
    values = np.concatenate([np.ones(changed.size), -np.ones(current.size)])
    builder.row(row, values, -np.inf, float(limit) - current.size)


def tidy(problem: RecourseProblem, x: Floats) -> Floats:
    """A solver's centre as an admissible one, if rounding suffices: whole, one-hot, within the limits, and with
    columns that hardly moved put back to the factual."""
    center = np.where(problem.space.whole_center, np.round(x), x)
    if problem.space.causes is not None:
        center = settled(problem.space.causes, problem.space.names, problem.space.whole_center, problem.factual, center)
    move = problem.metric.factor * np.abs(center - problem.factual)
    home = (problem.space.group_of < 0) & (move <= EPSILONS.unmoved * max(NONZERO, float(move.max(initial=0.0))))
    if problem.metric.slant is None:
        center = np.where(home, problem.factual, center)
    lower, upper = problem.centers
    center = np.clip(center, lower, upper)
    for members in problem.space.members:
        allowed = allowed_categories(lower[members], upper[members])
        pick = int(np.argmax(np.where(allowed, x[members], -np.inf)))
        center[members] = np.eye(members.size)[pick]
    limit = problem.conditions.most_changes
    if limit is not None:
        every = problem.metric.moves(problem.factual, center)
        moves, groups = every[: center.size], int((every[center.size :] > 0).sum())
        rounding = EPSILONS.unmoved * problem.metric.factor * np.abs(problem.factual)  # of a column that did not move
        hardly = np.maximum(rounding, HARDLY_MOVED * max(NONZERO, float(every.max())))
        order = np.argsort(-moves)
        for f in order[max(limit - groups, 0) :]:
            if problem.space.group_of[f] < 0 and moves[f] <= hardly[f]:
                center[f] = float(np.clip(problem.factual[f], lower[f], upper[f]))
    return center + 0.0
