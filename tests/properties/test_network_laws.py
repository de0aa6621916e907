"""Laws that hold for every network: monotone in the room and in the limits, symmetric in units of powers of two."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elbowroom.models import Affine, ReluNetwork
from elbowroom.numerics import TOLERANCES
from elbowroom.problem import Ball, Box, Diamond, Feature, RecourseProblem, Space
from elbowroom.result import Certificate
from tests.support.hostile import attack
from tests.support.referee import Referee
from tests.support.small_networks import network, solve

GAP = TOLERANCES.continuous_gap
SLOW = settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
seeds = st.integers(0, 10_000)
hidden = st.sampled_from([(4,), (6,), (3, 3)])
rooms = st.sampled_from([Box, Ball, Diamond])
distances = st.sampled_from(["l1", "linf"])


def ask(
    model: ReluNetwork,
    row: np.ndarray,
    room: Box | Ball | Diamond,
    distance: str,
    reach: float = 2.0,
    unit: float = 1.0,
) -> RecourseProblem:
    space = Space(tuple(Feature(n, lower=-reach * unit, upper=reach * unit, scale=unit) for n in model.info.names))
    return RecourseProblem.ask(model, space, row * unit, room, distance=distance)


def solved(problem: RecourseProblem) -> tuple[float, float]:
    """Proven lower and upper bound of the optimum; every answer is attacked."""
    outcome = solve(problem)
    if outcome.center is None:
        return outcome.lower_bound, np.inf
    info = problem.model.info
    attack(lambda X: info.labels_of(problem.model.scores(X)), problem.body(outcome.center), problem.target_index)
    return outcome.lower_bound, problem.measure(outcome.center)


@SLOW
@given(seeds, hidden, rooms, distances)
def test_a_larger_room_is_never_closer(seed: int, sizes: tuple[int, ...], room: type, distance: str) -> None:
    rng = np.random.default_rng(seed)
    model, row = network(rng, 2, sizes), rng.uniform(-1.5, 1.5, 2)
    small = solved(ask(model, row, room(0.05), distance))
    large = solved(ask(model, row, room(0.2), distance))
    assert small[0] <= large[1] * (1 + 1e-9) + 1e-12


@SLOW
@given(seeds, hidden, distances)
def test_a_ball_lies_between_diamond_and_box(seed: int, sizes: tuple[int, ...], distance: str) -> None:
    rng = np.random.default_rng(seed)
    model, row = network(rng, 2, sizes), rng.uniform(-1.5, 1.5, 2)
    diamond, ball, box = (solved(ask(model, row, room(0.2), distance)) for room in (Diamond, Ball, Box))
    assert diamond[0] <= ball[1] * (1 + 1e-9) + 1e-12
    assert ball[0] <= box[1] * (1 + 1e-9) + 1e-12


@SLOW
@given(seeds, hidden, rooms, distances)
def test_no_valid_centre_below_the_bound(seed: int, sizes: tuple[int, ...], room: type, distance: str) -> None:
    """Random centres closer than the proven bound: the judge certifies none of them."""
    rng = np.random.default_rng(seed)
    model, row = network(rng, 2, sizes), rng.uniform(-1.5, 1.5, 2)
    problem = ask(model, row, room(0.1), distance)
    lower, upper = solved(problem)
    bound = min(lower, upper, 4.0)
    referee = Referee(problem)
    for direction in rng.normal(size=(60, 2)):
        length = problem.measure(row + direction)
        center = np.clip(row + direction / length * bound * rng.uniform(0.9, 1.0 - 1e-9), -2.0, 2.0)
        if problem.measure(center) < lower:
            assert not isinstance(referee(center), Certificate)


@SLOW
@given(seeds, hidden, rooms, st.sampled_from([2.0**-10, 2.0**7]))
def test_units_do_not_matter(seed: int, sizes: tuple[int, ...], room: type, unit: float) -> None:
    """Inputs in other units (a power of two): the same network, the same distances."""
    rng = np.random.default_rng(seed)
    model, row = network(rng, 2, sizes), rng.uniform(-1.5, 1.5, 2)
    first = model.layers[0]
    scaled = ReluNetwork(model.info, (Affine.exact(first.weight / unit, first.bias), *model.layers[1:]))
    plain = solved(ask(model, row, room(0.1), "l1"))
    other = solved(ask(scaled, row, room(0.1), "l1", unit=unit))
    assert (plain[1] == np.inf) == (other[1] == np.inf)
    if plain[1] < np.inf:
        assert abs(plain[1] - other[1]) <= 2 * GAP * plain[1] + 1e-9
