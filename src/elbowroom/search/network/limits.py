"""Every limit and tolerance of the network engine. None of them can make a region valid or a bound false: the judge
decides about centres, and bounds are recomputed by weak duality. Margins are scaled to about 1."""

from __future__ import annotations

from elbowroom.numerics import TOLERANCES

# How far the engine looks
SLOW, FAST = 1.12, 2.0  # growth of trial cutoffs
EASY = 3  # nodes of a tree after which the next cutoff may grow faster
FARTHEST = 1e6  # open features: beyond this distance no region is searched for

# The margin that candidates aim for
# As a share of the margin that the factual lacks: costs about the same share of the distance, a tenth of the gap at which
# an answer counts as optimal.
SAFETY = 0.1 * TOLERANCES.continuous_gap
# Where that still costs too much; below the rounding of margins a smaller aim is meaningless.
LESS, LEAST_SAFETY = 0.03, 1e-12
COARSENESS = 2.0  # times the error of the original about the factual: the judge counts it for a whole room at once
SHORTAGE = 1.5  # times what a refused candidate lacked: added to that
MORE = 3.0  # times the margin aimed for after a refusal
MISSED = 1e-9  # a margin counts as missed by more than this
VIOLATED = -1e-7  # below this margin a scenario is violated; the safety margin of incumbents has the same size

# Looks for verdicts, as shares of what the judge nominally does in the time limit
# One verdict gets a tenth of it, or a quarter where that is only seconds; all that end without a decision get a third
# together, then only moments: the search for a bound needs time as well.
SLICE, LARGEST_SLICE, A_FEW_SECONDS, SHORTEST_SLICE = 0.1, 0.25, 4.0, 0.5
UNDECIDED_SHARE = 0.3
SECOND_LOOK = 0.7  # for a centre that needed more than its slice, while others wait as well

# Attacks
THOROUGH, FLIPS = 24, 6  # attacks with this many starts go on input by input from this many points
SLIDES, MOST_SURPRISES = 20, 8  # short steps of such attacks on deep networks; more after every surprise
FIRST_STEP, LAST_STEP = 0.5, 1e-3  # of short steps, as shares of half the diagonal
LEAST_DESCENT = 1e-12  # a step that lowers the margin by less ends the attack
INWARDS = 1e-15  # relative: rounding must not carry a point out of its room
SAME_SHIFT = 1e-9  # share of the room: shifts closer than this are one scenario

# Local search with a trust region
CONSIDERED = 80  # scenarios, the worst ones, per rival
NARROWEST = 1e-6  # trust region
PASSES = 24
MOST_SETTLINGS, SURPRISES = 100, 2  # attempts in all; verdicts against candidates before the aim rises
WORTHWHILE = 0.1 * TOLERANCES.continuous_gap  # least improvement that is worth a verdict
FIRST_RADIUS = 0.02  # of the trust region, as a share of the distance
TIE_BREAK = 1e-3  # price of distance against margin while climbing
BUNDLE, LARGE_BUNDLE = 3, 10  # failed steps in a row (climbing, settling) whose tangents are kept before D is halved
GENEROUS = 0.02  # margin at which climbing ends, at least: settling needs room to move

# Kicks of the first regions without success, after which the proof begins; kicks in all for networks that are proven soon
FRUITLESS, KICKS_IF_SMALL, FEW_NEURONS = 16, 3, 64
STARTS = 4  # of descents, besides the row itself

# Attempts at a region nearby before it is asked whether there is one anywhere; programs about linear pieces for that
FEW_ATTEMPTS, MANY_ATTEMPTS = 6, 60
LEAST_PIECES, PIECES_PER_SECOND = 400, 200.0

# Simplices: how many at first, and the gain per doubling, as a share of the distance, below which the tree takes over; sooner for
# networks whose trees are quick; how many at most between kicks, and how many of these
FIRST_SIMPLICES, HARDLY_RISING, SMALL_HARDLY_RISING = 64, 0.005, 0.02
MOST_SIMPLICES, KICKS_BETWEEN = 256, 3
# Their cutoffs: against the bound at once, growth after easy ones and after others, and when the next one is the best distance
FIRST_CUTOFF, FAST_CUTOFF, SLOW_CUTOFF, ALMOST_THE_BEST = 1.2, 1.3, 1.15, 1.03
SHORTEST_CUTOFF = 0.05  # of the distance at which the factual's tangent reaches the margin, where there is no bound yet

# Sequential programs and the convex-concave procedure
MOST_INNER_CUTS = 60
STEP_GAIN = 1e-7  # relative gain below which a local search stops
CLOSER = 1e-9  # relative: what counts as closer than the best
SAME_POINT = 1e-11  # relative: moves of a step that no longer counts as one
UNLIMITED_REACH, LEAST_REACH = 1e9, 1e-12  # cutoffs of a program while nothing is known, and at least
FIRST_ASCENT, LAST_ASCENT = 1e-3, 1e-9  # steps of the gradient ascent

# Parts of the search space
FRACTIONAL = 1e-7  # a whole move farther than this from a whole number of steps is branched on
ALMOST_A_STEP = 1e-9  # a move this little short of a whole number of steps has that number
MOVED = 1e-9  # a block that moves less counts as unchanged
BOTH_USED = 1e-12  # two moves that exclude each other are both used beyond this
NARROWEST_PART = 1e-9  # of the cutoff: narrower parts are not halved
FEW_ROUNDINGS = 1e-12  # relative: what bounds are widened by, against their own rounding
OUTSIDE = (
    TOLERANCES.continuous_gap
)  # relative: how far beyond the farthest corner the cutoff lies: trees leave out half a gap

# Programs
FEW_STEPS, MANY_STEPS = 25, 2**31 - 1  # of the simplex method: in trials, and otherwise
FEASIBILITY = 1e-9  # asked of the solver, primal and dual
SMALLEST_COEFFICIENT = 1e-12  # the solver drops what is smaller
MOST_TANGENTS = 60
KEPT_TANGENTS = 20
LENGTH_GAP = 0.05 * TOLERANCES.continuous_gap  # of a Euclidean length: closer tangents are not added
LENGTH_ROUNDING = 1e-12  # the same, absolute
UNIT_ROUNDING = 1e-14  # relative: a unit vector must not be longer than 1

# Trees of networks with one hidden layer
MOST_CUTS = 200
POLISHES = 4
NEAR = 1e-3  # tangents of clipped rooms mislead far from where they were taken: a second polish only goes this far
PATIENCE, LITTLE = 3, 0.2  # stop cutting after this many rounds that close less than this share of the gap
TIGHT_ROW = 1e-7  # rows with less slack are handed on to the children

# Trees of deep networks
MOST_POLISHES = 10
MOST_COPIES = 4  # kept from node to node, besides those branched on
TIGHT = 1e-3  # margin up to which a scenario is tight at the best centre
# Nodes whose relaxed centre starts sequential programs: the first ones, then at regular intervals
MOST_DESCENTS, DESCENTS = 5, 40
FIRST_CLIMB, CLIMBS = 5, 50  # and those where it starts a local search with a trust region
FIRST_KICK, KICKS = (
    10,
    2,
)  # nodes until kicks of the best centre, and how many; twice as many nodes after each one that fails
MOST_TIGHTENED = 40  # scenarios whose ranges are tightened by programs
MOST_NEURONS = 150  # beyond this, tightening costs more than it gives
TRIED, TRIED_BY_PRICE = 4, 2  # neurons tried before branching on one
LOOKAHEAD = 2  # stop trying after this many that are no better
LEAST_GAIN = 1e-5  # of a child, as a share of the goal: the other child's gain counts as well
NOISE = 1e-11  # errors of relaxations below this are noise
MOST_BLOCKS = 800  # of copies, kept for later nodes
