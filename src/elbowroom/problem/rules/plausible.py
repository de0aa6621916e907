"""Answers that look like the data.

`Plausible` is what users state. It is about a table, and only together with a model, a target and a row it says which points
are plausible: the front door settles it (see `explainer.plausible`) and puts one of the rules below in its place, which hold
all that they need: a file that keeps them can be judged again without the table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

import numpy as np

from elbowroom.errors import InputError
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import Floats, Ints
from elbowroom.problem.conditions import Conditions
from elbowroom.problem.further import Further
from elbowroom.problem.hull import Hull
from elbowroom.problem.parsing import number, parse_bool, parse_enum
from elbowroom.problem.reader import Reader, number_out
from elbowroom.problem.rules.base import Rule
from elbowroom.problem.rules.trees_json import trees_in, trees_out
from elbowroom.problem.space import Space
from elbowroom.problem.target import Target
from elbowroom.visible import listed

USUAL: Final = Target(1)


class How(Enum):
    """What makes a point plausible."""

    FOREST = "forest"
    LEAVES = "leaves"
    HULL = "hull"


@dataclass(frozen=True, eq=False, repr=False)
class Plausible(Rule):
    """The answer looks like rows of a table: at its centre, or at every point of the room.

    Args:
        X: The table.
        y: Its outcomes; then rows with the wanted outcome count.
        how: "forest": an isolation forest does not call it an outlier. "leaves": every leaf of the model that is met holds at
            least ``least`` rows of X. "hull": the numbers that may change lie in the convex hull of those of the
            ``nearest`` rows with the wanted outcome (by ``y``, or by the model).
        everywhere: At every point of the room instead of at its centre alone.
        forest: Your own fitted isolation forest, in place of one that is fitted on X.
        outliers: The share of rows of X that the fitted forest calls outliers.
        trees: Of the fitted forest.
        sample: Rows that each of its trees sees.
        least: Rows in each leaf, for "leaves".
        nearest: Rows that span the hull, for "hull".
        seed: Of the fitted forest.

    Examples:
        >>> explainer.explain(row, room=Box({"salary": 100}), rules=[Plausible(X, how="leaves", least=2)]).status.name
        'OPTIMAL'
    """

    X: object = None
    y: object = None
    how: How | str = How.FOREST
    everywhere: bool = False
    forest: object = field(default=None, kw_only=True)
    outliers: float = field(default=0.1, kw_only=True)
    trees: int = field(default=50, kw_only=True)
    sample: int = field(default=64, kw_only=True)
    least: int = field(default=10, kw_only=True)
    nearest: int = field(default=50, kw_only=True)
    seed: int = field(default=0, kw_only=True)
    made: dict[Any, Any] = field(default_factory=dict, init=False)  # what was fitted, by what it was fitted for

    def __post_init__(self) -> None:
        object.__setattr__(self, "how", parse_enum(How, self.how, "Plausible how"))
        object.__setattr__(self, "everywhere", parse_bool(self.everywhere, "Plausible everywhere"))
        if (self.X is None) == (self.forest is None):
            raise InputError(
                "Plausible takes a table, Plausible(X), or a fitted forest, Plausible(forest=...): one of them"
            )
        if self.forest is not None and self.how is not How.FOREST:
            raise InputError(f"Plausible(forest=..., how={How(self.how).value!r}): a forest is for how='forest'")
        if self.how is How.HULL and self.everywhere:
            raise InputError(
                "Plausible(how='hull', everywhere=True) is not taken: a room has too many corners for the hull; ask for it at "
                "the centre, or for how='forest'"
            )
        share = number(self.outliers, "Plausible outliers")
        if not 0.0 < share <= 0.5:
            raise InputError(f"Plausible outliers={share}: give a share of the rows above 0 and at most 0.5")
        object.__setattr__(self, "outliers", share)
        for name, least in (("trees", 1), ("sample", 3), ("least", 1), ("nearest", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise InputError(f"Plausible {name}={value!r}: give a whole number of at least {least}")
            object.__setattr__(self, name, int(value))

    def __repr__(self) -> str:
        return f"Plausible(how={How(self.how).value!r}, everywhere={self.everywhere})"

    def lower(self, space: Space, factual: Floats) -> Conditions:
        raise InputError("Plausible is about a model as well; give it to an Explainer, in rules=")

    @property
    def words(self) -> str:
        where = "every point of the room" if self.everywhere else "the centre"
        return f"{where} is plausible"

    def fields(self) -> dict[str, Any]:
        raise InputError("Plausible has no JSON form before it was asked about; the rules of an answer have one")

    @classmethod
    def read(cls, entry: Reader) -> Plausible:
        raise entry.wrong("a rule of an answer")


@dataclass(frozen=True, eq=False)
class InForest(Rule):
    """An isolation forest calls the centre, or every point of the room, usual."""

    votes: TreeEnsemble
    everywhere: bool = False

    def lower(self, space: Space, factual: Floats) -> Conditions:
        return _further(self, self.votes, self.everywhere, space)

    @property
    def words(self) -> str:
        said = "calls no point of the room an outlier" if self.everywhere else "does not call the centre an outlier"
        count = self.votes.n_trees
        return f"an isolation forest of {count} {'tree' if count == 1 else 'trees'} {said}"

    def fields(self) -> dict[str, Any]:
        return trees_out(self.votes) | {"everywhere": self.everywhere}

    @classmethod
    def read(cls, entry: Reader) -> InForest:
        return cls(trees_in(entry, "an isolation forest"), entry.at("everywhere").truth())


@dataclass(frozen=True, eq=False)
class OnLeaves(Rule):
    """Every leaf of the model that the centre, or the room, meets holds at least ``least`` rows. The sum counts the others,
    with a minus."""

    votes: TreeEnsemble
    least: int
    everywhere: bool = False

    def lower(self, space: Space, factual: Floats) -> Conditions:
        return _further(self, self.votes, self.everywhere, space)

    @property
    def words(self) -> str:
        where, rows = "the room" if self.everywhere else "the centre", "row" if self.least == 1 else "rows"
        return f"every leaf of the model that {where} meets holds at least {self.least} {rows} of the data"

    def fields(self) -> dict[str, Any]:
        return trees_out(self.votes) | {"least": self.least, "everywhere": self.everywhere}

    @classmethod
    def read(cls, entry: Reader) -> OnLeaves:
        votes = trees_in(entry, "leaves with enough rows")
        return cls(votes, entry.at("least").whole(low=1), entry.at("everywhere").truth())


@dataclass(frozen=True, eq=False)
class InHull(Rule):
    """The numbers of ``columns`` lie, at the centre, in the convex hull of ``points``."""

    columns: tuple[str, ...]
    points: Floats  # (points, columns)

    def lower(self, space: Space, factual: Floats) -> Conditions:
        for name in self.columns:
            if name not in space.position:
                raise InputError(f"InHull: the space has no column {name!r}; its columns are {listed(space.names)}")
        place: Ints = np.array([space.position[name] for name in self.columns], dtype=np.int64)
        return Conditions(hulls=(Hull(place, self.points, self.source),))

    @property
    def words(self) -> str:
        return (
            f"the numbers that may change lie in the convex hull of those of the {len(self.points)} nearest rows with the "
            "wanted outcome"
        )

    def fields(self) -> dict[str, Any]:
        return {"columns": list(self.columns), "points": [[number_out(v) for v in row] for row in self.points.tolist()]}

    @classmethod
    def read(cls, entry: Reader) -> InHull:
        names = tuple(item.text() for item in entry.at("columns").items())
        if not names or len(set(names)) < len(names):
            raise entry.at("columns").wrong("names of columns, each once")
        rows = entry.at("points").items()
        if not rows:
            raise entry.at("points").wrong("a list of at least one point")
        return cls(names, np.stack([row.floats(len(names)) for row in rows]))


def _further(rule: Rule, votes: TreeEnsemble, everywhere: bool, space: Space) -> Conditions:
    if votes.info.names != space.names:
        raise InputError(
            f"{type(rule).__name__} is about the columns {listed(votes.info.names)}, the space has {listed(space.names)}"
        )
    return Conditions(further=(Further(votes, USUAL, everywhere, rule.source),))
