"""ReLU networks: certified regions with proven bounds, by linear programs and branching."""

from elbowroom.search.network.engine import search_network

__all__ = ["search_network"]
