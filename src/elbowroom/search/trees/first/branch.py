"""Branch and bound by shares of the cost: parts of the centres, each with windows, shares and a bound of its own.

The shares of a part hold for all parts of it, so every part begins with those of the part it is from; a few sweeps on what is left of
the trees then raise its bound, and cut its windows. Parts are divided where the leaves that most trees would pick contradict each
other. The part of the smallest bound is next; that smallest bound holds for all centres.

Parts are taken in lots of a fixed size, and what becomes of a lot depends on nothing but its parts and the best cost before it: so the
number of threads (kernels let Python run on) changes neither the answer nor the bound of a search that ends by itself.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from elbowroom.kernels.alarm import alarm
from elbowroom.numerics import Ints
from elbowroom.search.contract import Clock
from elbowroom.search.trees.first.dual import BUDGET, Dual
from elbowroom.search.trees.first.limits import AGAIN, COPIES, LOT, PART_BYTES, PART_SWEEPS, PART_WORK, SHARES_BYTES
from elbowroom.search.trees.first.narrow import choose, narrowed, set_shares, tighten


@dataclass(frozen=True, eq=False)
class Part:
    """Centres in the places first .. last of each column, none of which costs less than ``key``; where it is divided next (a column and
    the last place of the left side; -1: nowhere), and its shares and policies unless they took too much memory."""

    key: float
    first: Ints
    last: Ints
    column: int
    place: int
    mu: float
    lam: npt.NDArray[np.float32] | None
    policy: npt.NDArray[np.int32] | None
    meeting: tuple[Ints, Ints] | None  # cells in which the leaves that all trees would pick meet
    work: int  # entries looked at

    @property
    def nbytes(self) -> int:
        return sum(0 if each is None else each.nbytes for each in (self.lam, self.policy))


class Branch:
    """Parts of one question; ``root`` has the shares of all its centres."""

    def __init__(self, root: Dual, offer: Callable[[Ints, Ints], None], n_jobs: int = 1) -> None:
        """``offer`` is told of cells in which a good centre may be."""
        self._root, self._offer, self._n_jobs = root, offer, n_jobs
        self._parts: list[tuple[float, int, Part]] = []
        self._made = 0
        self._bytes = 0
        self._closed: list[Part] = []  # cannot be divided any more
        self.parts = self.work = 0

    def run(
        self, budget: Callable[[], float], clock: Clock, raised: Callable[[float], None], work: float = np.inf
    ) -> float:
        """Divide until no part is below the budget (the total cost of the best centre), so much work is done or the time is over;
        ``raised`` is told of every better bound. The bound, at most the budget."""
        n = len(self._root.shares.place_start) - 1
        everything = np.zeros(n, np.int64), np.diff(self._root.shares.place_start) - 1
        bound = self._root.bound
        with alarm(self._root.ended, clock.deadline), ThreadPoolExecutor(self.threads) as threads:
            self._push(self._settled(self._root, everything, budget()))
            while not clock.expired and self.work < work:
                limit = budget()
                least = self._parts[0][0] if self._parts else np.inf
                bound = max(bound, min(least, self._least_closed, limit))
                raised(bound)
                lot = self._pop(limit)
                if not lot:
                    break
                divided = [threads.submit(self._divide, part, limit) for part in lot]
                found = [part for each in divided for part in each.result()]
                if clock.remaining <= 0.0:  # some of them are not finished: the bound stays as it was
                    break
                self.parts += len(found)
                self._push(found)
        return min(bound, budget())

    @property
    def threads(self) -> int:
        """As many as asked for, as far as the parts that they divide at once fit into memory."""
        shares = self._root.shares
        size = sum(getattr(shares, each.name).nbytes for each in fields(shares))
        return max(1, min(self._n_jobs, SHARES_BYTES // (COPIES * size)))

    def windows(self, budget: float) -> tuple[Ints, Ints] | None:
        """The cells of all parts below the budget together; None if there is no such part."""
        left = [part for part in (*self._closed, *(part for _, _, part in self._parts)) if part.key < budget]
        if not left:
            return None
        return np.min([part.first for part in left], axis=0), np.max([part.last for part in left], axis=0)

    @property
    def _least_closed(self) -> float:
        return min((part.key for part in self._closed), default=np.inf)

    def _push(self, parts: Iterable[Part]) -> None:
        for part in parts:
            self.work += part.work
            if part.meeting is not None:
                self._offer(*part.meeting)
            if part.column < 0:
                self._closed.append(part)
                continue
            self._bytes += part.nbytes
            self._made += 1
            heapq.heappush(self._parts, (part.key, self._made, part))

    def _pop(self, budget: float) -> list[Part]:
        lot, limit = list[Part](), min(budget, self._least_closed)
        while self._parts and len(lot) < LOT and self._parts[0][0] < limit:
            part = heapq.heappop(self._parts)[2]
            self._bytes -= part.nbytes
            lot.append(part)
        return lot

    def _divide(self, part: Part, budget: float) -> list[Part]:
        """The two sides of a part, as far as anything is left of them."""
        whole = self._of(self._root, part.first, part.last, part.first * 0, part.key)
        if whole is None:
            return []
        whole.mu = part.mu
        if part.lam is not None and part.policy is not None:
            set_shares(whole.shares, part.lam.astype(np.float64), part.policy.astype(np.int64))
        found = []
        for right in (False, True):
            first, last = part.first.copy(), part.last.copy()
            if right:
                first[part.column] = part.place + 1
            else:
                last[part.column] = part.place
            # no name for the side here: what windows leave of it takes its place in memory
            found += self._settled(self._of(whole, first, last, part.first, part.key), (first, last), budget)
        return found

    def _of(self, dual: Dual, first: Ints, last: Ints, origin: Ints, key: float) -> Dual | None:
        """The dual of a part, whose cells are counted from those of ``dual`` at ``origin``."""
        made = narrowed(dual.shares, first - origin, last - origin)
        if made is None:
            return None
        shares, rest = made
        return Dual(shares, dual.constant + rest, dual.missing, dual.sizes, dual.ended, dual.mu, key)

    def _settled(self, dual: Dual | None, cells: tuple[Ints, Ints], budget: float) -> list[Part]:
        """Sweeps and windows, again while the windows leave much less; the part, or nothing if no centre is left or the budget is
        proven for it."""
        if dual is None:
            return []
        first, last = cells
        work = PART_WORK
        for _ in range(AGAIN + 1):
            for _ in range(PART_SWEEPS):
                dual.ascend()
                work += len(dual.shares.entry_leaf)
                if dual.bound >= budget:
                    return []
            new_first, new_last = np.zeros_like(first), np.zeros_like(last)
            enough = budget * (1.0 + BUDGET) + BUDGET * dual.mu * dual.sizes
            if not tighten(dual.shares, dual.mu, dual.now(), enough, new_first, new_last, dual.ended):
                return []
            dual.bound = max(dual.bound, dual.now())
            left, before = int((new_last - new_first).sum()), int((last - first).sum())
            first, last = first + new_first, first + new_last
            if left == before:
                break
            smaller = self._of(dual, new_first, new_last, np.zeros_like(first), dual.bound)
            if smaller is None:
                return []
            fewer, dual = smaller.n_leaves < 0.8 * dual.n_leaves, smaller
            if not fewer:
                break
        return [self._part(dual, first, last, work)]

    def _part(self, dual: Dual, first: Ints, last: Ints, work: int) -> Part:
        shares, found = dual.shares, np.zeros(2, np.int64)
        widest = int(np.diff(shares.cell_start).max(initial=0)) + 1
        chosen = np.zeros(len(shares.leaf_start) - 1, np.int64)
        low, high = np.zeros_like(first), np.zeros_like(last)
        smaller = choose(shares, dual.mu, chosen, np.zeros((3, widest)), found, low, high)
        meeting = (first + low, first + high) if smaller <= 0 else None  # for single points cells are places
        column, place = (int(found[0]), int(first[found[0]] + found[1])) if smaller >= 0 else (-1, -1)
        keep = smaller >= 0 and self._bytes + shares.lam.nbytes + shares.policy.nbytes < PART_BYTES
        lam, policy = (shares.lam.astype(np.float32), shares.policy.astype(np.int32)) if keep else (None, None)
        return Part(dual.bound, first, last, column, place, dual.mu, lam, policy, meeting, work)
