"""Where a wrong copy would show: the rows on which the parsed model is compared with the original.

* rows over the range of real data, and far beyond it on many scales;
* trees: for every split a row that reaches it, with the split value on the cut, and on its float64 and float32
  neighbours, one and two steps to either side;
* linear models and networks: points on both sides of the decision boundary, as close to it as floats go.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.importers.inputs import Inputs
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.trace import Way
from elbowroom.models.base import Model
from elbowroom.models.sets import HALF
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import Bools, Floats, Ints, next_down, next_up
from elbowroom.visible import listed

_CELLS = 20_000_000  # numbers in one matrix of rows: very wide models get fewer rows
_NEIGHBOURS = 10
_CLOSEST = 2
_BEYOND = 1e37  # cuts that only tell missing numbers from others lie at the ends of float32
_MORE_ROUNDS = 10


def row_budget(limit: int, width: int) -> int:
    """How many rows of this width are tried."""
    return max(100, min(limit, _CELLS // max(width, 1)))


@dataclass(frozen=True, eq=False)
class Range:
    """Where rows usually lie, column by column."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, model: Model, preprocessing: Preprocessing, data: Floats | None) -> Range:
        """From data if there are any, else from the cuts, else from the scalers' statistics, else [-1, 1]."""
        low, high = np.full(preprocessing.width, -1.0), np.full(preprocessing.width, 1.0)
        trace = preprocessing.trace
        scaled = (trace.way == Way.STRAIGHT) & (trace.factor != 0.0) & ((trace.factor != 1.0) | (trace.offset != 0.0))
        middle, spread = -trace.offset[scaled] / trace.factor[scaled], 1.0 / np.abs(trace.factor[scaled])
        place = preprocessing.inputs.starts[trace.variable[scaled]]
        low[place], high[place] = middle - 3 * spread, middle + 3 * spread
        if isinstance(model, TreeEnsemble):
            for f, cuts in enumerate(model.cuts):
                cuts = cuts[np.abs(cuts) < _BEYOND]
                if cuts.size:
                    margin = (cuts[-1] - cuts[0]) / 4 or max(abs(cuts[0]) / 4, 1e-3)
                    low[f], high[f] = cuts[0] - margin, cuts[-1] + margin
        if data is not None and len(data):
            low, high = data.min(axis=0), data.max(axis=0)
        for members in preprocessing.inputs.groups:
            low[members], high[members] = 0.0, 1.0
        return cls(np.clip(low, -1e300, 1e300), np.clip(high, -1e300, 1e300))

    def rows(self, size: int, rng: np.random.Generator) -> Floats:
        """Uniform rows."""
        return np.asarray(self.low + rng.uniform(size=(size, self.low.size)) * (self.high - self.low))

    def wild_rows(self, size: int, rng: np.random.Generator) -> Floats:
        """Rows around the middle on scales from a thousandth to 1e5 times the range, some entries exactly 0."""
        middle, spread = (self.low + self.high) / 2, np.maximum((self.high - self.low) / 2, 1e-6)
        scale = 10.0 ** rng.uniform(-3, 5, (size, 1))
        X = middle + rng.normal(size=(size, self.low.size)) * spread * scale
        return np.where(rng.uniform(size=X.shape) < 0.02, 0.0, X)


def data_rows(data: object, inputs: Inputs) -> Floats | None:
    """The rows given by the user as inner rows, without rows that have missing numbers or unknown categories."""
    if data is None:
        return None
    names = tuple(column.name for column in inputs.columns)
    if isinstance(data, pd.DataFrame):
        frame = data.rename(columns=str)
        missing = [name for name in names if name not in frame.columns]
        if missing and len(frame.columns) != len(names):
            raise InputError(f"data lacks the columns {listed(missing)} of the model")
        data = frame if missing else frame[list(names)]
    try:
        rows = np.atleast_2d(np.asarray(data, dtype=np.float64)) if inputs.plain else inputs.inner(data)
    except (TypeError, ValueError):
        raise InputError("data must be a table of numbers") from None
    if rows.ndim != 2 or rows.shape[1] != inputs.width:
        raise InputError(f"data has {rows.shape[-1]} columns, the model has {len(names)}")
    return rows[np.isfinite(rows).all(axis=1)]


def neighbours(cut: Floats) -> Floats:
    """(cuts, 10): the cut and its float64 and float32 neighbours up to two steps away, the closest two first."""
    single = cut.astype(np.float32)
    up32, down32 = np.nextafter(single, np.float32(np.inf)), np.nextafter(single, np.float32(-np.inf))
    columns = [
        cut, next_up(cut), next_down(cut), next_up(next_up(cut)), next_down(next_down(cut)),
        single, up32, down32, np.nextafter(up32, np.float32(np.inf)), np.nextafter(down32, np.float32(-np.inf)),
    ]  # fmt: skip
    return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)


def missing_rows(rows: Floats, may_miss: Bools, rng: np.random.Generator) -> Floats:
    """The rows with some numbers taken away, in columns where that is allowed."""
    gone = may_miss & (rng.random(rows.shape) < rng.choice([0.02, 0.3, 0.9], (len(rows), 1)))
    return np.where(gone, np.nan, rows)


def cut_rows(
    model: TreeEnsemble,
    usual: Range,
    budget: int,
    rng: np.random.Generator,
    groups: tuple[Ints, ...] = (),
    sharp: bool = False,
) -> Floats:
    """Rows that reach a split and sit on its cut or a neighbour of it; splits by category (of ``groups``) are just reached.
    In ``sharp`` rows all other numbers sit on cuts as well.

    First all ten values for every split, then, in small models, more rows on the cut and on the next float. With too
    many splits for the budget, every split gets these two values; with still too many, a random choice of splits does.
    """
    nodes = np.flatnonzero((model.feature >= 0) & np.isfinite(model.cut))
    is_number = np.ones(model.info.n_features + 1, dtype=np.bool_)
    is_number[[f for members in groups for f in members]] = is_number[-1] = False
    if not nodes.size:
        return np.empty((0, model.info.n_features))
    per_split = int(np.clip(budget // nodes.size, _CLOSEST, _NEIGHBOURS))
    if nodes.size * per_split > budget:
        nodes = rng.choice(nodes, max(budget // per_split, 1), replace=False)
    more = min((budget - nodes.size * per_split) // (nodes.size * _CLOSEST), _MORE_ROUNDS)
    with np.errstate(over="ignore"):
        values = neighbours(model.cut[nodes])
    chosen = np.concatenate([values[:, :per_split].ravel(), np.tile(values[:, :_CLOSEST].ravel(), more)])
    nodes = np.concatenate([np.repeat(nodes, per_split), np.tile(np.repeat(nodes, _CLOSEST), more)])
    rows = _rows_at(model, _leaves_below(model, nodes, rng), usual, rng, groups)
    rows = on_cuts(model, rows, rng, groups) if sharp else rows
    column = np.minimum(model.feature[nodes], model.info.n_features)  # the last one stands for all set splits
    on_cut = np.flatnonzero(is_number[column])
    rows[on_cut, column[on_cut]] = chosen[on_cut]
    return rows


def on_cuts(model: TreeEnsemble, rows: Floats, rng: np.random.Generator, groups: tuple[Ints, ...] = ()) -> Floats:
    """The same rows with every number on the edge of its cell: on the cut above it, or on the first float beyond the cut below
    it. No comparison of the copy changes, and each row tests many splits where a wrong one would show."""
    rows, grouped = rows.copy(), {int(f) for members in groups for f in members}
    for f, cuts in enumerate(model.cuts):
        if not cuts.size or f in grouped:
            continue
        x = rows[:, f]
        cell = np.searchsorted(cuts, x)
        above = cuts[np.minimum(cell, cuts.size - 1)]
        below = next_up(cuts[np.maximum(cell - 1, 0)])
        up = (cell < cuts.size) & ((rng.random(len(x)) < 0.5) | (cell == 0))
        rows[:, f] = np.where(np.isnan(x), x, np.where(up, above, np.where(cell > 0, below, x)))
    return rows


def _leaves_below(model: TreeEnsemble, nodes: Ints, rng: np.random.Generator) -> Ints:
    """A random leaf below each node, so that narrow ones are visited as well."""
    leaf = nodes.copy()
    while (inner := np.flatnonzero(model.feature[leaf] >= 0)).size:
        here = leaf[inner]
        leaf[inner] = np.where(rng.random(here.size) < 0.5, model.left[here], model.right[here])
    return leaf


def _rows_at(
    model: TreeEnsemble, nodes: Ints, usual: Range, rng: np.random.Generator, groups: tuple[Ints, ...]
) -> Floats:
    """One row for each node that its tree leads to that node, if there is one."""
    inner = np.flatnonzero(model.feature >= 0)
    parent = np.full(len(model.feature), -1, dtype=np.int64)
    parent[model.left[inner]] = inner
    parent[model.right[inner]] = inner
    low, high = np.full((len(nodes), usual.low.size), -np.inf), np.full((len(nodes), usual.low.size), np.inf)
    here, rows = nodes, np.arange(len(nodes))
    while True:  # climb to the root, all nodes at once
        climbs = parent[here] >= 0
        here, rows = here[climbs], rows[climbs]
        if not here.size:
            break
        above = parent[here]
        feature, cut = model.feature[above], model.cut[above]
        on_left = model.left[above] == here
        if model.sets is not None:
            by_set = feature >= usual.low.size
            at, side = rows[by_set], np.where(on_left[by_set], 0, 1)
            limits = high[at]
            model.sets.exclude(limits, np.arange(at.size), feature[by_set] - usual.low.size, side)
            high[at] = limits
            feature, cut = np.where(by_set, 0, feature), np.where(by_set, np.where(on_left, np.inf, -np.inf), cut)
        high[rows[on_left], feature[on_left]] = np.minimum(high[rows[on_left], feature[on_left]], cut[on_left])
        low[rows[~on_left], feature[~on_left]] = np.maximum(low[rows[~on_left], feature[~on_left]], cut[~on_left])
        here = above
    X = usual.rows(len(nodes), rng)
    span = usual.high - usual.low
    bottom = np.where(np.isfinite(low), next_up(low), np.minimum(usual.low, high - span))
    top = np.where(np.isfinite(high), high, np.maximum(usual.high, low + span))
    with np.errstate(invalid="ignore"):  # paths that no number takes, behind a split that is always one-sided
        inside = np.clip(bottom + rng.uniform(size=X.shape) * (top - bottom), bottom, top)
    X = np.where((X > low) & (X <= high), X, inside)
    for members in groups:  # the largest entry becomes the category: one that the path allows, if there is one
        free = (high[:, members] > HALF) + 4.0 * (low[:, members] >= HALF)
        X[:, members] = 2.0 * free + rng.random((len(X), members.size))
    return np.asarray(X)


def boundary_rows(
    model: Model, starts: Floats, budget: int, rng: np.random.Generator, groups: tuple[Ints, ...] = ()
) -> Floats:
    """Points about the parsed decision boundary, on lines between differently labelled rows.

    Half of them are the two ends of the last float step across the boundary, half lie off it by 1e-15 to 1e-6 of the
    line: there the label is certain or not depending on how tight the declared errors are.
    """
    if model.info.is_regressor:  # no boundary: values are compared everywhere
        return starts[:0]
    labels = model.info.labels_of(model.scores(starts))
    rare = np.flatnonzero(labels != np.bincount(labels).argmax())  # one end of every line: not of the most common class
    if not rare.size:
        return starts[:0]
    first, second = rng.choice(rare, budget), rng.integers(len(starts), size=budget)
    a, b = starts[first], starts[second]
    for members in groups:  # both ends of a line have one category: only numbers move along it
        b[:, members] = a[:, members]
    label = labels[first]
    different = np.flatnonzero(label != (model.info.labels_of(model.scores(b)) if groups else labels[second]))
    different = different[: budget // 4]
    a, b, label = a[different], b[different], label[different]
    line = b - a
    for _ in range(60):
        middle = a / 2 + b / 2
        same = (model.info.labels_of(model.scores(middle)) == label)[:, None]
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    step = line * 10.0 ** rng.uniform(-15, -6, (len(line), 1))
    return np.concatenate([a, b, a - step, b + step])
