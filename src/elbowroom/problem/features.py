"""What a space is made of: features, which are columns of numbers, and groups of 0/1 columns that are one category."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from elbowroom.errors import InputError
from elbowroom.problem.decimals import LARGEST
from elbowroom.problem.kinds import Direction, Kind, Missing
from elbowroom.problem.labels import Category, checked_labels
from elbowroom.problem.parsing import is_list, number, parse_enum
from elbowroom.problem.prices import Levels, Price, Slopes, checked_change, checked_levels, checked_slopes


@dataclass(frozen=True)
class Feature:
    """One column.

    Args:
        name: As in the table.
        kind: "numeric", "integer" or "binary".
        lower: The least value that an answer may have.
        upper: The largest.
        immutable: True: it never moves, in the answer or in the room.
        direction: "any", "increasing" or "decreasing": which way an answer may move it.
        scale: What a radius or a distance of 1 means, in raw units.
        weight: Times which a move counts in the distance.
        unit: A word behind its numbers.
        missing: "keep" or "may be filled": what may become of a number that the row lacks.
        typical: What a missing number is filled with at no price; needed where it may be filled.
        decimals: With which its numbers are written; None: as many as they have.
        price_up: Times the weight, for moves upwards; see `Price`.
        price_down: Times the weight, for moves downwards.
        price_change: Times the weight, for any change at all.
        percentiles: By which moves count, instead of in units of the scale; see `Price.of_percentiles`.

    Examples:
        >>> Feature("age", kind="integer", lower=18, upper=99, direction="increasing").upper
        99.0
    """

    name: str
    kind: Kind | str = Kind.NUMERIC
    lower: float = -math.inf
    upper: float = math.inf
    immutable: bool = False
    direction: Direction | str = Direction.ANY
    scale: float = 1.0
    weight: float = 1.0
    unit: str | None = None
    missing: Missing | str = Missing.KEEP
    typical: float | None = None  # what a missing value is filled with at no price; needed where it may be filled
    decimals: int | None = None  # with which its numbers are written; None: as many as they have
    price_up: Slopes = 1.0  # times weight / scale, for moves upwards; see `prices`
    price_down: Slopes = 1.0
    price_change: float = 0.0  # times weight, for any change at all
    percentiles: Levels | None = None  # by which moves count, instead of in units of the scale

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        if not isinstance(self.name, str):
            raise InputError(f"feature {self.name!r}: the name must be text, for example {str(self.name)!r}")
        if not isinstance(self.immutable, (bool, np.bool_)):
            raise InputError(f"feature {self.name!r}: immutable={self.immutable!r} must be True or False")
        if self.unit is not None and not isinstance(self.unit, str):
            raise InputError(f"feature {self.name!r}: unit={self.unit!r} must be text, for example 'months'")
        set_field(self, "immutable", bool(self.immutable))
        for what, enum in (("kind", Kind), ("direction", Direction), ("missing", Missing)):
            set_field(self, what, parse_enum(enum, getattr(self, what), f"feature {self.name!r}: {what}"))
        for what in ("lower", "upper", "scale", "weight"):
            set_field(self, what, number(getattr(self, what), f"feature {self.name!r}: {what}"))
        if self.typical is not None:
            set_field(self, "typical", number(self.typical, f"feature {self.name!r}: typical"))
            if not math.isfinite(self.typical):
                raise InputError(f"feature {self.name!r}: typical={self.typical} must be a finite number")
        if self.decimals is not None:
            whole = isinstance(self.decimals, (int, np.integer)) and not isinstance(self.decimals, (bool, np.bool_))
            if not (whole and 0 <= self.decimals <= LARGEST):
                raise InputError(
                    f"feature {self.name!r}: decimals={self.decimals!r} must be a whole number from 0 to {LARGEST}"
                )
            set_field(self, "decimals", int(self.decimals))
        if self.kind is Kind.BINARY:
            set_field(self, "lower", max(self.lower, 0.0))
            set_field(self, "upper", min(self.upper, 1.0))
        if math.isnan(self.lower) or math.isnan(self.upper) or self.lower == math.inf or self.upper == -math.inf:
            raise InputError(
                f"feature {self.name!r}: bounds [{self.lower}, {self.upper}] are not numbers; leave a side out to leave it open"
            )
        if self.lower > self.upper:
            raise InputError(
                f"feature {self.name!r}: lower bound {self.lower} is above upper bound {self.upper}; swap them"
            )
        self._check_prices()
        for what in ("price_up", "price_down"):
            set_field(self, what, checked_slopes(getattr(self, what), f"feature {self.name!r}: {what}"))
        set_field(self, "price_change", checked_change(self.price_change, f"feature {self.name!r}: price_change"))
        if self.percentiles is not None:
            set_field(self, "percentiles", checked_levels(self.percentiles, f"feature {self.name!r}: percentiles"))
        _ = self.price
        if self.kind is not Kind.NUMERIC:
            set_field(self, "lower", float(math.ceil(self.lower)) if math.isfinite(self.lower) else self.lower)
            set_field(self, "upper", float(math.floor(self.upper)) if math.isfinite(self.upper) else self.upper)
            if self.lower > self.upper:
                raise InputError(f"feature {self.name!r}: no whole number lies within its bounds")

    @property
    def price(self) -> Price:
        """What its moves cost, both ways."""
        return Price(self.price_up, self.price_down, self.price_change, self.percentiles)

    def _check_prices(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise InputError(f"feature {self.name!r}: scale {self.scale} must be a positive number")
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise InputError(
                f"feature {self.name!r}: weight {self.weight} must be a positive number; use immutable=True to forbid a change"
            )
        if not 0.0 < self.weight / self.scale < math.inf:
            raise InputError(
                f"feature {self.name!r}: weight {self.weight} over scale {self.scale} is beyond float64; "
                "choose both closer to 1"
            )


@dataclass(frozen=True)
class Group:
    """A one-hot group: exactly one member column is 1.

    Args:
        name: Of the group; with ``labels``, of the column.
        members: The inner 0/1 columns.
        weight: The price of changing the category.
        labels: None: the members are columns of the user's table. One category per member: the group is *one* column of the
            table that holds these; None among them stands for a missing value.
        pandas_category: True: the model wants pandas' category dtype in that column.

    Examples:
        >>> Group("housing", ("housing_own", "housing_rent"), labels=("own", "rent")).missing_member is None
        True
    """

    name: str
    members: tuple[str, ...]
    weight: float = 1.0
    labels: tuple[Category, ...] | None = None
    pandas_category: bool = False

    def __post_init__(self) -> None:
        what = f"one-hot group {self.name!r}"
        if not isinstance(self.name, str):
            raise InputError(f"{what}: the name must be text")
        if not is_list(self.members):
            raise InputError(f"{what}: members={self.members!r}: give a list of column names")
        object.__setattr__(self, "members", tuple(self.members))
        weight = number(self.weight, f"{what}: weight")
        if not (math.isfinite(weight) and weight > 0):
            raise InputError(
                f"{what}: weight {weight} must be a positive number; declare the group immutable to forbid a change"
            )
        object.__setattr__(self, "weight", weight)
        if not isinstance(self.pandas_category, (bool, np.bool_)):
            raise InputError(f"{what}: pandas_category={self.pandas_category!r} must be True or False")
        object.__setattr__(self, "pandas_category", bool(self.pandas_category))
        if self.labels is not None:
            object.__setattr__(self, "labels", checked_labels(self.labels, len(self.members), f"column {self.name!r}"))
        elif self.pandas_category:
            raise InputError(f"{what}: pandas_category needs labels, one per member")

    @property
    def missing_member(self) -> int | None:
        """The position of the member that stands for a missing value, if there is one."""
        return None if self.labels is None or None not in self.labels else self.labels.index(None)
