"""Wanted values: which sums, scores and links reach them, to the last float."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from elbowroom.models import Affine, LinearModel, Link, ModelInfo, TreeEnsemble
from elbowroom.models.margins import least_sum, linear_margins, tree_margins
from elbowroom.models.values import ValueRange, refuses_range, score_rows, value_error, values_of
from elbowroom.numerics import next_down, next_up


def regressor(width: int, link: Link = Link.IDENTITY) -> ModelInfo:
    return ModelInfo.regressor(tuple(f"x{i}" for i in range(width)), "made from arrays", link)


def stumps(values: list[tuple[float, float]], divisor: float = 1.0, base: float = 0.0) -> TreeEnsemble:
    """One stump per pair of leaf values, each on a column of its own: every choice of leaves meets somewhere."""
    n = len(values)
    return TreeEnsemble(
        regressor(n),
        3 * np.arange(n),
        np.ravel([[k, -1, -1] for k in range(n)]),
        np.zeros(3 * n),
        np.ravel([[3 * k + 1, -1, -1] for k in range(n)]),
        np.ravel([[3 * k + 2, -1, -1] for k in range(n)]),
        np.ravel([[0.0, low, high] for low, high in values])[:, None],
        np.array([base]),
        divisor,
    )


def predictions(model: TreeEnsemble, leaves: np.ndarray, rng: np.random.Generator) -> list[float]:
    """What the model predicts when the same leaves are added in many orders."""
    parts = [float(v) for v in model.leaves.value[leaves, 0]]
    orders = [np.arange(len(parts)), *(rng.permutation(len(parts)) for _ in range(20))]
    found = []
    for order in orders:
        total = float(model.base[0])
        for k in order:
            total += parts[k]
        found.append(total / model.divisor)
    return found


@pytest.mark.parametrize("seed", range(40))
def test_what_is_proven_holds_in_every_order_and_exact_sums_are_decided(seed: int) -> None:
    """Thresholds are what some point predicts, and the next float on either side of it."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    pool = np.concatenate([[812.0, 1000.0, 0.0, -3.25, 100.5], rng.normal(scale=1e3, size=2), [1 / 3, 700.1]])
    whole = seed % 2 == 0
    values = [tuple(rng.choice(pool[:5] if whole else pool, 2)) for _ in range(n)]
    model = stumps(values, divisor=float(n) if seed % 3 else 1.0, base=float(rng.choice([0.0, 12.5])))
    choices = [2 * np.arange(n) + choice for choice in product((0, 1), repeat=n)]
    said = [predictions(model, reached, rng) for reached in choices]
    for some in said[:6]:
        for end in (some[0], float(next_up(some[0])), float(next_down(some[0]))):
            for wanted in (ValueRange(end), ValueRange(None, end), ValueRange(end, end + 50.0), ValueRange(end, end)):
                margins = tree_margins(model, 0, wanted)
                assert margins.hopeful is not None
                for reached, found in zip(choices, said, strict=True):
                    met = {bool(wanted.contains(np.array(v))) for v in found}
                    good, may = margins.holds(reached), margins.hopeful.holds(reached)
                    assert not good or met == {True}
                    assert may or met == {False}
                    if whole or (n == 1 and model.base[0] == 0.0):  # nothing is rounded before the division
                        assert {good} == {may} == met


@pytest.mark.parametrize("seed", range(20))
def test_sums_of_single_floats(seed: int) -> None:
    """Leaf values and base are float32, and added up in float32, as XGBoost does it; the value is that sum."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    pool = np.concatenate([[812.0, 0.5, -3.25], rng.normal(scale=1e3, size=4)]).astype(np.float32).astype(np.float64)
    values = [tuple(rng.choice(pool[:3] if seed % 2 else pool, 2)) for _ in range(n)]
    model = replace(stumps(values, base=float(np.float32(rng.choice([0.0, 12.1])))), single=True)
    corners = np.array(list(product((-1.0, 1.0), repeat=n)))
    said = model.scores(corners)[:, 0]
    assert (said == said.astype(np.float32)).all()
    proven = 0
    for end in (float(said[0]), float(next_up(said[0])), float(said[0]) - 1e-3, float(said[-1]) + 1e-3):
        for wanted in (ValueRange(end), ValueRange(None, end), ValueRange(end - 1e-3, end + 1e-3)):
            margins = tree_margins(model, 0, wanted)
            assert margins.hopeful is not None
            for corner, value in zip(corners, said, strict=True):
                reached = 2 * np.arange(n) + (corner > 0)
                met = bool(wanted.contains(np.array(value)))
                assert met or not margins.holds(reached)
                assert not met or margins.hopeful.holds(reached)
                proven += margins.holds(reached)
    assert proven > 0


@pytest.mark.parametrize("divisor", [1.0, 3.0, 7.0, 10.0, 100.0])
def test_the_least_sum_is_the_first_float_whose_mean_is_enough(divisor: float) -> None:
    rng = np.random.default_rng(0)
    parts = rng.normal(size=5)  # no common grid
    for end in [0.0, 0.1, -0.1, 1e300, -1e300, 5e-324, *rng.normal(scale=1e3, size=50)]:
        least = least_sum(float(end), divisor, parts, 7)
        assert least / divisor >= end > float(next_down(least)) / divisor or (end == 0.0 and least / divisor == 0.0)


def test_a_threshold_beyond_every_sum_is_no_trouble() -> None:
    model = stumps([(0.25, 0.5)])
    for end in (1e300, -1e300):
        for wanted, good in ((ValueRange(end), end < 0), (ValueRange(None, end), end > 0)):
            assert tree_margins(model, 0, wanted).holds(np.array([0])) is good


@pytest.mark.parametrize("link", [Link.EXPONENTIAL, Link.EXPONENTIAL_MINUS_ONE])
def test_scores_beyond_the_slack_of_a_link_have_the_wanted_value(link: Link) -> None:
    info, rng = regressor(1, link), np.random.default_rng(1)
    ends = np.concatenate([10.0 ** rng.uniform(-12, 12, 200), 1.0 + rng.normal(scale=1e-9, size=50), [1e-290, 1e290]])
    if link is Link.EXPONENTIAL_MINUS_ONE:
        ends = np.concatenate([ends, -ends[ends < 0.999], -1.0 + 10.0 ** rng.uniform(-8.9, -1, 50)])
    for end in map(float, ends):
        rows = score_rows(info, ValueRange(end, end))
        assert rows.sign.tolist() == [1.0, -1.0]
        for sign, threshold, slack in zip(rows.sign, rows.threshold, rows.slack, strict=True):
            least = sign * (threshold + slack)
            scores = np.array([least, float(next_up(least) if sign > 0 else next_down(least)), least + sign * 1e-7])
            reached = values_of(info, scores[:, None])
            assert (reached >= end).all() if sign > 0 else (reached <= end).all()
            missed = values_of(info, np.array([[sign * (threshold - slack)]]))[0]
            assert missed < end if sign > 0 else missed > end  # hopeful margins call only these bad
            assert slack <= 1e-5 * (1.0 + abs(threshold))


def test_an_end_that_every_value_is_above_asks_for_nothing() -> None:
    info = regressor(1, Link.EXPONENTIAL)
    assert score_rows(info, ValueRange(-3.0, 10.0)).sign.tolist() == [-1.0]
    assert "asks for nothing" in str(refuses_range(info, ValueRange(0.0)))
    assert "every value" in str(refuses_range(info, ValueRange(None, -1.0)))
    assert "too close to 0" in str(refuses_range(info, ValueRange(1e-310)))
    assert "too close to -1" in str(refuses_range(regressor(1, Link.EXPONENTIAL_MINUS_ONE), ValueRange(-1 + 1e-12)))
    single = replace(info, single=True)
    assert "too close to 0" in str(refuses_range(single, ValueRange(1e-31)))
    assert (
        "up to 1e+30" in str(refuses_range(single, ValueRange(1e31))) and refuses_range(info, ValueRange(1e31)) is None
    )
    assert refuses_range(info, ValueRange(0.0, 10.0)) is None and refuses_range(regressor(1), ValueRange(-9.0)) is None


@pytest.mark.parametrize("value", [1e-29, 0.1, 1.0, 812.3, 1e29])
def test_links_in_float32(value: float) -> None:
    """The score is a float32 number here, and its exponential is rounded to float32."""
    rows = score_rows(replace(regressor(1, Link.EXPONENTIAL), single=True), ValueRange(value, value))
    for sign, threshold, slack in zip(rows.sign, rows.threshold, rows.slack, strict=True):
        least = np.float32(sign * (threshold + slack) + sign * np.spacing(np.float32(abs(threshold)) + 1))
        reached = float(np.exp(least))
        assert least.dtype == np.float32 and (reached >= value if sign > 0 else reached <= value)
        assert slack <= 1e-5 * (1 + abs(threshold))


def test_values_and_their_errors() -> None:
    scores = np.array([[-800.0], [0.0], [1.5], [710.0]])
    assert values_of(regressor(1), scores).tolist() == scores[:, 0].tolist()
    assert values_of(regressor(1, Link.EXPONENTIAL), scores)[-1] == math.inf
    error = np.full((4, 1), 1e-9)
    assert (value_error(regressor(1), scores, error) == error).all()
    grown = value_error(regressor(1, Link.EXPONENTIAL), scores, error)
    assert grown[2, 0] == pytest.approx(math.exp(1.5) * 1e-9, rel=1e-3) and grown[-1, 0] == math.inf


def test_rows_of_a_linear_regressor_are_exact_to_rounding() -> None:
    rng = np.random.default_rng(2)
    model = LinearModel(regressor(3), Affine.exact(rng.normal(size=(1, 3)), np.array([0.7])))
    margins = linear_margins(model, 0, ValueRange(0.1, 0.3))
    for x in rng.normal(size=(50, 3)):
        exact = sum(Fraction(float(w)) * Fraction(float(v)) for w, v in zip(model.affine.weight[0], x, strict=True))
        value = exact + Fraction(0.7)
        low, high = margins.affine(x)
        error = Fraction(float(margins.affine.error(np.abs(x)).max()))
        assert abs(Fraction(float(low)) - (value - Fraction(0.1))) <= error
        assert abs(Fraction(float(high)) - (Fraction(0.3) - value)) <= error
    assert margins.slack.min() > 0.0


def test_a_regressor_has_no_classes_and_values_of_a_known_kind() -> None:
    for changed in ({"classes": (0, 1)}, {"link": Link.NONE}, {"link": Link.LOGISTIC}):
        with pytest.raises(ValueError, match="a regressor has no classes"):
            replace(regressor(1), **changed)  # type: ignore[arg-type]


def test_a_regressor_has_no_labels() -> None:
    model = stumps([(1.0, 2.5)])
    assert model.info.is_regressor and model.info.says(model.scores(np.array([[-1.0], [1.0]]))) == [1.0, 2.5]
    with pytest.raises(TypeError, match="regressor"):
        model.info.labels_of(np.zeros((1, 1)))
    assert model.fingerprint != replace(model, info=replace(model.info, link=Link.EXPONENTIAL)).fingerprint
