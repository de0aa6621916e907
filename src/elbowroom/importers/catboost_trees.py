"""CatBoost: score = (sum of leaf values, in order) * scale + bias in float64.

Two classes and one score: the second iff score > log(t / (1 - t)), t the probability threshold (one half: score > 0).
Else the first largest score. The model is read from its own JSON export, which holds every number exactly.

The model keeps hashes of its categories and no names. Whoever asks must say which categories there are (``known``); their
hashes come from the library, which lists them in an export that is given a pool of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from elbowroom.disk import read_whole, scratch
from elbowroom.errors import InputError, UnsupportedModel
from elbowroom.importers.catboost_json import parse
from elbowroom.importers.catboost_model import Description, Split, Symmetric
from elbowroom.importers.catboost_nodes import Nodes, of_nested, of_symmetric
from elbowroom.importers.inputs import Column, Columns
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.tree_builder import TreeBuilder, Trees
from elbowroom.models.base import Decision, Link, ModelInfo
from elbowroom.numerics import EPS, Bools, Floats, Ints, gamma, products_are_exact
from elbowroom.problem.labels import Category
from elbowroom.visible import listed

__all__ = ["categorical", "columns", "predict", "raw_scores", "read_classifier", "read_sum"]

MOST_LEAVES: Final = 2**21
_ONE_SCORE: Final = {"Logloss": Link.LOGISTIC, "CrossEntropy": Link.LOGISTIC, "Focal": Link.LOGISTIC}
_SCORE_PER_CLASS: Final = {"MultiClass": Link.SOFTMAX, "MultiClassOneVsAll": Link.NONE}


# ---- columns ---------------------------------------------------------------------------------------------------------
def columns(model: Any, known: Mapping[str, tuple[Category, ...]] | None = None) -> Columns:
    """Names of the columns, and the categories that the caller knows. Columns 0, 1, ... are columns without names."""
    require_fitted(model)
    names = [str(name) for name in model.feature_names_]
    _refuse_text(model, names)
    own = names != [str(i) for i in range(len(names))]
    names = names if own else [f"x{i}" for i in range(len(names))]
    labelled = categorical(model)
    found = [Column(n, _categories(n, known or {}) if i in labelled else None) for i, n in enumerate(names)]
    return Columns(tuple(found), own)


def categorical(model: Any) -> tuple[int, ...]:
    """Positions of the columns that hold categories, be they text or whole numbers."""
    require_fitted(model)
    return tuple(sorted(int(j) for j in model.get_cat_feature_indices()))


def require_fitted(model: Any) -> None:
    if not model.is_fitted():
        raise InputError(f"this {type(model).__name__} is not fitted; call fit first")


def _refuse_text(model: Any, names: list[str]) -> None:
    for kind, indices in (
        ("text", model.get_text_feature_indices()),
        ("embedding", model.get_embedding_feature_indices()),
    ):
        if len(indices):
            raise UnsupportedModel(
                f"this {type(model).__name__} takes {kind} (columns {listed([names[i] for i in indices])}), which cannot be "
                "read; fit it on numbers and categories"
            )


def _categories(name: str, known: Mapping[str, tuple[Category, ...]]) -> tuple[Category, ...]:
    labels = known.get(name) or known.get(name.partition("__")[2])  # as a ColumnTransformer in front renames it
    if not labels:
        raise InputError(
            f"column {name!r} of this CatBoost model holds categories, of which the model keeps no names; say which there are "
            f"with the table: Explainer(model, X), or Space.from_frame(X, categorical=[{name!r}])"
        )
    for label in labels:
        text_of(label, name)
    return labels


def text_of(label: Category, column: str) -> str:
    """The text that the library makes of a category: it takes text and whole numbers, and counts True as 1."""
    if isinstance(label, str):
        return label
    if isinstance(label, (bool, int, np.bool_, np.integer)):
        return str(int(label))
    shown = "a missing value" if label is None else f"the category {label!r}"
    raise InputError(
        f"column {column!r}: {shown} is not one that CatBoost takes, only text and whole numbers; make it text "
        "(frame[column].astype(str)) before fitting"
    )


# ---- asking the original ---------------------------------------------------------------------------------------------
def predict(model: Any, table: Any) -> npt.NDArray[Any]:
    """Labels: those of ``predict``, or of ``predict(prediction_type="Class")`` where plain ``predict`` gives scores."""
    return np.asarray(asked(model, table, "Class")).reshape(len(table))


def raw_scores(model: Any, table: Any) -> Floats:
    """The original's scores, less what the only one is compared with."""
    scores = np.asarray(asked(model, table, "RawFormulaVal"), dtype=np.float64).reshape(len(table), -1)
    if scores.shape[1] == 1:
        scores = scores - logit(float(model.get_metadata().get("binclass_probability_threshold", 0.5)))
    return scores


def asked(model: Any, table: Any, kind: str | None) -> Any:
    """What the model says of a kind (None: what it says by itself) about columns that are its own by position."""
    from catboost import CatBoostError

    if isinstance(table, pd.DataFrame):
        table = table.set_axis(list(model.feature_names_), axis=1)
    try:
        return model.predict(table) if kind is None else model.predict(table, prediction_type=kind)
    except CatBoostError as error:
        raise ValueError(str(error)) from None


def logit(probability: float) -> float:
    """As the library computes it, up to the last digit of the logarithm."""
    return -math.log(1.0 / probability - 1.0)


# ---- reading ---------------------------------------------------------------------------------------------------------
def read_classifier(model: Any, preprocessing: Preprocessing) -> Trees:
    description, hashes = exported(model, preprocessing)
    classes, loss = tuple(np.asarray(model.classes_).tolist()), description.loss
    links = _ONE_SCORE if description.bias.size == 1 else _SCORE_PER_CLASS
    wanted = 2 if description.bias.size == 1 else description.bias.size
    if loss not in links or len(classes) != wanted:
        raise UnsupportedModel(
            f"this {type(model).__name__} was fitted with the loss {loss or 'of another library'!r} and has {len(classes)} "
            f"classes with {description.bias.size} scores; classifiers are read with {listed([*_ONE_SCORE, *_SCORE_PER_CLASS])}"
        )
    link, decision, shift, error = links[loss], Decision.ARGMAX, 0.0, scaling_error(description)
    if description.bias.size == 1:
        decision, shift = Decision.POSITIVE, -logit(description.threshold)
    if shift:  # p = 1 / (1 + exp(-(score - shift))): no link says that
        link, error = Link.NONE, error + 4 * EPS * abs(shift)
    info = ModelInfo(
        preprocessing.names, classes, decision, link, preprocessing.source_name(model), error,
        fused_products=error > 0.0,
    )  # fmt: skip
    return read_sum(description, hashes, info, preprocessing, shift)


def exported(model: Any, preprocessing: Preprocessing) -> tuple[Description, dict[int, Ints]]:
    """What the model itself says it is, and the hashes of the categories of every categorical column."""
    require_fitted(model)
    takes = preprocessing.takes or ()
    names = list(model.feature_names_)
    labels = {j: takes[j].categories or () for j in categorical(model)}
    texts = {j: [text_of(label, names[j]) for label in known] for j, known in labels.items()}
    with scratch() as folder:
        path = folder / "model.json"
        model.save_model(str(path), format="json", pool=_pool(names, texts) if texts else None)
        description = parse(read_whole(path))
    if (description.features.width, description.features.categorical) != (len(names), tuple(sorted(texts))):
        raise UnsupportedModel(f"this {type(model).__name__} and its own export have different columns; fit it again")
    return description, {j: np.array([description.hashes[t] for t in known]) for j, known in texts.items()}


def _pool(names: list[str], texts: dict[int, list[str]]) -> Any:
    """Rows in which every category occurs."""
    from catboost import Pool

    rows = max(len(known) for known in texts.values())
    made = {
        name: [texts[j][i % len(texts[j])] for i in range(rows)] if j in texts else np.zeros(rows)
        for j, name in enumerate(names)
    }
    return Pool(pd.DataFrame(made), cat_features=sorted(texts))


def read_sum(
    description: Description,
    hashes: Mapping[int, Ints],
    info: ModelInfo,
    preprocessing: Preprocessing,
    shift: float = 0.0,
) -> Trees:
    """sum of leaves * scale + bias + shift, added in this order: what follows the trees are trees of a single leaf.

    A scale that is not 1 is multiplied into the leaves, which rounds them (``info.fused_products``).
    """
    builder, leaves = TreeBuilder(), 0
    for tree in description.trees:
        nodes = of_symmetric(tree, hashes) if isinstance(tree, Symmetric) else of_nested(tree)
        leaves += nodes.leaves
        if leaves > MOST_LEAVES:
            raise UnsupportedModel(
                f"{info.source}: its trees have more than {MOST_LEAVES:,} leaves; fit it with a smaller depth or fewer iterations"
            )
        _add(builder, nodes, hashes, description.scale)
    for constant in (description.bias, np.full(description.bias.size, shift)):
        if constant.any() or not description.trees:
            none, leaf = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.bool_)
            builder.add(none, none, none, none, leaf, constant[None], missing_left=leaf)
    return builder.build(info, preprocessing, float32_not_above, np.zeros(description.bias.size))


def float32_not_above(x: Floats, border: Floats) -> Bools:
    with np.errstate(over="ignore"):
        return np.asarray(x.astype(np.float32) <= border.astype(np.float32))


def scaling_error(description: Description) -> float:
    """What it may change that every leaf is multiplied by the scale, and not their sum; 0 where no product is rounded."""
    if all(products_are_exact(description.scale, tree.value) for tree in description.trees):
        return 0.0
    size = sum(np.abs(tree.value).max(axis=0) for tree in description.trees) * abs(description.scale)
    return float(2 * gamma(len(description.trees) + 8) * (size + np.abs(description.bias)).max())


def _add(builder: TreeBuilder, nodes: Nodes, hashes: Mapping[int, Ints], scale: float) -> None:
    none = Split(0, 0.0, True)
    of_node = [nodes.splits[i] if i >= 0 else none for i in nodes.split]
    sets = {n: _other_than(s.category, hashes[s.column]) for n, s in enumerate(of_node) if s.category is not None}
    builder.add(
        np.array([s.column for s in of_node]),
        np.array([s.border for s in of_node]),
        nodes.left,
        nodes.right,
        nodes.split < 0,
        nodes.value * scale,
        missing_left=np.array([s.missing_left for s in of_node]),
        sets=sets,
    )


def _other_than(category: int, hashes: Ints) -> Callable[[Floats], Bools]:
    """Left: every category but one. Codes are positions among the known categories; any other code is another category."""
    left = np.append(hashes != category, True)

    def goes_left(codes: Floats) -> Bools:
        inside = (codes >= 0) & (codes < hashes.size)
        return np.asarray(left[np.where(inside, codes, hashes.size).astype(np.int64)])

    return goes_left
