"""The driver: what it does with refusals, limits, interrupts, memory and seeds."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem import Body, Box, LinearRule, RecourseProblem
from elbowroom.result import Certificate, Counterexample, Undecided, Verdict
from elbowroom.search.contract import Clock
from elbowroom.search.trees import TreeMemory
from elbowroom.search.trees.boxes.search import search_boxes
from elbowroom.search.trees.cells.build import build_ensemble
from tests.support.brute import closest
from tests.support.referee import Engine, Referee, Run, run_engine
from tests.support.small_questions import hard_question, random_question


def strict(problem: RecourseProblem, forbidden: Floats) -> Referee:
    """A referee that holds one more point for bad."""

    def judge(center: Floats, looks: float) -> Verdict:
        if problem.body(center).contains(forbidden[None])[0]:
            return Counterexample(forbidden, "elsewhere", -1.0)
        return referee.true_verdict(center, looks)

    referee = Referee(problem, judge)
    return referee


def ask(problem: RecourseProblem, referee: Referee | None = None, **more: object) -> Run:
    """Search; a candidate of this engine is always admissible."""
    found = run_engine(Engine.BOXES, problem, referee, **more)  # type: ignore[arg-type]
    assert not found.referee.inadmissible
    return found


def positive_question(start: int = 0) -> tuple[RecourseProblem, float]:
    """A small question whose answer is a real move."""
    for seed in range(start, start + 200):
        problem = random_question(np.random.default_rng([3, seed]))
        truth = closest(problem)
        if 0.0 < truth < math.inf:
            return problem, truth
    raise AssertionError("no such question")


def test_what_the_judge_refuses_is_never_returned_and_the_search_goes_on() -> None:
    refused_any = 0
    for start in range(0, 2000, 200):
        problem, truth = positive_question(start)
        first = ask(problem)
        assert first.center is not None
        forbidden = first.center  # pretend that this point is bad

        second = ask(problem, strict(problem, forbidden))
        refused_any += int(second.counters["refused"] > 0)
        assert second.lower_bound >= truth * (1 - 1e-9)
        if second.center is None:
            assert math.isinf(second.lower_bound)
            continue
        assert not problem.body(second.center).contains(forbidden[None])[0]
        assert problem.measure(second.center) >= truth * (1 - 1e-9)
    assert refused_any > 5


def test_an_undecided_judge_gives_no_region_and_an_honest_bound() -> None:
    for start in range(0, 1000, 200):
        problem, truth = positive_question(start)
        outcome = ask(problem, Referee(problem, lambda center, looks: Undecided("too hard")))
        assert outcome.center is None
        assert outcome.lower_bound <= truth
        assert outcome.reason


def test_time_limit_zero_claims_nothing() -> None:
    outcome = ask(hard_question(0), seconds=0.0)
    assert outcome.center is None
    assert outcome.lower_bound == 0.0
    assert "time limit" in outcome.reason


def test_a_short_time_limit_keeps_both_bounds_apart_and_true() -> None:
    problem = hard_question(1)
    best = ask(problem)
    assert best.center is not None
    optimum = problem.measure(best.center)
    clock = Clock(60.0)

    def last_verdict(center: Floats, looks: float) -> Verdict:
        clock.deadline = clock.start  # the time is over as soon as something is certified
        return Referee(problem).true_verdict(center)

    outcome = ask(problem, Referee(problem, last_verdict), clock=clock)
    assert outcome.center is not None
    assert outcome.lower_bound <= optimum * (1 + 1e-12)
    assert problem.measure(outcome.center) >= optimum * (1 - 1e-9)


def test_an_interrupt_goes_to_the_caller() -> None:
    for seed in range(20):
        problem = hard_question(seed)
        if len(ask(problem).referee.asked) < 2:
            continue
        referee = Referee(problem)

        def judge(center: Floats, looks: float, referee: Referee = referee) -> Verdict:
            if len(referee.asked) > 1:
                raise KeyboardInterrupt
            return referee.true_verdict(center)

        referee.judge = judge
        with pytest.raises(KeyboardInterrupt):
            ask(problem, referee)
        assert referee.center is not None
        return
    raise AssertionError("every answer came at once: nothing was tested")


def test_the_same_seed_asks_the_same_questions() -> None:
    for seed in range(4):
        one, two = ask(hard_question(seed)), ask(hard_question(seed))
        assert len(one.referee.asked) == len(two.referee.asked)
        for a, b in zip(one.referee.asked, two.referee.asked, strict=True):
            np.testing.assert_array_equal(a, b)
        assert one.counters == two.counters


@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
def test_a_used_memory_changes_nothing(distance: str) -> None:
    base = hard_question(3, distance=distance)
    memory = TreeMemory.of(base)
    rng = np.random.default_rng(0)
    for radius in (0.05, 0.2, 0.2, 0.3):
        row = base.factual + 0.3 * rng.normal(size=6)
        problem = RecourseProblem.ask(base.model, base.space, row, Box(radius), base.target, distance)
        fresh, used = ask(problem), ask(problem, memory=memory)
        assert fresh.counters == used.counters and fresh.lower_bound == used.lower_bound
        assert [x.tobytes() for x in fresh.referee.asked] == [x.tobytes() for x in used.referee.asked]
    assert memory.rival.size == 0 and not memory.centers


def test_one_search_may_teach_another_of_its_own() -> None:
    problem = hard_question(3)
    memory = TreeMemory.of(problem)
    search_boxes(problem, Referee(problem), Clock(60.0), 0, memory)
    assert memory.rival.size > 0 and memory.centers
    wider = RecourseProblem.ask(problem.model, problem.space, problem.factual, Box(0.3), problem.target)
    taught = search_boxes(wider, Referee(wider), Clock(60.0), 0, memory)
    assert taught.lower_bound == pytest.approx(ask(wider).lower_bound, rel=1e-9)
    blank = memory.anew()
    assert blank.rival.size == 0 and not blank.centers and memory.centers
    assert blank.ensemble is memory.ensemble and blank.fits(problem)


def test_nodes_can_be_limited() -> None:
    problem = next(p for p in map(hard_question, range(50)) if ask(p).counters["nodes"] > 20)
    full = ask(problem)
    nodes = int(full.counters["nodes"])
    ending = search_boxes(problem, Referee(problem), Clock(60.0), 0, TreeMemory.of(problem), most_nodes=10)
    assert ending.counters["nodes"] == 10
    assert ending.lower_bound <= full.lower_bound
    allowed = search_boxes(problem, Referee(problem), Clock(60.0), 0, TreeMemory.of(problem), most_nodes=2 * nodes)
    assert allowed.counters == full.counters and allowed.lower_bound == full.lower_bound


def test_a_memory_of_another_target_is_not_used() -> None:
    problem = hard_question(5)
    other = TreeMemory(problem.model, problem.space, 1 - problem.target_index, None)  # type: ignore[arg-type]
    assert not other.fits(problem)
    assert ask(problem, memory=other).counters == ask(problem).counters


def test_tables_too_large_for_memory_give_the_same_answer() -> None:
    for seed in range(4):
        problem = hard_question(seed)
        memory = TreeMemory.of(problem)
        memory.ensemble = build_ensemble(
            memory.model, memory.space, memory.target_index, memory.need, memory.dimensions, table_bytes=256
        )
        assert memory.ensemble.stride > 1
        wide, narrow = ask(problem), ask(problem, memory=memory)
        assert wide.counters == narrow.counters
        np.testing.assert_array_equal(wide.center, narrow.center)  # type: ignore[arg-type]


def test_bounds_never_fall_and_never_cross() -> None:
    problem = hard_question(2)
    steps: list[tuple[float, float]] = []
    clock = Clock(60.0, lambda step: steps.append((step.lower_bound, step.best_distance)))
    ask(problem, clock=clock)
    assert steps
    assert all(a <= b for (a, _), (b, _) in pairwise(steps))
    assert all(a >= b for (_, a), (_, b) in pairwise(steps))
    assert all(low <= high for low, high in steps)


def test_linear_rules_of_three_columns_are_refused_by_name() -> None:
    """Those of two columns have finitely many positions; others go to Algorithm 1."""
    problem = hard_question(0, rules=(LinearRule({"x0": 1.0, "x1": 2.0, "x2": 1.0}, high=3.0),))
    with pytest.raises(InputError, match="LinearRule"):
        ask(problem)


def test_accepted_bodies_are_the_judged_ones() -> None:
    problem = hard_question(4)
    outcome = ask(problem)
    assert isinstance(outcome.certificate, Certificate)
    body: Body = outcome.certificate.body
    np.testing.assert_array_equal(body.lower, problem.body(outcome.center).lower)  # type: ignore[arg-type]
