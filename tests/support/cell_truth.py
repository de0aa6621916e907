"""The truth about small models, cell by cell: where the centre may lie so that its whole box is good.

Around a centre in one cell (a product of intervals between breaks) the room meets the same cells of the trees, so one look
decides for all of them. Distances are those to the closed cell: the infimum, which the engines reach up to the next float.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product

import numpy as np
from scipy.optimize import linprog

from elbowroom.models import LinearModel, ReluNetwork, TreeEnsemble

FAR = 50.0  # an end for columns without one


def corners(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    return np.array(list(product(*zip(lower, upper, strict=True))))


def room_is_good(model: TreeEnsemble, label: int, lower: np.ndarray, upper: np.ndarray) -> bool:
    """Every point of a box: one per cell of the trees, the largest of each interval."""
    values = []
    for f, cuts in enumerate(model.cuts):
        inside = cuts[(cuts >= lower[f]) & (cuts < upper[f])]
        values.append(np.append(inside, upper[f]))
    points = np.array(list(product(*values)))
    return bool((model.info.labels_of(model.scores(points)) == label).all())


def tree_breaks(model: TreeEnsemble, radius: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> list[np.ndarray]:
    """Between two of these, one after the other, the room of a centre meets the same cells."""
    found = []
    for f, cuts in enumerate(model.cuts):
        edges = np.concatenate([cuts - radius[f], cuts + radius[f]])
        edges = edges[(edges > lower[f]) & (edges < upper[f])]
        found.append(np.unique(np.concatenate([[max(lower[f], -FAR)], edges, [min(upper[f], FAR)]])))
    return found


def cells(breaks: Sequence[np.ndarray], good: Callable[[np.ndarray], bool]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The closed cells whose middle is good."""
    sides = [list(pairwise(b)) if b.size > 1 else [(b[0], b[0])] for b in breaks]
    for box in product(*sides):
        low, high = (np.array(end) for end in zip(*box, strict=True))
        if good((low + high) / 2):
            yield low, high


def least_cost(
    slant: np.ndarray, factual: np.ndarray, norm: str, low: np.ndarray, high: np.ndarray,
    more: Sequence[tuple[np.ndarray, float]] = (), still: Sequence[tuple[np.ndarray, float]] = (),
) -> float:  # fmt: skip
    """min |S (x - factual)| in l1 or linf over low <= x <= high with a . x >= b for ``more`` and a . x = b for ``still``."""
    n, k = factual.size, slant.shape[0]
    t = k if norm == "l1" else 1
    spread = np.eye(k) if norm == "l1" else np.ones((k, 1))
    rest = slant @ factual
    A = [np.hstack([slant, -spread]), np.hstack([-slant, -spread])]
    b = [rest, -rest]
    for a, need in more:
        A.append(np.concatenate([-a, np.zeros(t)])[None])
        b.append(np.array([-need]))
    equal = [np.concatenate([a, np.zeros(t)]) for a, _ in still]
    found = linprog(
        np.concatenate([np.zeros(n), np.ones(t)]),
        A_ub=np.vstack(A), b_ub=np.concatenate(b),
        A_eq=np.array(equal) if equal else None, b_eq=np.array([v for _, v in still]) if equal else None,
        bounds=[*zip(low, high, strict=True), *([(0.0, None)] * t)], method="highs",
    )  # fmt: skip
    return float(found.fun) if found.status == 0 else np.inf


def linear_cells(
    model: LinearModel, sign: float, radius: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, tuple[np.ndarray, float]]]:
    """Cells in which the clipped room's worst corner is one linear form, with the row that it must satisfy."""
    w, bias = sign * model.affine.weight[0], sign * float(model.affine.bias[0])
    breaks = [
        np.unique(np.clip([lower[f], lower[f] + radius[f], upper[f] - radius[f], upper[f]], lower[f], upper[f]))
        for f in range(w.size)
    ]
    for low, high in cells(breaks, lambda middle: True):
        middle = (low + high) / 2
        row, constant = np.zeros(w.size), bias
        for f in range(w.size):
            end = middle[f] - radius[f] if w[f] > 0 else middle[f] + radius[f]
            if lower[f] < end < upper[f]:
                row[f] = w[f]
                constant += w[f] * (-radius[f] if w[f] > 0 else radius[f])
            else:
                constant += w[f] * (lower[f] if w[f] > 0 else upper[f])
        yield low, high, (row, -constant)


def network_cells(model: ReluNetwork, sign: float) -> Iterator[list[tuple[np.ndarray, float]]]:
    """The rows of every activation pattern of one hidden layer, with that of the wanted side; for rooms that are points."""
    first, last = model.layers
    for pattern in product([0.0, 1.0], repeat=first.bias.size):
        on = np.array(pattern)
        rows = [((2 * s - 1) * w, -(2 * s - 1) * b) for s, w, b in zip(on, first.weight, first.bias, strict=True)]
        gain = (last.weight[0] * on) @ first.weight
        constant = float((last.weight[0] * on) @ first.bias + last.bias[0])
        yield [*rows, (sign * gain, -sign * constant)]
