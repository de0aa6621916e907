"""What a server is about: two files and how they are read. Handed to every process at work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Setup:
    """The model, the table that says what its features mean, and the options of `questions.read_table`."""

    model: Path
    reference: Path
    trust_pickle: bool = False
    large_table: bool = False
    scale: Literal["usual", "range", "std", "none"] = "usual"
    bounds: Literal["data", "none"] = "data"
    labels: tuple[str, ...] = ()
    immutable: tuple[str, ...] = ()
    increasing: tuple[str, ...] = ()
    decreasing: tuple[str, ...] = ()
    integer: tuple[str, ...] = ()
    one_hot: tuple[str, ...] = ()
    space_file: Path | None = None
