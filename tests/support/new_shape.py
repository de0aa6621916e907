"""A shape that no code was taught: one more member of `Shape`, made at run time, and a room that has it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

from elbowroom.problem import Shape
from elbowroom.problem.rooms import RoundRoom


@contextmanager
def new_shape(name: str = "ellipsoid") -> Iterator[Shape]:
    """The member is found by iteration and by value as long as the context lasts."""
    member = object.__new__(Shape)
    member._name_, member._value_ = name.upper(), name
    with (
        patch.object(Shape, "_member_names_", [*Shape._member_names_, member.name]),
        patch.dict(Shape._member_map_, {member.name: member}),
        patch.dict(Shape._value2member_map_, {name: member}),
    ):
        yield member


def room_with(shape: Shape, radius: float) -> RoundRoom:
    """A room of that shape, as a user's subclass of `RoundRoom` would be."""

    @dataclass(frozen=True)
    class NewRoom(RoundRoom):
        pass

    NewRoom.shape = shape
    return NewRoom(radius)
