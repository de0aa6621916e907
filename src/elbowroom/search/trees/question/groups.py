"""One-hot groups in positions.

A member of a fixed one-hot group has the positions 0 and 1, and half the price of the group lies on each of the two
members that move: on one-hot vectors the costs then add up to 0 (home) or the price (any other category). Inside a free
group nothing moves, and the room covers all allowed categories.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from elbowroom.numerics import Bools, Floats


@dataclass
class Groups:
    """What the one-hot groups contribute, dimension by dimension."""

    values: list[float] = field(default_factory=list)
    owner: list[int] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    root_low: list[int] = field(default_factory=list)
    root_high: list[int] = field(default_factory=list)
    home: list[int] = field(default_factory=list)
    block_ends: list[int] = field(default_factory=list)
    block_home: list[int] = field(default_factory=list)
    block_price: list[float] = field(default_factory=list)
    free_ends: list[int] = field(default_factory=partial(list, (0,)))
    free: list[tuple[int, int, int, int]] = field(default_factory=list)  # dimension, cells of 0 and 1, allowed
    moving: list[int] = field(default_factory=list)  # groups of the space that can change their category
    constants: list[float] = field(default_factory=list)  # costs of groups that cannot

    def add(self, dim: int, values: list[float], cost: list[float], room: list[tuple[float, float]]) -> None:
        self.values += values
        self.owner += [dim] * len(values)
        self.cost += cost
        self.low += [low for low, _ in room]
        self.high += [high for _, high in room]

    def add_free(self, begin: int, allowed: Bools, chosen: int, cuts: tuple[Floats, ...]) -> None:
        """Nothing moves; the room covers every allowed category."""
        for i, may in enumerate(allowed.tolist()):
            others = bool(np.delete(allowed, i).any())
            self.add(begin + i, [float(i == chosen)], [0.0], [(0.0 if others else 1.0, 1.0 if may else 0.0)])
            self.root_low.append(0)
            self.root_high.append(0)
            self.home.append(0)
            zero, one = np.searchsorted(cuts[begin + i], [0.0, 1.0]).tolist()
            self.free.append((begin + i, zero, one, int(may)))
            self.block_ends.append(begin + i + 1)
            self.block_home.append(-1)
            self.block_price.append(0.0)
        self.free_ends.append(len(self.free))

    def add_fixed(self, begin: int, allowed: Bools, chosen: int, factual: int, price: float, half: float) -> None:
        """One step from category to category; the room is a single one."""
        only = int(allowed.sum()) == 1
        for i, may in enumerate(allowed.tolist()):
            away = [half, 0.0] if i == factual else [0.0, half]
            self.add(begin + i, [0.0, 1.0], away, [(0.0, 0.0), (1.0, 1.0)])
            self.root_low.append(int(may and only))
            self.root_high.append(int(may))
            self.home.append(int(i == chosen))
        self.block_ends.append(begin + allowed.size)
        self.block_home.append(begin + factual)
        self.block_price.append(price)
