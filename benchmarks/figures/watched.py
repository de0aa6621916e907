"""Algorithm 1 with every iterate kept: centre, distance, certified radius, seconds of the master and of the adversary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from elbowroom import Box, Explainer
from elbowroom.certify import certify
from elbowroom.problem import RecourseProblem
from elbowroom.result import Inadmissible, Verdict
from elbowroom.search.adversarial.family import Family
from elbowroom.search.adversarial.loop import _Loop, family_of
from elbowroom.search.contract import Accept, Clock
from elbowroom.search.solvers.protocol import Chain, SolverName, open_solver

RADIUS_SECONDS = 10.0


@dataclass
class _Watcher:
    """A family that notes the centres which the adversary is asked about."""

    family: Family
    centers: list[np.ndarray] = field(default_factory=list)

    def attack(self, center: np.ndarray, solver: Chain, seconds_left: Callable[[], float]) -> list[np.ndarray]:
        self.centers.append(center.copy())
        return self.family.attack(center, solver, seconds_left)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.family, name)


@dataclass(frozen=True)
class _Judge:
    problem: RecourseProblem

    def __call__(self, center: np.ndarray, looks: float = np.inf, /) -> Verdict:
        broken = self.problem.why_inadmissible(center)
        if broken is not None:
            return Inadmissible(broken)
        return certify(self.problem.model, self.problem.target, self.problem.body(center), 60.0, looks)

    def about(self, problem: RecourseProblem) -> Accept:
        return _Judge(problem)


def watch(
    explainer: Explainer,
    x: np.ndarray,
    rho: float,
    limit: float,
    radii: bool = True,
    solver: SolverName = SolverName.HIGHS,
) -> dict[str, Any]:
    """One run. ``certified`` tells whether the last iterate was accepted by adversary and judge.

    ``radii=False`` leaves out the certified radii of the iterates, which are not part of the algorithm.
    """
    problem = RecourseProblem.ask(explainer.model, explainer.space, x, Box(rho))
    watcher = _Watcher(family_of(problem))
    clock = Clock(limit)
    loop = _Loop(problem, _Judge(problem), clock, Chain([open_solver(solver)]), watcher)
    outcome = loop.run()
    seconds = clock.seconds
    rounds = [name.rpartition("_")[2] for name in outcome.counters if name.startswith("adversary_seconds_")]
    iterates = [
        {
            "distance": problem.measure(center),
            "radius": _radius(explainer, center, problem) if radii else None,
            "master_s": outcome.counters[f"master_seconds_{number}"],
            "adversary_s": outcome.counters[f"adversary_seconds_{number}"],
            "center": center.tolist(),
        }
        for center, number in zip(watcher.centers, rounds, strict=True)
    ]
    return {
        "iterates": iterates,
        "certified": loop.content,
        "distance": problem.measure(outcome.center) if outcome.center is not None else None,
        "lower_bound": outcome.lower_bound,
        "seconds": seconds,
        "rho": rho,
    }


def _radius(explainer: Explainer, center: np.ndarray, problem: RecourseProblem) -> float:
    return explainer.radius(center, "linf", problem.target, time_limit=RADIUS_SECONDS).lower
