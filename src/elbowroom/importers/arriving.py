"""Words that reach a model as they are, through steps that move and rename columns.

A library that keeps no names of its categories (CatBoost) asks the caller's table which there are. Behind a ``ColumnTransformer`` its
column may be called ``words__purpose``: the categories of the raw column ``purpose`` are meant, if its words arrive unchanged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.trace import Way
from elbowroom.problem.labels import Category


def labels_arriving(model: object, preprocessing: Preprocessing) -> dict[str, tuple[Category, ...]]:
    """By the model's own name of a column: the categories of the raw column that it holds, word for word."""
    names = getattr(model, "feature_names_", None)
    trace, inputs = preprocessing.trace, preprocessing.inputs
    if not preprocessing.stages or not isinstance(names, list) or len(names) != trace.width:
        return {}
    found: dict[str, tuple[Category, ...]] = {}
    for j in np.flatnonzero(trace.way == Way.LOOKED):
        v = int(trace.variable[j])
        labels = inputs.columns[v].categories
        if labels and _unchanged(preprocessing, int(j), v, labels):
            found[str(names[j])] = labels
    return found


def _unchanged(preprocessing: Preprocessing, column: int, variable: int, labels: tuple[Category, ...]) -> bool:
    """True if every category comes out of the steps as it went in."""
    members = preprocessing.inputs.members(variable)
    rows = np.broadcast_to(preprocessing.neutral, (members.size, preprocessing.width)).copy()
    rows[:, members] = np.eye(members.size)
    try:
        table: Any = preprocessing.inputs.table(rows)
        for stage in preprocessing.stages:
            table = stage.apply(table)
        out = pd.DataFrame(table).iloc[:, column].tolist()
    except (ValueError, TypeError):
        return False
    return all(type(a) is type(b) and a == b for a, b in zip(out, labels, strict=True) if b is not None)


def numbers_used(preprocessing: Preprocessing) -> set[int]:
    """Raw columns that the model looks at and does not take for categories itself."""
    takes = preprocessing.takes or ()
    variables = preprocessing.trace.variable.tolist()
    return {v for j, v in enumerate(variables) if j >= len(takes) or takes[j].categories is None}
