"""Limits of Algorithm 1 and of the heuristic of one leaf; the tolerances are in `solvers.tolerances`, except those of
rounding, which are here. None of them can make a region valid or a bound false."""

from __future__ import annotations

# The loop
SEARCH_SHARE = 0.7  # of the time; the rest is kept for the proof of the lower bound
# For the first region: a share of the nodes that a solver nominally works on in the time limit, whatever its seconds
FIRST_SHARE, NODES_PER_SECOND, MOST_FIRST_NODES = 0.1, 100.0, 10_000
FIRST_REACH, REACH_STEP, REACH_STEPS = 1.0, 4.0, 10
MOST_HARDENINGS = 200  # how often a master's answer may be refused for tolerances alone

# The certified radius of an iterate
RADIUS_STEPS = 40
SECONDS_ON_TREES, SECONDS = 0.2, 0.05  # for one iterate
RADIUS_GAP = 1e-9  # relative

# Adversaries
MOST_SCENARIOS = 6  # per round
HALVINGS = 40  # of the depth of a bad point
DESCENT_STEPS = 10  # inside a room, against a network
SHRINKS = (
    0.0,
    1e-15,
    1e-13,
    1e-11,
    1e-9,
    1e-7,
    1e-5,
)  # how far a point is pulled towards the centre, until it is inside

# One leaf
MOST_ATTEMPTS = 20  # solutions of the program, or nearest leaves, that are shown to the judge
LEAF_REACHES = tuple(4.0**k for k in range(11))  # only with linear rules on unlimited columns

# Proofs
MOST_TANGENTS = 300
MOST_PROGRAMS = 3000  # of a proof that no centre exists anywhere
MOST_VALUES = 8  # whole columns with more values stay real
SUPPORT = 1e-9  # multipliers below this share of the largest are left out

# Candidates
HARDLY_MOVED = 1e-6  # of the largest move: columns beyond the allowed number of changes that are put back

# Rounding, relative
NEURON_ROUNDING = 1e-12  # of the bounds of neurons
POINT_ROUNDING = 1e-13  # of the bounds of the point of a scenario
CELL_ROUNDING = 1e-12  # of the ends of cells
ROOT_ROUNDING = 1e-12  # of a square root
PRODUCT_ROUNDING = 4e-16  # of the products in a row
CONSTANT_ROUNDING = 1e-15  # of the constant of an objective
ERROR_ROUNDING = 1e-9  # of sums of error terms
FACTUAL_SHARE = 1e-3  # of `EPSILONS.outwards`, for the rounding of the factual
# Where sizes vanish
UNIT_WITHOUT_ROOM = 1e-2  # unit of a column without room, in units of the distance
LEAST_MARGIN = 1e-3  # of the largest among the rivals: the unit of a margin, at least
