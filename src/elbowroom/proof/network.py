"""Validity proofs of networks: the judge's own relaxations find splits and multipliers, the checker confirms every leaf.

A part of the region is a box of inputs with some neurons decided. Its bound comes from the slopes that the checker chooses by
itself, then from the dual values of the triangle relaxation (balls with one layer: from climbing the dual). What neither
settles is split: at a category, at the open neuron that costs the bound most, or at an input.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import minimize

from elbowroom.certify.box_program import NOBODY, BoxProgram, quiet_solver
from elbowroom.certify.inputs import InputSet
from elbowroom.certify.intervals import Interval
from elbowroom.certify.network import NetworkQuestion, Node, Refuted, Unsettled
from elbowroom.models import ReluNetwork
from elbowroom.models.margins import network_margins
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import Target
from elbowroom.problem.body import Body
from elbowroom.proof.duality import region_leaf, sides, widened
from elbowroom.proof.validity import NotWritten
from elbowroom.search.contract import Clock
from elbowroom_checker.maps import Maps, Part
from elbowroom_checker.question import Box
from elbowroom_checker.reading import Refused

_ROUNDS, _LITTLE, _SHARE = (
    8,
    0.02,
    0.1,
)  # of cuts; what each has to gain; boxes are halved in the middle near their ends
_NARROWEST = 1e-9  # inputs are not split below this share of the region
_CLIMBED, _CLIMBS, _FAR = 8, 2, 1e6  # multipliers that are climbed together, how often; where a climb starts again
_STUCK = "the checker's arithmetic does not settle a part of the region that no split divides"


@dataclass(frozen=True, eq=False)
class _Piece:
    """A part of the region that is not settled; for one hidden layer over a box also planes (in x) above some of its neurons,
    which held with equality where the bound of the whole was lowest."""

    box: Box
    neurons: Ints
    slopes: Floats


class NetworkSteps:
    """The steps of one rival. In the file the neurons are counted after the columns, layer by layer."""

    def __init__(self, maps: Maps, rival: int, judge: NetworkQuestion, body: Body, clock: Clock) -> None:
        self._question, self._rival = maps.question, rival
        self._judge, self._body, self._clock = judge, body, clock
        self._region, center = Box(body.lower.tolist(), body.upper.tolist()), body.center.tolist()
        self._duality = maps.region(rival, center)
        self._first = np.cumsum([len(center), *(len(layer.bias) for layer in maps.layers)]).tolist()
        self._solver = quiet_solver()

    def write(self) -> list[Any]:
        steps: list[Any] = []
        root = widened(self._region, self._duality.neurons)
        stack = [_Piece(root, NOBODY, np.zeros((0, len(self._region.low))))]
        while stack:
            if self._clock.expired:
                raise NotWritten("the time limit was reached before the proof of validity was written")
            step, parts = self._settle(stack.pop())
            steps.append(step)
            stack += reversed(parts)
        return steps

    def _settle(self, piece: _Piece) -> tuple[Any, list[_Piece]]:
        """A leaf, or a split with its two parts."""
        box, question = piece.box.copy(), self._question
        if not question.narrow(box):
            return 0, []
        for group in question.groups:
            open_members = sorted(question.categories(group, box))
            if len(open_members) > 1:
                return self._split(piece, open_members[0], 0.0)
        part = self._duality.part(box, 0)
        leaf = self._leaf(box, [])
        if leaf is not None:
            return leaf, []
        if self._is_plain_box:
            return self._settle_box(piece, box, part)
        node = self._node(part, box)
        bound, point = self._judge.improve(node, self._rival, self._judge.bound(node, self._rival))
        multipliers = [
            {i: float(m[0, i]) for i in self._free(k, part, box) if math.isfinite(m[0, i])}
            for k, m in enumerate(bound.multipliers)
        ]
        leaf = self._leaf(box, multipliers)
        if leaf is not None:
            return leaf, []
        split = self._judge.where_to_split(node, bound, point)
        if split is None:
            raise NotWritten(_STUCK)
        place, where = split
        if isinstance(where, float):  # no neuron is left to split
            leaf = self._leaf(box, self._climbed(part, multipliers))
            return self._split(piece, place, where) if leaf is None else (leaf, [])
        return self._split(piece, self._first[place] + where, 0.0)

    @property
    def _is_plain_box(self) -> bool:
        """One hidden layer over a box: planes over the inputs are far tighter than lines through single neurons."""
        whole = np.array(self._question.whole)[self._judge.inputs.moving].any()
        return len(self._judge.hidden) == 1 and self._question.shape == "box" and not whole

    def _settle_box(self, piece: _Piece, box: Box, part: Part) -> tuple[Any, list[_Piece]]:
        """A leaf, or a split at the neuron whose relaxation errs most where the bound is lowest: with all neurons on one side the
        rest is a linear program, which has no gap. Inputs are split where no neuron errs."""
        judge, decided = self._judge, sides(self._duality, box)
        layer, v = judge.hidden[0], judge.last.weight[self._rival]
        inputs = InputSet(self._body, np.array(part.box.low), np.array(part.box.high))
        at = Interval(np.array(part.low[0]), np.array(part.high[0]))
        columns = inputs.moving
        width = (inputs.upper - inputs.lower)[columns]
        if not width.size:
            raise NotWritten(_STUCK)
        z0, a = layer.weight @ inputs.lower + layer.bias, layer.weight[:, columns] * width
        P, N = np.flatnonzero((v > 0.0) & at.unstable), np.flatnonzero((v < 0.0) & at.unstable)
        held = np.array([*decided], dtype=np.int64) - self._first[0]
        signs = np.array([1.0 if low >= 0.0 else -1.0 for low, _ in decided.values()])
        open_ = np.isin(piece.neurons, N)
        about = piece.neurons[open_], piece.slopes[open_][:, columns] * width, held, signs
        program = BoxProgram(self._solver, z0, a, v, at, P, N, *about)
        program.cut(everywhere=not open_.any())
        best, constant = -math.inf, float(v @ (z0 * (at.low >= 0.0))) + float(judge.last.bias[self._rival])
        for left in reversed(range(_ROUNDS)):
            found = program.solve()
            if found is None:
                break
            value = found.value + constant
            if value > 0.0:
                planes = np.zeros((N.size, inputs.lower.size))
                planes[:, columns] = v[N, None] * found.mixed / width
                kept = np.where(signs > 0.0, v[held], 0.0) - signs * found.held
                lines: dict[int, Any] = {int(i): float(v[i] * found.theta[i]) for i in P}
                lines |= {int(i): float(m) for i, m in zip(held, kept, strict=True)}
                lines |= {int(i): plane.tolist() for i, plane in zip(N, planes, strict=True)}
                leaf = self._leaf(box, [lines])
                if leaf is not None:
                    return leaf, []
            gained, best = value - best, value
            if gained < _LITTLE * abs(value) or value + left * gained < 0.0 or not program.cut():
                break
        neurons, slopes = program.tight()
        in_x = np.zeros((neurons.size, inputs.lower.size))
        in_x[:, columns] = slopes / width
        column, where = self._where_in_box(program, inputs)
        return self._split(_Piece(piece.box, neurons, in_x), column, where)

    def _climbed(self, part: Part, multipliers: list[dict[int, Any]]) -> list[dict[int, Any]]:
        """The best multipliers, those of all layers at once: without open neurons there is no gap but theirs, and a ball's bound
        does not follow halves of boxes."""
        names = [(k, i) for k, layer in enumerate(multipliers) for i in layer]
        if not 0 < len(names) <= _CLIMBED:
            return multipliers

        def of(values: Floats) -> list[dict[int, Any]]:
            layers: list[dict[int, Any]] = [{} for _ in multipliers]
            for (k, i), value in zip(names, values.tolist(), strict=True):
                layers[k][i] = value
            return layers

        def missed(values: Floats) -> float:
            try:
                slopes, constant = part.bound([(self._duality.rivals[0], Fraction(1))], of(values))
                return -part.least_input(list(map(float, slopes))) - float(constant)
            except Refused:
                return math.inf

        start = np.array([multipliers[k][i] for k, i in names])
        start = start if np.abs(start).max() < _FAR else np.zeros(start.size)
        for _ in range(_CLIMBS):
            start = minimize(missed, start, method="Nelder-Mead", options={"maxfev": 60 * start.size}).x
        return of(start)

    def _leaf(self, box: Box, multipliers: list[dict[int, Any]]) -> list[Any] | None:
        """A leaf that the checker confirms. A climb that overshot may hand over multipliers too large for its arithmetic: then
        the part is split like any other."""
        lines = [[[i, m] for i, m in layer.items()] for layer in multipliers] if multipliers else 0
        try:
            return region_leaf(self._duality, box, lines)
        except Refused:
            if not multipliers:
                raise
            return None

    def _where_in_box(self, program: BoxProgram, inputs: InputSet) -> tuple[int, float]:
        """The neuron that errs most at the last point, or an input far from its ends that moves open neurons."""
        a, t, v, P, N = program.a, program.t, program.v, program.P, program.N
        z = program.z0 + a @ t
        loss = -v[N] * (program.heights - np.maximum(z[N], 0.0))
        if loss.max(initial=0.0) > 0.0:
            return self._first[0] + int(N[np.argmax(loss)]), 0.0
        columns, region = inputs.moving, self._region
        width = (inputs.upper - inputs.lower)[columns]
        wide = width > _NARROWEST * (np.array(region.high) - np.array(region.low))[columns]
        open_ = np.concatenate([N, P])
        score = np.where(wide, np.abs(v[open_]) @ np.abs(a[open_]), -1.0)
        if not score.max(initial=-1.0) > 0.0:
            raise NotWritten(_STUCK)
        k = int(np.argmax(score))
        share = float(t[k]) if _SHARE < t[k] < 1.0 - _SHARE else 0.5
        return int(columns[k]), float(inputs.lower[columns[k]] + share * width[k])

    def _split(self, piece: _Piece, column: int, at: float) -> tuple[Any, list[_Piece]]:
        return [column, at], [replace(piece, box=half) for half in self._question.halves(piece.box, column, at)]

    def _free(self, k: int, part: Part, box: Box) -> list[int]:
        """Neurons whose multiplier is not that of a line through them anyway."""
        ends, first, decided = zip(part.low[k], part.high[k], strict=True), self._first[k], sides(self._duality, box)
        return [i for i, (low, high) in enumerate(ends) if low < 0.0 < high or first + i in decided]

    def _node(self, part: Part, box: Box) -> Node:
        """The part as the judge knows it."""
        inputs = InputSet(self._body, np.array(part.box.low), np.array(part.box.high))
        intervals = [Interval(np.array(a), np.array(b)) for a, b in zip(part.low, part.high, strict=True)]
        phases: list[Floats] = [np.zeros(len(low)) for low in part.low]
        for name, (low, _) in sides(self._duality, box).items():
            k = int(np.searchsorted(self._first, name, side="right")) - 1
            phases[k][name - self._first[k]] = 1.0 if low >= 0.0 else -1.0
        return Node(inputs, phases, intervals)


def network_steps(maps: Maps, model: ReluNetwork, target: Target, body: Body, clock: Clock) -> list[Any]:
    """One list of steps per rival."""
    rows = network_margins(model, target.index(model.info), target.need)
    inputs, deadline = InputSet.all_of(body), clock.deadline
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            judge = NetworkQuestion(rows.layers, rows.slack, inputs, deadline, math.inf)
            return [NetworkSteps(maps, j, judge, body, clock).write() for j in range(len(maps.rivals))]
    except (Refuted, Unsettled) as error:
        raise NotWritten(f"the judge's relaxations did not settle a part of the region: {error}") from None
