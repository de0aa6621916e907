"""The closest centre that also keeps its class with a promised probability when it slips."""

from elbowroom.search.keeping.engine import KeepingEngine

__all__ = ["KeepingEngine"]
