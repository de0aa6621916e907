"""Linear models and networks of ReLUs: weak duality, for both halves of a proof.

Layers z_0 = W_0 x + b_0, z_k = W_k relu(z_(k-1)) + b_k; a linear model is one without hidden layers. For ANY multipliers m and
known intervals of z_k, s relu(z_k) >= m z_k + sum_i min over the interval of (s_i relu(z) - m_i z), and
m z_k = (m W_k) relu(z_(k-1)) + m b_k: so backwards to a linear function of x. Up to there all is computed in floats: every
operation errs by at most half of EPS of its result, sums are exact but for one rounding, and what that adds up to is taken off.
The rest is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any, Final, TypeAlias

from elbowroom_checker.exact import down, units, up
from elbowroom_checker.model import Affine
from elbowroom_checker.question import MOST_OPEN, Box, Margin, Question
from elbowroom_checker.reading import Budget, index, kind, need, number, numbers, part

EPS: Final = 2.0**-52
TINY: Final = 2.0**-900  # more than what vanishes
MORE: Final = 1.0 + 2.0**-30  # of sums of errors, for their own rounding
FAR: Final = 2.0**300  # beyond it nothing is computed, so that nothing overflows
Lines: TypeAlias = list[dict[int, Any]]
Tilt: TypeAlias = tuple[list[float], list[Fraction]]  # a shift of the room, slopes at the inputs there


def above(a: Sequence[float], b: Sequence[float]) -> float:
    """At least the sum of |a_i b_i|."""
    return math.fsum(map(abs, map(mul, a, b))) * MORE + TINY


def total(parts: Sequence[float]) -> float:
    """At most the sum of products."""
    return math.fsum(parts) - 4 * EPS * above(parts, [1.0] * len(parts)) - TINY


def strayed(layer: Affine, reach: list[float], errors: list[float]) -> list[float]:
    """How far the original's W h + b may stray, where |h| <= reach and the original's h is within ``errors``:
    |W| e + slope (|h| + e) + constant; of |W_i e| at most the product of both lengths counts."""
    sizes, length = [r + e for r, e in zip(reach, errors, strict=True)], math.hypot(*errors) * MORE
    share = above(layer.range_slope or [0.0] * len(sizes), sizes) + layer.range_constant
    need(layer.range_slope is None or share * MORE <= 1.0, "the original's numbers may leave their range")
    passed = [min(above(w, errors), math.hypot(*w) * length * MORE) if length else 0.0 for w in layer.weight]
    own = [above(s, sizes) + c for s, c in zip(layer.error_slope, layer.error_constant, strict=True)]
    return [(a + b) * MORE + TINY for a, b in zip(passed, own, strict=True)]


@dataclass(frozen=True)
class Near:
    """Inputs x for which the norm of (x_f - point_f) / width_f, over the columns with a width, is at most 1 (or almost)."""

    point: list[float]
    widths: dict[int, float]
    norm: str

    def least(self, slopes: Sequence[float], parts: list[float], reach: list[float]) -> float:
        """At most slopes x; parts are the least slopes_f x_f, which count in columns without a width."""
        steps = [abs(slopes[f]) * width for f, width in self.widths.items()]
        away = {"l1": max(steps, default=0.0), "l2": math.hypot(*steps), "linf": math.fsum(steps)}
        at_point = [slopes[f] * self.point[f] if f in self.widths else least for f, least in enumerate(parts)]
        return total(at_point) - away[self.norm] * (1.0 + 8 * EPS) - rounding(slopes, reach)


def rounding(slopes: Sequence[float], reach: list[float]) -> float:
    """What slopes x changes at most when an input beside a centre is rounded, by less than 2^-51 |x| + 2^-1074."""
    return 4 * EPS * above(slopes, [size + TINY for size in reach])


class Part:
    """Inputs of a box, which may be near a point; sums of neurons have ends."""

    def __init__(self, layers: list[Affine], box: Box, ends: Box, near: Near | None) -> None:
        self.layers, self.box, self.near = layers, box, near
        self.reach = [list(map(max, map(abs, box.low), map(abs, box.high)))]  # of |x|, then of relu(z_k)
        self.low, self.high, self.sizes = (
            list[list[float]](),
            list[list[float]](),
            list[list[float]](),
        )  # sizes: |W| reach
        self.errors, self.empty, at = [0.0] * len(box.low), False, 0
        for k, layer in enumerate(layers):
            need(layer.largest < FAR and max(self.reach[k]) < FAR, "a weight or a value of the network is too large")
            self.errors = strayed(layer, self.reach[k], self.errors)
            need(max(self.errors) < FAR, "the errors of the network are too large")
            if self.empty or k == len(layers) - 1:
                return
            self.low.append([])
            self.high.append([])
            for w, b in zip(layer.weight, layer.bias, strict=True):
                low, high = self.least(w, k) + b, b - self.least([-x for x in w], k)
                slack = 2 * EPS * (abs(low) + abs(high) + abs(b)) + TINY
                self.low[k].append(max(low - slack, ends.low[at]))
                self.high[k].append(min(high + slack, ends.high[at]))
                at += 1
            self.empty = any(map(float.__gt__, self.low[k], self.high[k]))
            self.sizes.append([above(w, self.reach[k]) for w in layer.weight])
            self.reach.append([max(high, 0.0) for high in self.high[k]])
            need(min(self.low[k]) > -FAR, "the values of the network are too large")

    def least(self, slopes: Sequence[float], k: int) -> float:
        """At most slopes . relu(z_(k-1)), or slopes . x for k = 0, for every input of the part."""
        over_inputs, constant = self.below(slopes, k)
        return constant + self.least_input(over_inputs)

    def below(self, slopes: Sequence[float], k: int, lines: Lines | None = None) -> tuple[list[float], float]:
        """A linear function of x, slopes and constant, that is at most slopes . relu(z_(k-1)) for every input of the part.
        ``lines``: multipliers of neurons, layer by layer; in the first one also planes, which are added to the slopes of x."""
        terms, doubt, slopes = [0.0], 0.0, list(slopes)
        for j in reversed(range(k)):
            layer, low, high = self.layers[j], self.low[j], self.high[j]
            m = list(map(relaxed, slopes, low, high))
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
        upper = self.least_input(tilted) + slope * bias - 2 * EPS * sizes - TINY
        pieces = self.least_input([-a for a in plane]), upper - EPS * abs(upper) - TINY
        return min(pieces) if slope < 0.0 else max(pieces)

    def least_input(self, slopes: Sequence[float]) -> float:
        """In a box every column is at its worse end."""
        parts = [min(s * a, s * b) for s, a, b in zip(slopes, self.box.low, self.box.high, strict=True)]
        return total(parts) if self.near is None else max(total(parts), self.near.least(slopes, parts, self.reach[0]))

    def bound(self, margins: list[tuple[Margin, Fraction]], lines: Lines | None) -> tuple[list[Fraction], Fraction]:
        """A linear function of x that is at most the sum of these margins, each times a scale, less all that the original may
        stray times the size of the scale."""
        last, constant = self.layers[-1], Fraction(0)
        shares = [sum(scale * margin.signs.get(k, 0) for margin, scale in margins) for k in range(len(last.bias))]
        for margin, scale in margins:
            doubt = margin.doubt + Fraction(math.fsum(self.errors[k] for k in margin.signs) * MORE)
            constant -= scale * margin.goal + abs(scale) * doubt
        used = [(share, last.weight[k], last.bias[k]) for k, share in enumerate(shares) if share]
        constant += sum(share * Fraction(bias) for share, _, bias in used)
        row = [sum((share * Fraction(w[i]) for share, w, _ in used), Fraction(0)) for i in range(len(self.reach[-1]))]
        if len(self.layers) == 1:
            return row, constant
        rounded = list(map(float, row))
        slopes, rest = self.below(rounded, len(self.layers) - 1, lines)
        return list(map(Fraction, slopes)), constant + Fraction(rest) - Fraction(EPS * above(rounded, self.reach[-1]))


def relaxed(slope: float, low: float, high: float) -> float:
    """Slope times that of a line below relu (0 or 1, whichever errs less) or above it (the chord)."""
    if high <= 0.0 or low >= 0.0:
        return slope if low >= 0.0 else 0.0
    if slope >= 0.0:
        return slope if high > -low else 0.0
    return slope * (high / (high - low))


@dataclass(frozen=True)
class Duality:
    """Points c of boxes cost something, as they are away from a start: every one that has sign margin <= error at all shifts
    costs more than the bound (at least 0 without one). Regions: points are inputs, the start is the centre, costs are the
    distance in widths, the bound is 1, the sign 1, and the only shift 0. No closer centre: points are centres, the sign is -1."""

    layers: list[Affine]
    question: Question
    rivals: list[Margin]
    sign: int
    start: list[float]
    factor: list[Fraction]  # what a move of 1 costs
    norm: str
    bound: Fraction | None
    shifts: list[list[float]]  # of inputs against points, within limits; they name categories of free groups

    @property
    def neurons(self) -> int:
        return len(self.shifts) * sum(len(layer.bias) for layer in self.layers[:-1])

    def is_named(self, f: int) -> bool:
        return self.sign < 0 and self.question.is_free(f)

    def part(self, box: Box, k: int) -> Part:
        """The inputs that shift k leads to from the points of a box. Rounding an input may take it one float farther."""
        n, size, limits = len(self.start), self.neurons // len(self.shifts), self.question.limits
        inputs, point = Box(box.low[:n], box.high[:n]), self.start.copy()
        for f, s in enumerate(self.shifts[k]):
            if self.is_named(f):
                inputs.low[f] = inputs.high[f] = s
            elif s:
                inputs.low[f], inputs.high[f], point[f] = down(inputs.low[f] + s), up(inputs.high[f] + s), point[f] + s
                for each in (inputs.low, inputs.high, point):
                    each[f] = min(max(each[f], limits.low[f]), limits.high[f])
        at = slice(n + k * size, n + (k + 1) * size)
        ends = Box(box.low[at], box.high[at])
        if self.bound is None or max(map(abs, point)) >= FAR:
            return Part(self.layers, inputs, ends, None)
        widths = {f: self.bound / factor for f, factor in enumerate(self.factor) if factor > 0}
        near = Near(point, {f: float(width) * (1.0 + EPS) for f, width in widths.items() if width < FAR}, self.norm)
        return Part(self.layers, inputs, ends, near)

    def excess(self, step: Any, box: Box) -> Fraction | float:
        """Positive only if no such point of a box costs at most the bound. A leaf has weights d of the costs, of columns and then
        of groups (or none), and multipliers l of rows at shifts, each with multipliers of neurons. Such a point has
        sum_f d_f cost_f(c_f) + sum l (sign margin - error) <= |d| cost, with the dual norm of d. So the left side must be larger
        than |d| bound; of it, minima of broken lines are left, column by column."""
        asked, n, (weights, entries) = self.question, len(self.start), kind(step, list, "a leaf", 2)
        size = n + len(asked.groups)
        d = list(map(Fraction, numbers(weights, size, "weights", 0.0) if weights != [] else [0.0] * size))
        power, length = {"l1": (1, max(d)), "l2": (2, sum(w * w for w in d)), "linf": (1, sum(d))}[self.norm]
        need(length == 0 or self.bound is not None, "weights of costs, but there is no bound")
        value, tilts = Fraction(0), list[Tilt]()
        for entry in kind(entries, list, "multipliers"):
            shift, multipliers, lines = kind(entry, list, "multipliers", 3)
            k = index(shift, len(self.shifts), "shift")
            scales = numbers(multipliers, len(self.rivals), "multipliers", 0.0)
            inputs = self.part(box, k)
            if inputs.empty:
                return math.inf
            rows = [(rival, self.sign * Fraction(scale)) for rival, scale in zip(self.rivals, scales, strict=True)]
            slopes, constant = inputs.bound(rows, read_lines(lines, self.layers))
            lost = rounding(list(map(float, slopes)), inputs.reach[0]) if self.sign < 0 else 0.0
            value += constant - Fraction(lost)
            tilts.append((self.shifts[k], slopes))
        value += sum(self._least(f, box, d[f], tilts) for f, group in enumerate(asked.group_of) if group < 0)
        for group, weight in zip(asked.groups, d[n:], strict=True):
            price, members = weight * Fraction(group.price), asked.categories(group, box)
            named = sum(a[f] * Fraction(s[f]) for s, a in tilts for f in group.members if self.is_named(f))
            moved = {f: sum(a[f] for _, a in tilts if not self.is_named(f)) for f in members}
            value += named + min(price * (self.start[f] != 1.0) + moved[f] for f in members)
        return value if value <= 0 else value**power - length * (self.bound or 0) ** power

    def _least(self, f: int, box: Box, weight: Fraction, tilts: list[Tilt]) -> Fraction:
        """min over one column; what is minimized bends at the start and where an input meets a limit, and nowhere else."""
        ends = box.low[f], box.high[f], self.question.limits.low[f], self.question.limits.high[f], self.start[f]
        low, high, lower, upper, start = map(Fraction, ends)
        price, lines = weight * self.factor[f], [(Fraction(s[f]), a[f]) for s, a in tilts]
        bends = {low, high, start, *(end - s for s, _ in lines for end in (lower, upper))}
        points = {min(max(bend, low), high) for bend in bends}
        return min(price * abs(c - start) + sum(a * min(max(c + s, lower), upper) for s, a in lines) for c in points)

    def closes(self, step: Any, box: Box, is_open: bool) -> tuple[str, list[Box]]:
        """The reason of a leaf."""
        what = "a leaf does not reach the bound" if self.sign < 0 else "a leaf of a validity proof does not hold"
        need(not is_open or (step != 0 and self.excess(step, box) > 0), what)
        return "weak duality", []


def read_lines(file: Any, layers: list[Affine]) -> Lines:
    """0, or per hidden layer pairs of a neuron and a number, in the first layer also of a neuron and the coefficients of a plane
    over the inputs."""
    found: Lines = [{} for _ in layers[1:]]
    for k, pairs in enumerate(kind(file, list, "multipliers of neurons", len(found)) if file != 0 else []):
        for pair in kind(pairs, list, "multipliers of neurons"):
            neuron, value = kind(pair, list, "a multiplier of a neuron", 2)
            i, plane = index(neuron, len(layers[k].bias), "neuron"), k == 0 and isinstance(value, list)
            values = numbers(value, len(layers[0].columns), "plane") if plane else [number(value, "multiplier")]
            need(max(map(abs, values)) < FAR and i not in found[k], "a multiplier is too large, or there twice")
            found[k][i] = values if plane else values[0]
    return found


@dataclass(frozen=True)
class Maps:
    """A linear model or a network, and what is wanted of it."""

    layers: list[Affine]
    question: Question
    rivals: list[Margin]

    def region(self, j: int, center: list[float]) -> Duality:
        norm, n = {"ball": "l2", "diamond": "l1"}.get(self.question.shape), len(center)
        factor = [1 / Fraction(width) if width else Fraction(0) for width in self.question.up]
        about = [self.rivals[j]], 1, center, factor, norm or "l1", None if norm is None else Fraction(1)
        return Duality(self.layers, self.question, *about, [[0.0] * n])

    def centers(self, file: Any, bound: float | None, _: Budget) -> Duality:
        asked, shifts = self.question, [self._shift(each) for each in kind(part(file, "shifts"), list, "shifts")]
        limit, factor = None if bound is None else Fraction(bound), list(map(Fraction, asked.factor))
        about = self.rivals, -1, asked.factual, factor, asked.norm, limit
        found = Duality(self.layers, asked, *about, shifts)
        need(found.neurons <= MOST_OPEN, "too many shifts")
        return found

    def _shift(self, file: Any) -> list[float]:
        """A shift within the room, whole where inputs are; in free groups a category."""
        asked, shift = self.question, numbers(file, len(self.question.factual), "shift")
        moved = [0.0 if asked.is_free(f) else s for f, s in enumerate(shift)]
        inside = all(-a <= s <= b for a, s, b in zip(asked.down, moved, asked.up, strict=True))
        whole = all(s.is_integer() for s, whole in zip(shift, asked.whole, strict=True) if whole)
        need(inside and whole and asked.reaches([abs(units(s)) for s in moved]), "a shift leaves the room")
        for group in asked.groups:
            named = [f for f in group.members if shift[f] == 1.0]
            fits = not group.free or (len(named) == 1 == sum(shift[f] for f in group.members))
            need(fits and {*named} <= asked.categories(group, asked.limits), "a shift names no category")
        return shift
