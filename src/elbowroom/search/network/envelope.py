"""Linear bounds of a ReLU over the reachable moves: the concave envelope of max(0, z0 + a.w) on a budgeted box.

P = {w : 0 <= w <= h, cost . w <= D}. A linear function alpha + beta . w lies above max(0, z0 + a.w) on P if and only if
alpha >= sigma(-beta) and alpha >= z0 + sigma(a - beta), where sigma(g) = max over P of g.w is a fractional knapsack. So
any slope beta gives a valid bound; this module chooses the slope that is best at a given point.

The best value at w is the concave envelope: the largest  a.u + lam z0  over splits w = u + (w - u) with u in lam P and
w - u in (1 - lam) P. For fixed lam this is a knapsack with items sorted by a; its slope in lam is decreasing, so lam
is found by bisection, and the slopes beta on both sides of the best lam are mixed such that the slope in lam vanishes.
Without caps (h >= D, all costs 1) P is a simplex and the envelope is the interpolation of its vertex values:
beta_i = (relu(z0 + D a_i) - relu(z0)) / D, alpha = relu(z0).
"""

from __future__ import annotations

import numpy as np

from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.kernels.warm import is_loaded, without_collection
from elbowroom.numerics import Floats, Ints
from elbowroom.search.network.limits import FEW_ROUNDINGS


def supports(G: Floats, h: Floats, cost: Floats, budget: float) -> Floats:
    """max g.w over 0 <= w <= h, cost.w <= budget for every row g of G; costs are 0 or 1."""
    out = np.empty(G.shape[0])
    _supports(G, h, cost, budget, out, np.empty(h.size, dtype=np.int64))
    return out


def envelopes(
    chosen: Ints, z0: Floats, A: Floats, h: Floats, cost: Floats, budget: float, w: Floats
) -> tuple[Floats, Floats]:
    """Intercepts and slopes of the linear upper bounds of relu(z0_q + A_q.w) that are best at w; zero where chosen_q is."""
    top, slope = np.zeros(chosen.size), np.zeros((chosen.size, w.size))
    _envelopes(chosen, z0, A, h, cost, budget, w, top, slope, *_desk(w.size))
    return top, slope


def relaxed_sum(
    out: Floats, z0: Floats, A: Floats, low: Floats, high: Floats, h: Floats, cost: Floats, budget: float, w: Floats,
    slope: Floats, loss: Floats,
) -> float:  # fmt: skip
    """A linear upper bound of sum_q out_q relu(z0_q + A_q.w) on P intersected with low <= z <= high, good at w.

    Negative out_q: the term is concave, its tangent at w is exact there. Positive out_q: the identity or zero where the
    sign of z is known, else the lower at w of the chord over [low, high] and the envelope over P. Writes the slope and
    per neuron the loss at w; returns the intercept.
    """
    beta, (work, order) = np.empty(w.size), _desk(w.size)
    return float(_relaxed_sum(out, z0, A, low, high, h, cost, budget, w, slope, loss, beta, work, order))


def prepare_envelopes() -> None:
    """Load, or compile once, the kernels below."""
    if is_loaded(_relaxed_sum):
        return
    one, square = np.ones(1), np.ones((1, 1))
    with without_collection():
        supports(square, one, one, 1.0)
        envelopes(np.ones(1, dtype=np.int64), one, square, one, one, 1.0, one)
        relaxed_sum(
            out=one, z0=one, A=square, low=-one, high=one, h=one, cost=one, budget=1.0, w=one, slope=np.empty(1),
            loss=np.empty(1),
        )  # fmt: skip


def _desk(n: int) -> tuple[Floats, Ints]:
    """Scratch arrays for the envelope's slopes at three lam and one difference, and for an order of the inputs."""
    return np.empty((4, n)), np.empty(n, dtype=np.int64)


# ---- kernels: they make no arrays, which keeps them small ----------------------------------------------------------------
@inner_kernel
def _descending(key: Floats, order: Ints) -> None:
    """Sort all indices by falling key, ties by index (Shell's method)."""
    n = key.size
    for i in range(n):
        order[i] = i
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            item = order[i]
            j = i
            while j >= gap and (
                key[order[j - gap]] < key[item] or (key[order[j - gap]] == key[item] and order[j - gap] > item)
            ):
                order[j] = order[j - gap]
                j -= gap
            order[j] = item
        gap //= 3


@inner_kernel
def _support(g: Floats, h: Floats, cost: Floats, budget: float, order: Ints) -> float:
    """max g.w over 0 <= w <= h, cost.w <= budget; costs are 0 or 1."""
    total = 0.0
    used = 0.0
    gainful = 0
    for i in range(g.size):
        if g[i] > 0.0 and h[i] > 0.0:
            if cost[i] == 0.0:
                total += g[i] * h[i]
            else:
                gainful += 1
                used += h[i]
    if gainful == 0:
        return total
    if used <= budget:
        for i in range(g.size):
            if g[i] > 0.0 and cost[i] != 0.0:
                total += g[i] * h[i]
        return total
    left = budget
    _descending(g, order)
    for k in range(g.size):
        i = order[k]
        if g[i] <= 0.0 or left <= 0.0:
            break
        if cost[i] == 0.0:
            continue
        amount = min(h[i], left)
        total += g[i] * amount
        left -= amount
    return total


@kernel
def _supports(G: Floats, h: Floats, cost: Floats, budget: float, out: Floats, order: Ints) -> None:
    for j in range(G.shape[0]):
        out[j] = _support(G[j], h, cost, budget, order)


@inner_kernel
def _slope_at(
    lam: float, z0: float, a: Floats, order: Ints, h: Floats, cost: Floats, budget: float, w: Floats, beta: Floats
) -> float:
    """Fill the knapsack for one lam; writes the slope in w into ``beta`` and returns the slope in lam."""
    spent = 0.0
    total = 0.0
    for i in range(a.size):
        if cost[i] != 0.0:
            spent += max(0.0, w[i] - (1.0 - lam) * h[i])
            total += w[i]
    most, least = lam * budget, total - (1.0 - lam) * budget
    kappa = 0.0
    for k in range(a.size):
        i = order[k]
        if cost[i] == 0.0:
            continue
        amount = min(w[i], lam * h[i]) - max(0.0, w[i] - (1.0 - lam) * h[i])
        if a[i] > 0.0:
            if spent + amount > most:
                kappa = a[i]
                break
        elif spent >= least:
            break
        elif spent + amount >= least:
            kappa = a[i]
            break
        spent += amount
    slope = z0 + kappa * budget
    for i in range(a.size):
        r = a[i] - kappa * cost[i]
        beta[i] = min(kappa, 0.0) * cost[i]
        if r > 0.0:
            if w[i] < lam * h[i]:
                beta[i] += r
            else:
                slope += r * h[i]
        elif r < 0.0 and w[i] > (1.0 - lam) * h[i]:
            beta[i] += r
            slope += r * h[i]
    return slope


@inner_kernel
def _envelope(
    z0: float, a: Floats, h: Floats, cost: Floats, budget: float, w: Floats, beta: Floats, work: Floats, order: Ints
) -> float:
    """Write the slope of the best linear upper bound at w into ``beta``; return its intercept alpha."""
    simplex = True
    for i in range(a.size):
        if cost[i] == 0.0 or h[i] < budget * (1.0 - FEW_ROUNDINGS):
            simplex = False
            break
    if simplex:
        floor = max(z0, 0.0)
        for i in range(a.size):
            beta[i] = (max(z0 + budget * a[i], 0.0) - floor) / budget if budget > 0.0 else 0.0
        return floor
    _descending(a, order)
    left, right, trial, difference = work[0], work[1], work[2], work[3]
    low, high = 0.0, 1.0
    down = _slope_at(lam=0.0, z0=z0, a=a, order=order, h=h, cost=cost, budget=budget, w=w, beta=left)
    up = _slope_at(lam=1.0, z0=z0, a=a, order=order, h=h, cost=cost, budget=budget, w=w, beta=right)
    if down <= 0.0:
        for i in range(a.size):
            beta[i] = left[i]
    elif up >= 0.0:
        for i in range(a.size):
            beta[i] = right[i]
    else:
        for _ in range(30):
            middle = 0.5 * (low + high)
            slope = _slope_at(lam=middle, z0=z0, a=a, order=order, h=h, cost=cost, budget=budget, w=w, beta=trial)
            if slope > 0.0:
                low, down = middle, slope
                left, trial = trial, left
            else:
                high, up = middle, slope
                right, trial = trial, right
        share = down / (down - up)
        for i in range(a.size):
            beta[i] = (1.0 - share) * left[i] + share * right[i]
    for i in range(a.size):
        difference[i] = -beta[i]
    alpha = _support(difference, h, cost, budget, order)
    for i in range(a.size):
        difference[i] = a[i] - beta[i]
    return max(alpha, z0 + _support(difference, h, cost, budget, order))


@kernel
def _envelopes(
    chosen: Ints, z0: Floats, A: Floats, h: Floats, cost: Floats, budget: float, w: Floats, top: Floats, slope: Floats,
    work: Floats, order: Ints,
) -> None:  # fmt: skip
    for q in range(chosen.size):
        if chosen[q] != 0:
            top[q] = _envelope(
                z0=z0[q], a=A[q], h=h, cost=cost, budget=budget, w=w, beta=slope[q], work=work, order=order
            )


@kernel
def _relaxed_sum(
    out: Floats, z0: Floats, A: Floats, low: Floats, high: Floats, h: Floats, cost: Floats, budget: float, w: Floats,
    slope: Floats, loss: Floats, beta: Floats, work: Floats, order: Ints,
) -> float:  # fmt: skip
    intercept = 0.0
    for i in range(w.size):
        slope[i] = 0.0
    for q in range(out.size):
        loss[q] = 0.0
        if out[q] == 0.0:
            continue
        z = z0[q]
        for i in range(w.size):
            z += A[q, i] * w[i]
        if low[q] >= 0.0 or (out[q] < 0.0 and z > 0.0 and high[q] > 0.0):
            intercept += out[q] * z0[q]
            for i in range(w.size):
                slope[i] += out[q] * A[q, i]
            continue
        if high[q] <= 0.0 or out[q] < 0.0:
            continue
        steep = high[q] / (high[q] - low[q])
        chord = steep * (z - low[q])
        alpha = _envelope(z0=z0[q], a=A[q], h=h, cost=cost, budget=budget, w=w, beta=beta, work=work, order=order)
        value = alpha
        for i in range(w.size):
            value += beta[i] * w[i]
        if value < chord:
            intercept += out[q] * alpha
            for i in range(w.size):
                slope[i] += out[q] * beta[i]
        else:
            value = chord
            intercept += out[q] * steep * (z0[q] - low[q])
            for i in range(w.size):
                slope[i] += out[q] * steep * A[q, i]
        loss[q] = out[q] * (value - max(z, 0.0))
    return intercept
