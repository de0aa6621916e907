"""Whether there is a region anywhere: exact proofs on columns without limits, and regions that are far away."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from elbowroom import Explainer, Status
from elbowroom.models import Affine, ReluNetwork
from elbowroom.problem import Ball, Box, Diamond, Feature, RecourseProblem, Space
from elbowroom.result import Undecided
from elbowroom.search.contract import Clock
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.everywhere import Everywhere
from elbowroom.search.network.exact_rows import ExactMap, Row, cancelled, contradict, whole_numbers
from elbowroom.search.network.first_regions import FirstRegions
from tests.support.hostile import attack
from tests.support.plane_questions import Family, plane_question
from tests.support.plane_truth import closest_in_the_plane
from tests.support.referee import Referee
from tests.support.small_models import info
from tests.support.small_networks import network

ROOMS = (Box, Ball, Diamond)


def question(number: int) -> RecourseProblem:
    """A small network on two to six columns, most of them without limits; every norm, two to four classes."""
    rng = np.random.default_rng([17, 9, number])
    n, depth = int(rng.integers(2, 7)), int(rng.integers(1, 3))
    hidden = tuple(int(rng.integers(2, 9)) for _ in range(depth))
    classes = int(rng.choice([2, 2, 3, 4]))
    model, row = network(rng, n, hidden, classes), rng.normal(size=n)
    features, half = [], rng.random() < 0.25
    for f in range(n):
        low, high = -np.inf, np.inf
        if half and rng.random() < 0.5:
            if rng.random() < 0.5:
                low = row[f] - rng.exponential()
            else:
                high = row[f] + rng.exponential()
        features.append(Feature(f"x{f}", lower=low, upper=high))
    label = int(model.info.labels_of(model.scores(row[None]))[0])
    target = int(rng.choice([c for c in range(classes) if c != label]))
    room = ROOMS[int(rng.integers(3))](float(rng.choice([0.02, 0.1, 0.3])))
    return RecourseProblem.ask(model, Space(tuple(features)), row, room, target, str(rng.choice(["l1", "l2", "linf"])))


def pieces_of(problem: RecourseProblem, blind: bool = False) -> Everywhere:
    """``blind``: the judge accepts nothing, so that only a wrong proof could end the search."""
    referee = Referee(problem, (lambda center, looks: Undecided("never", 0.0)) if blind else None)
    search = NetworkSearch.begin(problem, referee, Clock(60.0), 0)
    return Everywhere(search, FirstRegions(search))


def strip(width: float, layers: int = 1) -> ReluNetwork:
    """Class 1 where |x0 + 2 x1| < width: an endless strip; a further layer passes the score on."""
    first = Affine.exact(np.array([[1.0, 2.0], [-1.0, -2.0]]), np.zeros(2))
    between = [Affine.exact(np.eye(2), np.zeros(2))] * (layers - 1)
    return ReluNetwork(info(2), (first, *between, Affine.exact(np.array([[-1.0, -1.0]]), np.array([width]))))


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize(("room", "needed"), [(Box(0.1), 0.3), (Ball(0.1), 0.1 * 5.0**0.5), (Diamond(0.1), 0.2)])
def test_a_strip_that_is_too_narrow_has_no_region_and_a_wider_one_has(room: Box, needed: float, layers: int) -> None:
    space = Space((Feature("x0"), Feature("x1")))
    narrow = RecourseProblem.ask(strip(0.99 * needed, layers), space, np.array([-3.0, 0.0]), room, 1)
    wide = RecourseProblem.ask(strip(1.05 * needed, layers), space, np.array([-3.0, 0.0]), room, 1)
    proof, blind = pieces_of(narrow), pieces_of(wide, blind=True)
    assert proof.run(2000)
    assert proof.search.lower_bound == np.inf
    assert not blind.run(2000)
    assert blind.search.lower_bound < np.inf
    found = pieces_of(wide)
    assert found.run(2000)
    assert found.search.best is not None


@pytest.mark.parametrize("number", [10, 22, 24, 25, 34, 45])
def test_a_class_that_occurs_nowhere_is_proven_to(number: int) -> None:
    """These ended as unknown."""
    problem = question(number)
    pieces = pieces_of(problem)
    assert pieces.run(2000)
    assert pieces.search.lower_bound == np.inf
    rng = np.random.default_rng(number)
    for reach in (1.0, 30.0, 1e3, 1e6):
        points = np.clip(rng.normal(0.0, reach, (20_000, problem.factual.size)), problem.lower, problem.upper)
        labels = problem.model.info.labels_of(problem.model.scores(points))
        assert not (labels == problem.target_index).any()


def test_the_answer_says_so() -> None:
    problem = question(34)
    answer = Explainer(problem.model, problem.space).explain(
        problem.factual, problem.room, problem.target, problem.distance, time_limit=60.0
    )
    assert answer.status is Status.NONE_EXISTS


def test_a_region_far_away_is_found() -> None:
    """It lies at a distance of thousands: nothing near the row leads there."""
    problem = question(47)
    pieces = pieces_of(problem)
    assert pieces.run(1000)
    center = pieces.search.best
    assert center is not None
    assert problem.measure(center) > 100.0
    label = problem.model.info.labels_of
    attack(lambda X: label(problem.model.scores(X)), problem.body(center), problem.target_index)


@pytest.mark.parametrize("norm", ["linf", "l2", "l1"])
def test_proofs_agree_with_the_whole_plane(norm: str) -> None:
    """Limits, whole columns, categories: what is proven is true in the whole plane."""
    for number in range(12):
        problem = plane_question(Family.RELU, norm, number)
        if problem.trouble is not None:
            continue
        pieces = pieces_of(problem, blind=True)
        pieces.run(100)
        if pieces.search.lower_bound == np.inf:
            assert closest_in_the_plane(problem).distance == np.inf, number


@pytest.mark.parametrize("number", [1, 2, 3, 5, 6, 7, 8, 9, 47])
def test_no_proof_where_a_region_is_known(number: int) -> None:
    """The judge accepts nothing here: whatever scenarios are tried, nothing may be proven."""
    pieces = pieces_of(question(number), blind=True)
    pieces.run(150)
    assert pieces.search.lower_bound < np.inf


# ---- exact arithmetic -------------------------------------------------------------------------------------------------
def row(coefficients: list[int], constant: int, strict: bool = True) -> Row:
    return Row.of(dict(enumerate(coefficients)), constant, strict)


def test_whole_numbers_are_the_doubles() -> None:
    values = np.array([[0.1, -3.0, 0.0], [2.0**-1060, 1e300, -7.25]])
    numbers, power = whole_numbers(values)
    for number, value in zip(numbers.ravel(), values.ravel(), strict=True):
        assert Fraction(number) * Fraction(2) ** power == Fraction(float(value))


def test_maps_are_exact() -> None:
    rng = np.random.default_rng(0)
    W, b, V, c = rng.normal(size=(3, 2)), rng.normal(size=3), rng.normal(size=(2, 3)), rng.normal(size=2)
    base, shift, x = np.array([7.0, 0.3]), np.array([0.1, -0.2]), np.array([0.7])
    made = ExactMap.columns(base, shift, np.array([0])).then(whole_numbers(W), whole_numbers(b))
    made = made.masked(np.array([True, False, True])).then(whole_numbers(V), whole_numbers(c))
    point = [Fraction(0.7) + Fraction(0.1), Fraction(0.3) + Fraction(-0.2)]
    z = [
        sum(Fraction(w) * p for w, p in zip(line, point, strict=True)) + Fraction(d)
        for line, d in zip(W, b, strict=True)
    ]
    z[1] = Fraction(0)
    out = [
        sum(Fraction(w) * p for w, p in zip(line, z, strict=True)) + Fraction(d) for line, d in zip(V, c, strict=True)
    ]
    for k, value in enumerate(out):
        assert (int(made.matrix[k, 0]) * Fraction(x[0]) + int(made.offset[k])) * Fraction(2) ** made.exponent == value


def test_contradictions_are_decided_to_the_last_digit() -> None:
    y = np.array([1.0, 1.0])
    assert contradict((row([1], 0), row([-1], 0)), y)  # x > 0 and x < 0
    assert not contradict((row([1], 0, strict=False), row([-1], 0, strict=False)), y)  # x = 0
    big = 10**60
    assert contradict((row([big], -1), row([-big], 1)), y)
    assert not contradict((row([big], -1), row([-big], 2)), y)  # a strip of width 1e-60
    assert not contradict((row([1, 0], 0), row([-1, 1], 0)), y)  # x0 > 0 and x1 > x0
    assert not contradict((row([10**30], 0), row([-(10**30), 1], -(10**90))), y)  # they meet, very far away
    assert contradict((row([0], -1),), np.ones(1))
    assert not contradict((row([0], 1),), np.ones(1))
    assert not contradict((row([1], 0), row([-1], 0)), np.zeros(2))


def test_proofs_that_would_take_too_long_are_not_begun() -> None:
    """x0 > 0, x1 > x0, ..., 0 > x_n: the clock is not looked at while rows are eliminated."""

    def chain(length: int) -> tuple[Row, ...]:
        steps = [Row.of({k + 1: 1, k: -1}, 0) for k in range(length)]
        return (Row.of({0: 1}, 0), *steps, Row.of({length: -1}, 0))

    assert contradict(chain(20), np.ones(22))
    assert not contradict(chain(40), np.ones(42))


def test_suggestions_are_corrected_and_never_negative() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        n, k = int(rng.integers(1, 4)), int(rng.integers(2, 6))
        table = [[int(v) for v in rng.integers(-9, 10, k)] for _ in range(n)]
        y = cancelled([line[:] for line in table], [Fraction(int(v)) for v in rng.integers(1, 9, k)])
        if y is not None:
            assert min(y) >= 0 < max(y)
            assert all(sum(a * v for a, v in zip(line, y, strict=True)) == 0 for line in table)
    assert cancelled([[1, 1]], [Fraction(1), Fraction(1)]) is None
    assert cancelled([[3, -1]], [Fraction(1), Fraction(2)]) in ([1, 3], [2, 6], [3, 9])
