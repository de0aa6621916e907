"""Linear models behind bins: a scorecard. Every raw column adds a constant per bin or category, so the score is a sum of
small trees, one per column, and not a linear function.

score_k(x) = b_k + sum over raw columns v of g_k,v(bin or category of x_v), where g_k,v adds up W_kj t_j over the transformed
columns j of v. In 0/1 columns one term of each sum is not 0, so g is a stored weight; other terms are rounded products.
The original's dot product adds the same terms in an order of its own: within gamma(2 n + 16) of their sizes.
"""

from __future__ import annotations

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.bins import stands_for_missing
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.trace import Way
from elbowroom.models.base import ModelInfo
from elbowroom.models.sets import HALF
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import Floats, gamma


def has_bins(preprocessing: Preprocessing) -> bool:
    """True if a linear model behind this is a scorecard."""
    return bool((preprocessing.trace.way == Way.BINNED).any())


def evaluation_error(preprocessing: Preprocessing, weight: Floats, bias: Floats) -> float:
    """How far a computed score may be from the sum of its parts; twice that for a difference of two."""
    sizes = np.abs(weight) @ _largest(preprocessing) + np.abs(bias)
    return float(2 * gamma(2 * weight.shape[1] + 16) * sizes.max())


def _largest(preprocessing: Preprocessing) -> Floats:
    largest = np.zeros(preprocessing.trace.width)
    for j, way in enumerate(preprocessing.trace.way):
        if way in (Way.BINNED, Way.LOOKED):
            largest[j] = np.abs(preprocessing.values_of(j)).max()
    return largest


def read_scorecard(info: ModelInfo, preprocessing: Preprocessing, weight: Floats, bias: Floats) -> TreeEnsemble:
    """The trees of all raw columns that count."""
    trace, inputs = preprocessing.trace, preprocessing.inputs
    other = [j for j in np.flatnonzero(weight.any(axis=0)) if trace.way[j] not in (Way.BINNED, Way.LOOKED)]
    if other:
        names = [inputs.columns[trace.variable[j]].name for j in other if trace.variable[j] >= 0]
        raise UnsupportedModel(
            f"{info.source}: some numbers are cut into bins, others count as they are ({', '.join(names[:3])}), and a sum of both "
            "cannot be folded; bin all numbers, or none"
        )
    nodes = _Nodes(weight.shape[0])
    for v in range(len(inputs.columns)):
        mine = np.flatnonzero(trace.variable == v)
        if not weight[:, mine].any():
            continue
        values = np.stack([preprocessing.values_of(int(j)) for j in mine])  # (columns, bins)
        shares = weight[:, mine] @ values  # (scores, bins)
        if inputs.is_number[v]:
            cuts = trace.bins[int(mine[0])]
            assert cuts is not None
            nodes.chain(np.full(cuts.size, inputs.starts[v]), cuts, shares.T)
        else:
            members = inputs.members(v)
            nodes.one_of(members, shares.T)
    return nodes.ensemble(info, bias, stands_for_missing(preprocessing))


class _Nodes:
    """Nodes of all trees, in the order of `TreeEnsemble`."""

    def __init__(self, scores: int) -> None:
        self.scores = scores
        self.roots: list[int] = []
        self.rows: list[tuple[int, float, int, int, Floats]] = []

    def _add(self, feature: int, cut: float, value: Floats | None = None) -> int:
        self.rows.append((feature, cut, -1, -1, np.zeros(self.scores) if value is None else value))
        return len(self.rows) - 1

    def _link(self, node: int, left: int, right: int) -> None:
        feature, cut, _, _, value = self.rows[node]
        self.rows[node] = (feature, cut, left, right, value)

    def chain(self, features: np.ndarray, cuts: Floats, values: Floats) -> None:
        """x <= cuts[0]: the first value; else x <= cuts[1]: the second; ..."""
        here = self._add(int(features[0]), float(cuts[0])) if cuts.size else self._add(-1, 0.0, values[0])
        self.roots.append(here)
        for k in range(cuts.size):
            left = self._add(-1, 0.0, values[k])
            last = k + 1 == cuts.size
            right = self._add(-1, 0.0, values[k + 1]) if last else self._add(int(features[k + 1]), float(cuts[k + 1]))
            self._link(here, left, right)
            here = right

    def one_of(self, members: np.ndarray, values: Floats) -> None:
        """The first member that is 1 decides; if no other is, the last one does."""
        here = self._add(int(members[0]), HALF) if members.size > 1 else self._add(-1, 0.0, values[0])
        self.roots.append(here)
        for k in range(members.size - 1):
            last = k + 2 == members.size
            left = self._add(-1, 0.0, values[k + 1]) if last else self._add(int(members[k + 1]), HALF)
            right = self._add(-1, 0.0, values[k])
            self._link(here, left, right)
            here = left

    def ensemble(self, info: ModelInfo, base: Floats, instead: Floats) -> TreeEnsemble:
        """``instead``: the number that a missing one of each column is binned like, or NaN."""
        if not self.roots:
            self.roots.append(self._add(-1, 0.0))
        feature, cut, left, right, value = zip(*self.rows, strict=True)
        filled = np.isfinite(instead)
        missing_left = np.asarray(instead[np.array(feature)] <= np.array(cut), dtype=np.bool_)
        return TreeEnsemble(
            info=info, roots=np.array(self.roots, dtype=np.int64), feature=np.array(feature, dtype=np.int64),
            cut=np.array(cut), left=np.array(left, dtype=np.int64), right=np.array(right, dtype=np.int64),
            value=np.array(value).reshape(len(self.rows), self.scores), base=np.asarray(base, dtype=np.float64),
            missing_left=missing_left if filled.any() else None, may_miss=filled if filled.any() else None,
        )  # fmt: skip
