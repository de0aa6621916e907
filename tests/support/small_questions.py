"""Random small questions about trees: every kind of feature, room, distance and rule that boxes on trees know."""

from __future__ import annotations

import numpy as np

from elbowroom.models import Decision, TreeEnsemble
from elbowroom.problem import AtMost, Box, Feature, Group, RecourseProblem, Space
from tests.support.small_models import random_trees


def hard_question(seed: int, radius: float = 0.2, **more: object) -> RecourseProblem:
    """Twenty-five trees on six plain columns: enough that a search works for its answer."""
    rng = np.random.default_rng(seed)
    cuts = [rng.normal(size=15) for _ in range(6)]
    model = random_trees(rng, n_features=6, n_trees=25, depth=4, cuts=cuts, exact=False)
    row = rng.normal(size=6)
    space = Space.plain(model.info.names)
    return RecourseProblem.ask(model, space, row, Box(radius), _other(model, row), **more)  # type: ignore[arg-type]


def random_question(rng: np.random.Generator) -> RecourseProblem:
    """A question with at most three axes (columns or one-hot groups) and at most 40 cuts."""
    n_single = int(rng.integers(1, 4))
    with_group = n_single < 3 and rng.random() < 0.5
    sizes = [int(rng.integers(2, 5))] if with_group else []
    features = [_feature(rng, f"x{f}") for f in range(n_single)]
    frozen = with_group and rng.random() < 0.15
    for k in range(sum(sizes)):
        upper = 0.0 if rng.random() < 0.08 else 1.0
        features.append(Feature(f"x{n_single + k}", "binary", upper=upper, immutable=frozen and k == 0))
    names = [f.name for f in features]
    groups = (Group("city", tuple(names[n_single:]), float(rng.choice([0.5, 1.0, 2.0]))),) if with_group else ()
    space = Space(tuple(features), groups)
    model = _model(rng, space)
    row = _row(rng, space)
    target = int(rng.integers(len(model.info.classes)))
    if rng.random() < 0.8:  # mostly a class that the row does not have yet
        target = int(np.argmin(model.scores(row[None])[0])) if len(model.info.classes) > 2 else _other(model, row)
    rules = (AtMost(int(rng.integers(0, 3))),) if rng.random() < 0.2 else ()
    distance = str(rng.choice(["l1", "l2", "linf"]))
    return RecourseProblem.ask(model, space, row, _room(rng, space), target, distance, rules)


def _other(model: TreeEnsemble, row: np.ndarray) -> int:
    return 1 - int(model.info.labels_of(model.scores(row[None]))[0])


def _feature(rng: np.random.Generator, name: str) -> Feature:
    kind = str(rng.choice(["numeric", "numeric", "integer", "binary"]))
    lower, upper = -np.inf, np.inf
    if rng.random() < 0.4:
        lower, upper = sorted(float(v) for v in rng.choice(np.arange(-8, 9) / 2.0, 2, replace=False))
        if kind == "integer":
            lower, upper = float(np.floor(lower)), float(np.ceil(upper))
    if kind == "binary":
        lower, upper = 0.0, 1.0
    return Feature(
        name,
        kind,
        lower,
        upper,
        immutable=bool(rng.random() < 0.08),
        direction=str(rng.choice(["any", "any", "any", "any", "increasing", "decreasing"])),
        scale=float(rng.choice([1.0, 1.0, 0.3, 7.0])),
        weight=float(rng.choice([1.0, 1.0, 2.5, 0.1])),
    )


def _model(rng: np.random.Generator, space: Space) -> TreeEnsemble:
    cuts = []
    for f in range(len(space.names)):
        count = int(rng.integers(1, 12))
        if space.group_of[f] >= 0 or (space.upper[f] == 1.0 and space.whole_center[f]):
            cuts.append(rng.choice([0.5, 0.5, 0.5, 0.25, -0.5, 1.5], count))
        elif rng.random() < 0.5:
            cuts.append(rng.choice(np.arange(-16, 17) / 4.0, count))
        else:
            cuts.append(rng.normal(0.0, 2.5, count))
    special = [-0.0, np.inf, -np.inf] if rng.random() < 0.2 else []
    cuts = [np.concatenate([c, special]) for c in cuts]
    classes = int(rng.choice([2, 2, 3]))
    decision = (
        Decision.ARGMAX
        if classes == 3
        else Decision(rng.choice([d.value for d in Decision if d not in (Decision.VALUE, Decision.EACH)]))
    )
    return random_trees(
        rng,
        len(space.names),
        int(rng.integers(1, 7)),
        int(rng.integers(1, 5)),
        cuts,
        classes,
        decision,
        exact=bool(rng.random() < 0.6),
        base=float(rng.choice([0.0, -0.25, 0.5])),
    )


def _row(rng: np.random.Generator, space: Space) -> np.ndarray:
    row = np.zeros(len(space.names))
    for f, feature in enumerate(space.features):
        low, high = max(feature.lower, -4.0), min(feature.upper, 4.0)
        value = float(rng.uniform(low - 0.5, high + 0.5)) if rng.random() < 0.5 else float(rng.integers(-8, 9)) / 2.0
        if rng.random() < 0.9:
            value = float(np.clip(value, feature.lower, feature.upper))
        row[f] = np.round(value) if space.whole_center[f] else value
        if feature.kind.value == "binary":
            row[f] = float(rng.integers(2))
    for members in space.members:
        row[members] = np.eye(members.size)[rng.integers(members.size)]
    return row


def _room(rng: np.random.Generator, space: Space) -> Box:
    categories = {g.name: str(rng.choice(["any", "fixed"])) for g in space.groups}
    single = [n for f, n in enumerate(space.names) if space.group_of[f] < 0]
    match int(rng.integers(5)):
        case 0:
            return Box(0.0, categories=categories)
        case 1:
            return Box(float(rng.choice([0.01, 0.25, 0.5, 1.0])), categories=categories)
        case 2:
            return Box({n: float(rng.choice([0.0, 0.1, 0.5, 1.5])) for n in single}, categories=categories)
        case 3:
            widths = {n: float(rng.choice([0.0, 0.125, 0.3, 2.0])) for n in single}
            return Box(low=widths, high=float(rng.choice([0.0, 0.2, 1.0])), categories=categories)
        case _:
            return Box(high=float(rng.uniform(0.0, 1.0)), categories=categories)
