"""The chance that a slip keeps the class, estimated from a fixed sample of slips: quick, smooth enough, and proven by nobody.

For networks proven bounds cost thousands of cells, so the local search follows the estimate, and the judge is asked about what
it ends with. The same slips count for every centre, so that differences of estimates are far closer than the estimates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from elbowroom.models import Affine, ReluNetwork
from elbowroom.models.margins import network_margins
from elbowroom.numerics import Floats
from elbowroom.problem import RecourseProblem
from elbowroom.result.kept import KeptProbability
from elbowroom.search.contract import Clock
from elbowroom.search.keeping.limits import PUSHES, SLIPS
from elbowroom.search.keeping.nearby import slopes


@dataclass
class Guess:
    """A judge of promises by sampling: what it takes need not be true. ``raised`` is asked for beyond the promise."""

    problem: RecourseProblem
    seed: int
    raised: float
    center: Floats | None = None
    distance: float = math.inf
    _noise: Floats = field(init=False)
    _layers: tuple[Affine, ...] = field(init=False)
    _known: dict[bytes, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        model, target = self.problem.model, self.problem.target
        assert isinstance(model, ReluNetwork)  # the only family whose proven bounds are too costly to follow
        self._layers = network_margins(model, target.index(model.info), target.need).layers
        half = np.random.default_rng(self.seed).normal(size=(SLIPS // 2, self.problem.factual.size))
        noise = np.concatenate([half, -half]) * self.problem.spread
        self._noise = np.where(self.problem.space.whole_room, np.trunc(noise), noise)

    def share(self, center: Floats) -> float:
        """Of slips that keep the class."""
        key = (center + 0.0).tobytes()
        if key not in self._known:
            problem = self.problem
            slipped = np.clip(center + self._noise, problem.lower, problem.upper)
            hidden = np.concatenate([center[None], slipped])
            for layer in self._layers[:-1]:
                hidden = np.maximum(layer(hidden), 0.0)
            good = np.asarray((self._layers[-1](hidden) > 0.0).all(axis=1))
            self._known[key] = float(good[1:].mean()) if good[0] else min(float(good[1:].mean()), self.least - 1e-3)
        return self._known[key]

    def chance(self, center: Floats) -> KeptProbability:
        """The estimate, as both bounds."""
        share = self.share(center)
        return KeptProbability(share, share, False, None, 0, 0.0)

    @property
    def least(self) -> float:
        """What a centre has to keep, by the estimate."""
        assert self.problem.keeps is not None
        wanted = self.problem.keeps.probability
        return min(wanted + self.raised, 0.2 * wanted + 0.8)

    def takes(self, center: Floats) -> bool:
        """Whether the estimate is good enough; the closest such centre is kept."""
        if self.problem.why_outside(center) is not None or self.share(center) < self.least:
            return False
        distance = self.problem.measure(center)
        if distance < self.distance:
            self.center, self.distance = center.copy(), distance
        return True

    def begin(self, start: Floats, clock: Clock) -> bool:
        """Climb from a centre until the estimate is good enough."""
        center, problem = start.copy(), self.problem
        for _ in range(PUSHES):
            if self.takes(center):
                return True
            gain = slopes(problem, self, center, clock)
            if clock.expired or not gain.any():
                return False
            unit = np.where(problem.spread > 0.0, problem.spread, problem.space.scale)
            pushed = center + 0.5 * gain / float(np.abs(gain).max()) * unit
            pushed = np.where(problem.space.whole_center, np.round(pushed), pushed)
            center = np.where(problem.space.group_of < 0, np.clip(pushed, *problem.centers), center)
        return self.takes(center)
