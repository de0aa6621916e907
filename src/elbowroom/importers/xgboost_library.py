"""What the library is handed of a model that was read from a document: what was checked, and nothing else.

XGBoost's own loader trusts its files: a tree with a wrong number or without one of its arrays brings the process down. So it
never sees the bytes of a file. It gets a document written anew, in which every array has the kind and the length that it
relies on, and every number is the one that was read.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from elbowroom.errors import InputError
from elbowroom.importers.ubj import encode
from elbowroom.importers.xgboost_document import CATEGORY_KINDS, Learner
from elbowroom.visible import brief

_TREE: Final = {
    "base_weights": "f4", "categories": "i4", "categories_nodes": "i4", "categories_segments": "i8",
    "categories_sizes": "i8", "default_left": "u1", "leaf_weights": "f4", "left_children": "i4", "loss_changes": "f4",
    "parents": "i4", "right_children": "i4", "split_conditions": "f4", "split_indices": "i4", "split_type": "u1",
    "sum_hessian": "f4",
}  # fmt: skip
_TREE_PARAM: Final = ("num_deleted", "num_feature", "num_nodes", "size_leaf_vector")
_LEARNER_PARAM: Final = ("base_score", "boost_from_average", "num_class", "num_feature", "num_target")
_LEAVES: Final = ("split_conditions", "base_weights", "leaf_weights")
_STATISTICS: Final = ("loss_changes", "sum_hessian")  # absent in some releases, which others do not expect


def has_library() -> bool:
    """True if xgboost can be asked."""
    return find_spec("xgboost") is not None


def load(model: Any, learner: Learner, without_leaves: bool = False) -> None:
    """Make ``model``, a new Booster or classifier, what was read. ``without_leaves``: the first round alone, and in it every
    leaf is 0."""
    import xgboost

    _refuse_other_vectors(learner, xgboost.__version__)
    try:
        with xgboost.config_context(verbosity=0):
            model.load_model(bytearray(encode(_document(learner, without_leaves))))
            booster = model.get_booster() if hasattr(model, "get_booster") else model
            booster.set_param({"nthread": 1})  # what is asked here is small: threads would wait for each other
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        reason = brief(str(error).partition("Stack trace")[0])
        raise InputError(f"xgboost {xgboost.__version__} itself cannot load this model ({reason})") from None


def _refuse_other_vectors(learner: Learner, installed: str) -> None:
    """Leaves with one number per score moved to another array in 3.1. A newer library crashes on older files, and an older
    one takes wrong numbers from newer ones."""
    vectors = any(tree.value.shape[1] > 1 for tree in learner.trees)
    new = [int(part) for part in installed.split(".")[:2]] >= [3, 1]
    if vectors and any(("leaf_weights" in tree) != new for tree in _trees(learner)):
        made = ".".join(str(part) for part in learner.raw["version"])
        raise InputError(
            f"trees with one leaf value per class (multi_strategy='multi_output_tree') of xgboost {made} are misread by xgboost "
            f"{installed}; load the model with the release that made it, or fit it again"
        )


def _trees(learner: Learner) -> list[dict[str, Any]]:
    booster = learner.raw["learner"]["gradient_booster"]
    trees: list[dict[str, Any]] = booster.get("gbtree", booster)["model"]["trees"]
    return trees


def _document(learner: Learner, without_leaves: bool) -> dict[str, Any]:
    raw = learner.raw["learner"]
    booster = raw["gradient_booster"]
    count = len(learner.trees)
    if without_leaves and count:
        count = int(learner.rounds[learner.rounds > 0][0])
    made: dict[str, Any] = {"name": learner.booster}
    if learner.weights is not None:
        weights = np.zeros_like(learner.weights) if without_leaves else learner.weights
        made["model"] = {"boosted_rounds": int(booster["model"]["boosted_rounds"]), "weights": weights.ravel()}
    elif learner.weight_drop is not None:
        made["gbtree"] = {"name": "gbtree", "model": _model(booster["gbtree"]["model"], learner, count, without_leaves)}
        made["weight_drop"] = [float(weight) for weight in learner.weight_drop[:count]]
    else:
        made["model"] = _model(booster["model"], learner, count, without_leaves)
    inner = {
        "attributes": learner.attributes,
        "feature_names": list(learner.names or ()),
        "feature_types": list(learner.types or ()),
        "gradient_booster": made,
        "learner_model_param": _texts(raw["learner_model_param"], _LEARNER_PARAM),
        "objective": raw["objective"],
    }
    return {"learner": inner, "version": [int(part) for part in learner.raw["version"]]}


def _model(raw: dict[str, Any], learner: Learner, count: int, without_leaves: bool) -> dict[str, Any]:
    rounds = np.unique(np.minimum(learner.rounds, count))
    made = {
        "gbtree_model_param": {**_texts(raw["gbtree_model_param"], ("num_parallel_tree",)), "num_trees": str(count)},
        "iteration_indptr": rounds.tolist() if without_leaves else learner.rounds.tolist(),
        "tree_info": [tree.group for tree in learner.trees[:count]],
        "trees": [_tree(tree, number, without_leaves) for number, tree in enumerate(raw["trees"][:count])],
    }
    if "cats" in raw:
        made["cats"] = {
            "enc": [_categories(column) for column in raw["cats"]["enc"]],
            "feature_segments": _array(raw["cats"]["feature_segments"], "i4"),
            "sorted_idx": _array(raw["cats"]["sorted_idx"], "i4"),
        }
    return made


def _tree(raw: dict[str, Any], number: int, without_leaves: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"id": number, "tree_param": _texts(raw["tree_param"], _TREE_PARAM)}
    for key, kind in _TREE.items():
        if key in raw:
            made[key] = _array(raw[key], kind)
        elif key in _STATISTICS:
            made[key] = np.zeros(len(raw["left_children"]), kind)
        if without_leaves and key in made and key in _LEAVES:
            made[key] = np.zeros_like(made[key])
    return made


def _categories(raw: dict[str, Any]) -> dict[str, Any]:
    if "offsets" in raw:
        return {"offsets": _array(raw["offsets"], "i4"), "values": _array(raw["values"], "i1")}
    return {"type": int(raw["type"]), "values": _array(raw["values"], CATEGORY_KINDS[int(raw["type"])])}


def _array(values: Any, kind: str) -> Any:
    with np.errstate(over="ignore"):
        return np.asarray(values, dtype=np.float64 if kind == "f4" else np.int64).astype(kind)


def _texts(raw: dict[str, Any], keys: tuple[str, ...]) -> dict[str, str]:
    return {key: str(raw[key]) for key in keys if key in raw}
