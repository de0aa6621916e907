"""The one door between Python and the kernels for balls and diamonds: every door takes seconds to compile."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from elbowroom.kernels.kernel import kernel
from elbowroom.search.trees.bad.find import Stack
from elbowroom.search.trees.balls.candidates.repair import UNFINISHED, polish, pull, repair
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
REPAIRED: Final = -2.0  # by `MEND`: call PULL now


@kernel
def run(
    task: int, model: Ensemble, question: Question, geometry: Geometry, regions: BallRegions, nodes: Nodes, stack: Stack,
    workspace: Workspace, budget: float, noise: float, share: int, limit: int,
) -> float:  # fmt: skip
    """EXPAND: work on up to ``share`` nodes, and how that stopped. MEND: repair the node in workspace.trial (inf: in vain),
    then as PULL. PULL: bring its nearest centre nearer to home. POLISH: push that centre away from what it touches; 0 if it
    is good then. `UNFINISHED` if there was more to do after ``share`` steps, `REPAIRED` if only a pull was unfinished."""
    if task == TASK.MEND:
        total = repair(
            model=model, question=question, geometry=geometry, regions=regions, node=workspace.trial, budget=budget,
            noise=noise, steps=share, limit=limit, stack=stack, workspace=workspace,
        )  # fmt: skip
        if total == UNFINISHED or total == math.inf:
            return total
        pulled = pull(
            model=model, question=question, geometry=geometry, regions=regions, x=workspace.trial.x, steps=share,
            limit=limit, stack=stack, workspace=workspace,
        )  # fmt: skip
        return REPAIRED if pulled == UNFINISHED else total
    if task == TASK.PULL:
        return pull(
            model=model, question=question, geometry=geometry, regions=regions, x=workspace.trial.x, steps=share,
            limit=limit, stack=stack, workspace=workspace,
        )  # fmt: skip
    if task == TASK.POLISH:
        return polish(
            model=model, question=question, geometry=geometry, regions=regions, x=workspace.trial.x, steps=share,
            limit=limit, stack=stack, workspace=workspace,
        )  # fmt: skip
    return float(
        expand_balls(
            model=model,
            question=question,
            geometry=geometry,
            regions=regions,
            nodes=nodes,
            stack=stack,
            workspace=workspace,
            budget=budget,
            share=share,
            limit=limit,
        )
    )
