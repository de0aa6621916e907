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
from elbowroom.problem.parsing import number, parse_enum
from elbowroom.result import Certificate, Region


class Again(Enum):
    """How a fit differs from the one before."""

    BOOTSTRAP = "bootstrap"  # as many rows, drawn with replacement
    SEED = "seed"  # the same rows, every random_state another one
    LATER = "later data"  # with the first rows of a later table, more from fit to fit


@dataclass(frozen=True, eq=False)
class Retrained:
    """A scikit-learn model or pipeline together with ``n`` further fits of it: ``Explainer(Retrained(model, X, y), X)`` finds the
    closest region that holds for the model as it is and for all of these fits (see `AllOf`).

    What holds for them need not hold for the next one: `kept` counts how many fresh fits keep a region, each proven.

    Args:
        model: A fitted model with scikit-learn's interface; it is cloned, and stays as it is.
        X: The rows that it was fitted on.
        y: What was to be predicted of them.
        n: How many further fits there are.
        how: "bootstrap": rows drawn with replacement; "seed": the same rows, every ``random_state`` another one; "later data": the
            rows and a growing part of ``later``.
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
        if not isinstance(self.n, int) or self.n < 1:
            raise InputError(f"Retrained n={self.n!r}: give the number of further fits, 1 or more")
        if self.share is not None and not 0.0 < number(self.share, "Retrained share") <= 1.0:
            raise InputError(f"Retrained share={self.share!r}: give a number above 0, at most 1")
        if len(self.X) != len(self.y):
            raise InputError(f"Retrained: X has {len(self.X)} rows, y has {len(self.y)} entries")
        if not hasattr(self.model, "get_params") or not hasattr(self.model, "fit"):
            raise InputError(
                f"Retrained: a {type(self.model).__name__} cannot be cloned and fitted; give a scikit-learn model"
            )
        if (way is Again.LATER) != (self.later is not None):
            raise InputError('Retrained: later=(X, y) goes with how="later data", and with nothing else')
        if way is Again.SEED and not _seeds(self.model):
            raise InputError(
                f"Retrained how='seed': {type(self.model).__name__} has no random_state, so that every fit is the same; use "
                "how='bootstrap'"
            )

    @property
    def together(self) -> AllOf | AtLeast:
        """The model as it is, and all further fits of it, or a share of them."""
        again = {f"fit {i + 1}": self.fit(i) for i in range(self.n)}
        models = {"the model": self.model, **again}
        if self.share is None:
            return AllOf(models)
        return AtLeast(1 + math.ceil(self.share * self.n - 1e-9), models, always=["the model"])

    def fit(self, number: int) -> Any:
        """One further fit.

        Args:
            number: Which one; those from ``n`` on are fresh: no region was asked to hold for them.

        Returns:
            A fitted clone of the model.
        """
        from sklearn.base import clone

        rng = np.random.default_rng([self.seed, number])
        made, X, y = clone(self.model), self.X, np.asarray(self.y)
        match Again(self.how):
            case Again.BOOTSTRAP:
                chosen = rng.integers(0, len(y), len(y))
                return made.fit(_rows(X, chosen), y[chosen])
            case Again.SEED:
                made.set_params(**{name: int(rng.integers(2**31)) for name in _seeds(made)})
                return made.fit(X, y)
            case Again.LATER:
                assert self.later is not None
                more, said = self.later
                part = np.arange(max(1, len(said) * min(number + 1, self.n) // self.n))
                if number >= self.n:  # fresh: all of what came later, drawn with replacement
                    part = rng.integers(0, len(said), len(said))
                both = (
                    pd.concat([X, _rows(more, part)])
                    if isinstance(X, pd.DataFrame)
                    else np.vstack([X, _rows(more, part)])
                )
                return made.fit(both, np.concatenate([y, np.asarray(said)[part]]))
            case _ as never:
                assert_never(never)

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
        target = region.target.each[0] if region.target.each else region.target
        verdicts = (
            certify(opened(self.fit(number), region.space, None).model, target, region.body, time_limit)
            for number in range(self.n, self.n + n)
        )
        return sum(isinstance(verdict, Certificate) for verdict in verdicts)


def _rows(X: Any, chosen: Any) -> Any:
    return X.iloc[chosen] if isinstance(X, pd.DataFrame) else np.asarray(X)[chosen]


def _seeds(model: Any) -> list[str]:
    return [name for name in model.get_params() if name.rpartition("__")[2] == "random_state"]
