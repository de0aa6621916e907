"""Tighter ranges of a scenario's neurons at the root of a tree, found by programs."""

from __future__ import annotations

import numpy as np

from elbowroom.search.network.deep_bounds import DeepBounds
from elbowroom.search.network.deep_program import Blocks
from elbowroom.search.network.objective import MoveProgram
from elbowroom.search.network.part import Part


def tighten(bounds: DeepBounds, blocks: Blocks, program: MoveProgram, cutoff: float, j: int) -> None:
    """Ranges of all z of scenario j over the centres within the cutoff for which its margins can be good: two programs
    per open neuron, layer by layer, each bound recomputed by weak duality."""
    search, moves = bounds.search, bounds.search.moves
    reach = Part.everything(moves).within(moves, cutoff)
    if reach is None:
        return
    for k in range(search.network.depth):
        blocks.forget(j)
        made = blocks.assemble(reach, {}, (j,), moves.low)
        if made is None or search.clock.expired:
            return
        block = made.parts[0].block
        targets = np.flatnonzero(block.layer == k)
        if not targets.size:
            continue
        scope = bounds.scope(j, reach)
        layer = (bounds.layers(j, scope, reach, {}, np.zeros(moves.size)) or [])[k]
        low, high = layer.low.copy(), layer.high.copy()
        program.start(made.rows, made.row_low, made.low, made.high, cutoff, made.row_high, as_given=True)
        extra = program.cost.size - made.low.size
        budget = np.concatenate([moves.cost, np.zeros(program.cost.size - moves.size)])
        if extra:
            budget = np.concatenate([np.zeros(made.low.size), np.ones(extra)])
        program.add_row(-budget, -cutoff)
        for i in targets:
            if search.clock.remaining <= 0.0:  # those that are left keep the range they have
                break
            q, constant = int(block.neuron[i]), float(block.z0[i])
            for sign in (1.0, -1.0):
                program.change_cost(np.concatenate([sign * block.Z[i], np.zeros(extra)]))
                bound = program.solve(search.clock.remaining).bound - search.rounding
                if sign > 0.0:
                    low[q] = max(low[q], bound + constant)
                else:
                    high[q] = min(high[q], constant - bound)
        bounds.tight[j, k] = (low, high)
        blocks.forget(j)
