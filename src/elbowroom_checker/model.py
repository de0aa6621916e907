"""The model of a file: trees or weights, how its scores become a class, and how far its own arithmetic may stray."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from elbowroom_checker.reading import index, indices, kind, need, number, numbers, part

MOST: Final = 1_000_000  # scores of all nodes
DEEPEST: Final = 1000  # nodes on the way to a leaf
RULES: Final = ("POSITIVE", "NONNEGATIVE", "ARGMAX")
ABOUT: Final = ("source", "fingerprint")


@dataclass(frozen=True)
class Trees:
    """Node i is a leaf if feature[i] < 0. Otherwise x goes left iff x[feature[i]] <= cut[i]. Nodes may have several parents,
    and children come after them."""

    feature: list[int]
    left: list[int]
    right: list[int]
    cut: list[float]
    value: list[list[float]]  # of a leaf, one per score
    roots: list[int]
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

    @cached_property
    def columns(self) -> list[tuple[float, ...]]:
        return list(zip(*self.weight, strict=True))

    @cached_property
    def largest(self) -> float:
        return max(abs(w) for row in (*self.weight, self.bias) for w in row)


@dataclass(frozen=True)
class Model:
    """``parts``: trees, or maps of which all but the last one are followed by ReLUs (a linear model has one)."""

    names: list[str]
    classes: list[str]
    rule: str
    link: str
    source: str  # what was read, for people
    link_single: bool
    fused_products: bool
    ties_last: bool
    threshold: float
    evaluation_error: float
    parts: Trees | list[Affine]


def read_model(file: dict[str, Any]) -> Model:
    need(part(file, "format") == "elbowroom model" and part(file, "version") == 2, "no model file of version 2")
    names, classes = ([kind(x, str, key) for x in kind(part(file, key), list, key)] for key in ("names", "classes"))
    rule, link, family, *of = (kind(part(file, key), str, key) for key in ("rule", "link", "family", *ABOUT))
    single, fused, ties = (kind(part(file, key), bool, key) for key in ("link_single", "fused_products", "ties_last"))
    threshold, error = (number(part(file, key), key) for key in ("threshold", "evaluation_error"))
    n, n_scores = len(names), len(classes) if rule == "ARGMAX" else 1
    need(0 < len(set(names)) == n <= 20_000, "names: none, one twice, or too many")
    need(rule in RULES, f"the rule {rule!r} is unknown to this checker")
    need(len(classes) == 2 or n_scores > 2, "the number of classes does not fit the rule")
    need(error >= 0.0 and (rule != "ARGMAX" or threshold == 0.0), "a negative error, or a threshold of several scores")
    need(family in ("trees", "linear", "network"), f"models of the family {family!r} are unknown to this checker")
    parts = _trees(part(file, "trees"), n, n_scores) if family == "trees" else _maps(part(file, family), n, n_scores)
    source = "{!r} with fingerprint {!r}".format(*of)
    return Model(names, classes, rule, link, source, single, fused, ties, threshold, error, parts)


def _trees(of: Any, n: int, n_scores: int) -> Trees:
    names = ("feature", "left", "right", "cut", "value")
    feature, left, right, cut, value = columns = [kind(part(of, key), list, key) for key in names]
    size = len(feature)
    need(0 < size * n_scores <= MOST, f"trees: none, or more than {MOST} scores of nodes")
    need(all(len(each) == size for each in columns), "trees: lists of different lengths")
    depth = [0] * size
    for i, f in enumerate(feature):
        if f == -1:
            numbers(value[i], n_scores, "value")
            need(left[i] == right[i] == -1, "a leaf has children")
            continue
        index(f, n, "feature")
        for child in (index(left[i], size, "left"), index(right[i], size, "right")):
            need(child > i, "trees: a child comes before its parent")
            depth[child] = max(depth[child], depth[i] + 1)
            need(depth[child] <= DEEPEST, f"a tree is deeper than {DEEPEST} nodes")
    cuts = [float(each) if each in ("inf", "-inf") else number(each, "cut") for each in cut]
    roots, divisor = indices(part(of, "roots"), size, "roots"), number(part(of, "divisor"), "divisor")
    need(bool(roots) and divisor > 0.0, "there is no tree, or divisor is not positive")
    base, single = numbers(part(of, "base"), n_scores, "base"), kind(part(of, "single"), bool, "single")
    return Trees(feature, left, right, cuts, value, roots, base, divisor, single)


def _maps(of: Any, n: int, n_scores: int) -> list[Affine]:
    """A linear model, or the layers of a network."""
    layers = of if isinstance(of, list) else [of]
    need(isinstance(of, dict) or len(layers) >= 2, "a network without a hidden layer")
    found: list[Affine] = []
    for k, each in enumerate(layers):
        size = n_scores if k == len(layers) - 1 else len(kind(part(each, "bias"), list, "bias"))
        need(0 < size <= MOST, "a layer without neurons, or with too many")
        rows, slopes = (kind(part(each, key), list, key, size) for key in ("weight", "error_slope"))
        weight, slope = ([numbers(row, n, "a row") for row in table] for table in (rows, slopes))
        bias, errors = (numbers(part(each, key), size, key) for key in ("bias", "error_constant"))
        limits = None if part(each, "range_slope") is None else numbers(each["range_slope"], n, "range_slope", 0.0)
        need(min(min(map(min, slope)), *errors) >= 0.0, "the error of a layer is negative")
        constant = number(part(each, "range_constant"), "range_constant", 0.0)
        found.append(Affine(weight, bias, slope, errors, limits, constant))
        n = size
    return found
