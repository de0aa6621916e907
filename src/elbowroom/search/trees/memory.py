"""The model in cells, and what the parts of one search teach each other.

The model in cells depends on the model, the wanted class and the further margins alone and costs more than most searches: it is kept from
question to question. What a search learns is not, although it stays true: a bad region (a range of cells on which some
rival wins everywhere) or an accepted centre from another question leads the search along another path, to another of the
centres that count as closest. The same question must get the same answer, whatever was asked before. So lessons are
handed on within one search only: from box to box where balls look for their first answers.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np

from elbowroom.kernels.tools import Shorts
from elbowroom.models import TreeEnsemble
from elbowroom.models.margins import Need, TreeMargins, tree_margins
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import RecourseProblem, Space
from elbowroom.problem.further import Further
from elbowroom.search.contract import Clock
from elbowroom.search.trees.cells.build import Part, building
from elbowroom.search.trees.cells.dimensions import Dimensions
from elbowroom.search.trees.cells.gradual import GradualEnsemble, Steps
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.limits import MAX_CENTERS, MAX_REGIONS, TABLE_BYTES


@dataclass
class _Hope:
    """Whether points within rounding of a tie count as good: asked for, and of use because there may be such points."""

    asked: bool
    of_use: bool = False


class TreeMemory:
    """The model in cells, the bad regions learned so far and the centres accepted so far, for one wanted class.

    ``hopeful``: points within rounding of a tie count as good, so that what is bad has another class for certain, and what is
    proven about all centres is proven for those as well. Otherwise only what can be proven good is good.
    """

    def __init__(
        self,
        model: TreeEnsemble,
        space: Space,
        target_index: int,
        need: Need = None,
        hopeful: bool = False,
        further: tuple[Further, ...] = (),
        tied: frozenset[int] = frozenset(),
        margins: TreeMargins | None = None,
        table_bytes: int = TABLE_BYTES,
    ) -> None:
        self.model = model
        self.tied = tied  # columns that rules tie to others
        self.space = space
        self.target_index = target_index
        self.need = need
        self.further = tuple(each.key for each in further)
        self.dimensions = Dimensions.of(model, space, further, tied)
        self._hope = _Hope(hopeful)
        # not a method: a memory that held itself would stay until the garbage is collected, with all its arrays
        self._gradual = GradualEnsemble(
            partial(
                _building, model, space, target_index, need, further, self.dimensions, self._hope, margins, table_bytes
            )
        )
        self._forget()

    def _forget(self) -> None:
        n_dims = self.dimensions.columns.size
        self.low: Shorts = np.zeros((0, n_dims), np.int32)
        self.high: Shorts = np.zeros((0, n_dims), np.int32)
        self.rival: Ints = np.zeros(0, np.int64)
        self.centers: list[Floats] = []

    @classmethod
    def of(cls, problem: RecourseProblem, hopeful: bool = False) -> TreeMemory:
        """A fresh memory for the model and the target of a question about trees."""
        if not isinstance(problem.model, TreeEnsemble):
            raise TypeError(f"boxes on trees need a TreeEnsemble, not {type(problem.model).__name__}")
        about = problem.model, problem.space, problem.target_index, problem.target.need
        return cls(*about, hopeful, problem.further, tied_columns(problem))

    @property
    def hopeful(self) -> bool:
        """True if ties count as good here; known once the model in cells is made."""
        return self._hope.of_use

    def ready(self, clock: Clock) -> bool:
        """True if the model in cells is made; if not, the time was over first, and the next call goes on."""
        return self._gradual.ready(clock)

    @property
    def ensemble(self) -> Ensemble:
        """The model in cells."""
        return self._gradual.ensemble

    @ensemble.setter
    def ensemble(self, made: Ensemble) -> None:
        self._gradual = GradualEnsemble.of(made)

    def anew(self) -> Self:
        """The same model in cells, with nothing learned."""
        made = copy.copy(self)
        made._forget()
        return made

    def fits(self, problem: RecourseProblem) -> bool:
        """True if what was learned holds for this question: same model, wanted class and kinds of columns."""
        return (
            self.model is problem.model
            and self.target_index == problem.target_index
            and self.need == problem.target.need
            and self.further == tuple(each.key for each in problem.further)
            and np.array_equal(self.space.whole_room, problem.space.whole_room)
            and self.space.groups == problem.space.groups
            and self.tied == tied_columns(problem)
        )

    def learn(self, low: Shorts, high: Shorts, rival: Ints, uses: Ints) -> None:
        """Keep the regions that were of use most often (the newest first among equals)."""
        newest_first = np.arange(uses.size)[::-1]
        order = newest_first[np.argsort(-uses[newest_first], kind="stable")][:MAX_REGIONS]
        self.low, self.high, self.rival = low[order].copy(), high[order].copy(), rival[order].copy()

    def remember(self, center: Floats) -> None:
        """Keep an accepted centre."""
        self.centers.append(center.copy())
        del self.centers[:-MAX_CENTERS]

    def nearest_centers(self, problem: RecourseProblem, count: int) -> list[Floats]:
        """Earlier answers, nearest first."""
        return sorted(self.centers, key=problem.measure)[:count]


def tied_columns(problem: RecourseProblem) -> frozenset[int]:
    """Columns whose values depend on those of other columns."""
    if not problem.ruled:
        return frozenset()
    tied = {option.column for clause in problem.conditions.clauses for option in clause.options}
    for row in problem.conditions.rows:
        tied |= set(np.flatnonzero(row.coefficients).tolist())
    return frozenset(tied)


def _building(
    model: TreeEnsemble,
    space: Space,
    target_index: int,
    need: Need,
    further: tuple[Further, ...],
    dimensions: Dimensions,
    hope: _Hope,
    margins: TreeMargins | None,
    table_bytes: int,
) -> Steps:
    """The steps of making the model in cells, and all further margins beside it; the margins of the model are its own unless
    given."""
    parts = [Part(model, tree_margins(model, target_index, need) if margins is None else margins)]
    yield
    for each in further:
        parts.append(Part(each.model, each.margins, not each.everywhere))
        yield
    if hope.asked and any(part.margins.open_ties for part in parts):
        hope.of_use = True
        parts = [part._replace(margins=part.margins.hopeful or part.margins) for part in parts]
    return (yield from building(parts, space, dimensions, table_bytes))
