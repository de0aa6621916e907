"""What builders share: fitting a model to a table, and the preparation of raw tables that everyone writes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from benchmarks.models.case import Given
from benchmarks.models.tables import NUMBERS, WORDS, Table


def fit(model: Any, table: Table, **given: Any) -> Given:
    """The model fitted to the whole table, asked with ``Explainer(model, X)`` unless ``given`` says otherwise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # short training on purpose
        fitted = model.fit(table.X, table.y)
    return Given(fitted, table.X, **{"wanted": table.wanted, **given})


def three(model: Any, table: Table, wanted: Any, **given: Any) -> Given:
    """Several classes: the wanted one has to be named."""
    return fit(model, table, wanted=wanted, target=wanted, **given)


def later(make: Callable[[], Any], table: Callable[[], Table], **given: Any) -> Callable[[], Given]:
    """A builder that makes model and table when it is called."""
    return lambda: fit(make(), table(), **given)


def encoded(model: Any, encoder: Any = None, words: tuple[str, ...] = WORDS, scaler: Any = None) -> Any:
    """The pipeline of every tutorial: words one-hot, numbers scaled, the rest passed through, then the model."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    parts = [
        ("words", encoder or OneHotEncoder(handle_unknown="ignore"), list(words)),
        ("numbers", scaler or StandardScaler(), list(NUMBERS)),
    ]
    return make_pipeline(ColumnTransformer(parts, remainder="passthrough"), model)


def one_of_each(prefixes: tuple[str, ...]) -> Callable[[Any, Any], str | None]:
    """A check for tables of dummies: in every row exactly one column of each prefix is 1."""

    def check(region: Any, frame: Any) -> str | None:
        for prefix in prefixes:
            columns = [name for name in frame.columns if str(name).startswith(prefix)]
            total = frame[columns].astype(float).sum(axis=1)
            if (total != 1.0).any():
                return f"a row with {int(total[total != 1.0].iloc[0])} categories of {prefix!r}"
        return None

    return check
