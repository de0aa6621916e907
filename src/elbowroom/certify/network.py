"""The judge for ReLU networks: sound linear bounds and branch and bound.

The claim is about the original's floating-point forward pass. Real margins must exceed ``needed`` = the propagated
evaluation error over the region + the slack of the decision; our own roundings are subtracted from every bound. Per
category of the free groups: attack first; then linear bounds of all rivals at once. Rivals that are left are settled
over the open neurons of the room alone, in kernels (`open_neurons`). What that leaves, parts with all signs decided that
touch the boundary, goes through best-first branch and bound with programs. A node is a set of inputs
with some neurons decided (z >= 0 or z <= 0). Its bound comes from CROWN's multipliers, then from the dual values of the
triangle relaxation; its relaxed worst point is tried as a counterexample. Nodes split the neuron whose relaxation errs
most at that point, or a whole column that is not whole there. With everything decided the relaxation is exact, so that
small networks are always decided, up to points within rounding of the boundary. One hidden layer over a box without
whole numbers has its own, stronger search (`network_boxes`).
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, product
from typing import Final

import numpy as np

from elbowroom.certify.attack import attack, snap
from elbowroom.certify.compact import Reduced, reduce_network
from elbowroom.certify.dual_ascent import climb
from elbowroom.certify.inputs import InputSet
from elbowroom.certify.intervals import Interval, LinearBound, evaluation_error, lower_bound, propagate
from elbowroom.certify.network_boxes import BoxSearch, Neuron, Open
from elbowroom.certify.open_neurons import OpenNeurons
from elbowroom.certify.relaxation import Relaxed, relax
from elbowroom.models import Affine, ReluNetwork
from elbowroom.models.margins import network_margins
from elbowroom.numerics import TINY, Floats, Ints
from elbowroom.problem import Body, Shape, Target, allowed_categories
from elbowroom.problem.shapes import is_euclidean, is_round
from elbowroom.result import Certificate, Counterexample, Undecided, Verdict

SHAPES: Final = (Shape.BOX, Shape.BALL, Shape.DIAMOND)
_ASSUMPTIONS = (
    "rows are handed to the model as float64 numbers",
    "the parsed network is the model's network: checked by replay when the model was read",
    "the forward pass is computed in float64 (or within the stated evaluation error), in any order of summation",
)
_PRICES = (1e2, 1e6)  # of contradicting decided phases, relative to the largest coefficient
_ROUNDS = 40  # relaxations per node, each with one more tangent of a ball
_LITTLE, _PATIENCE = 0.02, 4  # stop after this many rounds that close less than this share of the gap
_FEW_NEURONS = 32  # for which a look is counted as one
_NARROWEST = 1e-7  # inputs are not halved below this share of the region
_NOISE = 1e-9  # losses below this share of the largest possible one are noise
_LEAST_WEIGHT = 1e-12  # of a neuron without slope, against the largest: ties are broken by size
_OUTSIDE = 1e-9  # relative: how far outside its intervals a relaxed point must lie to contradict them
_OVERFLOW = "the network's values overflow in this region; scale the features"
_OUT_OF_TIME = "a limit was reached before every part of the region was judged"
_ON_THE_BOUNDARY = "a point of the region lies within rounding of the boundary of what is wanted"


class Unsettled(Exception):  # noqa: N818 - an outcome, not an error
    """The judge cannot tell; the first argument says why, ``reached`` how far it came."""

    def __init__(self, reason: str, reached: float = -math.inf) -> None:
        super().__init__(reason)
        self.reached = reached


class Refuted(Exception):  # noqa: N818 - an outcome, not an error
    """A point whose margin is too small."""

    def __init__(self, point: Floats, margin: float) -> None:
        super().__init__()
        self.point, self.margin = point, margin


@dataclass(frozen=True, eq=False)
class Node:
    inputs: InputSet
    phases: list[Floats]
    intervals: list[Interval]


def judge_network(model: ReluNetwork, target: Target, body: Body, deadline: float, looks: float = math.inf) -> Verdict:
    """A certificate, a point of the body that is not (safely) of the wanted class, or Undecided with a reason."""
    began = time.perf_counter()
    margins = network_margins(model, target.index(model.info), target.need)
    margin = math.inf
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow makes a bound useless, never wrong
            for inputs in _categories(body):
                margin = min(margin, NetworkQuestion(margins.layers, margins.slack, inputs, deadline, looks).settle())
    except Refuted as refuted:
        label = model.info.says(model.scores(refuted.point[None]))[0]
        near_tie = bool(
            (_outputs(margins.layers, refuted.point) >= 0.0).all()
        )  # ahead of all rivals, but not by enough
        return Counterexample(refuted.point, label, refuted.margin, time.perf_counter() - began, near_tie)
    except Unsettled as unsettled:
        return Undecided(str(unsettled), time.perf_counter() - began, unsettled.reached)
    return Certificate(
        model.fingerprint,
        target,
        body,
        "linear bounds with branch and bound",
        margin,
        time.perf_counter() - began,
        _ASSUMPTIONS,
    )


def _categories(body: Body) -> Iterator[InputSet]:
    """One set of inputs for every choice of categories that the bounds allow."""
    choices = []
    for members in body.free_groups:
        low, high = body.lower[members], body.upper[members]
        allowed = np.eye(members.size)[allowed_categories(low, high)]
        choices.append([dict(zip(members.tolist(), c.tolist(), strict=True)) for c in allowed])
    for combination in product(*choices):
        yield InputSet.all_of(body, {f: v for part in combination for f, v in part.items()})


def _outputs(layers: tuple[Affine, ...], point: Floats) -> Floats:
    """Margins over all rivals at one point, as computed here."""
    hidden = point
    for layer in layers[:-1]:
        hidden = np.maximum(layer(hidden), 0.0)
    return layers[-1](hidden)


class NetworkQuestion:
    """All rivals on one set of inputs."""

    def __init__(
        self, layers: tuple[Affine, ...], slack: Floats, inputs: InputSet, deadline: float, looks: float
    ) -> None:
        self.layers, self.hidden, self.last = layers, layers[:-1], layers[-1]
        self.inputs, self.deadline = inputs, deadline
        neurons = sum(layer.bias.size for layer in self.hidden)
        self.looks = looks
        self.price = max(
            1.0, (neurons / _FEW_NEURONS) ** 2
        )  # looks of a program: it grows with the square of its neurons
        self.tangents: list[Floats] = []
        phases = [np.zeros(layer.bias.size) for layer in self.hidden]
        intervals = propagate(self.hidden, inputs, phases)
        if intervals is None or not all(np.isfinite(i.low).all() and np.isfinite(i.high).all() for i in intervals):
            raise Unsettled(_OVERFLOW)
        self.root = Node(inputs, phases, intervals)
        self.needed = evaluation_error(layers, inputs, intervals) + slack
        if not np.isfinite(self.needed).all():
            raise Unsettled(_OVERFLOW)

    def settle(self) -> float:
        """The smallest proven margin beyond what is needed; raises if there is none."""
        point, rival = attack(self.layers, self.needed, self.inputs)
        self._try(point, rival)
        first = lower_bound(self.last.weight, self.last.bias, self.hidden, self.root.intervals, self.root.inputs)
        beyond = first.value - self.needed
        left, smallest = np.flatnonzero(~(beyond >= 0.0)), float(beyond[beyond >= 0.0].min(initial=math.inf))
        if not left.size:
            return smallest
        if self._is_plain_box:
            return min(smallest, *(self._settle_box(int(rival)) for rival in left))
        reduced = reduce_network(self.layers, self.inputs, self.root.intervals, left, self.needed)
        if reduced is None or not reduced.net.size:
            return min(smallest, *(self._settle_node(int(rival), self.root) for rival in left))
        return min(smallest, self._settle_open(reduced, left))

    def _settle_open(self, reduced: Reduced, rivals: Ints) -> float:
        """In kernels; parts that these cannot close, with all of their signs decided, by programs."""
        base = np.clip(self.inputs.body.center, self.inputs.lower, self.inputs.upper)

        def finish(rival: int, signs: Floats) -> float:
            phases = [np.zeros(layer.bias.size) for layer in self.hidden]
            for (layer, neuron), sign in zip(reduced.places, signs, strict=True):
                phases[layer][neuron] = sign
            nodes = self._node(self.root, self.inputs, phases)
            return min((self._settle_node(rival, node) for node in nodes), default=math.inf)

        search = OpenNeurons(reduced, base, self._try, finish, self.looks, self.deadline)
        found = search.settle(rivals)
        if found.reached is not None:
            raise Unsettled(_OUT_OF_TIME, found.reached)
        return found.smallest

    def margin_at(self, point: Floats, rival: int) -> float:
        return float(_outputs(self.layers, point)[rival] - self.needed[rival])

    def _try(self, point: Floats, rival: int) -> None:
        if self.margin_at(point, rival) > 0.0 and not self.inputs.body.whole[self.inputs.moving].any():
            return  # moving it by a rounding will not help
        snapped = snap(self.inputs, point)
        if snapped is not None and self.margin_at(snapped, rival) < 0.0:
            raise Refuted(snapped, self.margin_at(snapped, rival))

    def _settle_node(self, rival: int, root: Node) -> float:
        """Best-first: the node with the smallest bound is looked at next."""
        needed, ticket, smallest = float(self.needed[rival]), count(), math.inf
        first = self.bound(root, rival)
        heap = [(float(first.value[0]), next(ticket), root, first)]
        while heap:
            value, _, node, bound = heapq.heappop(heap)
            if value >= needed:
                return min(smallest, value - needed)
            self.looks -= self.price
            if self.looks < 0.0 or time.perf_counter() > self.deadline:
                raise Unsettled(_OUT_OF_TIME)
            bound, point = self.improve(node, rival, bound)
            value = max(value, float(bound.value[0]))
            if value >= needed:
                smallest = min(smallest, value - needed)
                continue
            for child in self._split(node, bound, point):
                fresh = self.bound(child, rival)
                heapq.heappush(heap, (max(value, float(fresh.value[0])), next(ticket), child, fresh))
        return smallest

    @property
    def _is_plain_box(self) -> bool:
        """One hidden layer over a box without whole numbers: envelopes of whole neurons are far tighter there."""
        body = self.inputs.body
        return len(self.hidden) == 1 and not is_round(body.shape) and not body.whole[self.inputs.moving].any()

    def _settle_box(self, rival: int) -> float:
        needed = float(self.needed[rival])
        f = Neuron(self.hidden[0], self.last.weight[rival], float(self.last.bias[rival]))
        search = BoxSearch(f, needed, self.deadline, lambda point: self._try(point, rival), self.looks / self.price)
        value = search.settle(self.inputs)
        match value:
            case Open.TIME:
                raise Unsettled(_OUT_OF_TIME)
            case Open.PRECISION:
                raise Unsettled(_ON_THE_BOUNDARY)
            case float():
                return value - needed

    def improve(self, node: Node, rival: int, bound: LinearBound) -> tuple[LinearBound, Floats]:
        """Better multipliers, until they suffice or no longer help much; and a point where the bound is lowest."""
        needed, stalled, price = float(self.needed[rival]), 0, _PRICES[0]
        if is_euclidean(self.inputs.body.shape):
            bound = self._better(node, rival, bound, self._climbed(node, bound, bound.multipliers))
        point = node.inputs.minimizer(bound.inputs[0])
        self._try(point, rival)
        if bound.value[0] >= needed or (len(self.hidden) == 1 and self._climbs(node)):
            return bound, point
        row = self.last.weight[rival]
        for _ in range(_ROUNDS):
            biggest = max(float(np.abs(slope).max()) for slope in bound.slopes)
            relaxed = relax(
                row,
                self.hidden,
                node.intervals,
                node.phases,
                node.inputs,
                self.tangents,
                price=price * (biggest + TINY),
                seconds=self.deadline - time.perf_counter(),
            )
            if relaxed is None:
                break
            point = relaxed.point
            self._try(point, rival)
            before = float(bound.value[0])
            bound = self._better(node, rival, bound, relaxed.multipliers)
            if is_euclidean(self.inputs.body.shape):
                bound = self._better(node, rival, bound, self._climbed(node, bound, relaxed.multipliers))
            value = float(bound.value[0])
            if value > before:
                self._try(node.inputs.minimizer(bound.inputs[0]), rival)
            stalled = 0 if value - before > _LITTLE * (needed - before) else stalled + 1
            if value >= needed or stalled > _PATIENCE or time.perf_counter() > self.deadline:
                break
            if _contradicting(node, relaxed) and price < _PRICES[1]:
                price = _PRICES[1]
            elif relaxed.inside:
                break
        return bound, point

    def _better(self, node: Node, rival: int, bound: LinearBound, multipliers: Sequence[Floats]) -> LinearBound:
        """The bound of other multipliers, if it is better."""
        row, constant = self.last.weight[rival : rival + 1], self.last.bias[rival : rival + 1]
        other = lower_bound(row, constant, self.hidden, node.intervals, node.inputs, multipliers)
        return other if other.value[0] > bound.value[0] else bound

    def _climbed(self, node: Node, bound: LinearBound, multipliers: Sequence[Floats]) -> list[Floats]:
        """The same multipliers, but the best ones for the first layer of a ball."""
        slopes = multipliers[1] @ self.hidden[1].weight if len(multipliers) > 1 else bound.slopes[0]
        first = climb(multipliers[0], slopes, self.hidden[0], node.intervals[0], node.inputs)
        return [first, *multipliers[1:]]

    def _climbs(self, node: Node) -> bool:
        """One hidden layer in a ball: climbing gives the same bound as the relaxation, while there is a neuron left to
        split."""
        return is_euclidean(self.inputs.body.shape) and bool(node.intervals[0].unstable.any())

    def _split(self, node: Node, bound: LinearBound, point: Floats) -> Iterator[Node]:
        split = self.where_to_split(node, bound, point)
        match split:
            case None:
                raise Unsettled(_ON_THE_BOUNDARY)
            case (int() as layer, int() as neuron):
                for sign in (1.0, -1.0):
                    phases = [p.copy() for p in node.phases]
                    phases[layer][neuron] = sign
                    yield from self._node(node, node.inputs, phases, unchanged=layer + 1)
            case (int() as column, at):
                for part in node.inputs.halves(column, at):
                    yield from self._node(node, part, node.phases)

    def where_to_split(
        self, node: Node, bound: LinearBound, point: Floats
    ) -> tuple[int, int] | tuple[int, float] | None:
        """A neuron (layer, number), or an input (column, value as a float); None if nothing is left to split."""
        choice = self._worst_neuron(node, bound, point)
        if choice is not None:
            return choice
        column = _least_whole(node, point)
        if column is None:
            column = self._widest(node)
        if column is None:
            return None
        low, high = node.inputs.lower[column], node.inputs.upper[column]
        return column, float(point[column] if self.inputs.body.whole[column] else (low + high) / 2)

    def bound(self, node: Node, rival: int) -> LinearBound:
        """By the slopes of CROWN."""
        row, constant = self.last.weight[rival : rival + 1], self.last.bias[rival : rival + 1]
        return lower_bound(row, constant, self.hidden, node.intervals, node.inputs)

    def _worst_neuron(self, node: Node, bound: LinearBound, point: Floats) -> tuple[int, int] | None:
        """The open neuron that costs the bound most at the point: lambda relu(z) - m z above its minimum; by size where
        the point says nothing."""
        best, worst, fallback, widest, hidden = None, 0.0, None, 0.0, point
        for k, (layer, at) in enumerate(zip(self.hidden, node.intervals, strict=True)):
            z = layer(hidden)
            hidden = np.maximum(z, 0.0)
            if not at.unstable.any():
                continue
            slopes, m = bound.slopes[k][0], bound.multipliers[k][0]
            weight = np.abs(slopes)
            size = np.where(
                at.unstable, np.minimum(at.high, -at.low) * (weight + _LEAST_WEIGHT * (1.0 + weight.max())), -1.0
            )
            if size.max() > widest:
                widest, fallback = float(size.max()), (k, int(np.argmax(size)))
            loss = np.where(at.unstable, slopes * hidden - m * z - bound.least[k][0], -1.0)
            if loss.max() > worst:
                worst, best = float(loss.max()), (k, int(np.argmax(loss)))
        return best if best is not None and worst > _NOISE * widest else fallback

    def _widest(self, node: Node) -> int | None:
        """The input with the widest range left, relative to the region; None if all are narrow."""
        columns = self.inputs.moving
        if not columns.size:
            return None
        share = (node.inputs.upper - node.inputs.lower)[columns] / (self.inputs.upper - self.inputs.lower)[columns]
        return int(columns[np.argmax(share)]) if share.max() > _NARROWEST else None

    def _node(self, parent: Node, inputs: InputSet, phases: list[Floats], unchanged: int = 0) -> Iterator[Node]:
        """The child, unless its intervals prove that it is empty."""
        intervals = propagate(self.hidden, inputs, phases, parent.intervals, unchanged)
        if intervals is not None:
            yield Node(inputs, phases, intervals)


def _contradicting(node: Node, relaxed: Relaxed) -> bool:
    """Does the relaxed point leave the intervals of its neurons? Then a higher price may prove the node empty."""
    for at, z in zip(node.intervals, relaxed.before, strict=True):
        room = _OUTSIDE * (1.0 + np.maximum(np.abs(at.low), np.abs(at.high)))
        if ((z < at.low - room) | (z > at.high + room)).any():
            return True
    return False


def _least_whole(node: Node, point: Floats) -> int | None:
    """A whole column that can still take several values, the least whole one first."""
    inputs = node.inputs
    several = np.flatnonzero(inputs.body.whole & (inputs.lower < inputs.upper))
    if not several.size:
        return None
    return int(several[np.argmax(np.abs(point - np.round(point))[several])])
