"""Every limit and tolerance of the linear engine. None of them can make a region valid or a bound false: the judge
decides about centres, and bounds are Lagrangians that are rounded down."""

from __future__ import annotations

# The tree
GAP = 1e-10  # a node whose bound is this close to the best distance is settled
MOST_CUTS = 60
WORTH_REPORTING = 1e-6  # relative rise of the lower bound
WHOLE_VALUE = 1e-7  # a relaxed whole column this close to a whole number is taken as that number
UNMOVED = 1e-12  # of the typical distance: a column that moves less is at the factual
BUDGET_ROUNDING = 1e-13  # relative: rounding of the budget that is left to a column

# The adversary
MOST_NODES = 300  # a weaker attack only means more rounds: validity is the judge's business
WHOLE_SHIFT = 1e-9  # a relaxed shift this little short of a whole number is taken as that number
ON_THE_SURFACE = 1e-12  # within this of the surface of the room, membership is decided exactly
SAME_SHIFT = 1e-12  # relative: shifts closer than this are one scenario
LAST_DIGIT = 1e-15  # relative: a few units in the last place

# Candidates
MOST_STEPS = 2_000  # of climbing
LEAST_PRICE = 1e-12  # of a step of climbing, in units of the distance
MOST_ROUNDS = 40  # of polishing
MOST_REFUSALS = 6
ENOUGH = 1e-13  # relative gain below which another tangent round is not worth its time
NEXT_TO_NOTHING = 1e-11  # of the numbers in a row: what is missing is rounding
ROW_ROUNDING = 1e-12  # of the numbers in a rule: it holds up to this
SAME_SLOPE, SAME_CONSTANT = 1e-12, 1e-13  # relative: tangents closer than this are one

# Least moves
TIGHT = 1e-6  # relative: rows that hold with less to spare are tight
AS_FAR = 1e-9  # relative: moves this close to the farthest one count as farthest (linf)
CANCELLED = 1e-9  # of the numbers in a sum: what is left on an open column where rows cancel
CLEAR = 1e-9  # of the numbers in it: a contradiction without exact multipliers must be larger
BEYOND = 1e-14  # relative: how far a move may pass a bound before the bound becomes a row
NOT_EMPTY = 1e-12  # of the dual of least-distance programming: closer to 0 the rows look contradictory
SAME_POINT = 1e-6  # relative: the point of the active rows replaces the quotient if it is this close
TIE = 1e-12  # relative: a price balances the reach
NO_PRICE = 1e-12  # a total price below this is not scaled up

# Proofs
MOST_OPEN = 60  # open columns that are cancelled in rational arithmetic
SUPPORT = 1e-12  # multipliers below this share of the largest are left out
LAGRANGIAN_ROUNDING = 1e-11  # of the numbers in a Lagrangian whose stretches are cut off
NEARLY_FULL = 1e-9  # of the ball: with less left over, its curvature is not bounded
FEW_ROUNDINGS = 1e-12  # relative
LESS_ERROR = 1e-9  # relative: what a need is lowered by, so that it stays a lower bound

# Moves that are linear forms of several columns, and prices
FACTOR_ROUNDING = 1e-9  # relative: what a column costs at least is rounded down by more than its own rounding
INVERTED = 0.5  # of 1: what a left inverse must be sure of
SHARPENINGS = 3  # rounds of correction of a linear form
PIECE_ROUNDING = 1e-12  # relative: where a piece of a price ends
MOST_KEPT = 20_000  # envelopes of intervals that are remembered
DEPENDENT = 1e-12  # relative: equations with smaller singular values follow from the others
STEEPEST = 1e12  # of the slopes of a price: a steeper segment of an envelope leads nowhere
