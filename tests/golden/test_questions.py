"""The golden questions are answered as they always were."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.questions import answers, questions, stored, surroundings


@pytest.fixture(scope="module")
def now() -> dict[str, dict[str, Any]]:
    return answers()


def test_there_are_a_hundred_and_all_kinds_of_them() -> None:
    asked = list(questions())
    assert len({q.name for q in asked}) == len(asked) >= 100
    assert {q.distance for q in asked} == {"l1", "l2", "linf"}
    assert {type(q.model).__name__ for q in asked} == {"LinearModel", "TreeEnsemble", "ObliqueEnsemble", "ReluNetwork"}
    statuses = [entry["status"] for entry in stored()["answers"].values()]
    assert set(statuses) >= {"OPTIMAL", "NONE_EXISTS"}
    assert statuses.count("OPTIMAL") >= 80


def test_statuses(now: dict[str, dict[str, Any]]) -> None:
    expected = stored()["answers"]
    assert {name: e["status"] for name, e in now.items()} == {name: e["status"] for name, e in expected.items()}


def test_answers(now: dict[str, dict[str, Any]]) -> None:
    """To the bit where the surroundings are those of the stored answers, else as far as another solver may differ."""
    document = stored()
    if document["made with"] == surroundings():
        assert now == document["answers"]
        return
    for name, expected in document["answers"].items():
        for key in ("lower_bound", "distance"):
            if key in expected:
                assert _number(now[name][key]) == pytest.approx(_number(expected[key]), rel=2e-4, abs=1e-9), name


def _number(text: str) -> float:
    return float(text) if "inf" in text else float.fromhex(text)
