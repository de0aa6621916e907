"""The chance that a slipped centre keeps its class, for linear models.

The margin of one rival at the slipped centre is mu + sum_f w_f (x_f - c_f) with mu = w.c + b. Columns whose slip is
neither clipped (with a probability that counts) nor whole add up to a normally distributed sum with variance
tau^2 = sum w_f^2 sigma_f^2. If there are no others, P = Phi(mu / tau): the closed form.

The other columns (clipped or whole) are put on a grid of width h, once rounded down and once rounded up, and their sum A
is the convolution of their distributions: P(A_down + normal >= -mu) <= P <= P(A_up + normal >= -mu). Mass that leaves
the grid counts against the lower and for the upper bound.

With several rivals the bounds of the single ones are joined: 1 - sum (1 - p_r) <= P <= min p_r. Where that is not close
enough, rivals that hardly ever win are left out, at the price of the chance that they do, and the others are taken
together (see `kept_rivals`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy import signal, special

from elbowroom.certify.kept_rivals import SHARE, AffineRows, kept_rivals
from elbowroom.certify.slips import PHI_ERROR, REACH, Slip
from elbowroom.models import LinearModel
from elbowroom.models.margins import Need, linear_margins
from elbowroom.numerics import EPS, Floats, Ints

HALF_GRIDS: Final = (2**12, 2**14, 2**16, 2**18)  # points on either side of 0, finer until the bounds are close
DECIDING: Final = 2  # of them, where it is only asked whether a probability is reached
FEW_COLUMNS: Final = 20  # this many are done regardless of time
NO_CLIPPING: Final = 1e-13  # a column that is clipped with less than this probability counts as normal
FINEST: Final = "the finest grid was used"
ROUNDING: Final = "only rounding lies between the bounds"


@dataclass(frozen=True)
class Bounds:
    """A probability between two numbers. ``exact``: only rounding lies between them. ``final``: no grid was used. ``why``
    says what kept them from coming closer. ``cells``: how many parts of the slips were looked at."""

    lower: float
    upper: float
    exact: bool
    final: bool
    why: str = ""
    cells: int = 1

    def within(self, lower: float, upper: float, why: str) -> Bounds:
        """Both what was known and what is new."""
        return Bounds(max(self.lower, lower), min(self.upper, upper), False, False, why)


def kept_linear(
    model: LinearModel,
    target: int,
    need: Need,
    slip: Slip,
    tolerance: float,
    deadline: float,
    wanted: float | None = None,
) -> Bounds:
    """Bounds for all rivals together; finer grids until they are within the tolerance, or decide whether a ``wanted``
    probability is reached, or the deadline passes."""
    margins = linear_margins(model, target, need)
    affine = margins.affine
    doubt = affine.error(np.abs(slip.center) + REACH * slip.sigma) + margins.slack
    rows = AffineRows(affine.weight, affine.bias, doubt)
    bounds = Bounds(0.0, 1.0, False, False)
    for half_grid in HALF_GRIDS[: None if wanted is None else DECIDING]:
        single = [
            _one_rival(rows.weight[r], float(rows.bias[r]), float(doubt[r]), slip, half_grid, deadline)
            for r in range(doubt.size)
        ]
        finer = _joined(single)
        if finer.final and finer.exact:
            return finer
        bounds = bounds.within(finer.lower, finer.upper, FINEST)
        if bounds.upper - bounds.lower <= tolerance:
            return bounds
        if wanted is not None and (bounds.lower >= wanted or bounds.upper < wanted):
            return bounds
        if time.perf_counter() > deadline:
            return replace(bounds, why="time ran out")
        close, unlikely = _close(single, SHARE * tolerance)
        if close.size > 1:
            near = AffineRows(rows.weight[close], rows.bias[close], doubt[close])
            low, high, why = kept_rivals(near, slip, tolerance - unlikely, deadline)
            return bounds.within(low - unlikely, high, why)
    return bounds


def _joined(single: list[Bounds]) -> Bounds:
    lower = 1.0 - sum(1.0 - bounds.lower for bounds in single)
    upper = min(bounds.upper for bounds in single)
    final = all(bounds.final for bounds in single)
    return Bounds(max(0.0, lower), min(1.0, max(upper, 0.0)), final and len(single) == 1, final, ROUNDING)


def _close(single: list[Bounds], allowed: float) -> tuple[Ints, float]:
    """The rivals that count, and the chance that one of the others wins."""
    wins = np.array([max(0.0, 1.0 - bounds.lower) for bounds in single])
    order = np.argsort(wins, kind="stable")
    total = np.cumsum(wins[order])
    few = int(np.searchsorted(total, allowed, side="right"))
    return np.sort(order[few:]), float(total[few - 1]) if few else 0.0


@dataclass(frozen=True, eq=False)
class RivalLaw:
    """How a margin with a known mean is distributed: mean + tau Z + a term on a grid, known up to rounding down and up."""

    tau: float
    places: Floats  # of the grid; a single 0 where nothing is on it
    low: Floats  # masses of the term rounded down
    high: Floats  # and up
    error: float
    blur: float  # rounding of the sum of the normal columns
    exact: bool

    def lower(self, mean: float) -> float:
        """P(margin > 0) is at least this."""
        return self._kept(self.low, mean - self.blur) - self.error

    def upper(self, mean: float) -> float:
        """And at most this; what left the grid counts for it."""
        return self._kept(self.high, mean + self.blur) + (1.0 - float(self.high.sum())) + self.error

    def _kept(self, masses: Floats, mean: float) -> float:
        """P(mean + tau Z + the term > 0); beyond what Phi can tell from 0 and 1 only sums are needed."""
        if self.tau == 0.0:
            return float(masses[np.searchsorted(self.places, -mean, side="right") :].sum())
        first, last = np.searchsorted(self.places, (-mean - 9.0 * self.tau, -mean + 9.0 * self.tau))
        near = masses[first:last] * _each_at_least(self.places[first:last] + mean, self.tau)
        return float(near.sum()) + float(masses[last:].sum())


def rival_law(
    weight: Floats, slip: Slip, half_grid: int, deadline: float, no_clipping: float = NO_CLIPPING
) -> RivalLaw | None:
    """The law of the margin of one rival around a centre; None: out of time."""
    used = [int(f) for f in slip.columns if weight[f] != 0.0]
    normal, other, error = [], [], PHI_ERROR
    for f in used:
        clipped = slip.below(f, np.array([slip.lower[f]]))[0] if np.isfinite(slip.lower[f]) else 0.0
        if np.isfinite(slip.upper[f]):
            clipped += 1.0 - special.ndtr((slip.upper[f] - slip.center[f]) / slip.sigma[f])
        if slip.whole[f] or clipped > no_clipping:
            other.append(f)
        else:
            normal.append(f)
            error += clipped + PHI_ERROR
    tau = float(np.linalg.norm(weight[normal] * slip.sigma[normal])) if normal else 0.0
    blur = 8.0 * EPS * (weight.size + 2) * tau * REACH
    if not other:
        return RivalLaw(tau, np.zeros(1), np.ones(1), np.ones(1), error, blur, True)
    spread = [float(abs(weight[f]) * slip.sigma[f]) for f in other]
    step = (6.0 * sum(spread) + max(spread)) / half_grid
    laws = _grid_laws(weight, other, slip, step, half_grid, deadline)
    if laws is None:
        return None
    low, high = laws
    places = np.asarray((np.arange(low.size) - low.size // 2) * step, dtype=np.float64)
    error += PHI_ERROR + len(other) * (4 * half_grid * PHI_ERROR) + low.size * EPS * 64 * len(other)
    return RivalLaw(tau, places, low, high, error, blur, False)


def _one_rival(weight: Floats, bias: float, doubt: float, slip: Slip, half_grid: int, deadline: float) -> Bounds:
    """P(margin > 0), where margins within ``doubt`` of 0 may go either way."""
    law = rival_law(weight, slip, half_grid, deadline)
    if law is None:
        return Bounds(0.0, 1.0, False, False)
    mean = float(weight @ slip.center) + bias
    doubt += 4.0 * EPS * (weight.size + 2) * (float(np.abs(weight) @ np.abs(slip.center)) + abs(bias))
    return Bounds(law.lower(mean - doubt), law.upper(mean + doubt), law.exact, law.exact)


def _each_at_least(mean: Floats, tau: float) -> Floats:
    """P(mean + tau Z > 0)."""
    if tau == 0.0:
        return (mean > 0.0).astype(np.float64)
    return np.asarray(special.ndtr(mean / tau))


def _grid_laws(
    weight: Floats, columns: list[int], slip: Slip, step: float, half_grid: int, deadline: float
) -> tuple[Floats, Floats] | None:
    """The distributions of the sum of w_f (x_f - c_f), every term rounded down and rounded up to the grid; None: out of
    time."""
    low = high = np.ones(1)
    points = np.asarray(np.arange(-half_grid, half_grid + 1) * step, dtype=np.float64)
    for k, f in enumerate(columns):
        if k > FEW_COLUMNS and time.perf_counter() > deadline:
            return None
        down, up = _column_laws(float(weight[f]), f, slip, points)
        low, high = (np.maximum(signal.fftconvolve(a, b), 0.0) for a, b in ((low, down), (high, up)))
        if low.size > 4 * half_grid + 1:  # keep the middle; what is cut off no longer counts
            cut = (low.size - 4 * half_grid - 1) // 2
            low, high = low[cut:-cut], high[cut:-cut]
    return low, high


def _column_laws(weight: float, f: int, slip: Slip, points: Floats) -> tuple[Floats, Floats]:
    """Distributions on the grid of one term y = w (x - c), rounded down and up.

    With the grid g_0 < ... < g_m and G(g) = P(y <= g): rounded up, y becomes g_j with probability G(g_j) - G(g_(j-1));
    rounded down, it becomes g_j with P(g_j <= y < g_(j+1)), for which P(y <= g) is asked just below each point, so
    that an atom on a grid point is never moved up. Beyond the grid, y is lost below (down) and left out above (up).
    """
    edges = slip.center[f] + points / weight
    blur = 4.0 * np.spacing(np.abs(edges) + abs(slip.center[f]))
    if weight > 0.0:
        at_most, below = slip.below(f, edges - blur), slip.below(f, edges + blur)
        up_cdf, down_cdf = at_most, below
    else:  # y <= g iff x >= c + g / w
        up_cdf, down_cdf = 1.0 - slip.below(f, edges + blur), 1.0 - slip.below(f, edges - blur)
    up = np.diff(up_cdf, prepend=0.0)  # a smaller distribution function: moved up
    down = np.append(np.diff(down_cdf), 1.0 - down_cdf[-1])  # a larger one: moved down
    return np.maximum(down, 0.0), np.maximum(up, 0.0)
