"""Rooms: how much space is wanted around the answer.

A room is a set of shifts s with 0 in it: a box {-down <= s <= up}, a ball {sum (s_f / r_f)^2 <= 1} or a diamond
{sum |s_f| / r_f <= 1}. A scalar radius counts in units of each feature's scale; a mapping or an array gives raw units
per feature (features that a mapping leaves out get no room). Rooms are clipped to bounds; whole-number features take
whole values inside; the category of a one-hot group stays fixed unless ``categories={"city": "any"}``, or
``categories={"grade": ["B", "C"]}``: then the answer's category is one of those named, and the room holds all of them.
A box may have room in those columns only that the centre changes, or in those that it keeps: see `on`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self, assert_never

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import BIGGEST, Floats
from elbowroom.problem.freedom import Freedom, checked_freedom, freed
from elbowroom.problem.on import On
from elbowroom.problem.parsing import PLAIN_NUMBER, Radius, number, unknown
from elbowroom.problem.shapes import Shape
from elbowroom.problem.space import Space


@dataclass(frozen=True, eq=False)
class Walls:
    """A room in raw units: how far each column may slip down and up. Balls and diamonds have down == up."""

    shape: Shape
    down: Floats
    up: Floats
    free_groups: tuple[int, ...] = ()  # one-hot groups whose category may be anything inside the room
    banned: tuple[int, ...] = ()  # columns of categories that neither the centre nor the room may have
    on: On = On.ALL  # which columns have room


class Room:
    """Base of all rooms. A new room is a subclass with a shape; see CONTRIBUTING."""

    categories: Freedom | None = None  # of one-hot groups, by name

    def walls(self, space: Space) -> Walls:
        """The room in raw units.

        Args:
            space: What the columns mean.

        Returns:
            How far the room reaches along each inner column.
        """
        raise NotImplementedError

    @property
    def size(self) -> float | None:
        """The scalar radius, or None where every feature has its own."""
        raise NotImplementedError

    def times(self, factor: float) -> Room:
        """The room with every radius multiplied; a larger factor gives a room that contains the smaller one.

        Args:
            factor: At least 0.

        Returns:
            A room of the same kind.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Box(Room):
    """All points with every feature within its radius: ``Box(0.05)``, ``Box({"salary": 2000})``, ``Box(low=0, high=0.1)``.

    ``on="changed"``: room only in features that the answer changes; ``on="kept"``: only in those that it keeps.

    Args:
        radius: A number in units of the scales, or raw units by feature; features that are not named get no room.
        low: In place of ``radius``: how far down.
        high: In place of ``radius``: how far up.
        categories: ``{"city": "any"}`` or ``{"grade": ["B", "C"]}``: inside the room the category is any of these.
        on: "all", "changed" or "kept".

    Examples:
        >>> Box({"salary": 100, "debt": 50}).radius
        {'salary': 100.0, 'debt': 50.0}
    """

    radius: Radius | None = None
    low: Radius | None = None
    high: Radius | None = None
    categories: Freedom | None = None
    on: On | str = On.ALL

    def __post_init__(self) -> None:
        if self.radius is None and self.low is None and self.high is None:
            raise InputError("Box needs a radius, or low= and high=; Box(0) asks for a single point")
        if self.radius is not None and (self.low is not None or self.high is not None):
            raise InputError("Box takes either a radius or low= and high=, not both")
        for what in ("radius", "low", "high"):
            object.__setattr__(self, what, checked_radius(getattr(self, what), f"Box {what}"))
        object.__setattr__(self, "categories", checked_freedom(self.categories))
        object.__setattr__(self, "on", On.parse(self.on))
        if self.on is not On.ALL and isinstance(self.categories, Mapping):
            for name, how in self.categories.items():
                if how != "fixed":
                    raise InputError(
                        f"Box: on={self.on!r} is about columns of numbers, and categories[{name!r}] opens a category; "
                        'leave one of them out, or use on="all"'
                    )

    def walls(self, space: Space) -> Walls:
        """The room in the raw units of a ``space``."""
        both = self.radius is not None
        down = per_column(self.radius if both else self.low, space, "Box radius" if both else "Box low")
        up = per_column(self.radius if both else self.high, space, "Box radius" if both else "Box high")
        return Walls(Shape.BOX, down, up, *freed(self.categories, space), On.parse(self.on))

    @property
    def size(self) -> float | None:
        return self.radius if isinstance(self.radius, float) else None

    @classmethod
    def for_probability(
        cls,
        probability: float,
        sigma: Radius,
        *,
        n: int | None = None,
        space: Space | None = None,
        categories: Freedom | None = None,
    ) -> Box:
        """The smallest box for a probability: a Gaussian slip of the centre stays in it with that chance.

        Args:
            probability: Strictly between 0 and 1.
            sigma: The standard deviation of the slip: in units of the scales, or raw units per feature.
            n: So many features slip.
            space: In place of ``n``: all of its features that may move slip.
            categories: As for a `Box`.

        Returns:
            A box.

        Examples:
            >>> round(Box.for_probability(0.95, sigma=0.02, n=5).radius, 4)
            0.0514
        """
        return cls(radius_for(probability, sigma, n, space, Shape.BOX), categories=categories)

    def times(self, factor: float) -> Box:
        if self.radius is not None:
            return Box(_stretched(self.radius, factor), categories=self.categories, on=self.on)
        low = None if self.low is None else _stretched(self.low, factor)
        high = None if self.high is None else _stretched(self.high, factor)
        return Box(low=low, high=high, categories=self.categories, on=self.on)


@dataclass(frozen=True)
class RoundRoom(Room):
    """A room with one radius per feature, the same down and up: the unit set of a norm, stretched."""

    shape: ClassVar[Shape]

    radius: Radius
    categories: Freedom | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", checked_radius(self.radius, self._what, needed=True))
        object.__setattr__(self, "categories", checked_freedom(self.categories))

    @property
    def _what(self) -> str:
        return f"{type(self).__name__} radius"

    def walls(self, space: Space) -> Walls:
        r = per_column(self.radius, space, self._what)
        return Walls(self.shape, r, r, *freed(self.categories, space))

    @property
    def size(self) -> float | None:
        return self.radius if isinstance(self.radius, float) else None

    @classmethod
    def for_probability(
        cls,
        probability: float,
        sigma: Radius,
        *,
        n: int | None = None,
        space: Space | None = None,
        categories: Freedom | None = None,
    ) -> Self:
        """The smallest such room for a probability: a Gaussian slip of the centre stays in it with that chance.

        Args:
            probability: Strictly between 0 and 1.
            sigma: The standard deviation of the slip: in units of the scales, or raw units per feature.
            n: So many features slip.
            space: In place of ``n``: all of its features that may move slip.
            categories: As for a `Box`.

        Returns:
            A room of this kind.
        """
        return cls(radius_for(probability, sigma, n, space, cls.shape), categories=categories)

    def times(self, factor: float) -> Self:
        return type(self)(_stretched(self.radius, factor), self.categories)


@dataclass(frozen=True)
class Ball(RoundRoom):
    """All points within a Euclidean distance of the centre.

    Args:
        radius: In units of the scales; per feature, in raw units: an ellipsoid.
        categories: As for a `Box`.

    Examples:
        >>> explainer.explain(row, room=Ball(0.02)).status.name
        'OPTIMAL'
    """

    shape = Shape.BALL


@dataclass(frozen=True)
class Diamond(RoundRoom):
    """All points within an l1 distance of the centre.

    Args:
        radius: In units of the scales; per feature, in raw units: a weighted cross-polytope.
        categories: As for a `Box`.

    Examples:
        >>> explainer.explain(row, room=Diamond(0.02)).status.name
        'OPTIMAL'
    """

    shape = Shape.DIAMOND


def room_of(shape: Shape) -> type[Box] | type[Ball] | type[Diamond]:
    """The kind of room that has this shape."""
    match shape:
        case Shape.BOX:
            return Box
        case Shape.BALL:
            return Ball
        case Shape.DIAMOND:
            return Diamond
        case _:
            assert_never(shape)


def radius_for(probability: float, sigma: Radius, n: int | None, space: Space | None, shape: Shape) -> Radius:
    """What `for_probability` asks of `slips`, which is loaded when it is first used."""
    from elbowroom.problem.slips import smallest_radius

    return smallest_radius(probability, checked_radius(sigma, "sigma", needed=True), n, space, shape.distance.value)


def checked_radius(radius: Radius | None, what: str, needed: bool = False) -> Radius | None:
    """Check the numbers and take an immutable copy."""
    if radius is None and not needed:
        return None
    if isinstance(radius, Mapping):
        return {str(k): _length(v, f"{what}[{k!r}]") for k, v in radius.items()}
    if isinstance(radius, (list, tuple, np.ndarray)):
        return tuple(_length(v, f"{what}[{i}]") for i, v in enumerate(np.asarray(radius, dtype=object).ravel()))
    return _length(radius, what)


def _stretched(radius: Radius, factor: float) -> Radius:
    """Every number of a radius times the factor; rounding keeps the order, so rooms stay nested."""
    if isinstance(radius, Mapping):
        return {name: width * factor for name, width in radius.items()}
    if isinstance(radius, (int, float)):
        return float(radius * factor)
    return tuple(float(width) * factor for width in radius)


def _length(value: object, what: str) -> float:
    length = number(value, what, PLAIN_NUMBER)
    if isinstance(value, (bool, np.bool_)):
        raise InputError(f"{what} = {value!r} must be a number")
    if not (math.isfinite(length) and length >= 0):
        raise InputError(f"{what} = {value!r} must be a finite number of at least 0")
    return length


def per_column(radius: Radius | None, space: Space, what: str) -> Floats:
    """Raw units per column: a scalar counts in scales, a mapping or an array in raw units; 0 in one-hot groups."""
    in_group = space.group_of >= 0
    if radius is None:
        return np.zeros(len(space.names))
    if isinstance(radius, Mapping):
        widths = np.zeros(len(space.names))
        for name, width in radius.items():
            if name not in space.position:
                if name in space.columns:
                    raise InputError(f'{what}: column {name!r} holds categories; use categories={{"{name}": "any"}}')
                raise InputError(f"{what}: {unknown(name, space.columns)}")
            if in_group[space.position[name]] and width > 0:
                raise InputError(
                    f'{what}: column {name!r} belongs to a one-hot group; use categories={{"{space.groups[space.group_of[space.position[name]]].name}": "any"}}'
                )
            widths[space.position[name]] = width
        return widths
    if isinstance(radius, (int, float)):
        with np.errstate(over="ignore"):  # a room wider than all floats is a room of all floats
            return np.where(in_group, 0.0, np.minimum(radius * space.scale, BIGGEST))
    widths = np.asarray(radius, dtype=np.float64)
    if widths.size == len(space.columns):  # one per column of the user's table
        widths = np.repeat(widths, [column.stop - column.start for column in space.raw])
    if widths.shape != (len(space.names),):
        raise InputError(
            f"{what}: {widths.size} values for {len(space.columns)} columns; give one per column, a mapping or a single number"
        )
    return np.where(in_group, 0.0, widths)
