"""What a solver is to a search: a program in, a claim out. Nothing a solver says is believed without a check."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

import numpy as np

from elbowroom.errors import SolverMissing
from elbowroom.numerics import Floats
from elbowroom.search.solvers.tolerances import EPSILONS

if TYPE_CHECKING:
    from elbowroom.search.program import Program


class Claim(Enum):
    """What a solver says about its answer."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    STOPPED = "stopped early"
    FAILED = "failed"


@dataclass(frozen=True, eq=False)
class Answer:
    """A solver's answer: a point (None if it has none), further points, its bound on the optimum, its own words."""

    claim: Claim
    x: Floats | None
    bound: float
    word: str
    pool: tuple[Floats, ...] = ()

    @property
    def usable(self) -> bool:
        """There is a point, and its entries are finite."""
        return self.x is not None and bool(np.isfinite(self.x).all())


class Solver(Protocol):
    """A mixed-integer solver."""

    name: str
    takes_norms: bool  # norm rows are handed over; otherwise they are replaced by tangents

    def solve(self, program: Program, time_limit: float, start: Floats | None = None) -> Answer: ...


class SolverName(Enum):
    """Solvers that can be asked for."""

    HIGHS = "highs"
    SCIP = "scip"
    GUROBI = "gurobi"


_INSTALL = {
    SolverName.HIGHS: "pip install highspy",
    SolverName.SCIP: "pip install 'elbowroom[scip]'",
    SolverName.GUROBI: "pip install 'elbowroom[gurobi]'",
}


def open_solver(name: SolverName) -> Solver:
    """The solver, or SolverMissing with the line that installs it."""
    try:
        return _OPENERS[name]()
    except ImportError as error:
        raise SolverMissing(f"the solver {name.value!r} is not installed; install it with: {_INSTALL[name]}") from error


def _highs() -> Solver:
    from elbowroom.search.solvers.highs_mip import HighsMip

    return HighsMip()


def _scip() -> Solver:
    from elbowroom.search.solvers.scip import Scip

    return Scip()


def _gurobi() -> Solver:
    from elbowroom.search.solvers.gurobi import Gurobi

    return Gurobi()


_OPENERS: dict[SolverName, Callable[[], Solver]] = {
    SolverName.HIGHS: _highs,
    SolverName.SCIP: _scip,
    SolverName.GUROBI: _gurobi,
}


class Chain:
    """Solvers in order of preference: a failed solve goes to the next one, and is remembered for the result.

    Solvers without norm rows get tangents: solve, cut off the point where a norm row fails, solve again. Every such
    program is a relaxation, so that its bound stays a bound.
    """

    TANGENT_ROUNDS, FEW_ROUNDS = 30, 6

    def __init__(self, solvers: list[Solver]) -> None:
        self.solvers = solvers
        self.troubles: list[str] = []

    @property
    def name(self) -> str:
        return self.solvers[0].name

    def solve(
        self,
        program: Program,
        time_limit: float,
        start: Floats | None = None,
        enough: Callable[[Floats], bool] | None = None,
    ) -> Answer:
        """``start`` is a known solution (NaN where it settles nothing). With ``enough`` a point that satisfies it will do,
        and the tangents of others are given up after a few rounds."""
        answer = Answer(Claim.FAILED, None, -np.inf, "no solver was asked")
        while True:
            solver = self.solvers[0]
            answer = self._solve(solver, program, time_limit, start, enough)
            if answer.claim is not Claim.FAILED or len(self.solvers) == 1:
                return answer
            self.troubles.append(f"{solver.name}: {answer.word}; went on with {self.solvers[1].name}")
            self.solvers = self.solvers[1:]

    def _solve(
        self,
        solver: Solver,
        program: Program,
        time_limit: float,
        start: Floats | None,
        enough: Callable[[Floats], bool] | None,
    ) -> Answer:
        if not program.norms or solver.takes_norms:
            return solver.solve(program, time_limit, start)
        deadline = time.perf_counter() + time_limit
        answer = solver.solve(program, time_limit, start)
        for _ in range(self.TANGENT_ROUNDS if enough is None else self.FEW_ROUNDS):
            if answer.x is None or not answer.usable or (enough is not None and enough(answer.x)):
                return answer
            cuts = []
            for norm in program.norms:
                for x in (answer.x, *answer.pool):
                    if (
                        norm.excess(x) > EPSILONS.norm_row * max(norm.allowed(x), EPSILONS.least_norm)
                        and norm.tangent(x) is not None
                    ):
                        cuts.append(norm.tangent(x))
            if not cuts:
                break
            program = program.with_rows([c for c in cuts if c is not None])
            previous = answer
            answer = solver.solve(program, deadline - time.perf_counter(), start)
            if answer.x is None and answer.claim is Claim.STOPPED:
                return previous
        return answer
