"""Networks of ReLUs: linear bounds of a box of inputs with some neurons decided, in floats.

Layers z_0 = W_0 x + b_0, z_k = W_k relu(z_(k-1)) + b_k. For ANY multipliers m and known intervals of z_k,
s relu(z_k) >= m z_k + sum_i min over the interval of (s_i relu(z) - m_i z), and m z_k = (m W_k) relu(z_(k-1)) + m b_k: so
backwards to a linear function of x. Every float operation errs by at most half of EPS of its result; sums are exact but for
one rounding. What that adds up to is taken off every bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import Any, Final

from elbowroom_checker.exact import BIGGEST
from elbowroom_checker.model import Affine
from elbowroom_checker.question import Box, Margin, Question
from elbowroom_checker.reading import index, kind, need, number, numbers

EPS: Final = 2.0**-52
TINY: Final = 2.0**-900  # more than what vanishes
MORE: Final = 1.0 + 2.0**-30  # of sums of errors, for their own rounding
FAR: Final = 2.0**300  # beyond it nothing is computed, so that nothing overflows


def above(a: Sequence[float], b: Sequence[float]) -> float:
    """At least the sum of |a_i b_i|."""
    return math.fsum(map(abs, map(mul, a, b))) * MORE + TINY


def strayed(layer: Affine, reach: list[float], errors: list[float]) -> list[float]:
    """How far the original's W h + b may stray, where |h| <= reach and the original's h is within ``errors``:
    |W| e + slope (|h| + e) + constant; of |W_i e| at most the product of both lengths counts."""
    sizes, length = [r + e for r, e in zip(reach, errors, strict=True)], math.hypot(*errors) * MORE
    share = above(layer.range_slope or [0.0] * len(sizes), sizes) + layer.range_constant
    need(layer.range_slope is None or share * MORE <= 1.0, "the original's numbers may leave their range")
    passed = [min(above(w, errors), math.hypot(*w) * length * MORE) for w in layer.weight]
    own = [above(s, sizes) + c for s, c in zip(layer.error_slope, layer.error_constant, strict=True)]
    return [(a + b) * MORE + TINY for a, b in zip(passed, own, strict=True)]


class Part:
    """Inputs of a (narrowed) box, those within a ball or diamond around a centre if there is one, some neurons decided."""

    def __init__(self, layers: list[Affine], question: Question, box: Box, center: list[float] | None = None) -> None:
        self.layers, self.question, self.box, self.center = layers, question, box, center
        ends = zip(box.low, box.high, strict=True)
        self.reach = [[max(abs(a), abs(b)) for a, b in ends]]  # of |x|, then of relu(z_k)
        self.low: list[list[float]] = []
        self.high: list[list[float]] = []
        self.sizes: list[list[float]] = []  # at least |W| reach
        self.errors, self.empty, at = [0.0] * len(box.low), False, len(box.low)
        for k, layer in enumerate(layers):
            need(layer.largest < FAR and max(self.reach[k]) < FAR, "a weight or a value of the network is too large")
            self.errors = strayed(layer, self.reach[k], self.errors)
            need(max(self.errors) < FAR, "the errors of the network are too large")
            if self.empty or k == len(layers) - 1:
                return
            rows = enumerate(zip(layer.weight, layer.bias, strict=True), at)
            found = [self._interval(k, w, b, name) for name, (w, b) in rows]
            at += len(found)
            self.empty = any(low > high for low, high in found)
            self.low.append([low for low, _ in found])
            self.high.append([high for _, high in found])
            self.sizes.append([above(w, self.reach[k]) for w in layer.weight])
            self.reach.append([max(high, 0.0) for _, high in found])
            need(min(self.low[k]) > -FAR, "the values of the network are too large")

    def _interval(self, k: int, weight: list[float], bias: float, name: int) -> tuple[float, float]:
        low, high = self.least(weight, k) + bias, bias - self.least([-w for w in weight], k)
        slack = 2 * EPS * (abs(low) + abs(high) + abs(bias)) + TINY
        first, last = self.box.decided.get(name, (-BIGGEST, BIGGEST))
        return max(low - slack, first), min(high + slack, last)

    def least(self, slopes: Sequence[float], k: int) -> float:
        """At most slopes . relu(z_(k-1)), or slopes . x for k = 0, for every input of the part."""
        over_inputs, constant = self.below(slopes, k)
        return constant + self._least_input(over_inputs)

    def below(self, slopes: Sequence[float], k: int, lines: Any = None) -> tuple[list[float], float]:
        """A linear function of x, slopes and constant, that is at most slopes . relu(z_(k-1)) for every input of the part.
        ``lines``: multipliers of neurons, layer by layer; in the first one also planes, which are added to the slopes of x."""
        terms, doubt, slopes = [0.0], 0.0, list(slopes)
        for j in reversed(range(k)):
            layer, low, high = self.layers[j], self.low[j], self.high[j]
            m = [relaxed(*each) for each in zip(slopes, low, high, strict=True)]
            planes: list[Sequence[float]] = []
            for i, value in lines[j].items() if lines else ():
                if isinstance(value, list):
                    terms.append(self._beside(slopes[i], layer.weight[i], layer.bias[i], value))
                    planes.append(value)
                    slopes[i] = m[i] = 0.0
                else:
                    m[i] = value
            for s, t, a, b in zip(slopes, m, low, high, strict=True):
                if (t == s and a >= 0.0) or (t == 0.0 and b <= 0.0):
                    continue  # nothing is lost, and nothing is rounded
                ends = [s * max(z, 0.0) - t * z for z in (a, b)]
                terms.append(min(ends) if a > 0.0 or b < 0.0 else min(0.0, *ends))
                doubt += 2 * EPS * (abs(s) + abs(t)) * max(abs(a), abs(b))
            terms += map(mul, m, layer.bias)
            doubt += EPS * above(m, self.sizes[j])
            slopes = [math.fsum(map(mul, m, column)) for column in layer.columns]
            for plane in planes:
                slopes = [s + a for s, a in zip(slopes, plane, strict=True)]
                doubt += EPS * (above(slopes, self.reach[0]) + above(plane, self.reach[0]))
            need(max(map(abs, (*m, *slopes))) < FAR and doubt < FAR, "the slopes of a bound are too large")
        doubt += 2 * EPS * above(terms, [1.0] * len(terms)) + TINY * (1.0 + math.fsum(map(math.fsum, self.reach)))
        return slopes, math.fsum(terms) - doubt * MORE

    def _beside(self, slope: float, weight: Sequence[float], bias: float, plane: Sequence[float]) -> float:
        """At most slope relu(w x + b) - a x for every input: both pieces of relu, of which the worse counts for a negative slope,
        and any one for a positive slope."""
        tilted = [slope * w - a for w, a in zip(weight, plane, strict=True)]
        sizes = abs(slope) * above(weight, self.reach[0]) + above(plane, self.reach[0]) + abs(slope * bias)
        upper = self._least_input(tilted) + slope * bias - 2 * EPS * sizes - TINY
        pieces = self._least_input([-a for a in plane]), upper - EPS * abs(upper) - TINY
        return min(pieces) if slope < 0.0 else max(pieces)

    def _least_input(self, slopes: Sequence[float]) -> float:
        """In a box every column is at its worse end; in a ball or diamond nothing is farther from the centre than its reach."""
        box, question = self.box, self.question
        parts = [min(s * a, s * b) for s, a, b in zip(slopes, box.low, box.high, strict=True)]
        best = math.fsum(parts) - 4 * EPS * above(parts, [1.0] * len(parts)) - TINY
        if self.center is None or question.shape == "box":
            return best
        moving = [f for f, group in enumerate(question.group_of) if group < 0]
        for f in moving:
            parts[f] = slopes[f] * self.center[f]
        steps = [slopes[f] * question.up[f] for f in moving]
        reach = math.hypot(*steps) if question.shape == "ball" else max(map(abs, steps), default=0.0)
        middle = math.fsum(parts) - 4 * EPS * above(parts, [1.0] * len(parts)) - TINY
        return max(best, middle - reach * (1.0 + 8 * EPS) - TINY)

    def worst(self, margin: Margin, lines: Any = None) -> Fraction:
        """At most the smallest margin of the part, less all that the original may stray."""
        last, reach, signs = self.layers[-1], self.reach[-1], margin.signs.items()
        row = [math.fsum(s * last.weight[k][i] for k, s in signs) for i in range(len(reach))]
        lost = EPS * above(row, reach) + math.fsum(self.errors[k] for k in margin.signs) * MORE
        slopes, constant = self.below(row, len(self.layers) - 1, lines)
        exact = sum((s * Fraction(last.bias[k]) for k, s in signs), -margin.goal) - margin.doubt
        return exact + Fraction(constant) + Fraction(self._least_input(slopes)) - Fraction(lost)


def relaxed(slope: float, low: float, high: float) -> float:
    """Slope times that of a line below relu (0 or 1, whichever errs less) or above it (the chord)."""
    if high <= 0.0 or low >= 0.0:
        return slope if low >= 0.0 else 0.0
    if slope >= 0.0:
        return slope if high > -low else 0.0
    return slope * (high / (high - low))


def read_lines(step: Any, layers: list[Affine]) -> list[dict[int, float | list[float]]]:
    """Multipliers of a leaf, 0 or per hidden layer pairs of a neuron and a number, in the first layer also of a neuron and the
    coefficients of a plane over the inputs."""
    found: list[dict[int, float | list[float]]] = [{} for _ in layers[1:]]
    for k, pairs in enumerate(kind(step, list, "a leaf", len(found)) if step != 0 else []):
        for pair in kind(pairs, list, "multipliers"):
            neuron, value = kind(pair, list, "multiplier", 2)
            i, plane = index(neuron, len(layers[k].bias), "neuron"), k == 0 and isinstance(value, list)
            values = numbers(value, len(layers[0].columns), "plane") if plane else [number(value, "multiplier")]
            need(max(map(abs, values)) < FAR and i not in found[k], "a multiplier is too large, or there twice")
            found[k][i] = values if plane else values[0]
    return found
