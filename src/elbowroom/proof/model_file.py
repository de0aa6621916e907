"""The parsed model as a neutral file: everything that decides a label, and how far the original's arithmetic may stray.

Numbers are JSON numbers whose nearest float64 is meant (shortest digits that lead back to it); cuts may be "inf" or "-inf".
The text depends on the model alone, so that its SHA-256 names it. See docs/proofs.md.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final, assert_never

import numpy as np

from elbowroom.errors import InputError
from elbowroom.models import LinearModel, Model, ObliqueEnsemble, ReluNetwork, TreeEnsemble
from elbowroom.models.linear import Affine
from elbowroom.models.sets import HALF
from elbowroom.numerics import Floats, Ints

FORMAT: Final = "elbowroom model"
VERSION: Final = 2


def model_bytes(model: Model) -> bytes:
    """The file."""
    return (json.dumps(model_document(model), allow_nan=False, separators=(",", ":")) + "\n").encode()


def model_document(model: Model) -> dict[str, Any]:
    info = model.info
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "family": _family(model),
        "source": info.source,
        "fingerprint": model.fingerprint,
        "names": list(info.names),
        "own_names": info.own_names,
        "classes": [repr(label) for label in info.classes],
        "rule": info.decision.name,
        "threshold": info.threshold,
        "link": info.link.name,
        "link_single": info.single,
        "evaluation_error": info.evaluation_error,
        "fused_products": info.fused_products,
        "ties_last": info.ties_last,
    }
    match model:
        case TreeEnsemble():
            return {**head, "trees": _trees(model)}
        case LinearModel():
            return {**head, "linear": _affine(model.affine)}
        case ReluNetwork():
            return {**head, "network": [_affine(layer) for layer in model.layers]}
        case ObliqueEnsemble():
            raise InputError("export_model: trees with slanted splits cannot be written to a model file yet")
        case _:
            assert_never(model)


def _family(model: Model) -> str:
    names = {TreeEnsemble: "trees", LinearModel: "linear", ReluNetwork: "network", ObliqueEnsemble: "oblique"}
    return names[type(model)]


def _trees(model: TreeEnsemble) -> dict[str, Any]:
    """Nodes in an order in which children come after their parents. A split by category, right iff some column of a set is above
    1/2, becomes one split per column of the set; they share what is right of them."""
    order, n = _parents_first(model), model.info.n_features
    rights: list[list[int]] = [] if model.sets is None else [np.flatnonzero(row).tolist() for row in model.sets.right]
    asked = [rights[f - n] if f >= n else [f] for f in model.feature[order].tolist()]
    sizes = [max(1, len(columns)) for columns in asked]
    place = np.full(model.feature.size, -1, np.int64)
    place[order] = np.cumsum([0, *sizes[:-1]])
    nodes: dict[str, list[Any]] = {key: [] for key in ("feature", "cut", "left", "right", "value", "missing_left")}
    for i, columns in zip(order.tolist(), asked, strict=True):
        f, cut = int(model.feature[i]), model.cut[i]
        if f < 0:
            _add(
                nodes,
                -1,
                0.0,
                -1,
                -1,
                model.value[i].tolist(),
                model.missing_left is not None and bool(model.missing_left[i]),
            )
            continue
        left, right = int(place[model.left[i]]), int(place[model.right[i]])
        missing = model.missing_left is not None and bool(model.missing_left[i])
        if not columns:  # nothing goes right
            columns, cut = [0], math.inf
        for step, column in enumerate(columns, 1):
            following = left if step == len(columns) else len(nodes["feature"]) + 1
            _add(
                nodes,
                column,
                _number(float(HALF if f >= n and math.isfinite(cut) else cut)),
                following,
                right,
                [],
                missing,
            )
    if model.missing_left is None:
        nodes["missing_left"] = []
    return {
        "roots": place[model.roots].tolist(),
        **nodes,
        "base": model.base.tolist(),
        "divisor": model.divisor,
        "single": model.single,
        "may_miss": None if model.may_miss is None else np.flatnonzero(model.may_miss).tolist(),
    }


def _add(nodes: dict[str, list[Any]], *row: Any) -> None:
    for key, value in zip(nodes, row, strict=True):
        nodes[key].append(value)


def _parents_first(model: TreeEnsemble) -> Ints:
    """All nodes below the roots, level by level."""
    levels, level = [], model.roots
    while level.size:
        levels.append(level)
        inner = level[model.feature[level] >= 0]
        level = np.stack([model.left[inner], model.right[inner]], axis=1).ravel()
    return np.concatenate(levels)


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


def _affine(affine: Affine) -> dict[str, Any]:
    def optional(array: Floats | None) -> Any:
        if array is None:
            return None
        return [[None if np.isnan(x) else x for x in row] for row in np.atleast_2d(array).tolist()]

    return {
        "weight": affine.weight.tolist(),
        "bias": affine.bias.tolist(),
        "error_slope": affine.error_slope.tolist(),
        "error_constant": affine.error_constant.tolist(),
        "range_slope": None if affine.range_slope is None else affine.range_slope.tolist(),
        "range_constant": affine.range_constant,
        "missing_value": optional(affine.missing_value),
        "missing_error": optional(affine.missing_error),
    }
