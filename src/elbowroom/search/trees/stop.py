"""How the expansion of nodes stopped, for both engines."""

from __future__ import annotations

from typing import Final, NamedTuple


class _Stop(NamedTuple):
    EMPTY: int = 0  # no node with a key below the budget is left
    PAUSED: int = 1  # the share of nodes is used up
    CANDIDATE: int = 2  # the nearest centre of the node in the workspace is good by the engine's own sums, or nearly so
    FULL: int = 3  # the pool of nodes has no room for another split
    STUCK: int = 4  # the adversary needs a larger limit or stack
    ENDED: int = 6  # the time is over: the node that was being worked on is lost, and what the heap holds is not all
    FINE: int = 5  # the node in the workspace is too small to be split any further (balls and diamonds)


STOP: Final = _Stop()
