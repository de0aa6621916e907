"""Further margins: what other ensembles of trees must say, beside the model that is explained.

A further margin is an ensemble of trees over the same columns with an outcome that is wanted of it. It is asked for at the
centre alone, or ``everywhere``: at every point of the room. Its guarantee is that of the model itself: margins with slack for
every rounding (see `models.margins`), and the judge's proof for whole rooms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from elbowroom.models.margins import TreeMargins, tree_margins
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import Floats, Ints
from elbowroom.problem.body import Body
from elbowroom.problem.target import Target

Key: TypeAlias = tuple[str, Target, bool]


@dataclass(frozen=True, eq=False)
class Further:
    """This ensemble must give this outcome as well: at the centre, or everywhere in the room."""

    model: TreeEnsemble
    target: Target
    everywhere: bool
    source: str  # the rule that asks for it, by name and in words

    @property
    def key(self) -> Key:
        """Equal for margins that ask for the same."""
        return self.model.fingerprint, self.target, self.everywhere

    @cached_property
    def margins(self) -> TreeMargins:
        return tree_margins(self.model, self.target.index(self.model.info), self.target.need)

    def where(self, body: Body) -> Body:
        """The points at which it must hold: all of a region, or its centre."""
        if self.everywhere:
            return body
        nothing = np.zeros_like(body.center)
        return replace(body, lower=body.center, upper=body.center, axes=nothing, free_groups=())

    def holds(self, center: Floats) -> bool:
        """True if it is proven to hold at the centre."""
        return self.margins.holds(reached(self.model, center))


def reached(model: TreeEnsemble, point: Floats) -> Ints:
    """The leaf of every tree that a point reaches, as rows of ``model.leaves``."""
    leaves = model.leaves
    return np.flatnonzero(((leaves.lower < point) & (point <= leaves.upper)).all(axis=1))
