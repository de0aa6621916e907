"""Wanted values of a regressor, brought back to its score.

A regressor has one score s and predicts v = s, or v = g(s) with a link g that never falls: exp or expm1. A wanted range
a <= v <= b becomes one row per end, sign * s >= threshold with both ends included:

    v >= a  <=>   s >=  g^-1(a),        v <= b  <=>  -s >= -g^-1(b).

**Rounding of a link.** The library computes g with a relative error of at most `LINK_ERROR` times eps (a few units in the last
place; math libraries state at most one), with the eps of float32 where ``info.single``. For exp: fl(exp(s)) >= a follows from s >= log(a) + d with d = 8 eps (1 + |log a|): the
first part outweighs the error of exp, the second the roundings of log(a) and of s itself where it is divided or shifted.
For expm1 the same with log1p(a) and, because v + 1 and not v is what grows with exp(s), d = 8 eps (1 + |log1p a|) (1 + |a|) /
(1 + a): near 0 the derivative is 1 and the error relative, towards -1 the derivative vanishes and the error does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from elbowroom.models.base import Link, ModelInfo
from elbowroom.numerics import EPS, EPS32, Floats

LINK_ERROR: Final = 4.0
LINK_SLACK: Final = 8.0
LARGEST: Final = 1e300  # of a wanted value: sums of that many trees do not overflow
SMALLEST: Final = 1e-300  # of a wanted value behind an exponential: not where floats lose their digits
SINGLE_SIZES: Final = (1e-30, 1e30)  # of one behind an exponential in float32
LEAST_ABOVE_MINUS_ONE: Final = 1e-9  # of a wanted value behind expm1; closer to -1 its rounding outgrows its change


@dataclass(frozen=True)
class ValueRange:
    """at_least <= value <= at_most, both ends included; None: open on that side."""

    at_least: float | None = None
    at_most: float | None = None

    def contains(self, values: Floats) -> Floats:
        """Which values lie in the range; NaN does not."""
        low = -math.inf if self.at_least is None else self.at_least
        high = math.inf if self.at_most is None else self.at_most
        return np.asarray((values >= low) & (values <= high))


@dataclass(frozen=True, eq=False)
class ScoreRows:
    """sign * score - threshold >= slack: what a wanted range asks of the score, one entry per end that is not open."""

    sign: Floats
    threshold: Floats
    slack: Floats


def values_of(info: ModelInfo, scores: Floats) -> Floats:
    """Predicted values of an (m, 1) array of scores."""
    score = np.asarray(scores[:, 0])
    with np.errstate(over="ignore"):
        match info.link:
            case Link.EXPONENTIAL:
                return np.asarray(np.exp(score))
            case Link.EXPONENTIAL_MINUS_ONE:
                return np.asarray(np.expm1(score))
            case _:
                return score


def value_error(info: ModelInfo, scores: Floats, error: Floats) -> Floats:
    """How far the original's value may be from `values_of`, where its score is within ``error`` of ours (both (m, 1))."""
    if info.link is Link.IDENTITY:
        return np.broadcast_to(error, scores.shape)
    rounding = 2 * LINK_ERROR * _eps(info)
    with np.errstate(over="ignore", invalid="ignore"):
        grown = np.exp(scores) * (np.expm1(error) + rounding)
        return np.asarray(grown if info.link is Link.EXPONENTIAL else grown + rounding)


def score_rows(info: ModelInfo, wanted: ValueRange) -> ScoreRows:
    """The rows of a range that `refuses_range` has nothing against."""
    sign, threshold, slack = [], [], []
    for side, end in ((1.0, wanted.at_least), (-1.0, wanted.at_most)):
        if end is None or (side > 0 and end <= _infimum(info.link)):  # values are above that anyway
            continue
        at, doubt = _score_at(info, end)
        sign.append(side)
        threshold.append(side * at)
        slack.append(info.evaluation_error + doubt)
    return ScoreRows(np.array(sign), np.array(threshold), np.array(slack))


def _infimum(link: Link) -> float:
    """What all values are above."""
    return {Link.EXPONENTIAL: 0.0, Link.EXPONENTIAL_MINUS_ONE: -1.0}.get(link, -math.inf)


def _eps(info: ModelInfo) -> float:
    return EPS32 if info.single else EPS


def _score_at(info: ModelInfo, value: float) -> tuple[float, float]:
    """The score at which a value is reached, and how far rounding may move it."""
    slack = LINK_SLACK * _eps(info)
    match info.link:
        case Link.EXPONENTIAL:
            score = math.log(value)
            return score, slack * (1.0 + abs(score))
        case Link.EXPONENTIAL_MINUS_ONE:
            score = math.log1p(value)
            return score, slack * (1.0 + abs(score)) * (1.0 + abs(value)) / (1.0 + value)
        case _:
            return value, 0.0


def refuses_range(info: ModelInfo, wanted: ValueRange) -> str | None:
    """The reason why these values cannot be asked of a regressor, with the cure; None if they can."""
    least = _infimum(info.link)
    if math.isinf(least):
        return None
    low, high = SINGLE_SIZES if info.single else (SMALLEST, LARGEST)
    smallest = least + (low if least == 0.0 else max(LEAST_ABOVE_MINUS_ONE, _eps(info)))
    for what, end in (("at_least", wanted.at_least), ("at_most", wanted.at_most)):
        if end is not None and end > high:
            return f"{what}={end:g}: values of {info.source} are reliable up to {high:g}; ask for a smaller number"
    if wanted.at_most is not None and wanted.at_most < smallest:
        return f"at_most={wanted.at_most:g}: every value of {info.source} is above {least:g}; ask for a larger number"
    if wanted.at_least is not None and least < wanted.at_least < smallest:
        return f"at_least={wanted.at_least:g} is too close to {least:g}, which all values of {info.source} are above"
    if wanted.at_least is not None and wanted.at_least <= least and wanted.at_most is None:
        return (
            f"at_least={wanted.at_least:g}: every value of {info.source} is above {least:g}, so this asks for nothing; "
            "ask for a larger number"
        )
    return None
