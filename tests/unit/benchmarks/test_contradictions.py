"""The comparison of answers finds what is planted: a check that cannot fail checks nothing."""

from __future__ import annotations

import math
from dataclasses import replace

from benchmarks.control import contradictions as contradictions_of_lines
from benchmarks.control import per_round, settled

from elbowroom import Explainer, NoRegion, Region, Status
from tests.support.agreement import contradictions
from tests.support.plane_questions import Family, plane_question
from tests.support.plane_truth import Truth, closest_in_the_plane


def test_planted_lies_are_found() -> None:
    problem = plane_question(Family.LINEAR, "linf", 0)
    honest = Explainer(problem.model, problem.space).explain(
        problem.factual, problem.room, problem.target, problem.distance
    )
    truth = closest_in_the_plane(problem)
    assert isinstance(honest, Region)
    assert contradictions(problem, truth, {"one": honest, "other": honest}) == []
    too_close = replace(honest, distance=honest.distance * 0.999, lower_bound=0.0)
    assert "closer than the closest" in contradictions(problem, truth, {"one": too_close})[0]
    too_sure = replace(honest, lower_bound=honest.distance * 1.001, distance=honest.distance * 1.002)
    assert "above the truth" in contradictions(problem, truth, {"one": too_sure})[0]
    none = NoRegion(
        Status.NONE_EXISTS, "a lie", problem.space, problem.factual, problem.target, problem.room, problem.distance,
        math.inf, "by hand", 0.0,
    )  # fmt: skip
    found = contradictions(problem, Truth(math.inf, 1.0), {"one": honest, "other": none})
    assert any("lower bound of other" in word for word in found)
    wrong_class = replace(problem, target=replace(problem.target, label=1 - problem.target.label))
    assert any("promised" in word for word in contradictions(wrong_class, truth, {"one": honest}))


def _line(method: str, distance: float | None, bound: float | None, status: str = "OPTIMAL", false: int = 0) -> dict:  # type: ignore[type-arg]
    place = {"data": "d", "model": "m", "norm": "linf", "row": 0, "method": method}
    return place | {
        "status": status, "distance": distance, "lower_bound": bound, "seconds": 0.1, "false_points": false,
    }  # fmt: skip


def test_the_control_compares_bounds_with_distances() -> None:
    fine = [_line("auto", 1.0, 1.0), _line("HiGHS", 1.2, 0.9, "CERTIFIED"), _line("SCIP", None, 0.5, "UNKNOWN")]
    assert contradictions_of_lines(fine) == []
    assert len(contradictions_of_lines([_line("auto", 1.0, 1.0), _line("HiGHS", 1.2, 1.1, "CERTIFIED")])) == 1
    assert len(contradictions_of_lines([_line("auto", 1.0, 1.0), _line("HiGHS", None, None, "NONE_EXISTS")])) == 1
    assert len(contradictions_of_lines([_line("auto", 1.0, 1.0, false=2)])) == 1


def test_seconds_of_every_round_in_order() -> None:
    counters = {"rounds": 11.0, "master_seconds": 6.0, **{f"master_seconds_{i}": float(i) for i in range(1, 12)}}
    assert per_round(counters, "master") == [float(i) for i in range(1, 12)]
    assert per_round(counters, "adversary") == []


def test_a_longer_limit_asks_again_only_what_the_shorter_left_open() -> None:
    assert not settled(None, 1.0)
    assert settled(_line("SCIP", 1.0, 1.0) | {"limit": 10.0}, 100.0)
    assert not settled(_line("SCIP", 1.0, 0.5, "CERTIFIED") | {"limit": 10.0}, 100.0)
    assert settled(_line("SCIP", 1.0, 0.5, "CERTIFIED") | {"limit": 100.0}, 100.0)
