"""Distances whose moves are linear forms of several columns: u = |S (x - factual)|, for causes and for covariances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats, Ints
from elbowroom.problem.causes import Causal, check_causes, effects
from elbowroom.problem.covariance import Covariance, check_covariance, whitening
from elbowroom.problem.features import Feature, Group
from elbowroom.visible import listed


def check_slant(
    causes: Causal | None, covariance: Covariance | None, features: Sequence[Feature], groups: Sequence[Group]
) -> None:
    """Refuse what is about other columns, and what does not go together."""
    grouped = [member for group in groups for member in group.members]
    names = [f.name for f in features]
    for slant, kind, what in ((causes, Causal, "causes"), (covariance, Covariance, "covariance")):
        if slant is not None and not isinstance(slant, kind):
            raise InputError(f"{what}={slant!r}: give a {kind.__name__}")
    if causes is not None and covariance is not None:
        raise InputError("a space has causes or a covariance; leave one of them out")
    if causes is not None:
        check_causes(causes, names, grouped)
    if covariance is not None:
        check_covariance(covariance, names, grouped)
    dear = [f.name for f in features if not f.price.is_plain]
    if dear:
        raise InputError(f"prices of {listed(dear)} are not known together with causes or a covariance; leave them out")


def slant_of(
    causes: Causal | None, covariance: Covariance | None, names: tuple[str, ...], factor: Floats
) -> Floats | None:
    """S: what one unit of each column costs in each move; rows and columns of categories, whose ``factor`` is 0, are 0. None:
    moves are straight."""
    if covariance is not None:
        return whitening(covariance, names)
    if causes is None:
        return None
    return np.asarray(factor[:, None] * (np.eye(factor.size) - effects(causes, names)))


def unslanted(slant: Floats, single: Ints) -> Floats:
    """S^-1 on the columns of numbers ``single``: how far each of them goes per unit of each move."""
    return np.asarray(np.linalg.inv(slant[np.ix_(single, single)]))
