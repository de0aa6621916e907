"""What rules mean, said once more: plain arithmetic on centres and points, without anything that rules come down to.

`obeys` decides from the words of a rule; demanded everywhere, it looks at all points of the room that could differ: the
ends of every column, and the thresholds and values named by the rule with their neighbours. `more` lists the centres that
an optimal answer may need besides those of the model's cuts. `random_rules` makes up rules of every kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np

from elbowroom.problem import (
    Allowed,
    Forbidden,
    Implies,
    LeastChange,
    LinearRule,
    NotAll,
    Ordered,
    Price,
    RecourseProblem,
    Rule,
    Steps,
    Together,
    Transitions,
)  # fmt: skip
from elbowroom.problem.rules import AtMost

SLACK = 1e-9


def term_holds(term, problem: RecourseProblem, point: np.ndarray) -> bool:
    space = problem.space
    if term.column in space.position:
        value = float(point[space.position[term.column]])
        return value in term.values if term.values else term.low <= value <= term.high
    group = next(g for g in space.groups if g.name == term.column)
    now = next(m for m in group.members if point[space.position[m]] == 1.0)
    return now in term.values


def category(problem: RecourseProblem, name: str, point: np.ndarray) -> str:
    group = next(g for g in problem.space.groups if g.name == name)
    return next(m for m in group.members if point[problem.space.position[m]] == 1.0)


def holds(rule: Rule, problem: RecourseProblem, point: np.ndarray) -> bool:
    """Whether one point obeys the words of a rule."""
    at, factual = problem.space.position, problem.factual
    match rule:
        case AtMost():
            return True  # counted elsewhere
        case LinearRule():
            terms = [c * float(point[at[n]]) for n, c in rule.coefficients.items()]
            slack = SLACK * sum(abs(t) for t in terms)
            return rule.low - slack <= sum(terms) <= rule.high + slack
        case Implies():
            return not all(term_holds(t, problem, point) for t in rule.condition) or all(
                term_holds(t, problem, point) for t in rule.consequence
            )
        case Forbidden():
            return not all(term_holds(t, problem, point) for t in rule.combination)
        case Allowed():
            return all(term_holds(t, problem, point) for t in rule.values)
        case Steps():
            return all(
                point[at[n]] == factual[at[n]]
                or (Fraction(repr(float(point[at[n]]))) / Fraction(repr(s))).denominator == 1
                for n, s in rule.steps.items()
            )
        case LeastChange():
            for n, m in rule.least.items():
                x, now, least = float(point[at[n]]), float(factual[at[n]]), Fraction(repr(m))
                down, up = (float(Fraction(repr(now)) + sign * least) for sign in (-1, 1))  # as people would write them
                if x != now and down < x < up:
                    return False
            return True
        case Together():
            changed = [_changed(problem, n, point) for n in rule.columns]
            return all(changed) or not any(changed)
        case NotAll():
            return not all(_changed(problem, n, point) for n in rule.features)
        case Transitions():
            old, new = category(problem, rule.column, factual), category(problem, rule.column, point)
            return old == new or new in rule.allowed.get(old, ())
        case Ordered():
            order = list(rule.categories)
            old, new = (
                order.index(category(problem, rule.column, factual)),
                order.index(category(problem, rule.column, point)),
            )
            return new >= old if rule.never == "down" else new <= old
    raise AssertionError(rule)


def _changed(problem: RecourseProblem, name: str, point: np.ndarray) -> bool:
    if name in problem.space.position:
        return bool(point[problem.space.position[name]] != problem.factual[problem.space.position[name]])
    return category(problem, name, point) != category(problem, name, problem.factual)


def thresholds(rule: Rule, problem: RecourseProblem) -> dict[int, list[float]]:
    """Numbers at which a rule may change its mind, by column."""
    found: dict[int, list[float]] = {}
    at = problem.space.position

    def add(name: str, values: Iterable[float]) -> None:
        if name in at:
            found.setdefault(at[name], []).extend(v for v in values if math.isfinite(v))

    for part in ("condition", "consequence", "combination", "values"):
        for term in getattr(rule, part, ()):
            add(term.column, [v for v in term.values if not isinstance(v, str)] or [term.low, term.high])
    if isinstance(rule, Steps):
        for name, step in rule.steps.items():
            add(name, [float(k * Fraction(repr(step))) for k in range(-60, 61) if abs(k * step) <= 12])
            add(name, [float(problem.factual[at[name]])])
    if isinstance(rule, LeastChange):
        for name, least in rule.least.items():
            now = Fraction(repr(float(problem.factual[at[name]])))
            add(name, [float(now), *(float(now + s * Fraction(repr(least))) for s in (-1, 1))])
    if isinstance(rule, Together):
        for name in rule.columns:
            if name in at:
                add(name, [float(problem.factual[at[name]])])
    return found


def near(values: Iterable[float], whole: bool) -> list[float]:
    steps = (
        (lambda v: (v - 1.0, v, v + 1.0))
        if whole
        else (lambda v: (np.nextafter(v, -np.inf), v, np.nextafter(v, np.inf)))
    )
    return [float(x) for v in values for x in steps(np.floor(v) if whole else v)]


def obeys(problem: RecourseProblem, center: np.ndarray) -> bool:
    return all(_obeys(rule, problem, center) for rule in problem.rules)


def _obeys(rule: Rule, problem: RecourseProblem, center: np.ndarray) -> bool:
    if not getattr(rule, "everywhere", False):
        return holds(rule, problem, center)
    body, space = problem.body(center), problem.space
    marks = thresholds(rule, problem)
    axes: list[list[tuple[tuple[int, float], ...]]] = []
    for f in range(center.size):
        if space.group_of[f] < 0:
            values = {float(body.lower[f]), float(body.upper[f]), float(center[f])}
            values |= {
                v
                for v in near([*marks.get(f, ()), body.lower[f], body.upper[f]], bool(body.whole[f]))
                if body.lower[f] <= v <= body.upper[f]
            }
            axes.append([((f, v),) for v in sorted(values)])
    for g, members in enumerate(space.members):
        if g in problem.walls.free_groups:
            kept = [
                k for k in members if body.upper[k] >= 1.0 and body.lower[[m for m in members if m != k]].max() <= 0.0
            ]
        else:
            kept = [k for k in members if center[k] == 1.0]
        axes.append([tuple((int(m), float(m == k)) for m in members) for k in kept])
    for choice in product(*axes):
        point = center.copy()
        for part in choice:
            for f, value in part:
                point[f] = value
        if not holds(rule, problem, point):
            return False
    return True


def more(problem: RecourseProblem) -> dict[int, list[float]]:
    """Candidates for centres in every column, besides those that cuts of the model call for."""
    found: dict[int, list[float]] = {f: [] for f in range(problem.factual.size) if problem.space.group_of[f] < 0}
    for rule in problem.rules:
        for f, values in thresholds(rule, problem).items():
            whole = bool(problem.space.whole_center[f])
            wanted = near(values, whole)
            for v in list(wanted):
                for shift in (problem.walls.down[f], -problem.walls.up[f]):
                    wanted += near([v + shift], whole) + ([] if whole else near(near([v + shift], whole), whole))
            found[f] += wanted
    rows = [rule for rule in problem.rules if isinstance(rule, LinearRule)]
    if rows:
        _carry(problem, rows, found)
    return {f: sorted(set(values)) for f, values in found.items()}


def _carry(problem: RecourseProblem, rows: Sequence[LinearRule], found: dict[int, list[float]]) -> None:
    """Values with which a row is tight, for all edges of the other column, and again for these."""
    at, walls = problem.space.position, problem.walls
    for f in found:
        cuts = [float(t) for t in problem.model.cuts[f] if math.isfinite(t)]
        edges = [float(v) for v in (problem.lower[f], problem.upper[f]) if math.isfinite(v)]
        kinks = [problem.upper[f] - walls.up[f], problem.lower[f] + walls.down[f]]
        edges += [float(v) for v in kinks if math.isfinite(v)] + [float(problem.factual[f])]
        for way, sign in (("price_up", 1.0), ("price_down", -1.0)):
            slopes = getattr(problem.space.features[f], way)
            edges += [] if isinstance(slopes, float) else [float(problem.factual[f]) + sign * s for s, _ in slopes]
        whole = bool(problem.space.whole_center[f])
        moved = [
            x
            for t in cuts
            for x in (
                [math.floor(t) + 1 + walls.down[f], math.floor(t) - walls.up[f]]
                if whole
                else [np.nextafter(t, np.inf) + walls.down[f], np.nextafter(t + walls.down[f], np.inf), t - walls.up[f]]
            )
        ]
        found[f] += edges + [float(x) for v in moved for x in ((math.floor(v), math.ceil(v)) if whole else (v,))]
    for _ in range(2):
        for rule in rows:
            (i, a), (j, b) = ((at[n], c) for n, c in rule.coefficients.items())
            for f, mine, g, other in ((i, a, j, b), (j, b, i, a)):
                for v in list(dict.fromkeys(found[f])):
                    ends = {v}
                    if rule.everywhere:
                        ends |= {min(v + walls.up[f], problem.upper[f]), max(v - walls.down[f], problem.lower[f])}
                    for end in ends:
                        for limit in (rule.low, rule.high):
                            if math.isfinite(limit):
                                x = (limit - mine * end) / other
                                shifts = (0.0, -walls.up[g], walls.down[g]) if rule.everywhere else (0.0,)
                                for shift in shifts:
                                    y = float(x + shift)
                                    found[g] += [math.floor(y), math.ceil(y)] if problem.space.whole_center[g] else [y]
                found[g] = sorted(set(found[g]))


def random_row(rng: np.random.Generator, problem: RecourseProblem) -> LinearRule:
    """A row of two columns of numbers."""
    space = problem.space
    singles = [n for f, n in enumerate(space.names) if space.group_of[f] < 0]
    first, second = (str(n) for n in rng.choice(singles, 2, replace=False))
    whole = all(space.whole_center[space.position[n]] for n in (first, second))
    b = float(rng.choice([1.0, -1.0, -1.0] if whole else [1.0, -1.0, -1.0, 2.0, -0.5]))
    now = problem.factual[space.position[first]] + b * problem.factual[space.position[second]]
    limit, everywhere = float(np.round(2.0 * now) / 2.0 + rng.choice([-1.0, 0.0, 0.5, 1.0])), bool(rng.random() < 0.3)
    match int(rng.integers(3)):
        case 0:
            return LinearRule({first: 1.0, second: b}, high=limit, everywhere=everywhere)
        case 1:
            return LinearRule({first: 1.0, second: b}, low=limit, everywhere=everywhere)
    return LinearRule({first: 1.0, second: b}, limit, limit + 1.0, everywhere)


def with_prices(rng: np.random.Generator, problem: RecourseProblem, flat: bool = False) -> RecourseProblem:
    """The same question with prices for each way, some of them piecewise."""
    features = list(problem.space.features)
    for f, feature in enumerate(features):
        if problem.space.group_of[f] < 0 and rng.random() < 0.6:
            up, down = (float(v) for v in rng.choice([0.5, 1.0, 3.0], 2))
            if not flat and rng.random() < 0.5:
                up = ((0.0, up), (0.5, float(rng.choice([0.25, 2.0]))), (1.5, 1.0))  # type: ignore[assignment]
            features[f] = replace(feature, price_up=up, price_down=down)
    return replace(problem, space=replace(problem.space, features=tuple(features)))


def with_further_prices(rng: np.random.Generator, problem: RecourseProblem) -> RecourseProblem:
    """The same question with prices of all kinds: piecewise, of any change, by percentiles."""
    problem = with_prices(rng, problem)
    features = list(problem.space.features)
    for f, feature in enumerate(features):
        if problem.space.group_of[f] < 0 and rng.random() < 0.8:
            feature = replace(feature, price_change=float(rng.choice([0.0, 0.1, 1.0])))
            if rng.random() < 0.5:
                values = problem.factual[f] + rng.choice([-4.0, -2.0, -0.5, 0.0, 0.25, 1.0, 3.0], 6)
                levels = Price.of_percentiles(np.append(values, values[0] + 0.125)).percentiles
                feature = replace(feature, price_up=1.0, price_down=1.0, percentiles=levels)
            features[f] = feature
    return replace(problem, space=replace(problem.space, features=tuple(features)))


def random_rules(rng: np.random.Generator, problem: RecourseProblem, count: int) -> tuple[Rule, ...]:
    return tuple(_random_rule(rng, problem) for _ in range(count))


def _random_rule(rng: np.random.Generator, problem: RecourseProblem) -> Rule:
    space = problem.space
    singles = [n for f, n in enumerate(space.names) if space.group_of[f] < 0]
    groups = [g.name for g in space.groups]
    everywhere = bool(rng.random() < 0.4)
    kinds = ["implies", "forbidden", "allowed", "steps", "least"]
    kinds += ["together"] if len(singles) + len(groups) > 1 else []
    kinds += ["transitions", "ordered"] if groups else []
    name = str(rng.choice(singles))
    match str(rng.choice(kinds)):
        case "implies":
            return Implies(_terms(rng, problem, 1), _terms(rng, problem, int(rng.integers(1, 3))), everywhere)
        case "forbidden":
            return Forbidden(_terms(rng, problem, int(rng.integers(1, 4))), everywhere)
        case "allowed":
            values = [float(v) for v in rng.choice(np.arange(-6, 7), int(rng.integers(2, 7)), replace=False)]
            if space.whole_center[space.position[name]]:
                values += [0.0, 1.0]
            return Allowed({name: values if rng.random() < 0.7 else _range(rng)}, everywhere)
        case "steps":
            return Steps({name: float(rng.choice([0.5, 1.0, 2.0, 0.3]))})
        case "least":
            return LeastChange({n: float(rng.choice([0.25, 1.0, 1.7])) for n in _some(rng, singles)})
        case "together":
            both = [*singles, *groups]
            return Together([str(n) for n in rng.choice(both, 2, replace=False)])
        case "transitions":
            members = list(space.groups[0].members)
            return Transitions(groups[0], {m: _some(rng, members) for m in _some(rng, members)}, everywhere)
        case _:
            members = [str(m) for m in rng.permutation(list(space.groups[0].members))]
            return Ordered(groups[0], members, str(rng.choice(["down", "up"])), everywhere)


def _some(rng: np.random.Generator, names: Sequence[str]) -> list[str]:
    return [str(n) for n in rng.choice(list(names), int(rng.integers(1, len(names) + 1)), replace=False)]


def _range(rng: np.random.Generator) -> tuple[float | None, float | None]:
    low, high = sorted(float(v) / 2.0 for v in rng.choice(np.arange(-8, 9), 2, replace=False))
    return [(low, high), (None, high), (low, None)][int(rng.integers(3))]  # type: ignore[return-value]


def _terms(rng: np.random.Generator, problem: RecourseProblem, count: int) -> dict[str, object]:
    space, found = problem.space, {}
    names = [n for f, n in enumerate(space.names) if space.group_of[f] < 0] + [g.name for g in space.groups]
    for name in rng.choice(names, min(count, len(names)), replace=False):
        if str(name) in space.position:
            f = space.position[str(name)]
            single = space.whole_center[f] and rng.random() < 0.5
            found[str(name)] = (
                [float(v) for v in rng.choice([0, 1, 2], int(rng.integers(1, 3)), replace=False)]
                if single
                else _range(rng)
            )
        else:
            group = next(g for g in space.groups if g.name == name)
            found[str(name)] = _some(rng, group.members)
    return found
