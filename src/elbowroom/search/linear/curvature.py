"""A second-order bound for Euclidean distances and clipped balls, where chords converge slowly.

Near a centre c0 where A is the set of capped columns (z_f = cap_f / r_f) and what is left of the ball goes to the others,
the loss is at least  phi(c) = sum_A a_f cap_f + P sqrt(B - sum_A z_f^2),  P = |a r| over the others, B = 1 minus the
whole shifts. phi is concave with curvature at most M = P B / (B - s)^{3/2} in z, s = the largest sum of z^2 in the node.
So for multipliers lam >= 0 and scaled moves v

    d^2 / 2  >=  sum v^2 / 2 - sum_j lam_j (G_j(c) - needed_j)  >=  a separable quadratic in v,

which is minimized column by column. The error is of third order in the size of the node, so nodes around the optimum
close at once. Any lam, c0 and A give a valid bound.
"""

from __future__ import annotations

import numpy as np

from elbowroom.numerics import Floats, gamma
from elbowroom.search.linear.adversary import Adversary
from elbowroom.search.linear.limits import FEW_ROUNDINGS, NEARLY_FULL
from elbowroom.search.linear.nonnegative import nonnegative_least_squares
from elbowroom.search.linear.question import Question
from elbowroom.search.linear.relax import Node, category_gain


def curved_bound(
    question: Question,
    adversaries: list[Adversary],
    node: Node,
    best: Floats,
    lower: Floats,
    upper: Floats,
    unit: Floats,
) -> float:
    """A lower bound on the distance (in scaled moves) over the node, 0 where the argument does not apply."""
    values = np.clip(best, lower, upper)
    lines = [_line(question, adversaries[j], node, j, values, lower, upper) for j in range(question.n_rows)]
    used = [line for line in lines if line is not None]
    if not used or len(used) < question.n_model_rows:
        return 0.0
    moves = (values - question.start) / unit
    slopes = np.array([slope * unit for slope, _, _, _ in used])
    bends = np.array([bend * np.square(unit) for _, bend, _, _ in used])
    excess, sizes = np.array([e for _, _, e, _ in used]), np.array([s for _, _, _, s in used])
    # Multipliers from the stationarity of the best centre, on the columns that are free there.
    free = (best > question.lower) & (best < question.upper) & (best != question.start) & ~question.whole
    if not free.any():
        return 0.0
    at_best = (best - question.start) / unit
    multiplier = nonnegative_least_squares(slopes[:, free].T, at_best[free])
    if multiplier is None:
        return 0.0
    q, h = slopes.T @ multiplier, bends.T @ multiplier
    low, high = (lower - question.start) / unit, (upper - question.start) / unit
    bowl = h < 1.0
    if not (np.isfinite(low) & np.isfinite(high) | bowl).all():
        return 0.0
    vertex = np.divide(q - h * moves, 1.0 - h, out=np.zeros_like(q), where=bowl)
    terms, sums = np.full(q.size, np.inf), np.zeros(q.size)
    for candidate in (low, high, np.clip(vertex, low, high)):
        at = np.where(np.isfinite(candidate), candidate, np.clip(vertex, low, high))
        step = at - moves
        term = 0.5 * np.square(at) - q * step - 0.5 * h * np.square(step)
        terms = np.minimum(terms, term)
        sums = np.maximum(
            sums, 0.5 * np.square(at) + np.abs(slopes).T @ multiplier * np.abs(step) + h * np.square(step)
        )
    value = float(terms.sum() - multiplier @ excess)
    value -= gamma(q.size + len(used) + 32) * float(sums.sum() + multiplier @ sizes)
    return float(np.sqrt(2.0 * value)) if value > 0 else 0.0


def _line(
    question: Question,
    adversary: Adversary,
    node: Node,
    row: int,
    values: Floats,
    lower: Floats,
    upper: Floats,
) -> tuple[Floats, Floats, float, float] | None:
    """G(c) - needed <= excess + slope.(c - c0) + bend.(c - c0)^2 / 2 on the node; the size of the numbers in excess."""
    n_single = question.singles.size
    attack, e = adversary.attack(values), adversary.relative(values)
    up = adversary.sign > 0
    e_low = np.where(up, lower - adversary.start, adversary.start - upper)
    e_high = np.where(up, upper - adversary.start, adversary.start - lower)
    slope, bend = adversary.gain.copy(), np.zeros_like(e)
    moving = np.flatnonzero(adversary.moving)
    whole = moving[adversary.whole[moving]]
    real = moving[~adversary.whole[moving]]
    if (e_low[whole] - adversary.edge[whole] < attack.shift[whole]).any():
        return None
    left = 1.0 - float(np.square(attack.shift[whole] / adversary.axes[whole]).sum())
    capped = real[attack.shift[real] >= e[real] - adversary.edge[real]]
    others = np.setdiff1d(real, capped)
    z = (e[capped] - adversary.edge[capped]) / adversary.axes[capped]
    z_most = (e_high[capped] - adversary.edge[capped]) / adversary.axes[capped]
    z_least = (e_low[capped] - adversary.edge[capped]) / adversary.axes[capped]
    value = adversary.gain[others] * adversary.axes[others]
    power = float(np.linalg.norm(value))
    rest, rest_least = left - float(np.square(z).sum()), left - float(np.square(z_most).sum())
    if rest_least <= NEARLY_FULL * left or left <= 0:
        return None
    loss = float(adversary.gain[whole] @ attack.shift[whole]) + float(
        adversary.gain[capped] @ (e[capped] - adversary.edge[capped])
    )
    slope[capped] = 0.0
    if power > 0:
        most_shift = adversary.axes[others] * value / power * np.sqrt(left - float(np.square(z_least).sum()))
        if (e_low[others] - adversary.edge[others] < most_shift).any():
            return None
        loss += power * float(np.sqrt(rest))
        slope[capped] = power * z / (np.sqrt(rest) * adversary.axes[capped])
        bend[capped] = power * left / rest_least**1.5 / np.square(adversary.axes[capped]) * (1.0 + FEW_ROUNDINGS)
    signed = slope * adversary.sign
    signed[n_single:] = category_gain(question, node, row)
    groups = float(signed[n_single:] @ (values - question.start)[n_single:])
    excess = question.base[row] + groups + float(adversary.gain @ e) - loss - question.needed[row]
    size = abs(question.base[row]) + abs(groups) + float(adversary.gain @ np.abs(e)) + loss + abs(question.needed[row])
    return signed, bend, excess, size
