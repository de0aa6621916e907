"""The part of a tree ensemble that a region can see, in whole numbers.

The cuts of feature f that lie inside the region divide [lower_f, upper_f] into cells (a, b]; every leaf is a range of
cells of each feature, so that all further comparisons are between integers. Cells are kept by their ends: ``last`` is
the largest value of a cell and ``first`` the smallest, where values are floats, or whole numbers in whole columns (cuts
are rounded down first, so that every cell holds a value). Members of free one-hot groups have the two cells {0}, {1}.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from elbowroom.certify.tree_kernels import Meeting, Path, Trees, restrict_boxes, restrict_leaves
from elbowroom.models import TreeEnsemble
from elbowroom.numerics import Floats, Ints, next_up, next_value
from elbowroom.problem import Body
from elbowroom.problem.shapes import is_round, phi

_BLOCK = 2**17  # leaves that are looked at between two looks at the clock
_FIRST_ENTRIES = 4096  # room for partial ranges; if there are more, the second attempt has enough


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of every column that has more than one, and the leaves that meet the region.

    Cells of active column i are ``start[i] : start[i + 1]`` of the flat arrays. ``cost`` is what the point of the cell
    nearest to the centre uses of the budget 1 of a ball or diamond (0 for boxes), correct to a few roundings.
    """

    columns: Ints  # (active,) their positions among the model's columns
    start: Ints  # (active + 1,)
    first: Floats  # flat
    last: Floats  # flat
    cost: Floats  # flat
    home: Ints  # (active,) the cell of the centre
    root_low: Ints  # (active,) range of cells that the region covers
    root_high: Ints
    group_start: Ints  # free groups as lists of active columns
    group_member: Ints
    tree_start: Ints  # (trees + 1,) leaves of tree k among ``rows``
    rows: Ints  # (leaves,) positions in model.leaves
    entry_start: Ints  # (leaves + 1,) where a leaf covers only part of the cells: column, first and last cell
    entry_column: Ints
    entry_low: Ints
    entry_high: Ints

    @classmethod
    def of(cls, model: TreeEnsemble, body: Body, deadline: float = math.inf) -> Cells | None:
        """None if the deadline passed first."""
        in_group = np.zeros(body.center.size, dtype=bool)
        for members in body.free_groups:
            in_group[members] = True
        columns, lasts = [], []
        for f in range(body.center.size):
            if not in_group[f] and (model.cuts[f].size == 0 or body.lower[f] == body.upper[f]):
                continue
            last = np.array([0.0, 1.0]) if in_group[f] else _last_values(model.cuts[f], body, f)
            if last.size > 1:
                columns.append(f)
                lasts.append(last)
        start = np.cumsum([0, *(last.size for last in lasts)], dtype=np.int64)
        active = np.array(columns, dtype=np.int64)
        last = np.concatenate([[], *lasts])
        whole = body.whole[active]
        first = np.empty(last.size)
        first[1:] = next_value(last, np.repeat(whole, np.diff(start)))[:-1] if whole.any() else next_up(last[:-1])
        first[start[:-1]] = np.where(in_group[active], 0.0, body.lower[active])
        home = np.array(
            [np.searchsorted(ends, body.center[f]) for f, ends in zip(columns, lasts, strict=True)], dtype=np.int64
        )
        position = {f: i for i, f in enumerate(columns)}
        groups = [[position[int(f)] for f in members] for members in body.free_groups]
        grouped = in_group[active]
        found = _restricted(model, body, active, start, last, deadline)
        if found is None:
            return None
        tree_start, rows, entry_start, entries = found
        return cls(
            columns=active,
            start=start,
            first=first,
            last=last,
            cost=_costs(body, active, start, first, last, grouped),
            home=home,
            root_low=np.where(grouped & (body.lower[active] > 0.0), 1, 0).astype(np.int64),
            root_high=np.where(grouped & (body.upper[active] < 1.0), 0, np.diff(start) - 1).astype(np.int64),
            group_start=np.cumsum([0, *(len(g) for g in groups)], dtype=np.int64),
            group_member=np.array([i for g in groups for i in g], dtype=np.int64),
            tree_start=tree_start,
            rows=rows,
            entry_start=entry_start,
            entry_column=entries[0],
            entry_low=entries[1],
            entry_high=entries[2],
        )

    def nearest_point(self, body: Body, low: Ints, high: Ints) -> Floats:
        """The point of a range of cells that is nearest to the centre, in every coordinate at once.

        Free groups: the category of the centre if the range allows it, otherwise the first one that it allows.
        """
        point = body.center.copy()
        for i, f in enumerate(self.columns):
            cells = self.start[i]
            point[f] = min(max(point[f], self.first[cells + low[i]]), self.last[cells + high[i]])
        for g in range(len(self.group_start) - 1):
            members = self.group_member[self.group_start[g] : self.group_start[g + 1]]
            allowed = [i for i in members if high[i] == 1 and all(low[k] == 0 for k in members if k != i)]
            chosen = next((i for i in allowed if body.center[self.columns[i]] == 1.0), allowed[0])
            point[self.columns[members]] = 0.0
            point[self.columns[chosen]] = 1.0
        return point + 0.0


def _restricted(
    model: TreeEnsemble, body: Body, columns: Ints, start: Ints, last: Floats, deadline: float
) -> tuple[Ints, Ints, Ints, Ints] | None:
    """Leaves of each tree that meet the region: tree_start, rows, entry_start, and (3, entries) of partial ranges; block
    of trees by block of trees, None if the deadline passed in between."""
    parts: list[tuple[Ints, Ints, Ints, Ints]] = []
    offsets, n_trees, at = model.leaf_order.offsets, model.n_trees, 0
    while at < n_trees:
        end = int(np.searchsorted(offsets, offsets[at] + _BLOCK, "right")) - 1
        end = min(max(end, at + 1), n_trees)
        if parts and time.perf_counter() > deadline:
            return None
        parts.append(_restricted_trees(model, at, end, body, columns, start, last))
        at = end
    if len(parts) == 1:
        return parts[0]
    starts, rows, entry_starts, entries = zip(*parts, strict=True)
    return (
        _end_to_end(starts),
        np.concatenate(rows),
        _end_to_end(entry_starts),
        np.concatenate(entries, axis=1),
    )


def _end_to_end(starts: tuple[Ints, ...]) -> Ints:
    """Offsets of parts that follow each other."""
    return np.cumsum(np.concatenate([np.zeros(1, np.int64), *(np.diff(part) for part in starts)]), dtype=np.int64)


def _restricted_trees(
    model: TreeEnsemble, begin: int, end: int, body: Body, columns: Ints, start: Ints, last: Floats
) -> tuple[Ints, Ints, Ints, Ints]:
    order = model.leaf_order
    offsets = order.offsets[begin : end + 1]
    n_leaves, n_trees, size = int(offsets[-1] - offsets[0]), end - begin, _FIRST_ENTRIES
    while True:
        found = Meeting(
            lower=body.lower,
            upper=body.upper,
            columns=columns,
            start=start,
            last=last,
            tree_start=np.zeros(n_trees + 1, np.int64),
            rows=np.zeros(n_leaves, np.int64),
            entry_start=np.zeros(n_leaves + 1, np.int64),
            entries=np.zeros((3, size), np.int64),
        )
        if model.sets is None:
            levels = order.depth + 2
            path = Path(np.zeros(levels, np.int64), np.zeros((levels, columns.size)), np.zeros((levels, columns.size)))
            active = np.full(body.center.size, -1, np.int64)
            active[columns] = np.arange(columns.size)
            trees = Trees(model.feature, model.cut, model.left, model.right, order.place)
            count = restrict_leaves(model.roots[begin:end], trees, active, path, found)
        else:
            ends = np.zeros((2, columns.size))
            count = restrict_boxes(offsets, model.leaves.lower, model.leaves.upper, found, ends[0], ends[1])
        if count <= size:
            n_rows = int(found.tree_start[-1])
            return found.tree_start, found.rows[:n_rows], found.entry_start[: n_rows + 1], found.entries[:, :count]
        size = count


def _last_values(cuts: Floats, body: Body, f: int) -> Floats:
    """The largest value of every cell of column f inside the region."""
    low, high = body.lower[f], body.upper[f]
    inside = np.floor(cuts) if body.whole[f] else cuts
    return np.append(np.unique(inside[(inside >= low) & (inside < high)]) + 0.0, high)


def _costs(body: Body, columns: Ints, start: Ints, first: Floats, last: Floats, grouped: Floats) -> Floats:
    """phi(max(first - center, center - last, 0) / axis) of every cell; 0 in boxes and free groups."""
    if not is_round(body.shape):
        return np.zeros(last.size)
    of_cell = np.repeat(np.arange(columns.size), np.diff(start))
    center, axis = body.center[columns][of_cell], body.axes[columns][of_cell]
    free = grouped[of_cell]
    gap = np.where(free, 0.0, np.maximum(np.maximum(first - center, center - last), 0.0))
    return phi(body.shape, gap / np.where(free, 1.0, axis))
