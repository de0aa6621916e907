"""How numbers are written in the tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def number(value: float | None, pattern: str) -> str:
    return "-" if value is None else pattern.format(value)


def pair(mean: float | None, error: float | None, digits: int) -> str:
    """mean (standard error), as in the paper."""
    if mean is None:
        return "-"
    second = "-" if error is None or math.isnan(error) else f"{error:.{digits}f}"
    return f"{mean:,.{digits}f} ({second})"


def stops(count: int, radius: float | None) -> str:
    """Early stops with the mean certified radius of what was returned."""
    return str(count) if not count or radius is None else f"{count} (radius {radius:.3f})"


def share(values: Sequence[bool]) -> str:
    return f"{100 * sum(values) / len(values):.0f} %" if values else "-"


def table(header: Sequence[str], lines: Iterable[Sequence[str]], left: int = 1) -> str:
    """A Markdown table; the first ``left`` columns are text, the others numbers."""
    marks = ["---"] * left + ["---:"] * (len(header) - left)
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, marks, *lines])
