"""The chance that a slipped centre keeps its class in a network: against quadrature, against sampling, and cornered."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, special

from elbowroom import Box, Explainer, Feature, Space, Target
from elbowroom.certify.kept import kept_probability
from elbowroom.certify.kept_network import kept_network
from elbowroom.certify.kept_pieces import window
from elbowroom.certify.slips import Slip
from elbowroom.models import Affine, Decision, ReluNetwork
from elbowroom.numerics import Floats
from elbowroom.result import KeptProbability
from tests.support.small_models import info, random_network

ROOT = math.sqrt(2.0 * math.pi)


def slip_at(center: Floats, sigma: Floats, low: object = -np.inf, high: object = np.inf, whole: object = False) -> Slip:
    n = center.size
    return Slip(center, sigma, np.full(n, low, float), np.full(n, high, float), np.full(n, whole, dtype=np.bool_))


def slipped(slip: Slip, size: int, seed: int = 1) -> Floats:
    """Straight from the definition."""
    s = slip.sigma * np.random.default_rng(seed).normal(size=(size, slip.center.size))
    return np.clip(slip.center + np.where(slip.whole, np.trunc(s), s), slip.lower, slip.upper)


def sampled(model: ReluNetwork, target: int, slip: Slip, size: int = 20_000) -> tuple[float, float]:
    """The share that keeps the class, and what chance alone may change about it."""
    share = float((model.info.labels_of(model.scores(slipped(slip, size))) == target).mean())
    return share, 5.0 * math.sqrt(max(share * (1.0 - share), 10.0 / size) / size)


def bounds_of(
    model: ReluNetwork, target: int, slip: Slip, tolerance: float = 1e-3, cells: int = 4000
) -> tuple[float, float]:
    found = kept_network(model, target, None, slip, tolerance, math.inf, most_cells=cells)
    return found.lower, found.upper


def on_a_line(model: ReluNetwork, target: int, slip: Slip) -> float:
    """One column: between two neighbouring zeros the class does not change; these are found on a fine grid, by bisection."""
    low, high = (
        max(slip.lower[0], slip.center[0] - 9 * slip.sigma[0]),
        min(slip.upper[0], slip.center[0] + 9 * slip.sigma[0]),
    )
    grid = np.linspace(low, high, 20_001)
    good = model.info.labels_of(model.scores(grid[:, None])) == target
    edges = [-math.inf]
    for k in np.flatnonzero(good[1:] != good[:-1]):
        a, b = grid[k], grid[k + 1]
        for _ in range(60):
            middle = 0.5 * (a + b)
            same = (model.info.labels_of(model.scores(np.array([[middle]])))[0] == target) == good[k]
            a, b = (middle, b) if same else (a, middle)
        edges.append(a)
    edges.append(math.inf)
    first = bool(good[0])
    z = [(edge - slip.center[0]) / slip.sigma[0] for edge in edges]
    return float(
        sum(special.ndtr(v) - special.ndtr(u) for k, (u, v) in enumerate(pairwise(z)) if (k % 2 == 0) == first)
    )


@pytest.mark.parametrize("seed", range(12))
def test_one_column_against_its_zeros(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_network(rng, ((1, 8), (1, 5, 4))[seed % 2])
    limits = (-np.inf, np.inf) if seed % 3 else (-0.4, 0.9)
    center = np.array([rng.uniform(-0.4, 0.9)])
    slip = slip_at(center, np.array([rng.choice([0.05, 0.5, 3.0])]), *limits)
    truth = on_a_line(model, 1, slip)
    lower, upper = bounds_of(model, 1, slip, 1e-5)
    assert lower <= truth + 1e-12
    assert truth <= upper + 1e-12
    assert upper - lower <= 1e-5


@pytest.mark.parametrize("seed", range(6))
def test_two_columns_against_quadrature(seed: int) -> None:
    """For every value of the first column, the second crosses zeros; a smooth outer integral over the first."""
    rng = np.random.default_rng(100 + seed)
    model = random_network(rng, (2, 4))
    slip = slip_at(rng.normal(size=2), rng.choice([0.1, 0.6, 1.5], 2))
    layer, last = model.layers

    def given(z: float) -> float:
        x = slip.center[0] + slip.sigma[0] * z
        bias = layer.bias + layer.weight[:, 0] * x
        kinks = sorted(-b / w for w, b in zip(layer.weight[:, 1], bias, strict=True) if w != 0.0)
        ends = [slip.center[1] - 12 * slip.sigma[1], *kinks, slip.center[1] + 12 * slip.sigma[1]]
        total = 0.0
        for p, q in pairwise(sorted(ends)):
            f = [float((last.weight @ np.maximum(bias + layer.weight[:, 1] * y, 0.0) + last.bias)[0]) for y in (p, q)]
            if f[0] > 0.0 and f[1] > 0.0:
                a, b = p, q
            elif f[0] <= 0.0 and f[1] <= 0.0:
                continue
            else:
                zero = p + (q - p) * f[0] / (f[0] - f[1])
                a, b = (p, zero) if f[0] > 0.0 else (zero, q)
            total += special.ndtr((b - slip.center[1]) / slip.sigma[1]) - special.ndtr(
                (a - slip.center[1]) / slip.sigma[1]
            )
        return total * math.exp(-0.5 * z * z) / ROOT

    grid = np.linspace(-9.0, 9.0, 1201)
    truth = float(integrate.simpson([given(float(z)) for z in grid], x=grid))
    lower, upper = bounds_of(model, 1, slip)
    assert lower - 1e-4 <= truth <= upper + 1e-4
    assert upper - lower <= 1e-3


@pytest.mark.parametrize("seed", range(24))
def test_sampled_slips_lie_within_the_bounds(seed: int) -> None:
    """Several layers and classes, with limits, whole columns, columns that do not slip, and tiny and huge slips."""
    rng = np.random.default_rng(200 + seed)
    n = int(rng.integers(2, 7))
    hidden = ((6,), (12,), (5, 5), (4, 4, 4))[seed % 4]
    classes = 2 + seed % 3
    decision = Decision.POSITIVE if classes == 2 else Decision.ARGMAX
    model = random_network(rng, (n, *hidden), classes, decision)
    whole = rng.random(n) < 0.3
    low = np.where(rng.random(n) < 0.4, -rng.random(n), -np.inf)
    high = np.where(rng.random(n) < 0.4, 1.0 + rng.random(n), np.inf)
    low, high = np.where(whole, np.floor(low), low), np.where(whole, np.floor(high), high)
    center = np.clip(rng.uniform(-0.5, 1.0, n), low, high)
    center = np.where(whole, np.round(center), center)
    slip = Slip(
        center, rng.choice([0.0, 1e-6, 0.1, 0.5, 2.0, 30.0], n, p=[0.1, 0.1, 0.3, 0.3, 0.1, 0.1]), low, high, whole
    )
    target = int(model.info.labels_of(model.scores(center[None]))[0])
    share, noise = sampled(model, target, slip)
    lower, upper = bounds_of(model, target, slip, cells=1000)
    assert lower - noise <= share <= upper + noise
    assert upper - lower <= (0.75 if n > 3 else 0.3)


def test_more_work_never_loosens_the_bounds() -> None:
    rng = np.random.default_rng(5)
    model = random_network(rng, (4, 10))
    slip = slip_at(np.zeros(4), np.full(4, 0.7))
    before, gaps = (0.0, 1.0), []
    for cells in (1, 10, 100, 1000, 3000):
        lower, upper = bounds_of(model, 1, slip, 1e-6, cells)
        assert before[0] <= lower <= upper <= before[1]
        before = lower, upper
        gaps.append(upper - lower)
    assert gaps[4] < 0.4 * gaps[2] < 0.4 * gaps[0]


def test_a_network_that_is_linear_is_solved_in_closed_form() -> None:
    """relu(x) - relu(-x) = x: but for the two neurons the margin is x0 + x1 - 0.3."""
    weight = np.array([[1.0, 1.0], [-1.0, -1.0]])
    layers = (Affine.exact(weight, np.zeros(2)), Affine.exact(np.array([[1.0, -1.0]]), np.array([-0.3])))
    model = ReluNetwork(info(2), layers)
    slip = slip_at(np.zeros(2), np.array([0.6, 0.8]))
    lower, upper = bounds_of(model, 1, slip, 1e-6)
    truth = float(special.ndtr(-0.3))
    assert lower <= truth <= upper
    assert upper - lower <= 1e-5


def test_dead_neurons_and_margins_at_zero() -> None:
    """No neuron moves: the margin is its constant, be it a hair from 0 or exactly 0, where nothing can be proven."""
    hidden = Affine.exact(np.array([[1.0, -2.0], [0.5, 0.0]]), np.array([-1e6, -1e6]))
    slip = slip_at(np.zeros(2), np.ones(2))
    for constant, truth in ((1e-9, 1.0), (-1e-9, 0.0)):
        model = ReluNetwork(info(2), (hidden, Affine.exact(np.array([[1e-3, -1e-3]]), np.array([constant]))))
        lower, upper = bounds_of(model, 1, slip)
        assert lower <= truth <= upper
        assert upper - lower <= 1e-3
    model = ReluNetwork(info(2), (hidden, Affine.exact(np.array([[1.0, 1.0]]), np.array([0.0]))))
    lower, upper = bounds_of(model, 0, slip)
    assert (lower, upper) == (0.0, 1.0)


def test_nothing_slips() -> None:
    rng = np.random.default_rng(0)
    model = random_network(rng, (3, 5))
    slip = slip_at(rng.normal(size=3), np.zeros(3))
    target = int(model.info.labels_of(model.scores(slip.center[None]))[0])
    assert bounds_of(model, target, slip)[0] > 1.0 - 1e-3
    assert bounds_of(model, 1 - target, slip)[1] < 1e-3


def test_numbers_that_overflow_prove_nothing() -> None:
    first = Affine.exact(np.array([[1e200]]), np.zeros(1))
    last = Affine.exact(np.array([[1e200]]), np.zeros(1))
    found = kept_network(ReluNetwork(info(1), (first, last)), 1, None, slip_at(np.ones(1), np.ones(1)), 1e-3, math.inf)
    assert (found.lower, found.upper) == (0.0, 1.0)
    assert "overflow" in found.why


@pytest.mark.parametrize("seed", range(15))
def test_what_every_centre_of_a_box_loses(seed: int) -> None:
    """The upper bound for a box holds at each of its centres, also near limits and for whole columns."""
    rng = np.random.default_rng(300 + seed)
    n = int(rng.integers(1, 4))
    model = random_network(rng, (n, 6) if seed % 2 else (n, 4, 4))
    whole = rng.random(n) < 0.3
    low, high = np.where(rng.random(n) < 0.5, -1.0, -np.inf), np.where(rng.random(n) < 0.5, 2.0, np.inf)
    base = np.clip(np.where(whole, np.round(rng.normal(size=n)), rng.normal(size=n)), low, high)
    width = np.where(whole, rng.integers(0, 3, n), rng.choice([0.0, 0.1, 0.5], n))
    shift = np.array([np.maximum(-width, low - base), np.minimum(width, high - base)])
    slip = Slip(base, rng.choice([0.1, 0.7], n), low, high, whole)
    target = int(rng.integers(2))
    found = kept_network(model, target, None, slip, 1e-3, math.inf, None, shift, 600)
    assert found.lower == 0.0
    for share in (np.zeros(n), np.ones(n), *rng.random((6, n))):
        center = base + shift[0] + share * (shift[1] - shift[0])
        center = np.where(whole, np.round(center), center)
        kept, noise = sampled(model, target, Slip(center, slip.sigma, low, high, whole), 10_000)
        assert kept - noise <= found.upper


def quadrature(m: float, start: float, stop: float, a: float, tau: float) -> float:
    places = np.clip(-m / a + np.array([-30, -8, -3, 0, 3, 8, 30]) * tau / abs(a), start, stop)
    return sum(
        integrate.quad(lambda z: math.exp(-0.5 * z * z) / ROOT * special.ndtr((m + a * z) / tau), p, q, epsabs=1e-13)[0]
        for p, q in pairwise([start, *places, stop])
    )


def test_the_window_against_quadrature() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        start, stop = np.sort(rng.normal(size=2) * rng.choice([0.1, 1.0, 3.0]))
        m, a = rng.normal() * rng.choice([0.0, 0.1, 1.0]), rng.normal() * rng.choice([0.01, 1.0, 10.0])
        tau = 10.0 ** rng.uniform(-3, 1)
        found = window(*(np.array([v]) for v in (m, start, stop, a, tau)))[0]
        assert found == pytest.approx(quadrature(m, start, stop, a, tau), abs=1e-11)
        sharp = window(*(np.array([v]) for v in (m, start, stop, a, 1e-9 * abs(a))))[0]
        edge = special.ndtr(np.clip(-m / a, start, stop))
        step = special.ndtr(stop) - edge if a > 0 else edge - special.ndtr(start)
        assert step - 1e-8 <= sharp <= step + 1e-15


def test_through_the_front_door() -> None:
    """In the user's units, within limits, around a region; the same bounds without a time limit."""
    rng = np.random.default_rng(3)
    model = random_network(rng, (3, 8))
    space = Space(
        (
            Feature("x0", lower=-1.0, upper=1.0),
            Feature("x1", immutable=True),
            Feature("x2", "integer", lower=-2, upper=2),
        )
    )
    explainer = Explainer(model, space)
    row = np.array([0.2, -0.3, 1.0])
    kept = explainer.probability_kept(row, {"x0": 0.4, "x2": 1.1}, tolerance=0.01)
    assert isinstance(kept, KeptProbability)
    slip = Slip(row, np.array([0.4, 0.0, 1.1]), space.lower, space.upper, space.whole_room)
    target = int(model.info.labels_of(model.scores(row[None]))[0])
    share, noise = sampled(model, target, slip)
    assert kept.lower - noise <= share <= kept.upper + noise
    assert kept.upper - kept.lower <= 0.01
    assert kept.ranges > 1
    region = explainer.explain(row, Box(0.05), time_limit=10)
    around = explainer.probability_kept(region, {"x0": 0.01}, tolerance=0.01)
    assert around.inside is not None
    assert around.inside <= around.lower
    again = kept_probability(explainer.model, Target(target), slip, None, 0.01, math.inf)
    assert (again.lower, again.upper) == (kept.lower, kept.upper)
