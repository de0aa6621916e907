"""Several rivals of a linear model at once: from slipped columns to independent coordinates (see `kept_cells`).

Columns whose slip is neither clipped nor whole add a normally distributed vector A y to the margins, y standard normal in
k dimensions, k the rank of the rows w_r sigma. Any rotation of y has the same distribution; it is turned until one
coordinate, t, moves every margin. The others, and every clipped or whole column, become coordinates of cells.

**What is left out, and counted.** Rivals that hardly ever win: without them the chance can only grow, by at most the
chance that one of them wins. Clipping that hardly ever happens: it changes the chance by at most its own probability.

**Rounding.** The singular value decomposition is that of a matrix within a few units in the last place of A; what this
moves is at most that times the length of y, below `REACH` up to a probability smaller than every rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special

from elbowroom.certify.kept_cells import TAIL, Axis, Question, Rows, chance_of_all
from elbowroom.certify.slips import PHI_ERROR, REACH, Slip
from elbowroom.numerics import EPS, Bools, Floats

MOST_COORDINATES: Final = 6
SHARE: Final = 0.25  # of the tolerance, for rivals that are left out; the same for clipping
FLAT: Final = 1e-6  # a margin that t moves by less than this share of its spread counts as not moved
TRIES: Final = 256  # directions among which t is chosen


@dataclass(frozen=True, eq=False)
class AffineRows:
    """Margins weight x + bias, each known up to ``doubt``."""

    weight: Floats
    bias: Floats
    doubt: Floats


def kept_rivals(rows: AffineRows, slip: Slip, tolerance: float, deadline: float) -> tuple[float, float, str]:
    """Bounds on P(all margins > 0), and why they are not within the tolerance (empty if they are)."""
    used = [int(f) for f in slip.columns if (rows.weight[:, f] != 0.0).any()]
    normal, other, clipping = parted(slip, used, SHARE * tolerance)
    spread = rows.weight[:, normal] * slip.sigma[normal]
    turned, missing = _turned(spread)
    rank = turned.shape[1]
    coordinates = max(rank - 1, 0) + len(other)
    if coordinates > MOST_COORDINATES:
        parts = f"{rows.bias.size} close rivals and {len(other)} clipped or whole features"
        return 0.0, 1.0, f"{parts} make {coordinates} dimensions, and at most {MOST_COORDINATES} are integrated"
    axes = [*(Axis(-np.inf, np.inf) for _ in range(rank - 1)), *(_axis(slip, f) for f in other)]
    units = np.array([1.0 if slip.whole[f] else slip.sigma[f] for f in other])
    slope = np.column_stack([turned[:, 1:], rows.weight[:, other] * units])
    constant = rows.weight @ slip.center + rows.bias
    reach = np.array([max(abs(end) for piece in axis.pieces for end in piece) for axis in axes])
    n = slip.center.size
    doubt = rows.doubt + missing + 4.0 * EPS * (n + 2) * (np.abs(rows.weight) @ np.abs(slip.center) + np.abs(rows.bias))
    doubt += 16.0 * EPS * (n + 2) * (np.abs(slope) @ reach + np.abs(constant))
    along = turned[:, 0] if rank else np.zeros(rows.bias.size)
    question = _question(tuple(axes), slope, constant, doubt, along, np.linalg.norm(spread, axis=1))
    low, high, why = chance_of_all(question, tolerance - 2.0 * clipping, deadline)
    error = clipping + PHI_ERROR + sum(edge_errors(slip, f) for f in other)
    return low - error, high + error, why


def _question(
    axes: tuple[Axis, ...], slope: Floats, constant: Floats, doubt: Floats, along: Floats, size: Floats
) -> Question:
    flat = np.abs(along) <= FLAT * size
    blur = doubt + np.where(flat, np.abs(along) * REACH, 0.0)
    scale = np.where(flat, 1.0, np.abs(along))

    def part(which: Bools) -> Rows:
        rows = np.flatnonzero(which)
        divisor = scale[rows]
        return Rows(slope[rows] / divisor[:, None], constant[rows] / divisor, blur[rows] / divisor * (1.0 + 8.0 * EPS))

    return Question(axes, part(~flat & (along > 0.0)), part(~flat & (along < 0.0)), part(flat))


def parted(slip: Slip, used: list[int], allowed: float) -> tuple[list[int], list[int], float]:
    """Columns that count as normal, the others, and the chance that one of the first is clipped after all."""
    share = {}
    for f in used:
        ends = (np.array([slip.lower[f], slip.upper[f]]) - slip.center[f]) / slip.sigma[f]
        share[f] = 1.0 if slip.whole[f] else float(special.ndtr(ends[0]) + special.ndtr(-ends[1])) + 2.0 * PHI_ERROR
    normal: list[int] = []
    clipping = 0.0
    for f in sorted(used, key=lambda f: share[f]):
        if not slip.whole[f] and (clipping + share[f] <= allowed or share[f] <= 2.0 * PHI_ERROR):
            normal.append(f)
            clipping += share[f]
    return sorted(normal), [f for f in used if f not in normal], clipping


def _axis(slip: Slip, f: int) -> Axis:
    low, high = slip.lower[f] - slip.center[f], slip.upper[f] - slip.center[f]
    if not slip.whole[f]:
        return Axis(float(low / slip.sigma[f]), float(high / slip.sigma[f]))
    far = float(np.ceil(TAIL * slip.sigma[f]) + 1.0)
    return Axis(max(float(low), -far), min(float(high), far), slip, f)


def edge_errors(slip: Slip, f: int) -> float:
    """How far the masses at the two ends of a column, or of all steps of a whole one, may be off together."""
    far = TAIL * float(slip.sigma[f]) + 2.0
    ends = np.array([slip.center[f] - far, slip.center[f] + far])
    edges = 2.0 * far if slip.whole[f] else 2.0
    return 2.0 * edges * slip.error(f, ends)


def _turned(spread: Floats) -> tuple[Floats, Floats]:
    """The rows in coordinates of which the first moves all of them, and a bound on what rounding leaves out of each."""
    rivals, n = spread.shape
    if n == 0 or not spread.any():
        return np.zeros((rivals, 0)), np.zeros(rivals)
    left, values, _ = np.linalg.svd(spread, full_matrices=False)
    kept = values > 1e-13 * values[0]
    turned = left[:, kept] * values[kept]
    missing = np.full(rivals, (float(values[~kept].sum()) + 64.0 * EPS * (n + rivals) * float(values[0])) * REACH)
    rank = turned.shape[1]
    size = np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-300)
    unit = turned / size
    tries = np.concatenate([np.eye(rank), np.random.default_rng(0).normal(size=(TRIES, rank)), unit.sum(axis=0)[None]])
    tries = tries[np.linalg.norm(tries, axis=1) > 1e-3]
    tries /= np.linalg.norm(tries, axis=1, keepdims=True)
    moved = np.where(size[:, 0] > 1e-13 * values[0], np.abs(unit @ tries.T).T, 1.0)
    best = tries[int(np.argmax(moved.min(axis=1)))]
    basis, _ = np.linalg.qr(np.column_stack([best, np.eye(rank)]))
    return turned @ basis, missing
