"""Limits of the search for boxes, besides those that all tree engines share."""

from __future__ import annotations

CLOSE = 1e-10  # relative: nothing closer by more than this is missed

# Incumbents
STARTS = 4  # answers of other boxes of the same search from which incumbents are sought
STEPS = 200  # of an ascent
STEPS_AT_ONCE = 4  # between two looks at the clock
SHORT_LOOK = 300  # sub-ranges the adversary may visit while climbing
LONG_LOOK = 20_000  # and before giving up
SHRINK_LOOK = 3_000
SHRINK_ROUNDS = 3

# Nodes
FIRST_NODES = 100  # before the first large neighbourhood
NEIGHBOURHOOD_NODES = 300
FIRST_TAPE = 1 << 18  # numbers of a log, at first
MANY_WORDS = 64  # of leaves: a node takes so long that the clock is looked at after each, at first
MOST_DELAYS = 3  # a node whose key rose is put back at most this often before it is split

# Learned regions
MAX_LEARNED = 4096
MAX_HITS = 20  # of the regions that a room meets, this many are compared
