"""A master program and what it is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from elbowroom.numerics import Floats
from elbowroom.search.program import Program


class Stance(Enum):
    """What a master program is for."""

    ASK = "find a candidate: everything holds with a little to spare, so that rounding cannot spoil it"
    PROVE = "bound the optimum: everything is relaxed a little, so that no valid centre is cut off"


@dataclass(frozen=True, eq=False)
class Master:
    """A master program, how its solution reads as a centre and the other way round (columns that a centre does not settle
    are NaN), and how its objective reads as a distance."""

    program: Program
    decode: Callable[[Floats], Floats]
    encode: Callable[[Floats], Floats]
    distance_of: Callable[[float], float]
    objective_of: Callable[[float], float]
