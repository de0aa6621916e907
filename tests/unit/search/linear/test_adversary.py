"""The worst shift at a centre: against all whole shifts, against general solvers, and by its slopes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from elbowroom.numerics import Floats
from elbowroom.problem import Ball, Box, Diamond, Feature, RecourseProblem, Room, Shape, Space
from elbowroom.search.linear.adversary import Adversary, _reachable
from tests.support.linear_problems import linear_model
from tests.support.linear_searches import ask, proven_distance, random_questions, random_values, read


def test_whole_shifts_on_the_surface_of_a_ball_count():
    """(3, 4) lies on the ball of radius 5 and is the worst whole shift; radius 4.99 reaches (2, 4) only."""
    model = linear_model([[3.0, 4.0]], [-0.5])
    space = Space((Feature("x0", "integer", -40, 40), Feature("x1", "integer", -40, 40)))
    for radius, loss in ((5.0, 25.0), (4.99, 22.0)):
        found = ask(model, space, [0.0, 0.0], Ball([radius, radius]))
        distance = proven_distance(found)
        need = loss + 0.5
        brute = min(abs(a) + abs(b) for a in range(-40, 41) for b in range(-40, 41) if 3 * a + 4 * b > need)
        assert distance == brute


def caps(adversary: Adversary, values: Floats) -> Floats:
    """Room to the edge of the limits on the bad side, over the columns that move."""
    return np.maximum(adversary.relative(values) - adversary.edge, 0.0)[adversary.moving]


def one_row(rng: np.random.Generator, room: type[Room], whole: bool) -> tuple[Adversary, Floats]:
    """The adversary of one row of four columns, two of them near a limit, and a centre."""
    kind, n = ("integer" if whole else "numeric"), 4
    row = rng.integers(-3, 4, n).astype(float) if whole else rng.normal(size=n)
    limits = [float(rng.integers(0, 4)) if whole else float(rng.uniform(0.0, 0.5)) for _ in range(2)] + [np.inf] * 2
    features = tuple(Feature(f"x{f}", kind, row[f] - limits[f], row[f] + limits[f]) for f in range(n))
    model = linear_model([rng.normal(size=n)], [-1.0])
    size = rng.uniform(1.0, 3.5, n) if whole else rng.uniform(0.2, 1.0, n)
    question, adversaries = read(RecourseProblem.ask(model, Space(features), row, room(tuple(size)), 1))
    return adversaries[0], question.start


def most_lost(adversary: Adversary, values: Floats) -> float:
    """max gain . t over the shape and the caps, by a linear program or a general solver of convex programs."""
    m = adversary.moving
    gain, axes, cap = adversary.gain[m], adversary.axes[m], np.minimum(caps(adversary, values), adversary.axes[m])
    if adversary.shape is Shape.BOX:
        return float(gain @ cap)
    if adversary.shape is Shape.DIAMOND:
        return -float(
            linprog(-gain, A_ub=1.0 / axes[None], b_ub=[1.0], bounds=list(zip(0 * cap, cap, strict=True))).fun
        )
    inside = {"type": "ineq", "fun": lambda t: 1.0 - float(np.square(t / axes).sum())}
    found = minimize(
        lambda t: -float(gain @ t), 0.1 * cap, jac=lambda t: -gain, method="SLSQP", constraints=[inside],
        bounds=list(zip(0 * cap, cap, strict=True)), options={"ftol": 1e-14, "maxiter": 300},
    )  # fmt: skip
    return -float(found.fun)


@pytest.mark.parametrize("room", [Box, Ball, Diamond])
def test_the_loss_is_that_of_a_general_solver(room: type[Room]) -> None:
    for seed in range(25):
        adversary, values = one_row(np.random.default_rng(seed), room, whole=False)
        assert adversary.attack(values).loss == pytest.approx(most_lost(adversary, values), rel=1e-6)


@pytest.mark.parametrize("room", [Box, Ball, Diamond])
def test_no_whole_shift_loses_more(room: type[Room]) -> None:
    """Every whole shift of the room is tried: the attack finds the worst of them, and it lies in the room."""
    lost = 0.0
    for seed in range(25):
        adversary, values = one_row(np.random.default_rng(seed), room, whole=True)
        m, cap = adversary.moving, caps(adversary, values)
        axes, gain = adversary.axes[m], adversary.gain[m]
        shifts = np.array(list(product(*(range(int(a) + 1) for a in axes))), dtype=float)
        ratio = shifts / axes
        used = {
            Shape.BOX: ratio.max(axis=1),
            Shape.BALL: np.square(ratio).sum(axis=1),
            Shape.DIAMOND: ratio.sum(axis=1),
        }
        inside = shifts[used[adversary.shape] <= 1.0]
        found = adversary.attack(values)
        worst = float((np.minimum(inside, cap) @ gain).max())
        assert found.loss == pytest.approx(worst, rel=1e-12, abs=1e-12)
        lost = max(lost, worst)
        if adversary.shape is not Shape.BOX:
            assert (found.shift[m] == inside).all(axis=1).any()
    assert lost > 0.0


@pytest.mark.parametrize("room", [Box, Ball, Diamond])
def test_slopes_are_tangents_of_a_concave_loss(room: type[Room]) -> None:
    """R is concave in the caps: at no other centre is more lost than the slopes at this one say."""
    touched = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        adversary, values = one_row(rng, room, whole=False)
        here, m = adversary.attack(values), adversary.moving
        bent = here.cap_slope[m] > 0.0  # the other caps, some of them infinite, do not matter
        for _ in range(20):
            other = values + 0.3 * rng.normal(size=values.size)
            there = adversary.attack(other)
            said = here.loss + float(
                here.cap_slope[m][bent] @ (caps(adversary, other)[bent] - caps(adversary, values)[bent])
            )
            assert there.loss <= said + 1e-9
            touched += int(here.cap_slope.any() and there.loss < said - 1e-6)
    assert touched > 0


def test_rules_are_not_shifted_and_the_kept_value_is_that_of_the_row() -> None:
    """``kept`` under the worst shift is the smallest value of the row over the room, up to what does not move."""
    for question, adversaries in random_questions(30):
        rng = np.random.default_rng(0)
        values = random_values(rng, question)
        for j, adversary in enumerate(adversaries):
            found = adversary.attack(values)
            if j >= question.n_model_rows:
                assert not found.shift.any() and found.loss == 0.0
            without = adversary.kept(adversary.relative(values), np.zeros_like(values))
            lost = without - adversary.kept(adversary.relative(values), found.shift)
            assert lost == pytest.approx(found.loss, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("shift", "axes", "shape", "inside"),
    [
        ([3.0, 4.0], [5.0, 5.0], Shape.BALL, True),
        ([3.0, 4.0], [5.0, np.nextafter(5.0, 0.0)], Shape.BALL, False),
        ([1.0, 1.0, 1.0], [3.0, 3.0, 3.0], Shape.DIAMOND, True),
        ([1.0, 1.0, 1.0], [3.0, 3.0, np.nextafter(3.0, 0.0)], Shape.DIAMOND, False),
        ([0.1, 0.2], [0.3, 0.3], Shape.DIAMOND, False),  # as floats, 0.1 + 0.2 exceeds 0.3
    ],
)
def test_shifts_on_the_surface_are_decided_exactly(
    shift: list[float], axes: list[float], shape: Shape, inside: bool
) -> None:
    low, size = np.array(shift), np.array(axes)
    assert _reachable(shape, low / size, low, size) == inside
