"""The model of a file: trees or weights, how its scores become a class, and how far its own arithmetic may stray."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from elbowroom_checker.reading import flag, index, indices, listed, need, not_negative, number, numbers, part, text

VERSION: Final = 1
RULES: Final = ("POSITIVE", "NONNEGATIVE", "ARGMAX")
MOST: Final = 1_000_000  # scores of all nodes
DEEPEST: Final = 1000  # nodes on the way to a leaf


@dataclass(frozen=True)
class Trees:
    """Node i is a leaf if feature[i] < 0. Otherwise x goes left iff x[feature[i]] <= cut[i]; with n columns, feature n + s is
    split s by category: x goes right iff some column of ``sets[s]`` is above 1/2."""

    roots: list[int]
    feature: list[int]
    cut: list[float]
    left: list[int]
    right: list[int]
    value: list[list[float]]  # of a leaf, one per score
    base: list[float]
    divisor: float
    single: bool  # the original adds up in float32
    sets: list[frozenset[int]]


@dataclass(frozen=True)
class Linear:
    """scores = W x + b; the original's are within error_slope |x| + error_constant of these, for every score, wherever
    range_slope |x| + range_constant <= 1 (None: everywhere)."""

    weight: list[list[float]]
    bias: list[float]
    error_slope: list[list[float]]
    error_constant: list[float]
    range_slope: list[float] | None
    range_constant: float


@dataclass(frozen=True)
class Model:
    names: list[str]
    classes: list[str]
    rule: str
    threshold: float
    link: str
    link_single: bool
    evaluation_error: float
    fused_products: bool
    ties_last: bool
    source: str
    fingerprint: str
    parts: Trees | Linear

    @property
    def n_scores(self) -> int:
        return len(self.parts.base if isinstance(self.parts, Trees) else self.parts.bias)


def read_model(file: dict[str, Any]) -> Model:
    need(part(file, "format") == "elbowroom model" and part(file, "version") == VERSION, "no model file of version 1")
    names, classes = part(file, "names"), part(file, "classes")
    for what, texts in (("names", names), ("classes", classes)):
        for each in listed(texts, what):
            text(each, what)
    need(0 < len(set(names)) == len(names) <= 20_000, "names: none, one twice, or too many")
    rule, family = part(file, "rule"), part(file, "family")
    need(rule in RULES, f"the rule {rule!r} is unknown to this checker")
    need(family in ("trees", "linear"), f"models of the family {family!r} are unknown to this checker")
    n_scores = len(classes) if rule == "ARGMAX" else 1
    need(len(classes) == 2 or (rule == "ARGMAX" and len(classes) > 2), "the number of classes does not fit the rule")
    parts = _trees(part(file, "trees"), len(names), n_scores) if family == "trees" else None
    threshold, error = number(part(file, "threshold"), "threshold"), number(part(file, "evaluation_error"), "error")
    need(error >= 0.0, "evaluation_error is negative")
    need(rule != "ARGMAX" or threshold == 0.0, "a threshold needs a single score")
    return Model(
        names,
        classes,
        rule,
        threshold,
        text(part(file, "link"), "link"),
        flag(part(file, "link_single"), "link_single"),
        error,
        flag(part(file, "fused_products"), "fused_products"),
        flag(part(file, "ties_last"), "ties_last"),
        text(part(file, "source"), "source"),
        text(part(file, "fingerprint"), "fingerprint"),
        parts or _linear(part(file, "linear"), len(names), n_scores),
    )


def _trees(of: Any, n: int, n_scores: int) -> Trees:
    feature = part(of, "feature")
    need(0 < len(listed(feature, "feature")) * n_scores <= MOST, f"trees: none, or more than {MOST} scores of nodes")
    size = len(feature)
    sets = listed(part(of, "sets"), "sets")
    right_sets = [frozenset(indices(part(each, "right"), n, "right")) for each in sets]
    need(all(type(f) is int and -1 <= f < n + len(sets) for f in feature), "feature: not a column")
    columns = {key: part(of, key) for key in ("cut", "left", "right", "value")}
    need(all(isinstance(c, list) and len(c) == size for c in columns.values()), "trees: lists of different lengths")
    cut = [_cut(value) for value in columns["cut"]]
    left, right, value = columns["left"], columns["right"], columns["value"]
    roots = indices(part(of, "roots"), size, "roots")
    need(bool(roots), "there is no tree")
    seen, depth = set(roots), [0] * size
    for i, f in enumerate(feature):
        if f < 0:
            numbers(value[i], n_scores, "value")
            need(left[i] == right[i] == -1, "a leaf has children")
            continue
        need(value[i] == [], "a split has a value")
        for child in (index(left[i], size, "left"), index(right[i], size, "right")):
            need(child > i and child not in seen, "trees: a node has two parents, or its child comes before it")
            seen.add(child)
            depth[child] = depth[i] + 1
            need(depth[child] <= DEEPEST, f"a tree is deeper than {DEEPEST} nodes")
    divisor = number(part(of, "divisor"), "divisor")
    need(divisor > 0.0, "divisor is not positive")
    base = numbers(part(of, "base"), n_scores, "base")
    single = flag(part(of, "single"), "single")
    return Trees(roots, feature, cut, left, right, value, base, divisor, single, right_sets)


def _cut(value: Any) -> float:
    if value in ("inf", "-inf"):
        return math.inf if value == "inf" else -math.inf
    return number(value, "cut")


def _linear(of: Any, n: int, n_scores: int) -> Linear:
    rows = {key: part(of, key) for key in ("weight", "error_slope")}
    need(all(isinstance(r, list) and len(r) == n_scores for r in rows.values()), "linear: not one row per score")
    limits = part(of, "range_slope")
    return Linear(
        [numbers(row, n, "weight") for row in rows["weight"]],
        numbers(part(of, "bias"), n_scores, "bias"),
        [not_negative(row, n, "error_slope") for row in rows["error_slope"]],
        not_negative(part(of, "error_constant"), n_scores, "error_constant"),
        None if limits is None else not_negative(limits, n, "range_slope"),
        number(part(of, "range_constant"), "range_constant"),
    )
