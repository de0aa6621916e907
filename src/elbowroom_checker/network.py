"""Networks of ReLUs: the region in parts, split at inputs and neurons, and a linear bound for each, in floats.

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

from elbowroom_checker.model import Affine
from elbowroom_checker.question import MOST_OPEN, Box, Question
from elbowroom_checker.reading import Budget, index, kind, need, number, numbers, part
from elbowroom_checker.rows import Margin

EPS: Final = 2.0**-52
TINY: Final = 2.0**-900  # more than what vanishes
MORE: Final = 1.0 + 2.0**-30  # of sums of errors, for their own rounding
FAR: Final = 2.0**300  # beyond it nothing is computed, so that nothing overflows


def above(a: Sequence[float], b: Sequence[float]) -> float:
    """At least the sum of |a_i b_i|."""
    return math.fsum(map(abs, map(mul, a, b))) * MORE + TINY


class Part:
    """Inputs of a box within a ball or diamond, some neurons decided: 1 for z >= 0, -1 for z <= 0."""

    def __init__(self, network: Network, box: Box, decided: dict[tuple[int, int], int]) -> None:
        self.network, self.box = network, box
        self.reach = [
            [max(abs(a), abs(b)) for a, b in zip(box.low, box.high, strict=True)]
        ]  # of |x|, then of relu(z_k)
        self.low: list[list[float]] = []
        self.high: list[list[float]] = []
        self.sizes: list[list[float]] = []  # at least |W| reach
        self.empty = False
        need(max(self.reach[0], default=0.0) < FAR, "the inputs are too large")
        for k, layer in enumerate(network.layers[:-1]):
            rows = list(zip(layer.weight, layer.bias, strict=True))
            low = [self.least(w, k) + b for w, b in rows]
            high = [b - self.least([-x for x in w], k) for w, b in rows]
            for i, b in enumerate(layer.bias):
                slack = EPS * (abs(low[i]) + abs(high[i]) + abs(b)) + TINY
                low[i], high[i] = low[i] - slack, high[i] + slack
                if decided.get((k, i), 0) > 0:
                    low[i] = max(low[i], 0.0)
                if decided.get((k, i), 0) < 0:
                    high[i] = min(high[i], 0.0)
                self.empty |= low[i] > high[i]
            self.low.append(low)
            self.high.append(high)
            self.sizes.append([above(w, self.reach[k]) for w in layer.weight])
            self.reach.append([max(z, 0.0) for z in high])
            need(all(-FAR < x < FAR for x in (*low, *high)), "the values of the network are too large")
            if self.empty:
                return

    def least(self, slopes: Sequence[float], k: int, multipliers: Any = None) -> float:
        """At most slopes . relu(z_(k-1)), or slopes . x for k = 0, for every input of the part."""
        terms, doubt = [0.0], 0.0
        for j in reversed(range(k)):
            layer, low, high = self.network.layers[j], self.low[j], self.high[j]
            m = [relaxed(*each) for each in zip(slopes, low, high, strict=True)]
            planes: list[Sequence[float]] = []
            slopes = list(slopes)
            for i, value in multipliers[j].items() if multipliers else ():
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
            slopes = [math.fsum(map(mul, m, column)) for column in self.network.columns[j]]
            for plane in planes:
                slopes = [s + a for s, a in zip(slopes, plane, strict=True)]
                doubt += EPS * (above(slopes, self.reach[0]) + above(plane, self.reach[0]))
            need(max(map(abs, (*m, *slopes))) < FAR and doubt < FAR, "the slopes of a bound are too large")
        doubt = doubt + EPS * above(terms, [1.0] * len(terms)) + TINY * (1.0 + math.fsum(map(math.fsum, self.reach)))
        return math.fsum(terms) + self._least_input(slopes) - doubt * MORE

    def _beside(self, slope: float, weight: Sequence[float], bias: float, plane: Sequence[float]) -> float:
        """At most slope relu(w x + b) - a x for every input: both pieces of relu, of which the worse counts for a negative slope,
        and any one for a positive slope."""
        tilted = [slope * w - a for w, a in zip(weight, plane, strict=True)]
        off = (
            2 * EPS * (abs(slope) * above(weight, self.reach[0]) + above(plane, self.reach[0]) + abs(slope * bias))
            + TINY
        )
        pieces = self._least_input([-a for a in plane]), self._least_input(tilted) + slope * bias - off
        return (min(pieces) if slope < 0.0 else max(pieces)) - EPS * abs(pieces[1]) - TINY

    def _least_input(self, slopes: Sequence[float]) -> float:
        """In a box every column is at its worse end; in a ball or diamond nothing is farther from the centre than its reach."""
        network, box = self.network, self.box
        parts = [min(s * a, s * b) for s, a, b in zip(slopes, box.low, box.high, strict=True)]
        best = math.fsum(parts) - EPS * above(parts, [1.0] * len(parts)) - TINY
        if network.question.shape == "box":
            return best
        for f in network.moving:
            parts[f] = slopes[f] * network.center[f]
        steps = [slopes[f] * network.question.up[f] for f in network.moving]
        reach = math.hypot(*steps) if network.question.shape == "ball" else max(map(abs, steps), default=0.0)
        middle = math.fsum(parts) - EPS * above(parts, [1.0] * len(parts)) - TINY
        return max(best, middle - reach * (1.0 + 8 * EPS) - TINY)


def relaxed(slope: float, low: float, high: float) -> float:
    """Slope times that of a line below relu (0 or 1, whichever errs less) or above it (the chord)."""
    if high <= 0.0:
        return 0.0
    if low >= 0.0:
        return slope
    if slope >= 0.0:
        return slope if high > -low else 0.0
    return slope * (high / (high - low))


class Network:
    """A network, and the region that is proven."""

    def __init__(self, layers: list[Affine], question: Question, region: Box, center: list[float]) -> None:
        self.layers, self.question, self.center = layers, question, center
        largest = max(abs(w) for layer in layers for row in (*layer.weight, layer.bias) for w in row)
        need(largest < FAR, "a weight of the network is too large")
        self.region = region.copy()
        need(question.narrow(self.region), "the region is empty")
        ends = enumerate(zip(self.region.low, self.region.high, question.group_of, strict=True))
        self.moving = [f for f, (a, b, group) in ends if a < b and group < 0]
        self.columns = [list(zip(*layer.weight, strict=True)) for layer in layers]
        self.root = Part(self, self.region, {})
        self.errors = self._errors()

    def _errors(self) -> list[float]:
        """How far the original's scores may stray: |W| e + slope (|h| + e) + constant, layer by layer, where e are the errors of
        the layer before; of a sum of |W_i e_i| at most the product of both lengths counts."""
        errors = [0.0] * len(self.center)
        for layer, reach in zip(self.layers, self.root.reach, strict=True):
            sizes = [r + e for r, e in zip(reach, errors, strict=True)]
            share = above(layer.range_slope or [0.0] * len(sizes), sizes) + layer.range_constant
            need(layer.range_slope is None or share * MORE <= 1.0, "the original's numbers may leave their range")
            length = math.hypot(*errors) * MORE
            passed = [min(above(w, errors), math.hypot(*w) * length * MORE) for w in layer.weight]
            own = [above(s, sizes) + c for s, c in zip(layer.error_slope, layer.error_constant, strict=True)]
            errors = [(a + b) * MORE + TINY for a, b in zip(passed, own, strict=True)]
            need(all(e < FAR for e in errors), "the errors of the network are too large")
        return errors

    def beyond(self, margin: Margin, at: Part, multipliers: Any = None) -> Fraction:
        """At most the smallest margin of a part, less all that may be lost."""
        last, reach = self.layers[-1], self.root.reach[-1]
        rows = [(s, last.weight[k]) for k, s in margin.signs.items()]
        row = [math.fsum(s * w[i] for s, w in rows) for i in range(len(reach))]
        lost = EPS * above(row, reach) + math.fsum(self.errors[k] for k in margin.signs) * MORE
        bias = sum((s * Fraction(last.bias[k]) for k, s in margin.signs.items()), -margin.goal - margin.doubt)
        return bias - Fraction(lost) + Fraction(at.least(row, len(self.layers) - 1, multipliers))

    def check(self, margin: Margin, steps: Any, budget: Budget) -> int:
        """Splits {"column", "at"} and {"layer", "neuron"}, each before its lower and then its upper part, and leaves: 0, or the
        multipliers of all hidden layers. The number of leaves."""
        stack: list[tuple[Box, dict[tuple[int, int], int]]] = [(self.region.copy(), {})]
        count = 0
        for step in kind(steps, list, "validity"):
            size = sum(len(d) + len(b.low) for b, d in stack)
            need(0 < size <= MOST_OPEN, "validity goes on after its end, or is too deep")
            budget.look()
            box, decided = stack.pop()
            if isinstance(step, dict) and "neuron" in step:
                k = index(part(step, "layer"), len(self.layers) - 1, "layer")
                i = index(step["neuron"], len(self.layers[k].bias), "neuron")
                stack += ((box, {**decided, (k, i): sign}) for sign in (1, -1))
            elif isinstance(step, dict):
                column = index(part(step, "column"), len(box.low), "column of a split")
                halves = self.question.halves(box, column, number(part(step, "at"), "value of a split"))
                stack += ((half, decided) for half in reversed(halves))
            else:
                count += 1
                good = self.holds(margin, box, decided, None if step == 0 else self._multipliers(step))
                need(good, "a part of the region has a margin within the error bound")
        need(not stack, "validity ends too early")
        return count

    def _multipliers(self, step: Any) -> list[dict[int, float | list[float]]]:
        """Per hidden layer and neuron a number, or in the first layer the coefficients of a plane over the inputs."""
        need(len(kind(step, list, "a leaf")) == len(self.layers) - 1, "a leaf: not one list per hidden layer")
        found: list[dict[int, float | list[float]]] = [{} for _ in step]
        for k, pairs in enumerate(step):
            for pair in kind(pairs, list, "multipliers"):
                need(len(kind(pair, list, "multiplier")) == 2, "a multiplier without its neuron")
                i, plane = index(pair[0], len(self.layers[k].bias), "neuron"), k == 0 and isinstance(pair[1], list)
                values = numbers(pair[1], len(self.center), "plane") if plane else [number(pair[1], "multiplier")]
                need(max(map(abs, values)) < FAR and i not in found[k], "a multiplier is too large, or there twice")
                found[k][i] = values if plane else values[0]
        return found

    def holds(self, margin: Margin, box: Box, decided: dict[tuple[int, int], int], multipliers: Any) -> bool:
        """Every input of a part is good, or there is none."""
        small = box.copy()
        if not self.question.narrow(small):
            return True
        at = Part(self, small, decided)
        return at.empty or self.beyond(margin, at, multipliers) > 0
