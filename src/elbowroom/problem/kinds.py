"""Which values a column takes, and which way it may move."""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """Which values a feature takes."""

    NUMERIC = "numeric"
    INTEGER = "integer"
    BINARY = "binary"


class Direction(Enum):
    """Which way a feature may move, compared with the factual."""

    ANY = "any"
    INCREASING = "increasing"
    DECREASING = "decreasing"


class Missing(Enum):
    """What may become of a value that is missing in the row asked about."""

    KEEP = "keep"
    FILL = "may be filled"
