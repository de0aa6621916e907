"""Rooms of one shape and many sizes, as a frontier needs them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from elbowroom.errors import InputError
from elbowroom.problem.parsing import PLAIN_NUMBER, is_list, number
from elbowroom.problem.rooms import Room, room_of
from elbowroom.problem.shapes import Shape
from elbowroom.problem.space import Space

ROOM_OF_NORM = {shape.distance.value: room_of(shape) for shape in Shape}
SCALES = "in units of the scales"
MULTIPLES = "in multiples of the given room"


def parse_radii(radii: object) -> list[float]:
    """Finite numbers of at least 0, each once, in increasing order (whatever the order given)."""
    if not is_list(radii) or isinstance(radii, Mapping) or not isinstance(radii, Iterable):
        raise InputError(f"radii={radii!r}: give a list of radii, for example [0.01, 0.02, 0.05]")
    sizes = []
    for i, value in enumerate(radii):
        if isinstance(value, (bool, np.bool_)):
            raise InputError(f"radii[{i}] = {value!r} must be a number")
        size = number(value, f"radii[{i}]", PLAIN_NUMBER)
        if not (math.isfinite(size) and size >= 0.0):
            raise InputError(f"radii[{i}] = {value!r} must be a finite number of at least 0")
        if size in sizes:
            raise InputError(f"radii[{i}] = {value!r} occurs twice; give each radius once")
        sizes.append(size + 0.0)
    if not sizes:
        raise InputError("radii is empty; give at least one radius")
    return sorted(sizes)


def parse_unit(room: object, space: Space) -> tuple[Room, str]:
    """The room of radius 1, and what a radius counts: "linf", "l2", "l1", a class of rooms, or a room with a size per
    feature, which the radii then multiply."""
    if isinstance(room, str):
        if room not in ROOM_OF_NORM:
            raise InputError(f'room={room!r} is unknown; use "linf" (boxes), "l2" (balls) or "l1" (diamonds)')
        return ROOM_OF_NORM[room](1.0), SCALES
    if isinstance(room, type) and room in ROOM_OF_NORM.values():
        return room(1.0), SCALES
    if not isinstance(room, Room):
        raise InputError(
            f'room={room!r}: give "linf", "l2", "l1", Box, Ball, Diamond, or a room with a size per feature'
        )
    if room.size is not None and room.size != 1.0:
        raise InputError(
            f"room={room!r} has a radius already; give {type(room).__name__}, or {type(room).__name__}(1.0, ...), and the "
            "radii say how large it is"
        )
    walls = room.walls(space)
    if not (walls.down.any() or walls.up.any()):
        raise InputError(f"room={room!r} has no size that radii could multiply; use explain for a single point")
    return room, SCALES if room.size is not None else MULTIPLES


def parse_jump(size: object) -> float:
    """The smallest jump worth finding, in units of the distance."""
    jump = number(size, "smallest_jump", PLAIN_NUMBER)
    if isinstance(size, (bool, np.bool_)) or not (math.isfinite(jump) and jump > 0.0):
        raise InputError(f"smallest_jump={size!r} must be a finite number above 0")
    return jump
