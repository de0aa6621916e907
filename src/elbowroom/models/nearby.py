"""A linear model together with all models whose weights are close to its own.

Let z(x) = M x + m be the columns that arrive at the estimator, and score_k = w_k . z + b_k. The set holds every model with weights
w_k + d_k and intercepts b_k + c_k, |d_ki| <= eps for every weight by itself, |c_k| <= eps_0. A margin row
sum_k a_k score_k - threshold is smallest at z for

    d_ki = -eps sign(a_k) s_i,    c_k = -eps_0 sign(a_k),    s_i = sign(z_i):   nominal margin - |a|_1 (eps |z|_1 + eps_0).

So each vector s of signs gives a model of the set, and the smallest margin of the whole set at z is that of the model whose s fits z. Over
a body only those s count whose signs z can take in it: a z_i that keeps its sign has one. In a box, a z_i that depends on one
column alone, of which no other open sign depends, is settled by itself: the row is concave in that column, so the worst of
its two ends decides. What is left open is enumerated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Final

import numpy as np

from elbowroom.models.base import fingerprint_of
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.margins import Need, contrast
from elbowroom.numerics import Bools, Floats, Ints, gamma

MOST_OPEN: Final = 8  # signs that are enumerated


@dataclass(frozen=True, eq=False)
class NearbyLinear(LinearModel):
    """``affine`` is that of the model itself; ``arriving`` is z, with the error of the original's own steps."""

    arriving: Affine
    weights: float
    intercept: float

    @cached_property
    def fingerprint(self) -> str:
        sizes = np.array([self.weights, self.intercept])
        return fingerprint_of(self.info, *self.affine.arrays, *self.arriving.arrays, sizes)

    def member(self, side: Floats, signs: Floats) -> LinearModel:
        """The model of the set each of whose scores is as far as it may be on this side of the model's own, where z has these
        signs."""
        z = self.arriving
        moved = self.weights * signs
        weight, bias = np.outer(side, moved @ z.weight), side * (moved @ z.bias + self.intercept)
        slack = gamma(z.weight.shape[0] + 8)
        size = np.abs(side)[:, None] * self.weights
        # A sign that only the rounding of z decides costs twice what z is off; the rest is the rounding of this sum.
        slope = size * (3.0 * z.error_slope.sum(axis=0) + slack * np.abs(z.weight).sum(axis=0))
        constant = size[:, 0] * (3.0 * z.error_constant.sum() + slack * np.abs(z.bias).sum())
        affine = self.affine
        return LinearModel(
            replace(self.info, nearby=""),
            replace(
                affine,
                weight=affine.weight + weight,
                bias=affine.bias + bias,
                error_slope=affine.error_slope + slope + slack * np.abs(affine.weight),
                error_constant=affine.error_constant + constant + slack * (np.abs(affine.bias) + self.intercept),
            ),
        )

    def worst(
        self, target: int, need: Need, lower: Floats, upper: Floats, is_box: bool, free: Bools
    ) -> dict[tuple[bytes, bytes], LinearModel] | None:
        """Models of the set that have the wanted outcome at every point between these ends (of a set within them that is not a
        box) if and only if all of the set do; by sides and signs. ``free``: columns whose category is open. None: too many
        signs are open."""
        rows = contrast(self.info, target, need).matrix
        sides = -np.sign(rows)
        if not ((sides > 0.0).any(axis=0) & (sides < 0.0).any(axis=0)).any():
            sides[:] = np.sign(sides.sum(axis=0))  # one model is worst for all rivals at once
        found: dict[tuple[bytes, bytes], LinearModel] = {}
        for row, side in zip(rows, sides, strict=True):
            made = self._signs(row, lower, upper, is_box, free)
            if made is None:
                return None
            for signs in made:
                key = side.tobytes(), signs.tobytes()
                if key not in found:
                    found[key] = self.member(side, signs)
        return found

    def _signs(self, row: Floats, lower: Floats, upper: Floats, is_box: bool, free: Bools) -> list[Floats] | None:
        z = self.arriving
        low = np.minimum(z.weight * lower, z.weight * upper).sum(axis=1) + z.bias
        high = np.maximum(z.weight * lower, z.weight * upper).sum(axis=1) + z.bias
        signs = np.where(low >= 0.0, 1.0, -1.0)
        open_: Ints = np.flatnonzero((low < 0.0) & (high > 0.0))
        if is_box:
            open_ = self._settled(row, signs, open_, lower, upper, free)
        if open_.size > MOST_OPEN:
            return None
        made = []
        for chosen in product((-1.0, 1.0), repeat=open_.size):
            each = signs.copy()
            each[open_] = chosen
            made.append(each)
        return made

    def _settled(self, row: Floats, signs: Floats, open_: Ints, lower: Floats, upper: Floats, free: Bools) -> Ints:
        """Settle open signs by the worst end of their column, in place; the others are returned."""
        z = self.arriving
        uses = z.weight != 0.0
        alone = [i for i in open_ if uses[i].sum() == 1]
        columns = {i: int(np.argmax(uses[i])) for i in alone}
        alone = [i for i in alone if not free[columns[i]] and uses[open_, columns[i]].sum() == 1]
        known = np.ones(signs.size, dtype=np.bool_)
        known[open_] = False
        pull = np.abs(row).sum() * self.weights
        for i in alone:
            f = columns[i]
            slope = float(row @ self.affine.weight[:, f]) - pull * float((signs * z.weight[:, f])[known].sum())
            ends = np.array([lower[f], upper[f]])
            at = z.weight[i, f] * ends + z.bias[i]
            end = int(np.argmin(slope * ends - pull * np.abs(at)))
            signs[i] = 1.0 if at[end] >= 0.0 else -1.0
        return np.array([i for i in open_ if i not in alone], dtype=np.int64)
