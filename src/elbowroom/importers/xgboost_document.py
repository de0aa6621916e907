"""What an XGBoost model says, as checked arrays: the same from an object, a .json file and a .ubj file.

Nothing that is read here has been handed to the library yet: indices and lengths that it would follow are checked first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.document import Part
from elbowroom.importers.xgboost_tree import MOST_NODES, MOST_OUTPUTS, WIDEST, Singles, Tree, read_tree, singles
from elbowroom.numerics import Ints
from elbowroom.visible import brief

_NUMBER: Final = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][-+]?[0-9]{1,4})?")
CATEGORY_KINDS: Final = {9: "i1", 10: "u1", 11: "i2", 13: "i4", 15: "i8"}  # how whole numbers are stored, by their sign
OLDEST: Final = (2, 1)  # the oldest release whose arithmetic was compared with ours


@dataclass(frozen=True, eq=False)
class Learner:
    """A whole model. ``raw`` is the document that it was read from."""

    objective: str
    booster: str  # gbtree, dart or gblinear
    width: int
    outputs: int  # scores
    targets: int  # more than 1: several labels per row
    base_score: Singles  # (outputs,) in the units of the objective, which may be a probability
    names: tuple[str, ...] | None
    types: tuple[str, ...] | None
    attributes: dict[str, str]
    trees: tuple[Tree, ...] = ()
    rounds: Ints = field(default_factory=lambda: np.zeros(1, np.int64))  # round r is trees rounds[r] : rounds[r + 1]
    weight_drop: Singles | None = None  # dart: what each tree's leaves are multiplied by
    weights: Singles | None = None  # gblinear: (columns and the bias, outputs)
    categories: dict[int, tuple[str | int, ...]] = field(default_factory=dict)  # as stored, by column
    raw: dict[str, Any] = field(default_factory=dict)

    @property
    def trees_up_to_best(self) -> int:
        """How many trees the classifier uses: those up to the best round, if training stopped early."""
        best = self.attributes.get("best_iteration")
        if best is None:
            return len(self.trees)
        last = Part(self.attributes, "learner.attributes").count("best_iteration", len(self.rounds) - 2)
        return int(self.rounds[last + 1])


def parse(document: Any) -> Learner:
    """The model in a document, every array of it checked."""
    whole = Part(document, "the document")
    version = tuple(int(v) for v in whole.indices("version", 3, 0)[:2])
    if version < OLDEST:
        raise UnsupportedModel(
            f"this model was saved by xgboost {'.'.join(map(str, version))}; models of {'.'.join(map(str, OLDEST))} and later "
            "are read. Load it with a newer xgboost, predict once, and save it again"
        )
    learner = Part(whole.part("learner").value, "learner")
    param, booster = learner.part("learner_model_param"), learner.part("gradient_booster")
    kind, width = booster.text("name"), param.count("num_feature", WIDEST)
    targets = max(param.count("num_target", MOST_OUTPUTS, 1), 1)
    outputs = max(param.count("num_class", MOST_OUTPUTS), targets, 1)
    attributes = learner.part("attributes").value if learner.has("attributes") else {}
    if not isinstance(attributes, dict) or not all(isinstance(value, str) for value in attributes.values()):
        raise learner.damaged("has attributes that are no texts")
    common: dict[str, Any] = {
        "objective": learner.part("objective").text("name"), "booster": kind, "width": width, "outputs": outputs,
        "targets": targets, "base_score": _base_score(param, outputs), "names": _per_column(learner, "feature_names", width),
        "types": _per_column(learner, "feature_types", width), "attributes": attributes, "raw": document,
    }  # fmt: skip
    _check_objective(learner.part("objective"), outputs)
    match kind:
        case "gblinear":
            booster.part("model").count("boosted_rounds", MOST_NODES)
            flat = singles(booster.part("model"), "weights", (width + 1) * outputs)
            if not np.isfinite(flat).all():
                raise booster.damaged("has weights that are not finite")
            return Learner(**common, weights=flat.reshape(width + 1, outputs))
        case "gbtree":
            return Learner(**common, **_forest(booster.part("model"), width, outputs))
        case "dart":
            forest = _forest(booster.part("gbtree").part("model"), width, outputs)
            drop = singles(booster, "weight_drop", len(forest["trees"]))
            if not np.isfinite(drop).all():
                raise booster.damaged("has weights of trees that are not finite")
            return Learner(**common, **forest, weight_drop=drop)
    raise UnsupportedModel(f"booster {brief(repr(kind))} of XGBoost is not known here; gbtree, dart and gblinear are")


def _check_objective(objective: Part, outputs: int) -> None:
    """Texts, and groups of texts, one of which may repeat the number of classes."""
    for key, value in objective.value.items():
        if isinstance(value, str):
            continue
        if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
            raise objective.damaged(f"has a {brief(repr(key))} that is no group of texts")
        if key == "softmax_multiclass_param" and objective.part(key).count("num_class", MOST_OUTPUTS) != outputs:
            raise objective.damaged(f"is for another number of classes than {outputs}")


def _base_score(param: Part, outputs: int) -> Singles:
    """One number, or (from 3.1 on) a list with one per score."""
    text = param.text("base_score")
    inside = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text
    if not all(_NUMBER.fullmatch(part) for part in inside.split(",")):
        raise param.damaged(f"has the base_score {brief(repr(text))}, which is no number")
    with np.errstate(over="ignore"):
        found = np.array([float(part) for part in inside.split(",")], np.float64).astype(np.float32)
    if found.size not in (1, outputs) or not np.isfinite(found).all():
        raise param.damaged(f"has the base_score {brief(repr(text))} for {outputs} scores")
    return np.broadcast_to(found, (outputs,)).copy()


def _per_column(learner: Part, key: str, width: int) -> tuple[str, ...] | None:
    found = learner.texts(key) if learner.has(key) else ()
    if found and len(found) != width:
        raise learner.damaged(f"has {len(found)} {key} for {width} columns")
    if key == "feature_names" and len(set(found)) != len(found):
        raise learner.damaged("has two columns of the same name")
    return found or None


def _forest(model: Part, width: int, outputs: int) -> dict[str, Any]:
    parts = list(model.parts("trees"))
    if model.part("gbtree_model_param").count("num_trees", MOST_NODES) != len(parts):
        raise model.damaged(f"holds {len(parts)} trees, and says otherwise")
    group = model.indices("tree_info", len(parts), 0, outputs - 1)
    rounds = model.indices("iteration_indptr", None, 0, len(parts))
    if not len(rounds) or rounds[0] != 0 or rounds[-1] != len(parts) or (np.diff(rounds) < 0).any():
        raise model.damaged("has rounds that do not end with its trees")
    trees, nodes = [], 0
    for number, (part, of) in enumerate(zip(parts, group.tolist(), strict=True)):
        if part.count("id", len(parts)) != number:  # the library puts a tree where its number says
            raise part.damaged(f"has the number {part.part('id').value}")
        trees.append(read_tree(part, width, outputs, of))
        nodes += len(trees[-1].feature) * trees[-1].value.shape[1]
        if nodes > MOST_NODES:
            raise model.damaged(f"has more than {MOST_NODES} leaves and splits")
    return {"trees": tuple(trees), "rounds": rounds, "categories": _categories(model, width)}


def _categories(model: Part, width: int) -> dict[int, tuple[str | int, ...]]:
    """Categories by column, as 3.1 and later store them: text as bytes with offsets, or whole numbers."""
    found: dict[int, tuple[str | int, ...]] = {}
    if not model.has("cats"):
        return found
    stored = model.part("cats")
    columns = list(stored.parts("enc"))
    if len(columns) not in (0, width):
        raise stored.damaged(f"has categories of {len(columns)} columns out of {width}")
    for j, column in enumerate(columns):
        texts = _texts(column) if column.has("offsets") else _whole_numbers(column)
        if len(set(texts)) != len(texts):
            raise column.damaged("has a category twice")
        if texts:
            found[j] = texts
    sizes = [len(found.get(j, ())) for j in range(len(columns))]
    ends = np.cumsum([0, *sizes] if columns else [], dtype=np.int64)
    order = [i for j in range(len(columns)) for i in _sorted_places(found.get(j, ()))]
    whole = np.array_equal(stored.indices("feature_segments", len(ends), 0), ends)
    if not whole or stored.indices("sorted_idx", len(order), 0).tolist() != order:
        raise stored.damaged("has an order that does not fit to its categories")
    return found


def _sorted_places(labels: tuple[Any, ...]) -> list[int]:
    return sorted(range(len(labels)), key=labels.__getitem__)


def _whole_numbers(column: Part) -> tuple[int, ...]:
    values = tuple(column.indices("values", None, -(2**62), 2**62).tolist())
    kind = CATEGORY_KINDS.get(column.count("type", 100)) if values else "i8"
    if kind is None:
        raise column.damaged(f"has categories of the kind {column.value['type']}, which is not known here")
    if kind != "i8":
        raise UnsupportedModel(
            f"the categories {brief(str(list(values[:3])))} of this XGBoost model are {np.dtype(kind).name} numbers, and it refuses "
            "tables that hold them in any other type; make them int64 or text before fitting, for example "
            'X["grade"].astype("int64").astype("category")'
        )
    return values


def _texts(column: Part) -> tuple[str, ...]:
    """Texts as their bytes, one after the other, and where each one ends."""
    ends = column.indices("offsets", None, 0)
    data = bytes((column.indices("values", None, -128, 255) & 0xFF).astype(np.uint8))
    if (ends.size == 0 and data) or (
        ends.size and (ends[0] != 0 or ends[-1] != len(data) or (np.diff(ends) < 0).any())
    ):
        raise column.damaged("has texts that do not fit to their lengths")
    if not data.isascii():  # the library keeps as many bytes as a text has letters
        raise UnsupportedModel(
            "this release of XGBoost does not store categories with letters beyond ASCII whole; rename them (for example to "
            "'cafe') and fit again"
        )
    return tuple(data[a:b].decode("ascii") for a, b in pairwise(ends.tolist()))
