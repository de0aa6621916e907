"""Limits of the search for balls and diamonds, besides those that all tree engines share."""

from __future__ import annotations

from elbowroom.numerics import TOLERANCES

# Thresholds on phi(radius), from the smallest room to the largest: each is apart from 1 by more than what comes before it
NEARLY_GOOD = 1.0 - 1e-4  # from here on a centre may be polished
NEARLY = 1.0 - 1e-6  # closes a node: splits at a finer scale would creep
INSIDE = 1.0 - 1e-9  # sum phi(a_f / r_f) of the inscribed box: rounding does not carry it outside
TARGET = 1.0 - 1e-12  # a good centre has sum phi(gap) > 1 for every bad region; less than that by more than rounding
SURE = 1.0 + 1e-9  # candidates are checked with this before the judge sees them
ENOUGH = 1.0 + 5e-7  # what a linear program asks for: more than the solver's tolerance of 1e-7
WITHIN = 1.0 + 1e-6  # semi-axes: what is farther away than this is met by no room in use

# What is promised, and rounding
GAP = 0.9 * TOLERANCES.continuous_gap  # a little less than promised: rounding must not lift the gap over it
SAFE = 1.0 - 1e-9  # lengths that are forced are cut by this factor, so that rounding forces nothing
NEGLIGIBLE = 1e-9  # relative: what does not count as a violated row of the simplex method, or as a pivot
VIOLATED = 1e-6  # what a proposed centre must lack before a signed row is added
FEW_ROUNDINGS = 1e-14  # relative: more than the rounding of the few operations of a tie
MARGIN = 1e-10  # relative: how far past the edge repaired centres lie

# Nodes
FIRST_NODES = 200  # before the first large neighbourhood
NEIGHBOURHOOD_NODES = 200
PLUNGE_EVERY = 30
RUNGS = 1.1  # total costs that are ruled out one after the other, each so many times the last
DEEPEST = 40  # nodes of a dive
MOST_ROUNDS = 30  # of tightening per node
RISE = 1e-3  # relative rise of the key that puts a node back
MOST_TIES = 2000  # nodes that are settled by the judge alone
MOST_FRUITLESS = 10  # descents from closed nodes in a row before they are given up: ties have none
CHILDREN = 8  # more than the rows of the pool that a split along one literal needs

CREEP = 0.25  # semi-axes: where a step out of an inscribed box is shorter, literals are split one by one

# Choice of the region to split on, and of the split
COARSE = 0.4  # need below which a region waits until no other is left: splits at a fine scale gain little
LATER = 1e-9  # factor on the score of such a region
LEAST_EASE = 1e-300  # keeps scores finite
GRID = 32  # points at which a literal's possible gains are looked at
HALVINGS = 40
WORTH_CUTTING = 0.1  # part of the range that must be impossible before it is cut out
SPACE_BEYOND = 0.05  # part of ``full`` that the node must have beyond it

# Regions and their cover
MAX_LEARNED = 20_000
MAX_MET = 800  # regions that are compared and covered: the more, the better the bound, and most nodes meet fewer
MAX_SIGNED = 64  # rows that the linear program adds to them
MAX_SLOTS = 256  # literals of the linear program
QUEUE = 16  # regions that are priced at every pivot; all of them only when these are covered
PIVOTS = 4  # per literal
BEYOND = 1.01  # how far an unbounded row goes past what is enough
NEAR = 1.0  # semi-axes: with more than this left to spend, signed rows were measured not to pay
FILLINGS = 30  # halvings of the level to which an inscribed box is filled up

# Candidates
ALLOWANCE = 1.5  # repairs may cost this times the best: pulling a centre home makes it cheaper
DIVES = 10
REPAIRS = 6  # of the centre of a box, the first one plain, the others with noise
MOST_STEPS = 2400  # for one repair, and for pulling once
STEPS_AT_ONCE = 200  # between two looks at the clock; fewer for large models
LINE_STEPS = 100
OVER = 0.5  # part of the missing way that is added to it: several regions are left together sooner
EVEN = 0.02  # semi-axes: moves shorter than this count as equal
WORTH_PULLING = 1e-9  # relative: a pull that gains less is not worth another round
MOST_PROGRAMS = 20  # linear programs for one descent
MOST_ROWS = 2000  # of one such program
WINDOW, SMALLEST_WINDOW = 0.5, 0.005  # semi-axes within which they are true enough
WORTH_A_PROGRAM = 1e-6  # relative gain that makes another one worthwhile
BOX_SIZES = (1.0, 0.8, 0.6, 0.4)  # of the boxes, against the box around the room
# Nodes of the search for each of them: words of leaves that they look at together, for a node takes about 12 us per word.
BOX_WORDS, FEWEST_BOX_NODES, MOST_BOX_NODES = 100_000, 20, 4000
