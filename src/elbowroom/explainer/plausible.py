"""What is plausible, settled: from a table to trees and points that a search and the judge understand.

A forest is fitted once per table, columns and outcome, and kept with the rule, so that a thousand questions ask for the same
one. See `problem.rules.plausible` for what each way means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, assert_never

import numpy as np
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.explainer.opening import _categories, _names
from elbowroom.importers import columns_of, open_model
from elbowroom.models import TreeEnsemble
from elbowroom.numerics import Bools, Floats
from elbowroom.problem import RecourseProblem, Rule
from elbowroom.problem.rules.plausible import How, InForest, InHull, OnLeaves, Plausible
from elbowroom.problem.rules.trees_json import votes
from elbowroom.visible import listed

MOST_MADE: Final = 8  # forests that one rule keeps


def settled(rules: tuple[Rule, ...], problem: RecourseProblem, whole: TreeEnsemble | Any) -> tuple[Rule, ...]:
    """The rules of a question (``problem`` without them), with all that is `Plausible` settled. ``whole`` is the model of
    rows that lack nothing."""
    return tuple(_settled(rule, problem, whole) if isinstance(rule, Plausible) else rule for rule in rules)


def _settled(rule: Plausible, problem: RecourseProblem, whole: Any) -> Rule:
    space, how = problem.space, How(rule.how)
    columns = space.names, tuple(group.members for group in space.groups)
    match how:
        case How.FOREST:
            if not isinstance(problem.model, TreeEnsemble):
                raise InputError(
                    f"Plausible(how='forest') is for trees, forests and boosting; for {problem.model.info.source} ask for "
                    "how='hull', the hull of the nearest rows"
                )
            outcome = None if rule.y is None else repr(problem.target)
            return _kept(rule, (columns, outcome), lambda: _forest(rule, problem))
        case How.LEAVES:
            if not isinstance(whole, TreeEnsemble):
                raise InputError(
                    f"Plausible(how='leaves'): {problem.model.info.source} has no leaves; ask for how='hull', the hull of the "
                    "nearest rows"
                )
            outcome = None if rule.y is None else repr(problem.target)
            return _kept(rule, (columns, outcome, whole.fingerprint), lambda: _leaves(rule, problem, whole))
        case How.HULL:
            return _hull(rule, problem)
        case _ as never:
            assert_never(never)


def _kept(rule: Plausible, key: object, make: Callable[[], Rule]) -> Rule:
    if key not in rule.made:
        while len(rule.made) >= MOST_MADE:
            del rule.made[next(iter(rule.made))]
        rule.made[key] = make()
    found: Rule = rule.made[key]
    return found


# ---- rows -----------------------------------------------------------------------------------------------------------
def _rows(rule: Plausible, problem: RecourseProblem, by_model: bool = False) -> Floats:
    """The rows that count, as inner floats: those with the wanted outcome if ``y`` says it (or the model does)."""
    table = rule.X
    if isinstance(table, np.ndarray) and table.ndim == 2:
        names = problem.space.columns if table.shape[1] == len(problem.space.columns) else problem.space.names
        if table.shape[1] != len(names):
            raise InputError(f"Plausible X has {table.shape[1]} columns, the space has {len(problem.space.columns)}")
        table = pd.DataFrame(table, columns=list(names))
    if not isinstance(table, pd.DataFrame):
        raise InputError(f"Plausible X: give the table that the model was fitted on, not {type(table).__name__}")
    rows = problem.space.inner(table, "Plausible X", allow_missing=True)
    chosen = np.isfinite(rows).all(axis=1)
    if rule.y is not None:
        said = np.asarray(rule.y).reshape(-1)
        if said.size != len(rows):
            raise InputError(f"Plausible y has {said.size} entries, X has {len(rows)} rows")
        chosen &= np.array([problem.target.is_met(value) for value in said.tolist()], dtype=np.bool_)
    elif by_model:
        filled = np.where(np.isfinite(rows), rows, 0.0)
        told = problem.model.info.says(problem.model.scores(filled))
        chosen &= np.array([problem.target.is_met(value) for value in told], dtype=np.bool_)
    if not chosen.any():
        raise InputError("Plausible: no complete row of X has the wanted outcome; give more rows, or no y")
    return rows[chosen]


# ---- a forest -------------------------------------------------------------------------------------------------------
def _forest(rule: Plausible, problem: RecourseProblem) -> InForest:
    space = problem.space
    if rule.forest is None:
        from sklearn.ensemble import IsolationForest

        rows = _rows(rule, problem)
        forest: Any = IsolationForest(
            n_estimators=rule.trees, max_samples=min(rule.sample, len(rows)), contamination=rule.outliers,
            random_state=rule.seed,
        ).fit(rows)  # fmt: skip
        parsed = open_model(forest, space.names, data=rows).model
    else:
        known = _categories(space)
        parsed = open_model(rule.forest, _names(columns_of(rule.forest, known), space), known=known).model
    if not isinstance(parsed, TreeEnsemble) or parsed.info.classes != (-1, 1):
        raise InputError(
            f"Plausible(forest=...): {parsed.info.source} is no isolation forest; give a fitted IsolationForest, or a pipeline "
            "that ends in one"
        )
    unknown = [name for name in parsed.info.names if name not in space.position]
    if unknown:
        raise InputError(
            f"Plausible(forest=...): the forest has columns {listed(unknown)} that the space has not; its columns are "
            f"{listed(space.columns)}"
        )
    column = np.array([space.position[name] for name in parsed.info.names], dtype=np.int64)
    made = votes(
        parsed, space.names, column, parsed.value[:, 0], -float(parsed.base[0]), parsed.info.evaluation_error,
        "an isolation forest",
    )  # fmt: skip
    return InForest(made, rule.everywhere)


# ---- leaves of the model --------------------------------------------------------------------------------------------
def _leaves(rule: Plausible, problem: RecourseProblem, model: TreeEnsemble) -> OnLeaves:
    """-1 for every leaf with too few rows: exact sums that must not be negative."""
    rows = _rows(rule, problem)
    count = np.zeros(model.feature.size, dtype=np.int64)
    for start in range(0, len(rows), 10_000):
        np.add.at(count, model.apply(rows[start : start + 10_000]).reshape(-1), 1)
    few: Bools = (model.feature < 0) & (count < rule.least)
    column = np.arange(model.info.n_features)
    made = votes(model, problem.space.names, column, -few.astype(np.float64), 0.0, 0.0, "leaves with enough rows")
    return OnLeaves(made, rule.least, rule.everywhere)


# ---- the hull of rows -----------------------------------------------------------------------------------------------
def _hull(rule: Plausible, problem: RecourseProblem) -> InHull:
    """The nearest rows by the distance of the question, in the columns of numbers that may change."""
    if isinstance(problem.model, TreeEnsemble):
        raise InputError(
            f"Plausible(how='hull') is for linear models and networks; for {problem.model.info.source} ask for how='forest' or "
            "how='leaves'"
        )
    rows = _rows(rule, problem, by_model=True)
    order = np.argsort([problem.measure(row) for row in rows], kind="stable")[: rule.nearest]
    moving = np.flatnonzero((problem.lower < problem.upper) & (problem.space.group_of < 0))
    if not moving.size:
        raise InputError("Plausible(how='hull'): no column of numbers may change, so there is nothing between the rows")
    return InHull(tuple(problem.space.names[f] for f in moving), rows[order][:, moving] + 0.0)
