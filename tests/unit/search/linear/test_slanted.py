"""Distances that are norms of linear forms of several columns: the program, its proof, and whole questions against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom import Box, Causal, Covariance, Explainer, Feature, Space, Status
from elbowroom.problem.distances import Distance
from elbowroom.search.linear.least import Rows
from elbowroom.search.linear.slanted import DUAL, SlantedMoves, least_factor
from tests.support.cell_truth import least_cost
from tests.support.linear_problems import linear_model
from tests.support.linear_searches import ask
from tests.support.slant_truth import least_euclidean, slanted


def _drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """S (more forms than columns), A v >= b, and limits, some of them open, some of them away from 0."""
    rng = np.random.default_rng([71, seed])
    n, m = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    S = np.vstack([rng.normal(size=(n, n)) + np.eye(n), rng.normal(size=(1, n))])
    lower = np.where(rng.random(n) < 0.4, -np.inf, rng.uniform(-1.0, 0.3, n))
    ends = np.maximum(lower, -0.5) + rng.exponential(2.0, n)
    return S, rng.normal(size=(m, n)), rng.normal(size=m), lower, np.where(rng.random(n) < 0.4, np.inf, ends)


@pytest.mark.parametrize("distance", list(Distance))
def test_least_moves_and_their_proof_equal_the_truth(distance: Distance) -> None:
    reached = 0
    for seed in range(40):
        S, A, b, lower, upper = _drawn(seed)
        factor = least_factor(S, distance)
        program = SlantedMoves(distance, S, factor)
        rows = Rows(A / factor, b, np.zeros(b.size), np.ones(b.size, dtype=bool), A)
        found = program.solve(rows, lower * factor, upper * factor, 10.0)
        more, zero = list(zip(A, b, strict=True)), np.zeros(S.shape[1])
        if distance is Distance.L2:
            truth = least_euclidean(S, zero, lower, upper, more, [])
        else:
            truth = least_cost(S, zero, distance.value, lower, upper, more)
        assert found.bound <= truth * (1 + 1e-9) + 1e-9
        if np.isfinite(truth) and found.moves is not None:
            reached += 1
            moves = found.moves / factor
            assert distance.norm(np.abs(S @ moves)) == pytest.approx(truth, rel=1e-7, abs=1e-8)
            assert (A @ moves >= b - 1e-7).all()
            assert found.bound == pytest.approx(truth, rel=1e-8, abs=1e-8)
    assert reached > 25


@pytest.mark.parametrize("distance", list(Distance))
def test_no_multiplier_and_no_form_gives_a_bound_above_the_truth(distance: Distance) -> None:
    """What a lying solver may say."""
    rng = np.random.default_rng(5)
    for seed in range(40):
        S, A, b, lower, upper = _drawn(seed)
        factor, zero = least_factor(S, distance), np.zeros(S.shape[1])
        program, more = SlantedMoves(distance, S, factor), list(zip(A, b, strict=True))
        if distance is Distance.L2:
            truth = least_euclidean(S, zero, lower, upper, more, [])
        else:
            truth = least_cost(S, zero, distance.value, lower, upper, more)
        for _ in range(10):
            lam, z = rng.exponential(1.0, b.size), rng.normal(size=S.shape[0])
            near = program._form((A / factor).T @ lam)  # cancels the rows: with a finite bound on open columns
            for form in (z, near, near + 1e-9 * z):
                bound = program._proven(
                    A / factor, b, np.zeros(b.size), lower * factor, upper * factor, lam, form, None
                )
                assert bound.value <= truth * (1 + 1e-12) + 1e-12
                assert bound.toll is not None
                anywhere = rng.normal(
                    size=(20, factor.size)
                )  # what narrows a node: a form that is never above the norm
                assert all(bound.toll @ v <= program.measure(v, factor) * (1 + 1e-9) for v in anywhere)


@pytest.mark.parametrize("distance", list(Distance))
def test_every_column_costs_at_least_its_factor(distance: Distance) -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        n = int(rng.integers(1, 6))
        S = rng.normal(size=(n + 1, n)) * np.exp(rng.normal(0, 3, n))
        factor = least_factor(S, distance)
        moves = rng.normal(size=(200, n)) / factor
        sizes = np.linalg.norm(moves @ S.T, ord={np.inf: 1, 2: 2, 1: np.inf}[DUAL[distance]], axis=1)
        assert (sizes[:, None] >= factor * np.abs(moves)).all()
        assert (least_factor(np.column_stack([S, S[:, 0]]), distance) == 0.0).all()  # dependent columns cost nothing


def test_a_mahalanobis_projection_is_proven_in_one_node() -> None:
    """Closed form: need / sqrt(w C w); 30 columns that depend on each other."""
    rng = np.random.default_rng(7)
    n = 30
    C = (lambda m: m @ m.T / n + 0.01 * np.eye(n))(rng.normal(size=(n, n)))
    names = tuple(f"x{f}" for f in range(n))
    space = Space(
        tuple(Feature(name) for name in names),
        covariance=Covariance(names, tuple(map(tuple, ((C + C.T) / 2).tolist()))),
    )
    w = rng.normal(size=n)
    answer = Explainer(linear_model(w[None], [-3.0]), space).explain(np.zeros(n), Box(0.0), 1, "l2")
    assert answer.status is Status.OPTIMAL and answer.method == "linear"
    assert answer.distance == pytest.approx(3.0 / float(np.sqrt(w @ C @ w)), rel=1e-9)


def test_a_graph_that_no_number_can_invert_has_no_answer_and_says_why() -> None:
    graph = {f"x{f}": {f"x{f + 1}": 1e9} for f in range(3)}
    space = Space(tuple(Feature(f"x{f}") for f in range(4)), causes=Causal(graph))
    found = ask(linear_model(np.ones((1, 4)), [-1.0]), space, np.zeros(4), Box(0.0), 1, seconds=5.0)
    assert found.center is None and found.lower_bound == 0.0
    assert "too far apart" in found.reason


@pytest.mark.parametrize("seed", range(12))
def test_questions_equal_enumeration(seed: int) -> None:
    slanted(seed)
