"""The chance that a slipped centre keeps its class, for trees, forests and boosting.

The cuts divide every column that slips into cells; a range of cells has the product of its columns' probabilities (see
`slips`). Best-first over ranges, the most likely first: where the wanted class wins everywhere, the mass is added to
what is proven kept; where some rival wins everywhere, to what is proven lost; the rest is split. The truth lies between
the mass proven kept and one minus the mass proven lost, at every moment. With one tree the ranges end at its leaves; with
few cells everything is decided and the sum is exact.

**A box of centres.** The chance of an interval is a quasiconcave function of the centre (of a window that slides over a
unimodal law), also where values are clipped or whole: over all centres between two it is smallest at one of them. So with
two opposite corners of the box, ``slip`` and ``far``, and the smaller chance in every column, the mass proven lost is lost
by every centre of the box.

What is kept reaches the strict margins, what is lost misses the hopeful ones (see `models.rounding`), so that nothing is
counted on either side that the model's own arithmetic might decide otherwise.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from elbowroom.certify.kept_kernels import (
    BAD,
    BEYOND,
    DONE,
    FULL,
    GOOD,
    LEAF,
    LEFT,
    LEFT_OPEN,
    OPEN,
    RANGES,
    RIGHT,
    USED,
    Forest,
    Ranges,
    Tally,
    explore,
)
from elbowroom.certify.slips import Slip
from elbowroom.kernels.warm import without_collection
from elbowroom.models import TreeEnsemble
from elbowroom.models.margins import Need, TreeMargins, tree_margins
from elbowroom.models.tiny import two_stumps
from elbowroom.numerics import EPS, Floats, Ints

SHARE = 2_000_000  # tree nodes between two looks at the clock
POOL_BYTES = 512 * 2**20
_FIRST_RANGES = 1024
CAUTION = 1e-10  # an early stop outweighs the rounding of sums of a hundred thousand masses


@dataclass(frozen=True, eq=False)
class Masses:
    """What is proven so far: probabilities of ranges, how far their sums may be off, whether nothing is open, and what
    keeps the rest from being decided."""

    good: float
    bad: float
    error: float
    decided: bool
    ranges: int
    why: str


@dataclass(frozen=True)
class Stop:
    """When to stop early: when ``enough`` is proven kept, or ``lost`` is proven lost, or after so many ``shares`` of work."""

    enough: float = BEYOND
    lost: float = BEYOND
    shares: float = math.inf


def kept_trees(
    model: TreeEnsemble,
    target: int,
    need: Need,
    slip: Slip,
    tolerance: float,
    seconds: float,
    far: Slip | None = None,
    stop: Stop = Stop(),
    margins: TreeMargins | None = None,
) -> Masses:
    """Masses proven kept and lost, until less than ``tolerance`` is open or time runs out; with ``far``, of all centres
    between the two, which have the same categories. ``margins`` are those of all nodes, where they are known already."""
    deadline = time.perf_counter() + seconds
    slips = (slip,) if far is None else (slip, far)
    varies = (slip.sigma > 0.0) & (slip.lower < slip.upper) | (slip.center != slips[-1].center)
    columns = [int(f) for f in np.flatnonzero(varies) if model.cuts[int(f)].size]
    cuts = [np.unique(np.floor(model.cuts[f])) + 0.0 if slip.whole[f] else model.cuts[f] for f in columns]
    start = np.cumsum([0, *(c.size + 2 for c in cuts)], dtype=np.int64)
    pairs = list(zip(columns, cuts, strict=True))
    laws = [np.concatenate([np.zeros(0), *(_steps(each.below(f, c)) for f, c in pairs)]) for each in slips]
    error = sum((c.size + 1) * 2.0 * max(each.error(f, c) for each in slips) for f, c in pairs)
    kind, cell = _nodes(model, slip, columns, cuts)
    margins = margins or tree_margins(model, target, need, of=model.value)
    hopeful = margins.hopeful or margins
    n_active, n_rivals = len(columns), margins.base.size
    forest = Forest(
        roots=model.roots, kind=kind, cell=cell, left=model.left, right=model.right, value=margins.value,
        hopeful=hopeful.value, base=margins.base, win=margins.slack, lose=hopeful.slack, start=start, cdf=laws[0],
        far=laws[-1],
    )  # fmt: skip
    ranges = Ranges(
        low=np.zeros((_FIRST_RANGES, n_active), np.int64),
        high=np.zeros((_FIRST_RANGES, n_active), np.int64),
        mass=np.zeros(_FIRST_RANGES),
        heap=np.zeros(_FIRST_RANGES, np.int64),
    )
    ranges.high[0] = [c.size for c in cuts]
    ranges.mass[0] = 1.0
    tally = Tally(
        counts=np.zeros(3, np.int64),
        totals=np.zeros(4),
        score=np.zeros(laws[0].size),
        stack=np.zeros(model.feature.size + model.n_trees + 2, np.int64),
        least=np.zeros(2 * n_rivals),
        most=np.zeros(2 * n_rivals),
        split=np.zeros(2, np.int64),
    )
    counts, totals = tally.counts, tally.totals
    loading = time.perf_counter()
    ends = stop.enough + error + CAUTION, stop.lost + error + CAUTION
    explore(forest, ranges, tally, SHARE, tolerance, *ends)  # finds nothing open: it only loads compiled code,
    deadline += time.perf_counter() - loading  # whose time does not count
    counts[OPEN] = counts[USED] = 1
    totals[LEFT_OPEN], looked = 1.0, 0
    while True:
        state, looked = explore(forest, ranges, tally, SHARE, tolerance, *ends), looked + 1
        if state == DONE:
            why = "the other slips lead to scores within rounding of a tie"
            break
        if looked >= stop.shares:
            why = "the work that was allowed is done"
            break
        if time.perf_counter() > deadline:
            why = "time ran out"
            break
        if state == FULL:
            if 4 * ranges.low.nbytes > POOL_BYTES:
                why = f"{counts[RANGES]:,} ranges of cells were not enough, and there is no room for more"
                break
            ranges = _doubled(ranges)
    # every mass is a product of n_active differences, every total a sum of at most as many masses as there are ranges
    rounding = EPS * (2 * n_active + 2 + int(counts[USED]))
    decided = 1.0 - float(totals[GOOD] + totals[BAD]) <= error + rounding
    return Masses(float(totals[GOOD]), float(totals[BAD]), error + rounding, decided, int(counts[RANGES]), why)


def prepare_kept() -> None:
    """Load, or compile once, the kernel of this module."""
    origin = np.zeros(2)
    slip = Slip(origin, origin + 0.1, origin - np.inf, origin + np.inf, np.zeros(2, dtype=np.bool_))
    with without_collection():
        kept_trees(two_stumps(), 0, None, slip, tolerance=1.0, seconds=0.0)


def _doubled(ranges: Ranges) -> Ranges:
    """The same ranges, with twice the room."""
    return Ranges(*(np.concatenate([a, np.zeros_like(a)]) for a in (ranges.low, ranges.high, ranges.mass, ranges.heap)))


def _steps(below: Floats) -> Floats:
    """From the chance of a value up to each cut to the chance of a cell before each one: 0, ..., 1, nondecreasing."""
    return np.concatenate([[0.0], np.maximum.accumulate(below), [1.0]])


def _nodes(model: TreeEnsemble, slip: Slip, columns: list[int], cuts: list[Floats]) -> tuple[Ints, Ints]:
    """What every node does: split on an active column after some cell, or go the way of the fixed value."""
    feature = model.feature.astype(np.int64)
    inner = feature >= 0
    by_set = feature >= slip.center.size  # categories do not slip: these splits are decided
    goes_left = slip.center[np.where(by_set | ~inner, 0, feature)] <= model.cut
    if model.sets is not None:
        goes_left[by_set] = model.sets.goes_left(slip.center[None])[0, feature[by_set] - slip.center.size]
    kind = np.where(inner, np.where(goes_left, LEFT, RIGHT), LEAF).astype(np.int64)
    cell = np.zeros(feature.size, np.int64)
    for i, (f, edges) in enumerate(zip(columns, cuts, strict=True)):
        mine = np.flatnonzero(inner & (feature == f) & np.isfinite(model.cut))
        edge = np.floor(model.cut[mine]) if slip.whole[f] else model.cut[mine]
        kind[mine], cell[mine] = i, np.searchsorted(edges, edge)
    kind[inner & np.isposinf(model.cut)], kind[inner & np.isneginf(model.cut)] = LEFT, RIGHT
    return kind, cell
