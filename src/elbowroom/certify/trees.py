"""The judge for trees, forests and boosting: exact for boxes, balls and diamonds.

For every rival row the smallest margin over the region is sought depth-first over ranges of cells (see `cells`). For a
range, the sum over trees of the smallest leaf value that meets it bounds the margin from below, the sum of the largest
ones from above:

* lower sum >= slack: every point of the range is good;
* upper sum < slack: every point of the range is bad, and the point nearest to the centre is a counterexample if it lies
  in the shape (decided in rational arithmetic), otherwise none of the range does;
* otherwise the tree with the widest spread of values is resolved: one child per leaf, the smallest value first.

A range, or a leaf within it, whose nearest point to the centre costs more than the budget of the ball or diamond is
left out; the comparison allows enough for rounding that nothing inside is ever left out. At the end of every path each
tree has one leaf, both sums are the same number, and the question is settled.
"""

from __future__ import annotations

import math
import time
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from elbowroom.certify.cells import Cells
from elbowroom.certify.tree_kernels import CROWDED, FINISHED, FOUND, CellArrays, Stack, descend
from elbowroom.kernels.warm import is_loaded, without_collection
from elbowroom.models import TreeEnsemble, TreeMargins
from elbowroom.models.margins import Need, tree_margins
from elbowroom.models.tiny import two_stumps
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import Body, Shape, Target
from elbowroom.problem.shapes import is_round
from elbowroom.result import Certificate, Counterexample, Undecided, Verdict

SHAPES: Final = (Shape.BOX, Shape.BALL, Shape.DIAMOND)
_MOST_TARGETS = 4  # of one model whose margins are remembered
_REMEMBERED: WeakKeyDictionary[TreeEnsemble, dict[tuple[int, Need], TreeMargins]] = WeakKeyDictionary()
MANY_LEAVES: Final = 100_000
_SHARE = 4_000_000  # leaf comparisons between two looks at the clock
COST_ROUNDING: Final = 1e-12  # of each term of a cost; plenty for a few roundings
_TOO_LATE = "the time limit was reached before every cell of the region was judged"
_ASSUMPTIONS = (
    "rows are handed to the model as float64 numbers",
    "the parsed trees are the model's trees: checked by replay when the model was read",
    "leaf values are added in float64, in any order",
)


def _margins(model: TreeEnsemble, target: int, need: Need) -> TreeMargins:
    """Margins depend on the model and the target alone; searches ask for thousands of regions of one model. What is
    remembered does not keep a model alive, and is little."""
    known = _REMEMBERED.setdefault(model, {})
    key = target, need
    margins = known.get(key)
    if margins is None:
        margins = known[key] = tree_margins(model, target, need)
        for old in list(known)[:-_MOST_TARGETS]:
            known.pop(old, None)  # another thread may have done it
    return margins


def prepare_trees() -> None:
    """Load, or compile once, the kernels of this judge."""
    if is_loaded(descend):
        return
    model, origin = two_stumps(), np.zeros(2)
    body = Body(origin, origin - 0.1, origin + 0.1, Shape.BOX, origin + 0.1, np.zeros(2, dtype=np.bool_))
    with without_collection():
        judge_trees(model, Target(0), body, math.inf)


def judge_trees(model: TreeEnsemble, target: Target, body: Body, deadline: float, looks: float = math.inf) -> Verdict:
    """A certificate, a point of the body that is not (safely) of the wanted class, or Undecided after the deadline or that
    many looks for a rival."""
    began = time.perf_counter()
    margins = _margins(model, target.index(model.info), target.need)
    cells = Cells.of(model, body, deadline)
    if cells is None:
        return Undecided(_TOO_LATE, _since(began))
    margin = math.inf
    for rival in range(margins.slack.size):
        value, base, slack = margins.value[:, rival], float(margins.base[rival]), float(margins.slack[rival])
        found = _smallest_margin(cells, body, value, base, slack, deadline, looks)
        if found is None:
            return Undecided("a limit was reached before every cell of the region was judged", _since(began))
        if isinstance(found, np.ndarray):
            return _counterexample(model, margins, found, rival, began)
        margin = min(margin, max(0.0, found + min(slack, 0.0)))  # a slack below 0 only tells exact sums apart
    return Certificate(
        model.fingerprint, target, body, "exact branch and bound over cells", margin, _since(began), _ASSUMPTIONS
    )


def _smallest_margin(
    cells: Cells, body: Body, value: Floats, base: float, slack: float, deadline: float, looks: float
) -> float | Floats | None:
    """A lower bound >= 0 on margin - slack over the body, or a point where it is negative, or None: out of time."""
    if cells.rows.size > MANY_LEAVES and time.perf_counter() > deadline:  # sorting them takes a while
        return None
    order, tree_start = _by_value(cells, value)
    n_leaves, n_active, n_trees = order.size, cells.columns.size, tree_start.size - 1
    # Costs are sums of at most n_active nonnegative terms, each correct to a few roundings.
    limit = 1.0 + COST_ROUNDING * (n_active + 4) if is_round(body.shape) else math.inf
    # One more tree with a single leaf of value 0: resolving it makes the whole region the first range that is judged.
    sorted_value = np.append(value[cells.rows], 0.0)
    arrays = CellArrays(
        start=cells.start,
        cost=cells.cost,
        home=cells.home,
        group_start=cells.group_start,
        group_member=cells.group_member,
        entry_start=np.append(cells.entry_start, cells.entry_start[-1]),
        entry_column=cells.entry_column,
        entry_low=cells.entry_low,
        entry_high=cells.entry_high,
    )
    levels = n_trees + 3
    stack = Stack(
        low=np.zeros((levels, n_active), np.int64),
        high=np.zeros((levels, n_active), np.int64),
        pool=np.zeros(4 * (n_leaves + 1), np.int64),
        begin=np.zeros((levels, n_trees + 2), np.int64),
        branch=np.zeros(levels, np.int64),
        position=np.zeros(levels, np.int64),
        depth=np.zeros(1, np.int64),
        margin=np.full(1, np.inf),
    )
    stack.low[0], stack.high[0] = cells.root_low, cells.root_high
    stack.begin[0] = np.append(tree_start, n_leaves + 1)
    stack.pool[: n_leaves + 1] = np.append(order, n_leaves)
    stack.branch[0], stack.position[0] = n_trees, n_leaves
    while True:
        state = descend(arrays, stack, sorted_value, base, slack, limit, _SHARE)
        if state == FINISHED:
            return float(stack.margin[0])
        if state == FOUND:
            child = int(stack.depth[0]) + 1
            point = cells.nearest_point(body, stack.low[child], stack.high[child])
            if body.contains(point)[0]:
                return point
        elif state == CROWDED:
            stack = stack._replace(pool=np.concatenate([stack.pool, np.zeros_like(stack.pool)]))
        looks -= 1.0
        if looks <= 0.0 or time.perf_counter() > deadline:
            return None


def _by_value(cells: Cells, value: Floats) -> tuple[Ints, Ints]:
    """Leaves sorted by value within each tree."""
    tree = np.repeat(np.arange(cells.tree_start.size - 1), np.diff(cells.tree_start))
    return np.lexsort((value[cells.rows], tree)).astype(np.int64), cells.tree_start


def _counterexample(
    model: TreeEnsemble, margins: TreeMargins, point: Floats, rival: int, began: float
) -> Counterexample:
    reached = model.leaf_order.place[model.apply(point[None])[0]]
    margin = float(margins.base[rival] + margins.value[reached, rival].sum() - margins.slack[rival])
    label = model.info.says(model.scores(point[None]))[0]
    return Counterexample(point, label, margin, _since(began), margins.near_tie(reached))


def _since(began: float) -> float:
    return time.perf_counter() - began
