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
from elbowroom.numerics import Floats, Ints

FORMAT: Final = "elbowroom model"
VERSION: Final = 1


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
    """Nodes in an order in which children come after their parents, as they are stored where that is so already."""
    order = _parents_first(model)
    place = np.full(model.feature.size, -1, np.int64)
    place[order] = np.arange(order.size)
    inner = model.feature[order] >= 0
    left, right = (np.where(inner, place[np.where(inner, side[order], 0)], -1) for side in (model.left, model.right))
    value = [[] if split else row for split, row in zip(inner.tolist(), model.value[order].tolist(), strict=True)]
    sets = [] if model.sets is None else zip(model.sets.left, model.sets.right, strict=True)
    missing = None if model.missing_left is None else model.missing_left[order].tolist()
    return {
        "roots": place[model.roots].tolist(),
        "feature": np.where(inner, model.feature[order], -1).tolist(),
        "cut": [_number(cut) if split else 0.0 for split, cut in zip(inner, model.cut[order].tolist(), strict=True)],
        "left": left.tolist(),
        "right": right.tolist(),
        "value": value,
        "base": model.base.tolist(),
        "divisor": model.divisor,
        "single": model.single,
        "sets": [{"left": np.flatnonzero(a).tolist(), "right": np.flatnonzero(b).tolist()} for a, b in sets],
        "missing_left": missing,
        "may_miss": None if model.may_miss is None else np.flatnonzero(model.may_miss).tolist(),
    }


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
