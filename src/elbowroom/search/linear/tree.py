"""Best-first branch and bound over boxes of centres.

Per node: (1) shrink the box by the best distance known; (2) solve the relaxation, ask the adversary for worse shifts,
add them as rows, repeat; (3) branch on what is still relaxed: AtMost, whole numbers, categories, and kinks of the
clipped room where the chord is not exact; (4) nothing relaxed: polish the centre and let the judge decide.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import numpy as np

from elbowroom.numerics import NONZERO, Floats
from elbowroom.problem.distances import Distance
from elbowroom.problem.shapes import is_euclidean, is_round
from elbowroom.search.contract import Accept, Clock
from elbowroom.search.linear.adversary import Adversary
from elbowroom.search.linear.branch import respect_changes, split_changed, split_column, split_discrete, split_group
from elbowroom.search.linear.climb import climb
from elbowroom.search.linear.curvature import curved_bound
from elbowroom.search.linear.limits import (
    GAP,
    LAST_DIGIT,
    MOST_CUTS,
    SAME_SHIFT,
    UNMOVED,
    WHOLE_VALUE,
    WORTH_REPORTING,
)
from elbowroom.search.linear.polish import Found, Polisher
from elbowroom.search.linear.priced import PricedMoves, bent_column
from elbowroom.search.linear.programs import moves_for, narrowed, within_budget
from elbowroom.search.linear.question import Question
from elbowroom.search.linear.relax import Node, RowShift, category_gain, chord, node_rows


class Kink(NamedTuple):
    """A column whose chord lies above the truth, where to split it, and by how much in units of distance."""

    column: int
    place: float
    gap: float


class Tree:
    """The state of one search. ``settled`` is the smallest bound among nodes that were closed without being empty."""

    def __init__(self, question: Question, accept: Accept, clock: Clock) -> None:
        self.question = question
        self.clock = clock
        self.adversaries = [Adversary(question, j) for j in range(question.n_rows)]
        self.least = moves_for(question)
        self.polisher = Polisher(question, self.adversaries, self.least, accept, clock)
        self.best: Found | None = None
        self.settled = np.inf
        self.nodes = 0
        self.scale = self._first_scale()

    # ---- the loop ---------------------------------------------------------------------------------------------
    def run(self) -> float:
        """Search; return the proven lower bound (inf: nothing exists)."""
        order = count()
        heap: list[tuple[float, int, Node]] = [(0.0, next(order), self._root())]
        while heap:
            bound = heap[0][0]
            self._publish(min(bound, self.settled))
            if bound >= self.cutoff or (self.clock.expired and self.nodes > 0):
                break
            _, _, node = heapq.heappop(heap)
            self.nodes += 1
            for child in self._process(node):
                heapq.heappush(heap, (child.bound, next(order), child))
        open_bound = heap[0][0] if heap else np.inf
        best = self.best.distance if self.best is not None else np.inf
        return float(min(open_bound, self.settled, best))

    @property
    def cutoff(self) -> float:
        return self.best.distance * (1.0 - GAP) if self.best is not None else np.inf

    def _publish(self, bound: float) -> None:
        if np.isfinite(bound) and bound > self.clock.lower_bound * (1.0 + WORTH_REPORTING):
            self.clock.report(lower_bound=bound)

    def _root(self) -> Node:
        q = self.question
        scenarios = tuple(
            RowShift(j, adversary.attack(np.clip(q.start, q.lower, q.upper)).shift)
            for j, adversary in enumerate(self.adversaries)
        )
        allowed = tuple(np.ones(group.others.size, dtype=np.bool_) for group in q.groups)
        forced = (q.start < q.lower) | (q.start > q.upper)
        return Node(0.0, q.lower.copy(), q.upper.copy(), allowed, forced, scenarios)

    def _first_scale(self) -> float:
        """A typical distance: what the neediest row asks of its best column."""
        q = self.question
        scale = float((q.factor * np.abs(np.clip(q.start, q.lower, q.upper) - q.start)).max(initial=0.0))
        for j, adversary in enumerate(self.adversaries):
            lack = q.needed[j] - q.base[j] + adversary.attack(np.clip(q.start, q.lower, q.upper)).loss
            best = float((adversary.gain / q.factor).max(initial=0.0))
            for i, group in enumerate(q.groups):
                best = max(best, float(group.delta[j].max()) / float(q.factor[q.singles.size + i]))
            if lack > 0 and best > 0:
                scale = max(scale, lack / best)
        return scale if 0.0 < scale < np.inf else 1.0

    # ---- one node ---------------------------------------------------------------------------------------------
    def _process(self, node: Node) -> list[Node]:
        q = self.question
        if q.most_changes is not None:
            limited = respect_changes(q, node)
            if limited is None:
                return []
            node = limited
        lower, upper = within_budget(q, self.least, node, None if self.best is None else self.best.distance)
        if (lower > upper).any():
            self.settled = min(self.settled, max(node.bound, self.cutoff))
            return []
        for _ in range(MOST_CUTS):
            unit = self.scale / q.factor
            rows = node_rows(q, self.adversaries, node, lower, upper, unit)
            low, high = (lower - q.start) / unit, (upper - q.start) / unit
            answer = self.least.solve(rows, low, high, self.clock.remaining, unit)
            bound = answer.bound
            if (
                self.best is not None
                and q.slant is None
                and q.problem.distance is Distance.L2
                and is_euclidean(q.shape)
            ):
                bound = max(bound, curved_bound(q, self.adversaries, node, self.best.values, lower, upper, unit))
            node = replace(node, bound=max(node.bound, bound * self.scale))
            if node.bound >= self.cutoff:
                if np.isfinite(node.bound):
                    self.settled = min(self.settled, node.bound)
                return []
            if self.best is not None and answer.multiplier is not None and answer.price is not None:
                cut = narrowed(
                    q, self.adversaries, self.least, node, rows, answer, lower, upper, unit, self.cutoff / self.scale
                )
                if cut is None:
                    self.settled = min(self.settled, self.cutoff)
                    return []
                if not (np.array_equal(cut[0], lower) and np.array_equal(cut[1], upper)):
                    self.settled = min(self.settled, self.cutoff)
                    lower, upper = cut
                    node = replace(node, lower=np.maximum(node.lower, lower), upper=np.minimum(node.upper, upper))
                    if (lower > upper).any():
                        return []
                    continue
            if answer.moves is None:
                return (
                    self._give_up(node)
                    if self.clock.expired
                    else self._split_anything(node, np.clip(q.start, lower, upper))
                )
            size = self.least.measure(answer.moves, unit)
            if size > 20.0 and np.isfinite(size):
                self.scale *= size
                continue
            values = self._tidy(np.clip(q.start + answer.moves * unit, lower, upper))
            extra = self._new_scenarios(node, values, lower, upper, size * self.scale)
            if not extra:
                # Rows without weight here are found again by the adversary if a child needs them.
                kept = tuple(s for s, t in zip(node.scenarios, answer.tight, strict=True) if t or self._first(node, s))
                node = replace(node, scenarios=kept)
                break
            node = replace(node, scenarios=node.scenarios + extra)
            if self.clock.expired:
                return [node]
        return self._branch_or_settle(node, values, lower, upper)

    @staticmethod
    def _first(node: Node, scenario: RowShift) -> bool:
        """The first scenario of every row always stays."""
        return next(s for s in node.scenarios if s.row == scenario.row) is scenario

    def _tidy(self, values: Floats) -> Floats:
        """Columns within rounding of the factual or (whole ones) of a whole number become it."""
        near = np.round(values)
        still = np.abs(values - self.question.start) <= UNMOVED * self.scale / self.question.factor
        values = np.where(still, np.clip(self.question.start, self.question.lower, self.question.upper), values)
        return np.where(self.question.whole & (np.abs(values - near) <= WHOLE_VALUE), near, values)

    def _tolerance(self, row: int, distance: float) -> float:
        """Row units that are worth less than the gap."""
        q = self.question
        return 0.1 * GAP * distance * self._rate(row) + LAST_DIGIT * float(abs(q.base[row]) + abs(q.needed[row]))

    def _new_scenarios(
        self, node: Node, values: Floats, lower: Floats, upper: Floats, distance: float
    ) -> tuple[RowShift, ...]:
        """Worst shifts at the relaxed centre whose rows (with chords) cut it off."""
        q = self.question
        found = []
        for j in range(q.n_model_rows):
            adversary = self.adversaries[j]
            attack = adversary.attack(values)
            line = chord(adversary, attack.shift, lower, upper)
            groups = float(category_gain(q, node, j) @ (values - q.start)[q.singles.size :])
            relaxed = q.base[j] + groups + float(line.slope @ adversary.relative(values) + line.constant.sum())
            if relaxed < q.needed[j] - self._tolerance(j, distance):
                near = SAME_SHIFT * attack.shift
                if not any(s.row == j and (np.abs(s.shift - attack.shift) <= near).all() for s in node.scenarios):
                    found.append(RowShift(j, attack.shift))
        return tuple(found)

    # ---- branching --------------------------------------------------------------------------------------------
    def _branch_or_settle(self, node: Node, values: Floats, lower: Floats, upper: Floats) -> list[Node]:
        q = self.question
        above = self.least.above(values) if isinstance(self.least, PricedMoves) else None
        whole = q.whole & (values != np.round(values))
        moved = (values != q.start) & ~node.counted
        too_many = q.most_changes is not None and int((moved | node.counted).sum()) > q.most_changes
        categories = self._categories(node, values)
        if too_many or whole.any():
            self._try_rounding(node, values, categories, lower, upper)
            if node.bound >= self.cutoff:
                self.settled = min(self.settled, node.bound)
                return []
        if too_many:
            cost = np.where(moved, q.factor * np.abs(values - q.start), -1.0)
            return split_changed(q, node, int(np.argmax(cost)))
        if whole.any():
            fraction = np.where(whole, np.abs(values - np.round(values)), -1.0)
            f = int(np.argmax(fraction))
            return split_column(node, f, float(np.floor(values[f])), float(np.floor(values[f])) + 1.0)
        kink = self._widest_chord(node, values, categories, lower, upper)
        if kink is None or self.best is None or self.nodes <= 8 or self.nodes % 8 == 0:
            self._improve(node, values, categories, lower, upper)
        if node.bound >= self.cutoff:
            self.settled = min(self.settled, node.bound)
            return []
        group, loss = self._loosest_group(node, values, categories)
        if group is not None and (kink is None or loss > kink.gap):
            return split_group(q, node, group)
        if kink is not None:
            return split_column(node, kink.column, kink.place, kink.place)
        bent = None if above is None else bent_column(q, above, values, lower, upper)
        if bent is not None:
            return split_column(node, *bent)
        return self._split_anything(node, values)

    def _categories(self, node: Node, values: Floats) -> tuple[int, ...]:
        """For each group the category that serves the neediest row best."""
        q = self.question
        lack = np.array(
            [
                q.needed[j] - q.base[j] - a.kept(a.relative(values), a.attack(values).shift)
                for j, a in enumerate(self.adversaries)
            ]
        )
        rate = np.array([self._rate(j) for j in range(len(self.adversaries))])
        chosen = []
        for i, group in enumerate(q.groups):
            left = np.flatnonzero(node.allowed[i])
            if left.size == 0 or values[q.singles.size + i] < 0.5:
                chosen.append(0)
                continue
            worst = ((lack[:, None] - group.delta[:, left]) / rate[:, None]).max(axis=0)
            pick = int(left[np.argmin(worst)])
            lack = lack - group.delta[:, pick]
            chosen.append(pick)
        return tuple(chosen)

    def _group_gain(self, row: int, values: Floats, categories: tuple[int, ...]) -> float:
        """What the chosen categories add to a row."""
        q = self.question
        changed = [i for i in range(len(q.groups)) if values[q.singles.size + i] > 0.5]
        return float(sum(q.groups[i].delta[row, categories[i]] for i in changed))

    def _widest_chord(
        self, node: Node, values: Floats, categories: tuple[int, ...], lower: Floats, upper: Floats
    ) -> Kink | None:
        """The column whose chord lies farthest above the truth in a violated row, and the kink to split at."""
        q = self.question
        widest: Kink | None = None
        for j in range(q.n_model_rows):
            adversary = self.adversaries[j]
            attack, e = adversary.attack(values), adversary.relative(values)
            line = chord(adversary, attack.shift, lower, upper)
            gap = line.slope * e + line.constant - adversary.gain * np.maximum(e - attack.shift, adversary.edge)
            groups = self._group_gain(j, values, categories)
            truth = q.base[j] + groups + adversary.kept(e, attack.shift)
            if truth >= q.needed[j] - self._tolerance(j, node.bound):
                continue
            f = int(np.argmax(gap))
            far = float(gap[f]) / self._rate(j)
            if far > (0.0 if widest is None else widest.gap):
                at = float(q.start[f] + adversary.sign[f] * (adversary.edge[f] + attack.shift[f]))
                if is_round(q.shape) and np.isfinite(upper[f] - lower[f]) and not q.whole[f]:
                    # The kinks of round rooms move with the centre: keep a share of the interval on both sides.
                    share = 0.3 * (upper[f] - lower[f])
                    at = float(np.clip(at, lower[f] + share, upper[f] - share))
                if lower[f] < at < upper[f]:
                    widest = Kink(f, at, far)
        return widest

    def _loosest_group(self, node: Node, values: Floats, categories: tuple[int, ...]) -> tuple[int | None, float]:
        """The group whose best category differs from row to row by most, and by how much: the relaxation gives every row
        its own, the chosen one serves a violated row worse."""
        q = self.question
        changed = values[q.singles.size :] > 0.5
        found, most = None, 0.0
        for j in range(q.n_model_rows):
            adversary = self.adversaries[j]
            kept = adversary.kept(adversary.relative(values), adversary.attack(values).shift)
            truth = q.base[j] + self._group_gain(j, values, categories) + kept
            if truth >= q.needed[j] - self._tolerance(j, node.bound):
                continue
            best = category_gain(q, node, j)
            for i in np.flatnonzero(changed):
                loss = float(best[i] - q.groups[i].delta[j, categories[i]]) / self._rate(j)
                if loss > most:
                    found, most = int(i), loss
        return found, most

    def _rate(self, row: int) -> float:
        """The most that a unit of distance adds to a row."""
        return max(float((self.adversaries[row].gain / self.question.factor).max(initial=0.0)), NONZERO)

    def _split_anything(self, node: Node, values: Floats) -> list[Node]:
        """The relaxation is exact here but no centre was accepted: separate the discrete choices one by one."""
        return split_discrete(self.question, node, values) or self._give_up(node)

    def _give_up(self, node: Node) -> list[Node]:
        """Nothing is left to separate. A single refused centre is dead; anything else keeps its bound."""
        if not (node.lower == node.upper).all() or self.polisher.undecided:
            self.settled = min(self.settled, node.bound)
        return []

    # ---- candidates -------------------------------------------------------------------------------------------
    def _improve(self, node: Node, values: Floats, categories: tuple[int, ...], lower: Floats, upper: Floats) -> None:
        """Polish with everything discrete fixed at ``values``; keep what the judge accepts."""
        q = self.question
        fixed = q.whole.copy()
        if q.most_changes is not None:
            fixed |= values == q.start
        low, high = (
            np.where(fixed, values, np.minimum(lower, values)),
            np.where(fixed, values, np.maximum(upper, values)),
        )
        wide_low, wide_high = np.where(fixed, values, q.lower), np.where(fixed, values, q.upper)
        if isinstance(self.least, PricedMoves):  # first where prices are straight around the values
            near_low, near_high = self.least.pieces(values)
            wide_low, wide_high = np.maximum(wide_low, near_low), np.minimum(wide_high, near_high)
        unit = self.scale / q.factor
        best = self.best.distance if self.best is not None else np.inf
        good_enough = node.bound * (1.0 + 0.1 * GAP)
        found = self.polisher.polish(values, categories, wide_low, wide_high, unit, good_enough, best)
        if found is None and (low > wide_low).any() | (high < wide_high).any():
            found = self.polisher.polish(values, categories, low, high, unit, good_enough, best)
        if found is not None and found.distance < best:
            self.best = found
            self.clock.report(best_distance=found.distance)

    def _try_rounding(
        self, node: Node, values: Floats, categories: tuple[int, ...], lower: Floats, upper: Floats
    ) -> None:
        """Whole columns rounded to the nearest and away from the factual; only the largest changes kept."""
        q = self.question
        if self.best is not None and self.nodes > 30 and self.nodes % 16:
            return
        away = np.where(values > q.start, np.ceil(values - WHOLE_VALUE), np.floor(values + WHOLE_VALUE))
        for rounded in (np.round(values), away):
            point = np.clip(np.where(q.whole, rounded, values), q.lower, q.upper)
            if q.most_changes is not None:
                cost = q.factor * np.abs(point - q.start)
                forced = (q.start < q.lower) | (q.start > q.upper)
                keep = np.argsort(-np.where(forced, np.inf, cost), kind="stable")[: q.most_changes]
                point[~np.isin(np.arange(point.size), keep)] = q.start[~np.isin(np.arange(point.size), keep)]
            gains = [self._group_gain(j, point, categories) for j in range(q.n_rows)]
            point = climb(q, self.adversaries, point, np.array(gains), self.clock)
            self._improve(node, point, categories, lower, upper)
