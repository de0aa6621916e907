"""One hidden layer over a box: thousands of small boxes judged with the multipliers of one.

With x = lower + width t, 0 <= t <= 1, slopes theta and beta (see `network_boxes`) give a concave function below f,

    f(x) >= F(t) = c + g.t + sum over v_q < 0 of v_q max(-beta_q.t, z0_q + (a_q - beta_q).t),      g = sum v theta a + sum v beta,

whose minimum over any box of t lies at a corner. For a part of the box in which some t_i are fixed at an end,

    c + min g.t + sum v_q max( max -beta_q.t,  z0_q + max (a_q - beta_q).t )

is a lower bound. Fixing one more t_i changes every inner maximum by one number, so that a part costs as many operations
as there are neurons, against a linear program for new multipliers. Depth first, always fixing the input that helps most,
this proves F >= needed at all corners, or ends at a corner (or out of work) without a proof.
"""

from __future__ import annotations

import math

import numpy as np

from elbowroom.certify.inputs import InputSet
from elbowroom.certify.intervals import Interval
from elbowroom.kernels.kernel import kernel
from elbowroom.kernels.warm import is_loaded, without_collection
from elbowroom.models import Affine
from elbowroom.numerics import TINY, Floats, Ints, gamma

_LARGER = 0.2  # weight of the better side when an input is chosen; the worse side has weight 1
_ROOM_FOR_ERRORS = 4.0


def proven_at_corners(
    layer: Affine, out: Floats, constant: float, at: Interval, inputs: InputSet, theta: Floats, beta: Floats,
    needed: float, work: float,
) -> float | None:  # fmt: skip
    """A proven lower bound (at least ``needed``) of f on the box, or None; ``work`` limits the operations.

    theta (neurons,) is clipped to [0, 1]; beta (neurons, inputs) may be any numbers. Neurons of known sign are linear.
    """
    columns = inputs.moving
    if not columns.size:
        return None
    W, b, v = layer.weight, layer.bias, out
    upper = (v < 0.0) & at.unstable
    slope = np.where(at.low >= 0.0, 1.0, np.where(at.high <= 0.0, 0.0, np.clip(theta, 0.0, 1.0)))
    slope = np.where(upper, 0.0, slope)
    width = (inputs.upper - inputs.lower)[columns]
    a, z0 = W[:, columns] * width, W @ inputs.lower + b
    mixed = beta[np.ix_(upper, columns)] * width
    rest = a[upper] - mixed
    g = (v * slope) @ a + v[upper] @ mixed
    base = constant + float((v * slope) @ z0)
    # Rounding: all numbers above and all sums of the search are sums of at most 4 n + 2 q + 40 products (fixing an input
    # adds two operations to a sum), whose sizes add up to less than ``size`` at any time; F is Lipschitz in each.
    magnitude = np.abs(W) @ inputs.magnitude
    terms = 4.0 * magnitude + np.abs(b)
    terms[upper] += 4.0 * (np.abs(a[upper]) + np.abs(mixed)).sum(axis=1)
    size = abs(constant) + float(np.abs(v) @ terms)
    error = _ROOM_FOR_ERRORS * gamma(8 * (columns.size + v.size) + 64) * size + TINY
    goal = needed + error
    if not (math.isfinite(goal) and np.isfinite(g).all() and np.isfinite(mixed).all() and np.isfinite(rest).all()):
        return None
    parts = max(int(work / (columns.size * max(rest.shape[0], 1))), 1)
    smallest = prove_corners(
        base, g, np.ascontiguousarray(mixed.T), np.ascontiguousarray(rest.T), z0[upper], v[upper], goal, parts
    )
    return smallest - error if smallest >= goal else None


def prove_corners(
    base: float, g: Floats, beta: Floats, rest: Floats, z0: Floats, v: Floats, goal: float, parts: int
) -> float:
    """The smallest bound among the parts that cover the box, each at least ``goal``; -inf if a corner is below it or
    more than ``parts`` parts would have to be divided."""
    n, q = beta.shape
    falling, rising, linear = np.zeros((n + 1, q)), np.zeros((n + 1, q)), np.zeros(n + 1)
    linear[0], rising[0] = base, z0
    free, chosen, waiting = np.ones(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros((n, 2), dtype=np.int64)
    return float(_depth_first(g, beta, rest, v, goal, parts, falling, rising, linear, free, chosen, waiting))


def prepare_corners() -> None:
    """Load, or compile once, the kernel below: easy questions do not come this far."""
    if not is_loaded(_depth_first):
        line, square = np.ones(2), np.eye(2)
        with without_collection():
            prove_corners(0.0, line, square, square, line, -line, -9.0, 1)


@kernel
def _depth_first(
    g: Floats, beta: Floats, rest: Floats, v: Floats, goal: float, parts: int,
    falling: Floats, rising: Floats, linear: Floats, free: Ints, chosen: Ints, waiting: Ints,
) -> float:  # fmt: skip
    """Per depth: falling, the max of -beta.t over the part; rising, z0 + max of (a - beta).t; linear, base + min of g.t;
    and waiting, the ends of the chosen input that are not yet done."""
    n, q = beta.shape
    for i in range(n):
        linear[0] += min(g[i], 0.0)
        for k in range(q):
            falling[0, k] += max(-beta[i, k], 0.0)
            rising[0, k] += max(rest[i, k], 0.0)
    value = linear[0]
    for k in range(q):
        value += v[k] * max(falling[0, k], rising[0, k])
    if value >= goal:
        return value
    smallest = np.inf
    depth = divided = 0
    while True:
        divided += 1
        if depth == n or divided > parts:
            return -np.inf
        best, best_score, at_zero, at_one = -1, -np.inf, 0.0, 0.0
        for i in range(n):
            if free[i] == 0:
                continue
            zero = linear[depth] - min(g[i], 0.0)
            one = zero + g[i]
            for k in range(q):
                fall = falling[depth, k] - max(-beta[i, k], 0.0)
                rise = rising[depth, k] - max(rest[i, k], 0.0)
                zero += v[k] * max(fall, rise)
                one += v[k] * max(fall - beta[i, k], rise + rest[i, k])
            score = min(min(zero, one), goal) + _LARGER * min(max(zero, one), goal)
            if score > best_score:
                best, best_score, at_zero, at_one = i, score, zero, one
        if best < 0:
            return -np.inf
        chosen[depth] = best
        free[best] = 0
        waiting[depth, 0] = 0 if at_zero >= goal else 1
        waiting[depth, 1] = 0 if at_one >= goal else 1
        if waiting[depth, 0] == 0:
            smallest = min(smallest, at_zero)
        if waiting[depth, 1] == 0:
            smallest = min(smallest, at_one)
        while waiting[depth, 0] + waiting[depth, 1] == 0:
            free[chosen[depth]] = 1
            if depth == 0:
                return smallest
            depth -= 1
        end = 1 - waiting[depth, 0]
        waiting[depth, end] = 0
        i = chosen[depth]
        linear[depth + 1] = linear[depth] - min(g[i], 0.0) + end * g[i]
        for k in range(q):
            falling[depth + 1, k] = falling[depth, k] - max(-beta[i, k], 0.0) - end * beta[i, k]
            rising[depth + 1, k] = rising[depth, k] - max(rest[i, k], 0.0) + end * rest[i, k]
        depth += 1
