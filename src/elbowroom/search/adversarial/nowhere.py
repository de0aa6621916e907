"""Proofs that no centre exists anywhere, even on columns without bounds, in rational arithmetic.

`NecessaryConditions` collect what every valid centre satisfies in real numbers: rows a . v >= low over columns v with
limits or without, and alternatives of which at least one holds (a leaf per tree and scenario, a neuron on or off, a
limit reached or not). The alternatives are tried one after the other; every branch must end with rows that contradict
each other. That is shown by Farkas' lemma: multipliers y >= 0 with r = A^T y and

    sum_j max(r_j v_j over the limits of v_j)  <  sum_i y_i low_i,

where r_j must be exactly 0 on columns without limits. A solver suggests y; its support is solved for exactly, and everything
is checked in fractions: no tolerance is part of the proof.

Why real numbers suffice: a scenario's point p in floats differs from x + s by less than one unit in the last place of each
entry. The judge demands margins (and distances from hyperplanes) beyond the rounding of a dot product at p, which is at
least five such units. So a centre that the judge could accept satisfies the conditions with p = x + s in real numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.problem import RecourseProblem
from elbowroom.search.adversarial.limits import MOST_PROGRAMS, MOST_VALUES, SUPPORT
from elbowroom.search.adversarial.scenario import Scenario
from elbowroom.search.program import Builder
from elbowroom.search.rational import cancelling
from elbowroom.search.solvers.highs_mip import HighsRelaxation


@dataclass(frozen=True)
class Form:
    """sum of factor * column + constant, exactly."""

    terms: dict[int, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)

    @classmethod
    def column(cls, index: int, constant: float = 0.0) -> Form:
        return cls({index: Fraction(1)}, Fraction(constant))

    def plus(self, other: Form, factor: Fraction) -> Form:
        terms = dict(self.terms)
        for column, value in other.terms.items():
            terms[column] = terms.get(column, Fraction(0)) + factor * value
        return Form({c: v for c, v in terms.items() if v}, self.constant + factor * other.constant)

    def negative(self) -> Form:
        return Form().plus(self, Fraction(-1))


def combined(weights: Floats, forms: Sequence[Form], bias: float) -> Form:
    """weights . forms + bias."""
    total = Form(constant=Fraction(float(bias)))
    for f in np.flatnonzero(weights).tolist():
        total = total.plus(forms[f], Fraction(float(weights[f])))
    return total


@dataclass(frozen=True)
class Alternative:
    """Forms that are all nonnegative; ``gain`` counts towards the score of the owner's scenario."""

    forms: tuple[Form, ...]
    gain: Floats | None = None


@dataclass(frozen=True)
class Disjunction:
    """At least one alternative holds. Gains of disjunctions with the same owner add up to at least the owner's need."""

    alternatives: tuple[Alternative, ...]
    owner: int = -1


@dataclass
class NecessaryConditions:
    """What every valid centre satisfies."""

    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    forms: list[Form] = field(default_factory=list)  # all nonnegative
    disjunctions: list[Disjunction] = field(default_factory=list)
    needs: dict[int, Floats] = field(default_factory=dict)  # per owner

    def column(self, lower: float = -math.inf, upper: float = math.inf) -> int:
        self.lower.append(lower)
        self.upper.append(upper)
        return len(self.lower) - 1


def necessary_conditions(problem: RecourseProblem) -> NecessaryConditions:
    """The centre's columns: limits, one-hot groups and few-valued whole columns (rules are left out: fewer rows)."""
    lower, upper = problem.centers
    conditions = NecessaryConditions([float(v) for v in lower], [float(v) for v in upper])
    for members in problem.space.members:
        alternatives = []
        for chosen in members:
            forms = [_fixed(int(f), 1.0 if f == chosen else 0.0) for f in members]
            alternatives.append(Alternative(tuple(form for pair in forms for form in pair)))
        conditions.disjunctions.append(Disjunction(tuple(alternatives)))
    for f in np.flatnonzero(problem.space.whole_center & (problem.space.group_of < 0)):
        if upper[f] - lower[f] < MOST_VALUES:
            values = np.arange(lower[f], upper[f] + 1.0)
            conditions.disjunctions.append(Disjunction(tuple(Alternative(_fixed(int(f), float(v))) for v in values)))
    return conditions


def _fixed(column: int, value: float) -> tuple[Form, Form]:
    form = Form.column(column, -value)
    return form, form.negative()


def scenario_point(conditions: NecessaryConditions, problem: RecourseProblem, scenario: Scenario) -> list[Form]:
    """clip(x + s, limits), one form per column; where a limit may be reached, a column of its own with both cases."""
    forms = []
    settled = {int(f): 0.0 for g in scenario.category for f in problem.space.members[g]}
    settled |= {int(member): 1.0 for member in scenario.category.values()}
    for f, shift in enumerate(scenario.shift):
        moved = Form.column(f, float(shift))
        limit = float(problem.upper[f] if shift > 0 else problem.lower[f])
        if f in settled:
            forms.append(Form(constant=Fraction(settled[f])))
        elif shift == 0.0 or not math.isfinite(limit):
            forms.append(moved)
        else:
            p = conditions.column(float(problem.lower[f]), float(problem.upper[f]))
            beyond = moved.plus(Form(constant=Fraction(limit)), Fraction(-1))  # x + s - limit
            beyond = beyond if shift > 0 else beyond.negative()
            same = Form.column(p).plus(moved, Fraction(-1))
            conditions.disjunctions.append(
                Disjunction(
                    (
                        Alternative((beyond.negative(), same, same.negative())),
                        Alternative((beyond, *_fixed(p, limit))),
                    )
                )
            )
            forms.append(Form.column(p))
    return forms


def contradictory(conditions: NecessaryConditions, seconds_left: Callable[[], float]) -> bool:
    """True only if it is proven that nothing satisfies the conditions."""
    order = sorted(conditions.disjunctions, key=lambda d: d.owner < 0)  # choices of the model first
    stack: list[tuple[int, tuple[Form, ...]]] = [(0, tuple(conditions.forms))]
    programs = 0
    scores = _Scores(order, conditions.needs)
    paths: list[tuple[int, ...]] = [()]
    while stack:
        depth, forms = stack.pop()
        path = paths.pop()
        if scores.too_small(path):
            continue
        programs += 1
        if programs > MOST_PROGRAMS or seconds_left() <= 0.0:
            return False
        if _rows_contradict(conditions, forms, seconds_left()):
            continue
        if depth == len(order):
            return False
        for choice, alternative in enumerate(order[depth].alternatives):
            stack.append((depth + 1, forms + alternative.forms))
            paths.append((*path, choice))
    return True


@dataclass
class _Scores:
    order: list[Disjunction]
    needs: dict[int, Floats]

    def too_small(self, path: tuple[int, ...]) -> bool:
        """Even the largest gains of what is still open do not reach an owner's need."""
        for owner, need in self.needs.items():
            total = np.zeros_like(need)
            for place, disjunction in enumerate(self.order):
                if disjunction.owner != owner:
                    continue
                gains = np.array([a.gain for a in disjunction.alternatives])
                total = total + (gains[path[place]] if place < len(path) else gains.max(axis=0))
            if (total < need).any():
                return True
        return False


def _rows_contradict(conditions: NecessaryConditions, forms: tuple[Form, ...], seconds: float) -> bool:
    """Farkas' lemma for forms >= 0 within the limits of the columns, checked exactly."""
    if any(not form.terms and form.constant < 0 for form in forms):
        return True
    builder = Builder()
    lower, upper = np.array(conditions.lower), np.array(conditions.upper)
    builder.columns(lower.size, lower, upper)
    rows = [form for form in forms if form.terms]
    for form in rows:
        builder.row(list(form.terms), [float(v) for v in form.terms.values()], -float(form.constant))
    x, ray = HighsRelaxation(builder.program()).solve(lower, upper, seconds)
    if x is not None or ray is None or ray.size != len(rows) or not np.isfinite(ray).all():
        return False
    return any(_proves(conditions, rows, np.maximum(sign * ray, 0.0)) for sign in (1.0, -1.0))


def _proves(conditions: NecessaryConditions, rows: list[Form], suggested: Floats) -> bool:
    largest = float(suggested.max(initial=0.0))
    if not largest > 0.0:
        return False
    support = np.flatnonzero(suggested > SUPPORT * largest).tolist()
    chosen = [rows[i] for i in support]
    near = [float(suggested[i]) / largest for i in support]
    r = _weighted(chosen, [Fraction(v) for v in near])
    size = {c: sum(abs(float(form.terms.get(c, 0))) * y for form, y in zip(chosen, near, strict=True)) for c in r}
    tiny = {c for c, v in r.items() if abs(float(v)) <= SUPPORT * size[c] and not _limited(conditions, c)}
    cancel = [c for c, v in r.items() if c in tiny or _endless(conditions, c, v)]
    y = _cancelling(chosen, near, cancel)
    if y is None:
        return False
    total = sum((v * form.constant for v, form in zip(y, chosen, strict=True)), Fraction(0))
    for column, value in _weighted(chosen, y).items():
        if value == 0:
            continue
        if _endless(conditions, column, value):
            return False
        total += value * Fraction(conditions.upper[column] if value > 0 else conditions.lower[column])
    return total < 0


def _limited(conditions: NecessaryConditions, column: int) -> bool:
    return math.isfinite(conditions.lower[column]) and math.isfinite(conditions.upper[column])


def _endless(conditions: NecessaryConditions, column: int, value: Fraction) -> bool:
    """value * column has no largest value within the limits."""
    return value != 0 and not math.isfinite(conditions.upper[column] if value > 0 else conditions.lower[column])


def _weighted(rows: list[Form], y: list[Fraction]) -> dict[int, Fraction]:
    total = Form()
    for form, value in zip(rows, y, strict=True):
        total = total.plus(form, value)
    found = {column: Fraction(0) for form in rows for column in form.terms}
    return found | total.terms


def _cancelling(rows: list[Form], near: list[float], columns: list[int]) -> list[Fraction] | None:
    """Nonnegative multipliers close to ``near`` whose combination vanishes exactly on ``columns``."""
    table = [[form.terms.get(c, Fraction(0)) for form in rows] for c in columns]
    order = np.argsort([-v for v in near], kind="stable").tolist()  # large ones absorb the correction best
    return cancelling(table, [Fraction(v) for v in near], order)
