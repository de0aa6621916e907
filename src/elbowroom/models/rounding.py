"""Which sums of leaf values are computed without rounding, and what a margin needs where they are not.

A margin is m = sum of the parts of the wanted class - sum of the parts of its rival; the parts are one leaf per tree and
the base, and a part that is 0 is no rounding. The original adds up each side, in an order of its own, and compares. Let R
(`RowRule.rounding`) bound what all roundings, the original's and ours, can do to m: 2 gamma(n + 8) sum max|part|, plus what
the original does after the sum. Whether a sum needs rounding depends on the leaves that meet in it, so it is decided per
sum, in one of four ways:

* **Two stored numbers.** Each side has at most one part that is not 0 (or one side has two, and is compared with 0): the
  original compares what is stored, and the sign of a rounded difference is exact. So is our m, as far as its sign goes.
* **All sums are exact.** All parts are multiples of one power of two, small enough for 53 bits (24 in float32).
* **Some sums are exact.** A leaf is *exact* if its parts are multiples of ``quantum``, a power of two >= 4 R. A sum of exact
  leaves alone is exact in any order, on both sides, and m is a multiple of the quantum: 0, or at least 4 R away from 0. Any
  number between -4 R and 0 (0 and 4 R, where a tie goes to the rival) tells these apart, however m is added up. A
  sum with an *inexact* leaf needs m >= R. Both at once: m >= -2 R is asked, and 3 R are taken off the value of every
  inexact leaf. With k of them m >= R + 3 (k - 1) R is then needed, more than R; an additive rule cannot ask for less, as each
  of them may be the only one. A sum over trees of smallest (largest) leaf values is that of one leaf per tree, so that
  bounds made of such sums stay true.
* **No sum is exact.** Some tree has no exact leaf: m >= R is needed.

**Strict and hopeful.** What is proven to be good reaches the *strict* needs above. What misses the *hopeful* ones is proven
to be bad: m < -R with an inexact leaf, or an exact sum on the rival's side. Between the two lies what only rounding
decides: a point *within rounding of a tie*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import DIGITS, Bools, Floats, Ints, smallest_quantum, sums_are_exact


@dataclass(frozen=True, eq=False)
class Parts:
    """What is added up in one row of margins: ``leaf`` has a column per score that is used, ``margin`` is their difference."""

    leaf: Floats  # (leaves, one or two scores)
    margin: Floats  # (leaves,)
    offsets: Ints  # leaves of tree k: offsets[k] : offsets[k + 1]
    base: Floats  # (one or two scores,)
    threshold: float
    constant: float  # of the margin: base and threshold together

    @property
    def all(self) -> Floats:
        return np.concatenate([self.leaf.ravel(), self.base, [self.threshold]])


@dataclass(frozen=True)
class ExactSteps:
    """Which steps of the original are known to round nothing, or not to matter at a tie."""

    parts: bool  # the parts are added as they are stored
    nothing_follows: bool  # the sums are compared as they are
    ties_last: bool  # whatever follows, equal sums tie
    digits: int = DIGITS  # of the floats that the original adds up in


@dataclass(frozen=True)
class RowRule:
    """The needs of one row: strict sums >= ``slack`` are proven good, hopeful sums < ``hopeful_slack`` proven bad.

    The value of an inexact leaf is lowered by ``caution`` in strict sums, and raised by ``hope`` in hopeful ones.
    """

    slack: float
    hopeful_slack: float
    threshold: float
    quantum: float = 0.0  # exact leaves are its multiples; 0: all leaves count as exact
    caution: float = 0.0
    hope: float = 0.0

    def inexact(self, parts: Floats) -> Bools:
        """Which rows of parts hold a number that is not on the grid of exact leaves."""
        if self.quantum == 0.0:
            return np.zeros(len(parts), dtype=np.bool_)
        return off_grid(parts, self.quantum)


def off_grid(parts: Floats, quantum: float) -> Bools:
    """Rows with a number that is no multiple of a power of two (dividing by it is exact)."""
    multiple = parts / quantum
    return np.asarray((multiple != np.rint(multiple)).any(axis=1))


def row_rule(parts: Parts, rounding: float, after: float, exact_steps: ExactSteps, tie_is_good: bool) -> RowRule:
    """How one row is decided; see the module.

    ``rounding`` is R and includes ``after``, the error of what follows the sum.
    """
    if exact_steps.nothing_follows and _compares_stored_numbers(parts, exact_steps.parts):
        smallest = _smallest_positive(parts)
        slack = 0.0 if tie_is_good else smallest / 4
        return RowRule(slack, slack, parts.threshold)
    if exact_steps.parts and exact_steps.ties_last:
        quantum = smallest_quantum(parts.all) or 1.0  # nothing but zeros: every margin is 0
        terms = parts.offsets.size + 1
        if sums_are_exact(parts.all, terms * parts.base.size, exact_steps.digits) and quantum >= 4 * after:
            slack = 0.0 if tie_is_good else quantum / 2
            return RowRule(slack, slack, parts.threshold)
        mixed = _some_exact(parts, rounding, tie_is_good)
        if mixed is not None:
            return mixed
    return RowRule(rounding, -rounding, parts.threshold)


def _compares_stored_numbers(parts: Parts, exact_parts: bool) -> bool:
    """True if the original rounds nothing before it compares two numbers (one of which may be 0). Parts that are rounded
    products are stored numbers only where nothing is added to them: a fused operation rounds product and sum at once."""
    per_tree = np.logical_or.reduceat(parts.leaf != 0.0, parts.offsets[:-1], axis=0)
    terms = per_tree.sum(axis=0) + (parts.base != 0.0)
    if terms.size == 2:
        return bool((terms <= 1).all()) and parts.threshold == 0.0
    return int(terms[0]) + (parts.threshold != 0.0) <= 2 and (exact_parts or int(terms[0]) <= 1)


def _smallest_positive(parts: Parts) -> float:
    """The smallest positive margin of stored numbers (1 if there is none): a tie that loses needs a part of it."""
    starts = parts.offsets[:-1]
    trees = np.flatnonzero(np.logical_or.reduceat(parts.margin != 0.0, starts))
    terms = [np.unique(parts.margin[parts.offsets[k] : parts.offsets[k + 1]]) for k in trees]
    first = terms[0] + parts.constant if terms else np.array([parts.constant])
    if len(terms) == 2:
        partner = np.searchsorted(terms[1], -first, side="right")
        fits = partner < terms[1].size
        first = first[fits] + terms[1][partner[fits]]
    positive = first[first > 0]
    return float(positive.min()) if positive.size else 1.0


def _some_exact(parts: Parts, rounding: float, tie_is_good: bool) -> RowRule | None:
    """The rule if every tree has an exact leaf; None if no sum can be exact."""
    if not 1e-290 < rounding < 1e290:
        return None
    quantum = 2.0 ** math.ceil(math.log2(4 * rounding))
    exact = ~off_grid(parts.leaf, quantum)
    if off_grid(parts.base[None], quantum)[0] or not np.logical_or.reduceat(exact, parts.offsets[:-1]).all():
        return None
    # An exact sum reaches the threshold iff it reaches the next multiple; inexact ones are hoped for from the old one on.
    threshold = math.ceil(parts.threshold / quantum) * quantum
    moved = threshold - parts.threshold
    if tie_is_good:
        return RowRule(-2 * rounding, -2 * rounding, threshold, quantum, caution=3 * rounding, hope=moved)
    return RowRule(rounding, 2 * rounding, threshold, quantum, hope=3 * rounding + moved)
