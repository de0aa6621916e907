"""CatBoost's JSON description of a model, every number checked before anyone follows it.

The library itself loads a split by its ``split_index`` alone and checks nothing: a wrong one leaves its arrays. Here the
index, the feature and the border (or the hash of a category) of every split must say the same, borders must rise, and
every array must have the length that the others ask for.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, Final

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.catboost_checks import CURE, items, number, one_of, refuse, single, table, whole
from elbowroom.importers.catboost_info import class_params_of, loss_of, scale_and_bias_of, threshold_of
from elbowroom.importers.catboost_model import (
    HASHES,
    SIDE_OF_NAN,
    Category,
    Description,
    Features,
    Nested,
    Number,
    Split,
    Symmetric,
    Tree,
)
from elbowroom.visible import listed

DEEPEST: Final = 16  # splits of a symmetric tree; the library itself allows no more
DEEPEST_NESTED: Final = 400  # below the limit of Python's own JSON reader
_KINDS: Final = ("FloatFeature", "OneHotFeature")


def parse(content: bytes | str) -> Description:
    """The description from the text of a JSON model."""
    try:
        data = json.loads(content, parse_constant=lambda word: refuse("the file", f"holds the number {word}"))
    except (ValueError, RecursionError) as error:
        raise UnsupportedModel(f"this is no JSON model of CatBoost ({error}); {CURE}") from None
    try:
        return _described(table(data, "the file"))
    except UnsupportedModel:
        raise
    except (AttributeError, KeyError, TypeError) as error:  # something of another type where a table was expected
        raise UnsupportedModel(f"this CatBoost model is damaged ({error}); {CURE}") from None


def _described(data: dict[str, Any]) -> Description:
    given = table(data.get("features_info"), "features_info")
    _refuse_unreadable(given, data)
    features = _features(given)
    scale, bias = scale_and_bias_of(data.get("scale_and_bias"))
    info = table(data.get("model_info", {}), "model_info")
    loss, params = loss_of(info)
    return Description(
        features=features,
        trees=_trees(data, features.splits, bias.size),
        scale=scale,
        bias=bias,
        loss=loss,
        loss_params=params,
        threshold=threshold_of(info),
        hashes=_hashes(given),
        class_params=class_params_of(info, bias.size),
    )


def _refuse_unreadable(features: dict[str, Any], data: dict[str, Any]) -> None:
    """Columns that a model turns into numbers by statistics of its own."""
    for key in ("text_features", "embedding_features"):
        if features.get(key):
            raise UnsupportedModel(f"this CatBoost model has {key}, which cannot be read; fit it without them")
    if features.get("ctrs") or data.get("ctr_data"):
        parts = [e for ctr in items(features.get("ctrs") or [], "ctrs") for e in items(ctr.get("elements"), "elements")]
        used = {e.get("cat_feature_index") for e in parts}
        named = [
            str(feature.get("feature_id") or feature.get("flat_feature_index"))
            for feature in items(features.get("categorical_features") or [], "categorical_features")
            if feature.get("feature_index") in used
        ]
        raise UnsupportedModel(
            f"this CatBoost model replaces categories by statistics of the target (columns {listed(named)}), which cannot be "
            "read; fit it with one_hot_max_size=255"
        )


# ---- columns and the list of splits ----------------------------------------------------------------------------------
def _features(given: dict[str, Any]) -> Features:
    numbers, categories = [], []
    for i, item in enumerate(items(given.get("float_features") or [], "float_features")):
        where = f"float_features[{i}]"
        column, name, feature = _column(item, where, i)
        treatment = one_of(SIDE_OF_NAN, feature.get("nan_value_treatment"), f"{where}.nan_value_treatment")
        borders = [single(b, f"{where}.borders") for b in items(feature.get("borders"), f"{where}.borders")]
        if any(a >= b for a, b in pairwise(borders)):
            refuse(f"{where}.borders", "do not rise")
        numbers.append(Number(column, name, tuple(borders), treatment, feature.get("has_nans") is True))
    for i, item in enumerate(items(given.get("categorical_features") or [], "categorical_features")):
        where = f"categorical_features[{i}]"
        column, name, feature = _column(item, where, i)
        values = [whole(v, f"{where}.values") for v in items(feature.get("values") or [], f"{where}.values")]
        if len({v % HASHES for v in values}) < len(values) or any(not -HASHES // 2 <= v < HASHES for v in values):
            refuse(f"{where}.values", "hold one category twice, or no hash of 32 bits")
        categories.append(Category(column, name, tuple(values)))
    flat = [[f.column for f in numbers], [f.column for f in categories]]
    if sorted(flat[0] + flat[1]) != list(range(len(numbers) + len(categories))) or any(f != sorted(f) for f in flat):
        refuse("flat_feature_index", "of the features do not count the columns 0, 1, ...")
    return Features(tuple(numbers), tuple(categories))


def _column(given: object, where: str, position: int) -> tuple[int, str, dict[str, Any]]:
    feature = table(given, where)
    if whole(feature.get("feature_index"), f"{where}.feature_index") != position:
        refuse(f"{where}.feature_index", "is not its position")
    name = feature.get("feature_id", feature.get("feature_name", ""))
    if not isinstance(name, str):
        refuse(f"{where}.feature_id", f"is {name!r}")
    return whole(feature.get("flat_feature_index"), f"{where}.flat_feature_index"), name, feature


def _hashes(features: dict[str, Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for i, given in enumerate(items(features.get("cat_features_hash") or [], "cat_features_hash")):
        entry, where = table(given, "cat_features_hash"), f"cat_features_hash[{i}]"
        found[str(entry.get("value"))] = whole(entry.get("hash"), f"{where}.hash") % HASHES
    return found


# ---- trees -----------------------------------------------------------------------------------------------------------
def _trees(data: dict[str, Any], splits: tuple[Split, ...], scores: int) -> tuple[Tree, ...]:
    if "oblivious_trees" in data and "trees" in data:
        refuse("the file", "holds trees of two kinds")
    if "trees" in data:
        return tuple(
            _nested(tree, f"trees[{k}]", splits, scores) for k, tree in enumerate(items(data["trees"], "trees"))
        )
    if not data.get("oblivious_trees"):
        raise UnsupportedModel("this CatBoost model has no trees; fit it with at least one iteration")
    symmetric = items(data["oblivious_trees"], "oblivious_trees")
    return tuple(_symmetric(tree, f"oblivious_trees[{k}]", splits, scores) for k, tree in enumerate(symmetric))


def _symmetric(given: object, where: str, splits: tuple[Split, ...], scores: int) -> Symmetric:
    tree = table(given, where)
    levels = items(tree.get("splits") or [], f"{where}.splits")
    if len(levels) > DEEPEST:
        refuse(f"{where}.splits", f"are {len(levels)}, more than {DEEPEST}")
    values = items(tree.get("leaf_values"), f"{where}.leaf_values")
    if len(values) != 2 ** len(levels) * scores:
        refuse(f"{where}.leaf_values", f"are {len(values)} for {len(levels)} splits and {scores} scores")
    value = np.array([number(v, f"{where}.leaf_values") for v in values]).reshape(-1, scores)
    return Symmetric(tuple(_split(s, f"{where}.splits[{i}]", splits) for i, s in enumerate(levels)), value)


def _nested(given: object, where: str, splits: tuple[Split, ...], scores: int) -> Nested:
    split: list[Split | None] = []
    left: list[int] = []
    right: list[int] = []
    value: list[list[float]] = []
    stack: list[tuple[object, int, bool, int]] = [(given, -1, False, 0)]  # node, parent, right side, depth
    while stack:
        item, parent, is_right, depth = stack.pop()
        node, here = table(item, where), len(split)
        if depth > DEEPEST_NESTED:
            refuse(where, f"is deeper than {DEEPEST_NESTED}")
        if parent >= 0:
            (right if is_right else left)[parent] = here
        left.append(-1)
        right.append(-1)
        if "split" in node:
            split.append(_split(node["split"], f"{where}.split", splits))
            value.append([0.0] * scores)
            stack += [(node.get("right"), here, True, depth + 1), (node.get("left"), here, False, depth + 1)]
            continue
        found = node.get("value")
        numbers = found if isinstance(found, list) else [found]
        if len(numbers) != scores:
            refuse(f"{where}.value", f"holds {len(numbers)} numbers for {scores} scores")
        split.append(None)
        value.append([number(v, f"{where}.value") for v in numbers])
    return Nested(tuple(split), tuple(left), tuple(right), np.array(value))


def _split(given: object, where: str, splits: tuple[Split, ...]) -> Split:
    item = table(given, where)
    index = whole(item.get("split_index"), f"{where}.split_index")
    kind = one_of(_KINDS, item.get("split_type"), f"{where}.split_type")
    if not 0 <= index < len(splits):
        refuse(f"{where}.split_index", f"is {index}; there are {len(splits)} splits")
    split, numeric = splits[index], kind == "FloatFeature"
    same = (split.category is None) == numeric and (
        single(item.get("border"), f"{where}.border") == split.border
        if numeric
        else whole(item.get("value"), f"{where}.value") % HASHES == split.category
    )
    if not same:
        refuse(where, "names another border or category than its split_index")
    return split
