"""Which columns an XGBoost model takes: names, and the categories of those that have some."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from elbowroom.errors import InputError, UnsupportedModel
from elbowroom.importers.inputs import Column, Columns
from elbowroom.importers.ubj import decode
from elbowroom.importers.xgboost_document import Learner, parse
from elbowroom.problem.labels import Category

NOTHING_KNOWN: Final[Mapping[str, tuple[Category, ...]]] = MappingProxyType({})


def learner_of(model: Any) -> Learner:
    """Everything that a fitted classifier, regressor or Booster says about itself."""
    booster = model
    if through_sklearn(model):
        from sklearn.exceptions import NotFittedError

        try:
            booster = model.get_booster()
        except NotFittedError:
            raise InputError(f"this {type(model).__name__} is not fitted; call fit first") from None
    return parse(decode(bytes(booster.save_raw("ubj"))))


def through_sklearn(model: Any) -> bool:
    """True for the scikit-learn interface, which has labels of its own and asks in its own way."""
    return hasattr(model, "get_booster")


def columns(model: Any, known: Mapping[str, tuple[Category, ...]] = NOTHING_KNOWN) -> Columns:
    types_given = through_sklearn(model) and model.feature_types is not None
    return columns_of(learner_of(model), known, types_given)


def columns_of(learner: Learner, known: Mapping[str, tuple[Category, ...]], types_given: bool = False) -> Columns:
    """Names, and the categories of the columns that have some.

    From 3.1 on a model stores the categories of pandas columns. A column of plain codes, declared by ``feature_types``,
    takes the numbers that the caller's table holds, else 0, 1, ... up to the largest one that any tree asks about.
    """
    asked = _largest_codes(learner)
    found = []
    for j in range(learner.width):
        name = learner.names[j] if learner.names else f"x{j}"
        categorical = j in asked or (learner.types is not None and learner.types[j] == "c")
        if j in learner.categories:
            found.append(Column(name, (*learner.categories[j], None), pandas_category=True))
        elif not categorical:
            found.append(Column(name))
        elif learner.names and not types_given:
            raise UnsupportedModel(
                f"column {name!r} is categorical, and this XGBoost model does not say which categories its codes stand for "
                "(releases before 3.1 do not store them); fit it again with xgboost 3.1 or later"
            )
        else:
            found.append(Column(name, known.get(name) or (*range(asked.get(j, 0) + 1), None)))
    return Columns(tuple(found), learner.names is not None)


def _largest_codes(learner: Learner) -> dict[int, int]:
    """The largest code that any tree asks about, by column with splits by categories."""
    found: dict[int, int] = {}
    for tree in learner.trees:
        for node, listed in tree.sets.items():
            column = int(tree.feature[node])
            found[column] = max(found.get(column, 0), int(listed.max(initial=0)))
    return found


def codes(model: Any) -> dict[int, dict[Any, float]]:
    return codes_of(learner_of(model))


def codes_of(learner: Learner) -> dict[int, dict[Any, float]]:
    """What the trees see of stored categories: their positions. Plain codes are the numbers that they are."""
    return {j: {label: float(i) for i, label in enumerate(stored)} for j, stored in learner.categories.items()}
