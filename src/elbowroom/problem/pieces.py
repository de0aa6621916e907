"""What a move of one column costs, one way, as a function of its length: piecewise linear, with a jump at 0.

p(0) = 0 and p(m) = jump + sum over pieces of slope_k |[0, m] cut with piece k|, with jump >= 0 and positive slopes, so p grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from elbowroom.numerics import Floats

ROUNDING: Final = 1e-12  # of the place of a bend, as a share of the numbers that it is the difference of
LEAST_SLOPE: Final = 2.0**-40  # as a share of the smallest one: lines below a price never fall flat by rounding


@dataclass(frozen=True, eq=False)
class Pieces:
    """Piece k begins at a move of length ``starts[k]`` (the first at 0) and costs ``slopes[k]`` per unit."""

    jump: float
    starts: Floats
    slopes: Floats

    @property
    def is_flat(self) -> bool:
        """True if every unit costs the same."""
        return self.jump == 0.0 and self.slopes.size == 1

    def of(self, lengths: Floats) -> Floats:
        """p(length), for lengths >= 0."""
        widths = np.append(np.diff(self.starts), np.inf)
        paid = self.slopes * np.clip(lengths[..., None] - self.starts, 0.0, widths)
        total = np.where(lengths > 0.0, self.jump, 0.0)[..., None]
        return np.asarray(np.add.accumulate(np.concatenate([total, paid], axis=-1), axis=-1)[..., -1])  # in this order

    def line_below(self, first: float, last: float, size: float) -> tuple[float, float]:
        """(constant, slope) of a line that is nowhere above p between two lengths, and touches it at the first one. ``size``
        is that of the numbers whose difference the lengths are."""
        at = float(self.of(np.array([first]))[0])
        if first >= last:
            return at - float(self.slopes[0]) * first, float(self.slopes[0])
        blur = ROUNDING * (size + first)
        inner = self.starts[(self.starts > first + blur) & (self.starts < last)]
        ends = np.append(inner, last) if np.isfinite(last) else inner
        slopes = [*((self.of(ends) - at) / (ends - first)), *(() if np.isfinite(last) else (self.slopes[-1],))]
        slope = max(float(min(slopes)), LEAST_SLOPE * float(self.slopes.min()))
        skipped = bool(((self.starts > first) & (self.starts <= first + blur)).any())
        shift = blur * float(self.slopes.max()) if skipped else 0.0
        return at - slope * first - shift, slope

    def bend(self, first: float, last: float, length: float, size: float) -> float | None:
        """The bend between two lengths that is nearest to a third; None if there is none."""
        blur = ROUNDING * (size + first)
        inner = self.starts[(self.starts > first + blur) & (self.starts < last - blur)]
        return None if inner.size == 0 else float(inner[np.argmin(np.abs(inner - length))])
