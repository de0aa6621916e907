"""What was asked before changes how soon an answer comes, and never the answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from elbowroom import Ball, Box, Diamond, Explainer
from elbowroom.models import Model
from elbowroom.problem import Space
from tests.support.same import Asked, answer, models, questions

FAMILIES = (
    "linear", "tree", "random forest", "boosting", "histogram boosting", "network", "deep network", "oblique trees",
)  # fmt: skip


@pytest.fixture(scope="module")
def known() -> dict[str, tuple[Model, Space]]:
    return models()


@pytest.fixture(scope="module")
def asked(known: dict[str, tuple[Model, Space]]) -> list[Asked]:
    return list(questions(known, 150))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_used_explainer_answers_as_a_fresh_one(
    known: dict[str, tuple[Model, Space]], asked: list[Asked], family: str
) -> None:
    used, mine = Explainer(*known[family]), [question for question in asked if question.family == family]
    assert len(mine) >= 5
    for question in mine:
        assert answer(used, question) == answer(Explainer(*known[family]), question), question


@pytest.mark.parametrize("room", [Box(0.05), Ball(0.08), Diamond(0.1)], ids=lambda room: type(room).__name__)
def test_radii_and_targets_in_between_change_nothing(known: dict[str, tuple[Model, Space]], room: Box | Ball) -> None:
    """The row asked about is the same all the time: what was learned about it would be of most use to it."""
    for family in ("random forest", "boosting"):
        model, space = known[family]
        used, row = Explainer(model, space), np.array([0.3, -0.4, 0.2, 0.1, 1.0, 0.0, 1.0, 0.0])
        target = int(np.argmin(model.scores(row[None])[0])) if len(model.info.classes) > 2 else None
        for distance in ("l1", "linf"):
            fresh = Explainer(model, space).explain(row, room, target, distance)
            for other in (Box(0.02), Ball(0.05), Diamond(0.05), Ball(0.1)):
                used.explain(row, other, target, distance)
                used.explain(row, other, 1, "l2")
            assert used.explain(row, room, target, distance).to_json(timings=False) == fresh.to_json(timings=False)


def test_several_threads_at_once_get_the_same(known: dict[str, tuple[Model, Space]], asked: list[Asked]) -> None:
    mine = [q for q in asked if q.family in ("random forest", "boosting") and q.kind == "explain"][:12]
    shared = {family: Explainer(*known[family]) for family in ("random forest", "boosting")}
    alone = [answer(Explainer(*known[q.family]), q) for q in mine]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda q: answer(shared[q.family], q), mine))
    assert together == alone
