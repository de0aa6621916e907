"""A file of JSON lines that several processes append to and that survives a kill at any moment.

Every entry is one write of one line to a file opened for appending. A line torn by a kill is skipped when read, and the
next writer starts on a fresh line.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.record import line


@dataclass(frozen=True)
class Lines:
    path: Path

    def clear(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(b"")

    def append(self, entry: dict[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = line(entry) + "\n"
        if self._torn():
            text = "\n" + text
        with self.path.open("ab", buffering=0) as file:
            file.write(text.encode())

    def _torn(self) -> bool:
        if not self.path.exists() or self.path.stat().st_size == 0:
            return False
        with self.path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) != b"\n"

    def read(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return []
        entries = []
        for text in self.path.read_text(errors="replace").splitlines():
            try:
                entry = json.loads(text)
            except ValueError:
                continue  # torn by a kill: its instance is done again
            if isinstance(entry, dict):
                entries.append(entry)
        return entries
