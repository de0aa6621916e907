"""Rows of a node: what a scenario asks of all centres of a box, as one linear inequality.

Under a fixed shift t column f adds the convex function a max(e - t, k) of its centre. Over the node's interval of e it
is replaced by its chord: exact at both ends, and exact everywhere once the kink k + t is outside. The row with chords
is implied by the true one, so the node's optimum is a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import Bools, Floats, gamma
from elbowroom.search.linear.adversary import Adversary
from elbowroom.search.linear.least import Rows
from elbowroom.search.linear.question import Question


@dataclass(frozen=True, eq=False)
class RowShift:
    """A shift of the room against one row."""

    row: int
    shift: Floats


@dataclass(frozen=True, eq=False)
class Node:
    """A box of centres, the categories left to each group, and the columns already counted as changed."""

    bound: float  # proven lower bound on the distance of every valid centre in the box
    lower: Floats
    upper: Floats
    allowed: tuple[Bools, ...]  # per group column: which of its ``others`` are left
    counted: Bools  # columns that count against AtMost
    scenarios: tuple[RowShift, ...]


@dataclass(frozen=True, eq=False)
class Chord:
    """a max(e - t, k) <= slope e + constant on the node's interval, per column."""

    slope: Floats
    constant: Floats


def chord(adversary: Adversary, shift: Floats, lower: Floats, upper: Floats) -> Chord:
    up = adversary.sign > 0
    e_low = np.where(up, lower - adversary.start, adversary.start - upper)
    e_high = np.where(up, upper - adversary.start, adversary.start - lower)
    kink = adversary.edge + shift
    slope = adversary.gain.copy()
    constant = -adversary.gain * shift
    below = (e_low < kink) & (e_high <= kink)
    slope[below] = 0.0
    constant[below] = adversary.gain[below] * adversary.edge[below]
    across = np.flatnonzero((e_low < kink) & (e_high > kink))
    for f in across:
        at_low = adversary.gain[f] * adversary.edge[f]
        if np.isfinite(e_high[f]):
            at_high = adversary.gain[f] * (e_high[f] - shift[f])
            slope[f] = (at_high - at_low) / (e_high[f] - e_low[f])
        constant[f] = at_low - slope[f] * e_low[f]
    return Chord(slope, constant)


def category_gain(question: Question, node: Node, row: int) -> Floats:
    """Per group column: the most that leaving the factual category can add to the row."""
    return np.array(
        [
            group.delta[row, left].max() if left.any() else 0.0
            for group, left in zip(question.groups, node.allowed, strict=True)
        ]
    )


def node_rows(
    question: Question,
    adversaries: list[Adversary],
    node: Node,
    lower: Floats,
    upper: Floats,
    unit: Floats,
) -> Rows:
    """All scenario rows of the node in scaled moves v = (c - factual) / unit."""
    n_single = question.singles.size
    raw, b, doubt = [], [], []
    for scenario in node.scenarios:
        adversary = adversaries[scenario.row]
        line = chord(adversary, scenario.shift, lower, upper)
        row = line.slope * adversary.sign
        row[n_single:] = category_gain(question, node, scenario.row)
        raw.append(row)
        base, needed = question.base[scenario.row], question.needed[scenario.row]
        b.append(needed - base - float(line.constant.sum()))
        doubt.append(gamma(row.size + 8) * float(np.abs(line.constant).sum()) + gamma(4) * (abs(needed) + abs(base)))
    model = np.array([scenario.row < question.n_model_rows for scenario in node.scenarios], dtype=np.bool_)
    table = np.array(raw).reshape(-1, question.n_columns)
    return Rows(table * unit, np.array(b), np.array(doubt), model, table)
