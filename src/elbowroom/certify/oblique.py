"""The judge for oblique trees: depth-first over joint leaves; each one dismissed is proven empty.

A leaf is a polyhedron {A x <= c}; c is widened by the rounding error of the model's dot products, so that a point near a
hyperplane counts on both sides. For each rival, trees get their leaves one after the other, smallest value first. A
branch is dismissed if

* the chosen values plus the smallest reachable values of the other trees reach the slack: nothing in it is bad; or
* multipliers lam >= 0 show that its polyhedron misses the region: min over the region of (lam A) . x > lam c. A linear
  program suggests lam, `InputSet.minima` bounds the left side soundly, and no status of the program is believed.

The program's deepest point is tried as a counterexample. A bad joint leaf that is neither proven empty nor has such a
point touches the region within rounding: then nothing is claimed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from itertools import product
from typing import Final

import numpy as np
from scipy.optimize import linprog

from elbowroom.certify.attack import snap
from elbowroom.certify.inputs import InputSet
from elbowroom.models import ObliqueEnsemble
from elbowroom.models.margins import TreeMargins, tree_margins
from elbowroom.numerics import SMALLEST, Bools, Floats, Ints, gamma
from elbowroom.problem import Body, Shape, Target, allowed_categories, shapes
from elbowroom.result import Certificate, Counterexample, Undecided, Verdict

SHAPES: Final = (Shape.BOX, Shape.BALL, Shape.DIAMOND)
_ASSUMPTIONS = (
    "the given hyperplanes, thresholds and leaf values are the model's",
    "dot products are computed in float64 in any order; points within their rounding of a hyperplane may go either way",
)
_TANGENTS = 40  # rounds of cuts of a ball or diamond per polyhedron
_OUTSIDE = 1e-9


class _Unsettled(Exception):  # noqa: N818 - an outcome, not an error
    """The judge cannot tell; the argument says why."""


class _Refuted(Exception):  # noqa: N818 - an outcome, not an error
    """A point whose margin is too small."""

    def __init__(self, point: Floats, margin: float) -> None:
        super().__init__()
        self.point, self.margin = point, margin


def judge_oblique(
    model: ObliqueEnsemble, target: Target, body: Body, deadline: float, looks: float = math.inf
) -> Verdict:
    """A certificate, a point of the body that is not (safely) of the wanted class, or Undecided with a reason."""
    began = time.perf_counter()
    margins = tree_margins(model, target.index(model.info), target.need)
    margin = math.inf
    try:
        for inputs in _categories(body):
            for rival in range(margins.slack.size):
                question = _Question(model, margins.value[:, rival], inputs, deadline, looks)
                slack = float(margins.slack[rival])
                spare = question.settle(float(margins.base[rival]), slack)
                margin = min(margin, max(0.0, spare + min(slack, 0.0)))  # below 0 it only tells exact sums apart
    except _Refuted as refuted:
        label = model.info.says(model.scores(refuted.point[None]))[0]
        near_tie = _may_hold(model, margins.hopeful or margins, refuted.point)
        seconds = time.perf_counter() - began
        return Counterexample(refuted.point, label, min(refuted.margin, -SMALLEST), seconds, near_tie)
    except _Unsettled as unsettled:
        return Undecided(str(unsettled), time.perf_counter() - began)
    seconds = time.perf_counter() - began
    method = "joint leaves, each empty by a linear proof or good"
    return Certificate(model.fingerprint, target, body, method, margin, seconds, _ASSUMPTIONS)


def _categories(body: Body) -> Iterator[InputSet]:
    """One set of inputs for every choice of categories that the bounds allow."""
    choices = []
    for members in body.free_groups:
        low, high = body.lower[members], body.upper[members]
        allowed = np.eye(members.size)[allowed_categories(low, high)]
        choices.append([dict(zip(members.tolist(), c.tolist(), strict=True)) for c in allowed])
    for combination in product(*choices):
        yield InputSet.all_of(body, {f: v for part in combination for f, v in part.items()})


class _Question:
    """One rival on one set of inputs."""

    def __init__(
        self, model: ObliqueEnsemble, value: Floats, inputs: InputSet, deadline: float, looks: float = math.inf
    ) -> None:
        self.model, self.leaves, self.value, self.deadline = model, model.leaves, value, deadline
        self.inputs, self.looks = inputs, looks
        self.error = 2.0 * model.split_error(inputs.magnitude)
        if not np.isfinite(self.error).all():
            raise _Unsettled("the dot products overflow float64 inside the region")

    def settle(self, base: float, slack: float) -> float:
        """The smallest proven margin beyond the slack; raises if there is none."""
        self.base, self.slack, self.margin = base, slack, math.inf
        self._try(np.clip(self.inputs.body.center, self.inputs.lower, self.inputs.upper), self.inputs)
        self._visit(self.inputs, {})
        return self.margin

    # ---- one branch ---------------------------------------------------------------------------------------------------
    def _visit(self, inputs: InputSet, chosen: dict[int, int]) -> None:
        """``chosen`` maps trees to leaves; their polyhedra and the inputs make the branch."""
        self.looks -= 1.0
        if self.looks < 0.0 or time.perf_counter() > self.deadline:
            raise _Unsettled("a limit was reached before every joint leaf was judged")
        reachable = self._reachable(inputs)
        options = [
            np.array([chosen[k]]) if k in chosen else reachable[self._slice(k)] for k in range(self.leaves.n_trees)
        ]
        if any(o.size == 0 for o in options):
            return  # no point of these inputs is in any leaf of some tree: there is no point
        smallest = np.array([float(self.value[o].min()) for o in options])
        if self.base + float(smallest.sum()) >= self.slack:
            self.margin = min(self.margin, self.base + float(smallest.sum()) - self.slack)
            return
        normals, limits = self._polyhedron(list(chosen.values()))
        point, empty = _deepest(inputs, normals, limits)
        if empty:
            return
        if point is not None:
            self._try(point, inputs)
        spread = [(float(np.ptp(self.value[o])) if o.size > 1 else -1.0) for o in options]
        undecided = [k for k in range(self.leaves.n_trees) if k not in chosen]
        if not undecided:
            self._split_whole_column(inputs, chosen, point)
            return
        tree = max(undecided, key=lambda k: spread[k])
        rest = self.base + float(np.delete(smallest, tree).sum())  # not by subtraction: sums may have to be exact
        for leaf in options[tree][np.argsort(self.value[options[tree]], kind="stable")]:
            if rest + self.value[leaf] >= self.slack:  # this one and all larger ones are good whatever the others do
                self.margin = min(self.margin, rest + float(self.value[leaf]) - self.slack)
                break
            self._visit(inputs, {**chosen, tree: int(leaf)})

    def _split_whole_column(self, inputs: InputSet, chosen: dict[int, int], point: Floats | None) -> None:
        """A bad joint leaf that meets the relaxed region: split a whole column; otherwise nothing can be claimed."""
        whole = np.flatnonzero(inputs.body.whole & (inputs.lower < inputs.upper))
        if not whole.size:
            raise _Unsettled("a bad leaf touches the region within rounding")
        away = np.zeros(whole.size) if point is None else np.abs(point[whole] - np.round(point[whole]))
        column = int(whole[np.argmax(away)])
        middle = (inputs.lower[column] + inputs.upper[column]) / 2 if point is None else float(point[column])
        for part in inputs.halves(column, float(middle)):
            self._visit(part, chosen)

    def _slice(self, tree: int) -> Ints:
        """Where the leaves of a tree are among the reachable ones."""
        return np.arange(self.leaves.offsets[tree], self.leaves.offsets[tree + 1])

    def _reachable(self, inputs: InputSet) -> _Masked:
        """Leaves none of whose splits alone excludes the inputs."""
        low, high = inputs.minima(self.model.weight), -inputs.minima(-self.model.weight)
        left = low <= self.model.threshold + self.error
        right = high >= self.model.threshold - self.error
        leaves = self.leaves
        fine = np.where(leaves.goes_left, left[leaves.path_node], right[leaves.path_node])
        out = np.zeros(len(leaves.value), dtype=bool)
        out[leaves.path_leaf[~fine]] = True
        return _Masked(~out)

    def _polyhedron(self, chosen: list[int]) -> tuple[Floats, Floats]:
        rows, limits = [np.empty((0, self.model.weight.shape[1]))], [np.empty(0)]
        for leaf in chosen:
            nodes, goes_left = self.leaves.path(leaf)
            sign = np.where(goes_left, 1.0, -1.0)
            rows.append(sign[:, None] * self.model.weight[nodes])
            limits.append(sign * self.model.threshold[nodes] + self.error[nodes])
        return np.concatenate(rows), np.concatenate(limits)

    def _try(self, point: Floats, inputs: InputSet) -> None:
        """Raise if the point (or one within rounding of it) is in the body and not safely of the wanted class."""
        inside = snap(inputs, point)
        if inside is None:
            return
        margin = self.base + self._worst_sum(inside) - self.slack
        if margin < 0.0:
            raise _Refuted(inside, margin)

    def _worst_sum(self, point: Floats) -> float:
        """The smallest sum that rounding could make of this point."""
        value = np.where(_reached(self.model, point), self.value, np.inf)
        return float(sum(value[self._slice(k)].min() for k in range(self.leaves.n_trees)))


def _reached(model: ObliqueEnsemble, point: Floats) -> Bools:
    """The leaves that a point may reach, depending on the rounding of the dot products."""
    dot = model.weight @ point
    error = 2.0 * model.split_error(np.abs(point))
    left, right = dot <= model.threshold + error, dot >= model.threshold - error
    leaves = model.leaves
    fine = np.where(leaves.goes_left, left[leaves.path_node], right[leaves.path_node])
    reached = np.ones(len(leaves.value), dtype=np.bool_)
    reached[leaves.path_leaf[~fine]] = False
    return reached


def _may_hold(model: ObliqueEnsemble, hopeful: TreeMargins, point: Floats) -> bool:
    """False if some rival wins at the point whatever rounding does to its dot products and sums."""
    value = np.where(_reached(model, point)[:, None], hopeful.value, -np.inf)
    largest = np.maximum.reduceat(value, model.leaves.offsets[:-1], axis=0)
    return bool((hopeful.base + largest.sum(axis=0) >= hopeful.slack).all())


class _Masked:
    """Indexing that keeps the reachable ones."""

    def __init__(self, mask: Bools) -> None:
        self.mask = mask

    def __getitem__(self, leaves: Ints) -> Ints:
        return np.asarray(leaves[self.mask[leaves]])


def _deepest(inputs: InputSet, normals: Floats, limits: Floats) -> tuple[Floats | None, bool]:
    """The point of the inputs deepest inside {normals x <= limits} (None if the program gives none), and whether the
    polyhedron is proven to miss the inputs."""
    if not len(limits):
        return None, False
    body, columns = inputs.body, inputs.round_columns
    n = inputs.lower.size
    unit = np.maximum(inputs.upper - inputs.lower, 0.0)
    length = np.abs(normals) @ unit
    moves = length > 0.0  # rows of columns that cannot move are constant: they have no depth
    length = np.where(moves, length, 1.0)
    if _proven_empty(inputs, normals, limits, np.eye(len(limits))):
        return None, True
    origin = np.clip(body.center, inputs.lower, inputs.upper)
    # columns: x - origin in units of the region, then the depth t
    scale = np.where(unit > 0, unit, 1.0)
    rows = np.hstack([normals * scale / length[:, None], moves[:, None].astype(np.float64)])
    right = (limits - normals @ origin) / length
    bounds = [*zip((inputs.lower - origin) / scale, (inputs.upper - origin) / scale, strict=True), (-10.0, 1.0)]
    cost = np.zeros(n + 1)
    cost[n] = -1.0
    cuts, cut_right = np.empty((0, n + 1)), np.empty(0)  # tangents of the ball, faces of the diamond
    for _ in range(_TANGENTS):
        result = linprog(
            cost, A_ub=np.vstack([rows, cuts]), b_ub=np.concatenate([right, cut_right]), bounds=bounds, method="highs"
        )
        if result.x is None or not np.isfinite(result.x).all():
            return None, False
        multipliers = np.maximum(-np.asarray(result.ineqlin.marginals)[: len(limits)], 0.0) / length
        if _proven_empty(inputs, normals, limits, multipliers[None]):
            return None, True
        point = origin + scale * result.x[:n]
        if not columns.size:
            return point, False
        y = (point - body.center)[columns] / body.axes[columns]
        if shapes.length(body.shape, y) <= 1.0 + _OUTSIDE:
            return point, False
        outwards = shapes.normal(body.shape, y) / body.axes[columns]
        row = np.zeros(n + 1)
        row[columns] = outwards * scale[columns]
        cuts = np.vstack([cuts, row])
        cut_right = np.append(cut_right, 1.0 - float(outwards @ (origin - body.center)[columns]))
    return point, False


def _proven_empty(inputs: InputSet, normals: Floats, limits: Floats, multipliers: Floats) -> bool:
    """True if for some row lam of multipliers lam A . x > lam c at every point of the inputs, rounding included."""
    rows, right = multipliers @ normals, multipliers @ limits
    size = np.abs(multipliers) @ (np.abs(normals) @ inputs.magnitude + np.abs(limits))
    noise = 4.0 * gamma(limits.size + inputs.lower.size + 8) * size
    return bool((inputs.minima(rows) > right + noise).any())
