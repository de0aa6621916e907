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

from elbowroom.compiling import compiled
from elbowroom.numerics import Floats


@compiled
def support(g: Floats, h: Floats, cost: Floats, budget: float) -> float:
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
    order = np.argsort(-g)
    for i in order:
        if g[i] <= 0.0 or left <= 0.0:
            break
        if cost[i] == 0.0:
            continue
        amount = min(h[i], left)
        total += g[i] * amount
        left -= amount
    return total


@compiled
def supports(G: Floats, h: Floats, cost: Floats, budget: float) -> Floats:
    """`support` of every row."""
    out = np.empty(G.shape[0])
    for j in range(G.shape[0]):
        out[j] = support(G[j], h, cost, budget)
    return out


@compiled
def _slope_at(
    lam: float, z0: float, a: Floats, order: np.ndarray, h: Floats, cost: Floats, budget: float, w: Floats, beta: Floats
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
    for i in order:
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


@compiled
def envelope(z0: float, a: Floats, h: Floats, cost: Floats, budget: float, w: Floats, beta: Floats) -> float:
    """Write the slope of the best linear upper bound at w into ``beta``; return its intercept alpha."""
    simplex = True
    for i in range(a.size):
        if cost[i] == 0.0 or h[i] < budget * (1.0 - 1e-12):
            simplex = False
            break
    if simplex:
        floor = max(z0, 0.0)
        for i in range(a.size):
            beta[i] = (max(z0 + budget * a[i], 0.0) - floor) / budget if budget > 0.0 else 0.0
        return floor
    order = np.argsort(-a)
    left = np.empty(a.size)
    right = np.empty(a.size)
    low, high = 0.0, 1.0
    down = _slope_at(0.0, z0, a, order, h, cost, budget, w, left)
    up = _slope_at(1.0, z0, a, order, h, cost, budget, w, right)
    if down <= 0.0:
        beta[:] = left
    elif up >= 0.0:
        beta[:] = right
    else:
        trial = np.empty(a.size)
        for _ in range(30):
            middle = 0.5 * (low + high)
            slope = _slope_at(middle, z0, a, order, h, cost, budget, w, trial)
            if slope > 0.0:
                low, down = middle, slope
                left[:] = trial
            else:
                high, up = middle, slope
                right[:] = trial
        share = down / (down - up)
        for i in range(a.size):
            beta[i] = (1.0 - share) * left[i] + share * right[i]
    return max(support(-beta, h, cost, budget), z0 + support(a - beta, h, cost, budget))


@compiled
def relaxed_sum(
    out: Floats,
    z0: Floats,
    A: Floats,
    low: Floats,
    high: Floats,
    h: Floats,
    cost: Floats,
    budget: float,
    w: Floats,
    slope: Floats,
    loss: Floats,
) -> float:
    """A linear upper bound of sum_q out_q relu(z0_q + A_q.w) on P intersected with low <= z <= high, good at w.

    Negative out_q: the term is concave, its tangent at w is exact there. Positive out_q: the identity or zero where the
    sign of z is known, else the lower at w of the chord over [low, high] and the envelope over P. Writes the slope and
    per neuron the loss at w; returns the intercept.
    """
    intercept = 0.0
    slope[:] = 0.0
    beta = np.empty(w.size)
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
        alpha = envelope(z0[q], A[q], h, cost, budget, w, beta)
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
