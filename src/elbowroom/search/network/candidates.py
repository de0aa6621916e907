"""The state that all parts of a network search share: the pool of scenarios, the best accepted centre, the judge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

import numpy as np

from elbowroom.models.margins import network_margins
from elbowroom.models.network import ReluNetwork
from elbowroom.numerics import Floats
from elbowroom.problem import RecourseProblem
from elbowroom.result import Certificate, Counterexample, Inadmissible, Undecided, Verdict
from elbowroom.search.contract import LOOKS_PER_SECOND, Clock, Referee
from elbowroom.search.network.attack import find_weak_points
from elbowroom.search.network.limits import (
    A_FEW_SECONDS,
    COARSENESS,
    FLIPS,
    LARGEST_SLICE,
    LEAST_SAFETY,
    LESS,
    MOST_SURPRISES,
    SAFETY,
    SECOND_LOOK,
    SHORTAGE,
    SHORTEST_SLICE,
    SLICE,
    SLIDES,
    THOROUGH,
    UNDECIDED_SHARE,
)
from elbowroom.search.network.margins import MarginNetwork, expected_error
from elbowroom.search.network.moves import Moves
from elbowroom.search.network.objective import MoveProgram
from elbowroom.search.network.scenarios import Scenarios


@dataclass(eq=False)
class NetworkSearch:
    """One question on its way to an answer."""

    problem: RecourseProblem
    network: MarginNetwork
    moves: Moves
    scenarios: Scenarios
    program: MoveProgram
    referee: Referee
    clock: Clock
    rng: np.random.Generator
    lower_bound: float = 0.0
    rounding: float = 0.0  # how far computed margins may be from real ones within the present cutoff
    counters: dict[str, float] = field(default_factory=dict)
    undecided: str = ""
    undecided_looks: float = 0.0
    size: float = 1.0  # unit of the network's margins
    coarseness: float = 0.0  # what the original's own rounding takes from margins, about: much only for float32
    safety: float = 0.0  # margin that candidates aim for: the judge's work grows as margins shrink
    surprises: int = 0  # centres that the judge refuted although no attack had found anything
    refuted: bool = False  # the centre offered last has a point of another class in its room
    pending: list[Floats] = field(default_factory=list)  # not decided by the judge in their share of looks
    _refused: set[bytes] = field(default_factory=set)
    _late: bool = False  # a candidate came after the time limit

    @classmethod
    def begin(cls, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> NetworkSearch:
        model = problem.model
        if not isinstance(model, ReluNetwork):
            raise TypeError(f"the network engine was asked about a {type(model).__name__}")
        margins = network_margins(model, problem.target_index, problem.target.need)
        moves = Moves.of(problem)
        scenarios = Scenarios(problem)
        network = MarginNetwork.of(margins)
        rng = np.random.default_rng(seed)
        size = _size_of_margins(network, moves, scenarios, rng)
        network = network.divided(size)
        search = cls(problem, network, moves, scenarios, MoveProgram(moves), referee, clock, rng)
        search.set_cutoff(1.0)
        points = scenarios.points(problem.factual)
        search.size = size
        search.coarseness = COARSENESS * expected_error(margins, points) / size
        missing = -float(network.worst(points).min())
        search.safety = max(SAFETY * max(missing, 0.01), search.coarseness)
        return search

    @property
    def best(self) -> Floats | None:
        """The best accepted centre."""
        return self.referee.center

    @property
    def best_distance(self) -> float:
        return self.referee.distance

    def set_cutoff(self, cutoff: float) -> None:
        """Bound the rounding of margins for all centres within the cutoff."""
        magnitude = np.abs(self.problem.factual) + np.maximum(self.problem.walls.up, self.problem.walls.down) + 1.0
        for column in (self.moves.plus, self.moves.minus):
            used = column >= 0
            np.add.at(magnitude, column[used], self.moves.unit[used] * np.minimum(cutoff, self.moves.high[used]))
        self.rounding = self.network.rounding(magnitude)

    def count(self, what: str, amount: float = 1.0) -> None:
        self.counters[what] = self.counters.get(what, 0.0) + amount

    def aim_lower(self) -> bool:
        """Candidates aim for a smaller margin from now on; False if they cannot: the judge would not see it."""
        least = max(LEAST_SAFETY, self.rounding, self.coarseness)
        if self.safety <= least:
            return False
        self.safety = max(LESS * self.safety, least)
        return True

    def attack(self, center: Floats, starts: int = 8, rounds: int = 10, remember: int = 1) -> float:
        """The smallest margin found in the region around a centre; the worst points join the pool if negative."""
        self.count("attacks")
        body = self.problem.body(center)
        pool = self.scenarios.points(center)
        margin = self.network.worst(pool)
        nearest = pool[np.argsort(margin, kind="stable")[:4]]
        flips = FLIPS if starts >= THOROUGH else 0
        slides = SLIDES * min(1 + self.surprises, MOST_SURPRISES) if flips and self.network.depth > 1 else 0
        values, points = find_weak_points(self.network, body, self.rng, starts, rounds, nearest, flips, slides)
        for value, point in zip(values[:remember], points[:remember], strict=True):
            if value < 0.0:
                self.scenarios.add(center, point)
        return float(min(values[0], margin.min()))

    def offer(self, center: Floats) -> bool:
        """Ask the judge about a centre that is closer than the best; True if it became the best."""
        if self.clock.expired and not self._last_chance():
            return False
        key = center.tobytes()
        nearer = self.problem.measure(center) < self.best_distance
        if not nearer or key in self._refused or not self.problem.admissible(center):
            return False
        if self.attack(center, starts=32, rounds=16, remember=4) < -self.rounding:
            self.refuted = True
            return False
        self._refused.add(key)
        return self._judge(center, self._slice())

    def _last_chance(self) -> bool:
        """Once the time is over, a moment for one more candidate, if none was accepted: better late than no answer."""
        first, self._late = not self._late, True
        return first and self.best is None

    def _slice(self) -> float:
        """Looks for the next verdict: of what the judge nominally does in the time limit, never of the time that is left."""
        limit, used = self.clock.nominal, self.undecided_looks / LOOKS_PER_SECOND
        seconds = min(LARGEST_SLICE * limit, max(SLICE * limit, A_FEW_SECONDS))
        return LOOKS_PER_SECOND * max(min(seconds, UNDECIDED_SHARE * limit - used), SHORTEST_SLICE)

    def reconsider(self) -> None:
        """Ask again about the centres that needed more than their slice, nearest first; the last one may take what is left."""
        waiting, self.pending = sorted(self.pending, key=self.problem.measure), []
        for k, center in enumerate(waiting):
            if self.clock.expired or self.problem.measure(center) >= self.best_distance:
                return
            second = SECOND_LOOK * self.clock.nominal * LOOKS_PER_SECOND
            self._judge(center, np.inf if k == len(waiting) - 1 else second)

    def ask(self, center: Floats, looks: float) -> Verdict:
        """The judge's verdict on a centre; an accepted one is published."""
        self.count("verdicts")
        verdict = self.referee(center, looks)
        if isinstance(verdict, Certificate):
            self.clock.report(best_distance=self.best_distance)
        return verdict

    def _judge(self, center: Floats, looks: float) -> bool:
        verdict = self.ask(center, looks)
        match verdict:
            case Certificate():
                return True
            case Counterexample():
                self.scenarios.add(center, verdict.point)
                self.surprises += 1
                if verdict.near_tie:  # of the wanted class, but not by as much as the original's rounding may take
                    self.coarseness += SHORTAGE * -verdict.margin / self.size
                    self.safety = max(self.safety, self.coarseness)
                self.refuted = not self.problem.target.is_met(verdict.label)
            case Undecided():
                self.undecided = verdict.reason
                self.undecided_looks += looks
                self.pending.append(center)
            case Inadmissible():
                pass  # `offer` asks about admissible centres only
            case _:
                assert_never(verdict)
        return False

    def prove(self, lower_bound: float) -> None:
        """Publish a proven lower bound on the distance of every valid centre."""
        if lower_bound > self.lower_bound:
            self.lower_bound = lower_bound
            self.clock.report(lower_bound=min(lower_bound, self.best_distance))


def _size_of_margins(network: MarginNetwork, moves: Moves, scenarios: Scenarios, rng: np.random.Generator) -> float:
    """What a margin of "1" should mean: the larger of the margin at the factual and a tenth of a typical steepest slope
    per unit of distance. Programs are then well scaled, and tolerances can be absolute."""
    start = moves.center(moves.low)
    near = np.clip(moves.low + rng.uniform(0.0, 0.5, (16, moves.size)), moves.low, moves.high)
    Y = np.vstack([scenarios.points(moves.center(v), slice(0, 1)) for v in (moves.low, *near)])
    size = float(np.abs(network.margins(scenarios.points(start, slice(0, 1)))).max())
    for r in range(network.n_rivals):
        _, slope, _ = network.gradient(Y, np.full(len(Y), r))
        if moves.size:
            size = max(size, 0.1 * float(np.median(np.abs(moves.pull(slope)).max(axis=1))))
    return size if np.isfinite(size) and size > 0.0 else 1.0
