"""Splits on what a model sees become splits on inner columns: numbers as exact cuts, categories as sets, bins as chains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.bins import Expansion, Plan, stands_for_missing
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.trace import Way
from elbowroom.models.sets import HALF, SetSplits
from elbowroom.numerics import Bools, Floats, Ints

InSet = Callable[[Floats], Bools]  # which of a library's own codes (NaN: missing) go left


@dataclass(eq=False)
class Nodes:
    """All nodes of all trees; splits are still on the columns that the model sees."""

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    missing_left: Bools


class Folded:
    """Splits on what the model sees, turned into splits on inner columns."""

    def __init__(
        self, nodes: Nodes, preprocessing: Preprocessing, sets: Mapping[int, InSet], routes_missing: bool
    ) -> None:
        self.nodes, self.preprocessing, self.sets = nodes, preprocessing, sets
        self.routes_missing = routes_missing
        self.feature, self.cut = nodes.feature.copy(), np.zeros(nodes.feature.size)
        self.trace, self.inputs = preprocessing.trace, preprocessing.inputs
        inner = np.flatnonzero(nodes.feature >= 0)
        if inner.size and nodes.feature[inner].max() >= self.trace.width:
            raise UnsupportedModel(
                f"a split is on column {nodes.feature[inner].max()}, but the model sees {self.trace.width} columns"
            )
        way = self.trace.way[nodes.feature[inner]]
        self.by_mixture = inner[way == Way.MIXED]
        if self.by_mixture.size and ((way == Way.BINNED).any() or self.sets):
            raise UnsupportedModel(
                f"{info_of(preprocessing)}: splits on bins or sets of codes beside slanted splits are not read; fit the trees on "
                "the columns themselves, or without the step that mixes columns"
            )
        self.by_category, self.by_bin = inner[way == Way.LOOKED], inner[way == Way.BINNED]
        self.by_number = inner[np.isin(way, (Way.STRAIGHT, Way.CURVE))]
        self.may_miss = np.zeros(self.inputs.width, dtype=np.bool_)
        self._left: dict[bytes, int] = {}
        self._rows: list[tuple[Bools, Bools]] = []
        self.feature[self.by_mixture], self.cut[self.by_mixture] = (
            0,
            np.inf,
        )  # a hyperplane takes its place (see `slanted`)

    @property
    def mixtures(self) -> tuple[Ints, Ints, Floats]:
        """Nodes with slanted splits, the columns that they split, and where."""
        at = self.by_mixture
        return at, self.nodes.feature[at], self.nodes.threshold[at]

    def _swap(self, nodes: Ints) -> None:
        """Exchange the children of splits that turned round."""
        self.nodes.left[nodes], self.nodes.right[nodes] = self.nodes.right[nodes], self.nodes.left[nodes].copy()
        self.nodes.missing_left[nodes] = ~self.nodes.missing_left[nodes]

    def numbers(self, goes_left: Callable[[Floats, Floats], Bools]) -> None:
        at = self.by_number
        odd = [int(i) for i in at if int(i) in self.sets] if self.sets else []
        if odd:
            name = self.inputs.columns[self.trace.variable[self.nodes.feature[odd[0]]]].name
            raise UnsupportedModel(
                f"column {name!r} is split by sets of codes, so its numbers are categories; tell which ones there are with "
                f"Space.from_frame(X, categorical=[{name!r}])"
            )
        column, threshold = self.nodes.feature[at], self.nodes.threshold[at]
        self._missing(at, column, threshold, goes_left)
        self.feature[at], self.cut[at], swapped = self.preprocessing.cuts(column, threshold, goes_left)
        self._swap(at[swapped])

    def _missing(self, at: Ints, column: Ints, threshold: Floats, goes_left: Callable[[Floats, Floats], Bools]) -> None:
        """Where a missing raw number goes: as the number that a step puts in its place, else as the library says."""
        numbers = np.flatnonzero(self.inputs.is_number)
        if not self.preprocessing.stages:
            self.may_miss[self.inputs.starts[numbers]] = self.routes_missing
            return
        values = self.preprocessing.at_missing
        if values is None:
            return
        filled = values[self.trace.variable[column], column]
        stays = np.isnan(filled)
        side = goes_left(np.where(stays, 0.0, filled), threshold)
        self.nodes.missing_left[at] = np.where(stays, self.nodes.missing_left[at], side)
        kept_missing = np.zeros(len(self.inputs.columns), dtype=np.bool_)
        for j in range(self.trace.width):
            v = self.trace.variable[j]
            kept_missing[v] |= bool(np.isnan(values[v, j]))
        allowed = ~kept_missing | self.routes_missing
        self.may_miss[self.inputs.starts[numbers]] = allowed[numbers]

    def categories(self, goes_left: Callable[[Floats, Floats], Bools]) -> None:
        """A split on a category: some members of its group go left. One member against the rest is a cut on its column."""
        for i in self.by_category:
            j = int(self.nodes.feature[i])
            members = self.inputs.members(int(self.trace.variable[j]))
            value = self.preprocessing.tables[members, j]
            rule = self.sets.get(int(i))
            missing = np.isnan(value)
            if rule is not None:
                left = np.asarray(rule(value), dtype=np.bool_)
            else:
                known = np.where(missing, 0.0, value)
                left = goes_left(known, np.full(members.size, self.nodes.threshold[i]))
                left = np.where(missing, self.nodes.missing_left[i], left)
            self._by_members(int(i), members, left)

    def bins(self, goes_left: Callable[[Floats, Floats], Bools], roots: list[int]) -> list[int]:
        """Splits on the 0/1 columns of bins become chains of cuts; the new roots, if there are any such splits."""
        plans = {}
        for i in self.by_bin:
            j = int(self.nodes.feature[i])
            cuts, values = self.trace.bins[j], self.preprocessing.values_of(j)
            assert cuts is not None
            left = np.asarray(goes_left(values, np.full(values.size, self.nodes.threshold[i])), dtype=np.bool_)
            plans[int(i)] = Plan(int(self.inputs.starts[self.trace.variable[j]]), cuts, left)
        if not plans:
            return roots
        made = Expansion(plans, self.nodes.left.tolist(), self.nodes.right.tolist())
        new_roots = [made.copy(root) for root in roots]
        source, children = np.array(made.source), np.array(made.children, dtype=np.int64)
        own = np.array([f is not None for f in made.feature], dtype=np.bool_)
        column = np.array([-1 if f is None else f for f in made.feature], dtype=np.int64)
        self.feature = np.where(own, column, self.feature[source])
        self.cut = np.where(own, np.array(made.cut), self.cut[source])
        instead = stands_for_missing(self.preprocessing)
        missing_left = np.where(own, instead[column] <= self.cut, self.nodes.missing_left[source])
        self.may_miss[column[own & np.isnan(instead[column])]] = False
        self.nodes = Nodes(
            self.nodes.feature[source], self.nodes.threshold[source], children[:, 0], children[:, 1],
            self.nodes.value[source], missing_left,
        )  # fmt: skip
        return new_roots

    def _by_members(self, i: int, members: Ints, left: Bools) -> None:
        count = int(left.sum())
        if count in (0, members.size):  # everything goes one way
            self.feature[i], self.cut[i] = members[0], np.inf if count else -np.inf
        elif members.size - count == 1:
            self.feature[i], self.cut[i] = members[~left][0], HALF
        elif count == 1:
            self.feature[i], self.cut[i] = members[left][0], HALF
            self._swap(np.array([i]))
        else:
            key = members[:1].tobytes() + left.tobytes()
            if key not in self._left:
                self._left[key] = len(self._rows)
                sides = np.zeros((2, self.inputs.width), dtype=np.bool_)
                sides[0, members[left]] = sides[1, members[~left]] = True
                self._rows.append((sides[0], sides[1]))
            self.feature[i] = self.inputs.width + self._left[key]

    @property
    def set_splits(self) -> SetSplits | None:
        if not self._rows:
            return None
        left, right = zip(*self._rows, strict=True)
        return SetSplits(np.stack(left), np.stack(right))


def info_of(preprocessing: Preprocessing) -> str:
    return ", ".join(stage.description for stage in preprocessing.stages) or "this model"
