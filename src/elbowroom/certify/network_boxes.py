"""One hidden layer over a box: envelopes of whole neurons, and branching on inputs.

f(x) = c + sum_q v_q relu(w_q . x + b_q). On a box, for ANY slopes theta_q in [0, 1] (where v_q > 0) and ANY vectors beta_q
(where v_q < 0)

    relu(z_q) >= theta_q z_q,      relu(z_q) <= alpha_q + beta_q . x,
    alpha_q = max( max over the box of -beta_q . x,  b_q + max over the box of (w_q - beta_q) . x ),

so that f(x) >= c + sum theta v (w.x + b) + sum v (alpha + beta.x), whose minimum over the box is explicit. The result is
a proof whatever theta and beta are. Good ones come from a linear program whose rows are the sorted envelope cuts of
Anderson et al. (2020), much tighter than chords because they see single inputs; nothing else of the program's answer
is believed. Multipliers that do not prove a part as a whole often prove it piece by piece (`corners`), at a tiny share
of the cost of new ones. Inputs along which f is monotone are fixed; where f is concave its minimum lies at a corner, and
a split input takes only its two ends.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from itertools import count

import numpy as np

from elbowroom.certify.box_program import BoxProgram, quiet_solver
from elbowroom.certify.corners import proven_at_corners
from elbowroom.certify.inputs import InputSet
from elbowroom.certify.intervals import Interval
from elbowroom.models import Affine
from elbowroom.numerics import TINY, Bools, Floats, Ints, gamma

_ROUNDS = 8  # of cuts per node
_LITTLE = 0.02  # share of the gap that a round must close
_SHARE = 0.1  # split points closer to an end than this share of the range move to the middle
_NARROWEST = 1e-9  # inputs are not split below this share of the region
_ROOM_FOR_ERRORS = 1.01
# Operations for the corners of one part: more after every part that stayed open, never more than half a second.
_WORK, _MOST_WORK = 2e7, 4e8


class Open(Enum):
    """Why a search ended without a proof and without a counterexample."""

    TIME = "time is up"
    PRECISION = "a part that cannot be divided any further is still below what is needed"


@dataclass(frozen=True, eq=False)
class Neuron:
    """The hidden layer and one row of the output, f(x) = constant + out . relu(W x + b)."""

    layer: Affine
    out: Floats
    constant: float

    def __call__(self, x: Floats) -> float:
        return float(self.out @ np.maximum(self.layer(x), 0.0)) + self.constant


def proven_value(f: Neuron, at: Interval, inputs: InputSet, theta: Floats, beta: Floats) -> float:
    """The lower bound of the docstring above for the given theta (neurons,) and beta (neurons, inputs).

    Neurons with a known sign (by ``at``) are linear or zero. Every rounding is bounded and subtracted.
    """
    W, b, v = f.layer.weight, f.layer.bias, f.out
    upper = (v < 0.0) & at.unstable
    slope = np.where(at.low >= 0.0, 1.0, np.where(at.high <= 0.0, 0.0, np.clip(theta, 0.0, 1.0)))
    slope = np.where(upper, 0.0, slope)
    beta = np.where(upper[:, None], beta, 0.0)
    alpha = np.zeros(v.size)
    if upper.any():
        rows = beta[upper]
        rest = W[upper] - rows
        rounding = gamma(2) * (np.abs(W[upper]) + np.abs(rows)) @ inputs.magnitude * _ROOM_FOR_ERRORS
        above = b[upper] - inputs.minima(-rest) + rounding
        above += gamma(4) * (np.abs(b[upper]) + np.abs(above))
        alpha[upper] = np.maximum(-inputs.minima(rows), above)
    terms = np.where(upper, v * alpha, v * slope * b)
    gradient = (v * slope) @ W + v @ beta
    sizes = np.abs(v * slope) @ np.abs(W) + np.abs(v) @ np.abs(beta)
    lowest = float(inputs.minima(gradient[None])[0])
    error = gamma(v.size + 8) * (
        float(np.abs(terms).sum()) + abs(f.constant) + abs(lowest) + float(sizes @ inputs.magnitude)
    )
    return float(f.constant + terms.sum() + lowest - error * _ROOM_FOR_ERRORS - TINY)


@dataclass(frozen=True, eq=False)
class _Node:
    inputs: InputSet
    neurons: Ints  # of the inherited cuts
    cuts: Floats  # their slopes in x


@dataclass(frozen=True, eq=False)
class _Looked:
    """A node after its program: the proven value, a low point, tight cuts, and where to split."""

    value: float
    point: Floats
    node: _Node
    column: int | None
    corner: bool


class BoxSearch:
    """Best-first search for a proof of f >= needed on a box."""

    def __init__(
        self,
        f: Neuron,
        needed: float,
        deadline: float,
        attempt: Callable[[Floats], None],
        most_looks: float = np.inf,
    ) -> None:
        self.f, self.needed, self.deadline, self.attempt = f, needed, deadline, attempt
        self.most_looks = most_looks
        self.solver = quiet_solver()
        self.looks = 0

    def settle(self, inputs: InputSet) -> float | Open:
        """The smallest proven value (at least needed), or why there is none. ``attempt`` sees every low point and raises
        if one is a counterexample."""
        width = inputs.lower.size
        self._narrow = _NARROWEST * (inputs.upper - inputs.lower)
        ticket = count()
        first = self._look(_Node(inputs, np.zeros(0, dtype=np.int64), np.zeros((0, width))))
        heap = [(first.value, next(ticket), first)]
        smallest = np.inf
        while heap:
            value, _, looked = heapq.heappop(heap)
            if value >= self.needed:
                return float(min(smallest, value))
            if looked.column is None:
                return Open.PRECISION
            if self.looks > self.most_looks or time.perf_counter() > self.deadline:
                return Open.TIME
            for part in _parts(looked):
                child = self._look(replace(looked.node, inputs=part))
                better = max(child.value, value)
                if better >= self.needed:
                    smallest = min(smallest, better)
                else:
                    heapq.heappush(heap, (better, next(ticket), replace(child, value=better)))
        return float(smallest)

    def _interval(self, inputs: InputSet) -> Interval:
        W, b = self.f.layer.weight, self.f.layer.bias
        low, high = inputs.minima(W), -inputs.minima(-W)
        slack = 2 * gamma(4) * (np.maximum(np.abs(low), np.abs(high)) + np.abs(b)) + TINY
        return Interval(low + b - slack, high + b + slack)

    def _fixed(self, inputs: InputSet) -> tuple[InputSet, Interval]:
        """Fix inputs along which f cannot fall: the sign of the gradient is known on the whole box."""
        W, v = self.f.layer.weight, self.f.out
        at = self._interval(inputs)
        while True:
            T = v[:, None] * W
            sure = (at.low >= 0.0) @ T
            open_ = T[at.unstable]
            slack = gamma(v.size + 4) * np.abs(T).sum(axis=0)
            least = sure + np.minimum(open_, 0.0).sum(axis=0) - slack
            most = sure + np.maximum(open_, 0.0).sum(axis=0) + slack
            moving = inputs.lower < inputs.upper
            up, down = moving & (least >= 0.0), moving & (most <= 0.0)
            if not (up | down).any():
                return inputs, at
            inputs = replace(
                inputs, upper=np.where(up, inputs.lower, inputs.upper), lower=np.where(down, inputs.upper, inputs.lower)
            )
            at = self._interval(inputs)

    def _look(self, node: _Node) -> _Looked:
        """Rounds of cuts; the best proven value of all rounds counts."""
        inputs, at = self._fixed(node.inputs)
        node = replace(node, inputs=inputs)
        W, b, v = self.f.layer.weight, self.f.layer.bias, self.f.out
        columns = inputs.moving
        width = (inputs.upper - inputs.lower)[columns]
        P, N = np.flatnonzero((v > 0.0) & at.unstable), np.flatnonzero((v < 0.0) & at.unstable)
        z0, a = W @ inputs.lower + b, W[:, columns] * width
        if not columns.size or not (P.size or N.size):
            gradient = (v * (at.low >= 0.0)) @ W
            point = inputs.minimizer(gradient)
            self.attempt(point)
            value = proven_value(self.f, at, inputs, np.zeros(v.size), np.zeros(W.shape))
            return _Looked(value, point, node, None, False)
        inherited = np.isin(node.neurons, N)
        program = BoxProgram(
            solver=self.solver, z0=z0, a=a, v=v, at=at, P=P, N=N,
            neurons=node.neurons[inherited], slopes=node.cuts[inherited][:, columns] * width,
        )  # fmt: skip
        value = self._cut(program, at, inputs, columns, width, fresh=not inherited.any())
        point = inputs.lower.copy()
        point[columns] += program.t * width
        point = np.clip(point, inputs.lower, inputs.upper)
        if value < self.needed:
            self.attempt(point)
            self.attempt(self._descend(point, inputs))
        neurons, cuts = program.tight()
        in_x = np.zeros((len(cuts), W.shape[1]))
        in_x[:, columns] = cuts / width
        wide = width > self._narrow[columns]
        column = self._column(columns, wide, program)
        return _Looked(value, point, _Node(inputs, neurons, in_x), column, not P.size)

    def _cut(
        self, program: BoxProgram, at: Interval, inputs: InputSet, columns: Ints, width: Floats, fresh: bool
    ) -> float:
        """Rounds of cuts, then corner by corner with the best multipliers; the best proven value."""
        f, value, last = self.f, -np.inf, -np.inf
        theta, beta = np.zeros(f.out.size), np.zeros(f.layer.weight.shape)
        if fresh:
            program.cut(everywhere=True)
        for k in range(_ROUNDS):
            found = program.solve()
            if found is None:
                break
            slopes = np.zeros(f.layer.weight.shape)
            slopes[np.ix_(program.N, columns)] = found.mixed / width
            proven = proven_value(f, at, inputs, found.theta, slopes)
            if proven > value:
                value, theta, beta = proven, found.theta, slopes
            if value >= self.needed or (k > 1 and value - last < _LITTLE * abs(self.needed - value)):
                break
            if time.perf_counter() > self.deadline:
                break
            last = value
            if not program.cut():
                break
        if value >= self.needed:
            return value
        self.looks += 1
        work = min(_WORK * self.looks, _MOST_WORK)
        cornered = proven_at_corners(
            layer=f.layer, out=f.out, constant=f.constant, at=at, inputs=inputs, theta=theta, beta=beta,
            needed=self.needed, work=work,
        )  # fmt: skip
        return value if cornered is None else cornered

    def _descend(self, x: Floats, inputs: InputSet) -> Floats:
        """Corner to corner along the gradient while f falls."""
        W, v = self.f.layer.weight, self.f.out
        best = self.f(x)
        for _ in range(20):
            gradient = (v * (self.f.layer(x) > 0.0)) @ W
            corner = np.where(gradient > 0.0, inputs.lower, inputs.upper)
            value = self.f(corner)
            if value >= best:
                break
            x, best = corner, value
        return x

    def _column(self, columns: Ints, wide: Bools, program: BoxProgram) -> int | None:
        """The input to split: far from its ends, and with much weight in neurons whose relaxation errs."""
        a, v, N, P, t = program.a, program.v, program.N, program.P, program.t
        z = program.z0 + a @ t
        loss = np.maximum(-v[N] * (program.heights - np.maximum(z[N], 0.0)), 0.0)
        score = np.where(wide, np.minimum(t, 1.0 - t) * (loss @ np.abs(a[N])), 0.0)
        if not score.max(initial=0.0) > 0.0:
            open_ = np.concatenate([N, P])
            score = np.where(wide, np.abs(v[open_]) @ np.abs(a[open_]), 0.0)
        return int(columns[np.argmax(score)]) if score.size and score.max() > 0.0 else None


def _parts(looked: _Looked) -> list[InputSet]:
    """Both ends where f is concave; otherwise two halves, split at the low point or in the middle."""
    inputs, i = looked.node.inputs, looked.column
    assert i is not None
    low, high = float(inputs.lower[i]), float(inputs.upper[i])
    if looked.corner:
        fixed = []
        for end in (low, high):
            lower, upper = inputs.lower.copy(), inputs.upper.copy()
            lower[i] = upper[i] = end
            fixed.append(replace(inputs, lower=lower, upper=upper))
        return fixed
    at = float(looked.point[i])
    if min(at - low, high - at) < _SHARE * (high - low):
        at = 0.5 * (low + high)
    return list(inputs.halves(i, at))
