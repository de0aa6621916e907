"""The space of features: names, kinds, bounds, what may move and which way, scales, weights and units.

Distances and scalar radii are measured in units of each feature's scale, so that "0.05" means the same for age and
salary. A one-hot group is a set of 0/1 columns of which exactly one is 1; it moves as one step. A column of categories
in the user's table is such a group with labels: everything that computes sees its inner 0/1 columns (`Space.names`),
everything that people read and write is about the column itself (`Space.columns`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.numerics import Bools, Floats, Ints
from elbowroom.problem.causes import Causal
from elbowroom.problem.covariance import Covariance
from elbowroom.problem.describing import as_html, as_text, describe, summary
from elbowroom.problem.features import Feature, Group
from elbowroom.problem.kinds import Kind, Missing
from elbowroom.problem.learning import Wishes, learn
from elbowroom.problem.matching import ModelColumn, check_names, match
from elbowroom.problem.parsing import is_list, unknown
from elbowroom.problem.priced import percentile_prices, priced
from elbowroom.problem.prices import Price
from elbowroom.problem.rows import values_by_name
from elbowroom.problem.scales import Scale
from elbowroom.problem.slant import check_slant
from elbowroom.problem.tables import Given, RawColumn, check_values, one_row, raw_columns, to_inner, to_table
from elbowroom.visible import listed

if TYPE_CHECKING:
    from elbowroom.problem.mining import Suggestions

__all__ = ["Feature", "Group", "Space"]


@dataclass(frozen=True)
class Space:
    """All features in the order of the model's columns, and the one-hot groups among them. `Space.from_frame` reads it from a
    table.

    Args:
        features: The inner columns; a column of categories has one for each.
        groups: Which of them are one category.
        notes: What `describe` shows beside a column.
        measure: What the scales were taken from.
        causes: What follows when somebody acts on a column: a `Causal`. Distances then count actions.
        covariance: By which moves are measured with distance "l2": a `Covariance`.

    Examples:
        >>> Space((Feature("salary", lower=0), Feature("debt", lower=0))).names
        ('salary', 'debt')
    """

    features: tuple[Feature, ...]
    groups: tuple[Group, ...] = field(default=())
    notes: Mapping[str, str] = field(default_factory=dict, compare=False)  # on columns and groups, for `describe`
    measure: Scale | None = field(default=None, compare=False)  # where the scales come from; None: the user's own
    causes: Causal | None = None  # what follows when somebody acts on a column
    covariance: Covariance | None = None  # by which moves are measured, with distance "l2"

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
            if len(group.members) < (2 if group.labels is None else 1):
                raise InputError(f"one-hot group {group.name!r} needs at least two columns")
            for member in group.members:
                if member not in known:
                    raise InputError(f"one-hot group {group.name!r}: {unknown(member, names)}")
                if member in seen:
                    raise InputError(f"column {member!r} belongs to two one-hot groups")
                if known[member].kind is not Kind.BINARY:
                    raise InputError(f"one-hot group {group.name!r}: column {member!r} must be binary")
                seen.add(member)
        columns = self.columns
        if len(set(columns)) < len(columns):
            raise InputError(f"column names must differ: {listed(columns)}")
        if self.causes is not None or self.covariance is not None:
            check_slant(self.causes, self.covariance, self.features, self.groups)

    # ---- the space as arrays, for everything that computes -------------------------------------------------------
    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the inner columns."""
        return tuple(f.name for f in self.features)

    @cached_property
    def position(self) -> dict[str, int]:
        """Of an inner column, by its name."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def lower(self) -> Floats:
        """The least value of each inner column."""
        return np.array([f.lower for f in self.features])

    @cached_property
    def upper(self) -> Floats:
        """The largest value of each inner column."""
        return np.array([f.upper for f in self.features])

    @cached_property
    def scale(self) -> Floats:
        """What a radius or a distance of 1 means in each inner column."""
        return np.array([f.scale for f in self.features])

    @cached_property
    def weight(self) -> Floats:
        """Times which a move of each inner column counts in the distance."""
        return np.array([f.weight for f in self.features])

    @cached_property
    def whole_center(self) -> Bools:
        """True where the centre must be a whole number (integer and binary features)."""
        return np.array([f.kind is not Kind.NUMERIC for f in self.features])

    @cached_property
    def _zero_one(self) -> Bools:
        return np.array([f.kind is Kind.BINARY for f in self.features])

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
        """What a limit on changes counts: columns outside groups that differ from the factual at all, then groups that do.

        Args:
            factual: The row, as inner floats.
            center: The answer, as inner floats.

        Returns:
            True for what differs.
        """
        differs = center != factual
        groups = [bool(differs[members].any()) for members in self.members]
        return np.concatenate([differs & (self.group_of < 0), np.array(groups, dtype=np.bool_)])

    # ---- construction ---------------------------------------------------------------------------------------------
    @classmethod
    def plain(cls, names: Sequence[str]) -> Space:
        """Unbounded numeric features of scale 1: the paper's protocol.

        Args:
            names: Of the columns.

        Returns:
            A space.
        """
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
        categorical: Iterable[str] = (),
        one_hot: Mapping[str, Sequence[str]] | Sequence[str] | Literal["auto"] | None = "auto",
        bounds: Mapping[str, tuple[float | None, float | None]] | Literal["data", "none"] = "data",
        scale: Mapping[str, float] | Scale | Literal["usual", "range", "std", "none"] = "usual",
        weights: Mapping[str, float] | None = None,
        units: Mapping[str, str] | None = None,
        missing: Mapping[str, Missing | str] | Missing | str = Missing.KEEP,
        prices: Mapping[str, Price] | Price | Literal["percentiles"] | None = None,
    ) -> Space:
        """Read names, kinds, bounds and scales from a table; the keywords say what data cannot.

        Args:
            frame: The table that the model was fitted on, or one like it.
            immutable: Columns, or one-hot groups by name, that never move.
            increasing: Columns that may only rise.
            decreasing: Columns that may only fall.
            integer: Columns of whole numbers, where the data do not say so. Integer columns are found by themselves.
            binary: Columns of yes and no; those of 0 and 1 (or bool) are found by themselves.
            numeric: Columns of numbers with decimals, although the data hold whole ones.
            categorical: Columns of categories: those seen, and one for missing values if there are any. Text, the category
                dtype and mixed objects are found by themselves.
            one_hot: Columns of 0 and 1 of which exactly one is 1: found by themselves where they share a prefix ("auto"), or
                given as a mapping from group to columns or a list of prefixes; None looks for none.
            bounds: "data": the smallest and largest value seen; "none": open; ``{"age": (18, None)}`` overrides single columns
                (None: as in the data; -inf or inf: open).
            scale: The unit of radii and distances. "usual": the width of the middle 90 % of the values (at least one is left out
                on each side), of which no outlier decides; a change of category, and of a yes or no, then costs a third of
                that, which is about how far two rows are apart in a number. "range" (from the smallest to the largest value),
                "std" and "none" (1) are the others, with categories at 1; ``{"age": 10}`` sets single ones.
            weights: ``{"age": 2, "housing": 0.5}``: times which moves count in the distance.
            units: Words behind numbers: ``{"salary": "EUR"}``.
            missing: What may become of a value that is missing in the row asked about: "keep" (it stays missing) or "may be
                filled", for all columns or by name; how far a filled number is counts from the median of the data.
            prices: ``{"amount": Price(up=3, down=1)}`` makes moves one way dearer, or long ones; a single `Price` is for all
                numbers, and "percentiles" counts moves in shares of the rows.

        Returns:
            A space; `describe` shows all of it.

        Examples:
            >>> Space.from_frame(X, immutable=["age"], units={"salary": "EUR"}, bounds={"salary": (0, None)}).columns
            ('salary', 'debt', 'age')
        """
        learnt = learn(
            frame,
            Wishes(
                immutable=immutable,
                increasing=increasing,
                decreasing=decreasing,
                integer=integer,
                binary=binary,
                numeric=numeric,
                categorical=categorical,
                one_hot=one_hot,
                bounds=bounds,
                scale=scale,
                weights=weights,
                units=units,
                missing=missing,
            ),
        )
        made = cls(learnt.features, learnt.groups, learnt.notes, learnt.measure)
        return made.with_prices(percentile_prices(frame, made.features) if prices == "percentiles" else prices or {})

    def with_prices(self, prices: Mapping[str, Price] | Price) -> Space:
        """The same space with prices for moves of columns of numbers.

        Args:
            prices: By column, or one for all of them.

        Returns:
            A space of its own.
        """
        return replace(self, features=priced(self.features, self.columns, prices)) if prices else self

    def with_covariance(self, frame: pd.DataFrame) -> Space:
        """The same space with the Mahalanobis distance for distance="l2": moves are measured by the covariance of the columns
        of numbers in a table, and not by weights and scales.

        Args:
            frame: The table; rows that lack a number do not count.

        Returns:
            A space with that covariance.
        """
        numbers = [f.name for f in self.features if self.group_of[self.position[f.name]] < 0]
        return replace(self, covariance=Covariance.of(frame, numbers))

    def suggest_rules(self, frame: pd.DataFrame, most: int = 20) -> Suggestions:
        """Rules that hold in every row of a table and seem to mean something: one number never above another, categories that
        come together. Nothing is applied: pass the ``.rules`` that make sense to `Explainer.explain`.

        Args:
            frame: The table.
            most: How many at most.

        Returns:
            The suggestions, those with most evidence first.
        """
        from elbowroom.problem.mining import suggestions

        return suggestions(self, frame, most)

    def select(self, names: Sequence[str]) -> Space:
        """The same features in the order of ``names``; every name must be here, and every feature must be named.

        Args:
            names: Of the inner columns.

        Returns:
            A space of its own.
        """
        check_names(names, self.names)
        return replace(self, features=tuple(self.features[self.position[n]] for n in names))

    def for_columns(self, columns: Sequence[ModelColumn]) -> Space:
        """The same features for a model that takes these raw columns: in its order, with its categories.

        Args:
            columns: That the model takes.

        Returns:
            A space of its own.
        """
        features, groups = match(self.features, self.groups, columns)
        return replace(self, features=features, groups=groups)

    # ---- the space in words ---------------------------------------------------------------------------------------
    def describe(self) -> pd.DataFrame:
        """What is known of each column: kind, values, scale, weight, whether it may change, what is missing, notes.

        Returns:
            One row per column of the user's table.
        """
        return describe(self.features, self.groups, self.notes)

    def __repr__(self) -> str:
        return summary(self.features, self.groups, self.measure)

    def __str__(self) -> str:
        """The table of `describe`, as text."""
        return as_text(self.describe())

    def _repr_html_(self) -> str:
        return as_html(self.describe(), repr(self))

    # ---- the user's own table -------------------------------------------------------------------------------------
    @cached_property
    def raw(self) -> tuple[RawColumn, ...]:
        """The columns of the user's table, each with the inner columns that it becomes."""
        return raw_columns(self.names, self.groups)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the user's table: a column of categories is one of them."""
        return tuple(column.name for column in self.raw)

    @cached_property
    def _plain(self) -> tuple[RawColumn, ...]:
        """The inner columns as if they were the user's own."""
        return tuple(RawColumn(name, f, f + 1) for f, name in enumerate(self.names))

    def table(self, X: Floats) -> pd.DataFrame:
        """Rows of inner floats as the user's table: numbers as float64, categories in the user's own words.

        Args:
            X: Rows of inner floats.

        Returns:
            What the model's own predict takes.
        """
        X = np.atleast_2d(np.asarray(X, dtype=np.float64))
        if X.ndim != 2 or X.shape[1] != len(self.names):
            raise InputError(f"table: rows of shape {X.shape} for {len(self.names)} inner columns")
        return to_table(self.raw, X)

    def inner(self, frame: pd.DataFrame, what: str = "rows", *, allow_missing: bool = False) -> Floats:
        """The user's table as rows of inner floats; names are matched, values are checked.

        A number may be missing (NaN) only with ``allow_missing``; a category, if the space has one for that.

        Args:
            frame: The user's table, or one with the inner columns.
            what: What messages call it.
            allow_missing: Whether numbers may be missing.

        Returns:
            One row of inner floats per row.
        """
        if not isinstance(frame, pd.DataFrame):
            raise InputError(f"{what}: give a DataFrame, not {type(frame).__name__}")
        raw, named = self._matched(frame, what)
        X, known = to_inner(raw, named)
        columns = [named[column.name] for column in raw]
        given = Given(raw, lambda i, c: columns[c].iloc[i], lambda i: f"{what}, row {named.index[i]!r}")
        if not self._fits(X, known, allow_missing):
            check_values(self.features, self.groups, given, X, known, allow_missing)
        return X + 0.0  # -0.0 becomes 0.0

    def _fits(self, X: Floats, known: Bools, allow_missing: bool) -> bool:
        """True if nothing is wrong with the rows; what is, `check_values` says."""
        absent = np.isnan(X)
        fits = known.all() and not np.isinf(X).any() and (allow_missing or not absent.any())
        fits = fits and bool((absent | ~self.whole_center | (X == np.floor(X))).all())
        fits = fits and bool((absent | ~self._zero_one | (X == 0.0) | (X == 1.0)).all())
        return bool(fits) and all(bool((X[:, members].sum(axis=1) == 1.0).all()) for members in self.members)

    def _matched(self, frame: pd.DataFrame, what: str) -> tuple[tuple[RawColumn, ...], pd.DataFrame]:
        """The columns that a frame is read by: the user's own, or the inner ones if it has all of them."""
        named = frame.rename(columns=str)
        if not named.columns.is_unique:
            raise InputError(f"{what}: column names of the rows must differ")
        raw = self.raw if not set(self.names) <= set(named.columns) else self._plain
        lacking = [column.name for column in raw if column.name not in named.columns]
        if lacking:
            raise InputError(f"{what}: the rows lack the columns {listed(lacking)}")
        return raw, named

    def read(self, rows: pd.DataFrame | npt.NDArray[Any], what: str = "rows") -> tuple[Floats, Bools]:
        """Rows as inner floats without a check of their values, and which values have a place in the space at all.

        Args:
            rows: A table, or numbers in the order of the columns.
            what: What messages call it.

        Returns:
            The floats, and True for each value that has a place.
        """
        if isinstance(rows, pd.DataFrame):
            return to_inner(*self._matched(rows, what))
        width = rows.shape[1]
        if width == len(self.names):
            X = np.asarray(rows, dtype=np.float64)
            return X, np.ones(X.shape, dtype=np.bool_)
        if width == len(self.columns):
            return to_inner(self.raw, pd.DataFrame(rows, columns=list(self.columns)))
        raise InputError(f"{what}: rows of width {width} for {len(self.columns)} columns")

    def without_missing(self, values: Floats) -> tuple[Floats, tuple[str, ...]]:
        """A row with 0 in place of numbers that are missing, and the names of these columns.

        Args:
            values: A row of inner floats, NaN where one is missing.

        Returns:
            The row, and the names.
        """
        absent = np.isnan(values)
        return np.where(absent, 0.0, values), tuple(self.names[f] for f in np.flatnonzero(absent))

    def row(self, row: object, what: str = "row", *, allow_missing: bool = False) -> Floats:
        """One row as inner floats; names are matched, widths and values are checked.

        It may have the columns of the user's table or the inner ones; without names, its width tells which.

        Args:
            row: A Series, a frame of one row, a mapping, or numbers in the order of the columns.
            what: What messages call it.
            allow_missing: Whether numbers may be missing.

        Returns:
            Inner floats.
        """
        values = values_by_name(row, self.columns, self.names, what)
        raw = self.raw if len(values) == len(self.columns) and set(values) == set(self.columns) else self._plain
        ordered = [values[column.name] for column in raw]
        x, known = one_row(raw, ordered, what)
        given = Given(raw, lambda i, c: ordered[c], lambda i: what)
        if not self._fits(x, known, allow_missing):
            check_values(self.features, self.groups, given, x, known, allow_missing)
        return np.asarray(x[0] + 0.0)  # -0.0 becomes 0.0
