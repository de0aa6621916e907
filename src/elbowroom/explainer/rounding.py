"""A centre that people can read out: rounded to the decimals of the data, and certified after rounding.

The closest centre often lies on a threshold with all its digits. Where no number with the decimals of the data lies in an
interval that has to be told (a point, or a narrow room), the centre is rounded there and judged again, with its own room:
cheapest first, a few tries, then with one digit more. The closest answer itself stays what it is; the rounded one is
shown, and costs a little more. Where a probability is promised of slips of the centre, the rounded one has to keep it as well,
by a proof of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import product
from typing import Final

import numpy as np

from elbowroom.explainer.attempt import referee_of
from elbowroom.numerics import Floats
from elbowroom.problem import Body, RecourseProblem
from elbowroom.problem.kinds import Kind
from elbowroom.result import Certificate, KeptProbability
from elbowroom.result.standing import shared_columns
from elbowroom.search.contract import Clock

SECONDS: Final = 0.25  # for all tries together
KEEPING: Final = 1.0  # where every try is asked for a probability as well
FEW: Final = 3  # columns of which all ways to round are tried
MOST_TRIES: Final = 12  # per number of digits
MORE_DIGITS: Final = 3  # than the data has, before the exact numbers are shown


def rounded_certificate(problem: RecourseProblem, body: Body) -> tuple[Certificate | None, KeptProbability | None]:
    """The certificate of the cheapest rounded centre that was accepted, and what is proven of its slips where something was
    promised; None if none is needed, or none was accepted."""
    columns = [f for f in range(body.center.size) if _needs(problem, body, f)]
    if not columns:
        return None, None
    seconds = SECONDS if problem.keeps is None else KEEPING
    referee = referee_of(problem, Clock(seconds))
    try:
        for more in range(MORE_DIGITS + 1):
            for tries, center in enumerate(_candidates(problem, body.center, columns, more)):
                if tries >= MOST_TRIES or referee.clock.remaining <= 0.0:
                    break
                verdict = referee(center)
                if isinstance(verdict, Certificate):
                    return verdict, referee.final(seconds)
    except KeyboardInterrupt:  # the answer is there; only its round form is not
        return None, None
    return None, None


def _needs(problem: RecourseProblem, body: Body, f: int) -> bool:
    """Is there something to tell of a column that cannot be told with the decimals of the data?"""
    feature = problem.space.features[f]
    if feature.decimals is None or feature.kind is not Kind.NUMERIC or body.center[f] == problem.factual[f]:
        return False
    if shared_columns(body)[f] or problem.keeps is not None:  # a promise is about the centre, not about its interval
        low = high = float(body.center[f])
    else:
        low, high = float(body.lower[f]), float(body.upper[f])
    return _to(low, feature.decimals, ROUND_CEILING) > high


def _to(value: float, decimals: int, mode: str) -> float:
    """The nearest number with so many decimals below or above: the float that it is read as."""
    return float(Decimal(value).quantize(Decimal(1).scaleb(-decimals), rounding=mode)) + 0.0


def _candidates(problem: RecourseProblem, center: Floats, columns: list[int], more: int) -> Iterator[Floats]:
    """Rounded centres, cheapest first; where there are too many, the nearest, the farthest from the factual, and then
    those that differ from the latter in one column."""
    ways: list[tuple[float, float]] = []  # towards the factual, and away from it
    for f in columns:
        decimals = (problem.space.features[f].decimals or 0) + more
        low, high = _to(float(center[f]), decimals, ROUND_FLOOR), _to(float(center[f]), decimals, ROUND_CEILING)
        ways.append((low, high) if center[f] > problem.factual[f] else (high, low))
    if len(columns) <= FEW:
        choices = [np.array(choice) for choice in product(*ways)]
        made = [_with(center, columns, choice) for choice in choices]
        yield from sorted(made, key=problem.measure)
        return
    near, away = (np.array([way[side] for way in ways]) for side in (0, 1))
    nearest = np.where(np.abs(near - center[columns]) <= np.abs(away - center[columns]), near, away)
    yield _with(center, columns, nearest)
    yield _with(center, columns, away)
    for i in range(len(columns)):
        one = away.copy()
        one[i] = near[i]
        yield _with(center, columns, one)


def _with(center: Floats, columns: list[int], values: Floats) -> Floats:
    moved = center.copy()
    moved[columns] = values
    return moved
