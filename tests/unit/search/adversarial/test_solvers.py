"""Every solver on the same small program: optimum, partial starts, pools, and failures that are not hidden."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from elbowroom.search.program import Builder, NormRow, Program
from elbowroom.search.solvers.protocol import Chain, Claim, SolverName, open_solver
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
