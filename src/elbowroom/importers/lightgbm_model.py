"""A model of LightGBM as its text says it, and what it computes: the rules of the format, one by one.

In a tree with L leaves the splits are 0 .. L - 2, the root first and children after their parents; a child c < 0 is leaf ~c.
``decision_type``: bit 0 says that a set of codes goes left, bit 1 that missing values do, bits 2 and 3 what counts as missing:
nothing (NaN is 0), zeros and NaN, or NaN.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from elbowroom.numerics import Bools, Floats, Ints

ZERO: Final = float(np.float32(1e-35))  # numbers up to this size are 0 before anything looks at them
BELOW_ZERO: Final = float(np.nextafter(-ZERO, -np.inf))  # the last number that is less than 0
NAN_IS_ZERO, ZERO_IS_MISSING, NAN_IS_MISSING = 0, 1, 2
_FACTOR: Final = r"[0-9]{1,20}(?:\.[0-9]{1,20})?(?:e[-+]?[0-9]{1,3})?"
_OBJECTIVE: Final = re.compile(
    rf"(?P<name>binary(?= sigmoid)|cross_entropy|multiclass|multiclassova)"
    rf"(?:(?<=binary) sigmoid:(?P<one>{_FACTOR})|(?<=cross_entropy)|(?<=multiclass) num_class:(?P<all>[0-9]{{1,6}})"
    rf"|(?<=multiclassova) num_class:(?P<separate>[0-9]{{1,6}}) sigmoid:(?P<each>{_FACTOR}))"
)
CATEGORIES: Final = "pandas_categorical:"


@dataclass(frozen=True, eq=False)
class TextTree:
    """One tree: arrays over splits and ``value`` over leaves; ``sets`` are the sets of codes that go left."""

    feature: Ints
    threshold: Floats  # of splits by a set: its number
    decision: Ints
    left: Ints
    right: Ints
    value: Floats
    sets: tuple[Bools, ...]
    block: str  # the lines that decide, as they stand in the file

    @property
    def by_set(self) -> Bools:
        return np.asarray(self.decision & 1 > 0)

    @property
    def default_left(self) -> Bools:
        return np.asarray(self.decision & 2 > 0)

    @property
    def missing(self) -> Ints:
        """What counts as missing at every split."""
        return np.asarray(self.decision >> 2)

    def leaf(self, X: Floats) -> Ints:
        """The leaf of every row, by the rules of the format; for a check of `lightgbm_trees`, which knows them as cuts."""
        node = np.full(len(X), 0 if len(self.feature) else -1, dtype=np.int64)
        while (rows := np.flatnonzero(node >= 0)).size:
            at = node[rows]
            x, kind = X[rows, self.feature[at]], self.missing[at]
            x = np.where((np.abs(x) <= ZERO) | (np.isnan(x) & (kind != NAN_IS_MISSING) & ~self.by_set[at]), 0.0, x)
            absent = np.isnan(x) | ((kind == ZERO_IS_MISSING) & (x == 0.0))
            goes_left = np.where(absent, self.default_left[at], x <= self.threshold[at])
            for split in np.unique(at[self.by_set[at]]):
                goes_left[at == split] = in_set(self.sets[int(self.threshold[split])], x[at == split])
            node[rows] = np.where(goes_left, self.left[at], self.right[at])
        return ~node


@dataclass(frozen=True, eq=False)
class TextModel:
    """A whole file. ``objective`` is the line as it stands, "" for an objective of the user's own."""

    version: str
    names: tuple[str, ...]
    infos: tuple[str, ...]  # range or categories of every column in training
    objective: str
    n_scores: int  # trees per round
    average: bool  # scores are the mean over rounds, not the sum (boosting="rf")
    sets_asked: tuple[int, ...] | None  # columns that training took for codes; None: the file does not say
    categories: list[list[Any]] | None  # of pandas columns, in column order
    trees: tuple[TextTree, ...]

    @property
    def rounds(self) -> int:
        return len(self.trees) // self.n_scores

    @property
    def logistic(self) -> tuple[str, float] | None:
        """The objective of a classifier, and the factor of scores in its logistic functions; None for other objectives."""
        found = _OBJECTIVE.fullmatch(self.objective)
        if found is None:
            return None
        name, sigmoid = found["name"], float(found["one"] or found["each"] or 1.0)
        right = int(found["all"] or found["separate"] or 1) == self.n_scores and 0.0 < sigmoid < np.inf
        return (name, sigmoid) if right else None

    def raw(self, X: Floats) -> Floats:
        """(rows, scores) sums in the order of the trees; a mean over rounds is taken at the end."""
        total = np.zeros((len(X), self.n_scores))
        for k, tree in enumerate(self.trees):
            total[:, k % self.n_scores] += tree.value[tree.leaf(X)]
        return total / self.rounds if self.average else total

    def checked_text(self) -> str:
        """A file with the lines that were checked and no others, for the library."""
        head = [
            "tree", f"version={self.version}", f"num_class={self.n_scores}", f"num_tree_per_iteration={self.n_scores}", "label_index=0",
            f"max_feature_idx={len(self.names) - 1}", *([f"objective={self.objective}"] if self.objective else []),
            *(["average_output"] if self.average else []), f"feature_names={' '.join(self.names)}",
            f"feature_infos={' '.join(self.infos)}",
        ]  # fmt: skip
        trees = [f"Tree={k}\n{tree.block}\n\n" for k, tree in enumerate(self.trees)]
        tail = f"end of trees\n\n{CATEGORIES}{json.dumps(self.categories)}\n"
        return "\n".join([*head, "", *trees, tail])


def in_set(members: Bools, codes: Floats) -> Bools:
    """Whether each code, cut towards zero to a whole number, is in the set; NaN and codes up to -1 are in none."""
    known = (codes > -1.0) & (codes < len(members))
    return np.asarray(known & members[np.where(known, codes, 0.0).astype(np.int64)])


def codes_of(info: str) -> tuple[int, ...] | None:
    """The codes that training has seen in a column that it splits by sets; None for numbers and for unused columns."""
    if info == "none" or info.startswith("["):
        return None
    return tuple(sorted(code for code in {int(word) for word in info.split(":")} if code >= 0))
