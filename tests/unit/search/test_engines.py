"""Which engine is asked last."""

from __future__ import annotations

import math

import pytest

from elbowroom import Explainer, Status
from tests.support.plane_questions import Family, plane_question


@pytest.mark.parametrize(("norm", "number"), [("l1", 2), ("l1", 41), ("l2", 9)])
def test_no_region_of_a_network_without_limits_is_proven_at_any_distance(norm: str, number: int) -> None:
    """The network engine alone looks out to a distance of a million; Algorithm 1 ends it in rational arithmetic."""
    problem = plane_question(Family.RELU, norm, number)
    assert not math.isfinite(float(problem.upper.max()))
    answer = Explainer(problem.model, problem.space).explain(
        problem.factual, room=problem.room, target=problem.target, distance=problem.distance
    )
    assert answer.status is Status.NONE_EXISTS
    assert "proven" in answer.reason
