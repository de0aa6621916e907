"""What the engine for trees keeps from one question to the next, and how much."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from elbowroom import Box, Explainer, Target
from elbowroom.explainer.method import Method
from elbowroom.models.tiny import two_stumps
from elbowroom.search.trees.engine import MOST_TARGETS, TreeEngine


def test_memory_does_not_grow_with_the_number_of_targets() -> None:
    explainer = Explainer(two_stumps())
    for k in range(12):
        explainer.explain([0.0, 0.0], Box(0.1), target=Target(1, 0.5 + k / 100))
    engine = explainer._engines[Method.AUTO, False].engine
    assert isinstance(engine, TreeEngine)
    assert [key[1] for key in engine._memory] == [0.5 + k / 100 for k in range(12 - MOST_TARGETS, 12)]
    kept = list(engine._memory.values())
    explainer.explain([0.0, 0.0], Box(0.1), target=Target(1, 0.5 + (12 - MOST_TARGETS) / 100))
    assert list(engine._memory.values()) == [*kept[1:], kept[0]]  # used again, so it is the newest


def test_threads_with_many_targets_do_not_disturb_each_other() -> None:
    explainer = Explainer(two_stumps())
    targets = [Target(1, 0.5 + k / 100) for k in range(12)]

    def ask(k: int) -> str:
        return explainer.explain([0.0, 0.0], Box(0.1), target=targets[k % 12]).to_json(timings=False)

    alone = [ask(k) for k in range(12)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(96))) == 8 * alone
