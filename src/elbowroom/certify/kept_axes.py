"""A network's slipped input in independent coordinates, with the first layer written in them.

Columns whose slip is neither clipped nor whole add W_1 sigma s to the first layer, s standard normal. Any rotation of s has
the same law, so the columns are exchanged for the coordinates y in which the margin changes most, the most important
first: eigenvectors of the mean of gradients times gradients. What lies outside the row space of W_1 sigma moves nothing and
is left out. Clipped and whole columns keep a coordinate each: an interval of the normal variable behind it, or of steps.
Where the centre itself is only known to lie in a box, each of its columns becomes a coordinate that may take any value.

**Rounding.** The columns of the computed rotation V are within delta = ||V'V - 1|| of orthonormal ones (of the polar factor of
V), so that the first layer is off by at most (delta + gamma) times the length of its row, and by the part of the row that V
does not reach, times the length of y: below `REACH` up to a probability smaller than every rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special

from elbowroom.certify.slips import PHI_ERROR, REACH, Slip
from elbowroom.models import Affine
from elbowroom.numerics import Floats, Ints, gamma

SAMPLES: Final = 256  # points at which gradients are taken: they choose coordinates, and prove nothing
FLAT: Final = 1e-13  # relative: rows shorter than this have no direction of their own
MOST_STEPS: Final = 100_000  # of a whole column whose means are tabled
_ROOM_FOR_ERRORS = 1.01


@dataclass(frozen=True, eq=False)
class Laws:
    """Of intervals of one coordinate: probability, mean of the value, how far that may be off, a bound on the variance, and
    the smallest and largest value."""

    mass: Floats
    mean: Floats
    doubt: Floats
    variance: Floats
    least: Floats
    most: Floats


@dataclass(frozen=True, eq=False)
class NormalAxis:
    """clip(z, floor, ceiling) of a standard normal z, on intervals of z."""

    floor: float
    ceiling: float

    def laws(self, low: Floats, high: Floats) -> Laws:
        floor, ceiling = self.floor, self.ceiling
        mass = np.maximum(special.ndtr(high) - special.ndtr(low), 0.0)
        least, most = np.clip(low, floor, ceiling), np.clip(high, floor, ceiling)
        first = (np.exp(-0.5 * least * least) - np.exp(-0.5 * most * most)) / np.sqrt(2.0 * np.pi)
        size = np.zeros(low.size)
        if np.isfinite(floor):
            first = first + floor * (special.ndtr(np.minimum(high, floor)) - special.ndtr(np.minimum(low, floor)))
            size = np.where(low < floor, abs(floor), size)
        if np.isfinite(ceiling):
            first = first + ceiling * (special.ndtr(np.maximum(high, ceiling)) - special.ndtr(np.maximum(low, ceiling)))
            size = np.where(high > ceiling, np.maximum(size, abs(ceiling)), size)
        width = most - least
        for end in (least, most):
            size = np.maximum(size, np.where(np.isfinite(end), np.abs(end), 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = first / mass
            doubt = 8.0 * PHI_ERROR * (2.0 + size) / mass
            unknown = ~(np.isfinite(mean) & (doubt < width))
            mean = np.where(unknown, 0.5 * (least + most), np.clip(mean, least, most))
            spread = np.minimum(np.square(high - low) / np.pi**2, np.square(width) / 4.0)
        return Laws(mass, mean, np.where(unknown, width, doubt), np.minimum(spread, 1.0), least, most)


@dataclass(frozen=True, eq=False)
class StepAxis:
    """The steps of a whole column, on ranges of whole numbers."""

    slip: Slip
    column: int
    first: float  # step
    last: float
    sums: Floats | None  # of step times probability, up to each step

    @classmethod
    def of(cls, slip: Slip, f: int, far: float) -> StepAxis:
        low, high = slip.lower[f] - slip.center[f], slip.upper[f] - slip.center[f]
        reach = float(np.ceil(far * slip.sigma[f]) + 1.0)
        first, last = max(float(np.ceil(low)), -reach), min(float(np.floor(high)), reach)
        sums = None
        if last - first <= MOST_STEPS:
            steps = np.arange(first, last + 1.0)
            chance = slip.below(f, slip.center[f] + steps) - slip.below(f, slip.center[f] + steps - 1.0)
            sums = np.concatenate([[0.0], np.cumsum(steps * chance)])
        return cls(slip, f, first, last, sums)

    def laws(self, low: Floats, high: Floats) -> Laws:
        f, center = self.column, self.slip.center[self.column]
        mass = np.maximum(self.slip.below(f, center + high) - self.slip.below(f, center + low - 1.0), 0.0)
        width = high - low
        mean, doubt = 0.5 * (low + high), width
        if self.sums is not None:
            at = (low - self.first).astype(np.int64), (high - self.first).astype(np.int64) + 1
            error = 8.0 * self.edge_error * self.sums.size * (1.0 + max(abs(self.first), abs(self.last)))
            with np.errstate(divide="ignore", invalid="ignore"):
                found = (self.sums[at[1]] - self.sums[at[0]]) / mass
                off = error / mass
                known = np.isfinite(found) & (off < width)
            mean, doubt = np.where(known, np.clip(found, low, high), mean), np.where(known, off, width)
        return Laws(mass, mean, doubt, np.square(width) / 4.0, low, high)

    @property
    def edge_error(self) -> float:
        ends = self.slip.center[self.column] + np.array([self.first - 1.0, self.last + 1.0])
        return self.slip.error(self.column, ends)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """First layer = weight . values + bias, up to ``error``; the values of coordinate i lie on ``axes[i]``, and after those come
    ``loose`` ones that may take any value in [low, high]."""

    weight: Floats  # (neurons, coordinates)
    bias: Floats
    error: Floats  # of the first layer
    axes: tuple[NormalAxis | StepAxis, ...]
    low: Floats  # where each coordinate begins: -inf where nothing limits it
    high: Floats
    normal: int  # how many of them, the first ones, are normal and limited by nothing
    lost: float  # chance of what the coordinates do not show: clipping that was left out


def coordinates_of(
    first: Affine,
    gradients: Floats,
    slip: Slip,
    parted: tuple[list[int], list[int], float],
    reach: float,
    shift: Floats,
) -> Coordinates:
    """The first layer of the margins in coordinates. ``gradients`` are rows in units of sigma, for the columns that are not
    clipped; ``parted`` are these columns, the others, and the chance that one of the first is clipped after all; ``shift`` is
    (2, columns): how far the centre may lie below and above."""
    normal, other, lost = parted
    spread = first.weight[:, normal] * slip.sigma[normal]
    turn, off = _turn(spread, gradients)
    units = np.array([1.0 if slip.whole[f] else slip.sigma[f] for f in other])
    loose = np.flatnonzero((shift != 0.0).any(axis=0))
    if not loose.size and not other and not turn.shape[1]:
        loose = np.arange(1)  # nothing moves: one coordinate that stays at 0
    weight = np.column_stack([spread @ turn, first.weight[:, other] * units, first.weight[:, loose]])
    bias = first.weight @ slip.center + first.bias
    axes: list[NormalAxis | StepAxis] = [NormalAxis(-np.inf, np.inf) for _ in range(turn.shape[1])]
    low, high = [-np.inf] * turn.shape[1], [np.inf] * turn.shape[1]
    for f in other:
        if slip.whole[f]:
            step = StepAxis.of(slip, f, reach)
            axes.append(step)
            low.append(step.first)
            high.append(step.last)
        else:
            ends = (np.array([slip.lower[f], slip.upper[f]]) - slip.center[f]) / slip.sigma[f]
            axes.append(NormalAxis(float(ends[0]), float(ends[1])))
            low.append(-np.inf if ends[0] > -reach else -reach)
            high.append(np.inf if ends[1] < reach else reach)
    size = np.abs(slip.center) + REACH * slip.sigma + np.abs(shift).max(axis=0)
    error = off + gamma(8 * slip.center.size + 32) * (np.abs(first.weight) @ size + np.abs(first.bias))
    return Coordinates(
        weight, bias, error * _ROOM_FOR_ERRORS, tuple(axes),
        np.array([*low, *shift[0, loose]]), np.array([*high, *shift[1, loose]]), turn.shape[1], lost,
    )  # fmt: skip


def _turn(spread: Floats, gradients: Floats) -> tuple[Floats, Floats]:
    """Orthonormal columns that span the rows, up to rounding, and how far each row is off."""
    neurons, n = spread.shape
    if not n or not spread.any():
        return np.zeros((n, 0)), np.zeros(neurons)
    _, values, rows = np.linalg.svd(spread, full_matrices=False)
    basis = rows[values > FLAT * values[0]].T
    seen = gradients @ basis
    weak = spread @ basis
    form = seen.T @ seen / max(float(np.square(seen).sum()), 1e-300) + 1e-6 * weak.T @ weak / np.square(weak).sum()
    turn = basis @ np.linalg.eigh(form)[1][:, ::-1]
    apart = float(np.linalg.norm(turn.T @ turn - np.eye(turn.shape[1]))) + gamma(8 * (n + neurons) + 64)
    lengths = np.linalg.norm(spread, axis=1)
    missing = np.linalg.norm(spread - (spread @ turn) @ turn.T, axis=1)
    return turn, (missing + 4.0 * apart * lengths) * max(REACH, 9.0 * np.sqrt(n))


def gradients_near(layers: tuple[Affine, ...], slip: Slip, normal: list[int], rivals: Ints) -> Floats:
    """Gradients of the smallest margin at slipped centres, in units of sigma, those near the boundary with more weight."""
    rng = np.random.default_rng(0)
    s = np.zeros((SAMPLES, slip.center.size))
    s[:, normal] = rng.normal(size=(SAMPLES, len(normal)))
    hidden, signs = slip.center + s * slip.sigma, []
    for layer in layers[:-1]:
        hidden = layer(hidden)
        signs.append(hidden > 0.0)
        hidden = np.maximum(hidden, 0.0)
    margins = layers[-1](hidden)[:, rivals]
    closest = np.argmin(margins, axis=1)
    slope = layers[-1].weight[rivals][closest]
    for layer, on in zip(reversed(layers[:-1]), reversed(signs), strict=True):
        slope = (slope * on) @ layer.weight
    slope = slope[:, normal] * slip.sigma[normal]
    value = margins.min(axis=1)
    width = max(float(np.median(np.abs(value - np.median(value)))), 1e-300)
    return np.nan_to_num(slope * np.exp(-0.25 * np.square(value / width)).clip(1e-3)[:, None])
