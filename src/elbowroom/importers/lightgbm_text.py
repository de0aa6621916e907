"""LightGBM's text format, as written by ``save_model`` and ``model_to_string``: every index is checked before it is followed.

A header, blocks ``Tree=0``, ``Tree=1``, ... of named arrays, "end of trees", and, in the last line, the categories of pandas
columns. LightGBM itself follows the indices of a damaged file out of its arrays: nothing reaches it that was not checked here.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np

from elbowroom.disk import read_whole
from elbowroom.errors import InputError
from elbowroom.importers.lightgbm_model import CATEGORIES, NAN_IS_MISSING, TextModel, TextTree
from elbowroom.numerics import Bools

_WHOLE = re.compile(r"-?[0-9]{1,10}(?: -?[0-9]{1,10})*")
_DECIMAL = re.compile(r"-?(?:[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][-+]?[0-9]{1,4})?|inf)")
_DECIMALS = re.compile(rf"{_DECIMAL.pattern}(?: {_DECIMAL.pattern})*")
_HEADER = {
    "version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx", "objective", "feature_names",
    "feature_infos", "monotone_constraints", "tree_sizes",
}  # fmt: skip
_SPLITS_WHOLE = ("split_feature", "decision_type", "left_child", "right_child")  # these decide the label,
_ARRAYS = (
    "split_gain",
    "leaf_weight",
    "leaf_count",
    "internal_value",
    "internal_weight",
    "internal_count",
)  # these do not
_TREE = {
    "Tree", "num_leaves", "num_cat", "threshold", "leaf_value", "cat_boundaries", "cat_threshold", "is_linear", "shrinkage",
    "leaf_const", "num_features", "leaf_features", "leaf_coeff", *_SPLITS_WHOLE, *_ARRAYS,
}  # fmt: skip
_KEPT = ("num_leaves", "num_cat", *_SPLITS_WHOLE, "threshold", "leaf_value", "cat_boundaries", "cat_threshold")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")
_NO_NUMBER = ("nan", "-nan")  # in arrays that decide nothing
_VERSIONS = ("v2", "v3", "v4")
_INFO = re.compile(r"none|\[[-+.0-9a-z]+:[-+.0-9a-z]+\]|-?[0-9]{1,10}(?::-?[0-9]{1,10})*")  # never used, a range, codes
_LONGEST = 60  # characters of a damaged value that are quoted
MOST_BYTES: Final = 2_000_000_000


class LightGBMFile:
    """A text file with a LightGBM model. Nothing in it is run; the library is handed the lines that were checked."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            text = read_whole(self.path, MOST_BYTES).decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{path}: this is no text in UTF-8, hence no LightGBM model") from None
        self.model = parse(text, str(path))
        self.booster: Any = None  # made by `lightgbm_trees`, if the library is there

    def __repr__(self) -> str:
        return f"LightGBMFile({str(self.path)!r})"


def parse(text: str, source: str) -> TextModel:
    """The model of a text; `InputError` for anything that LightGBM would not have written."""
    body, end, rest = text.partition("\nend of trees\n")
    rest = rest.replace("\r\n", "\n")  # Python's own last line, on Windows
    control = _CONTROL.search(body + rest)
    if control is not None:
        _damaged(source, f"it holds the character {control[0]!r} (were line ends changed?)")
    head, *blocks = body.split("\nTree=")
    first, _, lines = head.partition("\n")
    if first.strip() != "tree" or not end or not blocks:
        raise InputError(
            f"{source}: this is no whole LightGBM model: it starts with 'tree', holds trees and says 'end of trees' after "
            "them; save it again with booster.save_model(path)"
        )
    average = "average_output" in lines.split("\n")
    header = _pairs(lines.replace("\naverage_output\n", "\n", 1), _HEADER, source)
    names, infos = header.get("feature_names", "").split(" "), header.get("feature_infos", "").split(" ")
    counts = ("max_feature_idx", "num_tree_per_iteration", "num_class", "label_index")
    n_features, n_scores, n_classes, _ = (_count(header, key, source) for key in counts)
    n_features += 1
    if len(names) != n_features or len(infos) != n_features or "" in names:
        _damaged(source, f"{len(names)} feature_names and {len(infos)} feature_infos for {n_features} columns")
    if not all(_INFO.fullmatch(info) for info in infos) or len(set(names)) != n_features:
        _damaged(source, "feature_infos are no ranges or codes, or two columns have the same name")
    if header.get("version") not in _VERSIONS:
        raise InputError(
            f"{source}: version={header.get('version')!r}; known are {', '.join(_VERSIONS)}: save the model with LightGBM 4"
        )
    if not n_scores or len(blocks) % n_scores or n_classes != n_scores:
        _damaged(source, f"{len(blocks)} trees for num_tree_per_iteration={n_scores}, num_class={n_classes}")
    if "tree_sizes" in header:
        sizes = [len(f"Tree={block}\n".encode()) for block in blocks]
        if _array(header, "tree_sizes", len(blocks), source).tolist() != sizes:
            _damaged(source, "tree_sizes are not the sizes of the trees (were line ends changed?)")
    trees = tuple(_tree(f"Tree={block}", k, n_features, f"{source}, tree {k}") for k, block in enumerate(blocks))
    objective, categories = header.get("objective", ""), _categories(rest, source)
    asked = _sets_asked(rest, n_features)
    version = header["version"]
    return TextModel(version, tuple(names), tuple(infos), objective, n_scores, average, asked, categories, trees)


def _tree(block: str, number: int, n_features: int, where: str) -> TextTree:
    if not block.endswith("\n"):
        _damaged(where, "no empty line comes after it, where the library stops reading it")
    pairs = _pairs(block, _TREE, where)
    if pairs.get("is_linear", "0") != "0":
        raise InputError(
            f"{where}: its leaves are linear functions (linear_tree=True), not numbers; fit with linear_tree=False"
        )
    n_leaves, n_sets = _count(pairs, "num_leaves", where), _count(pairs, "num_cat", where)
    if _count(pairs, "Tree", where) != number or not n_leaves:
        _damaged(where, f"it has the number {pairs['Tree']} and num_leaves={n_leaves}")
    n_splits = n_leaves - 1
    feature, decision, left, right = (_array(pairs, key, n_splits, where) for key in _SPLITS_WHOLE)
    threshold, value = (
        _array(pairs, "threshold", n_splits, where, False),
        _array(pairs, "leaf_value", n_leaves, where, False),
    )
    for key in (*_ARRAYS, "shrinkage"):
        words = pairs[key].split(" ") if pairs.get(key) else []
        length = 1 if key == "shrinkage" else n_leaves if key.startswith("leaf") else n_splits
        if words and (len(words) != length or not all(_DECIMAL.fullmatch(w) or w in _NO_NUMBER for w in words)):
            _damaged(where, f"{key}={pairs[key][:_LONGEST]} is no list of {length} numbers")
    children = np.concatenate([left, right])
    parents = np.tile(np.arange(n_splits), 2)
    in_range = (children >= -n_leaves) & (children < n_splits) & ((children < 0) | (children > parents))
    if not in_range.all() or np.unique(children).size != children.size:
        _damaged(where, "its children do not form a tree")
    if not ((feature >= 0) & (feature < n_features)).all():
        _damaged(where, f"it splits a column that is not among the {n_features} columns of the model")
    if not ((decision >= 0) & (decision >> 2 <= NAN_IS_MISSING)).all():
        _damaged(where, f"decision_type={pairs['decision_type'][:_LONGEST]}")
    sets = _sets(pairs, n_sets, where)
    asked = threshold[decision & 1 > 0]
    if not ((asked >= 0) & (asked < n_sets) & (asked == np.floor(asked))).all():
        _damaged(where, "a split by a set of codes names no set")
    kept = "\n".join(f"{key}={pairs[key]}" for key in _KEPT if key in pairs)
    return TextTree(feature, threshold, decision, left, right, value, sets, f"{kept}\nis_linear=0\nshrinkage=1")


def _sets(pairs: dict[str, str], count: int, where: str) -> tuple[Bools, ...]:
    """Words cat_boundaries[s] : cat_boundaries[s + 1] of cat_threshold are the bits of set s, 32 in a word."""
    if not count:
        return ()
    bounds = _array(pairs, "cat_boundaries", count + 1, where)
    if bounds[0] != 0 or (np.diff(bounds) <= 0).any():
        _damaged(where, f"cat_boundaries={pairs['cat_boundaries'][:_LONGEST]}")
    words = _array(pairs, "cat_threshold", int(bounds[-1]), where)
    if ((words < 0) | (words >= 2**32)).any():
        _damaged(where, f"cat_threshold={pairs['cat_threshold'][:_LONGEST]}")
    bits = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little").astype(np.bool_)
    return tuple(bits[32 * a : 32 * b] for a, b in pairwise(bounds.tolist()))


def _categories(rest: str, source: str) -> list[list[Any]] | None:
    """The last line; a file that was not saved from Python has none."""
    lines = [line for line in rest.split("\n") if line.strip()]
    told = [line for line in lines if line.startswith(CATEGORIES)]
    if not told:
        return None
    try:
        found = json.loads(told[0].removeprefix(CATEGORIES)) if told == lines[-1:] else "not in the last line"
    except (ValueError, RecursionError):
        found = told[0]
    if found is None or (isinstance(found, list) and all(isinstance(c, list) and _are_labels(c) for c in found)):
        return found or None
    return _damaged(source, f"the categories of pandas columns: {str(found)[:_LONGEST]}")


def _are_labels(column: list[Any]) -> bool:
    """Different texts, truth values and finite numbers."""
    plain = all(isinstance(label, (str, int)) or (isinstance(label, float) and isfinite(label)) for label in column)
    return plain and len(set(column)) == len(column)


def _sets_asked(rest: str, n_features: int) -> tuple[int, ...] | None:
    """Columns of the parameter categorical_feature, if it is there and lists numbers."""
    found = re.search(r"^\[categorical_feature: ([0-9,]*)\]$", rest, re.MULTILINE)
    if found is None:
        return None
    columns = tuple(sorted({int(number) for number in found[1].split(",") if 0 < len(number) < 10}))
    return columns if not columns or columns[-1] < n_features else None


def _pairs(text: str, known: set[str], where: str) -> dict[str, str]:
    """Lines ``key=value``; empty ones at the end only, where the library stops reading."""
    pairs: dict[str, str] = {}
    for line in text.rstrip("\n").split("\n"):
        key, equals, value = line.partition("=")
        if not equals or key not in known or key in pairs:
            why = "twice" if key in pairs else "which this reader does not know there"
            _damaged(where, f"it holds the line {line[:_LONGEST]!r}, {why}")
        pairs[key] = value
    return pairs


def _count(pairs: dict[str, str], key: str, where: str) -> int:
    number = int(_array(pairs, key, 1, where)[0])
    return number if number >= 0 else _damaged(where, f"{key}={number}")


def _array(pairs: dict[str, str], key: str, length: int, where: str, whole: bool = True) -> Any:
    """``length`` numbers, int64 if ``whole``, else float64; only a threshold may be infinite (it parts numbers from NaN)."""
    text = pairs.get(key)
    if text is None:
        _damaged(where, f"it lacks {key}")
    words = text.split(" ") if text else []
    if len(words) != length or (words and not (_WHOLE if whole else _DECIMALS).fullmatch(text)):
        _damaged(where, f"{key}={text[:_LONGEST]} is no list of {length} numbers")
    numbers = np.array([int(word) if whole else float(word) for word in words], dtype=np.int64 if whole else np.float64)
    if key != "threshold" and not np.isfinite(numbers).all():
        _damaged(where, f"{key} holds an infinite number")
    return numbers


def _damaged(where: str, what: str) -> NoReturn:
    raise InputError(f"{where}: {what}; the model is damaged: save it again with booster.save_model(path)")
