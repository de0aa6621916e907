"""The classifier of the package `obliquetree`: one tree with splits on one or several columns.

Its state names for every inner node the columns, weights and threshold (left iff the dot product is at most the threshold)
and for every leaf the class probabilities; predict is their first largest one. Labels are 0, 1, ....
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elbowroom.errors import InputError, UnsupportedModel
from elbowroom.importers.inputs import Columns
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.models.base import Decision, Link
from elbowroom.models.oblique import ObliqueEnsemble
from elbowroom.numerics import Floats

__all__ = ["columns", "read_classifier"]


def columns(model: Any) -> Columns:
    return Columns.numbers(int(_state(model)["params"]["n_features"]), None)


def read_classifier(model: Any, preprocessing: Preprocessing) -> ObliqueEnsemble:
    if not preprocessing.untouched:
        raise UnsupportedModel(
            f"{preprocessing.source_name(model)}: scalers and categories in front of oblique splits cannot be folded exactly; "
            "fit the tree on raw columns"
        )
    state = _state(model)
    if state["params"]["categories"]:
        raise UnsupportedModel(
            f"obliquetree Classifier(categories={state['params']['categories']}): splits on categories are not "
            "hyperplanes; encode them as 0/1 columns"
        )
    n_classes = int(state["params"]["n_classes"])
    weight: list[Floats] = []
    threshold: list[float] = []
    left: list[int] = []
    right: list[int] = []
    value: list[list[float]] = []

    def add(node: dict[str, Any]) -> int:
        number = len(weight)
        row = np.zeros(preprocessing.width)
        if not node["is_leaf"] and node["is_oblique"]:
            row[np.asarray(node["features"], dtype=np.int64)] = node["weights"]
        elif not node["is_leaf"]:
            row[int(node["feature_idx"])] = 1.0
        weight.append(row)
        threshold.append(0.0 if node["is_leaf"] else float(node["threshold"]))
        value.append(list(node["values"]) if n_classes > 2 else [1.0 - node["value"], node["value"]])
        left.append(-1)
        right.append(-1)
        if not node["is_leaf"]:
            left[number], right[number] = add(node["left"]), add(node["right"])
        return number

    add(state["tree"])
    return ObliqueEnsemble.from_arrays(
        np.array(weight),
        threshold,
        left,
        right,
        value,
        names=preprocessing.names,
        classes=tuple(range(n_classes)),
        decision=Decision.ARGMAX,
        link=Link.IDENTITY,
        source=preprocessing.source_name(model),
    )


def _state(model: Any) -> dict[str, Any]:
    if not getattr(model, "_fit", False):
        raise InputError("this obliquetree Classifier is not fitted; call fit first")
    state: dict[str, Any] = model.__getstate__()
    return state
