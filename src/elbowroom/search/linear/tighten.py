"""Reduced-cost tightening: sides of kinks that cannot hold a better centre are cut off.

For multipliers lam >= 0 the Lagrangian of a node splits into columns: L = const + sum_f min_v psi_f(v), with
psi_f(v) = price_f(v) + toll_f v - sum_s lam_s a max(e - t, k), the true function of every scenario s, not its chord. A stretch of
v on which L - min psi_f + psi_f(v) reaches the best distance holds nothing better. Between kinks psi_f is convex.
"""

from __future__ import annotations

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.problem.distances import Distance
from elbowroom.search.linear.adversary import Adversary
from elbowroom.search.linear.limits import LAGRANGIAN_ROUNDING
from elbowroom.search.linear.question import Question
from elbowroom.search.linear.relax import Node, category_gain, chord


def tighten(
    question: Question,
    adversaries: list[Adversary],
    node: Node,
    lower: Floats,
    upper: Floats,
    unit: Floats,
    multiplier: Floats,
    price: Floats,
    cutoff: float,
    toll: Floats | None = None,
) -> tuple[Floats, Floats] | None:
    """New limits of the node's box (finite limits needed), or None if nothing better than ``cutoff`` (scaled) is left."""
    square = question.problem.distance is Distance.L2 and toll is None
    toll = np.zeros(lower.size) if toll is None else toll
    used = np.flatnonzero(multiplier > 0)
    low, high = (lower - question.start) / unit, (upper - question.start) / unit
    slope, constant = np.zeros(low.size), np.zeros(low.size)
    across = np.zeros(low.size, dtype=np.bool_)
    total = 0.0
    for s in used:
        scenario = node.scenarios[s]
        adversary = adversaries[scenario.row]
        line = chord(adversary, scenario.shift, lower, upper)
        part = line.slope * adversary.sign * unit
        part[question.singles.size :] = category_gain(question, node, scenario.row) * unit[question.singles.size :]
        slope += multiplier[s] * part
        constant += multiplier[s] * line.constant
        kink = question.start + adversary.sign * (adversary.edge + scenario.shift)
        across |= (kink > lower) & (kink < upper) & (adversary.gain > 0)
        total += multiplier[s] * (question.needed[scenario.row] - question.base[scenario.row])
    if not across.any():
        return lower, upper
    if square:
        nearest = np.clip(slope, low, high)
        least = 0.5 * np.square(nearest) - slope * nearest - constant
    else:
        ends = np.array([low, high, np.clip(0.0, low, high)])
        least = (price * np.abs(ends) - (slope - toll) * ends).min(axis=0) - constant
    stretches = {f: _stretches(question=question, adversaries=adversaries, node=node, f=f, low=low[f], high=high[f], unit=unit[f], multiplier=multiplier, used=used, price=price[f], toll=toll[f], square=square) for f in map(int, np.flatnonzero(across))}  # fmt: skip
    for f, (_, values) in stretches.items():
        least[f] = values.min()
    value = total + float(least.sum())
    goal = 0.5 * cutoff**2 if square else cutoff
    doubt = LAGRANGIAN_ROUNDING * (abs(total) + float(np.abs(least).sum()))
    new_lower, new_upper = lower.copy(), upper.copy()
    for f, (points, values) in stretches.items():
        alive = np.flatnonzero(value - least[f] + values < goal + doubt)
        if alive.size == 0:
            return None
        if alive[0] > 0:
            new_lower[f] = max(lower[f], question.start[f] + points[alive[0]] * unit[f])
        if alive[-1] < values.size - 1:
            new_upper[f] = min(upper[f], question.start[f] + points[alive[-1] + 1] * unit[f])
    return new_lower, new_upper


def _stretches(
    question: Question,
    adversaries: list[Adversary],
    node: Node,
    f: int,
    low: float,
    high: float,
    unit: float,
    multiplier: Floats,
    used: np.ndarray,
    price: float,
    toll: float,
    square: bool,
) -> tuple[Floats, Floats]:
    """Break points of psi_f in [low, high] and its minimum on every stretch between neighbours."""
    scenarios = [node.scenarios[s] for s in used]
    sides = [adversaries[s.row] for s in scenarios]
    gain = multiplier[used] * np.array([a.gain[f] for a in sides])
    sign, edge = np.array([a.sign[f] for a in sides]), np.array([a.edge[f] for a in sides])
    shift = np.array([s.shift[f] for s in scenarios])
    kinks = (sign * (edge + shift) / unit)[gain > 0]
    points = np.concatenate([[low, high], kinks[(kinks > low) & (kinks < high)], [0.0] if low < 0 < high else []])
    points = np.unique(points)
    e = sign[:, None] * points[None] * unit
    earned = (gain[:, None] * np.maximum(e - shift[:, None], edge[:, None])).sum(axis=0)
    if not square:
        psi = price * np.abs(points) + toll * points - earned
        return points, np.minimum(psi[:-1], psi[1:])
    rate = np.diff(earned) / np.diff(points)
    best = np.clip(rate, points[:-1], points[1:])
    return points, 0.5 * np.square(best) - earned[:-1] - rate * (best - points[:-1])
