"""The one door between Python and the kernels for balls and diamonds: every door takes seconds to compile."""

from __future__ import annotations

from typing import Final, NamedTuple

from elbowroom.kernels.kernel import kernel
from elbowroom.search.trees.bad.find import Stack
from elbowroom.search.trees.balls.candidates.repair import polish, pull, repair
from elbowroom.search.trees.balls.expand import expand_balls
from elbowroom.search.trees.balls.geometry import Geometry
from elbowroom.search.trees.balls.regions import BallRegions
from elbowroom.search.trees.balls.workspace import Workspace
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.heap import Nodes
from elbowroom.search.trees.question.question import Question


class _Task(NamedTuple):
    """What `run` shall do."""

    EXPAND: int = 0
    MEND: int = 1
    PULL: int = 2
    POLISH: int = 3


TASK: Final = _Task()


@kernel
def run(
    task: int, model: Ensemble, question: Question, geometry: Geometry, regions: BallRegions, nodes: Nodes, stack: Stack,
    workspace: Workspace, budget: float, noise: float, share: int, limit: int,
) -> float:  # fmt: skip
    """EXPAND: work on up to ``share`` nodes, and how that stopped. TASK.MEND: repair the node in workspace.trial; what its nearest
    centre costs. TASK.PULL: bring that centre nearer to home; 0 if nothing moved. TASK.POLISH: push it away from what it touches; 0
    if it is good then. `AGAIN` if there was more to do after ``share`` steps."""
    if task == TASK.MEND:
        return repair(
            model, question, geometry, regions, workspace.trial, budget, noise, share, limit, stack, workspace
        )
    if task == TASK.PULL:
        return pull(model, question, geometry, regions, workspace.trial.x, share, limit, stack, workspace)
    if task == TASK.POLISH:
        return polish(model, question, geometry, regions, workspace.trial.x, share, limit, stack, workspace)
    return float(expand_balls(model, question, geometry, regions, nodes, stack, workspace, budget, share, limit))
