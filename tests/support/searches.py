"""Algorithm 1 with the check that its tests make on every answer, and how answers of two searches compare."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.errors import SolverMissing
from elbowroom.models import LinearModel, TreeEnsemble
from elbowroom.models.margins import linear_margins
from elbowroom.problem import RecourseProblem
from elbowroom.result import Certificate
from elbowroom.search.solvers.protocol import Solver, SolverName, open_solver
from tests.support.hostile import attack
from tests.support.referee import Engine, Run, run_engine


def run(
    problem: RecourseProblem,
    solver: SolverName = SolverName.HIGHS,
    solvers: list[Solver] | None = None,
    seconds: float = 10.0,
) -> Run:
    """Search, and attack whatever comes back."""
    found = run_engine(Engine.ADVERSARIAL, problem, seconds=seconds, solver=solver, solvers=solvers)
    check(found)
    return found


def check(found: Run) -> None:
    """A region is certified, admissible and survives hostile points; a bound never lies above the distance found."""
    if found.center is None:
        assert found.reason
        return
    problem = found.problem
    assert isinstance(found.certificate, Certificate)
    assert problem.admissible(found.center)
    info, model = problem.model.info, problem.model
    cuts = model.cuts if isinstance(model, TreeEnsemble) else None
    labels = np.array(info.classes)
    body = problem.body(found.center)
    if problem.target.probability is None:
        attack(lambda X: labels[info.labels_of(model.scores(X))], body, problem.target.label, cuts)
    else:  # a probability below 1/2 does not decide the label
        assert isinstance(model, LinearModel)
        affine = linear_margins(model, problem.target_index, problem.target.need).affine
        attack(lambda X: (affine(X) >= 0).all(axis=1), body, True)
    assert found.lower_bound <= found.distance * (1 + 1e-12)


def agree(one: Run, other: Run) -> None:
    """No bound of one lies above the distance of the other."""
    assert one.lower_bound <= other.distance * (1 + 1e-9) + 1e-12
    assert other.lower_bound <= one.distance * (1 + 1e-9) + 1e-12


def needs(name: SolverName) -> None:
    try:
        open_solver(name)
    except SolverMissing as missing:
        pytest.skip(str(missing))
