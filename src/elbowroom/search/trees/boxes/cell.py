"""The bad cell that the adversary defends against boxes: see `bad.cell`."""

from __future__ import annotations

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.search.trees.bad.cell import deepest_cell, hard_to_leave
from elbowroom.search.trees.bad.one_hot import choose_categories
from elbowroom.search.trees.boxes.regions import Regions
from elbowroom.search.trees.boxes.workspace import Workspace
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.question.question import Question


@inner_kernel
def choose_cell(question: Question, workspace: Workspace, regions: Regions, row: int) -> None:
    """A bad cell that region and room share and that is hard to leave: far from where the node can move."""
    for d in range(workspace.x.shape[0]):
        o, x = question.pos_start[d], workspace.x[d]
        a = max(question.low_cell[o + x], regions.low[row, d])
        b = min(question.high_cell[o + x], regions.high[row, d])
        workspace.cell[d] = hard_to_leave(a, b, workspace.low[d] == x, workspace.high[d] == x)
    choose_categories(question, regions.low, regions.high, row, workspace.cell)


@inner_kernel
def deepen(model: Ensemble, question: Question, workspace: Workspace, rival: int) -> None:
    """Move the chosen cell, dimension by dimension, to where the rival's sum over the room is smallest."""
    for d in range(workspace.x.shape[0]):
        i = question.pos_start[d] + workspace.x[d]
        workspace.first[d], workspace.final[d] = question.low_cell[i], question.high_cell[i]
        if question.in_free[d] == 1:  # categories cannot change one member at a time
            workspace.first[d] = workspace.final[d] = workspace.cell[d]
    deepest_cell(model, rival, workspace.cell, workspace.first, workspace.final, workspace.suffix, workspace.spare)
