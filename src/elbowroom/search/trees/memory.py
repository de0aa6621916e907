"""The model in cells, and what the parts of one search teach each other.

The model in cells depends on the model and the wanted class alone and costs more than most searches: it is kept from
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
from elbowroom.models.margins import Need, tree_margins
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import RecourseProblem, Space
from elbowroom.search.contract import Clock
from elbowroom.search.trees.cells.build import building
from elbowroom.search.trees.cells.dimensions import Dimensions
from elbowroom.search.trees.cells.gradual import GradualEnsemble, Steps
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.limits import MAX_CENTERS, MAX_REGIONS


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
    ) -> None:
        self.model = model
        self.space = space
        self.target_index = target_index
        self.need = need
        self.dimensions = Dimensions.of(model, space)
        self._hope = _Hope(hopeful)
        # not a method: a memory that held itself would stay until the garbage is collected, with all its arrays
        self._gradual = GradualEnsemble(
            partial(_building, model, space, target_index, need, self.dimensions, self._hope)
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
        return cls(problem.model, problem.space, problem.target_index, problem.target.need, hopeful)

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
            and np.array_equal(self.space.whole_room, problem.space.whole_room)
            and self.space.groups == problem.space.groups
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


def _building(
    model: TreeEnsemble,
    space: Space,
    target_index: int,
    need: Need,
    dimensions: Dimensions,
    hope: _Hope,
) -> Steps:
    """The steps of making the model in cells."""
    margins = tree_margins(model, target_index, need)
    yield
    if hope.asked and margins.open_ties and margins.hopeful is not None:
        hope.of_use, margins = True, margins.hopeful
    return (yield from building(model, space, dimensions, margins))
