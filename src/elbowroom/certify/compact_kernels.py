"""Kernels on a `Compact` network: bounds of one row over a node. Every value is a proof, whatever the multipliers.

A node is a table with five rows: the intervals ``LOW`` and ``HIGH`` of every open neuron, its lower slope ``ALPHA`` in [0, 1], the ``PRICE``
>= 0 of its decided sign, and the ``SIGN`` (+1: z >= 0, -1: z <= 0, 0: open). The multiplier of a neuron with coefficient s is

    on:  s - price (z >= 0, so that -price z may be added);   off:  price;   open, s >= 0:  s alpha;   open, s < 0:  s times the chord.

With these  s relu(z) - m z  is at least 0 in exact arithmetic, also after rounding (products and differences round monotonously),
except under the chord, where its smallest value is computed and counted. Scratch rows are the kernels' own.
"""

from __future__ import annotations

import math

import numpy as np

from elbowroom.certify.compact import Compact
from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.kernels.warm import is_loaded, without_collection
from elbowroom.numerics import TINY, Floats

LOW, HIGH, ALPHA, PRICE, SIGN = range(5)
NODE_ROWS = 5
G, X, LAM, START, STEP_ALPHA, STEP_PRICE, FIRST, SECOND, HIDDEN, BEST_X, BEST_LAM = range(11)
SCRATCH_ROWS = 11
_HARDLY = 1e-300
_BISECTIONS = 40
_ROOM_FOR_ERRORS = 1.01


@inner_kernel
def least(net: Compact, work: Floats) -> float:
    """A proven lower bound of g . x over the room (g is in the scratch), and a point where it is about that."""
    columns = net.low.size
    total, size = 0.0, 0.0
    if net.shape == 0:
        for j in range(columns):
            g = work[G, j]
            at = net.low[j] if g >= 0.0 else net.high[j]
            work[X, j] = at
            total += g * at
            size += abs(g * at)
        return total - net.rounding * size * _ROOM_FOR_ERRORS
    mu = _ball_price(net, work) if net.shape == 1 else _diamond_price(net, work)
    # for every mu >= 0 the minimum is at least  g . center - mu + sum of min (v y + mu y^2), or |y| for diamonds
    total, size = -mu, mu
    left = 1.0
    for j in range(columns):
        g = work[G, j]
        v = g * net.axes[j]
        if net.shape == 1:
            y = -v / max(2.0 * mu, _HARDLY)
            y = min(max(y, net.lowest[j]), net.highest[j])
            cost = mu * y * y
        else:
            y = 0.0
            cost = 0.0
            if abs(v) > mu:
                y = net.lowest[j] if v > 0.0 else net.highest[j]
                cost = mu * abs(y)
        offset = g * net.center[j]
        total += offset + v * y + cost
        size += abs(offset) + abs(v * y) + cost
        if net.shape == 2:
            y = min(max(y, -left), left)
            left -= abs(y)
        work[X, j] = min(max(net.center[j] + net.axes[j] * y, net.low[j]), net.high[j])
    if net.shape == 2 and left > 0.0:
        _spend(net, work, mu, left)
    return total - net.rounding * size * _ROOM_FOR_ERRORS


@inner_kernel
def _spend(net: Compact, work: Floats, mu: float, left: float) -> None:
    """What is left of a diamond's budget goes to the column whose slope is the price: a point for attacks, no more."""
    for j in range(net.low.size):
        v = work[G, j] * net.axes[j]
        if left > 0.0 and abs(v) <= mu and abs(v) >= mu * (1.0 - 1e-6):
            y = max(net.lowest[j], -left) if v > 0.0 else min(net.highest[j], left)
            left -= abs(y)
            work[X, j] = min(max(net.center[j] + net.axes[j] * y, net.low[j]), net.high[j])


@inner_kernel
def _ball_price(net: Compact, work: Floats) -> float:
    """Half the length of v; where limits cut the ball, columns that reach them stay there and the others share what is left."""
    squares = 0.0
    for j in range(net.low.size):
        v = work[G, j] * net.axes[j]
        squares += v * v
    scale = 1.0 / (math.sqrt(squares) + _HARDLY)
    if net.cut == 1:
        for _ in range(16):
            left, free = 1.0, 0.0
            for j in range(net.low.size):
                v = work[G, j] * net.axes[j]
                reach = -net.lowest[j] if v > 0.0 else net.highest[j]
                if abs(v) * scale >= reach:
                    left -= reach * reach
                else:
                    free += v * v
            fresh = math.sqrt(max(left, 0.0) / max(free, _HARDLY))
            if not fresh > scale * (1.0 + 1e-9):
                break
            scale = fresh
    return 0.5 / scale


@inner_kernel
def _diamond_price(net: Compact, work: Floats) -> float:
    """The slope of the last column that gets a share of the budget when the steepest are served first."""
    most = 0.0
    for j in range(net.low.size):
        most = max(most, abs(work[G, j] * net.axes[j]))
    if net.cut == 0:
        return most
    low, high = 0.0, most
    for _ in range(_BISECTIONS):
        mu = 0.5 * (low + high)
        used = 0.0
        for j in range(net.low.size):
            v = work[G, j] * net.axes[j]
            if abs(v) > mu:
                used += -net.lowest[j] if v > 0.0 else net.highest[j]
        if used > 1.0:
            low = mu
        else:
            high = mu
    return high


@inner_kernel
def back(net: Compact, node: Floats, work: Floats, flip: float, row: int, top: int, alpha: int, price: int) -> float:
    """A proven lower bound of flip times a row, over the neurons before ``top``: row >= 0 is a margin, -1 - i the z of neuron i.
    ``alpha`` says where slopes are: in the scratch, in the node (-1), or 0 or 1, whichever errs less (-2); ``price`` likewise, -2:
    none. Leaves the coefficients of x and of h in the scratch, and a low point."""
    columns = net.low.size
    i = -1 - row
    if row >= 0:
        constant, error = flip * net.f[row], net.row_error[row]
        for j in range(columns):
            work[G, j] = flip * net.C[row, j]
        for j in range(top):
            work[LAM, j] = flip * net.D[row, j]
    else:
        constant, error = flip * net.c[i], net.error[i]
        for j in range(columns):
            work[G, j] = flip * net.A[i, j]
        for j in range(top):
            work[LAM, j] = flip * net.B[i, j]
    total, size = 0.0, 0.0
    for i in range(top - 1, -1, -1):
        s = work[LAM, i]
        low, high = node[LOW, i], node[HIGH, i]
        p = 0.0
        if price == -1:
            p = node[PRICE, i] * node[SIGN, i]
        elif price >= 0:
            p = work[price, i] * node[SIGN, i]
        if low >= 0.0:
            m = s - p
        elif high <= 0.0:
            m = -p
        elif s >= 0.0:
            if alpha == -2:
                m = s if high > -low else 0.0
            elif alpha == -1:
                m = s * node[ALPHA, i]
            else:
                m = s * work[alpha, i]
        else:
            m = s * (high / (high - low))
            lowest = min(min(-m * low, (s - m) * high), 0.0)
            total += lowest
            size -= lowest
        if m != 0.0:
            total += m * net.c[i]
            error += abs(m) * net.error[i]
            for j in range(columns):
                work[G, j] += m * net.A[i, j]
            for j in range(net.first[i]):
                work[LAM, j] += m * net.B[i, j]
    value = constant + total + least(net, work)
    size += abs(constant) + abs(total) + abs(value)
    return value - (error + net.rounding * size) * _ROOM_FOR_ERRORS - TINY


@kernel
def refresh(net: Compact, node: Floats, work: Floats, start: int) -> int:
    """Narrow the intervals of the open neurons from ``start`` on; 0 if one of them is proven to be empty."""
    for i in range(start, net.c.size):
        if node[LOW, i] >= 0.0 or node[HIGH, i] <= 0.0 or net.first[i] == 0:
            continue
        low = back(net, node, work, 1.0, -1 - i, net.first[i], -2, -2)
        if low > node[LOW, i]:
            node[LOW, i] = low
        high = -back(net, node, work, -1.0, -1 - i, net.first[i], -2, -2)
        if high < node[HIGH, i]:
            node[HIGH, i] = high
        if node[LOW, i] > node[HIGH, i]:
            return 0
    return 1


@kernel
def climb(net: Compact, node: Floats, work: Floats, row: int, rounds: int, rate: float) -> float:
    """The best value of a few steps (Adam) on slopes and prices, which stay in the node; with its low point and coefficients."""
    n, columns = net.c.size, net.low.size
    for i in range(n):
        work[STEP_ALPHA, i], work[STEP_PRICE, i] = node[ALPHA, i], node[PRICE, i]
        work[FIRST, i] = work[SECOND, i] = 0.0
    best, one, two, step = -np.inf, 1.0, 1.0, rate
    for t in range(rounds):
        value = back(net, node, work, 1.0, row, n, STEP_ALPHA, STEP_PRICE)
        if value > best:
            best = value
            for i in range(n):
                node[ALPHA, i], node[PRICE, i] = work[STEP_ALPHA, i], work[STEP_PRICE, i]
                work[BEST_LAM, i] = work[LAM, i]
            for j in range(columns):
                work[BEST_X, j] = work[X, j]
        if value >= 0.0 or t == rounds - 1:
            break
        one *= 0.9
        two *= 0.99
        step *= 0.97
        typical = 0.0
        for i in range(n):
            typical += abs(work[LAM, i])
        typical /= n
        for i in range(n):
            z = net.c[i]
            for j in range(columns):
                z += net.A[i, j] * work[X, j]
            for j in range(net.first[i]):
                z += net.B[i, j] * work[HIDDEN, j]
            low, high, s = node[LOW, i], node[HIGH, i], work[LAM, i]
            is_open = low < 0.0 and high > 0.0
            if is_open:
                work[HIDDEN, i] = work[STEP_ALPHA, i] * z if s >= 0.0 else high / (high - low) * (z - low)
            else:
                work[HIDDEN, i] = z if low >= 0.0 else 0.0
            if is_open and s > 0.0:
                slope = s * z
            elif node[SIGN, i] != 0.0:
                slope = -node[SIGN, i] * z
            else:
                continue
            work[FIRST, i] = 0.9 * work[FIRST, i] + 0.1 * slope
            work[SECOND, i] = 0.99 * work[SECOND, i] + 0.01 * slope * slope
            move = step * (work[FIRST, i] / (1.0 - one)) / (math.sqrt(work[SECOND, i] / (1.0 - two)) + 1e-12)
            if is_open:
                work[STEP_ALPHA, i] = min(max(work[STEP_ALPHA, i] + move, 0.0), 1.0)
            else:
                work[STEP_PRICE, i] = max(work[STEP_PRICE, i] + typical * move, 0.0)
    return best


@kernel
def look(net: Compact, node: Floats, work: Floats, row: int, tries: int) -> int:
    """The open neuron to split, -1 if none is left: of the most expensive ones that with the best smaller child, after one pass
    for each child. The coefficients of the node's bound are in BEST_LAM."""
    n = net.c.size
    for i in range(n):
        low, high = node[LOW, i], node[HIGH, i]
        if low < 0.0 and high > 0.0:
            gap = high * -low / (high - low)
            s, a = work[BEST_LAM, i], node[ALPHA, i]
            work[START, i] = gap * (max(-s, 0.0) + 0.8 * max(s, 0.0) * min(a, 1.0 - a)) + 1e-9 * gap
        else:
            work[START, i] = -1.0
    best, pick = -np.inf, -1
    for _ in range(tries):
        i = 0
        for j in range(1, n):
            if work[START, j] > work[START, i]:
                i = j
        if work[START, i] < 0.0:
            break
        work[START, i] = -1.0
        low, high = node[LOW, i], node[HIGH, i]
        node[LOW, i] = 0.0
        on = back(net, node, work, 1.0, row, n, -1, -1)
        node[LOW, i], node[HIGH, i] = low, 0.0
        off = back(net, node, work, 1.0, row, n, -1, -1)
        node[HIGH, i] = high
        score = min(min(on, off), 0.0) + 0.1 * min(max(on, off), 0.0)
        if score > best or pick < 0:
            best, pick = score, i
    return pick


def prepare_compact() -> None:
    """Load, or compile once, the kernels."""
    if is_loaded(look):
        return
    one, square = np.ones(1), np.ones((1, 1))
    net = Compact(
        square,
        square,
        one,
        one,
        np.zeros(1, dtype=np.int64),
        square,
        square,
        -one,
        one,
        -one,
        one,
        one,
        one,
        -one,
        one,
        1e-9,
        0,
        0,
    )
    node, work = np.zeros((NODE_ROWS, 1)), np.zeros((SCRATCH_ROWS, 1))
    with without_collection():
        climb(net, node, work, 0, 2, 0.3)
        refresh(net, node, work, 0)
        look(net, node, work, 0, 1)
