"""The chance that a slipped centre keeps its class, for ReLU networks: two proven bounds, by cells of independent coordinates.

Over a cell of slipped inputs the margins lie between linear forms (`kept_relaxed`), and the chance that a form is positive in
the cell is bounded in closed form (`kept_pieces`). So, with M the mass of the cell,

    P(in the cell and good) >= M - sum over rivals of (M - P(in the cell and its lower form > 0)),
    P(in the cell and bad)  >= max over rivals of P(in the cell and its upper form < 0).

The cells with the most undecided mass are halved first, across the coordinate on which the relaxed neurons depend most. The
truth lies between the two sums at every moment; what lies outside of all cells counts as undecided.

**A box of centres.** Columns of the centre may take any value in their range: a loose coordinate, at its worst end in every
form. x = slip of c0 + (something between 0 and c - c0), also where values are clipped or whole, because these maps are monotone
and move by no more than the centre does. The bad mass that is found then is lost by every centre of the box.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy import special

from elbowroom.certify.inputs import InputSet
from elbowroom.certify.intervals import evaluation_error, propagate
from elbowroom.certify.kept_axes import Laws, coordinates_of, gradients_near
from elbowroom.certify.kept_linear import Bounds
from elbowroom.certify.kept_pieces import Cells, positive
from elbowroom.certify.kept_relaxed import Forms, Relaxation
from elbowroom.certify.kept_rivals import edge_errors, parted
from elbowroom.certify.slips import PHI_ERROR, Slip
from elbowroom.kernels.threads import one_thread
from elbowroom.models import Affine, ReluNetwork
from elbowroom.models.margins import Need, network_margins
from elbowroom.numerics import EPS, Bools, Floats, Ints
from elbowroom.problem.body import Body
from elbowroom.problem.shapes import Shape

SHARE: Final = 0.1  # of the tolerance, for clipping that is left out; the same for intervals that may not hold
REACHES: Final = (4.0, 8.0)  # standard deviations that cells reach to
LEAST_TOLERANCE: Final = 1e-6  # for the choice of the reach
FAR: Final = 9.0  # standard deviations beyond which nothing slips but for a chance below every rounding
MOST_CELLS: Final = 2**18
MOST_AT_ONCE: Final = 256  # cells that are halved between two looks at the clock
NUMBERS: Final = 4_000_000  # in the largest array
OVERFLOW: Final = "the network's values may overflow where slips lead"


@dataclass
class _Pool:
    """The cells that are open, by their intervals, with what is proven of each."""

    low: Floats  # (cells, coordinates)
    high: Floats
    mass: Floats
    good: Floats
    bad: Floats
    across: Ints  # the coordinate to halve

    @property
    def open(self) -> Floats:
        return self.mass - self.good - self.bad

    def taken(self, which: Bools) -> _Pool:
        return _Pool(*(each[which] for each in self._all))

    def joined(self, other: _Pool) -> _Pool:
        return _Pool(*(np.concatenate(pair) for pair in zip(self._all, other._all, strict=True)))

    @property
    def _all(self) -> tuple[Any, ...]:
        return self.low, self.high, self.mass, self.good, self.bad, self.across


def kept_network(
    model: ReluNetwork,
    target: int,
    need: Need,
    slip: Slip,
    tolerance: float,
    deadline: float,
    wanted: float | None = None,
    shift: Floats | None = None,
    most_cells: int = MOST_CELLS,
) -> Bounds:
    """Bounds on P(good), until they are within the tolerance, or decide whether a ``wanted`` probability is reached, or a limit
    is reached. With ``shift``, (2, columns): ``upper`` holds for every centre that is off by something between the two."""
    with one_thread(), np.errstate(over="ignore", invalid="ignore"):
        search = _Search(
            model, target, need, slip, tolerance, np.zeros((2, slip.center.size)) if shift is None else shift
        )
        if search.relaxation is None:
            return Bounds(0.0, 1.0, False, False, OVERFLOW)
        return search.run(tolerance, deadline, wanted, most_cells, shift is not None)


class _Search:
    """Best first over cells."""

    def __init__(
        self, model: ReluNetwork, target: int, need: Need, slip: Slip, tolerance: float, shift: Floats
    ) -> None:
        margins = network_margins(model, target, need)
        layers = margins.layers
        neurons = sum(layer.bias.size for layer in layers[:-1])
        allowed = SHARE * max(tolerance, LEAST_TOLERANCE)
        self.relaxation: Relaxation | None = None
        needed = _needed(margins.layers, slip, shift) + margins.slack
        if not np.isfinite(needed).all():
            return
        used = [int(f) for f in slip.columns if (layers[0].weight[:, f] != 0.0).any()]
        self.parted = parted(slip, used, allowed)
        normal = self.parted[0]
        reach = -float(special.ndtri(allowed / (2.0 * neurons + 2.0 * len(used) + 2.0)))
        reach = float(np.clip(reach, *REACHES))
        gradients = gradients_near(layers, slip, normal, np.arange(layers[-1].bias.size))
        self.coordinates = coordinates_of(layers[0], gradients, slip, self.parted, reach, shift)
        self.relaxation = Relaxation(self.coordinates, layers, needed, reach)
        self.reach, self.slip = reach, slip
        widest = max(layer.weight.size for layer in layers) + neurons * self.coordinates.low.size
        self.at_once = int(np.clip(NUMBERS // max(widest, 1), 8, MOST_AT_ONCE))

    def run(self, tolerance: float, deadline: float, wanted: float | None, most: int, only_bad: bool) -> Bounds:
        c = self.coordinates
        pool = self._judged(c.low[None].copy(), c.high[None].copy())
        good = bad = lower = lost = 0.0  # of cells that are closed, and the best bounds so far
        count, why = 1, ""
        while True:
            error = self._error(count)
            lower = 0.0 if only_bad else max(lower, good + float(pool.good.sum()) - error)
            lost = max(lost, bad + float(pool.bad.sum()) - error)
            if only_bad and wanted is not None and lost + float(pool.open.sum()) < 1.0 - wanted:
                why = "too little can still be lost"
                break
            if 1.0 - lost - lower <= tolerance or (wanted is not None and (lower >= wanted or 1.0 - lost < wanted)):
                break
            open_ = pool.open
            settled = ~(open_ > 1e-16) | (pool.across < 0)
            good, bad = good + float(pool.good[settled].sum()), bad + float(pool.bad[settled].sum())
            pool = pool.taken(~settled)
            if not pool.mass.size:
                why = "margins are within rounding of a tie, or beyond the reach of the cells"
                break
            if time.perf_counter() > deadline or count >= most:
                why = f"{count:,} cells were not enough" if count >= most else "time ran out"
                break
            chosen = np.zeros(pool.mass.size, dtype=np.bool_)
            at_once = min(self.at_once, max(1, pool.mass.size // 2))
            chosen[np.argpartition(-pool.open, at_once - 1)[:at_once]] = True
            halves = self._halved(pool.taken(chosen))
            count += int(chosen.sum())
            pool = pool.taken(~chosen).joined(halves)
        upper = min(1.0, 1.0 - lost)
        return Bounds(min(lower, upper), upper, False, False, why, count)

    def _error(self, count: int) -> float:
        """What the intervals may miss, clipping that was left out, and the rounding of masses and of their sums."""
        assert self.relaxation is not None
        missed = self.relaxation.doubtful + self.coordinates.lost
        missed += sum(edge_errors(self.slip, f) for f in self.parted[1])
        n = self.slip.center.size
        return missed + 4.0 * (n + 1) * PHI_ERROR + (2.0 * PHI_ERROR + 8.0 * EPS) * (count + 2) * (n + 2)

    def _halved(self, pool: _Pool) -> _Pool:
        low, high = pool.low, pool.high
        rows = np.arange(low.shape[0])
        first_high, second_low, first_low, second_high = high.copy(), low.copy(), low.copy(), high.copy()
        a, b = low[rows, pool.across], high[rows, pool.across]
        laws = self._laws(low, high)
        middle = laws.mean[rows, pool.across]
        for i in np.unique(pool.across):
            mine = pool.across == i
            if self._whole(int(i)):
                at = np.clip(np.floor(middle[mine]), a[mine], b[mine] - 1.0)
                first_high[mine, i], second_low[mine, i] = at, at + 1.0
                continue
            inner = np.maximum(a[mine], -self.reach), np.minimum(b[mine], self.reach)
            at = _cut(*inner, middle[mine], *self._atoms(int(i)), a[mine], b[mine])
            first_high[mine, i] = second_low[mine, i] = at
            if i < self.coordinates.normal:
                first_low[mine, i], second_high[mine, i] = inner
        return self._judged(np.concatenate([first_low, second_low]), np.concatenate([first_high, second_high]))

    def _whole(self, i: int) -> bool:
        c = self.coordinates
        other = i - c.normal
        return 0 <= other < len(self.parted[1]) and bool(self.slip.whole[self.parted[1][other]])

    def _atoms(self, i: int) -> tuple[float, float]:
        axis = self.coordinates.axes[i]
        floor, ceiling = getattr(axis, "floor", -np.inf), getattr(axis, "ceiling", np.inf)
        return float(floor), float(ceiling)

    def _laws(self, low: Floats, high: Floats) -> Laws:
        """Of every coordinate in every cell; loose ones are known by their ends only."""
        each = [axis.laws(low[:, i], high[:, i]) for i, axis in enumerate(self.coordinates.axes)]
        axes = len(each)
        loose = low[:, axes:], high[:, axes:]
        none = np.zeros_like(loose[0])
        tails = Laws(none + 1.0, 0.5 * (loose[0] + loose[1]), 0.5 * (loose[1] - loose[0]), none, *loose)
        return Laws(
            *(
                np.column_stack([*(getattr(one, name) for one in each), getattr(tails, name)])
                for name in ("mass", "mean", "doubt", "variance", "least", "most")
            )
        )

    def _judged(self, low: Floats, high: Floats) -> _Pool:
        c, relaxation = self.coordinates, self.relaxation
        assert relaxation is not None
        laws = self._laws(low, high)
        free = np.isneginf(low) & np.isposinf(high)
        free[:, c.normal :] = False
        smooth = np.zeros_like(free)
        for i in range(len(c.axes)):
            floor, ceiling = self._atoms(i)
            smooth[:, i] = ~free[:, i] & (low[:, i] >= floor) & (high[:, i] <= ceiling) & (not self._whole(i))
        relaxed = relaxation.of(laws.least, laws.most, free)
        cells = Cells(
            laws.mass, laws.mean, laws.doubt, laws.variance,
            np.where(free, 0.0, laws.least), np.where(free, 0.0, laws.most), free, smooth,
        )  # fmt: skip
        mass = laws.mass.prod(axis=1)
        kept, lost = positive(cells, relaxed.above), positive(cells, relaxed.below)
        good = np.clip(mass - np.maximum(mass[:, None] - kept, 0.0).sum(axis=1), 0.0, mass)
        bad = np.clip(lost.max(axis=1), 0.0, mass - good)
        return _Pool(low, high, mass, good, bad, self._across(cells, relaxed.above, relaxed.blame, low, high))

    def _across(self, cells: Cells, forms: Forms, blame: Floats, low: Floats, high: Floats) -> Ints:
        """The coordinate to halve; -1 where nothing is left to be halved."""
        width = np.where(cells.free, 2.0 * self.reach, cells.most - cells.least)
        uneven = np.where(cells.free | cells.smooth, 0.01, 0.5) * width
        worth = blame + np.abs(forms.slope).max(axis=1) * uneven
        axes = len(self.coordinates.axes)
        narrow = np.array([1.0 if self._whole(i) else 1e-7 for i in range(axes)])
        worth[:, axes:] = -1.0
        worth[:, :axes] = np.where(width[:, :axes] >= narrow, worth[:, :axes], -1.0)
        if not worth.shape[1]:
            return np.full(low.shape[0], -1, dtype=np.int64)
        best = np.argmax(worth, axis=1)
        return np.where(worth[np.arange(best.size), best] > 0.0, best, -1)


def _cut(
    inner_low: Floats, inner_high: Floats, mean: Floats, floor: float, ceiling: float, low: Floats, high: Floats
) -> Floats:
    """Where an interval is halved: between its mean and its middle; first where values gather at an end."""
    at = 0.5 * mean + 0.25 * (inner_low + inner_high)
    at = np.where((low < floor) & (floor < high), floor, np.where((low < ceiling) & (ceiling < high), ceiling, at))
    return np.clip(at, inner_low, inner_high)


def _needed(layers: tuple[Affine, ...], slip: Slip, shift: Floats) -> Floats:
    """How far the original's own arithmetic may be off where slips lead."""
    low = np.minimum(np.maximum(slip.center - FAR * slip.sigma, slip.lower), slip.center) + np.minimum(shift[0], 0.0)
    high = np.maximum(np.minimum(slip.center + FAR * slip.sigma, slip.upper), slip.center) + np.maximum(shift[1], 0.0)
    body = Body(slip.center, low, high, Shape.BOX, high - low, np.zeros(low.size, dtype=np.bool_))
    inputs = InputSet.all_of(body)
    intervals = propagate(layers[:-1], inputs, [np.zeros(layer.bias.size) for layer in layers[:-1]])
    if intervals is None:
        return np.full(layers[-1].bias.size, np.inf)
    return evaluation_error(layers, inputs, intervals)
