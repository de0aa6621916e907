"""What must hold at every point of a region, as margins that must not be negative.

A wanted class t with rivals j becomes one row per rival: margin_j(x) = score_t(x) - score_j(x) (for one score: plus or
minus the score, minus the threshold). The label is guaranteed where margin_j(x) >= slack_j for every j; the slack
covers ties that go to the rival, the original's rounding in any summation order, and ours. Wanted values of a regressor
are rows of the same kind, one for each end of their range (see `values`). What is wanted of each of several models
(`Each`) is the rows of all of them, one model after the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, Union

import numpy as np

from elbowroom.models.base import Decision, Label, Link, Model, ModelInfo, class_index
from elbowroom.models.joint import members_of, side_by_side, stacked
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.network import ReluNetwork
from elbowroom.models.oblique import ObliqueEnsemble
from elbowroom.models.rounding import ExactSteps, Parts, row_rule
from elbowroom.models.trees import TreeEnsemble
from elbowroom.models.values import ValueRange, score_rows
from elbowroom.numerics import (
    DIGITS,
    DIGITS32,
    EPS,
    EPS32,
    Floats,
    Ints,
    gamma,
    next_down,
    next_up,
    smallest_quantum,
    sums_are_exact,
)

SMALLEST_PROBABILITY: Final = 1e-9  # of logistic functions; closer to 0 or 1 their rounding outgrows their change
Need: TypeAlias = Union[
    float, ValueRange, "Each", None
]  # of the target: its label alone, its probability, values of a regressor, or what is wanted of each of several models


@dataclass(frozen=True)
class Each:
    """What is wanted of each of several models: its label (None for a regressor), and what is needed beyond it."""

    wants: tuple[tuple[Label, Need], ...]

    def of(self, model: Model) -> Iterator[tuple[Model, int, Need]]:
        """Every member, with the index of its wanted class and its need."""
        for member, (label, need) in zip(members_of(model), self.wants, strict=True):
            found = 0 if member.info.is_regressor else class_index(member.info, label)
            if found is None:
                raise ValueError(f"{label!r} is not a class of {member.info.source}")
            yield member, found, need


@dataclass(frozen=True, eq=False)
class Contrast:
    """margins = matrix @ scores - threshold; ``slack_scale`` rows say how the slack is made."""

    matrix: Floats  # (rivals, K)
    threshold: Floats  # (rivals,)
    tie_is_good: tuple[bool, ...]  # margin exactly 0 still gives the wanted class
    slack: Floats  # (rivals,) for whatever happens after the scores: link functions, divisions
    rivals: tuple[int, ...]  # class index of the rival of each row


@dataclass(frozen=True, eq=False)
class AffineMargins:
    """margin(x) = affine(x) must be >= affine.error(|x|) + slack."""

    affine: Affine
    slack: Floats


@dataclass(frozen=True, eq=False)
class NetworkMargins:
    """margin(x) = network with ``layers`` must be >= propagated error + slack."""

    layers: tuple[Affine, ...]
    slack: Floats


@dataclass(frozen=True, eq=False)
class TreeMargins:
    """margin_j(x) = base[j] + sum over trees of value[leaf, j] must be >= slack[j], summed in float64 in any order.

    A point whose margins all reach the slack has the wanted class. One with a margin that misses the ``hopeful`` slack has
    another class. What only rounding decides is hopeful and not good: `near_tie`.
    """

    value: Floats  # (leaves, rivals), rows as in model.leaves
    base: Floats  # (rivals,)
    slack: Floats  # (rivals,)
    hopeful: TreeMargins | None = None

    @property
    def open_ties(self) -> bool:
        """True if rounding may decide anything at all: strict and hopeful margins differ."""
        h = self.hopeful
        return h is not None and not (np.array_equal(h.slack, self.slack) and np.array_equal(h.value, self.value))

    def holds(self, leaves: Ints) -> bool:
        """True if these leaves, one per tree, reach what is needed."""
        return bool((self.base + self.value[leaves].sum(axis=0) >= self.slack).all())

    def near_tie(self, leaves: Ints) -> bool:
        """True if rounding alone decides about a point in these leaves, one per tree."""
        return self.hopeful is not None and self.hopeful.holds(leaves) and not self.holds(leaves)


def contrast(info: ModelInfo, target: int, probability: Need) -> Contrast:
    """The rows of `_contrast`, each of which must hold for the worst of all models nearby: |row| . spread more is needed."""
    found = _contrast(info, target, probability)
    if not info.spread:
        return found
    return replace(found, threshold=found.threshold + np.abs(found.matrix) @ np.array(info.spread) * (1.0 + 8.0 * EPS))


def _contrast(info: ModelInfo, target: int, probability: Need) -> Contrast:
    """Rows of score differences that must be positive for the target class (or for its probability to reach tau), or rows of
    a regressor's score for the wanted values; their ends are wanted as well."""
    if isinstance(probability, Each):
        raise TypeError("several models have margins of their own, each")
    if isinstance(probability, ValueRange):
        rows = score_rows(info, probability)
        return Contrast(
            rows.sign[:, None], rows.threshold, (True,) * rows.sign.size, rows.slack, (-1,) * rows.sign.size
        )
    n_classes = len(info.classes)
    eps = EPS32 if info.single else EPS
    if info.decision is not Decision.ARGMAX:
        sign = 1.0 if target == 1 else -1.0
        tie, slack = (info.decision is Decision.NONNEGATIVE) == (target == 1), info.evaluation_error
        threshold = sign * info.threshold + 0.0
        if probability is not None:
            # p_t >= tau  <=>  sign * score >= log(tau / (1 - tau)); the computed p is off by a few roundings,
            # which a slack of 8 eps / (tau (1 - tau)) in the score outweighs.
            threshold, tie = float(np.log(probability) - np.log1p(-probability)), True
            slack += 8 * eps * (1.0 / (probability * (1.0 - probability)) + abs(threshold))
        return Contrast(np.array([[sign]]), np.array([threshold]), (tie,), np.array([slack]), (1 - target,))
    if probability is not None:
        if info.link is Link.IDENTITY:
            row = np.zeros((1, n_classes))
            row[0, target] = 1.0
            return Contrast(row, np.array([probability]), (True,), np.zeros(1), (-1,))
        if n_classes > 2:
            raise NotImplementedError("a probability threshold on a softmax of more than two classes is not linear")
        # two softmax outputs: p_t >= tau  <=>  score_t - score_j >= log(tau / (1 - tau))
        threshold = float(np.log(probability) - np.log1p(-probability))
        row = np.full((1, 2), -1.0)
        row[0, target] = 1.0
        slack = info.evaluation_error + 8 * eps * (1.0 / (probability * (1.0 - probability)) + abs(threshold))
        return Contrast(row, np.array([threshold]), (True,), np.array([slack]), (1 - target,))
    rivals = tuple(j for j in range(n_classes) if j != target)
    matrix = np.zeros((len(rivals), n_classes))
    matrix[:, target] = 1.0
    matrix[np.arange(len(rivals)), rivals] = -1.0
    slacks = np.full(len(rivals), info.evaluation_error)
    return Contrast(matrix, np.zeros(len(rivals)), tuple(target < j for j in rivals), slacks, rivals)


def _contrast_after(c: Contrast) -> Affine:
    """The contrast as an affine map of scores; |row @ computed scores| errors are added by `Affine.then`."""
    return Affine(c.matrix, -c.threshold, np.abs(c.matrix) * gamma(4), np.abs(c.threshold) * gamma(4))


def linear_margins(model: LinearModel, target: int, probability: Need = None) -> AffineMargins:
    if isinstance(probability, Each):
        rows = [
            linear_margins(m, index, need) for m, index, need in probability.of(model) if isinstance(m, LinearModel)
        ]
        return AffineMargins(stacked([row.affine for row in rows]), np.concatenate([row.slack for row in rows]))
    c = contrast(model.info, target, probability)
    return AffineMargins(model.affine.then(_contrast_after(c)), _strict(c))


def network_margins(model: ReluNetwork, target: int, probability: Need = None) -> NetworkMargins:
    if isinstance(probability, Each):
        rows = [
            network_margins(m, index, need) for m, index, need in probability.of(model) if isinstance(m, ReluNetwork)
        ]
        return NetworkMargins(side_by_side([row.layers for row in rows]), np.concatenate([row.slack for row in rows]))
    c = contrast(model.info, target, probability)
    return NetworkMargins((*model.layers[:-1], model.layers[-1].then(_contrast_after(c))), _strict(c))


def _strict(c: Contrast) -> Floats:
    """Continuous scores: a tie is never good enough; the smallest positive slack makes >= strict."""
    return np.maximum(c.slack, np.finfo(np.float64).tiny)


def tree_margins(
    model: TreeEnsemble | ObliqueEnsemble, target: int, probability: Need = None, of: Floats | None = None
) -> TreeMargins:
    """Margins of all leaves, or of the rows ``of`` score contributions. Ties of sums that need no rounding are decided as
    the model decides them, sum by sum; others need a slack (see `rounding`)."""
    if isinstance(probability, Each):
        return _margins_of_all(model, probability, of)
    c = contrast(model.info, target, probability)
    leaves = model.leaf_order if isinstance(model, TreeEnsemble) else model.leaves
    n_trees, digits = leaves.n_trees, DIGITS32 if model.single else DIGITS
    threshold, ties = c.threshold * model.divisor, c.tie_is_good
    if probability is not None and model.info.link is Link.IDENTITY:
        parts = np.concatenate([leaves.value[:, target], model.base[target : target + 1]])
        threshold = np.array([least_sum(float(t), model.divisor, parts, n_trees + 2, digits) for t in c.threshold])
    elif probability is None and model.info.threshold != 0.0:
        parts = np.concatenate([leaves.value[:, 0], model.base])
        needed = _needed_sum(model.info, target, model.divisor, parts, n_trees + 2, digits)
        threshold, ties = np.array([needed + sum(model.info.spread) * model.divisor]), (True,)
    biggest = np.zeros(len(threshold))
    for k in range(n_trees):
        rows = np.abs(leaves.value[leaves.offsets[k] : leaves.offsets[k + 1]]) @ np.abs(c.matrix).T
        biggest += rows.max(axis=0)
    biggest += np.abs(model.base) @ np.abs(c.matrix).T + np.abs(threshold)
    of_leaves = leaves.value @ c.matrix.T  # one or two nonzeros per row: each entry is one rounded difference
    without = model.base @ c.matrix.T
    base = without - threshold
    contributions = leaves.value if of is None else of
    value = of_leaves if of is None else of @ c.matrix.T
    hopeful = TreeMargins(value.copy(), base, np.empty(base.size))
    strict = TreeMargins(value.copy(), base, np.empty(base.size), hopeful)
    for j in range(base.size):
        used = np.flatnonzero(c.matrix[j])
        parts_j = Parts(
            leaves.value[:, used],
            of_leaves[:, j],
            leaves.offsets,
            model.base[used],
            float(threshold[j]),
            float(base[j]),
        )
        after = float(c.slack[j]) * model.divisor
        steps = ExactSteps(
            parts=not model.info.fused_products,
            nothing_follows=after == 0.0 and model.divisor == 1.0,
            ties_last=after == 0.0 or (model.info.ties_last and threshold[j] == 0.0),
            digits=digits,
        )
        rounding = 2 * gamma(n_trees + 8, EPS32 if model.single else EPS) * float(biggest[j]) + after
        if model.info.spread:  # sums of other leaf values: rounding decides about none of them
            strict.slack[j], hopeful.slack[j] = 2.0 * rounding, -2.0 * rounding
            base[j] = without[j] - threshold[j]
            continue
        rule = row_rule(parts_j, rounding, after, steps, ties[j])
        inexact = rule.inexact(contributions[:, used])
        base[j] = without[j] - rule.threshold
        strict.value[inexact, j] -= rule.caution
        hopeful.value[inexact, j] += rule.hope
        strict.slack[j], hopeful.slack[j] = rule.slack, rule.hopeful_slack
    return strict


def _margins_of_all(model: TreeEnsemble | ObliqueEnsemble, wants: Each, of: Floats | None) -> TreeMargins:
    """Rows of all members: leaves of the others add nothing to them."""
    rows, first = [], 0
    offered = [None] * len(wants.wants) if of is None else model.info.parted(of)
    n_leaves = (model.leaf_order if isinstance(model, TreeEnsemble) else model.leaves).value.shape[0]
    for (member, index, need), own in zip(wants.of(model), offered, strict=True):
        assert isinstance(member, TreeEnsemble | ObliqueEnsemble)
        found = tree_margins(member, index, need, own)
        for_all = (
            (found, found.hopeful or found)
            if of is not None
            else tuple(_among(each, first, n_leaves) for each in (found, found.hopeful or found))
        )
        rows.append(for_all)
        first += found.value.shape[0]
    strict, hopeful = (_beside([row[i] for row in rows]) for i in (0, 1))
    return TreeMargins(strict.value, strict.base, strict.slack, hopeful)


def _beside(rows: Sequence[TreeMargins]) -> TreeMargins:
    """Rows of several models, one after the other."""
    return TreeMargins(
        np.hstack([row.value for row in rows]),
        np.concatenate([row.base for row in rows]),
        np.concatenate([row.slack for row in rows]),
    )


def _among(margins: TreeMargins, first: int, n_leaves: int) -> TreeMargins:
    """The same rows for all leaves, of which these are some, from ``first`` on."""
    value = np.zeros((n_leaves, margins.base.size))
    value[first : first + margins.value.shape[0]] = margins.value
    return TreeMargins(value, margins.base, margins.slack)


def _needed_sum(info: ModelInfo, target: int, divisor: float, parts: Floats, terms: int, digits: int) -> float:
    """What a sum (or, for the first class, its negative) must reach where the label compares a mean with a threshold.

    The second class: the smallest sum whose computed mean is on its side. The first: minus the largest sum whose mean is not;
    sums that need no rounding have none between the two, so that a tie is good on both sides.
    """
    reached = info.threshold if info.decision is Decision.NONNEGATIVE else float(next_up(info.threshold))
    least = least_sum(reached, divisor, parts, terms, digits)
    if target == 1:
        return least
    quantum = smallest_quantum(np.append(parts, least))
    on_grid = quantum > 0 and sums_are_exact(np.append(parts, least), terms, digits)
    return -(least - quantum) if on_grid else -float(next_down(least))


def least_sum(probability: float, divisor: float, parts: Floats, terms: int, digits: int = DIGITS) -> float:
    """The smallest sum of leaf values whose computed mean, fl(sum / divisor), reaches the probability (or a wanted value; rows
    with the opposite sign are the same question, because rounding is symmetric).

    Dividing is monotone, even when rounded, so the sums that reach it are a half line of floats: seven votes of ten do
    reach 0.7, although fl(0.7 * 10) may lie on either side. Sums that need no rounding are multiples of the quantum of
    their parts, so the half line may start at the next multiple; comparing with that one is exact as well.
    """
    least = probability * divisor
    while least / divisor >= probability:
        least = float(next_down(least))
    while least / divisor < probability:
        least = float(next_up(least))
    quantum = smallest_quantum(parts)
    if quantum > 0 and abs(least) < quantum / EPS and sums_are_exact(parts, terms, digits):
        least = math.ceil(least / quantum) * quantum
    return least


def holds_probability(info: ModelInfo, probability: float | None) -> str | None:
    """The reason why a probability threshold cannot be set for this model, or None."""
    if probability is None:
        return None
    if info.link is Link.NONE:
        return f"{info.source} has no probabilities"
    least = SMALLEST_PROBABILITY
    if info.link is not Link.IDENTITY and not least <= probability <= 1.0 - least:
        return (
            f"{info.source} computes its probabilities as 1 / (1 + exp(-score)), which is not reliable below "
            f"{least:g} and above 1 - {least:g}"
        )
    if info.link is Link.SOFTMAX and len(info.classes) > 2:
        return (
            f"{info.source} is a softmax over {len(info.classes)} classes, where a probability threshold is not linear"
        )
    return None
