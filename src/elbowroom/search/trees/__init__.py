"""Regions on axis-aligned trees."""

from elbowroom.search.trees.engine import TreeEngine
from elbowroom.search.trees.memory import TreeMemory

__all__ = ["TreeEngine", "TreeMemory"]
