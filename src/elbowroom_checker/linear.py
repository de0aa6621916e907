"""Linear models and networks: the worst point of a region, and weak duality for all closer centres, in rational numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from elbowroom_checker.exact import ONE, units
from elbowroom_checker.model import Affine
from elbowroom_checker.network import Part, read_lines
from elbowroom_checker.question import Box, Margin, Question
from elbowroom_checker.reading import index, kind, need, number, numbers, part

ROUNDING: Final = Fraction(1, 2**51)  # of a shifted value, with something to spare


@dataclass(frozen=True)
class LinearRow:
    """margin(x) = weight x + constant; the original's is within error |x| + doubt of it."""

    weight: list[Fraction]
    constant: Fraction
    error: list[Fraction]
    doubt: Fraction


def linear_row(affine: Affine, margin: Margin) -> LinearRow:
    signs, columns = margin.signs, range(len(affine.columns))
    weights = [sum((s * Fraction(affine.weight[k][f]) for k, s in signs.items()), Fraction(0)) for f in columns]
    constant = sum((s * Fraction(affine.bias[k]) for k, s in signs.items()), -margin.goal)
    errors = [sum((Fraction(affine.error_slope[k][f]) for k in signs), Fraction(0)) for f in columns]
    return LinearRow(weights, constant, errors, sum((Fraction(affine.error_constant[k]) for k in signs), margin.doubt))


def check_range(affine: Affine, box: Box) -> None:
    """No number of the original leaves its range for an input of the box."""
    ends = zip(affine.range_slope or [], box.low, box.high, strict=affine.range_slope is not None)
    share = sum((Fraction(s) * Fraction(max(abs(a), abs(b))) for s, a, b in ends), Fraction(affine.range_constant))
    need(affine.range_slope is None or share <= 1, "the original's numbers may leave their range")


def worst_margin(row: LinearRow, question: Question, region: Box, center: list[float], multiplier: float) -> Fraction:
    """At most the smallest margin less its error. In a box every column is at its worse end. In a ball or diamond, for any
    multiplier u >= 0, min margin >= sum_f min_x (w_f x + u phi((x - c_f) / a_f)) - u: column by column again."""
    u, total = Fraction(multiplier), row.constant - row.doubt - Fraction(multiplier)
    power = 2 if question.shape == "ball" else 1
    for f, w in enumerate(row.weight):
        low, high, c, width = map(Fraction, (region.low[f], region.high[f], center[f], question.up[f]))
        if question.group_of[f] >= 0:
            continue
        free = question.shape == "box" or low == high  # what costs nothing of the budget
        bottom = c if free or u == 0 or question.shape == "diamond" else c - w * width * width / (2 * u)
        points = (low, high, min(max(bottom, low), high))
        total += min(w * x + (0 if free else u * (abs(x - c) / width) ** power) for x in points)
        total -= row.error[f] * max(abs(low), abs(high))
    for group in question.groups:
        total += min(row.weight[f] - row.error[f] for f in question.categories(group, region))
    return total


def read_shift(question: Question, file: Any) -> list[float]:
    """A shift within the room, whole where inputs are."""
    shift = numbers(file, len(question.factual), "shift")
    inside = all(-a <= s <= b for a, s, b in zip(question.down, shift, question.up, strict=True))
    steps = all(s.is_integer() for s, whole in zip(shift, question.whole, strict=True) if whole)
    need(inside and steps and question.reaches([abs(units(s)) for s in shift]), "a shift leaves the room")
    return shift


def dual_value(row: LinearRow, question: Question, box: Box, leaf: Any, shift: list[float], free: bool) -> Fraction:
    """What every good centre of the box costs at least. The adversary of a row shifts every centre by s, within the limits: to z;
    and takes the worst category of free groups. Good centres have sum_f (w_f z_f + e_f |z_f|) + constants >= 0; take l >= 0 of
    that. The cost is at least sum_f d_f cost_f(c_f) for ``weights`` d of dual norm <= 1. So it is at least
    sum_f min_c (d_f cost_f(c) - l (w_f z + e_f |z|)) - l constants, a sum of minima of broken lines. Without a bound
    (``free``) weights are 0: then a positive sum leaves no good centre."""
    n, multiplier = len(box.low), Fraction(number(part(leaf, "multiplier"), "multiplier", 0.0))
    weights = list(map(Fraction, numbers(part(leaf, "weights"), n + len(question.groups), "weights", 0.0)))
    sizes = {"l1": [max(weights)], "l2": [w * w for w in weights], "linf": weights}[question.norm]
    need(sum(sizes) <= (0 if free else 1), "the weights are too large, or there is no bound")
    tiny = sum((abs(w) + e for w, e in zip(row.weight, row.error, strict=True)), Fraction(0)) / ONE
    value = -multiplier * (row.constant + row.doubt + tiny)
    for f, group_of in enumerate(question.group_of):
        value += _least(row, multiplier, shift[f], weights[f], question, box, f) if group_of < 0 else 0
    for group, d in zip(question.groups, weights[n:], strict=True):
        price, members = d * Fraction(group.price), question.categories(group, question.limits if group.free else box)
        gained = {f: multiplier * (row.weight[f] + row.error[f]) for f in members}
        if group.free:
            value += (0 if question.stays(group, box) else price) - min(gained.values())
        else:
            value += min((price if question.factual[f] != 1.0 else 0) - gained[f] for f in members)
    return value


def _least(
    row: LinearRow, multiplier: Fraction, s: float, d: Fraction, question: Question, box: Box, f: int
) -> Fraction:
    """min over the centres of one column; what is minimized bends at the factual, where z meets 0 or a limit, and nowhere else."""
    low, high, lower, upper = (Fraction(b[f]) for b in (box.low, box.high, question.limits.low, question.limits.high))
    factual, price, shift = Fraction(question.factual[f]), d * Fraction(question.factor[f]), Fraction(s)
    slack = row.error[f] * (1 + ROUNDING) + abs(row.weight[f]) * ROUNDING
    values = []
    for bend in (low, high, factual, -shift, lower - shift, upper - shift):
        c = min(max(bend, low), high)
        z = min(max(c + shift, lower), upper)
        values.append(price * abs(c - factual) - multiplier * (row.weight[f] * z + slack * abs(z)))
    return min(values)


class Maps:
    """A linear model (without neurons), or a network, and its rows."""

    def __init__(self, layers: list[Affine], question: Question, rivals: list[Margin]) -> None:
        self.layers, self.question, self.rivals = layers, question, rivals
        self.neurons = sum(len(layer.bias) for layer in layers[:-1])
        self.rows = [linear_row(layers[-1], each) for each in rivals]  # of a network: over its last neurons
        self.how = "linear bounds of each, rounded outwards" if self.neurons else "the worst point of each, exactly"

    def proves(self, j: int, step: Any, box: Box, center: list[float]) -> bool:
        """Every input of a part of the region has a positive margin over rival j."""
        if self.neurons:
            lines, at = read_lines(step, self.layers), Part(self.layers, self.question, box, center)
            return at.empty or at.worst(self.rivals[j], lines) > 0
        check_range(self.layers[0], box)
        return worst_margin(self.rows[j], self.question, box, center, number(step, "multiplier", 0.0)) > 0


class MapCenters:
    """The reasons of a file why no centre below a bound is good: weak duality with one row and one of its shifts of the room."""

    neurons = 0

    def __init__(self, maps: Maps, file: Any, bound: float | None) -> None:
        need(maps.neurons == 0, "bounds for networks are unknown to this checker")
        self.rows, self.question, self.bound = maps.rows, maps.question, bound
        self.shifts = [read_shift(self.question, each) for each in kind(part(file, "shifts"), list, "shifts")]
        check_range(maps.layers[0], self.question.limits)

    def closes(self, step: Any, box: Box, is_open: bool) -> tuple[str, list[Box]]:
        """The reason of a leaf."""
        row = self.rows[index(part(step, "row"), len(self.rows), "row")]
        shift = self.shifts[index(part(step, "shift"), len(self.shifts), "shift")]
        if is_open:
            value = dual_value(row, self.question, box, step, shift, self.bound is None)
            reached = value > 0 if self.bound is None else value >= Fraction(self.bound)
            need(reached, "the multiplier of a leaf does not reach the bound")
        return "weak duality", []
