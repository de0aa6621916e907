"""Random questions without an answer, and the truth about every smaller question, found by looking at everything.

A `Spec` lists what is asked, part by part. `Spec.only` keeps some parts; `Spec.has_answer` decides by itself whether the
question has an answer: on a grid of whole numbers for trees and networks (beyond their cuts trees are constant, so a finite
grid is enough), in closed form for a linear model. Nothing of `problem.parts` or of any engine is used for that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TypeAlias

import numpy as np

from elbowroom import (
    AtMost,
    Box,
    Explainer,
    Feature,
    Group,
    LinearRule,
    NoRegion,
    Part,
    PartKind,
    Region,
    Space,
    Status,
)
from elbowroom.models import LinearModel, Model
from elbowroom.problem import Rule
from elbowroom.problem.parts import Side
from tests.support.hostile import attack
from tests.support.linear_problems import linear_model
from tests.support.small_models import random_trees
from tests.support.small_networks import network

Key: TypeAlias = tuple[str, ...]
REACH = 12  # cuts lie within 4 of 0, rooms reach 2: farther out nothing changes


def key_of(part: Part) -> Key:
    """The part in the words of a `Spec`."""
    match part.kind:
        case PartKind.BOUND:
            return ("bound", part.name, "lower" if part.side is Side.AT_LEAST else "upper")
        case PartKind.CATEGORY:
            return ("category", str(part.columns[0]))
        case PartKind.ROOM:
            return ("room",)
        case _:
            return (part.kind.name.lower(), part.name)


@dataclass(frozen=True, eq=False)
class Spec:
    """``kinds``: of the single columns; a group of ``group`` columns may follow them."""

    model: Model
    kinds: tuple[str, ...]
    group: int
    row: np.ndarray
    target: int
    parts: dict[Key, object] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return self.model.info.names

    def only(self, keys: Iterable[Key]) -> Spec:
        wanted = set(keys)
        assert wanted <= set(self.parts), "a part that was never asked"
        return replace(self, parts={key: value for key, value in self.parts.items() if key in wanted})

    # ---- as a user would ask ----------------------------------------------------------------------------------------
    def ask(self) -> tuple[Explainer, dict[str, object]]:
        features = [
            Feature(
                name,
                kind,
                self.parts.get(("bound", name, "lower"), -math.inf),
                self.parts.get(("bound", name, "upper"), math.inf),
                immutable=("frozen", name) in self.parts,
                direction=self.parts.get(("direction", name), "any"),
            )
            for name, kind in zip(self.names, self.kinds, strict=False)
        ]
        members = self.names[len(self.kinds) :]
        for f, name in enumerate(members, len(self.kinds)):
            upper = 0.0 if ("category", str(f)) in self.parts else 1.0
            features.append(Feature(name, "binary", upper=upper, immutable=("frozen", "g") in self.parts))
        groups = (Group("g", members),) if members else ()
        rules: list[Rule] = []
        if ("rule", "AtMost") in self.parts:
            rules.append(AtMost(self.parts["rule", "AtMost"]))  # type: ignore[arg-type]
        if ("rule", "LinearRule") in self.parts:
            name, most = self.parts["rule", "LinearRule"]  # type: ignore[misc]
            rules.append(LinearRule({name: 1.0}, high=most))
        freedom = {"g": "any"} if ("categories", "g") in self.parts else None
        room = Box(self.parts.get(("room",), 0.0), categories=freedom)  # type: ignore[arg-type]
        question = {"row": self.row, "room": room, "target": self.target, "rules": rules}
        return Explainer(self.model, Space(tuple(features), groups)), question

    # ---- the truth --------------------------------------------------------------------------------------------------
    def has_answer(self) -> bool:
        return self._linear() if isinstance(self.model, LinearModel) else self._grid()

    def limits(self, f: int) -> tuple[float, float]:
        name, x = self.names[f], float(self.row[f])
        low, high = (0.0, 1.0) if self.kinds[f] == "binary" else (-math.inf, math.inf)
        low = max(low, self.parts.get(("bound", name, "lower"), low))  # type: ignore[type-var]
        high = min(high, self.parts.get(("bound", name, "upper"), high))  # type: ignore[type-var]
        low = max(low, x) if self.parts.get(("direction", name)) == "increasing" else low
        high = min(high, x) if self.parts.get(("direction", name)) == "decreasing" else high
        return (x, x) if ("frozen", name) in self.parts else (low, high)

    def _radius(self) -> float:
        return float(self.parts.get(("room",), 0.0))  # type: ignore[arg-type]

    def _grid(self) -> bool:
        """Every centre with every point of its room."""
        single, radius = len(self.kinds), math.floor(self._radius())
        axes = [np.arange(0, 2) if kind == "binary" else np.arange(-REACH, REACH + 1) for kind in self.kinds]
        shape = [len(axis) for axis in axes] + ([self.group] if self.group else [])
        index = np.indices(shape).reshape(len(shape), -1)
        points = np.zeros((index.shape[1], len(self.names)))
        for f, axis in enumerate(axes):
            points[:, f] = axis[index[f]]
        if self.group:
            points[:, single:] = np.eye(self.group)[index[single]]
        good = (self.model.info.labels_of(self.model.scores(points)) == self.target).reshape(shape)
        changed = np.zeros(shape, dtype=int)
        for f, axis in enumerate(axes):
            low, high = self.limits(f)
            window = [
                (axis >= max(c - radius, low)) & (axis <= min(c + radius, high)) if low <= c <= high else None
                for c in axis
            ]
            good, moved = _eroded(good, f, window), axis != self.row[f]
            changed += moved.reshape([-1 if i == f else 1 for i in range(len(shape))])
        if self.group:
            good, moved = self._group_axis(good, single)
            changed = changed + moved
        most = self.parts.get(("rule", "AtMost"), len(shape))
        return bool((good & (changed <= most)).any())  # type: ignore[operator]

    def _group_axis(self, good: np.ndarray, single: int) -> tuple[np.ndarray, np.ndarray]:
        now = int(np.argmax(self.row[single:]))
        allowed = np.array([("category", str(single + c)) not in self.parts for c in range(self.group)])
        if ("frozen", "g") in self.parts:  # the room keeps it, too
            allowed = np.arange(self.group) == now
        if ("categories", "g") in self.parts:
            window = [allowed if allowed[c] else None for c in range(self.group)]
        else:
            window = [np.arange(self.group) == c if allowed[c] else None for c in range(self.group)]
        return _eroded(good, good.ndim - 1, window), np.arange(self.group) != now

    def _linear(self) -> bool:
        """The best margin: each column moves to where the worst point of its room is best, the most useful ones first."""
        assert isinstance(self.model, LinearModel)
        sign = 1.0 if self.target == 1 else -1.0
        weights, margin = sign * self.model.affine.weight[0], sign * float(self.model.affine.bias[0])
        gains = []
        for f, w in enumerate(weights):
            low, high = self.limits(f)
            ceiling = math.inf
            if ("rule", "LinearRule") in self.parts and self.parts["rule", "LinearRule"][0] == self.names[f]:  # type: ignore[index]
                ceiling = self.parts["rule", "LinearRule"][1]  # type: ignore[index]
            stay = self._worst(w, self.row[f], low, high)
            best = self._worst(w, min(high, ceiling) if w > 0 else low, low, high)
            margin += stay
            gains.append(best - stay)
        most = self.parts.get(("rule", "AtMost"), len(gains))
        return margin + sum(sorted(gains, reverse=True)[:most]) > 0.0  # type: ignore[misc]

    def _worst(self, w: float, center: float, low: float, high: float) -> float:
        radius = self._radius()
        return float(w * (max(center - radius, low) if w > 0 else min(center + radius, high)))


def _eroded(good: np.ndarray, axis: int, window: list[np.ndarray | None]) -> np.ndarray:
    """Good where all of the window along an axis is good; never where there is no window."""
    along = np.moveaxis(good, axis, 0)
    made = [np.zeros(along.shape[1:], bool) if some is None else along[some].all(axis=0) for some in window]
    return np.moveaxis(np.array(made), 0, axis)


# ---- questions ------------------------------------------------------------------------------------------------------
def blocked(seed: int) -> Spec:
    """A random question that has no answer, and would have one if nothing was asked (most of the time)."""
    rng = np.random.default_rng([8, seed])
    while True:
        spec = (_of_trees, _linear, _of_network)[seed % 3](rng)
        if not spec.has_answer() and (spec.only([]).has_answer() or rng.random() < 0.05):
            return spec


def _of_trees(rng: np.random.Generator) -> Spec:
    single, group = 3, int(rng.choice([0, 0, 3]))
    cuts = [rng.integers(-4, 4, 6) + 0.5 for _ in range(single)] + [np.array([0.5])] * group
    model = random_trees(rng, single + group, int(rng.integers(2, 6)), 3, cuts, exact=False)
    row = np.concatenate([rng.integers(-3, 4, single), np.eye(group)[rng.integers(group)] if group else []])
    return _asked(rng, model, ("integer",) * single, group, row.astype(float), whole=True)


def _of_network(rng: np.random.Generator) -> Spec:
    single, group = 4, int(rng.choice([0, 3]))
    model = network(rng, single + group, (4,))
    row = np.concatenate([rng.integers(0, 2, single), np.eye(group)[rng.integers(group)] if group else []])
    return _asked(rng, model, ("binary",) * single, group, row.astype(float), whole=True)


def _linear(rng: np.random.Generator) -> Spec:
    n = 4
    model = linear_model(rng.normal(size=(1, n)), rng.normal(size=1))
    return _asked(rng, model, ("numeric",) * n, 0, rng.normal(size=n).round(2), whole=False)


def _asked(
    rng: np.random.Generator, model: Model, kinds: tuple[str, ...], group: int, row: np.ndarray, whole: bool
) -> Spec:
    now = int(model.info.labels_of(model.scores(row[None]))[0])
    parts: dict[Key, object] = {}
    for name, kind, x in zip(model.info.names, kinds, row, strict=False):
        if rng.random() < 0.3:
            parts["frozen", name] = True
        if rng.random() < 0.3:
            parts["direction", name] = str(rng.choice(["increasing", "decreasing"]))
        for side, sign in (("lower", -1), ("upper", 1)):
            if rng.random() < 0.6:
                step = float(rng.integers(0, 3)) if whole else float(rng.uniform(0.0, 2.0))
                end = float(x) + sign * step
                if kind == "binary":
                    end = float(np.clip(end, 0.0, 1.0))
                    if end == (0.0 if side == "lower" else 1.0):
                        continue  # says nothing
                parts["bound", name, side] = end
    if group:
        _about_group(rng, parts, len(kinds), group, row)
    if rng.random() < 0.5:
        parts["rule", "AtMost"] = int(rng.integers(0, 3))
    if isinstance(model, LinearModel) and rng.random() < 0.4:
        f = int(rng.integers(len(kinds)))
        parts["rule", "LinearRule"] = (model.info.names[f], float(row[f] + rng.uniform(0.0, 1.0)))
    if rng.random() < 0.7:
        parts["room",] = float(rng.integers(1, 3)) if whole else float(rng.uniform(0.05, 1.0))
    return Spec(model, kinds, group, row, 1 - now, parts)


def _about_group(rng: np.random.Generator, parts: dict[Key, object], single: int, group: int, row: np.ndarray) -> None:
    if rng.random() < 0.3:
        parts["frozen", "g"] = True
    for c in range(group):
        if rng.random() < 0.2 and row[single + c] == 0.0:
            parts["category", str(single + c)] = True
    if rng.random() < 0.4:
        parts["categories", "g"] = True


def check(seed: int) -> None:
    """What is named blocks, and no proper subset of it does; what is offered has an answer."""
    spec = blocked(seed)
    explainer, question = spec.ask()
    none = explainer.explain(**question)  # type: ignore[arg-type]
    assert isinstance(none, NoRegion) and none.status is Status.NONE_EXISTS
    why = none.why_not(time_limit=300.0)
    keys = [key_of(part) for part in why.blocking]
    assert why.nowhere == (not spec.only([]).has_answer()) == (not keys)
    assert not spec.only(keys).has_answer(), f"{keys} does not block"
    assert why.minimal and all(why.needed)
    for size in range(len(keys)):
        for some in combinations(keys, size):
            assert spec.only(some).has_answer(), f"{some} alone blocks, not only {keys}"
    assert why.nearest or why.nowhere
    assert [found.distance for found in why.nearest] == sorted(found.distance for found in why.nearest)
    alone = {key_of(found.given_up[0]) for found in why.nearest if len(found.given_up) == 1}
    for key in spec.parts:  # one part less has an answer exactly if it is among the nearest
        lifted = spec.only(other for other in spec.parts if other != key).has_answer()
        assert lifted == (key in alone), f"without {key}: {lifted}"
    for found in why.nearest:
        assert isinstance(found.region, Region)
        attack(explainer.predict, found.region.body, spec.target)
    assert why.sentence() and str(why)
