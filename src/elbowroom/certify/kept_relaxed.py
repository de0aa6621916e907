"""Linear bounds of a network's margins over many cells of slipped inputs at once.

As in `intervals`: backwards through the layers with relaxed ReLUs. A cell limits some coordinates to intervals; the others,
u, are normally distributed. A linear form a . u of these stays above -R ||a|| but for a probability of Phi(-R), so that the
intervals of all neurons hold together but for ``doubtful`` of the mass of the cell, however many coordinates there are (a box or
a ball of u would have to be far wider). The linear bounds of the margins hold wherever these intervals do.

**Rounding.** Numbers on the way are bounded once, for all cells: |z_k| <= Z_k by plain sizes, and a multiplier of a layer by the
product of the absolute weights after it. The number of roundings times all of these is taken from every bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from scipy import special

from elbowroom.certify.kept_axes import Coordinates
from elbowroom.certify.slips import PHI_ERROR, REACH
from elbowroom.models import Affine
from elbowroom.numerics import TINY, Bools, Floats, gamma

_ROOM_FOR_ERRORS: Final = 1.01
MATTERS: Final = 4.0  # standard deviations: widths beyond it hold next to no mass more
Ends: TypeAlias = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class Forms:
    """a . x + b, for every cell and row."""

    slope: Floats  # (cells, rows, coordinates)
    constant: Floats  # (cells, rows)


@dataclass(frozen=True, eq=False)
class Relaxed:
    """Forms below the margins and below minus the margins, both less what is needed; and for every coordinate how much of
    the distance between them it causes, about."""

    above: Forms
    below: Forms
    blame: Floats  # (cells, coordinates)


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The network behind the coordinates. ``needed``: margins beyond it, on either side, are decided."""

    coordinates: Coordinates
    layers: tuple[Affine, ...]  # the first one is replaced by that of the coordinates
    needed: Floats
    reach: float  # R

    @property
    def doubtful(self) -> float:
        """The share of a cell in which some interval may not hold."""
        return 2.0 * sum(layer.bias.size for layer in self.layers[:-1]) * (
            float(special.ndtr(-self.reach)) + 2.0 * PHI_ERROR
        )  # fmt: skip

    @cached_property
    def sizes(self) -> list[Floats]:
        """Bounds on |z| of every hidden layer."""
        c = self.coordinates
        ends = np.maximum(np.abs(c.low[c.normal :]), np.abs(c.high[c.normal :]))
        ends = np.where(np.isfinite(ends), ends, REACH)
        around = np.linalg.norm(c.weight[:, : c.normal], axis=1) * max(REACH, 9.0 * np.sqrt(c.normal))
        found = [around + np.abs(c.weight[:, c.normal :]) @ ends + np.abs(c.bias) + c.error]
        for layer in self.layers[1:-1]:
            found.append(np.abs(layer.weight) @ found[-1] + np.abs(layer.bias))
        return found

    def rounding(self, k: int) -> Floats:
        """Of rows over the activations of the first k hidden layers: those of layer k, or of the margins."""
        longest = sum(size.size for size in self.sizes) + self.coordinates.weight.shape[1]
        rows, layer = np.abs(self.layers[k].weight), self.layers[k]
        total = np.abs(layer.bias)
        for j in reversed(range(k)):
            bias = np.abs(self.layers[j].bias if j else self.coordinates.bias)
            total = total + rows @ (3.0 * self.sizes[j] + bias)
            if j == 0:
                return gamma(4 * longest + 64) * total * _ROOM_FOR_ERRORS + rows @ self.coordinates.error + TINY
            rows = rows @ np.abs(self.layers[j].weight)
        raise ValueError("the first layer has no rows behind it")

    @cached_property
    def _roundings(self) -> list[Floats]:
        return [self.rounding(k) for k in range(1, len(self.layers))]

    def of(self, least: Floats, most: Floats, free: Bools) -> Relaxed:
        """For cells with values in [least, most] of each coordinate, where it is not ``free``."""
        cell = _Cell(np.where(free, 0.0, least), np.where(free, 0.0, most), free, self.reach)
        found: list[Ends] = [self._first(cell)]
        for k in range(1, len(self.layers) - 1):
            found.append(self._layer(k, cell, found))
        last, error = self.layers[-1], self._roundings[-1] + self.needed
        blame = np.zeros_like(least)
        low = self._back(last.weight, last.bias, found, cell, blame)
        high = self._back(-last.weight, -last.bias, found, cell, blame)
        return Relaxed(Forms(low.slope, low.constant - error), Forms(high.slope, high.constant - error), blame)

    def _first(self, cell: _Cell) -> Ends:
        c = self.coordinates
        up, down = np.maximum(c.weight, 0.0), np.minimum(c.weight, 0.0)
        wide = cell.reach * np.sqrt(cell.free @ np.square(c.weight).T)
        slack = c.error + gamma(4 * c.weight.shape[1] + 32) * self.sizes[0] * _ROOM_FOR_ERRORS
        low = cell.least @ up.T + cell.most @ down.T + c.bias - wide - slack
        high = cell.most @ up.T + cell.least @ down.T + c.bias + wide + slack
        return low, high

    def _layer(self, k: int, cell: _Cell, found: list[Ends]) -> Ends:
        layer, error = self.layers[k], self._roundings[k - 1]
        below = self._back(layer.weight, layer.bias, found, cell)
        above = self._back(-layer.weight, -layer.bias, found, cell)
        low, high = np.maximum(found[-1][0], 0.0), np.maximum(found[-1][1], 0.0)
        up, down = np.maximum(layer.weight, 0.0), np.minimum(layer.weight, 0.0)
        plain = low @ up.T + high @ down.T + layer.bias, high @ up.T + low @ down.T + layer.bias
        return np.maximum(cell.smallest(below), plain[0]) - error, np.minimum(-cell.smallest(above), plain[1]) + error

    def _back(
        self, rows: Floats, constant: Floats, found: list[Ends], cell: _Cell, blame: Floats | None = None
    ) -> Forms:
        """Forms below rows @ relu(z_k) + constant, k the last layer found; the blame is added up."""
        slope = np.broadcast_to(rows, (len(cell.least), *rows.shape))
        total = np.broadcast_to(constant, slope.shape[:2])
        for k in reversed(range(len(found))):
            low, high = found[k]
            open_ = (low < 0.0) & (high > 0.0)
            chord = np.where(open_, high / np.where(open_, high - low, 1.0), low >= 0.0)
            chord = np.minimum(chord, 1.0)
            line = np.where(open_, high > -low, low >= 0.0)
            rising = slope >= 0.0
            m = slope * np.where(rising, line[:, None, :], chord[:, None, :])
            gap = np.where(open_, -chord * low, 0.0)
            least = np.where(rising, 0.0, slope * gap[:, None, :])
            layer_bias = self.layers[k].bias if k else self.coordinates.bias
            total = total + least.sum(axis=2) + m @ layer_bias
            if blame is not None:
                self._blame(k, np.abs(slope).sum(axis=1) * gap, cell, blame)
            slope = m @ (self.layers[k].weight if k else self.coordinates.weight)
        return Forms(slope, total)

    def _blame(self, k: int, cost: Floats, cell: _Cell, blame: Floats) -> None:
        """Share what the relaxed neurons of a layer cost among the coordinates that they move with."""
        width = np.where(cell.free, MATTERS, np.minimum(cell.most - cell.least, MATTERS))
        each = np.square(self._moves[k][None] * width[:, None, :])
        each = each / np.maximum(each.sum(axis=2, keepdims=True), 1e-300)
        blame += (cost[:, :, None] * each).sum(axis=1)

    @cached_property
    def _moves(self) -> list[Floats]:
        """How neurons move with the coordinates, as if half of each layer were on: it chooses where to divide."""
        found = [self.coordinates.weight]
        for layer in self.layers[1:-1]:
            found.append(layer.weight @ found[-1])
        return found


@dataclass(frozen=True, eq=False)
class _Cell:
    """Values of cut coordinates; free ones have 0 here."""

    least: Floats
    most: Floats
    free: Bools
    reach: float

    def smallest(self, forms: Forms) -> Floats:
        """The smallest value in the cell, of free coordinates up to ``reach`` deviations."""
        up, down = np.maximum(forms.slope, 0.0), np.minimum(forms.slope, 0.0)
        ends = (up @ self.least[:, :, None] + down @ self.most[:, :, None])[:, :, 0]
        wide = np.sqrt((np.square(forms.slope) @ self.free[:, :, None].astype(np.float64))[:, :, 0])
        return np.asarray(forms.constant + ends - self.reach * wide)
