"""The closest common move for a linear model: branch and bound over boxes of moves.

Row i and rival j ask: sum_f w_jf end_f(m_f) + b_j >= slack_j, where end_f is the bad end of the box around x_if + m_f, clipped to the
limits of the row. Each term is convex in m_f with one kink, where clipping begins; on an interval of moves its chord is above
it. With chords the program is a linear one whose optimum bounds all moves of the box. Where a chord is above its term at the
optimum, the box is cut at the kink; where a whole column is not whole, between two whole numbers.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from itertools import count
from typing import Final

import numpy as np

from elbowroom.models import LinearModel
from elbowroom.models.margins import linear_margins
from elbowroom.numerics import EPS, Floats
from elbowroom.search.contract import Clock, Ending
from elbowroom.search.group.members import Members, Serve
from elbowroom.search.linear.least import LeastMoves, Rows

METHOD = "common move: linear"
TOLERANCE: Final = 1e-9
EXTRA: Final = (0.0, 1e-13, 1e-11, 1e-9)  # what candidates ask beyond the need, as a share of the numbers in a row
NOTICEABLE: Final = 1e-12  # of the numbers in a row: a chord that is this much above its term is worth a cut
WHOLE: Final = 1e-7


@dataclass(frozen=True, eq=False)
class _Chords:
    """Rows over moves in a box, and where they could be cut."""

    slope: Floats  # (rows, columns)
    need: Floats  # (rows,)
    size: Floats  # (rows,): of the numbers in them


class LinearMoves:
    """The rows of some members."""

    def __init__(self, members: Members, among: tuple[int, ...]) -> None:
        first, model = members.first, members.first.model
        assert isinstance(model, LinearModel)
        margins = linear_margins(model, first.target_index, first.target.need)
        walls, whole, chosen = first.walls, members.whole, list(among)
        down, up = (np.where(whole, np.floor(wall), wall) for wall in (walls.down, walls.up))
        self.members, self.among = members, among
        W, k, R = margins.affine.weight, len(chosen), margins.slack.size
        self.weight = np.tile(W, (k, 1))  # row i * R + j
        x = np.repeat(members.rows[chosen], R, axis=0)
        lower = np.repeat([members.problems[i].lower for i in chosen], R, axis=0)
        upper = np.repeat([members.problems[i].upper for i in chosen], R, axis=0)
        falls = self.weight > 0  # the bad end is the lower one
        self.start = np.where(falls, x - down, x + up)  # of the bad end, at no move
        self.edge = np.where(falls, lower, upper)  # where it is clipped
        self.kink = self.edge - self.start
        self.bias, self.slack = np.tile(margins.affine.bias, k), np.tile(margins.slack, k)
        self.factor = members.metric.factor

    def ends(self, move: Floats) -> Floats:
        """What each column adds to each row, at a move."""
        end = self.start + move
        clipped = np.where(self.weight > 0, np.maximum(end, self.edge), np.minimum(end, self.edge))
        return np.where(self.weight == 0.0, 0.0, self.weight * clipped)

    def chords(self, low: Floats, high: Floats) -> _Chords:
        inside = (self.kink > low) & (self.kink < high) & (self.weight != 0.0)
        free = np.where(self.weight > 0, self.kink <= low, self.kink >= high)  # never clipped in the box
        slope = np.where(free, self.weight, 0.0)
        at = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
        value = np.where(free, self.weight * (self.start + at), self.ends(at))
        with np.errstate(invalid="ignore", over="ignore"):
            steep = (self.ends(high) - self.ends(low)) / (high - low)
        steep = np.where(np.isfinite(high) & np.isfinite(low), steep, self.weight)
        slope = np.where(inside, steep, slope)
        slope = np.where(self.weight == 0.0, 0.0, slope)
        value = np.where(self.weight == 0.0, 0.0, value)
        terms = value - slope * at
        need = self.slack - self.bias - terms.sum(axis=1)
        reach = np.abs(self.weight) * (np.abs(self.start) + np.where(np.isfinite(self.edge), np.abs(self.edge), 0.0))
        return _Chords(slope, need, reach.sum(axis=1) + np.abs(self.bias) + np.abs(terms).sum(axis=1))

    def worst_chord(self, chords: _Chords, move: Floats, low: Floats, high: Floats) -> tuple[int, float] | None:
        """The column and the kink at which the box is cut; None if all chords touch."""
        at = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
        inside = (self.kink > low) & (self.kink < high) & (self.weight != 0.0)
        above = self.ends(at) + chords.slope * (move - at) - self.ends(move)
        above = np.where(inside, above, 0.0)
        if not (above > NOTICEABLE * chords.size[:, None]).any():
            return None
        row, f = np.unravel_index(int(np.argmax(above)), above.shape)
        return int(f), float(self.kink[row, f])


def closest_linear_move(
    members: Members, among: tuple[int, ...], serve: Serve, clock: Clock
) -> tuple[Ending, Floats | None]:
    """The ending, and the closest move that serves all of these rows."""
    asked, wanted = LinearMoves(members, among), frozenset(among)
    least, whole = LeastMoves(members.first.distance), members.whole
    best, found, order = math.inf, None, count()
    low, high = members.limits(among)
    if (low > high).any():
        return Ending(METHOD, math.inf, "no move keeps all rows within their limits"), None
    heap: list[tuple[float, int, Floats, Floats]] = [(0.0, next(order), low, high)]
    settled = math.inf
    while heap and not clock.expired and heap[0][0] < (1.0 - TOLERANCE) * best:
        bound, _, low, high = heapq.heappop(heap)
        chords, moves = asked.chords(low, high), None
        for extra in EXTRA:
            factor = np.where(asked.factor > 0.0, asked.factor, 1.0)
            A = chords.slope / factor
            doubt = 64.0 * EPS * chords.size
            rows = Rows(A, chords.need + extra * chords.size, doubt, np.ones(len(A), np.bool_), A)
            answer = least.solve(rows, low * factor, high * factor, max(clock.remaining, 0.0))
            if extra == 0.0:
                bound = max(bound, answer.bound)
            if answer.moves is None:
                break
            move = np.clip(np.where(whole, np.round(answer.moves / factor), answer.moves / factor), low, high) + 0.0
            moves = answer.moves / factor if moves is None else moves
            length = members.metric(np.zeros(move.size), move)
            if length < best and wanted <= serve(move):
                best, found = length, move
                break
        if moves is None:
            settled = min(settled, bound)
            continue
        if bound >= (1.0 - TOLERANCE) * best:
            settled = min(settled, bound)
            continue
        broken = np.flatnonzero(whole & (np.abs(moves - np.round(moves)) > WHOLE) & (high > low))
        cut = asked.worst_chord(chords, moves, low, high)
        if broken.size:
            f = int(broken[0])
            sides = (math.floor(moves[f]), math.floor(moves[f]) + 1.0)
        elif cut is not None:
            f, at = cut
            sides = (math.floor(at), math.floor(at) + 1.0) if whole[f] else (at, at)
        else:
            settled = min(settled, bound)
            continue
        for side, value in enumerate(sides):
            part_low, part_high = low.copy(), high.copy()
            if side == 0:
                part_high[f] = min(part_high[f], value)
            else:
                part_low[f] = max(part_low[f], value)
            if part_low[f] <= part_high[f]:
                heapq.heappush(heap, (bound, next(order), part_low, part_high))
    lower_bound = min([settled, *(entry[0] for entry in heap)])
    reason = "" if found is not None else (
        "no move within the limits serves all of these rows" if math.isinf(lower_bound) else "the time limit was reached, or rounding decides"
    )  # fmt: skip
    return Ending(METHOD, min(lower_bound, best) if found is not None else lower_bound, reason, TOLERANCE), found
