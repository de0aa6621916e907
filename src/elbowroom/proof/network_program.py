"""The linear program of a box of centres of a network: the cheapest one whose margins are not negative at some shifts of the room.

Every ReLU lies between its two pieces and its chord, an input that meets a limit between its broken line and the chord.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, vstack

from elbowroom.numerics import Floats
from elbowroom_checker.maps import Maps
from elbowroom_checker.question import Box

Ends = dict[tuple[int, int], tuple[float, float]]  # of neurons, by shift and number


@dataclass
class Layers:
    """The network in floats."""

    maps: Maps

    def __post_init__(self) -> None:
        self.weights = [np.array(layer.weight) for layer in self.maps.layers]
        self.biases = [np.array(layer.bias) for layer in self.maps.layers]
        self.sizes = [b.size for b in self.biases[:-1]]
        self.rows, self.constants = [], []
        for margin in self.maps.rivals:
            self.rows.append(sum(s * self.weights[-1][k] for k, s in margin.signs.items()))
            self.constants.append(sum(s * self.biases[-1][k] for k, s in margin.signs.items()) - float(margin.goal))

    def hidden(self, x: Floats) -> list[Floats]:
        """Sums of all hidden neurons, layer by layer; one row per input."""
        found, h = [], x
        for w, b in zip(self.weights[:-1], self.biases[:-1], strict=True):
            found.append(h @ w.T + b)
            h = np.maximum(found[-1], 0.0)
        return found

    def margins(self, x: Floats) -> Floats:
        """One row per input, one column per rival."""
        last = np.maximum(self.hidden(x)[-1], 0.0)
        return np.stack([last @ v + c for v, c in zip(self.rows, self.constants, strict=True)], axis=1)

    def slope(self, x: Floats, rival: int) -> Floats:
        """The gradient of a margin, one row per input."""
        z = self.hidden(x)
        back = self.rows[rival] * (z[-1] > 0.0)
        for k in reversed(range(1, len(z))):
            back = (back @ self.weights[k]) * (z[k - 1] > 0.0)
        return np.asarray(back @ self.weights[0], dtype=float)


class Asked:
    """The question in arrays, and the network."""

    def __init__(self, maps: Maps, bound: float) -> None:
        question = maps.question
        self.maps, self.question, self.bound, self.layers = maps, question, bound, Layers(maps)
        self.n, self.size = len(question.factual), sum(self.layers.sizes)
        self.single = np.array(question.group_of) < 0
        self.named = np.array([question.is_free(f) for f in range(self.n)])
        self.factual, self.factor = np.array(question.factual), np.array(question.factor)
        self.lower, self.upper = np.array(question.limits.low), np.array(question.limits.high)
        self.whole, self.down, self.up = (np.array(x) for x in (question.whole, question.down, question.up))

    def inputs(self, center: Floats, shifts: Floats) -> Floats:
        """What shifts lead to: one row per shift."""
        return np.where(self.named, shifts, np.clip(center + shifts, self.lower, self.upper))


@dataclass(frozen=True)
class Solved:
    value: float
    center: Floats
    missed: float
    leaf: list[Any]
    worst: tuple[int, int] | None  # shift and neuron


class Program:
    """min cost + dearest * missed, over centres of a box, ReLUs between their pieces and the chord."""

    def __init__(
        self, asked: Asked, shifts: list[list[float]], box: Box, ends: Ends, active: tuple[int, ...], dearest: float
    ) -> None:
        self.asked, self.active, self.ends = asked, active, ends
        self.low, self.high = np.array(box.low), np.array(box.high)
        self.dearest = dearest * (asked.bound if math.isfinite(asked.bound) else 1.0)
        self.box, self.shifts = box, shifts

    def solve(self) -> Solved | None:
        asked, n = self.asked, self.asked.n
        blocks = [Block(self, k) for k in self.active]
        if any(block.empty for block in blocks):
            block = next(block for block in blocks if block.empty)
            leaf: list[Any] = [[], [[block.k, [0.0] * len(asked.maps.rivals), 0]]]
            return Solved(math.inf, np.zeros(n), 0.0, leaf, None)
        # columns: centres, costs (linf: one), missed, then the variables of blocks
        many = n if asked.question.norm == "l1" else 1
        size = 2 * n + 1 if asked.question.norm == "l1" else n + 2
        at = n + many
        total = size + sum(block.size for block in blocks)
        cost = np.zeros(total)
        cost[n:at], cost[at] = 1.0, self.dearest
        free = math.isinf(asked.bound)
        cost[n:at] = 0.0 if free else 1.0
        moving = np.flatnonzero(asked.single & (asked.factor > 0.0))
        r = np.arange(moving.size)
        about = asked.factor[moving]
        to = moving + n if many > 1 else np.full(moving.size, n)
        ones, goal = -np.ones(moving.size), about * asked.factual[moving]
        plus = csr_matrix(
            (np.concatenate([about, ones]), (np.concatenate([r, r]), np.concatenate([moving, to]))),
            (moving.size, total),
        )
        minus = csr_matrix(
            (np.concatenate([-about, ones]), (np.concatenate([r, r]), np.concatenate([moving, to]))),
            (moving.size, total),
        )
        rows, right, first, begin = [plus, minus], [goal, -goal], [], size
        count = 2 * moving.size
        for block in blocks:
            matrix, b = block.rows(total, begin, at)
            rows.append(matrix)
            right.append(b)
            first.append((count, begin))
            count, begin = count + b.size, begin + block.size
        low = np.concatenate([self.low, np.zeros(many + 1), *(block.low for block in blocks)])
        high = np.concatenate([self.high, np.full(many + 1, np.inf), *(block.high for block in blocks)])
        found = linprog(
            cost,
            vstack(rows, format="csr"),
            np.concatenate(right),
            bounds=list(zip(low.tolist(), high.tolist(), strict=True)),
            method="highs-ds",
        )
        if found.status != 0 or found.x is None or found.fun is None:
            return None
        x = np.asarray(found.x, dtype=float)
        duals = -found.ineqlin.marginals
        entries, worst, most = [], None, 0.0
        for block, (row, begin) in zip(blocks, first, strict=True):
            entries += block.entries(duals[row:])
            loss, i = block.loss(x, begin)
            if loss > most:
                most, worst = loss, (block.k, i)
        weights: list[float] = []
        if not free:
            shares = np.zeros(n)
            shares[moving] = 1.0 if many > 1 else duals[: moving.size] + duals[moving.size : 2 * moving.size]
            weights = [*shares.tolist(), *[1.0 if many > 1 else 0.0] * len(asked.question.groups)]
        price = sum(g.price for g in asked.question.groups if not asked.question.stays(g, self.box))
        value = float(found.fun) + (price if many > 1 and not free else 0.0)
        full: list[Any] = [weights, [each for each in entries if any(each[1]) or each[2] != 0]]
        return Solved(value, x[:n], float(x[at]), full, worst)


class Block:
    """A shift: intervals of its neurons, and the rows of its part of the program. Variables: inputs whose limits are met, then
    open neurons, layer by layer."""

    def __init__(self, program: Program, k: int) -> None:
        asked = program.asked
        self.asked, self.program, self.k = asked, program, k
        self.layers = asked.layers
        s = np.array(program.shifts[k])
        low, high = program.low + s, program.high + s
        inside = (low >= asked.lower) & (high <= asked.upper)
        self.bent = np.flatnonzero(
            ~inside & ~asked.named & (np.clip(low, asked.lower, asked.upper) < np.clip(high, asked.lower, asked.upper))
        )
        self.inside, self.shift = inside & ~asked.named, s
        self.xlow, self.xhigh = (np.where(asked.named, s, np.clip(e, asked.lower, asked.upper)) for e in (low, high))
        point = np.where(asked.named, s, np.clip(asked.factual + s, asked.lower, asked.upper))
        with np.errstate(divide="ignore"):
            width = np.where(
                asked.single & (asked.factor > 0),
                asked.bound / np.where(asked.factor > 0, asked.factor, 1.0),
                np.inf,
            )
        self.point, self.width = point, width
        self._intervals()

    def _least(self, slopes: Floats) -> Floats:
        """Per row of slopes, the least of slopes x."""
        box = np.where(slopes > 0, slopes * self.xlow, slopes * self.xhigh)
        best = box.sum(axis=1)
        moving = np.isfinite(self.width)
        if moving.any() and math.isfinite(self.asked.bound):
            steps = np.abs(slopes[:, moving] * self.width[moving])
            away = steps.max(axis=1) if self.asked.question.norm == "l1" else steps.sum(axis=1)
            best = np.maximum(best, np.where(moving, slopes * self.point, box).sum(axis=1) - away)
        return np.asarray(best, dtype=float)

    def _below(self, slopes: Floats, k: int) -> Floats:
        constant = np.zeros(slopes.shape[0])
        for j in reversed(range(k)):
            low, high = self.zlow[j], self.zhigh[j]
            with np.errstate(divide="ignore", invalid="ignore"):
                chord = np.where((low < 0) & (high > 0), high / (high - low), 0.0)
            line = np.where(low >= 0, 1.0, np.where(high <= 0, 0.0, np.where(slopes >= 0, high > -low, chord)))
            m = slopes * line
            below = np.minimum(slopes * np.maximum(low, 0) - m * low, slopes * np.maximum(high, 0) - m * high)
            crossing = (low < 0) & (high > 0)
            constant += np.where(crossing, np.minimum(below, 0.0), np.where((low >= 0) | (high <= 0), 0.0, below)).sum(
                axis=1
            )
            constant += m @ self.layers.biases[j]
            slopes = m @ self.layers.weights[j]
        return constant + self._least(slopes)

    def _intervals(self) -> None:
        self.zlow, self.zhigh, self.empty, at = [], [], False, 0
        for j, size in enumerate(self.layers.sizes):
            w, b = self.layers.weights[j], self.layers.biases[j]
            low, high = self._below(w, j) + b, b - self._below(-w, j)
            slack = 1e-13 * (np.abs(low) + np.abs(high))
            low, high = low - slack, high + slack
            for (k, i), (first, last) in self.program.ends.items():
                if k == self.k and at <= i < at + size:
                    low[i - at], high[i - at] = max(low[i - at], first), min(high[i - at], last)
            at += size
            self.empty |= bool((low > high).any())
            self.zlow.append(low)
            self.zhigh.append(np.maximum(low, high))
        self.open = [np.flatnonzero((a < 0) & (b > 0)) for a, b in zip(self.zlow, self.zhigh, strict=True)]
        self.size = self.bent.size + sum(each.size for each in self.open)
        self.low = np.concatenate([self.xlow[self.bent], np.zeros(self.size - self.bent.size)])
        self.high = np.concatenate([self.xhigh[self.bent], *(b[o] for b, o in zip(self.zhigh, self.open, strict=True))])

    def rows(self, total: int, begin: int, missed: int) -> tuple[Any, Floats]:
        """A x <= b."""
        n, matrix, right = self.asked.n, list[Floats](), list[float]()
        x = np.zeros((n, total))
        constant = np.where(self.inside, self.shift, np.where(self.asked.named, self.shift, self.xlow))
        x[np.flatnonzero(self.inside), np.flatnonzero(self.inside)] = 1.0
        for place, f in enumerate(self.bent.tolist()):
            x[f, begin + place], constant[f] = 1.0, 0.0
            self._bend(matrix, right, f, begin + place, total)
        self.bends = len(right)
        h, place, hconst = x, begin + self.bent.size, constant
        self.marks = []
        for j, open_ in enumerate(self.open):
            z, zc = self.layers.weights[j] @ h, self.layers.weights[j] @ hconst + self.layers.biases[j]
            low, high = self.zlow[j], self.zhigh[j]
            new, newc = np.where((low >= 0)[:, None], z, 0.0), np.where(low >= 0, zc, 0.0)
            new[open_] = 0.0
            new[open_, place + np.arange(open_.size)] = 1.0
            newc[open_] = 0.0
            ratio = (high / (high - low + 1e-300))[open_]
            start = len(right)
            matrix += [*(z[open_] - new[open_])]  # h >= z
            right += [*(-zc[open_])]
            matrix += [*(new[open_] - ratio[:, None] * z[open_])]  # h <= ratio (z - low)
            right += [*(ratio * (zc[open_] - low[open_]))]
            decided = []
            for (k, i), (first, last) in self.program.ends.items():
                i -= sum(self.layers.sizes[:j])
                if k != self.k or not 0 <= i < self.layers.sizes[j]:
                    continue
                for sign, end in ((-1.0, first), (1.0, last)):
                    if math.isfinite(end):
                        row = sign * z[i]
                        row[missed] -= 1.0
                        decided.append((i, sign, len(right)))
                        matrix.append(row)
                        right.append(sign * (end - zc[i]))
            self.marks.append((start, open_, ratio, decided, place))
            place += open_.size
            h, hconst = new, newc
        self.margin_rows = len(right)
        for v, c in zip(self.layers.rows, self.layers.constants, strict=True):
            row = -(v @ h)
            row[missed] -= 1.0
            matrix.append(row)
            right.append(c + float(v @ hconst))
        self.h, self.hconst = h, hconst
        return csr_matrix(np.array(matrix)), np.array(right)

    def _bend(self, matrix: list[Floats], right: list[float], f: int, place: int, total: int) -> None:
        """An input that meets a limit: between its broken line and the chord."""
        a, b, s = float(self.program.low[f]), float(self.program.high[f]), float(self.shift[f])
        lower, upper = float(self.asked.lower[f]), float(self.asked.upper[f])
        ya, yb = float(self.xlow[f]), float(self.xhigh[f])
        slope = (yb - ya) / (b - a)
        up_bend, low_bend = b + s > upper, a + s < lower

        def row(sign: float, factor: float, end: float) -> None:  # sign (x - factor c) <= sign end
            line = np.zeros(total)
            line[place], line[f] = sign, -sign * factor
            matrix.append(line)
            right.append(sign * end)

        if not low_bend:
            row(1.0, 1.0, s)
            row(-1.0, slope, ya - slope * a)
        elif not up_bend:
            row(-1.0, 1.0, s)
            row(1.0, slope, ya - slope * a)

    def entries(self, duals: Floats) -> list[list[Any]]:
        """What the checker is told: the multiplier of every rival, and multipliers of neurons with the first of them."""
        multipliers = np.maximum(duals[self.margin_rows : self.margin_rows + len(self.layers.rows)], 0.0)
        slopes, found = -multipliers @ np.array(self.layers.rows), list[list[list[float]]]()
        for j in reversed(range(len(self.open))):
            start, open_, ratio, decided, _ = self.marks[j]
            size = open_.size
            p, q = np.maximum(duals[start : start + size], 0.0), np.maximum(duals[start + size : start + 2 * size], 0.0)
            m = np.where(self.zlow[j] >= 0, slopes, 0.0)
            m[open_] = p - q * ratio
            listed = {int(i): float(m[i]) for i in open_}
            for i, sign, row in decided:
                m[i] += sign * max(float(duals[row]), 0.0)
                listed[int(i)] = float(m[i])
            found.append([[i, value] for i, value in listed.items()])
            slopes = m @ self.layers.weights[j]
        return [[self.k, multipliers.tolist(), found[::-1] if any(found) else 0]]

    def loss(self, x: Floats, begin: int) -> tuple[float, int]:
        """The neuron at which the relaxation errs most, weighed by what follows from it."""
        h, before, best, worst = self._input_values(x, begin), 0, 0.0, 0
        weights = self._weights()
        for j, open_ in enumerate(self.open):
            z = self.layers.weights[j] @ h + self.layers.biases[j]
            h = np.maximum(z, 0.0) * (self.zlow[j] >= 0)
            place = self.marks[j][4]
            h[open_] = x[place : place + open_.size]
            lost = np.abs(h[open_] - np.maximum(z[open_], 0.0)) * weights[j][open_]
            if lost.size and lost.max() > max(best, 1e-10):
                best, worst = float(lost.max()), before + int(open_[np.argmax(lost)])
            before += self.layers.sizes[j]
        return best, worst

    def _weights(self) -> list[Floats]:
        found = [sum(np.abs(v) for v in self.layers.rows)]
        for w in reversed(self.layers.weights[1:-1]):
            found.append(found[-1] @ np.abs(w))
        return found[::-1]

    def _input_values(self, x: Floats, begin: int) -> Floats:
        center = x[: self.asked.n]
        return np.where(self.asked.named, self.shift, np.clip(center + self.shift, self.asked.lower, self.asked.upper))
