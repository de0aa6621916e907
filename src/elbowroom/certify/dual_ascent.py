"""Multipliers for balls: coordinate ascent on the dual of a network's first layer.

With all later layers replaced by lambda . relu(z), z = W x + b, and x = c + axes y, ||y||_2 <= 1, the bound of `intervals`
is, as a function of the multipliers m of the first layer,

    D(m) = sum_i g_i(m_i) + m . (W c + b) - || (m W) axes ||_2,      g_i(m_i) = min over z in [l_i, u_i] of lambda_i relu(z) - m_i z.

g_i is the minimum of three lines and the norm is smooth, so that improving one m_i after the other climbs to the top.
A bound that clips the ball, low <= y_f <= high, is one more row z = y_f with lambda = 0: its multiplier takes over what
the ball alone would pay for leaving the bound. The numbers found are good suggestions, and only that.
"""

from __future__ import annotations

import math

import numpy as np

from elbowroom.certify.inputs import InputSet
from elbowroom.certify.intervals import Interval
from elbowroom.kernels.kernel import kernel
from elbowroom.kernels.warm import is_loaded, without_collection
from elbowroom.models import Affine
from elbowroom.numerics import Floats

_SWEEPS = 60
_STILL = 1e-10  # of the norm: sweeps that change it by less are the last
_HARDLY = 1e-9  # bounds that clip less than this share of the radius do not count


def climb(multipliers: Floats, slopes: Floats, layer: Affine, at: Interval, inputs: InputSet) -> Floats:
    """Better multipliers (1, neurons) of the first layer for one row."""
    columns, body = inputs.round_columns, inputs.body
    # columns outside the shape (fixed ones) stay where the set has them
    origin = np.clip(body.center, inputs.lower, inputs.upper)
    origin[columns] = body.center[columns]
    low = (inputs.lower - body.center)[columns] / body.axes[columns]
    high = (inputs.upper - body.center)[columns] / body.axes[columns]
    clipped = (low > -1.0 + _HARDLY) | (high < 1.0 - _HARDLY)
    none = np.zeros(int(clipped.sum()))
    found = np.concatenate([multipliers[0], none])
    steep = np.vstack([layer.weight[:, columns] * body.axes[columns], np.eye(columns.size)[clipped]])
    steep = np.ascontiguousarray(steep)  # one layout, one compiled version
    climb_multipliers(
        found, found @ steep, np.concatenate([slopes[0], none]), steep,
        np.concatenate([layer.weight @ origin + layer.bias, none]),
        np.concatenate([at.low, low[clipped]]), np.concatenate([at.high, high[clipped]]),
        np.empty((3, 2)), _SWEEPS,
    )  # fmt: skip
    found = found[: multipliers.shape[1]]
    return np.where(np.isfinite(found), found, multipliers[0])[None]


def prepare_climb() -> None:
    """Load, or compile once, the kernel below."""
    if not is_loaded(climb_multipliers):
        one, line = np.ones(1), np.ones(2)
        with without_collection():
            climb_multipliers(one, line, one, np.ones((1, 2)), one, -one, one, np.empty((3, 2)), 1)


@kernel
def climb_multipliers(
    m: Floats, v: Floats, slope: Floats, steep: Floats, middle: Floats, low: Floats, high: Floats, line: Floats,
    sweeps: int,
) -> None:  # fmt: skip
    """Improve m in place, and v = m @ steep with it. line: value at m = 0 and slope in m of the lines whose minimum is g."""
    n = m.size
    for _ in range(sweeps):
        moved = 0.0
        for i in range(n):
            ww, vw, vv = 0.0, 0.0, 0.0
            for f in range(v.size):
                ww += steep[i, f] * steep[i, f]
                vw += v[f] * steep[i, f]
                vv += v[f] * v[f]
            if ww == 0.0:
                continue
            line[0, 0], line[0, 1] = slope[i] * max(low[i], 0.0), -low[i]
            line[1, 0], line[1, 1] = slope[i] * max(high[i], 0.0), -high[i]
            lines = 2
            if low[i] < 0.0 < high[i]:
                line[2, 0], line[2, 1] = 0.0, 0.0
                lines = 3
            offset = vw / ww
            rest = max(vv - vw * offset, 0.0)  # squared length of v across w
            best, best_value = m[i], -math.inf
            for a in range(-1, lines):
                for b in range(max(a, 0), lines):
                    if a < 0 and b > 0:
                        break
                    if a < 0:
                        candidate = m[i]
                    elif a == b:  # where the slope of the line balances the norm
                        s = line[a, 1] + middle[i]
                        if s * s >= ww:
                            continue
                        candidate = m[i] - offset + s * math.sqrt(rest / (ww * (ww - s * s)))
                    elif line[a, 1] == line[b, 1]:
                        continue
                    else:
                        candidate = (line[b, 0] - line[a, 0]) / (line[a, 1] - line[b, 1])
                    step = candidate - m[i]
                    value = candidate * middle[i] - math.sqrt(max(vv + step * (2.0 * vw + step * ww), 0.0))
                    least = line[0, 0] + candidate * line[0, 1]
                    for k in range(1, lines):
                        least = min(least, line[k, 0] + candidate * line[k, 1])
                    if value + least > best_value:
                        best, best_value = candidate, value + least
            step = best - m[i]
            if step != 0.0:
                for f in range(v.size):
                    v[f] += step * steep[i, f]
                m[i] = best
                moved = max(moved, abs(step) * math.sqrt(ww))
        length = 0.0
        for f in range(v.size):
            length += v[f] * v[f]
        if moved <= _STILL * math.sqrt(length):
            break
