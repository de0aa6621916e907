"""The room that was asked for, in words."""

from __future__ import annotations

from typing import Final, assert_never

from elbowroom.present.numbers import about
from elbowroom.present.outcomes import joined, quoted
from elbowroom.problem.on import On
from elbowroom.problem.rooms import Box, Room
from elbowroom.problem.space import Space
from elbowroom.visible import named

MOST_NAMED: Final = 6  # columns whose room is told one by one


def room_text(room: Room, space: Space) -> str:
    """a box of radius 0.05, in units of each feature's scale; a box: duration ± 2 months and amount ± 250 DM."""
    return _shape_text(room, space) + _on_text(room) + _freedom_text(room)


def _shape_text(room: Room, space: Space) -> str:
    kind = type(room).__name__.lower()
    if room.size is not None:
        return f"a {kind} of radius {about(room.size)}, in units of each feature's scale"
    parts = _columns(room, space)
    if len(parts) > MOST_NAMED:
        parts = [*parts[:MOST_NAMED], f"{len(parts) - MOST_NAMED} more features"]
    return f"a {kind}: {joined(parts)}" if parts else f"a {kind} without room in any number"


def _columns(room: Room, space: Space) -> list[str]:
    """amount ± 250 DM; amount 100 DM down and 400 DM up."""
    walls, parts = room.walls(space), []
    for f, feature in enumerate(space.features):
        down, up = float(walls.down[f]), float(walls.up[f])
        if space.group_of[f] >= 0 or feature.immutable or not (down or up):
            continue
        unit = f" {named(feature.unit)}" if feature.unit else ""
        sides = [f"{about(end, 4)}{unit} {way}" for end, way in ((down, "down"), (up, "up")) if end]
        far = f"± {about(up, 4)}{unit}" if down == up else " and ".join(sides)
        parts.append(f"{named(feature.name)} {far}")
    return parts


def _on_text(room: Room) -> str:
    """, only in features that change."""
    on = On.parse(room.on) if isinstance(room, Box) else On.ALL
    match on:
        case On.ALL:
            return ""
        case On.CHANGED:
            return ", only in features that change"
        case On.KEPT:
            return ", only in features that stay as they are"
        case _:
            assert_never(on)


def _freedom_text(room: Room) -> str:
    """; any housing; grade 'B' or 'C'."""
    parts = []
    for name, how in (room.categories or {}).items():
        if not isinstance(how, str):
            parts.append(f"; {named(name)} {joined([quoted(label) for label in how], 'or')}")
        elif how == "any":
            parts.append(f"; any {named(name)}")
    return "".join(parts)
