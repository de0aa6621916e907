"""One search from the first candidate to its outcome: what is kept, what an interrupt leaves, what is known beforehand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from elbowroom import Explainer, InputError, NoRegion, Region, Status, Step
from elbowroom.explainer import attempt
from elbowroom.explainer.attempt import RECALLED, Attempt
from elbowroom.explainer.method import Method
from elbowroom.numerics import Floats
from elbowroom.problem import Body, Box, Feature, RecourseProblem, Space
from elbowroom.result import Certificate, Inadmissible, Undecided, Verdict
from elbowroom.search.contract import Clock, Ending
from elbowroom.search.frontier import INTERRUPTED, Known
from tests.support.hostile import attack
from tests.support.linear_problems import linear_model
from tests.support.referee import Engine, run_engine
from tests.support.small_questions import hard_question


def half_line(**limits: object) -> RecourseProblem:
    """x > 1 is wanted, from x = 0 and with a room of 0.5: the closest centre is 1.5."""
    space = Space((Feature("x0", **{"lower": -5.0, "upper": 5.0, **limits}),))  # type: ignore[arg-type]
    return RecourseProblem.ask(linear_model([[1.0]], [-1.0]), space, [0.0], Box(0.5), 1)


def begun(problem: RecourseProblem, seconds: float = 60.0, method: Method = Method.AUTO) -> Attempt:
    return Attempt(problem, Clock(seconds), method.engine(problem.model))


def at(x: float) -> Floats:
    return np.array([x])


# ---- judging and keeping ---------------------------------------------------------------------------------------------
def test_the_best_accepted_centre_is_kept_whatever_the_order() -> None:
    one = begun(half_line())
    assert isinstance(one.referee(at(3.0)), Certificate)
    assert isinstance(one.referee(at(2.0)), Certificate)
    assert isinstance(one.referee(at(2.5)), Certificate)
    assert not isinstance(one.referee(at(1.2)), Certificate)  # its room reaches 0.7
    assert one.referee.center == at(2.0)
    assert one.referee.distance == 2.0 == one.clock.best_distance
    assert one.referee.certificate is not None and one.referee.certificate.body.center == at(2.0)


def test_an_inadmissible_centre_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    one = begun(half_line(kind="integer"))
    monkeypatch.setattr(attempt, "certify_answer", lambda *question: pytest.fail("the judge was asked"))
    for x in (2.5, 7.0):  # not whole; beyond the limits
        assert isinstance(one.referee(at(x)), Inadmissible)
    assert one.referee.center is None


def test_related_questions_do_not_count() -> None:
    one = begun(half_line())
    small = replace(one.problem, room=Box(0.1))
    assert isinstance(one.referee.about(small)(at(1.2)), Certificate)
    assert one.referee.center is None
    assert one.clock.best_distance == math.inf


def test_a_verdict_gets_the_seconds_that_are_left_and_the_looks_that_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []
    given: list[float] = []

    def judge(problem: object, body: Body, seconds: float, looks: float) -> Verdict:
        limits.append(seconds)
        given.append(looks)
        return Undecided("not today")

    monkeypatch.setattr(attempt, "certify_answer", judge)
    one = begun(half_line(), 10.0)
    one.referee(at(2.0))
    one.referee(at(2.0), 5.0)
    one.referee.about(one.problem)(at(2.0), 25.0)
    assert given == [math.inf, 5.0, 25.0]
    assert 0.0 < limits[2] <= limits[1] <= limits[0] <= 10.0
    begun(half_line(), 0.0).referee(at(2.0))
    assert limits[-1] == 0.05  # a spent clock still leaves a moment: what is found is worth judging


# ---- answers without a search ----------------------------------------------------------------------------------------
def test_a_good_row_is_its_own_answer_even_without_time() -> None:
    problem = replace(half_line(), factual=at(3.0))
    one = begun(problem, 0.0)
    outcome = one.run(0)
    assert (outcome.method, outcome.lower_bound) == ("factual", 0.0)
    assert one.referee.distance == 0.0


def test_what_cannot_exist_is_not_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Attempt, "_search", lambda *arguments: pytest.fail("a search was begun"))
    still = begun(half_line(immutable=True)).run(0)
    assert (still.method, still.lower_bound) == ("limits", math.inf)
    assert "immutable" in still.reason
    closed = half_line(lower=2.0, direction="decreasing")
    assert closed.trouble is not None
    assert begun(closed).run(0).reason == closed.trouble


def test_nothing_may_move_and_the_judge_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt, "certify_answer", lambda *question: Undecided("too close"))
    outcome = begun(half_line(immutable=True)).run(0)
    assert outcome.lower_bound == 0.0  # nothing is claimed
    assert "too close" in outcome.reason


def test_no_time_claims_nothing() -> None:
    problem = hard_question(0)
    one = begun(problem, 0.0)
    outcome = one.run(0)
    assert one.referee.center is None
    assert outcome.lower_bound <= run_engine(Engine.BOXES, problem).distance
    assert outcome.lower_bound == 0.0


# ---- interrupts ------------------------------------------------------------------------------------------------------
def test_an_interrupt_leaves_the_best_certified_answer() -> None:
    """Whatever the engine was doing: the answer is a certified region, and no bound above the truth is claimed."""
    problem = hard_question(3)
    explainer = Explainer(problem.model, problem.space)

    def impatient(step: Step) -> None:
        if math.isfinite(step.best_distance):  # something is certified: Ctrl-C
            raise KeyboardInterrupt

    answer = explainer.explain(problem.factual, problem.room, problem.target, on_progress=impatient)
    assert isinstance(answer, Region)
    assert answer.method == INTERRUPTED
    attack(explainer.predict, answer.body, problem.target.label, problem.model.cuts)  # type: ignore[union-attr]
    calm = explainer.explain(problem.factual, problem.room, problem.target)
    assert calm.status is Status.OPTIMAL
    assert isinstance(calm, Region)
    assert answer.lower_bound <= calm.distance <= answer.distance


def test_an_interrupt_before_anything_is_certified_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def engine(self: Attempt, *arguments: object) -> Ending:
        self.clock.report(lower_bound=0.7)
        raise KeyboardInterrupt

    monkeypatch.setattr(Attempt, "_search", engine)
    problem = half_line()
    answer = Explainer(problem.model, problem.space).explain(problem.factual, problem.room, problem.target)
    assert isinstance(answer, NoRegion)
    assert (answer.status, answer.lower_bound) == (Status.UNKNOWN, 0.7)  # what was proven until then stays proven
    assert "interrupted" in answer.reason


def test_an_interrupted_judge_ends_the_search_with_what_was_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    one, certify = begun(half_line()), attempt.certify_answer

    def interrupted(*question: object) -> Verdict:
        if one.referee.center is not None:
            raise KeyboardInterrupt
        return certify(*question)  # type: ignore[arg-type]

    def engine(self: Attempt, *arguments: object) -> Ending:
        self.clock.report(lower_bound=0.7)
        self.referee(at(4.0))
        self.referee(at(2.0))
        raise AssertionError("the interrupt was lost")

    monkeypatch.setattr(attempt, "certify_answer", interrupted)
    monkeypatch.setattr(Attempt, "_search", engine)
    monkeypatch.setattr(Attempt, "_trivial", lambda self: None)
    outcome = one.run(0)
    assert (outcome.method, outcome.lower_bound) == (INTERRUPTED, 0.7)
    assert one.referee.center == at(4.0)


# ---- faults ----------------------------------------------------------------------------------------------------------
def test_a_fault_leaves_the_best_certified_answer_and_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def engine(self: Attempt, *arguments: object) -> Ending:
        self.clock.report(lower_bound=0.7)
        self.referee(at(4.0))
        raise MemoryError("the solver died")

    monkeypatch.setattr(Attempt, "_search", engine)
    problem = half_line()
    answer = Explainer(problem.model, problem.space).explain(problem.factual, problem.room, problem.target)
    assert isinstance(answer, Region)
    assert (answer.status, answer.distance, answer.lower_bound) == (Status.CERTIFIED, 4.0, 0.7)
    assert "MemoryError: the solver died" in caplog.text


def test_a_fault_before_anything_is_certified_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def engine(self: Attempt, *arguments: object) -> Ending:
        raise IndexError("list index out of range")

    monkeypatch.setattr(Attempt, "_search", engine)
    problem = half_line()
    answer = Explainer(problem.model, problem.space).explain(problem.factual, problem.room, problem.target)
    assert (answer.status, answer.lower_bound) == (Status.UNKNOWN, 0.0)
    assert isinstance(answer, NoRegion) and "IndexError: list index out of range" in answer.reason


def test_what_is_wrong_with_the_question_is_still_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def engine(self: Attempt, *arguments: object) -> Ending:
        raise InputError("column 'x0': rescale it")

    monkeypatch.setattr(Attempt, "_search", engine)
    problem = half_line()
    with pytest.raises(InputError, match="rescale it"):
        Explainer(problem.model, problem.space).explain(problem.factual, problem.room, problem.target)


# ---- what other radii know -------------------------------------------------------------------------------------------
@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Attempt, "_search", lambda *arguments: pytest.fail("a search was begun"))


@pytest.mark.usefixtures("no_engine")
def test_no_smaller_region_means_no_larger_one() -> None:
    outcome = begun(half_line()).run(0, Known(lower_bound=math.inf))
    assert (outcome.method, outcome.lower_bound) == (RECALLED, math.inf)


@pytest.mark.usefixtures("no_engine")
def test_a_known_centre_at_the_known_bound_closes_the_question() -> None:
    one = begun(half_line())
    outcome = one.run(0, Known(lower_bound=2.0, tolerance=1e-9, centers=(at(3.0), at(2.0))))
    assert (outcome.method, outcome.lower_bound, one.referee.distance) == (RECALLED, 2.0, 2.0)


@pytest.mark.usefixtures("no_engine")
def test_without_a_search_only_known_centres_are_judged() -> None:
    one = begun(half_line())
    outcome = one.run(0, Known(lower_bound=0.5, centers=(at(1.2), at(4.0)), search=False))
    assert (outcome.method, outcome.lower_bound, one.referee.distance) == (RECALLED, 0.5, 4.0)
    assert outcome.reason


def test_a_known_centre_that_is_not_good_enough_starts_the_search() -> None:
    one = begun(half_line())
    outcome = one.run(0, Known(lower_bound=1.0, tolerance=1e-9, centers=(at(4.0),)))
    assert outcome.method != RECALLED
    assert one.referee.distance == pytest.approx(1.5)
    assert outcome.lower_bound == pytest.approx(1.5)


def test_a_known_bound_is_never_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Attempt, "_search", lambda *arguments: Ending("by hand", 0.25, "tired"))
    assert begun(half_line()).run(0, Known(lower_bound=1.0)).lower_bound == 1.0
    assert begun(half_line()).run(0, Known(lower_bound=0.1)).lower_bound == 0.25


# ---- methods ---------------------------------------------------------------------------------------------------------
def test_methods_are_read_by_name_and_all_of_them_answer() -> None:
    problem = hard_question(1, radius=0.05)
    with pytest.raises(InputError, match=r"method='magic' is unknown.*adversarial-scip"):
        Explainer(problem.model, problem.space).explain(problem.factual, method="magic")
    found = {}
    for method in (Method.AUTO, Method.ADVERSARIAL, Method.ONE_LEAF):
        one = begun(problem, 20.0, method)
        found[method] = one.run(0).lower_bound, one.referee.distance
    best = found[Method.AUTO][1]
    for bound, distance in found.values():
        assert bound <= best * (1 + 1e-9)
        assert distance >= best * (1 - 1e-9)
