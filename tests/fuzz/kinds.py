"""All kinds of hostile inputs, by name."""

from __future__ import annotations

from tests.fuzz.kernel_cache import KernelCache
from tests.fuzz.kills import Kills
from tests.fuzz.kind import Kind
from tests.fuzz.lies import Lies
from tests.fuzz.model_files import ModelFiles
from tests.fuzz.pages import Pages
from tests.fuzz.region_files import RegionFiles
from tests.fuzz.tables import Tables

KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (RegionFiles(), Tables(), ModelFiles(), Pages(), Lies(), KernelCache(), Kills())
}
