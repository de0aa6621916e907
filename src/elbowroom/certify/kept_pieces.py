"""How likely a linear form is positive in a cell of independent coordinates: lower bounds, many cells at once.

A form a . x + b over a cell: free coordinates are normal, those of the cell have intervals with known mass, mean and a bound on
the variance. The free ones add tau N, tau^2 = sum of their a^2. One coordinate of the cell, z in [l, u] with the largest influence,
is integrated in closed form (Owen's T function):

    H(m) = P(l <= z <= u and m + a z + tau N > 0),        P = E H(m),   m = b + sum over the other coordinates.

H rises, so E H(m) >= H(smallest m). By Taylor's formula also E H(m) >= H(E m) - max|H''| Var(m) / 2, with

    |H''| <= 0.242 P(z in [l, u]) / tau^2,
    |H''| <= (phi(l) phi(m_l / tau) + phi(u) phi(m_u / tau)) / (|a| tau) + max|z phi(z)| / a^2      (integration by parts),

where m_l is the distance of m + a l from 0 over the cell. So the error falls with the square of the size of the cell, except
where the boundary leaves it through an end of [l, u].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special

from elbowroom.certify.kept_relaxed import Forms
from elbowroom.certify.slips import PHI_ERROR
from elbowroom.numerics import EPS, Bools, Floats

STEEPEST: Final = 0.2420  # |z phi(z)| is at most 0.24198
NARROW: Final = 1e-7  # of the influence of z: a smaller tau is replaced by a shift
BEYOND: Final = 9.0  # standard deviations; what lies beyond is below every rounding
_ROOT: Final = math.sqrt(2.0 * math.pi)


@dataclass(frozen=True, eq=False)
class Cells:
    """The laws of every coordinate in every cell; ``free`` ones have mass 1 and no interval, ``smooth`` ones have a value that
    equals the normal variable behind it, in [low, high]."""

    mass: Floats  # (cells, coordinates)
    mean: Floats
    doubt: Floats
    variance: Floats
    least: Floats
    most: Floats
    free: Bools
    smooth: Bools


def positive(cells: Cells, forms: Forms) -> Floats:
    """(cells, rows): a lower bound on P(in the cell and the form is positive)."""
    a, cut = forms.slope, ~cells.free[:, None, :]
    tau = np.sqrt(np.where(cut, 0.0, np.square(a)).sum(axis=2))
    ends = np.where(cut, a * cells.least[:, None, :], 0.0), np.where(cut, a * cells.most[:, None, :], 0.0)
    low, high = np.minimum(*ends), np.maximum(*ends)
    size = np.where(cells.smooth[:, None, :], high - low, 0.0)
    best = np.argmax(size, axis=2)
    used = np.take_along_axis(size, best[:, :, None], axis=2)[:, :, 0] > 0.0
    chosen = (np.arange(a.shape[2]) == best[:, :, None]) & used[:, :, None]

    def rest(values: Floats) -> Floats:
        return np.asarray(np.where(chosen, 0.0, values).sum(axis=2))

    def of_chosen(values: Floats) -> Floats:
        return np.asarray(np.where(chosen, values, 0.0).sum(axis=2))

    mass = np.where(chosen, 1.0, cells.mass[:, None, :]).prod(axis=2)
    own = np.where(used, of_chosen(cells.mass[:, None, :]), 1.0)
    slope = of_chosen(a)
    start, stop = of_chosen(cells.least[:, None, :]), of_chosen(cells.most[:, None, :])
    smallest, largest = forms.constant + rest(low), forms.constant + rest(high)
    middle = np.where(cut, a * cells.mean[:, None, :] - np.abs(a) * cells.doubt[:, None, :], 0.0)
    mean = np.maximum(forms.constant + rest(middle), smallest)
    variance = rest(np.where(cut, np.square(a) * cells.variance[:, None, :], 0.0))
    steep = _steepness(smallest, largest, slope, tau, start, stop, own, used)
    loss = np.where(variance > 0.0, 0.5 * steep * variance, 0.0) * (1.0 + 64.0 * EPS)
    first = np.where(used, window(smallest, start, stop, slope, tau), _tail(smallest, tau))
    second = np.where(used, window(mean, start, stop, slope, tau), _tail(mean, tau)) - loss
    found = mass * np.maximum(first, second) - (2.0 * a.shape[2] + 64.0) * PHI_ERROR
    error = np.where(used, 16.0 * EPS * np.hypot(slope, tau) / np.maximum(tau, NARROW * np.abs(slope) + 1e-300), 0.0)
    return np.clip(found - mass * error, 0.0, None)


def _steepness(
    smallest: Floats, largest: Floats, a: Floats, tau: Floats, start: Floats, stop: Floats, own: Floats, used: Bools
) -> Floats:
    """Bounds on |H''| for m between smallest and largest."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        plain = STEEPEST / np.square(tau)

        def at(end: Floats) -> Floats:
            near = np.maximum(0.0, np.maximum(smallest + a * end, -(largest + a * end)))
            bell = np.exp(-0.5 * np.square(near / tau)) / _ROOT
            bell = np.where((near > 0.0) & (tau == 0.0), 0.0, bell)
            return np.where(bell == 0.0, 0.0, np.exp(-0.5 * end * end) / _ROOT * bell / (np.abs(a) * tau))

        parts = at(start) + at(stop) + STEEPEST / np.square(a)
        found = np.where(used, np.fmin(own * plain, parts), plain)
    return np.where(np.isfinite(found), found * (1.0 + 1e-9), np.inf)


def _tail(m: Floats, tau: Floats) -> Floats:
    """P(m + tau N > 0)."""
    return np.where(tau > 0.0, special.ndtr(m / np.maximum(tau, 1e-300)), m > 0.0)


def window(m: Floats, start: Floats, stop: Floats, a: Floats, tau: Floats) -> Floats:
    """P(start <= z <= stop and m + a z + tau N > 0), from below where tau is next to nothing."""
    start, stop = np.where(a < 0.0, -stop, start), np.where(a < 0.0, -start, stop)
    a = np.abs(a)
    sharp = tau <= NARROW * a
    edge = np.clip(-(m - BEYOND * tau) / np.where(a > 0.0, a, 1.0), start, stop)
    exact = special.ndtr(stop) - special.ndtr(edge)
    safe, width = np.where(sharp, 1.0, a), np.where(sharp, 1.0, tau)
    length = np.hypot(safe, width)
    smooth = _both_below(stop, m / length, safe / length, width / length) - _both_below(
        start, m / length, safe / length, width / length
    )
    return np.where(sharp, exact, smooth)


def _both_below(h: Floats, k: Floats, r: Floats, s: Floats) -> Floats:
    """P(Z <= h, W <= k) of standard normal Z, W with correlation -r, s = sqrt(1 - r^2)."""
    h = np.where(h == 0.0, 1e-300, h)
    k = np.where(k == 0.0, 1e-300, k)
    with np.errstate(over="ignore"):
        first = special.owens_t(h, (k / h + r) / s)
        second = special.owens_t(k, (h / k + r) / s)
    both = 0.5 * (special.ndtr(h) + special.ndtr(k)) - first - second - np.where((h < 0.0) != (k < 0.0), 0.5, 0.0)
    return np.asarray(both)
