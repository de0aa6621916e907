"""What a user says about the columns of a table, because data cannot: which are fixed, one-way, whole, 0/1 or one-hot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem.kinds import Direction, Kind
from elbowroom.problem.labels import is_whole
from elbowroom.problem.parsing import known_names, number
from elbowroom.visible import listed

NO_OWN_BOUNDS: Final = (None, None)


@dataclass(frozen=True)
class Declared:
    """Sets of column names, checked: every name is known, and no column is of two kinds or goes two ways."""

    groups: Mapping[str, tuple[str, ...]]
    fixed: frozenset[str]
    increasing: frozenset[str]
    decreasing: frozenset[str]
    integer: frozenset[str]
    binary: frozenset[str]
    numeric: frozenset[str]
    categorical: frozenset[str] = frozenset()  # columns of categories, declared or seen

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        groups: Mapping[str, tuple[str, ...]],
        *,
        fixed: Iterable[str],
        increasing: Iterable[str],
        decreasing: Iterable[str],
        integer: Iterable[str],
        binary: Iterable[str],
        numeric: Iterable[str],
        categorical: Iterable[str] = (),
    ) -> Declared:
        immutable = known_names(fixed, [*names, *groups], "immutable")
        for group, members in groups.items():
            if group in immutable:
                immutable |= set(members)
        in_group = {member for members in groups.values() for member in members}
        declared = cls(
            groups=groups,
            fixed=frozenset(immutable),
            increasing=frozenset(known_names(increasing, names, "increasing")),
            decreasing=frozenset(known_names(decreasing, names, "decreasing")),
            integer=frozenset(known_names(integer, names, "integer")),
            binary=frozenset(known_names(binary, names, "binary") | in_group),
            numeric=frozenset(known_names(numeric, names, "numeric")),
            categorical=frozenset(categorical),
        )
        declared._check_categorical()
        whole, zero_one, real = declared.integer, declared.binary, declared.numeric
        torn = (whole & zero_one) | (whole & real) | (zero_one & real)
        if torn:
            raise InputError(f"columns {listed(sorted(torn))} are declared to be of two kinds; choose one")
        both = declared.increasing & declared.decreasing
        if both:
            raise InputError(
                f"columns {listed(sorted(both))} cannot be both increasing and decreasing; declare them immutable instead"
            )
        return declared

    def _check_categorical(self) -> None:
        for what in ("increasing", "decreasing"):
            for name in sorted(getattr(self, what) & self.categorical):
                raise InputError(
                    f"{what}: column {name!r} holds categories, which have no order; declare it immutable, or hand the "
                    "model numbers there"
                )
        for what in ("integer", "binary", "numeric"):
            for name in sorted(getattr(self, what) & self.categorical):
                raise InputError(
                    f"{what}: column {name!r} holds categories; take it out of the list, or turn it into numbers with "
                    ".astype(float)"
                )

    def direction(self, name: str) -> Direction:
        if name in self.increasing:
            return Direction.INCREASING
        return Direction.DECREASING if name in self.decreasing else Direction.ANY

    def kind(self, name: str, series: pd.Series, values: Floats) -> Kind:
        """The kind of a column of data: as declared, else as its values suggest (those of ``series`` that are present)."""
        if name in self.binary:
            if not np.isin(values, (0.0, 1.0)).all():
                raise InputError(
                    f"column {name!r} is declared binary but holds {values[~np.isin(values, (0.0, 1.0))][0]}"
                )
            return Kind.BINARY
        if name in self.integer:
            broken = values[values != np.floor(values)]
            if broken.size:
                raise InputError(f"column {name!r} is declared integer but holds {broken[0]}")
            return Kind.INTEGER
        if name in self.numeric:
            return Kind.NUMERIC
        if pd.api.types.is_bool_dtype(series) or (
            np.isin(values, (0.0, 1.0)).all() and (values == 0).any() and (values == 1).any()
        ):
            return Kind.BINARY
        whole = pd.api.types.is_integer_dtype(series) or (len(values) < len(series) and is_whole(values))
        return Kind.INTEGER if whole else Kind.NUMERIC  # pandas keeps whole numbers beside a missing one as floats


def limits_of(name: str, kind: Kind, values: Floats, is_open: bool, own: object) -> tuple[float, float]:
    """The bounds of a column: the smallest and largest value seen, or none; ``own``, a pair of the user's, overrides."""
    low, high = float(values.min()), float(values.max())
    if kind is Kind.BINARY:
        low, high = 0.0, 1.0
    elif is_open:
        low, high = -math.inf, math.inf
    if not (isinstance(own, Sequence) and len(own) == 2):
        raise InputError(f"bounds of {name!r} must be a pair (low, high), not {own!r}")
    low = low if own[0] is None else number(own[0], f"lower bound of {name!r}")
    high = high if own[1] is None else number(own[1], f"upper bound of {name!r}")
    return low, high
