"""Trees of any library, collected node by node into the flat arrays of a `TreeEnsemble`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.trace import Way
from elbowroom.models.base import ModelInfo
from elbowroom.models.sets import HALF, SetSplits
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import Bools, Floats, Ints

InSet = Callable[[Floats], Bools]  # which of a library's own codes (NaN: missing) go left


@dataclass(eq=False)
class _Nodes:
    """All nodes of all trees; splits are still on the columns that the model sees."""

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    missing_left: Bools


class TreeBuilder:
    """Collects trees; node numbers are shifted so that all trees share one set of arrays."""

    def __init__(self) -> None:
        self._roots: list[int] = []
        self._parts: list[_Nodes] = []
        self._sets: dict[int, InSet] = {}
        self._routes_missing = True
        self._size = 0

    def add(
        self,
        feature: npt.ArrayLike,
        threshold: npt.ArrayLike,
        left: npt.ArrayLike,
        right: npt.ArrayLike,
        leaf: Bools,
        value: Floats,
        missing_left: npt.ArrayLike | None = None,
        sets: Mapping[int, InSet] | None = None,
    ) -> None:
        """One tree with its root at node 0, parents before children; ``value`` is (nodes, K), used at leaves only.

        ``missing_left``: where a missing number goes at each node; None: the library refuses missing numbers. ``sets``:
        nodes that split by category, with the rule of the library's own codes.
        """
        self._refuse_damage(np.asarray(feature), np.asarray(left), np.asarray(right), leaf)
        self._roots.append(self._size)
        self._routes_missing &= missing_left is not None
        goes = np.zeros(leaf.size, np.bool_) if missing_left is None else np.asarray(missing_left, dtype=np.bool_)
        self._parts.append(
            _Nodes(
                np.where(leaf, -1, np.asarray(feature, dtype=np.int64)),
                np.where(leaf, 0.0, np.asarray(threshold, dtype=np.float64)),
                np.where(leaf, -1, np.asarray(left, dtype=np.int64) + self._size),
                np.where(leaf, -1, np.asarray(right, dtype=np.int64) + self._size),
                np.where(leaf[:, None], value, 0.0),
                goes,
            )
        )
        self._sets.update({node + self._size: rule for node, rule in (sets or {}).items()})
        self._size += leaf.size

    def _refuse_damage(self, feature: Ints, left: Ints, right: Ints, leaf: Bools) -> None:
        """Whoever follows a wrong index leaves the arrays or walks in circles, the original's own predict included: it must
        not be asked before this is known."""
        inner = np.flatnonzero(~leaf)
        children = np.concatenate([left[inner], right[inner]]).astype(np.int64)
        whole = (
            leaf.size > 0
            and bool((feature[inner] >= 0).all())
            and bool((children > np.tile(inner, 2)).all())
            and bool((children < leaf.size).all())
            and np.unique(children).size == children.size
        )
        if not whole:
            raise UnsupportedModel(
                f"tree {len(self._roots)} is damaged: its nodes do not form a tree; save the fitted model again"
            )

    def build(
        self,
        info: ModelInfo,
        preprocessing: Preprocessing,
        goes_left: Callable[[Floats, Floats], Bools],
        base: Floats,
        divisor: float = 1.0,
        single: bool = False,
    ) -> TreeEnsemble:
        """The ensemble over inner columns: a split on a number becomes an exact float64 half line through
        ``preprocessing``, a split on a category a set of categories."""
        nodes = self._joined()
        folded = _Folded(nodes, preprocessing, self._sets, self._routes_missing)
        folded.numbers(goes_left)
        folded.categories(goes_left)
        return TreeEnsemble(
            info=info, roots=np.array(self._roots, dtype=np.int64), feature=folded.feature, cut=folded.cut,
            left=nodes.left, right=nodes.right, value=nodes.value, base=base, divisor=float(divisor),
            sets=folded.set_splits, missing_left=nodes.missing_left if folded.may_miss.any() else None,
            may_miss=folded.may_miss if folded.may_miss.any() else None, single=single,
        )  # fmt: skip

    def _joined(self) -> _Nodes:
        names = ("feature", "threshold", "left", "right", "value", "missing_left")
        return _Nodes(*(np.concatenate([getattr(part, name) for part in self._parts]) for name in names))


class _Folded:
    """Splits on what the model sees, turned into splits on inner columns."""

    def __init__(
        self, nodes: _Nodes, preprocessing: Preprocessing, sets: Mapping[int, InSet], routes_missing: bool
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
        if (way == Way.MIXED).any():
            raise UnsupportedModel(
                f"{info_of(preprocessing)}: trees behind a step that mixes columns have slanted splits, which cannot be folded; "
                "fit the trees on the columns themselves, or put a linear model or a network behind that step"
            )
        self.by_category, self.by_number = inner[way == Way.LOOKED], inner[way != Way.LOOKED]
        self.may_miss = np.zeros(self.inputs.width, dtype=np.bool_)
        self._left: dict[bytes, int] = {}
        self._rows: list[tuple[Bools, Bools]] = []

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


def float32_at_most(x: Floats, threshold: Floats) -> Bools:
    """The comparison of libraries that cast rows to float32 and compare with float64 thresholds."""
    with np.errstate(over="ignore"):
        return np.asarray(x.astype(np.float32).astype(np.float64) <= threshold)


def at_most(x: Floats, threshold: Floats) -> Bools:
    """The comparison of libraries that keep float64."""
    return np.asarray(x <= threshold)
