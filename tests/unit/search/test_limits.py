"""Limits hold: in numbers of looks at the clock and of steps, never in seconds."""

from __future__ import annotations

import gc
import pickle
import threading
import time
import weakref
from dataclasses import fields

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_info

from elbowroom import Ball, Box, Diamond, Explainer, NoRegion, Status, Target
from elbowroom.kernels.alarm import alarm
from elbowroom.kernels.threads import one_thread
from elbowroom.models import TreeEnsemble
from elbowroom.models.margins import tree_margins
from elbowroom.problem import RecourseProblem
from elbowroom.search.cases import CaseEngine
from elbowroom.search.contract import Clock
from elbowroom.search.trees.boxes.calls import BoxKernels
from elbowroom.search.trees.cells import build
from elbowroom.search.trees.cells.build import Part, build_ensemble, building
from elbowroom.search.trees.cells.dimensions import Dimensions
from elbowroom.search.trees.cells.gradual import GradualEnsemble
from elbowroom.search.trees.engine import MOST_TARGETS, TreeEngine
from elbowroom.search.trees.heap import Nodes, push
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.layout import Layout, lay_out
from elbowroom.search.trees.stop import STOP


class Counting(Clock):
    """A clock whose time is over after a number of looks."""

    def __init__(self, looks: int) -> None:
        super().__init__(3600.0)
        self.looks, self.seen = looks, 0

    @property
    def remaining(self) -> float:
        self.seen += 1
        return float(self.looks - self.seen)


@pytest.fixture(scope="module")
def forest() -> tuple[Explainer, np.ndarray]:
    X, y = make_classification(300, 6, n_informative=4, random_state=1)
    return Explainer(RandomForestClassifier(12, random_state=0).fit(X, y)), X


def parts(explainer: Explainer, x: np.ndarray) -> tuple[RecourseProblem, TreeMemory, Layout]:
    problem = RecourseProblem.ask(explainer.model, explainer.space, x, Box(0.02))
    memory = TreeMemory.of(problem)
    layout = lay_out(problem, memory.dimensions)
    assert isinstance(layout, Layout)
    return problem, memory, layout


def test_preparation_pauses_after_every_block_and_goes_on_later(
    forest: tuple[Explainer, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look at the clock is followed by one block of work at most; pauses do not change what is made."""
    explainer, _ = forest
    model, space = explainer.model, explainer.space
    assert isinstance(model, TreeEnsemble)
    dimensions = Dimensions.of(model, space)
    margins = tree_margins(model, 1)
    at_once = build_ensemble(model, space, 1, None, dimensions, 4096)
    monkeypatch.setattr(build, "BLOCK", 64)
    steps = sum(1 for _ in building([Part(model, margins)], space, dimensions, 4096))
    assert steps > 100  # far more blocks than leaves / 64: all dimensions and tables pause
    begun: list[int] = []

    def begin():  # type: ignore[no-untyped-def]
        begun.append(1)
        return building([Part(model, margins)], space, dimensions, 4096)

    gradual, calls = GradualEnsemble(begin), 1
    while not gradual.ready(clock := Counting(11)):
        calls += 1
        assert clock.seen == 11  # ten blocks, then the time is over and nothing more is done
    assert begun == [1]
    assert calls == steps // 10 + 1
    for part in fields(at_once):
        np.testing.assert_array_equal(getattr(gradual.ensemble, part.name), getattr(at_once, part.name))


def test_preparation_that_fails_or_travels_begins_again(forest: tuple[Explainer, np.ndarray]) -> None:
    explainer, x = forest
    _, memory, _ = parts(explainer, x[0])
    assert not memory.ready(Counting(3))
    copy = pickle.loads(pickle.dumps(memory))
    assert copy.ready(Clock(3600.0)) and memory.ready(Clock(3600.0))
    np.testing.assert_array_equal(copy.ensemble.at_least, memory.ensemble.at_least)
    broken = [True]

    def begin():  # type: ignore[no-untyped-def]
        yield
        if broken.pop() if broken else False:
            raise KeyboardInterrupt
        return memory.ensemble

    gradual = GradualEnsemble(begin)
    with pytest.raises(KeyboardInterrupt):
        gradual.ready(Clock(3600.0))
    assert gradual.ready(Clock(3600.0))


@pytest.mark.parametrize("room", [Box(0.02), Ball(0.05), Diamond(0.05)])
def test_time_over_while_preparing_is_said_in_plain_words(forest: tuple[Explainer, np.ndarray], room: Box) -> None:
    explainer, x = forest
    answer = Explainer(explainer.model).explain(x[0], room, time_limit=0.0)
    assert isinstance(answer, NoRegion)
    assert answer.status is Status.UNKNOWN
    assert answer.lower_bound == 0.0
    assert "while the model was being prepared" in answer.reason


def test_kernels_give_up_once_the_time_is_over(forest: tuple[Explainer, np.ndarray]) -> None:
    """With the flag up: no node is taken, no step is climbed, no room is called good, and shrinking moves nothing."""
    explainer, x = forest
    problem, memory, layout = parts(explainer, x[0])
    kernels = BoxKernels(problem, Clock(3600.0), 0, memory, layout)
    kernels.model.ended[0] = 1
    nodes = Nodes.of(64, kernels.home.size, kernels.kind)
    push(nodes, kernels.root_low, kernels.root_high, 0.0, 0)
    assert kernels.expand(nodes, np.inf, 1000) == STOP.ENDED
    assert kernels.nodes == 0 and int(nodes.count[0]) == 1
    start = kernels.root_high.copy()
    moved = start.copy()
    kernels.ascend(moved, np.inf)
    kernels.shrink(moved)
    np.testing.assert_array_equal(moved, start)
    assert int(kernels.workspace.work[0]) <= 8  # sub-ranges looked at, of thousands
    assert memory.ensemble.ended[0] == 0  # the flag is that of one search


def test_the_alarm_rings_at_the_deadline_and_not_after_the_search() -> None:
    flag = np.zeros(1, np.int64)
    with alarm(flag, time.perf_counter() - 1.0):
        while flag[0] == 0:  # at once
            time.sleep(0.001)
    flag[0], before = 0, threading.active_count()
    with alarm(flag, time.perf_counter() + 3600.0):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    assert flag[0] == 0


def test_an_alarm_during_a_search_leaves_an_honest_answer(
    forest: tuple[Explainer, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The flag goes up after a number of calls of the kernel: the bound is that of the last whole call."""
    explainer, x = forest
    proven = explainer.explain(x[3], Box(0.02))
    assert proven.status is Status.OPTIMAL
    whole = BoxKernels.expand
    for calls in (1, 2, 3, 5):
        left = [calls]

        def expand(self: BoxKernels, nodes: Nodes, budget: float, share: int, left: list[int] = left) -> int:
            left[0] -= 1
            self.model.ended[0] = int(left[0] < 0)
            return whole(self, nodes, budget, min(share, 2))

        monkeypatch.setattr(BoxKernels, "expand", expand)
        answer = Explainer(explainer.model).explain(x[3], Box(0.02))
        assert answer.lower_bound <= proven.distance * (1.0 + 1e-9)
        assert answer.status is not Status.NONE_EXISTS


def test_memory_does_not_grow_with_targets(forest: tuple[Explainer, np.ndarray]) -> None:
    explainer, x = forest
    fresh = Explainer(explainer.model)
    for k in range(12):
        fresh.explain(x[0], Box(0.02), target=Target(1, 0.5 + k / 50), time_limit=1.0)
        engine = next(iter(fresh._engines.values()))
        assert isinstance(engine, CaseEngine) and isinstance(engine.engine, TreeEngine)
        assert len(engine.engine._memory) <= MOST_TARGETS


def test_products_of_networks_run_on_one_thread_and_the_number_of_threads_is_set_back() -> None:
    X, y = make_classification(200, 4, n_informative=3, n_redundant=1, random_state=0)
    explainer = Explainer(MLPClassifier((6, 6), max_iter=50, random_state=0).fit(X, y))

    def threads() -> list[int]:
        return [entry["num_threads"] for entry in threadpool_info() if entry["user_api"] == "blas"]

    before, seen = threads(), []
    with one_thread(), one_thread():
        assert set(threads()) <= {1}
    assert threads() == before
    explainer.explain(X[0], Box(0.01), time_limit=5.0, on_progress=lambda step: seen.append(set(threads()) <= {1}))
    assert seen and all(seen[1:])
    assert threads() == before


def test_a_memory_is_gone_with_its_last_user(forest: tuple[Explainer, np.ndarray]) -> None:
    """Not only when garbage is collected: until then large forests would pile up, one per target."""
    explainer, X = forest
    problem = RecourseProblem.ask(explainer.model, explainer.space, X[0], Box(0.02))
    gc.disable()
    try:
        for clock in (Counting(3), Clock(60.0)):  # given up half-way, and made
            memory = TreeMemory.of(problem, hopeful=True)
            memory.ready(clock)
            gone = weakref.ref(memory)
            del memory
            assert gone() is None
    finally:
        gc.enable()
