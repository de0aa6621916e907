"""Regions on axis-aligned trees."""

from elbowroom.search.trees.branch import search_boxes
from elbowroom.search.trees.memory import TreeMemory

__all__ = ["TreeMemory", "search_boxes"]
