"""Limits that both tree engines share."""

from __future__ import annotations

# Memory
TABLE_BYTES = 512 * 2**20  # one row of leaf bits per cell as long as both tables fit into this
POOL_BYTES = 2 * 2**30  # open nodes
STACK_BYTES = 64 * 2**20  # sub-ranges of the adversary
MET_BYTES = 64 * 2**20  # bits that say which regions a room meets
MAX_REGIONS = 50  # handed on to the next question: more cost time at every node and were measured not to pay
MAX_CENTERS = 64  # answers that are kept as starts

# Work
BLOCK = (
    2**18
)  # leaves, or cells of leaves, that are prepared between two looks at the clock: some hundredths of a second
SMALL_WORK = 50_000_000  # words: a fraction of a second also for the largest models
MAIN_PER_NEIGHBOURHOOD = 5  # nodes of the main search per node spent on neighbourhoods
LOWEST_RUNG = 0.05  # of the best total cost: where a ladder begins if nothing is proven yet
HIGHEST_RUNG = 0.75  # of the budget: nearer to it, one search to the end proves more than another rung and then the end
ENVELOPE_LEAVES = 48  # trees with more live leaves go without the exact envelope

# Time: how often Python looks at the clock, never what is searched
SHORT_CALL, LONG_CALL = 0.05, 0.15  # seconds: calls of a kernel should take about this long
ONE_MOMENT = 4_000_000  # words and positions: where one step of a kernel may take longer, an alarm ends it in time
MOST_SHARE = 100_000  # nodes of one call
MOST_IN_RESERVE = 0.25  # of the time limit, for a call that is not interrupted

# Choices and rounding
GREED = 4.0  # how steeply a way out counts less with its cost, in units of the remaining budget
ROUNDING = 1e-12  # relative: more than the rounding of a sum over all dimensions
