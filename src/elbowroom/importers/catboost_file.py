"""Model files of CatBoost, .cbm and .json, loaded so that no file can harm and no number is lost.

The library's loaders check little: a damaged file ends the program or leads it out of its arrays. Therefore

* a .cbm file is turned into JSON by a program of its own, which may fail alone;
* JSON is parsed and checked here (`catboost_json`), and written anew from what was checked; only that is loaded;
* the library's reader of JSON misses one in twenty leaf values by one unit in the last place, so they are set again from
  the checked numbers. The loaded model must then export what was read, to the last digit.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from elbowroom.disk import read_whole, scratch, write_whole
from elbowroom.errors import InputError, UnsupportedModel
from elbowroom.importers import catboost_regression, catboost_trees
from elbowroom.importers.catboost_json import parse
from elbowroom.importers.catboost_model import Description, Nested, Split, Symmetric
from elbowroom.importers.inputs import Columns
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.tree_builder import Trees
from elbowroom.numerics import Floats
from elbowroom.problem.labels import Category
from elbowroom.visible import brief

__all__ = ["CatBoostFile", "categorical", "columns", "holds_catboost", "predict", "raw_scores", "read_file"]

BINARY: Final = b"CBM1"
_HEAD: Final = 64  # bytes within which the first key of the document stands
MOST_BYTES: Final = 1_000_000_000
_SECONDS: Final = 120  # for a program that converts a file
_BYTES: Final = 1 << 34
_CONVERT: Final = f"""
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, ({_BYTES}, {_BYTES}))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
import catboost
model = catboost.CatBoost()
model.load_model(sys.argv[1], format="cbm")
model.save_model(sys.argv[2], format="json")
"""


def holds_catboost(content: bytes) -> bool:
    """True if the bytes look like a CatBoost model, by their beginning; its JSON names the features first."""
    return content.startswith(BINARY) or (content[:1] == b"{" and b'"features_info"' in content[:_HEAD])


class CatBoostFile:
    """A model in a .cbm or .json file; ``model`` is the library's own object: a CatBoostClassifier, or a CatBoostRegressor
    where there are no classes."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        content = read_whole(path, MOST_BYTES)
        require_library(path)
        try:
            self.description = parse(_converted(content) if content.startswith(BINARY) else content)
            self.model = loaded(self.description)
        except UnsupportedModel as error:
            raise UnsupportedModel(f"{path}: {error}") from None

    def predict(self, table: Any) -> npt.NDArray[Any]:
        return predict(self, table)


def columns(file: CatBoostFile, known: Mapping[str, tuple[Category, ...]]) -> Columns:
    return catboost_trees.columns(file.model, known)


def categorical(file: CatBoostFile) -> tuple[int, ...]:
    return catboost_trees.categorical(file.model)


def predict(file: CatBoostFile, table: Any) -> npt.NDArray[Any]:
    ask = catboost_regression.predict if file.description.class_params is None else catboost_trees.predict
    return ask(file.model, table)


def raw_scores(file: CatBoostFile, table: Any) -> Floats:
    return catboost_trees.raw_scores(file.model, table)


def read_file(file: CatBoostFile, preprocessing: Preprocessing) -> Trees:
    if file.description.class_params is None:
        return catboost_regression.read_regressor(file.model, preprocessing)
    return catboost_trees.read_classifier(file.model, preprocessing)


def require_library(path: str | Path) -> None:
    try:
        import catboost  # noqa: F401
    except ImportError:
        raise InputError(f"{path}: a model of CatBoost needs its library: pip install catboost") from None


def _converted(content: bytes) -> bytes:
    """The JSON of a .cbm file, made by another program."""
    with scratch() as folder:
        given, made = folder / "model.cbm", folder / "model.json"
        write_whole(given, content)
        command = [sys.executable, "-c", _CONVERT, str(given), str(made)]
        try:
            run = subprocess.run(command, capture_output=True, timeout=_SECONDS, cwd=folder, check=False)
        except subprocess.TimeoutExpired:
            raise UnsupportedModel(f"the library did not load this file within {_SECONDS} seconds") from None
        if run.returncode or not made.exists():
            said = run.stderr.decode(errors="replace").strip().splitlines()
            reason = brief(said[-1]) if said and run.returncode > 0 else "it broke down"
            raise UnsupportedModel(f"the library cannot load this file ({reason}); save the fitted model again")
        return read_whole(made)


def loaded(description: Description) -> Any:
    """The library's own object that is exactly what was described."""
    from catboost import CatBoostClassifier, CatBoostRegressor

    model = CatBoostRegressor() if description.class_params is None else CatBoostClassifier()
    with scratch() as folder:
        given, back = folder / "model.json", folder / "again.json"
        write_whole(given, json.dumps(document(description)))
        try:
            model.load_model(str(given), format="json")
            model.set_leaf_values(leaf_values(description))
            model.set_scale_and_bias(description.scale, description.bias.tolist())
            model.save_model(str(back), format="json")
        except Exception as error:  # whatever it does not take, with assertions and errors of all kinds
            raise UnsupportedModel(f"the library does not take this model ({brief(str(error))})") from None
        again = parse(read_whole(back))
    if document(again) != document(description):
        raise UnsupportedModel("the library loads another model than the file describes; save it as .cbm")
    return model


def leaf_values(description: Description) -> Any:
    """All leaf values in the order of the library: tree by tree, leaf by leaf from left to right."""
    parts = [
        (tree.value if isinstance(tree, Symmetric) else tree.value[[s is None for s in tree.split]]).ravel()
        for tree in description.trees
    ]
    return np.concatenate(parts) if parts else np.empty(0)


# ---- the description as a JSON model ---------------------------------------------------------------------------------
def document(description: Description) -> dict[str, Any]:
    """What the library needs in order to load the model, and nothing else."""
    features = description.features
    params = description.loss_params
    written = ";".join(f"{key}={value}" for key, value in params.items())
    info: dict[str, Any] = {
        "params": {
            "flat_params": {"loss_function": description.loss + (written and f":{written}")},
            "loss_function": {"type": description.loss, "params": params},
        }
    }
    if description.class_params is not None:
        info["class_params"] = description.class_params
    if description.threshold != 0.5:
        info["binclass_probability_threshold"] = repr(description.threshold)
    made: dict[str, Any] = {
        "features_info": {
            "float_features": [
                {"feature_index": i, "flat_feature_index": f.column, "feature_id": f.name, "has_nans": f.has_nans,
                 "nan_value_treatment": f.treatment, "borders": list(f.borders)}
                for i, f in enumerate(features.numbers)
            ],
            "categorical_features": [
                {"feature_index": i, "flat_feature_index": f.column, "feature_id": f.name, "values": list(f.values)}
                for i, f in enumerate(features.categories)
            ],
        },
        "model_info": info,
        "scale_and_bias": [description.scale, description.bias.tolist()],
    }  # fmt: skip
    nested = any(isinstance(tree, Nested) for tree in description.trees)
    made["trees" if nested else "oblivious_trees"] = [
        _nested(tree) if isinstance(tree, Nested) else _symmetric(tree) for tree in description.trees
    ]
    return made


def _split(split: Split) -> dict[str, Any]:
    if split.category is None:
        return {"split_type": "FloatFeature", "split_index": split.index, "border": split.border,
                "float_feature_index": split.feature}  # fmt: skip
    return {"split_type": "OneHotFeature", "split_index": split.index, "value": split.category,
            "cat_feature_index": split.feature}  # fmt: skip


def _symmetric(tree: Symmetric) -> dict[str, Any]:
    return {"splits": [_split(s) for s in tree.splits] or None, "leaf_values": tree.value.ravel().tolist()}


def _nested(tree: Nested) -> dict[str, Any]:
    made: list[dict[str, Any]] = [{}] * len(tree.split)
    for node in reversed(range(len(tree.split))):
        split, values = tree.split[node], tree.value[node].tolist()
        if split is None:
            made[node] = {"value": values if len(values) > 1 else values[0], "weight": 1.0}  # without: a crash
        else:
            made[node] = {"split": _split(split), "left": made[tree.left[node]], "right": made[tree.right[node]]}
    return made[0]
