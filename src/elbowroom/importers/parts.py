"""The parts of an ensemble: each is read by its own reader, then seen as probabilities or as one score (votes: `voters`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from elbowroom.errors import InputError, UnsupportedModel
from elbowroom.importers.inputs import Columns
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import column_count
from elbowroom.importers.table import Known, columns_of, reader_of, unfold
from elbowroom.models.base import Decision, Link, Model
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.network import ReluNetwork
from elbowroom.models.oblique import ObliqueEnsemble
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import Ints


@contextmanager
def naming(owner: object) -> Iterator[None]:
    """Errors about a part say whose part it is."""
    try:
        yield
    except UnsupportedModel as error:
        raise UnsupportedModel(f"{type(owner).__name__} holds a part that cannot be read: {error}") from error
    except InputError as error:
        raise InputError(f"{type(owner).__name__}: {error}") from error


def read_part(owner: object, part: Any, preprocessing: Preprocessing) -> Model:
    """One part of an ensemble, behind its own pipeline if it has one; an error says whose part it is."""
    with naming(owner):
        inner, longer = unfold(part, preprocessing)
        reader = reader_of(inner)
        known = {c.name: c.categories for c in preprocessing.inputs.columns if c.categories is not None}
        longer = longer.before(reader.columns(inner, known).columns, reader.codes(inner))
        parsed = reader.read(inner, longer)
    if not all(np.array_equal(a, b) for a, b in zip(longer.domain, preprocessing.domain, strict=True)):
        raise UnsupportedModel(
            f"{type(owner).__name__} holds a Pipeline with a logarithm or a power, which has no value everywhere; put that step "
            f"in front of the {type(owner).__name__}"
        )
    return parsed


def common_columns(owner: Any, parts: Sequence[Any], known: Known, chosen: Sequence[Any] | None = None) -> Columns:
    """The columns of an ensemble: those that its parts see (or ``chosen`` ones of them), with categories that all know."""
    names = getattr(owner, "feature_names_in_", None)
    with naming(owner):
        seen = [columns_of(part, known) for part in parts]
    own = next((c for c in seen if c.own_names), seen[0])
    if names is not None or chosen is not None:
        listed = None if names is None else tuple(str(name) for name in names)
        own = Columns.numbers(column_count(owner), listed)
    found = list(own.columns)
    for number, columns in enumerate(seen):
        places = range(own.count) if chosen is None else np.asarray(chosen[number]).tolist()
        for place, column in zip(places, columns.columns, strict=True):
            if column.categories is not None:
                before = found[place].categories
                both = column.categories if before is None else tuple(c for c in before if c in column.categories)
                found[place] = replace(found[place], categories=both, pandas_category=column.pandas_category)
    return replace(own, columns=tuple(found))


def refused(owner: object, part: object, why: str, cure: str) -> UnsupportedModel:
    """The error for a part that can be read, but not inside this ensemble."""
    return UnsupportedModel(f"{type(owner).__name__} of {type(part).__name__} cannot be read exactly: {why}; {cure}")


def class_map(owner: object, part: object, parsed: Model, classes: Sequence[Any]) -> Ints:
    """For every class of the part, in the order of its parsed copy, its position among all classes."""
    if parsed.info.is_regressor:
        raise refused(owner, part, "it predicts numbers and no classes", "use classifiers as its parts")
    known = {label: index for index, label in enumerate(classes)}
    strange = [label for label in parsed.info.classes if label not in known]
    if strange:
        raise UnsupportedModel(
            f"{type(owner).__name__} holds a {type(part).__name__} with a class of its own: {strange[0]!r}"
        )
    return np.array([known[label] for label in parsed.info.classes], dtype=np.int64)


def probability_trees(parsed: Model) -> TreeEnsemble | None:
    """The part as trees whose mean leaf values are its ``predict_proba``, or None."""
    if not isinstance(parsed, TreeEnsemble) or parsed.info.link is not Link.IDENTITY:
        return None
    whole = parsed.info.decision is Decision.ARGMAX and not parsed.base.any() and parsed.info.evaluation_error == 0.0
    return parsed if whole else None


def single_score(parsed: Model, positive: int) -> Model | None:
    """A binary part as one score that speaks for class ``positive`` (which becomes the second class), or None.

    Its own score, turned round for the first class (a negation rounds nothing), or the column of its probabilities.
    """
    info = parsed.info
    if len(info.classes) != 2 or info.threshold != 0.0:
        return None
    turned = replace(info, classes=(info.classes[1 - positive], info.classes[positive]), decision=Decision.NONNEGATIVE)
    if info.decision is Decision.ARGMAX:
        if probability_trees(parsed) is None or not isinstance(parsed, TreeEnsemble):
            return None
        column = slice(positive, positive + 1)
        turned = replace(turned, link=Link.NONE)
        return replace(parsed, info=turned, value=parsed.value[:, column], base=parsed.base[column])
    if positive == 1:
        return replace(parsed, info=turned)
    turned = replace(turned, link=Link.NONE, shows_scores=False)
    match parsed:
        case TreeEnsemble() | ObliqueEnsemble():
            return replace(parsed, info=turned, value=-parsed.value, base=-parsed.base)
        case LinearModel():
            return replace(parsed, info=turned, affine=_negative(parsed.affine))
        case ReluNetwork():
            return replace(parsed, info=turned, layers=(*parsed.layers[:-1], _negative(parsed.layers[-1])))


def _negative(affine: Affine) -> Affine:
    missing = None if affine.missing_value is None else -affine.missing_value
    return replace(affine, weight=-affine.weight, bias=-affine.bias, missing_value=missing)
