"""ReLU networks: certified regions with proven bounds, by linear programs and branching."""

from elbowroom.search.network.engine import NetworkEngine
from elbowroom.search.network.limits import FARTHEST

__all__ = ["FARTHEST", "NetworkEngine"]
