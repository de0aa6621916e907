"""Whatever a solver says, no false region and no false bound comes out."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from elbowroom.errors import SolverMissing
from elbowroom.numerics import Floats
from elbowroom.problem import RecourseProblem
from elbowroom.search.adversarial import proof
from elbowroom.search.program import Program
from elbowroom.search.solvers import protocol
from elbowroom.search.solvers.highs_mip import HighsMip, HighsRelaxation
from elbowroom.search.solvers.protocol import Answer, Claim, SolverName, open_solver
from tests.support.brute import closest
from tests.support.oblique_models import oblique_question
from tests.support.searches import run
from tests.support.small_questions import random_question


class Liar:
    """HiGHS, with its answers spoiled."""

    takes_norms = False

    def __init__(self, how: str, seed: int) -> None:
        self.name, self.how, self.rng = f"liar ({how})", how, np.random.default_rng(seed)

    def solve(self, program: Program, time_limit: float, start: Floats | None = None) -> Answer:
        answer = HighsMip().solve(program, min(time_limit, 2.0), start)
        x = answer.x
        match self.how:
            case "bound too high":
                return replace(answer, bound=abs(answer.bound) * 3 + 10)
            case "infeasible":
                return Answer(Claim.INFEASIBLE, None, math.inf, "liar says infeasible")
            case "sometimes infeasible":
                if self.rng.random() < 0.5:
                    return Answer(Claim.INFEASIBLE, None, math.inf, "liar says infeasible")
                return answer
            case "not a number":
                return replace(answer, x=None if x is None else np.full(x.size, np.nan), bound=math.nan)
            case "random point":
                low, high = np.maximum(program.lower, -5), np.minimum(program.upper, 5)
                return replace(answer, claim=Claim.OPTIMAL, x=self.rng.uniform(low, np.maximum(low, high)))
            case "outside":
                return replace(answer, x=None if x is None else x + 1e6)
            case "first feasible":  # a feasible point that is not optimal, called optimal
                upside = replace(program, cost=-program.cost)
                other = HighsMip().solve(upside, min(time_limit, 2.0))
                if other.x is None:
                    return answer
                worst = float(program.cost @ other.x) + program.constant
                return Answer(Claim.OPTIMAL, other.x, worst, "liar says optimal")
            case _:
                return answer


HOWS = [
    "bound too high", "infeasible", "sometimes infeasible", "not a number", "random point", "outside", "first feasible",
]  # fmt: skip


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("seed", range(300, 304))
def test_no_false_region_and_no_false_bound_on_trees(how: str, seed: int) -> None:
    problem = random_question(np.random.default_rng(seed))
    if problem.trouble is not None:
        pytest.skip(problem.trouble)
    truth = closest(problem)
    outcome = run(problem, solvers=[Liar(how, seed)], seconds=3.0)  # `run` attacks the region
    assert outcome.lower_bound <= truth * (1 + 1e-9)
    assert outcome.distance >= truth * (1 - 1e-9)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("seed", [10])
def test_no_false_region_and_no_false_bound_on_oblique_trees(how: str, seed: int) -> None:
    problem = oblique_question(seed)
    honest = run(problem)
    outcome = run(problem, solvers=[Liar(how, seed)], seconds=3.0)
    assert honest.center is not None
    assert outcome.lower_bound <= honest.distance * (1 + 1e-9)
    assert honest.lower_bound <= outcome.distance * (1 + 1e-9)


def _lying_relaxation(kind: str) -> type[HighsRelaxation]:
    class Lying(HighsRelaxation):
        def solve(self, lower: Floats, upper: Floats, time_limit: float) -> tuple[Floats | None, Floats | None]:
            x, multipliers = super().solve(lower, upper, time_limit)
            rng = np.random.default_rng(0)
            if multipliers is None or kind == "empty":
                return None, rng.normal(size=3 if multipliers is None else multipliers.size)
            if kind == "scaled":
                return x, multipliers * 100.0
            if kind == "noise":
                return x, multipliers + rng.normal(size=multipliers.size)
            return x, np.full(multipliers.size, np.nan)

    return Lying


@pytest.mark.parametrize("kind", ["empty", "scaled", "noise", "not a number"])
@pytest.mark.parametrize("seed", range(300, 304))
def test_wrong_multipliers_prove_nothing_false(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_question(np.random.default_rng(seed))
    if problem.trouble is not None:
        pytest.skip(problem.trouble)
    from elbowroom.search.adversarial import loop

    def prove(program: Program, cutoff: float, seconds_left: object) -> float:
        return proof.prove(program, cutoff, seconds_left, _lying_relaxation(kind))  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "prove", prove)
    outcome = run(problem, seconds=2.0)
    assert outcome.lower_bound <= closest(problem) * (1 + 1e-9)


class Broken:
    name, takes_norms = "broken", True

    def solve(self, program: Program, time_limit: float, start: Floats | None = None) -> Answer:
        return Answer(Claim.FAILED, None, -math.inf, "the licence was refused")


def test_a_failed_solver_hands_over_and_this_is_said() -> None:
    problem = _question_with_answer()
    outcome = run(problem, solvers=[Broken(), HighsMip()])
    assert outcome.distance == pytest.approx(closest(problem), rel=1e-9)
    assert "HiGHS" in outcome.method
    assert "the licence was refused" in outcome.method


def test_without_any_working_solver_the_answer_is_unknown_and_quotes_it() -> None:
    problem = oblique_question(10)
    outcome = run(problem, solvers=[Broken()])
    assert outcome.center is None
    assert math.isfinite(outcome.lower_bound)
    assert "the licence was refused" in outcome.reason


def test_a_missing_solver_is_named_with_its_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> protocol.Solver:
        raise ImportError("no module")

    monkeypatch.setitem(protocol._OPENERS, SolverName.SCIP, missing)
    with pytest.raises(SolverMissing, match=r"pip install 'elbowroom\[scip\]'"):
        open_solver(SolverName.SCIP)


def _question_with_answer() -> RecourseProblem:
    for seed in range(400, 500):
        problem = random_question(np.random.default_rng(seed))
        if problem.trouble is None and 0 < closest(problem) < math.inf and len(problem.model.roots) > 1:
            return problem
    raise AssertionError("no question has an answer")
