"""Linear models: exact for every room, distance, feature kind and rule."""

from elbowroom.search.linear.engine import search_linear

__all__ = ["search_linear"]
