"""Containers of transformers: Pipelines, ColumnTransformers and FeatureUnions, any nesting, in front of any model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.inputs import Column, Columns
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import column_count, require_fitted
from elbowroom.importers.sklearn_common import columns as estimator_columns
from elbowroom.importers.stages import Stage, inside, through
from elbowroom.importers.steps import (
    hands_sparse,
    joined,
    known_step,
    passes_through,
    picked,
    running,
    stage_of,
    step_categories,
)
from elbowroom.importers.table import Known, columns_of
from elbowroom.importers.trace import Trace
from elbowroom.numerics import Bools, Ints
from elbowroom.problem.labels import Category


def unfold_pipeline(model: Any, preprocessing: Preprocessing) -> tuple[Any, Preprocessing]:
    """All steps but the last become stages of the preprocessing; the last one is the model behind them."""
    *before, (name, final) = model.steps
    for step in running(before):
        stage = stage_of(step)
        if stage is not None:
            preprocessing = preprocessing.behind(stage)
    if passes_through(final):
        raise UnsupportedModel(
            f"the last step {name!r} of this Pipeline is not a classifier, so the Pipeline cannot predict"
        )
    return final, replace(preprocessing, sparse=hands_sparse(running(before)))


def columns(model: Any, known: Known) -> Columns:
    """What the first real step was fitted on: its names, and the categories that an encoder behind them knows."""
    steps = running(model.steps[:-1])
    if not model.steps or passes_through(model.steps[-1][1]):
        raise UnsupportedModel("this Pipeline has no classifier at its end")
    found = next((c for step in steps if (c := _step_columns(step)) is not None), None)
    inside = columns_of(model.steps[-1][1], known)
    if found is None:
        return inside
    by_steps = categories_through(steps, found.count)
    if len(inside.columns) == found.count and all(passes_through(step) for step in steps):
        by_steps = [c.categories for c in inside.columns]
    told = _told(steps, inside, found.count)
    unread = _unread(steps, found.count)
    made = [
        Column(c.name, a or b or (known.get(c.name) if i in unread else None), pandas_category=wants)
        for i, (c, a, (b, wants)) in enumerate(zip(found.columns, by_steps, told, strict=True))
    ]
    return Columns(tuple(made), found.own_names)


def _unread(steps: list[Any], width: int) -> set[int]:
    """Columns that the first step drops: whatever the table holds there, nobody looks at it."""
    first = next((step for step in steps if not passes_through(step)), None)
    if type(first).__name__ != "ColumnTransformer":
        return set()
    return set(range(width)).difference(*(chosen.tolist() for chosen, _ in _parts(first)))


def _told(steps: list[Any], inside: Columns, width: int) -> list[tuple[tuple[Category, ...] | None, bool]]:
    """Categories that reach the model untouched, through selections alone: for every raw column what the model says."""
    nothing: list[tuple[tuple[Category, ...] | None, bool]] = [(None, False)] * width
    if all(c.categories is None for c in inside.columns):
        return nothing
    source: Ints | None = np.arange(width)
    for step in steps:
        source = None if source is None else _sources(step, source)
    if source is None or source.size != inside.count:
        return nothing
    for j, column in enumerate(inside.columns):
        if column.categories is not None and source[j] >= 0:
            nothing[source[j]] = (column.categories, column.pandas_category)
    return nothing


def _sources(step: Any, source: Ints) -> Ints | None:
    """The raw column of each output column of a step, -1 where it was changed; None if that is not known."""
    if passes_through(step):
        return source
    if type(step).__name__ != "ColumnTransformer":
        return None
    parts = []
    for chosen, part in _parts(step):
        if passes_through(part):
            parts.append(source[chosen])
            continue
        width = len(part.get_feature_names_out())
        parts.append(np.full(width, -1))
    return np.concatenate(parts)


def _step_columns(step: Any) -> Columns | None:
    """Width and names that a step expects, or None if it takes anything."""
    if passes_through(step):
        return None
    known_step(step)
    if hasattr(step, "steps"):
        return next((found for part in running(step.steps) if (found := _step_columns(part)) is not None), None)
    if type(step).__name__ == "FunctionTransformer" and not hasattr(step, "n_features_in_"):
        return None  # without validation it does not look at its input
    return estimator_columns(step)


def categories_through(steps: Sequence[Any], width: int) -> list[tuple[Category, ...] | None]:
    """For every input column the categories that the first encoder behind it knows; imputers add the missing one."""
    filled = False
    for step in steps:
        found = step_categories(step, width)
        if any(labels is not None for labels in found):
            return [_with_missing(labels) if filled else labels for labels in found]
        if type(step).__name__ == "SimpleImputer":
            filled = True
        elif not passes_through(step):
            break
    return [None] * width


def _with_missing(labels: tuple[Category, ...] | None) -> tuple[Category, ...] | None:
    return labels if labels is None or None in labels else (*labels, None)


def categories(step: Any, width: int) -> list[tuple[Category, ...] | None]:
    """Of a Pipeline, a ColumnTransformer or a FeatureUnion inside another pipeline."""
    if hasattr(step, "steps"):
        return categories_through(running(step.steps), width)
    found: list[tuple[Category, ...] | None] = [None] * width
    for chosen, part in _parts(step):
        for at, labels in zip(chosen, step_categories(part, chosen.size), strict=True):
            known = found[at]
            if labels is not None:
                found[at] = labels if known is None else tuple(dict.fromkeys((*known, *labels)))
    return found


def _parts(step: Any) -> list[tuple[Ints, Any]]:
    """The parts of a ColumnTransformer or FeatureUnion that put out columns: input columns and transformer."""
    if hasattr(step, "transformer_list"):
        everything = np.arange(column_count(step), dtype=np.int64)
        return [(everything, part) for _, part in step.transformer_list if not _dropped(part)]
    parts = []
    for name, transformer, _ in step.transformers_:
        chosen = np.array(list(step._transformer_to_input_indices[name]), dtype=np.int64)
        if not _dropped(transformer) and chosen.size:
            parts.append((chosen, transformer))
    return parts


def _dropped(part: Any) -> bool:
    return isinstance(part, str) and part == "drop"


@dataclass(frozen=True, eq=False)
class _Sequence:
    stages: tuple[Stage, ...]

    def apply(self, table: Any) -> Any:
        for stage in self.stages:
            table = stage.apply(table)
        return table

    def inside(self, table: Any) -> Bools:
        found = np.ones(len(table), dtype=np.bool_)
        for stage in self.stages:
            found &= inside(stage, table)
            table = stage.apply(table)
        return found

    def trace(self, before: Trace) -> Trace:
        for stage in self.stages:
            before = through(stage, before)
        return before

    @property
    def description(self) -> str:
        return f"Pipeline({', '.join(stage.description for stage in self.stages)})"


def sequence_stage(step: Any) -> Stage | None:
    inner = [stage for stage in (stage_of(part) for part in running(step.steps)) if stage is not None]
    return _Sequence(tuple(inner)) if inner else None


@dataclass(frozen=True, eq=False)
class _SideBySide:
    """Each part takes some input columns and passes them through its own stage."""

    name: str
    parts: tuple[tuple[Ints, Stage | None], ...]

    def apply(self, table: Any) -> Any:
        pieces = [
            picked(table, chosen) if stage is None else stage.apply(picked(table, chosen))
            for chosen, stage in self.parts
        ]
        return joined(pieces)

    def inside(self, table: Any) -> Bools:
        found = np.ones(len(table), dtype=np.bool_)
        for chosen, stage in self.parts:
            if stage is not None:
                found &= inside(stage, picked(table, chosen))
        return found

    def trace(self, before: Trace) -> Trace:
        parts = [(before.chosen(chosen, picked), stage) for chosen, stage in self.parts]
        return Trace.side_by_side([part if stage is None else stage.trace(part) for part, stage in parts])

    @property
    def description(self) -> str:
        return f"{self.name}({', '.join('passthrough' if s is None else s.description for _, s in self.parts)})"


def column_stage(step: Any) -> _SideBySide:
    return _side_by_side(step, "ColumnTransformer")


def union_stage(step: Any) -> _SideBySide:
    return _side_by_side(step, "FeatureUnion")


def _side_by_side(step: Any, name: str) -> _SideBySide:
    require_fitted(step)
    if step.transformer_weights:
        raise UnsupportedModel(f"{name}(transformer_weights=...) is not supported; put the weights into scalers")
    parts = tuple((chosen, stage_of(part)) for chosen, part in _parts(step))
    if not parts:
        raise UnsupportedModel(f"this {name} drops every column")
    return _SideBySide(name, parts)
