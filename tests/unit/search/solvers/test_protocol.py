"""Every solver on the same programs: optimum, partial starts, pools, emptiness, time, and failures that are not hidden."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from elbowroom.search.program import Builder, NormRow, Program
from elbowroom.search.solvers.protocol import Answer, Chain, Claim, SolverName, open_solver
from tests.support.searches import needs

WEIGHT, VALUE = np.array([3.0, 5.0, 7.0, 4.0, 6.0]), np.array([4.0, 6.0, 9.0, 4.5, 7.5])


def knapsack() -> Program:
    """max VALUE.x with WEIGHT.x <= 12, as a minimum, with one real column that pays for the rest of the weight."""
    builder = Builder()
    x = builder.columns(5, 0.0, 1.0, True, cost=-VALUE)
    rest = builder.columns(1, 0.0, 12.0, cost=0.25)
    builder.row([*x, *rest], [*WEIGHT, 1.0], 12.0, 12.0)
    return builder.program()


def best() -> float:
    options = np.array(list(product((0.0, 1.0), repeat=5)))
    options = options[options @ WEIGHT <= 12.0]
    return float((-options @ VALUE + 0.25 * (12.0 - options @ WEIGHT)).min())


STARTS = {
    "nothing": None,
    "a part": np.array([1.0, np.nan, np.nan, np.nan, 0.0, np.nan]),
    "all of it": np.array([0.0, 1.0, 1.0, 0.0, 0.0, 0.0]),
    "an impossible one": np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.0]),
}


@pytest.mark.parametrize("solver", SolverName)
@pytest.mark.parametrize("start", STARTS)
def test_a_start_helps_or_does_no_harm(solver: SolverName, start: str) -> None:
    needs(solver)
    program = knapsack()
    answer = open_solver(solver).solve(program, 10.0, STARTS[start])
    assert answer.claim is Claim.OPTIMAL
    assert answer.x is not None
    assert float(program.cost @ answer.x) == pytest.approx(best(), abs=1e-6)
    assert answer.bound == pytest.approx(best(), abs=1e-5)
    for x in (answer.x, *answer.pool):
        assert program.matrix @ x == pytest.approx([12.0], abs=1e-6)


def test_a_solver_hands_on_what_it_found_on_the_way() -> None:
    """HiGHS improves a poor start step by step: the poor start itself is in the pool."""
    poor = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 6.0])
    answer = open_solver(SolverName.HIGHS).solve(knapsack(), 10.0, poor)
    assert answer.pool
    assert all(float(knapsack().cost @ x) > best() + 1e-6 for x in answer.pool)


@pytest.mark.parametrize("solver", SolverName)
def test_norm_rows_by_every_solver(solver: SolverName) -> None:
    """min x + y on a disc: tangents on HiGHS, quadratic rows elsewhere; `enough` ends the tangents early."""
    needs(solver)
    builder = Builder()
    x = builder.columns(2, -2.0, 2.0, cost=1.0)
    builder.norms.append(NormRow(x, np.ones(2), np.zeros(2), -1, 1.0))
    program = builder.program()
    answer = Chain([open_solver(solver)]).solve(program, 10.0)
    assert answer.x is not None
    assert float(answer.x.sum()) == pytest.approx(-np.sqrt(2.0), rel=1e-5)
    asked: list[np.ndarray] = []

    def enough(point: np.ndarray) -> bool:
        asked.append(point)
        return True

    Chain([open_solver(solver)]).solve(program, 10.0, enough=enough)
    assert len(asked) <= 1


def test_only_failures_of_scip_itself_hand_over(monkeypatch: pytest.MonkeyPatch) -> None:
    needs(SolverName.SCIP)
    import pyscipopt

    def failing(error: Exception) -> type:
        class Model(pyscipopt.Model):  # type: ignore[misc]
            def optimize(self) -> None:
                raise error

        return Model

    monkeypatch.setattr(pyscipopt, "Model", failing(Exception("SCIP: error in LP solver!")))
    assert open_solver(SolverName.SCIP).solve(knapsack(), 1.0).claim is Claim.FAILED
    monkeypatch.setattr(pyscipopt, "Model", failing(RuntimeError("a mistake of ours")))
    with pytest.raises(RuntimeError, match="a mistake of ours"):
        open_solver(SolverName.SCIP).solve(knapsack(), 1.0)


@pytest.mark.parametrize("solver", SolverName)
@pytest.mark.parametrize("whole", [True, False])
def test_the_constant_counts_and_whole_columns_are_whole(solver: SolverName, whole: bool) -> None:
    """max x + y with 2 x + 2 y <= 5: whole columns reach 2, real ones 2.5."""
    needs(solver)
    builder = Builder(constant=10.0)
    x = builder.columns(2, 0.0, 9.0, whole, cost=-1.0)
    builder.row(x, [2.0, 2.0], high=5.0)
    answer = open_solver(solver).solve(builder.program(), 10.0)
    assert answer.claim is Claim.OPTIMAL
    assert answer.usable and answer.x is not None
    assert float(answer.x.sum()) == pytest.approx(2.0 if whole else 2.5)
    assert answer.bound == pytest.approx(8.0 if whole else 7.5)
    if whole:
        assert answer.x == pytest.approx(np.round(answer.x), abs=1e-6)


@pytest.mark.parametrize("solver", SolverName)
@pytest.mark.parametrize("whole", [True, False])
def test_an_empty_program_has_no_point(solver: SolverName, whole: bool) -> None:
    needs(solver)
    builder = Builder()
    x = builder.columns(2, 0.0, 5.0, whole, cost=1.0)
    builder.row(x, [1.0, 1.0], low=7.0)
    builder.row(x, [1.0, -1.0], low=4.0)
    answer = open_solver(solver).solve(builder.program(), 10.0)
    assert answer.claim is Claim.INFEASIBLE
    assert answer.x is None and not answer.usable


@pytest.mark.parametrize("solver", SolverName)
@pytest.mark.parametrize("whole", [True, False])
def test_an_endless_program_has_no_optimum(solver: SolverName, whole: bool) -> None:
    """min -x with x >= 0 and nothing above: whatever is said, no optimum and no bound."""
    needs(solver)
    builder = Builder()
    x = builder.columns(2, 0.0, np.inf, whole, cost=[-1.0, 0.0])
    builder.row(x, [1.0, -1.0], low=0.0)
    answer = open_solver(solver).solve(builder.program(), 10.0)
    assert answer.claim is not Claim.OPTIMAL
    assert not answer.bound > -1e15


def market_split() -> Program:
    """Four equations in forty 0/1 columns with large numbers: far beyond what a moment can settle."""
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 100, (4, 40)).astype(float)
    builder = Builder()
    x = builder.columns(40, 0.0, 1.0, True)
    over, under = builder.columns(4, 0.0, np.inf, cost=1.0), builder.columns(4, 0.0, np.inf, cost=1.0)
    for k in range(4):
        half = float(np.floor(weights[k].sum() / 2))
        builder.row([*x, over[k], under[k]], [*weights[k], 1.0, -1.0], half, half)
    return builder.program()


@pytest.mark.parametrize("solver", SolverName)
def test_a_spent_time_limit_is_not_an_optimum(solver: SolverName) -> None:
    needs(solver)
    program = market_split()
    answer = open_solver(solver).solve(program, 0.0)
    assert answer.claim is Claim.STOPPED
    if answer.x is not None:  # what was found on the way is a solution, and no bound lies above it
        assert program.matrix @ answer.x == pytest.approx(program.row_lower, abs=1e-5)
        assert answer.bound <= float(program.cost @ answer.x) + 1e-9


def test_a_chain_stops_at_the_first_solver_that_does_not_fail() -> None:
    class Scripted:
        takes_norms = True

        def __init__(self, name: str, claim: Claim) -> None:
            self.name, self.claim, self.asked = name, claim, 0

        def solve(self, program: Program, time_limit: float, start: np.ndarray | None = None) -> Answer:
            self.asked += 1
            return Answer(self.claim, None, -np.inf, f"{self.name} is tired")

    first, second, third = (
        Scripted("one", Claim.FAILED),
        Scripted("two", Claim.STOPPED),
        Scripted("three", Claim.OPTIMAL),
    )
    chain = Chain([first, second, third])
    assert chain.solve(knapsack(), 1.0).claim is Claim.STOPPED
    assert chain.solve(knapsack(), 1.0).claim is Claim.STOPPED
    assert (first.asked, second.asked, third.asked) == (1, 2, 0)  # who failed once is not asked again
    assert chain.name == "two"
    assert chain.troubles == ["one: one is tired; went on with two"]
    alone = Chain([Scripted("one", Claim.FAILED)])
    assert alone.solve(knapsack(), 1.0).claim is Claim.FAILED
    assert not alone.troubles


def test_a_point_with_numbers_that_are_none_is_not_usable() -> None:
    assert Answer(Claim.OPTIMAL, np.array([1.0]), 0.0, "").usable
    assert not Answer(Claim.OPTIMAL, np.array([np.nan]), 0.0, "").usable
    assert not Answer(Claim.OPTIMAL, None, 0.0, "").usable
