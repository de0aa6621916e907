"""ReLU networks: certified regions with proven bounds, by linear programs and branching."""

from elbowroom.search.network.engine import FARTHEST, search_network

__all__ = ["FARTHEST", "search_network"]
