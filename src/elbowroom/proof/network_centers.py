"""Networks: the proof that no closer centre exists, by branch and bound over centres.

A node is a box of centres with signs of neurons at shifts of the room. Its linear program asks for the cheapest centre whose
margins at the shifts in use are not negative, with every ReLU between its two pieces and its chord. If that costs the bound, the
duals are a leaf. Otherwise its solution names what to do: another shift at which the margin is negative, or the neuron at which
the relaxation errs most, which is split. The checker confirms every leaf that is written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from elbowroom.certify.judge import certify_answer
from elbowroom.numerics import Floats
from elbowroom.problem import RecourseProblem
from elbowroom.proof.duality import fence, widened
from elbowroom.proof.network_program import Asked, Ends, Program, Solved
from elbowroom.proof.validity import NotWritten
from elbowroom.result.certificate import Counterexample
from elbowroom.search.contract import Clock
from elbowroom_checker.maps import Duality, Maps
from elbowroom_checker.question import Box
from elbowroom_checker.reading import Budget, Refused

MOST_NODES: Final = 4000
MOST_SHIFTS: Final = 60
GAP: Final = 1e-9  # relative: a bound that is closer to the search's own is as good
DEAREST: Final = (1e3, 1e6)  # what a program may pay for a unit of a row that is missed, in bounds
STARTS: Final = 24  # of a search for the worst shift
MARGINAL: Final = 1e-9  # violations below are none
NEARLY: Final = 1.0 - 1e-12  # shifts are shortened by this, so that rounding does not make them too long


@dataclass(frozen=True)
class _Node:
    box: Box  # columns alone
    ends: Ends
    active: tuple[int, ...]  # shifts whose rows are in its program


def network_centers_document(problem: RecourseProblem, maps: Maps, bound: float, clock: Clock) -> dict[str, Any]:
    """The proof that every admissible centre closer than ``bound`` has a bad point in its room."""
    if maps.question.norm == "l2":
        raise NotWritten("a proof that no closer centre exists cannot be written for networks with distance l2 yet")
    writer = _Writer(problem, maps, bound, clock)
    writer.write()
    return writer.document


@dataclass
class _Writer:
    problem: RecourseProblem
    maps: Maps
    bound: float
    clock: Clock
    steps: list[Any] = field(default_factory=list)
    shifts: list[list[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.asked = Asked(self.maps, self.bound)
        self.question, self.layers, self.n, self.size = (
            self.maps.question,
            self.asked.layers,
            self.asked.n,
            self.asked.size,
        )
        self.single, self.named = self.asked.single, self.asked.named
        self.whole, self.down, self.up = self.asked.whole, self.asked.down, self.asked.up
        self.stated = None if math.isinf(self.bound) else self.bound * (1.0 - GAP)
        self.limit = None if self.stated is None else self.question.price(self.stated)
        self.rng = np.random.default_rng(0)
        self.looks = 0

    @property
    def document(self) -> dict[str, Any]:
        return {"bound": self.stated, "shifts": self.shifts, "tree": self.steps}

    def write(self) -> None:
        steps, root, behind = fence(self.question, self.bound)
        self.steps += steps
        stack = [_Node(root, {}, ())]
        while stack:
            self.looks += 1
            if self.clock.expired:
                raise NotWritten("the time limit was reached before the proof about closer centres was written")
            if self.looks > MOST_NODES:
                raise NotWritten("the proof about closer centres of a network takes too many splits")
            node = stack.pop()
            step, children = self._settle(node)
            self.steps.append(step)
            stack += reversed(children)
        self.steps += [0] * behind

    def _settle(self, node: _Node) -> tuple[Any, list[_Node]]:
        """A leaf, or a split with its two parts."""
        box = node.box.copy()
        if not self.question.narrow(box) or self.question.is_closed(box, self.limit):
            return 0, []
        for group in self.question.groups:
            members = sorted(self.question.categories(group, box))
            if len(members) > 1:
                return self._split(node, members[0], 0.0)
        active = node.active
        while True:
            solved, leaf = None, None
            for dearest in DEAREST:
                solved = Program(self.asked, self.shifts, box, node.ends, active, dearest).solve()
                if solved is None:
                    break
                leaf = (
                    self._tried(box, node.ends, solved.leaf)
                    if solved.value > (self.bound or 0.0) * (1 - 1e-6)
                    else None
                )
                if leaf is not None:
                    return leaf, []
                if solved.missed < 1e-9:
                    break
            if solved is None or len(active) > MOST_SHIFTS:
                return self._split_column(node, box, None)
            more = self._more(solved, active)
            if more is None:
                break
            active = (*active, more)
        node = _Node(node.box, node.ends, active)
        if solved.worst is not None:
            k, i = solved.worst
            return self._split(node, self.n + k * self.size + i, 0.0)
        return self._split_column(node, box, solved.center)

    def _tried(self, box: Box, ends: Ends, leaf: list[Any]) -> list[Any] | None:
        whole = widened(box, self.size * len(self.shifts))
        for (k, i), (low, high) in ends.items():
            whole.cut(self.n + k * self.size + i, low, high)
        try:
            return leaf if self._duality().excess(leaf, whole) > 0 else None
        except (Refused, OverflowError):
            return None

    def _duality(self) -> Duality:
        return self.maps.centers({"shifts": self.shifts}, self.stated, Budget(math.inf))

    # ---- splits -------------------------------------------------------------------------------------------------------
    def _split(self, node: _Node, column: int, at: float) -> tuple[Any, list[_Node]]:
        if column < self.n:
            halves = self.question.halves(node.box, column, at)
            return [column, at], [_Node(half, node.ends, node.active) for half in halves]
        name = divmod(column - self.n, self.size)
        parts = [{**node.ends, name: ends} for ends in ((-math.inf, at), (at, math.inf))]
        return [column, at], [_Node(node.box, ends, node.active) for ends in parts]

    def _split_column(self, node: _Node, box: Box, center: Floats | None) -> tuple[Any, list[_Node]]:
        width = (np.array(box.high) - np.array(box.low)) * self.single
        f = int(np.argmax(width * np.maximum(self.asked.factor, 1e-12)))
        if not width[f] > 1e-9 * max(1.0, abs(box.high[f])):
            raise NotWritten("a proof about closer centres does not settle a box that no split divides")
        return self._split(node, f, box.low[f] + 0.5 * float(width[f]))

    # ---- shifts -------------------------------------------------------------------------------------------------------
    def _more(self, solved: Solved, active: tuple[int, ...]) -> int | None:
        """A shift, known or new, that the centre of a program does not stand, if none of those in its program is one."""
        center = solved.center
        if self.shifts:
            margins = self.layers.margins(self.asked.inputs(center, np.array(self.shifts))).min(axis=1)
            if any(margins[k] < -MARGINAL for k in active):
                return None
            worst = int(np.argmin(margins))
            if margins[worst] < -MARGINAL and worst not in active:
                return worst
        shift = self._attack(center)
        if shift is None:
            return None
        self.shifts.append([float(s) + 0.0 for s in shift])
        return len(self.shifts) - 1

    def _attack(self, center: Floats) -> Floats | None:
        """The worst shift that a few climbs find, from the surface of the room; or what the judge says."""
        starts = self._surface(self.rng.normal(size=(STARTS, self.n)))
        starts[0] = 0.0
        best, worst = -MARGINAL, None
        for rival in range(len(self.maps.rivals)):
            shifts = starts
            for _ in range(6):
                shifts = np.concatenate(
                    [shifts, self._surface(-self.layers.slope(self.asked.inputs(center, shifts), rival))]
                )
                margins = self.layers.margins(self.asked.inputs(center, shifts))[:, rival]
                order = np.argsort(margins, kind="stable")[:STARTS]
                shifts = shifts[order]
            if margins[order[0]] < best:
                best, worst = margins[order[0]], shifts[0]
        return worst if worst is not None else self._asked(center)

    def _surface(self, towards: Floats) -> Floats:
        """Where the room ends in a direction of gradients, whole where inputs are."""
        if self.question.shape == "box":
            found = np.where(towards < 0, -self.down, np.where(towards > 0, self.up, 0.0))
        elif self.question.shape == "ball":
            pull = towards * self.up
            found = pull * self.up / np.maximum(np.sqrt((pull * pull).sum(axis=1, keepdims=True)), 1e-300) * NEARLY
        else:
            pull = np.abs(towards) * self.up
            at = pull == pull.max(axis=1, keepdims=True)
            at &= np.cumsum(at, axis=1) == 1
            found = np.where(at, np.sign(towards) * self.up, 0.0)
        found = np.where(self.whole, np.trunc(found), found)
        found = np.where(self.single, found, 0.0)
        for group in self.question.groups:
            if group.free:
                allowed = sorted(self.question.categories(group, self.question.limits))
                best = np.array(allowed)[np.argmax(towards[:, allowed], axis=1)]
                found[np.arange(found.shape[0]), best] = 1.0
        return found

    def _asked(self, center: Floats) -> Floats | None:
        """A bad point of the room by the judge."""
        if self.named.any():
            return None
        rounded = np.where(self.whole, np.round(center), center)
        body = self.problem.body(np.clip(rounded, self.asked.lower, self.asked.upper))
        verdict = certify_answer(self.problem, body, max(min(self.clock.remaining, 2.0), 0.05), math.inf)
        if not isinstance(verdict, Counterexample):
            return None
        shift = (np.asarray(verdict.point, dtype=float) - body.center) * NEARLY
        return np.where(self.whole, np.trunc(shift), shift)
