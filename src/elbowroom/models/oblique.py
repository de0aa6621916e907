"""Trees whose splits are hyperplanes (oblique trees), single or added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from elbowroom.errors import InputError
from elbowroom.models.base import Decision, Label, Link, ModelInfo, fingerprint_of
from elbowroom.numerics import Bools, Floats, Ints, gamma

_BLOCK: Final = 2_000  # rows at a time, times all splits


@dataclass(frozen=True, eq=False)
class ObliqueLeaves:
    """All leaves of all trees. Leaf l lies on the left (goes_left) or right side of every split of its path.

    Leaves of tree k are ``offsets[k] : offsets[k + 1]``; entry i of a path belongs to leaf ``path_leaf[i]``.
    """

    offsets: Ints
    value: Floats  # (leaves, K)
    path_leaf: Ints
    path_node: Ints
    goes_left: Bools

    @property
    def n_trees(self) -> int:
        return len(self.offsets) - 1

    def path(self, leaf: int) -> tuple[Ints, Bools]:
        """Splits of one leaf and the sides taken."""
        first, final = np.searchsorted(self.path_leaf, [leaf, leaf + 1])
        return self.path_node[first:final], self.goes_left[first:final]


@dataclass(frozen=True, eq=False)
class ObliqueEnsemble:
    """scores(x) = (base + sum over trees of the value of the leaf that x reaches) / divisor.

    Node i is a leaf iff left[i] < 0; otherwise x goes left iff weight[i] . x <= threshold[i], with the dot product computed
    in float64 in any order. A point within `split_error` of a hyperplane may therefore go either way, and proofs treat
    it as if it did.

    Attributes:
        info: Names, classes, and how scores become a class.
        roots: The first node of each tree.
        weight: Of each node, one number per column.
        threshold: Of each node.
        left: Child of each node.
        right: Child of each node.
        value: Of each node, one column per score.
        base: What the sums begin with.
        divisor: 1, or the number of trees of an average.
        error_slope: What the original does before it compares (scalers, casts to float32) adds ``error_slope`` |x| +
            ``error_constant`` to the error of a split.
        error_constant: See ``error_slope``.

    Examples:
        >>> slanted = ObliqueEnsemble.from_arrays(  # income - debt <= 0: "no", else "yes"
        ...     weight=[[1, -1], [0, 0], [0, 0]], threshold=[0, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
        ...     value=[[0, 0], [1, 0], [0, 1]], names=["income", "debt"], classes=["no", "yes"],
        ... )
        >>> Explainer(slanted).explain({"income": 1, "debt": 3}, room=Box(0.5)).status.name
        'OPTIMAL'
    """

    info: ModelInfo
    roots: Ints
    weight: Floats  # (nodes, features)
    threshold: Floats  # (nodes,)
    left: Ints
    right: Ints
    value: Floats  # (nodes, K)
    base: Floats
    divisor: float = 1.0
    error_slope: Floats | None = None  # (nodes, features)
    error_constant: Floats | None = None  # (nodes,)
    single: ClassVar[bool] = False  # leaf values are added up in float64

    @classmethod
    def from_arrays(
        cls,
        weight: npt.ArrayLike,
        threshold: npt.ArrayLike,
        left: npt.ArrayLike,
        right: npt.ArrayLike,
        value: npt.ArrayLike,
        *,
        roots: Sequence[int] = (0,),
        names: Sequence[str] | None = None,
        classes: Sequence[Label] = (0, 1),
        decision: Decision = Decision.ARGMAX,
        link: Link = Link.NONE,
        base: npt.ArrayLike | None = None,
        divisor: float = 1.0,
        source: str = "oblique trees made from arrays",
    ) -> ObliqueEnsemble:
        """An ensemble from plain arrays, one row per node: x goes to ``left`` iff weight . x <= threshold.

        Args:
            weight: One row per node, one column per feature.
            threshold: One per node.
            left: The child of each node; -1 for leaves.
            right: The other child; -1 for leaves.
            value: One row per node; one column per class (the largest sum wins), or one column.
            roots: The first node of each tree.
            names: Of the columns.
            classes: The labels; none for a regressor.
            decision: ``Decision.ARGMAX``, with one column of values ``Decision.POSITIVE`` (the second class wins where the sum is
                positive), or ``Decision.VALUE`` (a regressor, whose value is the sum).
            link: How scores become probabilities, where the model has any.
            base: What the sums begin with.
            divisor: What they are divided by.
            source: What messages call the model.

        Returns:
            A model that `Explainer` takes.
        """
        if decision is Decision.VALUE:
            classes, link = (), Link.IDENTITY if link is Link.NONE else link
        a = np.array(weight, dtype=np.float64)
        v = np.array(value, dtype=np.float64)
        if a.ndim != 2 or v.ndim != 2:
            raise InputError(f"weight has {a.ndim} and value {v.ndim} dimensions; both need one row per node")
        t = np.array(threshold, dtype=np.float64)
        below, above = (np.array(child, dtype=np.int64) for child in (left, right))
        for what, array in (("threshold", t), ("left", below), ("right", above), ("value", v)):
            if len(array) != len(a):
                raise InputError(f"{what} has {len(array)} rows, weight has {len(a)}; give one per node")
        if not (np.isfinite(a).all() and np.isfinite(t).all() and np.isfinite(v).all()):
            raise InputError("weight, threshold and value must be finite numbers")
        names = tuple(f"x{i}" for i in range(a.shape[1])) if names is None else tuple(map(str, names))
        if len(names) != a.shape[1]:
            raise InputError(f"{len(names)} names for {a.shape[1]} columns of weight")
        n_scores = len(classes) if decision is Decision.ARGMAX else 1
        if v.shape[1] != n_scores:
            raise InputError(
                f"value has {v.shape[1]} columns, {decision.name} over {len(classes)} classes needs {n_scores}"
            )
        root = np.array(roots, dtype=np.int64)
        _check_trees(root, below, above)
        info = ModelInfo(names, tuple(classes), decision, link, source)
        start = np.zeros(n_scores) if base is None else np.array(base, dtype=np.float64).reshape(n_scores)
        return cls(
            info=info, roots=root, weight=a, threshold=t, left=below, right=above, value=v, base=start,
            divisor=float(divisor),
        )  # fmt: skip

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.roots)

    def split_error(self, magnitude: Floats) -> Floats:
        """How far the computed weight . x may be from the real one where |x_f| <= magnitude_f, for every node.

        Args:
            magnitude: One number per feature, or (features, m) of them.

        Returns:
            One error per node, or (nodes, m) of them.
        """
        error = gamma(self.weight.shape[1] + 4) * (np.abs(self.weight) @ magnitude)
        if self.error_slope is not None and self.error_constant is not None:
            constant = self.error_constant if magnitude.ndim == 1 else self.error_constant[:, None]
            error = error + self.error_slope @ magnitude + constant
        return np.asarray(error * (1.0 + 1e-9))

    def scores(self, X: Floats) -> Floats:
        """What the model computes before it decides.

        Args:
            X: Rows of inner floats.

        Returns:
            One row of scores per row.
        """
        parts = [self._scores(X[i : i + _BLOCK]) for i in range(0, len(X), _BLOCK)]
        return np.concatenate(parts) if parts else np.zeros((0, self.base.size))

    def _scores(self, X: Floats) -> Floats:
        goes_left = self.weight @ X.T <= self.threshold[:, None]
        total = np.broadcast_to(self.base, (len(X), self.base.size)).copy()
        everyone = np.arange(len(X))
        for root in self.roots:
            node = np.full(len(X), root)
            while True:
                inner = self.left[node] >= 0
                if not inner.any():
                    break
                step = np.where(goes_left[node, everyone], self.left[node], self.right[node])
                node = np.where(inner, step, node)
            total += self.value[node]
        return total if self.divisor == 1.0 else total / self.divisor

    @cached_property
    def leaves(self) -> ObliqueLeaves:
        """All leaves with the splits on their paths."""
        nodes: list[int] = []
        offsets = [0]
        paths: list[tuple[int, int, bool]] = []
        for root in self.roots:
            stack: list[tuple[int, tuple[tuple[int, bool], ...]]] = [(int(root), ())]
            while stack:
                node, path = stack.pop()
                if self.left[node] < 0:
                    paths += [(len(nodes), split, side) for split, side in path]
                    nodes.append(node)
                    continue
                stack.append((int(self.right[node]), (*path, (node, False))))
                stack.append((int(self.left[node]), (*path, (node, True))))
            offsets.append(len(nodes))
        table = np.array(paths, dtype=np.int64).reshape(-1, 3)
        return ObliqueLeaves(
            np.array(offsets, dtype=np.int64),
            self.value[np.array(nodes, dtype=np.int64)],
            table[:, 0],
            table[:, 1],
            table[:, 2].astype(np.bool_),
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything that decides about its outputs."""
        parts: tuple[npt.NDArray[np.generic], ...] = (
            self.roots, self.weight, self.threshold, self.left, self.right, self.value, self.base,
            np.array(self.divisor),
        )  # fmt: skip
        if self.error_slope is not None and self.error_constant is not None:
            parts = (*parts, self.error_slope, self.error_constant)
        return fingerprint_of(self.info, *parts)


def _check_trees(roots: Ints, left: Ints, right: Ints) -> None:
    """Every node is the child of at most one node, and no walk goes round in circles."""
    seen: set[int] = set()
    for root in roots:
        stack = [int(root)]
        while stack:
            node = stack.pop()
            if not 0 <= node < len(left):
                raise InputError(f"node {node} does not exist; there are {len(left)} nodes")
            if node in seen:
                raise InputError(f"node {node} is reached twice; the arrays do not describe a tree")
            seen.add(node)
            if (left[node] < 0) != (right[node] < 0):
                raise InputError(f"node {node} has one child; give two, or -1 twice for a leaf")
            if left[node] >= 0:
                stack += [int(left[node]), int(right[node])]
