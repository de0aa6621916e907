"""What an XGBoost model says, as checked arrays: the same from an object, a .json file and a .ubj file.

Nothing that is read here has been handed to the library yet: indices and lengths that it would follow are checked first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.document import Part
from elbowroom.importers.xgboost_tree import MOST_NODES, MOST_OUTPUTS, WIDEST, Singles, Tree, read_tree, singles
from elbowroom.numerics import Ints
from elbowroom.visible import brief

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
    match kind:
        case "gblinear":
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


def _base_score(param: Part, outputs: int) -> Singles:
    """One number, or (from 3.1 on) a list with one per score."""
    text = param.text("base_score")
    try:
        found = np.array([float(part) for part in text.removeprefix("[").removesuffix("]").split(",")], np.float32)
    except ValueError:
        raise param.damaged(f"has the base_score {brief(repr(text))}, which is no number") from None
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
    for part, of in zip(parts, group.tolist(), strict=True):
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
    columns = list(model.part("cats").parts("enc"))
    if len(columns) not in (0, width):
        raise model.damaged(f"stores categories of {len(columns)} columns out of {width}")
    for j, column in enumerate(columns):
        if not column.has("offsets"):
            values = column.indices("values", None, -(2**62), 2**62)
            found[j] = tuple(values.tolist())
            continue
        ends = column.indices("offsets", None, 0)
        data = bytes((column.indices("values", None, -128, 255) & 0xFF).astype(np.uint8))
        if ends.size and (ends[0] != 0 or ends[-1] != len(data) or (np.diff(ends) < 0).any()):
            raise column.damaged("has texts that do not fit to their lengths")
        try:
            texts = tuple(data[a:b].decode("utf-8") for a, b in pairwise(ends.tolist()))
        except UnicodeDecodeError:
            raise column.damaged("has a category that is not UTF-8") from None
        if texts:
            found[j] = texts
    if any(len(set(values)) != len(values) for values in found.values()):
        raise model.damaged("has a category twice")
    return found
