"""Programs as plain arrays, for every solver."""

from elbowroom.search.program.builder import Builder
from elbowroom.search.program.norm_row import NormRow
from elbowroom.search.program.program import Program

__all__ = ["Builder", "NormRow", "Program"]
