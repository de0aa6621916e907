"""The one door between Python and the kernels for balls and diamonds: every door takes seconds to compile."""

from __future__ import annotations

from elbowroom.kernels.kernel import kernel
from elbowroom.search.trees.bad.find import Stack
from elbowroom.search.trees.balls.candidates.repair import polish, pull, repair
from elbowroom.search.trees.balls.expand import expand_balls
from elbowroom.search.trees.balls.geometry import Geometry
from elbowroom.search.trees.balls.regions import BallRegions
from elbowroom.search.trees.balls.workspace import Desk
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.heap import Nodes
from elbowroom.search.trees.question.question import Question

EXPAND = 0
MEND = 1
PULL = 2
POLISH = 3


@kernel
def run(
    task: int, model: Ensemble, question: Question, geometry: Geometry, regions: BallRegions, nodes: Nodes, stack: Stack,
    desk: Desk, budget: float, noise: float, share: int, limit: int,
) -> float:  # fmt: skip
    """EXPAND: work on up to ``share`` nodes, and how that stopped. MEND: repair the node in desk.trial; what its nearest
    centre costs. PULL: bring that centre nearer to home; 0 if nothing moved. POLISH: push it away from what it touches; 0
    if it is good then. `AGAIN` if there was more to do after ``share`` steps."""
    if task == MEND:
        return repair(model, question, geometry, regions, desk.trial, budget, noise, share, limit, stack, desk)
    if task == PULL:
        return pull(model, question, geometry, regions, desk.trial.x, share, limit, stack, desk)
    if task == POLISH:
        return polish(model, question, geometry, regions, desk.trial.x, share, limit, stack, desk)
    return float(expand_balls(model, question, geometry, regions, nodes, stack, desk, budget, share, limit))
