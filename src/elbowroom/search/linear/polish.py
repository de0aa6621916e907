"""From a nearly valid centre to the closest valid one around it that the judge accepts.

With the whole numbers and categories fixed, the worst value of a row, G(c) = w.c + b - R(c), is convex in the centre
(R is concave in the caps). A tangent of G therefore bounds it from below: centres that satisfy the tangents of all rows
satisfy the rows. Minimizing the distance over tangents and starting again at the answer descends to a local optimum
(convex-concave procedure). Rounding is repaired by asking the measured deficit in addition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import EPS, Floats
from elbowroom.result.certificate import Certificate, Counterexample, Inadmissible, Undecided
from elbowroom.search.contract import Accept, Clock
from elbowroom.search.linear.adversary import Adversary
from elbowroom.search.linear.least import LeastMoves, Rows
from elbowroom.search.linear.limits import (
    ENOUGH,
    MOST_REFUSALS,
    MOST_ROUNDS,
    NEXT_TO_NOTHING,
    ROW_ROUNDING,
    SAME_CONSTANT,
    SAME_SLOPE,
)
from elbowroom.search.linear.question import Question


@dataclass(frozen=True, eq=False)
class Found:
    """An accepted centre, over the columns of the question."""

    distance: float
    values: Floats


@dataclass(frozen=True, eq=False)
class _Tangent:
    row: int
    slope: Floats  # over columns, in raw units of the centre
    constant: float  # value of the columns at the factual
    size: float  # of the numbers in it, for telling rounding from difference


class Polisher:
    def __init__(
        self, question: Question, adversaries: list[Adversary], least: LeastMoves, accept: Accept, clock: Clock
    ) -> None:
        self.question = question
        self.adversaries = adversaries
        self.least = least
        self.accept = accept
        self.clock = clock
        self.refused = 0
        self.undecided = False  # the judge ran out of time at least once

    def polish(
        self,
        values: Floats,
        categories: tuple[int, ...],
        lower: Floats,
        upper: Floats,
        unit: Floats,
        good_enough: float,
        hopeless: float,
    ) -> Found | None:
        """``lower == upper`` where a column is fixed. Stops at ``good_enough``, gives up above ``hopeless``."""
        q = self.question
        fixed_gain = np.array(
            [
                sum(
                    group.delta[j, categories[i]]
                    for i, group in enumerate(q.groups)
                    if values[q.singles.size + i] > 0.5
                )
                for j in range(q.n_rows)
            ]
        )
        best: Found | None = None
        single = bool((lower == upper).all())
        spare = np.zeros(q.n_rows)  # asked of the program beyond the need, against rounding
        wary = np.zeros(q.n_rows)  # asked in addition since the judge refused
        tangents: list[_Tangent] = []
        refusals = 0
        for _ in range(MOST_ROUNDS):
            if self.clock.expired and best is not None:
                break
            center = q.center(values, categories)
            need = q.strict_need(center) + wary
            short, size, cuts = self._shortfall(values, fixed_gain, need)
            if not (short > 0).any() or (single and not (short > 8.0 * np.abs(need))[: q.n_model_rows].any()):
                distance = q.problem.measure(center)
                if distance >= hopeless or (best is not None and distance >= best.distance * (1.0 - ENOUGH)):
                    break
                broken = q.problem.why_inadmissible(center)
                verdict = self.accept(center) if broken is None else Inadmissible(broken)
                if isinstance(verdict, Certificate):
                    best = Found(distance, values)
                    hopeless = distance
                    if distance <= good_enough:
                        break
                    tangents = []  # descend from here with fresh tangents
                else:
                    self.undecided |= isinstance(verdict, Undecided)
                    self.refused += 1
                    refusals += 1
                    if refusals > MOST_REFUSALS or isinstance(verdict, Inadmissible):
                        break
                    lack = -verdict.margin if isinstance(verdict, Counterexample) else 0.0
                    wary[: q.n_model_rows] += 2.0**refusals * np.maximum(lack, 0.5 * need[: q.n_model_rows])
            else:
                # Where the tangent is known already, or next to nothing is missing, only rounding is left to repair.
                known = np.array([self._known(cut, tangents) for cut in cuts])
                tiny = (short <= NEXT_TO_NOTHING * size) & bool(tangents)
                spare += np.where((short > 0) & (known | tiny), 2.0 * short + EPS * size, 0.0)
            if single:
                break
            tangents += [cut for cut in cuts if not self._known(cut, tangents)]
            rows = self._rows(tangents, fixed_gain, need + spare, unit)
            low, high = (lower - q.start) / unit, (upper - q.start) / unit
            answer = self.least.solve(rows, low, high, max(self.clock.remaining, 0.1), unit)
            if answer.moves is None:
                break
            values = np.clip(q.start + answer.moves * unit, lower, upper)
        return best

    def _shortfall(self, values: Floats, fixed_gain: Floats, need: Floats) -> tuple[Floats, Floats, list[_Tangent]]:
        """How much each row lacks at its worst shift, the size of the numbers in it, and the tangents there."""
        q = self.question
        short, size = np.empty(q.n_rows), np.empty(q.n_rows)
        cuts = []
        for j, adversary in enumerate(self.adversaries):
            attack = adversary.attack(values)
            e = adversary.relative(values)
            kept = adversary.kept(e, attack.shift)
            size[j] = float(adversary.gain @ (np.abs(e) + attack.shift)) + abs(q.base[j]) + abs(fixed_gain[j])
            short[j] = need[j] - (q.base[j] + fixed_gain[j] + kept)
            if j >= q.n_model_rows:  # rules hold to rounding
                short[j] -= ROW_ROUNDING * (size[j] + abs(need[j]))
            slope = adversary.gain - attack.cap_slope
            cuts.append(_Tangent(j, slope * adversary.sign, kept - float(slope @ e), size[j]))
        return short, size, cuts

    @staticmethod
    def _known(cut: _Tangent, tangents: list[_Tangent]) -> bool:
        """Does an old tangent say the same, up to rounding?"""
        return any(
            old.row == cut.row
            and np.allclose(old.slope, cut.slope, rtol=SAME_SLOPE, atol=0.0)
            and abs(old.constant - cut.constant) <= SAME_CONSTANT * (old.size + cut.size)
            for old in tangents
        )

    def _rows(self, tangents: list[_Tangent], fixed_gain: Floats, need: Floats, unit: Floats) -> Rows:
        q = self.question
        raw = np.array([t.slope for t in tangents]).reshape(-1, q.n_columns)
        b = np.array([need[t.row] - q.base[t.row] - fixed_gain[t.row] - t.constant for t in tangents])
        model = np.array([t.row < q.n_model_rows for t in tangents], dtype=np.bool_)
        return Rows(raw * unit, b, np.zeros(b.size), model, raw)
