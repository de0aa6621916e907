"""What a JSON model of CatBoost says about everything but its trees: what follows the sum, the loss, the classes."""

from __future__ import annotations

import math
import re
from typing import Any, Final

import numpy as np

from elbowroom.importers.catboost_checks import items, number, one_of, refuse, table
from elbowroom.numerics import Floats

_LABELS: Final[dict[str, tuple[type, ...]]] = {
    "Integer": (int,), "Float": (int, float), "String": (str,), "Boolean": (bool,),
}  # fmt: skip
_WORD: Final = re.compile(r"[\w.+-]{0,60}", re.ASCII)


def scale_and_bias_of(given: object) -> tuple[float, Floats]:
    pair = items(given, "scale_and_bias")
    if len(pair) != 2:
        refuse("scale_and_bias", f"holds {len(pair)} entries")
    bias = pair[1] if isinstance(pair[1], list) else [pair[1]]
    if not bias:
        refuse("scale_and_bias[1]", "is empty")
    return number(pair[0], "scale_and_bias[0]"), np.array([number(b, "scale_and_bias[1]") for b in bias])


def loss_of(info: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """Name and parameters of the loss: plain words and numbers."""
    where = "model_info.params.loss_function"
    params = table(info.get("params", {}), "model_info.params")
    loss = table(params.get("loss_function", {}), where)
    given = {k: v for k, v in table(loss.get("params", {}), f"{where}.params").items() if not k.startswith("__")}
    words = [str(loss.get("type", "")), *given, *map(str, given.values())]
    if not all(_WORD.fullmatch(word) for word in words):
        refuse(where, f"is {loss!r}")
    return words[0], {key: str(value) for key, value in given.items()}


def threshold_of(info: dict[str, Any]) -> float:
    text = info.get("binclass_probability_threshold", "0.5")
    try:
        threshold = float(text)
    except (TypeError, ValueError):
        threshold = math.nan
    if not 0.0 < threshold < 1.0:
        refuse("model_info.binclass_probability_threshold", f"is {text!r}")
    return threshold


def class_params_of(info: dict[str, Any], scores: int) -> dict[str, Any] | None:
    """Names and kind of the classes; the library counts them 0, 1, ... itself."""
    if info.get("class_params") is None:
        return None
    given, where = table(info["class_params"], "model_info.class_params"), "model_info.class_params"
    names = items(given.get("class_names", []), f"{where}.class_names")
    kind = one_of(_LABELS, given.get("class_label_type", "Integer"), f"{where}.class_label_type")
    if any(type(name) not in _LABELS[kind] for name in names):
        refuse(f"{where}.class_names", f"are no labels of the kind {kind!r}")
    order = items(given.get("class_to_label", []), f"{where}.class_to_label")
    count = max(scores, 2)
    if len(set(names)) != len(names) or len(names) not in (0, count) or order != list(range(count)):
        refuse(where, f"does not name {count} classes")
    return {"class_label_type": kind, "class_names": names, "class_to_label": order, "classes_count": 0}
