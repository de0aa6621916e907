"""The linear program that suggests multipliers for one hidden layer over a box (see `network_boxes`).

Nothing that it returns is believed: its multipliers go through proofs that hold for any numbers, its point is evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np

from elbowroom.certify.intervals import Interval
from elbowroom.numerics import Bools, Floats, Ints

_CUT_OFF = 1e-8  # how far above a cut the present point must lie for the cut to be added
_TIGHT = 1e-7
DEAR = 1e3  # times all weights: a unit that a held neuron strays
NOBODY, NO_SIDES = np.zeros(0, dtype=np.int64), np.zeros(0)


def sorted_cuts(a: Floats, z0: Floats, t: Floats) -> Floats:
    """Slopes (in t, 0 <= t <= 1) of the concave envelopes of relu(z0 + a.t) at t, one row per neuron of open sign.

    Start at the corner where z is largest and move inputs to their other end, those nearest to it first, until z would
    become negative: inputs before that keep their slope, the one at which it happens shares, the others have none.
    """
    rows = np.arange(len(a))
    towards = np.where(a >= 0.0, t, 1.0 - t)
    order = np.argsort(towards, axis=1, kind="stable")
    size = np.take_along_axis(np.abs(a), order, axis=1)
    top = z0 + np.maximum(a, 0.0).sum(axis=1)
    left = top[:, None] - np.cumsum(size, axis=1)
    last = np.argmax(left < 0.0, axis=1)
    kept = np.where(np.arange(a.shape[1]) < last[:, None], size, 0.0)
    kept[rows, last] = left[rows, last] + size[rows, last]
    slope = np.zeros_like(a)
    np.put_along_axis(slope, order, kept, axis=1)
    return np.asarray(slope * np.where(a >= 0.0, 1.0, -1.0))


@dataclass(frozen=True, eq=False)
class Suggestion:
    """The value that the program reaches without its constants, a point t, theta of all neurons, per neuron of N the mixed slope
    (in t) of its cuts, and what keeping z on its side is worth per neuron that is held."""

    value: float
    t: Floats
    theta: Floats
    mixed: Floats
    held: Floats


def quiet_solver() -> highspy.Highs:
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in (("output_flag", False), ("threads", 1), ("presolve", "off"), ("solver", "simplex")):
        solver.setOptionValue(option, value)
    return solver


class BoxProgram:
    """min v.y + linear part over 0 <= t <= 1; y >= z, y >= 0 where v > 0 (P), y <= cuts where v < 0 (N); and z >= 0 or z <= 0
    for neurons that are held on the side of a sign."""

    def __init__(
        self, solver: highspy.Highs, z0: Floats, a: Floats, v: Floats, at: Interval, P: Ints, N: Ints, neurons: Ints,
        slopes: Floats, held: Ints = NOBODY, sides: Floats = NO_SIDES,
    ) -> None:  # fmt: skip
        self.solver, self.z0, self.a, self.v, self.P, self.N = solver, z0, a, v, P, N
        n = a.shape[1]
        self.n = n
        sure: Bools = at.low >= 0.0
        cost = np.concatenate([(v * sure) @ a, v[P], v[N]])
        upper = np.concatenate([np.ones(n), np.maximum(at.high[P], 0.0), np.maximum(at.high[N], 0.0)])
        if held.size:  # at a price that pays where any other bound would: then there is a solution, whatever is held
            cost, upper = np.append(cost, DEAR * np.abs(v).sum()), np.append(upper, np.inf)
        rows = np.hstack([-a[P], np.eye(P.size), np.zeros((P.size, N.size))])
        least = np.concatenate([z0[P], -sides * z0[held]])
        if held.size:
            kept = np.hstack(
                [sides[:, None] * a[held], np.zeros((held.size, P.size + N.size)), np.ones((held.size, 1))]
            )
            rows = np.vstack([np.hstack([rows, np.zeros((P.size, 1))]), kept])
        self.cost, self.n_rows = cost, least.size  # before the cuts
        where = np.nonzero(rows)
        none = np.zeros(0, dtype=np.int32)
        self.solver.clearModel()  # then as arrays: an HighsLp is filled number by number
        self.solver.addCols(cost.size, cost, np.zeros(cost.size), upper, 0, none, none, np.zeros(0))
        if least.size:
            self.solver.addRows(
                least.size, least, np.full(least.size, highspy.kHighsInf), where[0].size,
                np.searchsorted(where[0], np.arange(least.size)).astype(np.int32), where[1].astype(np.int32), rows[where],
            )  # fmt: skip
        self.place = np.zeros(v.size, dtype=np.int64)  # of a neuron in N
        self.place[N] = np.arange(N.size)
        self.neurons: Ints = np.zeros(0, dtype=np.int64)
        self.slopes = np.zeros((0, n))
        self.tops = np.zeros(0)
        self.heights = np.zeros(N.size)  # y of N
        self.t = np.full(n, 0.5)
        self._append(neurons, slopes, self._tops(neurons, slopes))

    def _tops(self, neurons: Ints, slopes: Floats) -> Floats:
        """The smallest constants with relu(z) <= top + slope . t on the box."""
        flat = np.maximum(-slopes, 0.0).sum(axis=1)
        return np.asarray(np.maximum(flat, self.z0[neurons] + np.maximum(self.a[neurons] - slopes, 0.0).sum(axis=1)))

    def _append(self, neurons: Ints, slopes: Floats, tops: Floats) -> None:
        if not neurons.size:
            return
        count = neurons.size
        rows = np.zeros((count, self.n + 1))
        rows[:, :-1], rows[:, -1] = -slopes, 1.0
        where = np.nonzero(rows)
        columns = np.where(where[1] < self.n, where[1], self.n + self.P.size + self.place[neurons][where[0]])
        starts = np.searchsorted(where[0], np.arange(count))
        self.solver.addRows(
            count, np.full(count, -highspy.kHighsInf), tops, where[0].size, starts.astype(np.int32),
            columns.astype(np.int32), rows[where],
        )  # fmt: skip
        self.neurons = np.concatenate([self.neurons, neurons])
        self.slopes = np.vstack([self.slopes, slopes])
        self.tops = np.concatenate([self.tops, tops])

    def cut(self, everywhere: bool = False) -> bool:
        """Envelope cuts at the present point, those that cut it off; True if there are any."""
        slopes = sorted_cuts(self.a[self.N], self.z0[self.N], self.t)
        tops = self._tops(self.N, slopes)
        some = self.heights > tops + slopes @ self.t + _CUT_OFF
        if everywhere:
            some[:] = True
        self._append(self.N[some], slopes[some], tops[some])
        return bool(some.any())

    def solve(self) -> Suggestion | None:
        self.solver.run()
        solution = self.solver.getSolution()
        x, dual = np.asarray(solution.col_value), np.asarray(solution.row_dual)
        first = self.n + self.P.size
        if x.size != self.cost.size or dual.size != self.n_rows + self.neurons.size:
            return None
        if not (np.isfinite(x).all() and np.isfinite(dual).all()):
            return None
        self.t = np.clip(x[: self.n], 0.0, 1.0)
        self.heights = x[first : first + self.N.size]
        theta = np.zeros(self.v.size)
        theta[self.P] = np.clip(dual[: self.P.size] / self.v[self.P], 0.0, 1.0)
        held = np.maximum(dual[self.P.size : self.n_rows], 0.0)
        weight = np.maximum(-dual[self.n_rows :], 0.0)
        used = np.flatnonzero(weight)
        places = self.place[self.neurons[used]]
        mixed, total = np.zeros((self.N.size, self.n)), np.bincount(places, weight[used], minlength=self.N.size)
        np.add.at(mixed, places, weight[used, None] * self.slopes[used])
        # a neuron without multipliers stays at its upper limit, a constant: slope 0
        return Suggestion(
            float(self.cost @ x), self.t, theta, mixed / np.maximum(total, -self.v[self.N])[:, None], held
        )

    def tight(self) -> tuple[Ints, Floats]:
        """Cuts that hold with equality at the last point."""
        slack = self.tops + self.slopes @ self.t - self.heights[self.place[self.neurons]]
        keep = slack < _TIGHT
        return self.neurons[keep], self.slopes[keep]
