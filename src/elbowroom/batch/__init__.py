"""Many rows at once: asked in parallel, kept in a store that survives a crash, told as a table and as an audit."""

from elbowroom.batch.result import BatchResult
from elbowroom.batch.runner import BatchProgress

__all__ = ["BatchProgress", "BatchResult"]
