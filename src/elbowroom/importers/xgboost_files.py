"""XGBoost models in files, .json and .ubj: read by checked readers, and only then handed to the library.

Nothing in such a file is run. Where xgboost is installed, it loads what was read (see `xgboost_library`), and its own
predict is what the parsed copy is compared with and what the promise is about. Where it is not, the copy is compared with a plain evaluation of the
file's arrays, and the name of the model says so.

A file that was saved by a classifier or regressor is asked as that is (trees up to the best round); any other one as a
Booster is (all trees; see `xgboost_models`). The value that stands for missing is in neither: NaN is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from elbowroom.disk import read_whole
from elbowroom.errors import ElbowroomError, InputError, UnsupportedModel
from elbowroom.importers import xgboost_columns
from elbowroom.importers import xgboost_models as models
from elbowroom.importers.inputs import Columns
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.ubj import decode
from elbowroom.importers.xgboost_base import base_margins
from elbowroom.importers.xgboost_document import Learner, parse
from elbowroom.importers.xgboost_library import has_library, load
from elbowroom.importers.xgboost_tree import Singles
from elbowroom.importers.xgboost_trees import leaf_values, left_of
from elbowroom.models.base import Decision, Link, Model
from elbowroom.numerics import Floats
from elbowroom.problem.labels import Category
from elbowroom.visible import brief

__all__ = ["XGBoostFile", "codes", "columns", "holds_xgboost", "predict", "raw_scores", "read_file"]

LARGEST_FILE: Final = 500_000_000  # bytes
_HEAD: Final = 64  # bytes within which the first key of the document stands


def holds_xgboost(data: bytes) -> bool:
    """True if the bytes look like an XGBoost model, by their beginning."""
    return data[:1] == b"{" and b"learner" in data[:_HEAD]


class XGBoostFile:
    """A model in a .json or .ubj file; ``library`` is what xgboost made of it, or None without xgboost."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        data = read_whole(path, LARGEST_FILE)
        try:
            self.learner = parse(document(data))
            self.kind = _saved_by(self.learner)
            self._refuse_other_kinds()
            self.library = _loaded(self.learner, self.kind) if has_library() else None
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        except UnsupportedModel as error:
            raise UnsupportedModel(f"{path}: {error}") from None

    def _refuse_other_kinds(self) -> None:
        values = self.learner.objective in models.VALUES
        if not values:
            models.rule_of(self.learner, self.sklearn)
        if (self.kind == "classifier" and values) or (self.kind == "regressor" and not values):
            raise UnsupportedModel(f"this XGBoost file holds a {self.kind} with objective {self.learner.objective!r}")

    @property
    def sklearn(self) -> bool:
        """Whether the scikit-learn interface saved it, and is asked."""
        return self.kind != "Booster"

    def predict(self, table: Any) -> npt.NDArray[Any]:
        return predict(self, table)


def document(data: bytes) -> Any:
    """The content of a file of either kind."""
    if data[:4] == b"binf" or data[:1] != b"{":
        raise InputError(
            "this is no XGBoost model in JSON or UBJSON; save it with model.save_model('model.json') or 'model.ubj'"
        )
    if data[1:2] not in (b'"', b"}", b" ", b"\t", b"\r", b"\n"):  # a name in UBJSON starts with its length
        return decode(data)
    try:
        return json.loads(data, object_pairs_hook=_members)
    except RecursionError:
        raise InputError("nested too deeply for a model") from None
    except ValueError as error:  # also text that is not UTF-8, and numbers with too many digits
        if isinstance(error, ElbowroomError):
            raise
        raise InputError(f"this is no whole JSON document ({brief(str(error))}); save the model again") from None


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InputError("a name stands twice in one object of the document; save the model again")
    return found


def _saved_by(learner: Learner) -> str:
    """Who saved it: the scikit-learn interface leaves a note of its kind."""
    note = learner.attributes.get("scikit_learn")
    if note is None:
        return "Booster"
    try:
        kind = json.loads(note).get("_estimator_type")
    except (ValueError, AttributeError, RecursionError):
        raise InputError(f"learner.attributes.scikit_learn is {brief(repr(note))}; save the model again") from None
    if kind not in ("classifier", "regressor"):
        raise UnsupportedModel(f"this XGBoost file holds a {brief(str(kind))}, and no classifier or regressor")
    return str(kind)


def _loaded(learner: Learner, kind: str) -> Any:
    import xgboost

    made = {"classifier": xgboost.XGBClassifier, "regressor": xgboost.XGBRegressor, "Booster": xgboost.Booster}[kind]()
    load(made, learner)
    return made


# ---- what the table of readers asks for ------------------------------------------------------------------------------
def columns(model: XGBoostFile, known: Mapping[str, tuple[Category, ...]] = xgboost_columns.NOTHING_KNOWN) -> Columns:
    return xgboost_columns.columns_of(model.learner, known)


def codes(model: XGBoostFile) -> dict[int, dict[Any, float]]:
    return xgboost_columns.codes_of(model.learner)


def read_file(model: XGBoostFile, preprocessing: Preprocessing) -> Model:
    source = f"XGBoost file {model.path.name}"
    if model.library is None:
        source += " (not compared with xgboost, which is not installed)"
    return models.read_learner(model.learner, preprocessing, source, sklearn=model.sklearn)


def predict(model: XGBoostFile, table: Any) -> npt.NDArray[Any]:
    """The library's labels, as of the loaded object; without the library, those of a plain evaluation."""
    if model.library is not None:
        return models.predict(model.library, table)
    scores = raw_scores(model, table)
    if model.learner.objective in models.VALUES:
        exponential = models.VALUES[model.learner.objective] is Link.EXPONENTIAL
        return np.exp(scores[:, 0]) if exponential else scores[:, 0]
    rule = models.rule_of(model.learner, model.sklearn)
    if rule.decision is Decision.ARGMAX:
        return np.asarray(scores.argmax(axis=1))
    return np.asarray(scores[:, 0] > 0.0, dtype=np.int64)


def raw_scores(model: XGBoostFile, table: Any) -> Floats:
    if model.library is not None:
        return models.raw_scores(model.library, table)
    single = plain_scores(model.learner, _coded(model, table), model.sklearn)
    if model.learner.objective in models.RULES:
        single = single - np.float32(models.rule_of(model.learner, model.sklearn).threshold)
    return single.astype(np.float64)


# ---- without the library ---------------------------------------------------------------------------------------------
def _coded(model: XGBoostFile, table: Any) -> Floats:
    """The rows as numbers: categories by their codes."""
    if not isinstance(table, pd.DataFrame):
        return np.asarray(table, dtype=np.float64)
    found = np.empty((len(table), model.learner.width))
    known = codes(model)
    for j in range(model.learner.width):
        column = table.iloc[:, j]
        found[:, j] = [known[j].get(value, np.nan) for value in column] if j in known else column.to_numpy(np.float64)
    return found


def plain_scores(learner: Learner, rows: Floats, sklearn: bool) -> Singles:
    """The arrays of the file, followed split by split, and summed in float32."""
    base, _ = base_margins(learner)
    with np.errstate(over="ignore"):
        cast = rows.astype(np.float32)
    total: Singles = np.broadcast_to(base, (len(rows), learner.outputs)).copy()
    if learner.weights is not None:
        total = learner.weights[-1] + total
        for j in range(learner.width):
            total = total + np.where(np.isnan(cast[:, j, None]), np.float32(0), cast[:, j, None] * learner.weights[j])
        return total
    for tree, value in zip(*leaf_values(learner, base, sklearn), strict=True):
        node = np.zeros(len(rows), np.int64)
        while (inner := np.flatnonzero(tree.left[node] >= 0)).size:
            here = node[inner]
            x = cast[inner, tree.feature[here]]
            left = np.where(np.isnan(x), tree.default_left[here], x < tree.threshold[here])
            for at in set(here.tolist()) & tree.sets.keys():
                on = here == at
                left[on] = left_of(tree.sets[at], bool(tree.default_left[at]))(x[on].astype(np.float64))
            node[inner] = np.where(left, tree.left[here], tree.right[here])
        total = total + value[node]
    return total
