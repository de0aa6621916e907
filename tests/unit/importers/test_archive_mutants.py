"""Damaged .cbm, .skops and .pt files: a clear error or a model that replays; never a crash, a hang or a traceback."""

from __future__ import annotations

import pytest

from tests.support.archive_mutants import run

NEEDS = {"cbm": "catboost", "skops": "skops", "pt": "torch"}
FEW = {"cbm": 60, "skops": 60, "pt": 200}


def _check(form: str, count: int, seconds: float) -> None:
    pytest.importorskip(NEEDS[form])
    counted, bad = run(form, count, seconds)
    assert not bad, bad[:5]
    assert counted["refused"] + counted["replayed"] == count
    if form == "pt":  # refused whatever they hold
        assert not counted["replayed"]
    elif count >= 100:
        assert counted["refused"] > count // 4 and counted["replayed"] > 0


@pytest.mark.parametrize("form", FEW)
def test_damaged_files_are_refused_or_replay(form: str) -> None:
    _check(form, FEW[form], 280)


@pytest.mark.long
@pytest.mark.timeout(12_000)
@pytest.mark.parametrize("form", FEW)
def test_five_thousand_damaged_files(form: str) -> None:
    _check(form, 5_000, 11_900)
