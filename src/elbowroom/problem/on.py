"""Which columns of a box have room: all of them, those that the centre changes, or those that it keeps.

    on="all"      room r_f in every column
    on="changed"  r_f where the centre differs from the factual, 0 elsewhere: what nobody touches is known exactly
    on="kept"     r_f where the centre equals the factual, 0 elsewhere: what is changed is set exactly, the rest may slip

"Differs" compares floats exactly; a changed column's room is the usual one, clipped to the limits.

With on="kept" a column is either kept, with its room K_f = [factual - down, factual + up], clipped to the limits, or
*changed by at least its room* w_f = max(down, up): to factual - w_f or below, or to factual + w_f or above. A smaller
change is no change, as it is one that a kept value may undergo by itself. (Without this a move by the smallest float
would take the room away at no cost, and every answer would be that of Box(0), a hair aside.) Where the factual itself
lies outside the limits it cannot be kept, and any value within them counts as changed. A column without room (w_f = 0)
is free to take any value.
"""

from __future__ import annotations

from enum import Enum

from elbowroom.errors import InputError


class On(Enum):
    """Which columns have room."""

    ALL = "all"
    CHANGED = "changed"
    KEPT = "kept"

    @classmethod
    def parse(cls, value: object) -> On:
        if isinstance(value, cls):
            return value
        try:
            return cls(value)
        except ValueError:
            raise InputError(f'Box: on={value!r} is unknown; use "changed", "kept" or "all"') from None

    def __repr__(self) -> str:
        return repr(self.value)
