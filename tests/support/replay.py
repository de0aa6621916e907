"""Real calls of every kernel, recorded once and repeated with kernels that were compiled in other ways.

    python -m tests.support.replay record CALLS                       runs questions without the compiler and notes calls
    python -m tests.support.replay repeat RESULTS CALLS [--ordinary]  repeats them; --ordinary: compiled as numba always does
    python -m tests.support.replay answers RESULTS [--ordinary]       answers all golden questions

A recorded call is the pickle of its arguments. The result of a call is everything it leaves behind: what it returned and
every array that it was given, to the bit. Calls number 1, 2, 4, 8, ... of each kernel are noted, the states of a search
early and late, and every call that is the first to reach some inner kernel.
"""

from __future__ import annotations

import argparse
import logging
import os
import pickle
import struct
from collections.abc import Callable, Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

REDUCED = (  # names of golden questions that together run every kernel, in seconds
    "tree, linf, 0", "tree, l2, 0", "tree, l1, 0", "ensemble, linf, 1", "ensemble, l2, 1", "ensemble, l1, 2",
    "oblique, linf, 0", "ReLU, linf, 0", "ReLU, l2, 0", "ReLU, l1, 0",
    *(f"small box {number}" for number in range(15)), *(f"small round room {number}" for number in range(15)),
    "network (12,), Box", "network (12,), Ball",
)  # fmt: skip
Calls = dict[str, list[bytes]]


# ---- recording ---------------------------------------------------------------------------------------------------------
def record() -> tuple[Calls, dict[str, list[object]], set[str]]:
    """Calls of every kernel, what plain Python made of them, and kernels of all kinds that were never called."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    from elbowroom.kernels import kernel as decorators

    calls: Calls = {}
    results: dict[str, list[object]] = {}
    counts: dict[str, int] = {}
    never: set[str] = set()
    plain = decorators.kernel

    def count(name: str) -> int:
        counts[name] += 1
        never.discard(name)
        return counts[name]

    def noted(function: Any) -> Any:
        name, run = _name(function), plain(function)
        calls[name], results[name], counts[name] = [], [], 0
        never.add(name)

        def call(*arguments: Any) -> Any:
            number, missing = count(name), len(never)
            power = number & (number - 1) == 0
            before = pickle.dumps(arguments) if power or missing else b""
            answer = run(*arguments)
            if power or len(never) < missing:
                given = pickle.loads(before)
                calls[name].append(before)
                results[name].append(bits((run(*given), given)))
            return answer

        return call

    def counted(function: Any) -> Any:
        name = _name(function)
        counts[name] = 0
        never.add(name)

        def call(*arguments: Any, **named: Any) -> Any:
            count(name)
            return function(*arguments, **named)

        return call

    decorators.kernel, decorators.inner_kernel, decorators.inlined = noted, counted, counted  # type: ignore[assignment]
    _work()
    return calls, results, never


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}:{function.__qualname__}"


class _NoFaults(logging.Handler):
    """A search that fails ends with the best answer so far and a line in the log: not here."""

    def emit(self, record: logging.LogRecord) -> None:
        raise AssertionError(record.getMessage()) from record.exc_info[1] if record.exc_info else None


def _work() -> None:
    """What the kernels are for: golden questions, the chance of staying inside, and verdicts on networks that are not
    plain at first sight."""
    logging.getLogger("elbowroom").addHandler(_NoFaults())
    from elbowroom import Ball, Box, Explainer, Feature, Space
    from tests.golden import questions as golden
    from tests.support.round_questions import random_round_question
    from tests.support.small_models import random_network, random_trees

    for question in golden.questions():
        if question.name in REDUCED:
            golden._ask(Explainer(question.model, question.space), question)
    without_room = golden._of("a dimension without room", random_round_question(np.random.default_rng([17, 48])))
    golden._ask(Explainer(without_room.model, without_room.space), without_room)
    for number in range(3):
        rng = np.random.default_rng([31, number])
        network, x = Explainer(random_network(rng, (4, 8 + number))), rng.normal(size=4)
        for room in (Box(0.3), Box(0.6), Ball(0.4), Ball(0.8)):
            network.certify(x, room)
    rng = np.random.default_rng([37, 35, 2])
    cuts = [np.round(rng.normal(0.0, 1.2, 8), 3) for _ in range(5)]
    space = Space(tuple(Feature(f"x{f}", "numeric", -3.0, 3.0) for f in range(5)))
    forest = Explainer(random_trees(rng, 5, 35, 3, cuts, exact=False, base=-3.5), space)
    x = rng.uniform(-2.0, 2.0, 5)
    assert forest.explain(x, Ball(0.3))
    forest.probability_kept(x, 0.3, tolerance=0.01)
    _large_models()
    _deep_networks()
    _parts_of_the_judge()
    _splits_by_category()


def _deep_networks() -> None:
    """The judge over open neurons and the bounds on simplices, in all rooms, with limits and without."""
    from elbowroom import Ball, Box, Diamond, Explainer, Feature, Space
    from tests.support.small_models import random_network

    for number in range(3):
        rng = np.random.default_rng([43, number])
        network, x = random_network(rng, (3, 6, 6)), rng.normal(size=3)
        limits = Space(tuple(Feature(f"x{f}", lower=float(x[f]) - 0.7, upper=float(x[f]) + 1.5) for f in range(3)))
        for explainer in (Explainer(network), Explainer(network, limits)):
            for room in (Box(0.4), Ball(0.5), Diamond(0.9)):
                explainer.certify(x, room)
            explainer.explain(x, Box(0.05), time_limit=2.0)


def _parts_of_the_judge() -> None:
    """Kernels of the judge for networks that only hard rooms need."""
    from elbowroom.certify.compact_kernels import SCRATCH_ROWS, climb
    from elbowroom.problem import Shape
    from tests.unit.certify import test_corners, test_dual_ascent
    from tests.unit.certify.test_compact import root, setting

    for seed in range(6):
        _, inputs, reduced = setting(seed, (3, 5, 5), Shape.DIAMOND)
        if reduced is not None and reduced.net.size:
            climb(
                reduced.net,
                root(reduced),
                np.zeros((SCRATCH_ROWS, max(reduced.net.size, inputs.lower.size))),
                0,
                8,
                0.3,
            )
    test_dual_ascent.test_the_climb_is_sound_and_often_better()
    test_corners.test_a_concave_function_is_decided_whatever_the_multipliers(0)


def _large_models() -> None:
    """Every move of the search for first regions and of the bounds by shares, on small models."""
    from elbowroom.kernels.warm import PATIENCE
    from elbowroom.models import TreeEnsemble
    from elbowroom.search.contract import Clock
    from elbowroom.search.trees.first.asked import asked_of
    from elbowroom.search.trees.first.branch import Branch
    from elbowroom.search.trees.first.collapse import Collapse
    from elbowroom.search.trees.first.rounds import Rounds
    from elbowroom.search.trees.first.split import Split
    from elbowroom.search.trees.first.split_kernels import sum_up_shares
    from elbowroom.search.trees.large import Standing
    from tests.support.referee import Referee
    from tests.support.small_questions import hard_question, random_question

    questions = [random_question(np.random.default_rng([41, number])) for number in range(30)]
    for problem in [*questions, hard_question(0), hard_question(1, radius=0.05)]:
        assert isinstance(problem.model, TreeEnsemble)
        standing = Standing.of(problem)
        asked = asked_of(problem, standing.forest)
        if asked is None:
            continue
        rounds = Rounds(problem, standing.forest, asked, Referee(problem), Clock(PATIENCE), 0)
        rounds.first()
        rounds.go_on(20_000)
        rounds.rehearse()
        small = Collapse(problem.model, standing.forest, asked).below(1.0)
        if (small.model.feature >= 0).any():
            split = Split(standing.forest, asked, small, standing.margins, 0, asked.home, 1.0)
            split.sweep(Clock(PATIENCE))
            split.windows(Clock(PATIENCE))
            sum_up_shares(split.shares)
            Branch(split, lambda first, last: None, 1).run(lambda: 1.0, Clock(PATIENCE), lambda bound: None, 20_000.0)


def _splits_by_category() -> None:
    """A verdict on a region of a model that splits by category."""
    from elbowroom import Box, Explainer
    from tests.properties.test_sets import space
    from tests.unit.models.test_sets import random_ensemble

    model = random_ensemble(0)
    row = np.zeros(model.info.n_features)
    names = space(model.info.names)
    for members in names.members:
        row[members[0]] = 1.0
    Explainer(model, names).certify(row, Box(0.3))


# ---- repeating ---------------------------------------------------------------------------------------------------------
def repeat(calls: Calls) -> dict[str, list[object]]:
    """What kernels make of the same calls."""
    results: dict[str, list[object]] = {}
    for name, recorded in calls.items():
        module, function = name.split(":")
        compiled = getattr(import_module(module), function)
        results[name] = []
        for call in recorded:
            given = pickle.loads(call)
            results[name].append(bits((compiled(*given), given)))
    return results


def bits(value: Any) -> object:
    """Everything in a value, to the bit, whatever kind of number it is wrapped in."""
    from elbowroom.kernels.bundle import Bundle

    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, Bundle):
        return [bits(getattr(value, part.name)) for part in fields(value)]
    if isinstance(value, tuple):
        return [bits(part) for part in value]
    return None if value is None else struct.pack("<d", float(value))


def differences(a: dict[str, list[object]], b: dict[str, list[object]]) -> Iterator[str]:
    """Kernels whose results differ."""
    for name in sorted(a.keys() | b.keys()):
        if a.get(name) != b.get(name):
            yield name


def main() -> None:
    parser = argparse.ArgumentParser(description="calls of kernels, recorded and repeated")
    parser.add_argument("what", choices=["record", "repeat", "answers"])
    parser.add_argument("results", type=Path)
    parser.add_argument("calls", nargs="?", type=Path)
    parser.add_argument("--ordinary", action="store_true")
    given = parser.parse_args()
    if given.ordinary:
        from elbowroom.kernels import lean

        lean.TRIED = frozenset()  # type: ignore[misc]
    found: object
    if given.what == "record":
        found = record()
    elif given.what == "repeat":
        found = repeat(pickle.loads(given.calls.read_bytes())[0])
    else:
        from tests.golden import questions

        found = questions.answers()
    given.results.write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main()
