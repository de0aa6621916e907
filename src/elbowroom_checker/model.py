"""The model of a file: trees or weights, how its scores become a class, and how far its own arithmetic may stray."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from elbowroom_checker.reading import index, indices, kind, need, number, numbers, part

MOST: Final = 1_000_000  # scores of all nodes
DEEPEST: Final = 1000  # nodes on the way to a leaf
TEXTS: Final = ("rule", "family", "link", "source", "fingerprint")
FLAGS: Final = ("link_single", "fused_products", "ties_last")


@dataclass(frozen=True)
class Trees:
    """Node i is a leaf if feature[i] < 0. Otherwise x goes left iff x[feature[i]] <= cut[i]. Nodes may have several parents."""

    roots: list[int]
    feature: list[int]
    cut: list[float]
    left: list[int]
    right: list[int]
    value: list[list[float]]  # of a leaf, one per score
    base: list[float]
    divisor: float
    single: bool  # the original adds up in float32


@dataclass(frozen=True)
class Affine:
    """W x + b; the original's values are within error_slope |x| + error_constant of these, wherever
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
    family: str
    link: str
    source: str
    fingerprint: str
    link_single: bool
    fused_products: bool
    ties_last: bool
    threshold: float
    evaluation_error: float
    parts: Trees | Affine | list[Affine]


def read_model(file: dict[str, Any]) -> Model:
    need(part(file, "format") == "elbowroom model" and part(file, "version") == 2, "no model file of version 2")
    lists: dict[str, Any] = {
        key: [kind(x, str, key) for x in kind(part(file, key), list, key)] for key in ("names", "classes")
    }
    n, n_classes = len(lists["names"]), len(lists["classes"])
    need(0 < len(set(lists["names"])) == n <= 20_000, "names: none, one twice, or too many")
    texts: dict[str, Any] = {key: kind(part(file, key), str, key) for key in TEXTS}
    flags: dict[str, Any] = {key: kind(part(file, key), bool, key) for key in FLAGS}
    rule, family = texts["rule"], texts["family"]
    need(rule in ("POSITIVE", "NONNEGATIVE", "ARGMAX"), f"the rule {rule!r} is unknown to this checker")
    need(family in READERS, f"models of the family {family!r} are unknown to this checker")
    need(n_classes == 2 or (rule == "ARGMAX" and n_classes > 2), "the number of classes does not fit the rule")
    n_scores = n_classes if rule == "ARGMAX" else 1
    threshold = number(part(file, "threshold"), "threshold")
    need(rule != "ARGMAX" or threshold == 0.0, "a threshold needs a single score")
    return Model(
        **lists,
        **texts,
        **flags,
        threshold=threshold,
        evaluation_error=number(part(file, "evaluation_error"), "evaluation_error", 0.0),
        parts=READERS[family](part(file, family), n, n_scores),
    )


def _trees(of: Any, n: int, n_scores: int) -> Trees:
    feature = kind(part(of, "feature"), list, "feature")
    size = len(feature)
    need(0 < size * n_scores <= MOST, f"trees: none, or more than {MOST} scores of nodes")
    need(all(type(f) is int and -1 <= f < n for f in feature), "feature: not a column")
    cut, left, right, value = columns = [part(of, key) for key in ("cut", "left", "right", "value")]
    need(all(type(c) is list and len(c) == size for c in columns), "trees: lists of different lengths")
    roots = indices(part(of, "roots"), size, "roots")
    need(bool(roots), "there is no tree")
    depth = [0] * size
    for i, f in enumerate(feature):
        if f < 0:
            numbers(value[i], n_scores, "value")
            need(left[i] == right[i] == -1, "a leaf has children")
            continue
        for child in (index(left[i], size, "left"), index(right[i], size, "right")):
            need(child > i, "trees: a child comes before its parent")
            depth[child] = max(depth[child], depth[i] + 1)
            need(depth[child] <= DEEPEST, f"a tree is deeper than {DEEPEST} nodes")
    cuts = [float(each) if each in ("inf", "-inf") else number(each, "cut") for each in cut]
    divisor = number(part(of, "divisor"), "divisor")
    need(divisor > 0.0, "divisor is not positive")
    base, single = numbers(part(of, "base"), n_scores, "base"), kind(part(of, "single"), bool, "single")
    return Trees(roots, feature, cuts, left, right, value, base, divisor, single)


def affine(of: Any, n: int, n_out: int) -> Affine:
    rows = {key: kind(part(of, key), list, key) for key in ("weight", "error_slope")}
    need(all(len(each) == n_out for each in rows.values()), "weights: not one row per output")
    limits = part(of, "range_slope")
    return Affine(
        [numbers(row, n, "weight") for row in rows["weight"]],
        numbers(part(of, "bias"), n_out, "bias"),
        [numbers(row, n, "error_slope", 0.0) for row in rows["error_slope"]],
        numbers(part(of, "error_constant"), n_out, "error_constant", 0.0),
        None if limits is None else numbers(limits, n, "range_slope", 0.0),
        number(part(of, "range_constant"), "range_constant", 0.0),
    )


def _network(of: Any, n: int, n_scores: int) -> list[Affine]:
    """One map per layer; all but the last one are followed by ReLUs."""
    need(len(kind(of, list, "network")) >= 2, "a network without a hidden layer")
    found: list[Affine] = []
    for k, each in enumerate(of):
        size = n_scores if k == len(of) - 1 else len(kind(part(each, "bias"), list, "bias"))
        need(0 < size <= MOST, "a layer without neurons, or with too many")
        found.append(affine(each, n, size))
        n = size
    return found


READERS: Final[dict[str, Callable[[Any, int, int], Any]]] = {"trees": _trees, "linear": affine, "network": _network}
