"""The same pipeline, fitted again: what a region must outlive."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, assert_never

import numpy as np
import pandas as pd

from elbowroom.certify.judge import certify
from elbowroom.errors import InputError
from elbowroom.explainer.opening import opened
from elbowroom.explainer.together import AllOf, AtLeast
from elbowroom.numerics import Ints
from elbowroom.problem import Target
from elbowroom.problem.parsing import check_seed, is_list, parse_enum, plain_number
from elbowroom.result import Certificate, Region
from elbowroom.visible import listed

DRAWS = 100  # of a bootstrap sample, until it has every class and every word


class Again(Enum):
    """How a fit differs from the one before."""

    BOOTSTRAP = "bootstrap"  # as many rows, drawn with replacement
    SEED = "seed"  # the same rows, every random_state another one
    LATER = "later data"  # with the first rows of a later table, more from fit to fit


@dataclass(frozen=True, eq=False)
class Retrained:
    """A scikit-learn model or pipeline together with ``n`` further fits of it: ``Explainer(Retrained(model, X, y), X)`` finds the
    closest region that holds for the model as it is and for all of these fits (see `AllOf`). Without a target the other class
    of two is wanted: other than that of the model as it is, also where a fit says something else of the row.

    What holds for them need not hold for the next one: `kept` counts how many fresh fits keep a region, each proven.

    Args:
        model: A fitted model with scikit-learn's interface; it is cloned, and stays as it is.
        X: The rows that it was fitted on.
        y: What was to be predicted of them.
        n: How many further fits there are.
        how: "bootstrap": rows drawn with replacement, again while a class of ``y`` or a word of a text column is missing; "seed":
            the same rows, every ``random_state`` another one; "later data": the rows and a growing part of ``later``.
        later: Rows and outcomes that came later, ``(X, y)``; for how="later data".
        seed: Of all random choices.
        share: Which share of the further fits has to keep the region, rounded up to whole fits and the same ones at every
            point (see `AtLeast`); the model as it is always does. None: all of them.

    Examples:
        >>> again = Retrained(model, X, model.predict(X), n=2)
        >>> region = Explainer(again, space).explain(row, room=Box(0.01))
        >>> 0 <= again.kept(region, 3) <= 3
        True
    """

    model: Any
    X: Any
    y: Any
    n: int = 20
    how: str = "bootstrap"
    later: tuple[Any, Any] | None = None
    seed: int = 0
    share: float | None = None

    def __post_init__(self) -> None:
        way = parse_enum(Again, self.how, "Retrained how")
        object.__setattr__(self, "n", _count(self.n, "Retrained n", least=1))
        check_seed(self.seed)
        if self.share is not None and not 0.0 < plain_number(self.share, "Retrained share") <= 1.0:
            raise InputError(f"Retrained share={self.share!r}: give a number above 0, at most 1")
        if isinstance(self.model, type) or not hasattr(self.model, "get_params") or not hasattr(self.model, "fit"):
            raise InputError(
                f"Retrained: a {type(self.model).__name__} cannot be cloned and fitted; give a fitted scikit-learn model"
            )
        _check_rows(self.model, self.X, self.y, "X", "y")
        _check_labels(self.model, self.y)
        if (way is Again.LATER) != (self.later is not None):
            raise InputError('Retrained: later=(X, y) goes with how="later data", and with nothing else')
        if self.later is not None:
            if not isinstance(self.later, (tuple, list)) or len(self.later) != 2:
                raise InputError("Retrained later=: give rows and outcomes, (X, y)")
            _check_rows(self.model, *self.later, "later X", "later y")
            if isinstance(self.X, pd.DataFrame) != isinstance(self.later[0], pd.DataFrame):
                raise InputError("Retrained later=: give its rows as X is, both as tables or both as arrays")
        if way is Again.SEED and not _seeds(self.model):
            raise InputError(
                f"Retrained how='seed': {type(self.model).__name__} has no random_state, so that every fit is the same; use "
                "how='bootstrap'"
            )

    @property
    def together(self) -> AllOf | AtLeast:
        """The model as it is, and all further fits of it, or a share of them."""
        again = {f"fit {i + 1}": self.fit(i) for i in range(self.n)}
        own = "the model"
        models = {own: self.model, **again}
        if self.share is None:
            return AllOf(models, speaker=own)
        return AtLeast(1 + math.ceil(self.share * self.n - 1e-9), models, always=[own], speaker=own)

    def fit(self, number: int) -> Any:
        """One further fit.

        Args:
            number: Which one; those from ``n`` on are fresh: no region was asked to hold for them.

        Returns:
            A fitted clone of the model.
        """
        from sklearn.base import clone

        place = _count(number, "Retrained fit", least=0)
        rng = np.random.default_rng([self.seed, place])
        made, X, y = clone(self.model), self.X, np.asarray(self.y)
        match Again(self.how):
            case Again.BOOTSTRAP:
                chosen = self._drawn(rng)
                X, y = _rows(X, chosen), y[chosen]
            case Again.SEED:
                made.set_params(**{name: int(rng.integers(2**31)) for name in _seeds(made)})
            case Again.LATER:
                assert self.later is not None
                more, said = self.later
                part = np.arange(max(1, len(said) * min(place + 1, self.n) // self.n))
                if place >= self.n:  # fresh: all of what came later, drawn with replacement
                    part = rng.integers(0, len(said), len(said))
                table = isinstance(X, pd.DataFrame)
                X = pd.concat([X, _rows(more, part)]) if table else np.vstack([X, _rows(more, part)])
                y = np.concatenate([y, np.asarray(said)[part]])
            case _ as never:
                assert_never(never)
        try:
            return made.fit(X, y)
        except ValueError as error:
            raise InputError(f"Retrained: fit {place + 1} of {type(made).__name__} failed: {error}") from error

    def _drawn(self, rng: np.random.Generator) -> Ints:
        """A bootstrap sample. A fit that never saw a class or a word is a model of another question, so it is drawn again
        while it lacks one; where words are too many and too rare for that, the last draw stays."""
        codes = [] if self._regresses else [pd.factorize(np.asarray(self.y))[0]]
        if isinstance(self.X, pd.DataFrame):
            words = [name for name in self.X.columns if not pd.api.types.is_numeric_dtype(self.X[name])]
            codes += [pd.factorize(self.X[name])[0] for name in words]
        size = len(self.y)
        chosen = rng.integers(0, size, size)
        for _ in range(DRAWS):
            if all(np.unique(each[chosen]).size == np.unique(each).size for each in codes):
                break
            chosen = rng.integers(0, size, size)
        return chosen

    @property
    def _regresses(self) -> bool:
        from sklearn.base import is_regressor

        return bool(is_regressor(self.model))

    def kept(self, region: Region, n: int = 50, *, time_limit: float = 60.0) -> int:
        """How many fresh fits keep a region: each is judged exactly, at every point of it.

        Args:
            region: An answer for these fits, or for one model.
            n: How many fresh fits are made.
            time_limit: Seconds for each verdict; what is not decided by then does not count as kept.

        Returns:
            The number of fits that give every point of the region the wanted outcome.
        """
        if not isinstance(region, Region):
            raise InputError(f"kept takes a Region, not {type(region).__name__}")
        count = _count(n, "kept n", least=1)
        target = region.target.each[0] if region.target.each else region.target
        return sum(self._keeps(place, region, target, time_limit) for place in range(self.n, self.n + count))

    def _keeps(self, place: int, region: Region, target: Target, time_limit: float) -> bool:
        fresh = opened(self.fit(place), region.space, None)
        if fresh.space.names != region.space.names:
            raise InputError(
                f"Retrained: fit {place + 1} knows other categories than the model of the region; give the encoder its categories="
            )
        return isinstance(certify(fresh.model, target, region.body, time_limit), Certificate)


def _count(given: object, what: str, least: int) -> int:
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < least:
        raise InputError(f"{what}={given!r}: give a whole number of at least {least}")
    return int(given)


def _check_rows(model: Any, X: Any, y: Any, rows: str, outcomes: str) -> None:
    """Refuse what is not the table of this model."""
    if not is_list(X) or not is_list(y):
        raise InputError(f"Retrained: {rows} and {outcomes} are a table and its outcomes, not {X!r} and {y!r}")
    if len(X) != len(y) or not len(X):
        raise InputError(f"Retrained: {rows} has {len(X)} rows, {outcomes} has {len(y)} entries; give one for each row")
    known = getattr(model, "feature_names_in_", None)
    if isinstance(X, pd.DataFrame) and known is not None and list(known) != list(X.columns):
        raise InputError(
            f"Retrained: {rows} has the columns {listed(X.columns)}, the model was fitted on {listed(known)}"
        )
    width, wanted = np.shape(X)[-1] if np.ndim(X) == 2 else None, getattr(model, "n_features_in_", None)
    if width is None or wanted not in (None, width):
        raise InputError(f"Retrained: {rows} has {width or 'no'} columns, the model was fitted on {wanted}")


def _check_labels(model: Any, y: Any) -> None:
    """Fits have the classes of the model only if the outcomes have."""
    classes = getattr(model, "classes_", None)
    if classes is None or np.ndim(classes) != 1:
        return
    given = pd.unique(np.asarray(y)).tolist()
    if set(given) != set(np.asarray(classes).tolist()):
        raise InputError(
            f"Retrained: y has the classes {listed(given)}, the model's are {listed(classes)}; give what it was fitted on"
        )


def _rows(X: Any, chosen: Any) -> Any:
    return X.iloc[chosen] if isinstance(X, pd.DataFrame) else np.asarray(X)[chosen]


def _seeds(model: Any) -> list[str]:
    return [name for name in model.get_params() if name.rpartition("__")[2] == "random_state"]
