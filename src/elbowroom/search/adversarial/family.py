"""What a family of models gives to the loop: an encoding of the master, an adversary, and exact values at points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from elbowroom.numerics import Floats
from elbowroom.search.adversarial.master import Master, Stance
from elbowroom.search.adversarial.scenario import Scenario
from elbowroom.search.solvers.protocol import Chain


class Family(Protocol):
    """One family of models. ``reach`` bounds the centres of a master (see `center`); it may be inf unless ``needs_reach``."""

    needs_reach: bool

    @property
    def hopeless(self) -> str:
        """Why no point at all can be good, if that follows from the model alone (otherwise empty)."""
        ...

    def master(self, scenarios: list[Scenario], stance: Stance, reach: float) -> Master: ...

    def attack(self, center: Floats, solver: Chain, seconds_left: Callable[[], float]) -> list[Floats]:
        """Points of body(center), deepest first, that are likely bad."""
        ...

    def deepened(self, center: Floats, point: Floats) -> Floats:
        """A bad point deeper inside the same bad piece than the given one (or the same point)."""
        ...

    def spare(self, points: Floats) -> Floats:
        """Smallest margin minus slack over the rivals at every point: negative means bad."""
        ...

    def nowhere(self, scenarios: list[Scenario], seconds_left: Callable[[], float]) -> bool:
        """True only if it is proven exactly that no centre at all, near or far, is good in these scenarios."""
        ...

    def harden(self, scenario: int | None, point: Floats) -> bool:
        """Tolerances spoiled a candidate: the master's centre sends this scenario to a bad point although the program
        said otherwise; or (None) the judge refuses a point that no scenario can tell from the centre. Learn from it;
        False if nothing can be learned."""
        ...
