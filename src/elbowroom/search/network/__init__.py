"""ReLU networks: certified regions with proven bounds, by linear programs and branching."""

from elbowroom.search.network.engine import FARTHEST, NetworkEngine

__all__ = ["FARTHEST", "NetworkEngine"]
