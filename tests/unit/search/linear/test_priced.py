"""Prices in the linear engine: its proof takes no multiplier at its word, and whole questions equal enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom import Box, Explainer, Feature, InputError, Price, Region, Space, Status
from elbowroom.problem import RecourseProblem
from elbowroom.search.linear.priced import PricedMoves
from elbowroom.search.linear.question import Question, read_question
from tests.support.linear_problems import linear_model
from tests.support.slant_truth import priced

DEAR = Price(up=[(0, 1.0), (1, 0.2), (2, 4.0)], down=[(0, 3.0), (0.5, 0.5)], change=0.4)


def test_no_multiplier_gives_a_bound_above_the_cheapest_point_of_a_grid() -> None:
    rng = np.random.default_rng(8)
    space = Space((Feature("x0", lower=-3, upper=3), Feature("x1", lower=-3, upper=3))).with_prices(DEAR)
    for _ in range(20):
        model = linear_model(rng.normal(size=(1, 2)), [-1.0])
        question = read_question(RecourseProblem.ask(model, space, [0.0, 0.0], Box(0.0), 1), model)
        assert isinstance(question, Question)
        program, unit = PricedMoves(question), 1.0 / question.factor
        low, high = np.sort(rng.uniform(-3, 3, (2, 2)), axis=0)
        grid = np.stack(np.meshgrid(*np.linspace(low, high, 61).T), -1).reshape(-1, 2)
        good = grid[grid @ question.weight[0] >= 1.0]
        cheapest = min((program.measure(v / unit, unit) for v in good), default=np.inf)
        A, b = question.weight * unit, np.ones(1)
        for lam in (0.0, *rng.exponential(2.0, 10)):
            proven = program._proven(A, b, np.zeros(1), low / unit, high / unit, np.array([lam]), np.ones(2), unit)
            assert proven.value <= cheapest
            cut = program.narrowed(A, b, np.array([lam]), low / unit, high / unit, unit, cheapest * 1.001)
            if np.isfinite(cheapest):  # what is cut off holds nothing as cheap
                assert cut is not None
                best = min(good, key=lambda v: program.measure(v / unit, unit)) / unit
                assert (cut[0] <= best + 1e-9).all() and (best <= cut[1] + 1e-9).all()


def test_percentiles_of_thirty_columns_are_proven() -> None:
    rng = np.random.default_rng(9)
    n, data = 30, np.random.default_rng(10).gamma(2.0, 1.0, (400, 30))
    space = Space(tuple(Feature(f"x{f}", lower=0.0, upper=float(data[:, f].max())) for f in range(n)))
    space = space.with_prices({f"x{f}": Price.of_percentiles(data[:, f]) for f in range(n)})
    w = rng.normal(size=n)
    row = data[int(np.argsort(data @ w)[20])]
    answer = Explainer(linear_model(w[None], [-float(np.quantile(data @ w, 0.7))]), space).explain(row, Box(0.0), 1)
    assert isinstance(answer, Region) and answer.status is Status.OPTIMAL and answer.method == "linear"


def test_room_on_some_columns_is_refused_beside_prices() -> None:
    space = Space((Feature("x0", lower=-3, upper=3), Feature("x1", lower=-3, upper=3))).with_prices(DEAR)
    with pytest.raises(InputError, match=r"on='changed'.*prices"):
        Explainer(linear_model([[1.0, 1.0]], [-1.0]), space).explain([0.0, 0.0], Box(0.1, on="changed"), 1)


@pytest.mark.parametrize("seed", range(15))
def test_questions_equal_enumeration(seed: int) -> None:
    priced(seed)
