"""The space of features: names, kinds, bounds, what may move and which way, scales, weights and units.

Distances and scalar radii are measured in units of each feature's scale, so that "0.05" means the same for age and
salary. A one-hot group is a set of 0/1 columns of which exactly one is 1; it moves as one step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.numerics import Bools, Floats, Ints
from elbowroom.problem.declared import NO_OWN_BOUNDS, Declared, limits_of
from elbowroom.problem.kinds import Direction, Kind
from elbowroom.problem.parsing import (
    by_name,
    by_position,
    column_of,
    is_list,
    number,
    one_hot_groups,
    parse_enum,
    spread_of,
    unknown,
)
from elbowroom.visible import listed


@dataclass(frozen=True)
class Feature:
    """One column. Strings for ``kind`` and ``direction`` are parsed here, once."""

    name: str
    kind: Kind | str = Kind.NUMERIC
    lower: float = -math.inf
    upper: float = math.inf
    immutable: bool = False
    direction: Direction | str = Direction.ANY
    scale: float = 1.0
    weight: float = 1.0
    unit: str | None = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        if not isinstance(self.name, str):
            raise InputError(f"feature {self.name!r}: the name must be text, for example {str(self.name)!r}")
        if not isinstance(self.immutable, (bool, np.bool_)):
            raise InputError(f"feature {self.name!r}: immutable={self.immutable!r} must be True or False")
        if self.unit is not None and not isinstance(self.unit, str):
            raise InputError(f"feature {self.name!r}: unit={self.unit!r} must be text, for example 'months'")
        set_field(self, "immutable", bool(self.immutable))
        set_field(self, "kind", parse_enum(Kind, self.kind, f"feature {self.name!r}: kind"))
        set_field(self, "direction", parse_enum(Direction, self.direction, f"feature {self.name!r}: direction"))
        for what in ("lower", "upper", "scale", "weight"):
            set_field(self, what, number(getattr(self, what), f"feature {self.name!r}: {what}"))
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
        if self.kind is not Kind.NUMERIC:
            set_field(self, "lower", float(math.ceil(self.lower)) if math.isfinite(self.lower) else self.lower)
            set_field(self, "upper", float(math.floor(self.upper)) if math.isfinite(self.upper) else self.upper)
            if self.lower > self.upper:
                raise InputError(f"feature {self.name!r}: no whole number lies within its bounds")


@dataclass(frozen=True)
class Group:
    """A one-hot group: exactly one member column is 1. ``weight`` is the price of changing the category."""

    name: str
    members: tuple[str, ...]
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InputError(f"one-hot group {self.name!r}: the name must be text")
        if not is_list(self.members):
            raise InputError(f"one-hot group {self.name!r}: members={self.members!r}: give a list of column names")
        object.__setattr__(self, "members", tuple(self.members))
        weight = number(self.weight, f"one-hot group {self.name!r}: weight")
        if not (math.isfinite(weight) and weight > 0):
            raise InputError(
                f"one-hot group {self.name!r}: weight {weight} must be a positive number; "
                "declare the group immutable to forbid a change"
            )
        object.__setattr__(self, "weight", weight)


@dataclass(frozen=True)
class Space:
    """All features in the order of the model's columns, and the one-hot groups among them."""

    features: tuple[Feature, ...]
    groups: tuple[Group, ...] = field(default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        object.__setattr__(self, "groups", tuple(self.groups))
        for part, kind in (*((f, Feature) for f in self.features), *((g, Group) for g in self.groups)):
            if not isinstance(part, kind):
                raise InputError(f"a space is made of Feature and Group objects, not {part!r}")
        names = [f.name for f in self.features]
        if not names:
            raise InputError("a space needs at least one feature")
        twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        if twice:
            raise InputError(f"column names must differ; {twice} occur more than once")
        group_names = [g.name for g in self.groups]
        if len(set(group_names)) < len(group_names):
            raise InputError(f"the names of one-hot groups must differ: {listed(group_names)}")
        seen: set[str] = set()
        known = {f.name: f for f in self.features}
        for group in self.groups:
            if len(group.members) < 2:
                raise InputError(f"one-hot group {group.name!r} needs at least two columns")
            for member in group.members:
                if member not in known:
                    raise InputError(f"one-hot group {group.name!r}: {unknown(member, names)}")
                if member in seen:
                    raise InputError(f"column {member!r} belongs to two one-hot groups")
                if known[member].kind is not Kind.BINARY:
                    raise InputError(f"one-hot group {group.name!r}: column {member!r} must be binary")
                seen.add(member)

    # ---- the space as arrays, for everything that computes -------------------------------------------------------
    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.features)

    @cached_property
    def position(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def lower(self) -> Floats:
        return np.array([f.lower for f in self.features])

    @cached_property
    def upper(self) -> Floats:
        return np.array([f.upper for f in self.features])

    @cached_property
    def scale(self) -> Floats:
        return np.array([f.scale for f in self.features])

    @cached_property
    def weight(self) -> Floats:
        return np.array([f.weight for f in self.features])

    @cached_property
    def whole_center(self) -> Bools:
        """True where the centre must be a whole number (integer and binary features)."""
        return np.array([f.kind is not Kind.NUMERIC for f in self.features])

    @cached_property
    def whole_room(self) -> Bools:
        """True where every point of the room must be a whole number: today the same columns. Only around a whole centre
        can a room be whole."""
        return self.whole_center

    @cached_property
    def group_of(self) -> Ints:
        """Index of the one-hot group of each column, -1 for none."""
        owner = np.full(len(self.features), -1, dtype=np.int64)
        for g, group in enumerate(self.groups):
            for member in group.members:
                owner[self.position[member]] = g
        return owner

    @cached_property
    def members(self) -> tuple[Ints, ...]:
        """Column positions of each group."""
        return tuple(np.array([self.position[m] for m in g.members], dtype=np.int64) for g in self.groups)

    def changed(self, factual: Floats, center: Floats) -> Bools:
        """What a limit on changes counts: columns outside groups that differ from the factual at all, then groups that do."""
        differs = center != factual
        groups = [bool(differs[members].any()) for members in self.members]
        return np.concatenate([differs & (self.group_of < 0), np.array(groups, dtype=np.bool_)])

    # ---- construction ---------------------------------------------------------------------------------------------
    @classmethod
    def plain(cls, names: Sequence[str]) -> Space:
        """Unbounded numeric features of scale 1: the paper's protocol."""
        if not is_list(names):
            raise InputError(f"Space.plain({names!r}): give a list of column names")
        return cls(tuple(Feature(str(name)) for name in names))

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        immutable: Iterable[str] = (),
        increasing: Iterable[str] = (),
        decreasing: Iterable[str] = (),
        integer: Iterable[str] = (),
        binary: Iterable[str] = (),
        numeric: Iterable[str] = (),
        one_hot: Mapping[str, Sequence[str]] | None = None,
        bounds: Mapping[str, tuple[float | None, float | None]] | Literal["data", "none"] = "data",
        scale: Mapping[str, float] | Literal["range", "std", "none"] = "range",
        weights: Mapping[str, float] | None = None,
        units: Mapping[str, str] | None = None,
    ) -> Space:
        """Read names, kinds, bounds and scales from data; the keywords say what data cannot.

        Kinds: columns of 0 and 1 (or bool) are binary, integer columns are integer, others numeric; ``integer``,
        ``binary`` and ``numeric`` override this. Bounds are the smallest and largest value seen; ``bounds={"age": (18,
        None)}`` overrides single columns (None: as in the data; -inf or inf: open), ``bounds="none"`` opens all.
        ``immutable``, ``increasing`` and ``decreasing`` also take the name of a one-hot group (immutable only).
        """
        if not isinstance(frame, pd.DataFrame):
            raise InputError(
                f"Space.from_frame takes a pandas DataFrame, not {type(frame).__name__}; for an array use Space.plain(names)"
            )
        names = [str(c) for c in frame.columns]
        twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        if twice:
            raise InputError(f"column names must differ; {twice} occur more than once")
        declared = Declared.of(
            names,
            one_hot_groups(one_hot),
            fixed=immutable,
            increasing=increasing,
            decreasing=decreasing,
            integer=integer,
            binary=binary,
            numeric=numeric,
        )
        if not isinstance(bounds, Mapping) and bounds not in ("data", "none"):
            raise InputError(
                f'bounds={bounds!r} is unknown; use "data", "none" or a mapping from column to (low, high)'
            )
        own_bounds = by_name({} if isinstance(bounds, str) else bounds, names, "bounds")
        own_scale = by_name({} if isinstance(scale, str) else scale, names, "scale")
        prices = by_name(weights or {}, [*names, *declared.groups], "weights")
        own_units = by_name(units or {}, names, "units")
        features = []
        for column, name in zip(frame.columns, names, strict=True):
            values = column_of(frame[column], name)
            kind = declared.kind(name, frame[column], values)
            low, high = limits_of(name, kind, values, bounds == "none", own_bounds.get(name, NO_OWN_BOUNDS))
            spread = spread_of(values, scale if isinstance(scale, str) else "range")
            features.append(
                Feature(
                    name,
                    kind,
                    low,
                    high,
                    immutable=name in declared.fixed,
                    direction=declared.direction(name),
                    scale=own_scale.get(name, spread if spread > 0 and math.isfinite(spread) else 1.0),
                    weight=prices.get(name, 1.0),
                    unit=own_units.get(name),
                )
            )
        groups = tuple(Group(g, members, prices.get(g, 1.0)) for g, members in declared.groups.items())
        return cls(tuple(features), groups)

    def select(self, names: Sequence[str]) -> Space:
        """The same features in the order of ``names``; every name must be here, and every feature must be named."""
        missing = [n for n in names if n not in self.position]
        if missing:
            raise InputError(
                f"the space does not describe the model's columns {listed(missing)}; it has {listed(self.names)}"
            )
        extra = [n for n in self.names if n not in set(names)]
        if extra:
            raise InputError(
                f"the space describes columns {listed(extra)} that the model does not use; the model has {listed(names)}"
            )
        return replace(self, features=tuple(self.features[self.position[n]] for n in names))

    # ---- rows -----------------------------------------------------------------------------------------------------
    def row(self, row: object, what: str = "row") -> Floats:
        """One row as a float array in the space's order; names are matched, widths and values are checked."""
        if isinstance(row, pd.DataFrame):
            if len(row) != 1:
                raise InputError(f"{what}: expected one row, the frame has {len(row)}; pass frame.iloc[[i]]")
            row = row.iloc[0]
        if isinstance(row, pd.Series):
            if not row.index.is_unique:
                raise InputError(
                    f"{what}: {list(row.index[row.index.duplicated()])[:8]} occur more than once in its index"
                )
            row = row.to_dict()
        if isinstance(row, Mapping):
            if row and all(isinstance(k, (int, np.integer)) for k in row) and not set(map(str, row)) & set(self.names):
                row = by_position(row, what)
            else:
                row = {str(k): v for k, v in row.items()}
                missing = [n for n in self.names if n not in row]
                extra = [n for n in row if n not in self.position]
                if missing or extra:
                    raise InputError(
                        f"{what}: missing columns {listed(missing)}, unknown columns {listed(extra)}; the model has {listed(self.names)}"
                    )
                row = [row[n] for n in self.names]
        if isinstance(row, np.ndarray):
            if not (row.ndim == 1 or (row.ndim == 2 and row.shape[0] == 1)):
                raise InputError(f"{what}: expected one row, the array has shape {row.shape}")
            row = list(row.ravel())
        if not isinstance(row, Sequence) or isinstance(row, str):
            raise InputError(
                f"{what}: give a Series, a mapping, a one-row DataFrame or an array, not {type(row).__name__}"
            )
        if len(row) != len(self.names):
            raise InputError(
                f"{what}: {len(row)} values for {len(self.names)} columns {list(self.names)[:8]}; give one value per column"
            )
        values = np.empty(len(self.names))
        for i, (name, value) in enumerate(zip(self.names, row, strict=True)):
            values[i] = number(value, f"{what}, column {name!r}")
            if not math.isfinite(values[i]):
                raise InputError(
                    f"{what}, column {name!r}: {value!r} is not a finite number; fill in or drop missing values first"
                )
        for i, feature in enumerate(self.features):
            if feature.kind is not Kind.NUMERIC and values[i] != math.floor(values[i]):
                raise InputError(
                    f"{what}, column {feature.name!r}: {values[i]} is not a whole number; round it or declare the column numeric"
                )
            if feature.kind is Kind.BINARY and values[i] not in (0.0, 1.0):
                raise InputError(
                    f"{what}, column {feature.name!r}: {values[i]} is neither 0 nor 1; declare the column integer if it counts"
                )
        for group, members in zip(self.groups, self.members, strict=True):
            if values[members].sum() != 1.0:
                raise InputError(
                    f"{what}, one-hot group {group.name!r}: exactly one of {listed(group.members)} must be 1, "
                    f"here {int(values[members].sum())} are; an unseen category cannot be explained"
                )
        return values + 0.0  # -0.0 becomes 0.0
