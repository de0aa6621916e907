"""Balls and diamonds on trees: the half of a proof about closer centres, or an early end."""

from __future__ import annotations

import pytest

from elbowroom import Ball
from elbowroom.problem import RecourseProblem
from elbowroom.proof import rounds
from elbowroom_checker import check
from tests.support.proofs import Proven, proven
from tests.support.small_questions import hard_question


def about_a_ball(seed: int) -> Proven:
    like = hard_question(seed)
    return proven(RecourseProblem.ask(like.model, like.space, like.factual, Ball(0.2), like.target_index, "l1"))


@pytest.mark.parametrize("seed", [3, 9, 10])
def test_some_balls_on_25_trees_have_both_halves(seed: int) -> None:
    found = about_a_ball(seed)
    assert found.proof.missing == ""
    said = check(found.proof.text.encode(), found.model_file)
    assert said.valid and said.bound == found.lower_bound


@pytest.mark.parametrize("seed", [5, 6])
def test_what_closes_nothing_any_more_ends_early(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes that line a curved surface: without an end they would go on to the most steps that are allowed."""
    steps: list[int] = []
    write = rounds._Writer.write

    def counted(writer: rounds._Writer) -> None:
        try:
            write(writer)
        finally:
            steps.append(len(writer.steps))

    monkeypatch.setattr(rounds._Writer, "write", counted)
    found = about_a_ball(seed)
    assert "too many splits" in found.proof.missing
    assert rounds.PATIENCE <= steps[0] < 3 * rounds.PATIENCE < rounds.MOST_STEPS
    assert check(found.proof.text.encode(), found.model_file).valid
