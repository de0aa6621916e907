"""All splits of an ensemble with the leaves on both sides, in the order of `TreeEnsemble.leaves`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.models import TreeEnsemble, TreeMargins
from elbowroom.numerics import Bools, Floats, Ints, gamma


@dataclass(frozen=True, eq=False)
class Splits:
    """Split i sends x left iff x[feature_i] <= cut_i; leaves are given as pairs (split, leaf) for each side."""

    feature: Ints
    cut: Floats
    left_row: Ints
    left_leaf: Ints
    right_row: Ints
    right_leaf: Ints
    n_leaves: int

    @classmethod
    def of(cls, model: TreeEnsemble) -> Splits:
        """Only splits that both sides of which some float reaches (as `TreeEnsemble.leaves` keeps them)."""
        feature: list[int] = []
        cut: list[float] = []
        left: list[tuple[int, int]] = []
        right: list[tuple[int, int]] = []
        n_leaves = 0
        for root in model.roots:
            bounds: dict[int, tuple[float, float]] = {}
            stack: list[tuple[int, dict[int, tuple[float, float]], tuple[tuple[int, bool], ...]]] = [
                (int(root), bounds, ())
            ]
            while stack:
                node, limits, path = stack.pop()
                f = int(model.feature[node])
                if f < 0:
                    for split, goes_left in path:
                        (left if goes_left else right).append((split, n_leaves))
                    n_leaves += 1
                    continue
                t = float(model.cut[node])
                low, high = limits.get(f, (-np.inf, np.inf))
                go_right, go_left = t < high, t > low
                if go_right and go_left:
                    feature.append(f)
                    cut.append(t)
                number = len(feature) - 1
                both = go_right and go_left
                if go_right:
                    step = ((number, False),) if both else ()
                    stack.append((int(model.right[node]), {**limits, f: (max(low, t), high)}, path + step))
                if go_left:
                    step = ((number, True),) if both else ()
                    stack.append((int(model.left[node]), {**limits, f: (low, min(high, t))}, path + step))
        pairs = [np.array(side, dtype=np.int64).reshape(-1, 2) for side in (left, right)]
        return cls(
            np.array(feature, dtype=np.int64),
            np.array(cut, dtype=np.float64),
            pairs[0][:, 0],
            pairs[0][:, 1],
            pairs[1][:, 0],
            pairs[1][:, 1],
            n_leaves,
        )

    def excluded(self, always: Bools, never: Bools) -> Bools:
        """Leaves that no centre reaches: right of a split that always goes left, or left of one that never does."""
        out = np.zeros(self.n_leaves, dtype=bool)
        out[self.right_leaf[always[self.right_row]]] = True
        out[self.left_leaf[never[self.left_row]]] = True
        return out


def sets_refusal(model: object, engine: str) -> str | None:
    """Splits by sets of categories are no cuts, which is all that the programs of ``engine`` know."""
    if isinstance(model, TreeEnsemble) and model.sets is not None:
        return f'{engine} does not take splits by sets of categories; ask with method="auto"'
    return None


def usable_leaves(margins: TreeMargins, offsets: Ints) -> Bools:
    """Leaves that may take part in a good sum: of a single tree the good ones, of several trees all."""
    if len(offsets) > 2:
        return np.ones(len(margins.value), dtype=np.bool_)
    return np.asarray((margins.base + margins.value >= margins.slack).all(axis=1))


def no_leaves_suffice(margins: TreeMargins, offsets: Ints) -> str:
    """Why even the largest leaves of all trees together are not good, if so: a proof that no region exists."""
    largest = np.maximum.reduceat(margins.value, offsets[:-1], axis=0)
    noise = gamma(len(offsets) + 8) * (np.abs(largest).sum(axis=0) + np.abs(margins.base) + np.abs(margins.slack))
    if (margins.base + largest.sum(axis=0) + noise < margins.slack).any():
        return "not even the best leaves of all trees together give the wanted outcome"
    if not usable_leaves(margins, offsets).any():
        return "no leaf has the wanted outcome"
    return ""
