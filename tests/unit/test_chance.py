"""The chance of staying inside a room: closed forms, brackets that cannot lie, Monte Carlo, inverses and tails."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, special

from elbowroom import Ball, Box, Diamond, InputError, chance

NORMS = ("l1", "l2", "linf")


def lattice_bracket(t: float, n: int, step: float) -> tuple[float, float]:
    """Rigorous bounds on P(|Z_1| + ... + |Z_n| <= t): every |Z| rounded up, and every |Z| rounded down, to a grid."""
    cells = math.floor(t / step + 1e-9)
    edges = special.erf(np.arange(cells + 2) * step / math.sqrt(2.0))
    mass = np.diff(edges)  # P(k step < |Z| <= (k + 1) step)
    down = np.zeros(cells + 1)
    down[: len(mass)] = mass[: cells + 1]
    total = np.zeros(cells + 1)
    total[0] = 1.0
    for _ in range(n):
        total = np.convolve(total, down)[: cells + 1]
    cumulative = np.cumsum(total)
    lower = cumulative[cells - n] if cells >= n else 0.0  # rounding up adds exactly one cell per feature
    return float(lower), float(cumulative[cells])


@pytest.mark.parametrize("t", [1e-6, 1e-3, 0.1, 1.0, 2.0, 3.0, 5.0, 8.0])
def test_diamond_in_three_features_equals_direct_integration(t: float) -> None:
    truth, _ = integrate.quad(
        lambda x: special.erf((t - x) / 2) ** 2 * math.sqrt(2 / math.pi) * math.exp(-x * x / 2),
        0, t, epsabs=0, epsrel=1e-13,
    )  # fmt: skip
    found = chance.probability(t, 1.0, 3, "l1")
    assert found == pytest.approx(truth, rel=3e-12)
    assert found <= truth


@pytest.mark.parametrize(("n", "t"), [(4, 3.0), (7, 5.0), (10, 7.0), (10, 12.0), (25, 18.0)])
def test_diamond_lies_in_a_rigorous_bracket(n: int, t: float) -> None:
    lower, upper = lattice_bracket(t, n, t / 4000)
    assert lower <= chance.probability(t, 1.0, n, "l1") <= upper
    assert upper - lower < 0.02


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_monte_carlo(norm: str, n: int) -> None:
    rng = np.random.default_rng(7)
    points = np.abs(rng.normal(scale=0.3, size=(100_000, n)))
    size = {"l1": points.sum(axis=1), "l2": np.sqrt(np.square(points).sum(axis=1)), "linf": points.max(axis=1)}[norm]
    for share in (0.05, 0.5, 0.95):
        radius = float(np.quantile(size, share))
        assert chance.probability(radius, 0.3, n, norm) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [1, 2, 3, 10, 100, 1000])
def test_the_three_functions_are_inverse_to_each_other(norm: str, n: int) -> None:
    for p in (1e-300, 1e-30, 1e-9, 0.01, 0.5, 0.9, 0.99, 1 - 1e-6, 1 - 1e-9):
        radius = chance.radius(p, 2.0, n, norm)
        assert chance.probability(radius, 2.0, n, norm) == pytest.approx(p, rel=1e-9)
        assert chance.sigma(p, radius, n, norm) == pytest.approx(2.0, rel=1e-9)


def test_the_papers_formulas() -> None:
    from scipy import stats

    assert chance.probability(0.5, 0.2, 6, "l2") == pytest.approx(stats.chi2(6).cdf(0.25 / 0.04), rel=1e-12)
    assert chance.radius(0.9, 0.2, 6, "l2") == pytest.approx(0.2 * math.sqrt(stats.chi2(6).ppf(0.9)), rel=1e-12)
    assert chance.probability(0.5, 0.2, 6, "linf") == pytest.approx((2 * stats.norm.cdf(2.5) - 1) ** 6, rel=1e-12)
    expected = 0.2 * stats.norm.ppf((0.9 ** (1 / 6) + 1) / 2)
    assert chance.radius(0.9, 0.2, 6, "linf") == pytest.approx(expected, rel=1e-12)


def test_all_norms_agree_on_one_feature() -> None:
    values = [chance.probability(1.7, 1.0, 1, norm) for norm in NORMS]
    assert values == pytest.approx([math.erf(1.7 / math.sqrt(2))] * 3, rel=1e-14)


def test_a_diamond_lies_in_a_ball_lies_in_a_box() -> None:
    for n in (2, 10, 300):
        radius = np.linspace(0.1, 3.0, 9) * math.sqrt(n)
        l1, l2, linf = (chance.probability(radius, 1.0, n, norm) for norm in NORMS)
        assert np.all(l1 <= l2) and np.all(l2 <= linf)


def test_tails_are_sane() -> None:
    for norm in NORMS:
        for n in (1, 3, 1000):
            grid = chance.probability(np.geomspace(1e-12, 1e6, 60), 1.0, n, norm)
            assert np.all((grid >= 0) & (grid <= 1)) and np.all(np.diff(grid) >= -2e-12)
            assert grid[0] < 1e-11 and grid[-1] > 1 - 1e-11
            assert chance.probability(0.0, 1.0, n, norm) == 0.0


def test_broadcasting() -> None:
    table = chance.probability(np.array([[1.0], [2.0]]), 1.0, np.array([1, 5, 9]), "l1")
    assert table.shape == (2, 3)
    assert table[1, 2] == chance.probability(2.0, 1.0, 9, "l1")
    assert isinstance(chance.radius(0.9, 1.0, 3), float)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: chance.probability(-1, 1, 3), "radius"),
        (lambda: chance.probability(math.nan, 1, 3), "radius"),
        (lambda: chance.probability(1, 0, 3), "sigma"),
        (lambda: chance.probability(1, [1, math.inf], 3), "sigma"),
        (lambda: chance.probability(1, 1, 2.5), "n="),
        (lambda: chance.probability(1, 1, 0), "n="),
        (lambda: chance.radius(1.0, 1, 3), "probability"),
        (lambda: chance.radius(0.0, 1, 3), "probability"),
        (lambda: chance.sigma(0.5, "wide", 3), "radius"),
        (lambda: chance.sigma(0.5, 1, 3, "l3"), "norm"),
        (lambda: chance.probability(1.0, 1.0, True), "True"),
    ],
)
def test_bad_input_names_the_value(call, word: str) -> None:
    with pytest.raises(InputError, match=word):
        call()


@pytest.mark.parametrize("radius", [1e-100, 1e-160, 1e-200])
def test_tiny_diamonds_have_the_volume_of_a_simplex(radius: float) -> None:
    """P(|Z_1| + |Z_2| + |Z_3| <= t) -> (2 / pi)^(3/2) t^3 / 6 as t -> 0, which may vanish but not fail."""
    assert chance.probability(radius, 1.0, 3, "l1") == pytest.approx((2.0 / math.pi) ** 1.5 / 6.0 * radius**3, rel=1e-9)


@pytest.mark.parametrize("room", [Box, Ball, Diamond])
def test_a_room_for_a_probability_takes_one_number(room: type[Box] | type[Ball] | type[Diamond]) -> None:
    assert room.for_probability(5e-324, 0.1, n=3).radius > 0.0
    for probability in ([], [0.9], "much", 10**400):
        with pytest.raises(InputError, match="probability"):
            room.for_probability(probability, 0.1, n=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="n="):
        room.for_probability(0.9, 0.1, n=10**400)


@pytest.mark.parametrize("n", [3, 10, 100])
def test_diamonds_for_probabilities_next_to_one(n: int) -> None:
    """The safety margin of the quadrature is no limit: 1 - 1e-15 has a radius, larger than that of 1 - 1e-11."""
    radii = [float(chance.radius(p, 1.0, n, "l1")) for p in (1.0 - 1e-11, 1.0 - 1e-13, math.nextafter(1.0, 0.0))]
    assert radii[0] < radii[1] < radii[2] < 3.0 * radii[0]
    assert chance.probability(radii[1], 1.0, n, "l1") >= 1.0 - 1.01e-13
    corners = float(special.erfc(radii[2] / math.sqrt(2.0 * n)))  # one of the 2^n faces is passed at least this often
    assert corners < 1e-15
