"""Parts of an ensemble that vote: one tree each, with a label at every leaf.

A part that is one tree, or linear, splits the rows into pieces with one label each. Linear parts become oblique trees: a
hyperplane for two classes, and a knock-out of hyperplanes for more. What a single tree says is decided by its leaf alone, by
the original's own rule; what a sum of several trees says is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.models.base import Decision, Model, ModelInfo
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.oblique import ObliqueEnsemble
from elbowroom.models.trees import TreeEnsemble
from elbowroom.models.union import as_oblique, join_oblique, join_trees
from elbowroom.numerics import EPS, Floats, Ints

MOST_KNOCK_OUT_CLASSES = 6  # 2^(K - 1) - 1 hyperplanes


@dataclass(frozen=True, eq=False)
class Voter:
    """One tree that gives every row a label; ``label`` holds a class index per node (-1 where it is not a leaf)."""

    tree: TreeEnsemble | ObliqueEnsemble
    label: Ints

    def votes(self, n_classes: int, classes: Ints, yes: float, no: float = 0.0) -> Floats:
        """Node values: ``yes`` for the class of the label, ``no`` for the others; ``classes`` maps the part's to all."""
        value = np.zeros((self.label.size, n_classes))
        leaves = np.flatnonzero(self.label >= 0)
        value[leaves] = no
        value[leaves, classes[self.label[leaves]]] = yes
        return value


def voter(parsed: Model) -> Voter | None:
    """The part as one tree with a label per leaf, or None if it is not of this form."""
    info = parsed.info
    if isinstance(parsed, TreeEnsemble | ObliqueEnsemble):
        if parsed.n_trees != 1 or info.is_regressor or info.evaluation_error != 0.0 or info.fused_products:
            return None
        leaf = (parsed.feature if isinstance(parsed, TreeEnsemble) else parsed.left) < 0
        scores = (parsed.base + parsed.value) / parsed.divisor
        return Voter(parsed, np.where(leaf, info.labels_of(scores), -1))
    if not isinstance(parsed, LinearModel) or info.is_regressor:
        return None
    if info.decision is not Decision.ARGMAX:
        return stump(info, parsed.affine)
    return _knock_out(info, parsed.affine) if len(info.classes) <= MOST_KNOCK_OUT_CLASSES else None


def poll(info: ModelInfo, voters: Sequence[Voter], values: Sequence[Floats], divisor: float = 1.0) -> Model:
    """All voters as one sum of their node values; trees among hyperplanes become hyperplanes themselves."""
    base = np.zeros(values[0].shape[1])
    trees = [v.tree for v in voters if isinstance(v.tree, TreeEnsemble)]
    if len(trees) == len(voters):
        return join_trees(info, trees, values, base, divisor)
    oblique = [as_oblique(v.tree) if isinstance(v.tree, TreeEnsemble) else v.tree for v in voters]
    return join_oblique(info, oblique, values, base, divisor)


def stump(info: ModelInfo, affine: Affine, below: int = 0, above: int = 1) -> Voter:
    """One hyperplane: label ``above`` where the only output exceeds the threshold of ``info``, else ``below``."""
    planes = _Hyperplanes(info)
    shift = Affine(
        np.eye(1), np.array([-info.threshold]), np.full((1, 1), 2 * EPS), np.full(1, 2 * EPS * abs(info.threshold))
    )
    moved = affine if info.threshold == 0.0 else affine.then(shift)
    planes.split(moved, lambda: planes.leaf(below), lambda: planes.leaf(above))
    return planes.voter()


def _knock_out(info: ModelInfo, affine: Affine) -> Voter:
    """The largest of K outputs as a tree: the winner so far meets the next one. Ties are within the errors of the splits."""
    planes = _Hyperplanes(info)

    def play(winner: int, challenger: int) -> int:
        if challenger == len(affine.weight):
            return planes.leaf(winner)
        row = np.zeros((1, len(affine.weight)))
        row[0, challenger], row[0, winner] = 1.0, -1.0
        lead = affine.then(Affine.exact(row, np.zeros(1)))  # how far the challenger is ahead
        return planes.split(lead, lambda: play(winner, challenger + 1), lambda: play(challenger, challenger + 1))

    play(0, 1)
    return planes.voter()


class _Hyperplanes:
    """Nodes of one oblique tree, parents before children."""

    def __init__(self, info: ModelInfo) -> None:
        self.info = info
        self.weight: list[Floats] = []
        self.slope: list[Floats] = []
        self.constant: list[float] = []
        self.threshold: list[float] = []
        self.children: list[tuple[int, int]] = []
        self.label: list[int] = []

    def _node(self, weight: Floats, slope: Floats, constant: float, threshold: float, label: int) -> int:
        self.weight.append(weight)
        self.slope.append(slope)
        self.constant.append(constant)
        self.threshold.append(threshold)
        self.label.append(label)
        self.children.append((-1, -1))
        return len(self.label) - 1

    def leaf(self, label: int) -> int:
        width = self.info.n_features
        return self._node(np.zeros(width), np.zeros(width), 0.0, 0.0, label)

    def split(self, affine: Affine, left: Callable[[], int], right: Callable[[], int]) -> int:
        """Left where the only output of ``affine`` is at most 0; whatever the label rule adds blurs the hyperplane as well."""
        constant = float(affine.error_constant[0]) + self.info.evaluation_error
        number = self._node(affine.weight[0], affine.error_slope[0], constant, -float(affine.bias[0]), -1)
        below = left()
        self.children[number] = (below, right())
        return number

    def voter(self) -> Voter:
        left, right = np.array(self.children, dtype=np.int64).T
        label = np.array(self.label, dtype=np.int64)
        value = np.zeros((label.size, len(self.info.classes)))
        value[label >= 0, label[label >= 0]] = 1.0
        tree = ObliqueEnsemble(
            info=replace(self.info, decision=Decision.ARGMAX, threshold=0.0, evaluation_error=0.0),
            roots=np.zeros(1, dtype=np.int64), weight=np.array(self.weight), threshold=np.array(self.threshold),
            left=left, right=right, value=value, base=np.zeros(value.shape[1]), error_slope=np.array(self.slope),
            error_constant=np.array(self.constant),
        )  # fmt: skip
        return Voter(tree, label)
