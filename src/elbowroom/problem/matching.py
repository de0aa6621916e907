"""A space for the columns that a model takes: in the model's order, with the model's categories.

Data seldom hold every category that a model knows, and may hold some that it does not. Categories that only the model
knows become inner columns that stay 0: no answer uses what was never seen. Categories that only the space knows are left
out: a row that holds one is refused by name. A column of numbers that the model takes as categories becomes a group of
them, as far as they lie within its bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from elbowroom.errors import InputError
from elbowroom.problem.features import Feature, Group
from elbowroom.problem.kinds import Direction, Kind
from elbowroom.problem.labels import Category, inner_names, position_of
from elbowroom.problem.tables import RawColumn, raw_columns
from elbowroom.visible import listed


class ModelColumn(Protocol):
    """One raw column that a model takes: numbers (``categories`` is None), or one of the categories."""

    @property
    def name(self) -> str: ...
    @property
    def categories(self) -> Sequence[Category] | None: ...
    @property
    def pandas_category(self) -> bool: ...


def match(
    features: Sequence[Feature], groups: Sequence[Group], columns: Sequence[ModelColumn]
) -> tuple[tuple[Feature, ...], tuple[Group, ...]]:
    """The features and groups of the space for a model of these columns."""
    raw = {column.name: column for column in raw_columns([f.name for f in features], groups)}
    check_names([c.name for c in columns], list(raw))
    matched: list[Feature] = []
    kept = [group for group in groups if group.labels is None]
    inner = inner_names([(column.name, column.categories) for column in columns])
    for column, names in zip(columns, inner, strict=True):
        own = raw[column.name]
        if column.categories is None:
            if own.group is not None:
                raise InputError(
                    f"column {own.name!r}: the model takes numbers there, the space has the categories {listed(own.labels)}; "
                    "hand Space.from_frame the numbers that the model was fitted on"
                )
            matched.append(features[own.start])
            continue
        labels = tuple(column.categories)
        parts = _members(features, own, labels)
        if not any(part.upper > 0.0 for part in parts):
            raise InputError(
                f"column {own.name!r}: the model knows the categories {listed(labels)}, none of which is in the space"
            )
        if len(parts) == 1:
            parts = [replace(parts[0], lower=1.0)]
        matched += [replace(part, name=name) for part, name in zip(parts, names, strict=True)]
        weight = features[own.start].weight if own.group is None else own.group.weight
        kept.append(Group(own.name, names, weight, labels, column.pandas_category))
    return tuple(matched), tuple(kept)


def _members(features: Sequence[Feature], own: RawColumn, labels: Sequence[Category]) -> list[Feature]:
    """The 0/1 columns of the model's categories: what the space says of each, or 0 for good."""
    first = features[own.start]
    if own.group is not None:
        never = replace(first, lower=0.0, upper=0.0)
        places = [position_of(label, own.labels) for label in labels]
        return [never if p < 0 else replace(features[own.start + p], lower=0.0) for p in places]
    if first.direction is not Direction.ANY:
        raise InputError(
            f"column {own.name!r} is declared {Direction(first.direction).value}, but the model takes it as categories, which "
            "have no order; declare it immutable instead"
        )
    strange = [label for label in labels if isinstance(label, str)]
    if strange:
        raise InputError(
            f"column {own.name!r}: the model takes the categories {listed(strange)} there, the space has numbers; hand "
            "Space.from_frame the table that the model was fitted on"
        )
    member = Feature(own.name, Kind.BINARY, 0.0, 1.0, first.immutable, unit=first.unit, missing=first.missing)
    seen = [label is None or first.lower <= float(label) <= first.upper for label in labels]
    return [member if fits else replace(member, upper=0.0) for fits in seen]


def check_names(wanted: Sequence[str], have: Sequence[str]) -> None:
    """The same names on both sides, in any order."""
    missing = [n for n in wanted if n not in set(have)]
    if missing:
        raise InputError(f"the space does not describe the model's columns {listed(missing)}; it has {listed(have)}")
    extra = [n for n in have if n not in set(wanted)]
    if extra:
        raise InputError(
            f"the space describes columns {listed(extra)} that the model does not use; the model has {listed(wanted)}"
        )
