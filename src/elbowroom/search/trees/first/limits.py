"""Limits of the search for first regions. All are counts: nothing here depends on the speed of a machine."""

from __future__ import annotations

LARGE = 4_000  # leaves: smaller models are in cells within a moment, and proven from there

# Climbing
STEPS = 400  # of one climb
LAZY = 1.2  # the best fresh rate must beat the stale ones by this factor before the others are left alone
SAME = 1e-12  # relative: gains below this are rounding

# Rounds of ruin and recreate
NOISES = (3, 10, 16)  # tenths: how much the rates of a round vary at random
LOOSE = 1.03  # where the judge has the last word, rounds may arrive this much above the best, and are polished
WORK_PER_SECOND = 30_000_000  # nodes walked, nominally: turns shares of the time limit into work
FIRST_SHARE = 0.15  # of the time limit, as nominal work, until the proof begins
LEAST_WORK = 3_000_000  # and never less than this
PATIENCE = 2.0  # rounds end once this many times the work up to the last better centre has gone by without another
FIRST_CLIMBS = 20  # the least patience, in units of the first climb's work

MOST_PARTS = 60  # of a question with rules, in which a first region is looked for

# The walking adversary
LOOK = 60  # sub-boxes of one question
POLISH = 4_000  # sub-boxes of one polishing
ASK_EVERY = 3  # steps of an exact climb between two questions
EXACT_SHARE = 0.5  # of the work, at most, for rounds in which the adversary decides
POOL = 128  # bad boxes that are kept and tried first
LEVELS_BYTES = 2**25  # for the sub-boxes that are still to be looked at
JUDGE_LOOKS = 50.0  # of the judge, for one candidate

# The proof
CLOSER = (
    0.9  # of the total cost: a centre that comes this much closer leaves so much less of the trees that all begins anew
)
MOST_WORK = 1_800_000_000  # nominal work of a minute: of a longer limit, more goes to the proof
MANY_LEFT = 12_000  # leaves: where this many are left, nodes are slow, and
LONG_SHARE = 0.6  # of the time limit, as nominal work, goes into rounds
TABLE_BYTES = 192 * 2**20  # of the model in cells, which is made for this question alone

# The bound by shares of the cost
MU_STEPS = 8  # bisections of the price of the margin, per sweep
PACE, MOST_PACE = 1.02, 1.05  # by how much the price of the margin runs ahead while it rises
FEW_SWEEPS = 10  # between two looks at how much the bound has risen
RISING = 0.003  # of the best cost: sweeps end once a few of them raise the bound by less
PATIENT_SWEEPS = (
    20  # in which the adversary stays where it stands: policies that adapt to shares of nothing lead astray
)
SPLIT_SHARE = 0.4  # of the time limit, as nominal work, at most for the sweeps before the first part
LEAST_SWEEPS = (
    60  # before the first part, unless they hardly raise the bound: parts of shares that say little are worth little
)
BRANCH_SHARE = (
    0.01  # the same for parts; where many leaves are left, or rooms are single points, parts get all that is left
)
SECONDS_PER_LEAF = 1e-5  # shares are not begun with less time than this
STAND_STEPS = 12  # of the descent to where the adversary stands

# Parts of the centres, each with shares of its own
LOT = 4  # parts that are divided at once, by as many threads as there are
PART_SWEEPS = 3  # of a part, before and after windows
AGAIN = 1  # times that windows may leave much less
PART_WORK = 5_000  # of making a part, besides the entries that its sweeps look at
PART_BYTES = 2**27  # of shares that open parts keep
# Of shares and entries that are worked on at once: where they take more, fewer threads work, and at last there are no shares
SHARES_BYTES = 2**30
BYTES_PER_LEAF = 320  # of shares: some 30 for each of about ten features that limit a leaf
COPIES = 4  # the whole, a part, one of its sides, and what windows leave of that
