"""What every centre of a box needs to keep its class with a given probability: what rules a box of centres out, proven.

For a box B of centres (of one category in every group) this is a proof that no centre of B keeps the class with probability
p, or a few rows a . c >= b that each of them has to obey.

**Trees.** A mass of more than 1 - p that every centre of B loses (`kept_trees`, with two opposite corners of B).

**Networks.** The same, by `kept_network` around the middle of B, with every column of the centre at its worst end.

**Linear models.** The margin of a rival at the slipped centre is m(c) + sum_f w_f d_f, m(c) = w.c + b, where d_f is the slip
s_f, clipped to [lower_f - c_f, upper_f - c_f] (in whole columns rounded towards 0). Both ends fall as c_f rises, so for
w_f > 0 no centre of B has a larger term, slip by slip, than the one with the smallest c_f; for w_f < 0, with the largest.
Let D be the sum of these terms: P(kept at c) <= P(m(c) + D > 0), which rises with m(c). So every centre of B that keeps the
class with probability p has m(c) >= q, where P(q + D > 0) < p is proven. Without clipping this is the robust row
w.c + b >= z_p ||sigma w||, and with one rival it is enough as well. With several rivals each row is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from scipy import special

from elbowroom.certify.kept_kernels import BEYOND
from elbowroom.certify.kept_linear import RivalLaw, rival_law
from elbowroom.certify.kept_network import kept_network
from elbowroom.certify.kept_trees import Stop, kept_trees
from elbowroom.certify.slips import REACH, Slip
from elbowroom.models import LinearModel, Model, ReluNetwork, TreeEnsemble
from elbowroom.models.margins import TreeMargins, linear_margins, tree_margins
from elbowroom.numerics import EPS, Bools, Floats
from elbowroom.problem.target import Target

HALF_GRID: Final = 2**13
RARE: Final = 1e-8  # clipping with a smaller probability is counted as an error and not put on the grid
SHARES: Final = 1  # of the work of `kept_trees`, per box
CELLS: Final = 400  # of slips of a network, per box
ROUGH: Final = 1e-3  # between the bounds of a network around a box
STEPS: Final = 60  # of the bisection for a quantile
PRECISION: Final = 1e-8  # of it, relative to all that slips add
Needed: TypeAlias = tuple[tuple[Floats, float], ...]  # rows: coefficients . center >= least


@dataclass(frozen=True, eq=False)
class Needs:
    """The conditions on centres of one question; kept from one box to the next."""

    model: Model
    target: Target
    sigma: Floats
    lower: Floats
    upper: Floats
    whole: Bools

    def slip(self, center: Floats) -> Slip:
        """The distribution of a slipped centre."""
        return Slip(center, self.sigma, self.lower, self.upper, self.whole)

    @cached_property
    def tree_margins(self) -> TreeMargins | None:
        """Of all nodes; None for other families."""
        if not isinstance(self.model, TreeEnsemble):
            return None
        return tree_margins(self.model, self.target.index(self.model.info), self.target.need, of=self.model.value)

    def of_box(self, low: Floats, high: Floats, probability: float, deadline: float) -> Needed | None:
        """Rows that hold for every centre in [low, high] that keeps its class with this probability; None: none does."""
        if isinstance(self.model, TreeEnsemble):
            return None if self._trees_lose(self.model, low, high, probability) else ()
        if isinstance(self.model, ReluNetwork):
            return None if self._network_loses(self.model, low, high, probability, deadline) else ()
        rows = self.rows(low, high, probability, deadline)
        for weight, least in rows:
            most = np.where(weight > 0.0, weight * high, weight * low)[weight != 0.0]
            if float(most.sum()) + 4.0 * EPS * (weight.size + 2) * float(np.abs(most).sum()) < least:
                return None
        return rows

    def rows(self, low: Floats, high: Floats, probability: float, deadline: float) -> Needed:
        """The rows alone; no box is ruled out by them."""
        return (
            self._linear_rows(self.model, low, high, probability, deadline)
            if isinstance(self.model, LinearModel)
            else ()
        )

    def _trees_lose(self, model: TreeEnsemble, low: Floats, high: Floats, probability: float) -> bool:
        if not (np.isfinite(low) & np.isfinite(high)).all():
            return False
        index, need, margins = self.target.index(model.info), self.target.need, self.tree_margins
        still = np.zeros_like(self.sigma)
        for spread, lost in ((still, 0.5), (self.sigma, 1.0 - probability)):  # without a slip, all or nothing is lost
            near, far = (Slip(c, spread, self.lower, self.upper, self.whole) for c in (low, high))
            stop = Stop(BEYOND, lost + 4.0 * EPS, SHARES)
            found = kept_trees(model, index, need, near, 0.0, math.inf, far, stop, margins)
            if found.bad - found.error > lost:
                return True  # all of them have another class themselves, or lose it too often
        return False

    def _network_loses(
        self, model: ReluNetwork, low: Floats, high: Floats, probability: float, deadline: float
    ) -> bool:
        if not (np.isfinite(low) & np.isfinite(high)).all():
            return False
        index, need = self.target.index(model.info), self.target.need
        middle = np.where(self.whole, np.floor(0.5 * (low + high)), 0.5 * (low + high))
        shift = np.array([np.minimum(low - middle, 0.0), np.maximum(high - middle, 0.0)])
        for spread, kept, cells in ((np.zeros_like(self.sigma), 0.5, 1), (self.sigma, probability, CELLS)):
            slip = Slip(middle, spread, self.lower, self.upper, self.whole)
            found = kept_network(model, index, need, slip, ROUGH, deadline, kept, shift, cells)
            if found.upper < kept:
                return True  # all of them have another class themselves, or lose it too often
        return False

    def _linear_rows(
        self, model: LinearModel, low: Floats, high: Floats, probability: float, deadline: float
    ) -> Needed:
        margins = linear_margins(model, self.target.index(model.info), self.target.need)
        size = np.maximum(np.abs(low), np.abs(high)) + REACH * self.sigma
        known = np.where(np.isfinite(size), size, 0.0)
        errors = margins.affine.error(known) + margins.slack
        rows = []
        for r in range(margins.slack.size):
            weight, bias = margins.affine.weight[r], float(margins.affine.bias[r])
            if not np.isfinite(size[weight != 0.0]).all():
                continue  # no bound on rounding: the row is left out
            doubt = errors[r] + 8.0 * EPS * (weight.size + 2) * (float(np.abs(weight) @ known) + abs(bias))
            law = rival_law(weight, self._best(weight, low, high), HALF_GRID, deadline, RARE)
            if law is not None:
                rows.append((weight, below_quantile(law, probability) - float(doubt) - bias))
        return tuple(rows)

    def _best(self, weight: Floats, low: Floats, high: Floats) -> Slip:
        """Around the corner of the box whose clipped slips help most."""
        return self.slip(np.where(weight > 0.0, low, high))


def below_quantile(law: RivalLaw, probability: float) -> float:
    """A mean with which the margin is proven to be positive with less than this probability, as large as bisection finds;
    -inf if there is none."""
    if law.exact and law.tau == 0.0:
        return -law.blur if law.error < probability else -math.inf
    reach = law.tau * 40.0 + float(np.abs(law.places).max()) + law.blur
    low, high, precise = -reach, reach, PRECISION * reach
    if law.exact:
        guess = law.tau * float(special.ndtri(probability))
        low, high, precise = max(low, guess - 1e-4 * law.tau), min(high, guess + 1e-4 * law.tau), 1e-12 * reach
    if law.upper(low) >= probability:
        low = -reach
        if law.upper(low) >= probability:
            return -math.inf
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        if high - low <= precise:
            break
        low, high = (middle, high) if law.upper(middle) < probability else (low, middle)
    return low
