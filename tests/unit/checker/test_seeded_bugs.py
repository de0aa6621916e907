"""Bugs of the search that make it claim what is false do not get a proof past the checker."""

from __future__ import annotations

import pytest

from tests.support.search_mutants import MUTANTS, ROOT, Mutant, run, trial, truths


def test_there_are_thirty_bugs_and_each_is_one() -> None:
    assert len(MUTANTS) == len(set(MUTANTS)) == 30
    for mutant in MUTANTS:
        assert mutant.old != mutant.new
        assert (ROOT / "src" / mutant.file).read_text(encoding="utf-8").count(mutant.old) >= 1, mutant


def test_without_a_bug_nothing_is_wrong() -> None:
    found = trial(truths(6))
    assert found == {"asked": 6, "failed": 0, "wrong": 0, "no proof": 0, "refused": 0, "confirmed": 0}


def test_a_bug_that_prunes_everything_is_noticed() -> None:
    """One of them in the process itself: a bound that is never asked leaves nothing to prove with."""
    found = run(MUTANTS[19], truths(4))
    assert found["wrong"] > 0
    assert found["confirmed"] == 0


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_no_false_claim_is_confirmed(mutant: Mutant) -> None:
    found = run(mutant, truths(20))
    assert found["confirmed"] == 0
    assert found["wrong"] == found["no proof"] + found["refused"]
