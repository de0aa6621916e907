"""Whole numbers rounded to a candidate may leave a row short: step up where a row gains most for its price."""

from __future__ import annotations

import numpy as np

from elbowroom.numerics import NONZERO, Floats
from elbowroom.search.contract import Clock
from elbowroom.search.linear.adversary import Adversary
from elbowroom.search.linear.limits import LEAST_PRICE, MOST_STEPS
from elbowroom.search.linear.question import Question


def climb(question: Question, adversaries: list[Adversary], values: Floats, group_gain: Floats, clock: Clock) -> Floats:
    """Move whole single columns greedily until every model row holds, nothing helps, or time is up. ``group_gain``: per row."""
    q, values = question, values.copy()
    movable = q.whole.copy()
    movable[q.singles.size :] = False
    if q.most_changes is not None:
        movable &= values != q.start  # no further column may change
    if not movable.any():
        return values
    seen = set[bytes]()  # rows that pull against each other would send it round in circles
    for _ in range(MOST_STEPS):
        if clock.expired or values.tobytes() in seen:
            break
        seen.add(values.tobytes())
        j, short = _neediest(q, adversaries, values, group_gain)
        if short <= 0:
            break
        adversary = adversaries[j]
        shift, e = adversary.attack(values).shift, adversary.relative(values)
        top = adversary.relative(np.where(adversary.sign > 0, q.upper, q.lower))
        kink = adversary.edge + shift
        now = np.maximum(e - shift, adversary.edge)
        # One step, or as many as it takes to get past the kink below which nothing is gained.
        step = np.where(e < kink, np.where(np.isfinite(kink), np.floor(kink) - e + 1.0, 1.0), 1.0)
        usable = np.flatnonzero(movable & (adversary.gain > 0) & (e + step <= top))
        if usable.size == 0:
            break
        gained = adversary.gain[usable] * (np.maximum(e + step - shift, adversary.edge) - now)[usable]
        before = q.factor * np.abs(values - q.start)
        after = q.factor * np.abs(values + adversary.sign * step - q.start)
        price = np.maximum((after - before)[usable], LEAST_PRICE * q.factor[usable])
        pick = int(np.argmax(np.where(gained > 0, gained / price, -1.0)))
        if gained[pick] <= 0:
            break
        f = usable[pick]
        values[f] += adversary.sign[f] * step[f]
    return values


def _neediest(q: Question, adversaries: list[Adversary], values: Floats, group_gain: Floats) -> tuple[int, float]:
    """The model row that is shortest, measured in distance."""
    worst, row, lack = -np.inf, 0, 0.0
    for j in range(q.n_model_rows):
        adversary = adversaries[j]
        kept = adversary.kept(adversary.relative(values), adversary.attack(values).shift)
        short = float(q.needed[j] - q.base[j] - group_gain[j] - kept)
        rate = max(float((adversary.gain / q.factor).max(initial=0.0)), NONZERO)
        if short / rate > worst:
            worst, row, lack = short / rate, j, short
    return row, lack
