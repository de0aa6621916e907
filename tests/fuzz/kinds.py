"""All kinds of hostile inputs, by name. Each is imported by the worker that needs it: forks of a small process are cheap."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Final

from tests.fuzz.kind import Kind


@dataclass(frozen=True)
class Entry:
    """Where a kind is, and its share of all tries."""

    module: str
    of: str
    share: float

    def kind(self) -> Kind:
        made: Kind = getattr(import_module(f"tests.fuzz.{self.module}"), self.of)()
        return made


KINDS: Final = {
    "region files": Entry("region_files", "RegionFiles", 0.3),
    "tables": Entry("tables", "Tables", 0.15),
    "model files": Entry("model_files", "ModelFiles", 0.15),
    "pages": Entry("pages", "Pages", 0.15),
    "solvers' lies": Entry("lies", "Lies", 0.1),
    "kernel cache": Entry("kernel_cache", "KernelCache", 0.05),
    "kills": Entry("kills", "Kills", 0.1),
}
