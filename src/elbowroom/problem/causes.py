"""Causes: a linear structural model says what follows when somebody acts on a column.

Columns are x_f = sum over causes p of c_pf x_p + what is particular to the row. An action a adds a_f to column f, besides
what follows from the actions on its causes; what is particular to the row stays. So with A_fp = c_pf

    x - factual = A (x - factual) + a,        a = (I - A) (x - factual),        x = factual + (I - A)^-1 a.

The cost counts actions: weight_f / scale_f |a_f|. Limits, one-way columns, immutable ones and the room are about what is
reached, x. Columns that nobody can act on have a_f = 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem.parsing import is_list, number, unknown

SETTLED = 1e-9  # an action below this share of what moves, or of the column itself, is rounding


@dataclass(frozen=True, init=False)
class Causal:
    """What follows from what, with coefficients.

    Args:
        graph: From each cause to its effects: ``{"education": {"income": 3.0}}`` says that a year more of education adds 3 to
            the income; or a ``networkx.DiGraph`` whose edges have a ``coefficient`` (or ``weight``).
        acts: The columns that somebody can act on; the others only follow. None: all of them.

    Examples:
        >>> Causal({"salary": {"debt": -0.2}}, acts=["salary"]).edges
        (('salary', 'debt', -0.2),)
    """

    edges: tuple[tuple[str, str, float], ...]
    acts: tuple[str, ...] | None

    def __init__(self, graph: object, acts: Iterable[str] | None = None) -> None:
        edges = tuple(_edges(graph))
        if acts is not None and (not is_list(acts) or not all(isinstance(name, str) for name in acts)):
            raise InputError(f"Causal: acts={acts!r}: give a list of column names")
        pairs = [(cause, effect) for cause, effect, _ in edges]
        for cause, effect in pairs:
            if pairs.count((cause, effect)) > 1:
                raise InputError(f"Causal: the edge from {cause!r} to {effect!r} is given twice")
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "acts", None if acts is None else tuple(acts))
        order_of(self)


def order_of(causal: Causal) -> tuple[str, ...]:
    """All columns of the graph, causes before effects."""
    left = list(dict.fromkeys(name for cause, effect, _ in causal.edges for name in (cause, effect)))
    found: list[str] = []
    while left:
        free = [n for n in left if not any(e == n and c in left for c, e, _ in causal.edges)]
        if not free:
            raise InputError(
                f"Causal: the graph goes round in circles among {sorted(left)}; causes come before effects"
            )
        found += free
        left = [name for name in left if name not in free]
    return tuple(found)


def check_causes(causal: Causal, columns: Iterable[str], grouped: Iterable[str]) -> None:
    """Refuse what is no column of numbers of the space."""
    known, groups = list(columns), set(grouped)
    for name in dict.fromkeys((*order_of(causal), *(causal.acts or ()))):
        if name not in known:
            raise InputError(f"Causal: {unknown(name, known)}")
        if name in groups and name in order_of(causal):
            raise InputError(f"Causal: {name!r} is part of a category; causes and effects are columns of numbers")


def effects(causal: Causal, names: tuple[str, ...]) -> Floats:
    """A: what a unit of each column adds to each other one."""
    A, at = np.zeros((len(names), len(names))), {name: f for f, name in enumerate(names)}
    for cause, effect, coefficient in causal.edges:
        A[at[effect], at[cause]] = coefficient
    return A


def actions_of(causal: Causal, names: tuple[str, ...], factual: Floats, center: Floats) -> Floats:
    """a = (I - A) (x - factual); what is rounding counts as none."""
    move = center - factual
    A = effects(causal, names)
    follows = A @ move
    action = move - follows
    size = np.abs(move) + np.abs(A) @ np.abs(move) + np.abs(factual)
    return np.where(np.abs(action) <= SETTLED * size, 0.0, action)


def settled(
    causal: Causal, names: tuple[str, ...], whole: np.ndarray[Any, Any], factual: Floats, center: Floats
) -> Floats:
    """The centre that the actions behind this one lead to: effects follow exactly, up to the rounding of their sums."""
    action, A = actions_of(causal, names, factual, center), effects(causal, names)
    at = {name: f for f, name in enumerate(names)}
    if causal.acts is not None:
        action = np.where(np.isin(names, causal.acts), action, 0.0)
    reached = np.where(action == 0.0, factual, center)
    for name in order_of(causal):
        f = at[name]
        follows = float(A[f] @ (reached - factual))
        if follows or action[f]:
            reached[f] = center[f] if whole[f] else factual[f] + (follows + action[f])
    return reached


def _edges(graph: object) -> Iterable[tuple[str, str, float]]:
    """(cause, effect, coefficient) of a mapping or a networkx.DiGraph."""
    given: list[tuple[object, object, object]] = []
    if isinstance(graph, Mapping):
        for cause, effects in graph.items():
            if not isinstance(effects, Mapping):
                raise InputError(f"Causal: {cause!r}: give its effects as a mapping, for example {{'income': 3.0}}")
            given += [(cause, effect, coefficient) for effect, coefficient in effects.items()]
    elif callable(getattr(graph, "edges", None)) and getattr(graph, "is_directed", lambda: False)():
        for cause, effect, data in graph.edges(data=True):  # type: ignore[attr-defined]
            given.append((cause, effect, data.get("coefficient", data.get("weight"))))
    else:
        raise InputError(f"Causal({graph!r}): give a mapping from causes to their effects, or a networkx.DiGraph")
    for cause, effect, coefficient in given:
        if not isinstance(cause, str) or not isinstance(effect, str):
            raise InputError(f"Causal: the edge from {cause!r} to {effect!r} must join names of columns")
        what = f"Causal: the coefficient from {cause!r} to {effect!r}"
        if coefficient is None or isinstance(coefficient, bool):
            raise InputError(f"{what} is missing; give a number, in networkx as coefficient= of the edge")
        value = number(coefficient, what, "give a number")
        if not (math.isfinite(value) and value != 0.0):
            raise InputError(f"{what} is {value}; give a finite number, and leave edges of 0 out")
        yield cause, effect, value
