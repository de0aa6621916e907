"""Linear models: exact for every room, distance, feature kind and rule."""

from elbowroom.search.linear.engine import LinearEngine

__all__ = ["LinearEngine"]
