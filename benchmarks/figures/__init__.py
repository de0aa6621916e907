"""The paper's figures. Each module has ``compute() -> content`` (slow, stored as JSON) and ``draw(content) -> Figure``.

`FIGURES` is the list; ``python -m benchmarks figures --only NAME`` computes, ``python -m benchmarks report`` draws from
the stored JSON alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.record import RESULTS, write


@dataclass(frozen=True)
class Entry:
    name: str  # of the module and the pictures
    title: str
    caption: str
    source: str = ""  # the result that another command stores; empty: figures/NAME, stored by ``compute``

    @property
    def module(self) -> Any:
        return import_module(f"benchmarks.figures.{self.name}")

    @property
    def result(self) -> str:
        return self.source or f"figures/{self.name}"


FIGURES = [
    Entry(
        "convergence",
        "Convergence of Algorithm 1",
        "Diabetes, boxes, Algorithm 1 on SCIP (the network has 50 neurons, the paper's has 100). The distance of the "
        "master's answers (solid) never falls; the certified radius of these answers (dashed) goes up and down until it "
        "reaches the wanted one. The titles give the seconds of the algorithm and of the exact engine for the same question.",
    ),
    Entry(
        "times",
        "Master and adversary",
        "Diabetes, GBM with 100 trees, box of radius 0.01, Algorithm 1 on HiGHS. Left: total seconds of the master "
        "and the adversary, per instance. Right: seconds per iteration of the two longest runs. The master grows with "
        "every scenario, the adversary does not.",
    ),
    Entry(
        "overfitting",
        "Overfitted trees need more iterations",
        "Iris (sepal length and width, versicolor against virginica), trees of depth 3 and 10 on the same factual. Every "
        "box is the room around an iterate of Algorithm 1; the last one is certified. Tinted: the tree still says versicolor.",
    ),
    Entry(
        "heuristic",
        "One leaf against exact",
        "Diabetes, 20 instances. The paper's heuristic keeps the whole box inside one leaf (or one joint cell); the "
        "exact answer may cover several. Both are certified. Means over the instances where both found a region.",
        source="heuristic",
    ),
    Entry(
        "pareto",
        "Distance and time against the radius",
        "Diabetes, decision tree of depth 10, 20 instances, boxes: mean distance (the Pareto front) and mean time of a "
        "fresh solve, with standard errors. Every point is proven optimal.",
    ),
    Entry(
        "lipschitz",
        "The Lipschitz stand-in",
        "A tree on one feature (iris, sepal width): its score h jumps, the stand-in is continuous, equals the threshold "
        "on good leaves and falls with the slack inside bad ones.",
    ),
    Entry(
        "leaves",
        "Why overlapping leaves matter",
        "The same tree, factual and box: with the whole box in one leaf (left) the answer is farther away than the "
        "optimal one, which covers several leaves of the wanted class (right). Lines: leaves; tinted: the unwanted class.",
    ),
    Entry(
        "growth",
        "How large a forest may be",
        "Forests of 100 trees, depth 10, 20 columns and two classes; in each column of pictures one of these grows. Boxes of 0.02, "
        "one row each, one thread. Above: seconds until the first certified region. Below: the gap after "
        "ten seconds.",
    ),
]  # fmt: skip


def run(only: Iterable[str] | None = None) -> None:
    """Compute the content of the figures and store it."""
    own = [entry for entry in FIGURES if not entry.source]
    unknown = set(only or ()) - {entry.name for entry in own}
    if unknown:
        raise SystemExit(f"--only {sorted(unknown)}: unknown; use {[entry.name for entry in own]}")
    for entry in (entry for entry in own if only is None or entry.name in set(only)):
        print(f"{entry.name} ...", flush=True)
        print(f"written: figures/{write(entry.name, entry.module.compute(), stored(entry)).name}")


def stored(entry: Entry) -> Path:
    return RESULTS / f"{entry.result}.json"
