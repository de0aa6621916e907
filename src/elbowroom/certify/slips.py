"""A slipped centre as a random point: independent columns with known distribution functions, rounded outwards.

Column f of the slipped centre is clip(c_f + s_f, lower_f, upper_f) with s_f ~ N(0, sigma_f^2), in whole columns with s_f
rounded towards 0. For a value v,

    P(x_f <= v) = 1                            if v >= upper_f,
                  0                            if v < lower_f,
                  Phi((v - c_f) / sigma_f)     else;  in whole columns with v = k >= c_f: Phi((k + 1 - c_f) / sigma_f).

**Rounding.** Phi is taken from scipy as correct to PHI_ERROR. The quotient and the model's own c + s in floats are off by
a few units in the last place of |v| and |c|, which moves Phi by at most that many over sigma / sqrt(2 pi). If every
probability of a cell is off by at most e_f, any probability of a union of cells is off by at most the total variation,
sum over columns of (cells of f) e_f.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special

from elbowroom.numerics import EPS, Bools, Floats, Ints
from elbowroom.problem.body import Body
from elbowroom.problem.shapes import is_round

PHI_ERROR: Final = 1e-14
DENSITY: Final = 0.4  # of the standard normal distribution, at most
REACH: Final = 40.0
PLACES: Final = 4.0  # roundings of c + s, v - c and the quotient


@dataclass(frozen=True, eq=False)
class Slip:
    """The distribution of the slipped centre."""

    center: Floats
    sigma: Floats  # raw units; 0 where a column does not slip
    lower: Floats
    upper: Floats
    whole: Bools

    @property
    def columns(self) -> Ints:
        """Columns that really vary."""
        return np.flatnonzero((self.sigma > 0.0) & (self.lower < self.upper))

    def below(self, f: int, values: Floats) -> Floats:
        """P(x_f <= v) for each value, up to `error`."""
        c, sigma = self.center[f], self.sigma[f]
        edge = np.asarray(values, dtype=np.float64)
        if self.whole[f]:
            edge = np.floor(edge)
        if sigma <= 0.0 or not self.lower[f] < self.upper[f]:
            return (c <= edge).astype(np.float64)  # it stays where it is
        inside = np.where(self.whole[f] & (edge >= c), edge + 1.0, edge)
        with np.errstate(over="ignore"):
            chance = special.ndtr((inside - c) / sigma)
        return np.where(edge >= self.upper[f], 1.0, np.where(edge < self.lower[f], 0.0, chance))

    def error(self, f: int, values: Floats) -> float:
        """How far any value of `below` may be off. Beyond `REACH` standard deviations Phi is 0 or 1 all around."""
        center, sigma = abs(float(self.center[f])), float(self.sigma[f])
        if sigma <= 0.0:
            return 0.0
        largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
        size = max(center, sigma, min(largest, center + REACH * sigma))
        return PHI_ERROR + DENSITY * PLACES * EPS * size / sigma

    def inside(self, body: Body) -> float:
        """A lower bound on the chance that the slip stays in the room of a region around the same centre.

        Boxes: the product over columns, exact up to rounding. Balls and diamonds: with t the smallest semi-axis over
        sigma, the slip stays inside if its standardized length is at most t.
        """
        columns = self.columns
        if is_round(body.shape):
            return self._inside_round(body, columns)
        chance, error = 1.0, 0.0
        for f in columns:
            ends = np.array([_before(body.lower[f], bool(self.whole[f])), body.upper[f]])
            low, high = self.below(f, ends)
            chance *= max(0.0, float(high - low))
            error += 2.0 * self.error(f, ends)
        return max(0.0, chance - error)

    def _inside_round(self, body: Body, columns: Ints) -> float:
        from elbowroom import chance

        if columns.size == 0:
            return 1.0
        ratio = float((body.axes[columns] / self.sigma[columns]).min())
        return max(0.0, float(chance.probability(ratio, 1.0, columns.size, body.shape.distance)) - PHI_ERROR)


def _before(value: float, whole: bool) -> float:
    return value - 1.0 if whole else math.nextafter(value, -math.inf)
