"""Algorithm 1, once for all families.

    Z = {0}
    repeat:  x   = optimum of the master: min d(x, factual) s.t. the point of x in every scenario of Z is good
             bad = the adversary's deepest bad points of the room around x
             none: the judge decides about x;   else add their shifts to Z

Every answer is the judge's. The lower bound is proven apart from all solvers (see `proof`), on the same scenarios.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from elbowroom.models import LinearModel, ObliqueEnsemble, ReluNetwork, TreeEnsemble
from elbowroom.numerics import TOLERANCES, Floats
from elbowroom.problem import Distance, RecourseProblem, Shape, Takes
from elbowroom.problem.shapes import is_round
from elbowroom.result.certificate import Certificate, Counterexample, Inadmissible
from elbowroom.search.adversarial.center import farthest
from elbowroom.search.adversarial.family import Family
from elbowroom.search.adversarial.iterate import certified_radius
from elbowroom.search.adversarial.limits import (
    FIRST_REACH,
    FIRST_SHARE,
    MOST_FIRST_NODES,
    MOST_HARDENINGS,
    NODES_PER_SECOND,
    REACH_STEP,
    REACH_STEPS,
    SEARCH_SHARE,
)
from elbowroom.search.adversarial.master import Stance
from elbowroom.search.adversarial.one_leaf import OneLeafEngine
from elbowroom.search.adversarial.proof import prove
from elbowroom.search.adversarial.scenario import Scenario, scenario_of, shifted_point, zero_shift
from elbowroom.search.adversarial.splits import sets_refusal
from elbowroom.search.contract import Clock, Ending, Referee, refusal
from elbowroom.search.solvers.protocol import Answer, Chain, Claim, Solver, SolverName, open_solver
from elbowroom.search.solvers.tolerances import EPSILONS

SHAPES = (Shape.BOX, Shape.BALL, Shape.DIAMOND)
TAKES = Takes(rows=True, most_changes=True, slant=True)


def family_of(problem: RecourseProblem) -> Family:
    match problem.model:
        case TreeEnsemble():
            from elbowroom.search.adversarial.encode_trees import TreeFamily

            return TreeFamily(problem)
        case ObliqueEnsemble():
            from elbowroom.search.adversarial.encode_oblique import ObliqueFamily

            return ObliqueFamily(problem)
        case LinearModel():
            from elbowroom.search.adversarial.encode_linear import LinearFamily

            return LinearFamily(problem)
        case ReluNetwork():
            from elbowroom.search.adversarial.encode_network import NetworkFamily

            return NetworkFamily(problem)


class AdversarialEngine:
    """The paper's method on a mixed-integer solver, for every family. ``solvers`` replaces the named one (and what follows
    it). Keeps nothing between questions; a solver that is not installed is noticed at once."""

    def __init__(self, solver: SolverName = SolverName.HIGHS, solvers: list[Solver] | None = None) -> None:
        self._name, self._solvers = solver, solvers
        self._opened()

    def _opened(self) -> list[Solver]:
        if self._solvers is not None:
            return self._solvers
        reserve = [] if self._name is SolverName.HIGHS else [open_solver(SolverName.HIGHS)]
        return [open_solver(self._name), *reserve]

    def takes(self, problem: RecourseProblem) -> Takes:
        return TAKES

    def refuses(self, problem: RecourseProblem) -> str | None:
        return refusal(problem, "Algorithm 1", SHAPES, TAKES) or sets_refusal(problem.model, "Algorithm 1")

    def prepare(self, shape: Shape) -> None:
        """There is nothing to compile."""

    def search(self, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> Ending:
        """Algorithm 1; nothing here is random, so ``seed`` is not used."""
        return _Loop(problem, referee, clock, Chain(self._opened()), family_of(problem)).run()


@dataclass(eq=False)
class _Loop:
    problem: RecourseProblem
    referee: Referee
    clock: Clock
    solver: Chain
    family: Family
    scenarios: list[Scenario] = field(default_factory=list)
    reach: float = math.inf
    content: bool = False  # the adversary and the judge agree on the master's optimum
    exhausted: bool = False  # the master finds no centre at all
    rounds: int = 0
    hardenings: int = 0
    seconds: dict[str, float] = field(default_factory=dict)  # of the master and the adversary, in every round

    def run(self) -> Ending:
        if self.clock.expired:
            return self._ending(0.0, "the time limit was reached before the search began")
        if self.family.hopeless:
            return self._ending(math.inf, self.family.hopeless)
        self.scenarios = [zero_shift(self.problem)]
        self.farthest = farthest(self.problem)
        self._first_region()
        if self.family.needs_reach:
            self.reach = min(FIRST_REACH, self.farthest)
        reason = ""
        while not reason and not self.content:
            reason = self._round()
        bound = self._proven()
        if bound == math.inf:
            reason = f"it is proven that no centre is good in all {len(self.scenarios)} scenarios, near or far"
        return self._ending(bound, reason)

    def _first_region(self) -> None:
        """Something certified before the long search: the paper's heuristic, where there is one."""
        if isinstance(self.problem.model, TreeEnsemble):
            nodes = FIRST_SHARE * self.clock.nominal * NODES_PER_SECOND
            heuristic = OneLeafEngine(self.solver, max(1, int(min(nodes, MOST_FIRST_NODES))))
            found = heuristic.search(self.problem, self.referee, self.clock.part(1.0), 0)
            if self.center is not None:
                self.clock.report(best_distance=self.distance, note=found.method)

    @property
    def center(self) -> Floats | None:
        """The best accepted centre."""
        return self.referee.center

    @property
    def distance(self) -> float:
        return self.referee.distance

    @property
    def _seconds_left(self) -> float:
        return self.clock.remaining - (1.0 - SEARCH_SHARE) * self.clock.time_limit

    def _round(self) -> str:
        """One iteration; a reason to stop, or nothing."""
        if self._seconds_left <= 0.0:
            return "the time limit was reached before the adversary ran out of bad points"
        self.rounds += 1
        began = self.clock.seconds
        master = self.family.master(
            self.scenarios, Stance.ASK, min(self.reach, self.distance * (1.0 + EPSILONS.farther))
        )
        start = None if self.center is None else master.encode(self.center)  # certified: it satisfies every scenario
        answer = self.solver.solve(master.program, self._seconds_left, start)
        self.seconds[f"master_seconds_{self.rounds}"] = self.clock.seconds - began
        if not answer.usable or answer.x is None:
            return self._without_point(answer)
        center = master.decode(answer.x)
        broken = self.problem.why_inadmissible(center)
        if broken is not None:
            return f"the master's answer is not admissible and cannot be repaired ({broken}); {answer.word}"
        if self.family.needs_reach and self.reach < min(self.problem.measure(center), self.farthest):
            self.reach = min(
                self.problem.measure(center) * (1.0 + EPSILONS.farther), self.farthest
            )  # a closer one may lie outside
            return ""
        hit = self._missed(center)
        if hit is not None:
            self.hardenings += 1
            if self.hardenings > MOST_HARDENINGS or not self.family.harden(
                hit, shifted_point(self.problem, self.scenarios[hit], center)
            ):
                return f"the solver's tolerances make the master's answers unusable; {answer.word}"
            return ""
        began = self.clock.seconds
        points = self.family.attack(center, self.solver, lambda: self._seconds_left)
        self.seconds[f"adversary_seconds_{self.rounds}"] = self.clock.seconds - began
        fresh = self._learn(center, points)
        if not fresh:
            verdict = self.referee(center)
            if isinstance(verdict, Certificate):
                self.content = True
                self.clock.report(
                    best_distance=self.distance, note=f"round {self.rounds}: the adversary finds no bad point"
                )
                return ""
            if isinstance(verdict, Inadmissible):
                return f"the last centre is not admissible: {verdict.reason}"
            if not isinstance(verdict, Counterexample):
                return f"the judge could not decide about the last centre: {verdict.reason}"
            deep = self.family.deepened(center, verdict.point)
            if not self._learn(center, [deep, verdict.point]):
                self.hardenings += 1
                if self.hardenings > MOST_HARDENINGS or not self.family.harden(None, verdict.point):
                    return "the judge refuses a point that no scenario can tell from a good one"
        self.clock.report(
            certified_radius=certified_radius(self.problem, self.referee, center),
            note=f"round {self.rounds}: master at {self.problem.measure(center):.6g}, {len(self.scenarios)} scenarios",
        )
        return ""

    def _without_point(self, answer: Answer) -> str:
        """The master has no answer: look farther, or stop and quote the solver."""
        if answer.claim is Claim.INFEASIBLE and self.center is not None and self.reach >= self.distance:
            self.content = True  # nothing closer than the region that is known; the proof says how much closer, at most
            return ""
        if answer.claim is Claim.INFEASIBLE and self.reach < min(self.farthest, FIRST_REACH * REACH_STEP**REACH_STEPS):
            self.reach = min(self.reach * REACH_STEP, self.farthest)
            return ""
        if answer.claim is Claim.INFEASIBLE:
            self.exhausted = True
            where = f" within distance {self.reach:g}" if self.reach < self.farthest else ""
            return f"no centre{where} is good in all {len(self.scenarios)} scenarios; {answer.word}"
        return f"the master was not solved; {answer.word}"

    def _missed(self, center: Floats) -> int | None:
        """A scenario whose point is bad although the master promised otherwise."""
        points = np.array([shifted_point(self.problem, s, center) for s in self.scenarios])
        spare = self.family.spare(points)
        worst = int(np.argmin(spare))
        return worst if spare[worst] < 0 else None

    def _learn(self, center: Floats, points: list[Floats]) -> bool:
        """Add the scenarios of bad points that are new and really bad."""
        fresh = False
        for point in points:
            scenario = scenario_of(self.problem, center, point)
            if any(scenario.same_as(known) for known in self.scenarios):
                continue
            if self.family.spare(shifted_point(self.problem, scenario, center)[None])[0] < 0:
                self.scenarios.append(scenario)
                fresh = True
        return fresh

    def _proven(self) -> float:
        """The lower bound of the final scenarios, by weak duality; inf if they exclude every centre."""
        reach = min(self.distance if self.center is not None else self.reach, self.farthest)
        master = self.family.master(self.scenarios, Stance.PROVE, reach)
        cutoff = (
            master.objective_of(self.distance * (1.0 - EPSILONS.close_enough))
            if math.isfinite(self.distance)
            else math.inf
        )
        value = prove(master.program, cutoff, lambda: self.clock.remaining)
        bound = math.inf if value == math.inf else max(master.distance_of(value) * (1.0 - EPSILONS.rounding), 0.0)
        everywhere = bound == math.inf and reach >= self.farthest
        if self.exhausted and not everywhere and self.family.nowhere(self.scenarios, lambda: self.clock.remaining):
            self.clock.report(lower_bound=math.inf, note="proven in rational arithmetic: no centre, near or far")
            return math.inf
        if reach < self.farthest:
            bound = min(bound, reach * (1.0 - EPSILONS.rounding))
        bound = min(bound, self.distance)
        self.clock.report(lower_bound=bound, note="lower bound proven by weak duality")
        return bound

    def _ending(self, bound: float, reason: str) -> Ending:
        method = f"adversarial on {self.solver.name}"
        if self.solver.troubles:
            method += f" ({'; '.join(self.solver.troubles)})"
        straight = self.problem.metric.slant is None or self.problem.distance is not Distance.L2
        exact = isinstance(self.problem.model, TreeEnsemble) and not is_round(self.problem.walls.shape) and straight
        return Ending(
            method,
            bound,
            reason,
            TOLERANCES.optimal_gap if exact else TOLERANCES.continuous_gap,
            {
                "rounds": self.rounds,
                "scenarios": len(self.scenarios),
                "master_seconds": self._total("master"),
                "adversary_seconds": self._total("adversary"),
                **self.seconds,
            },
        )

    def _total(self, part: str) -> float:
        return sum(value for name, value in self.seconds.items() if name.startswith(part))
