"""The pictures of the concepts: their script still finds what the page says, and the pictures are small."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from elbowroom import Ball, Box, Diamond, Region
from tests.support.hostile import attack

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "docs").exists(), reason="the source archive holds no docs")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("concepts_pictures", ROOT / "examples" / "concepts_pictures.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["concepts_pictures"] = module
    spec.loader.exec_module(module)
    return module


def test_each_picture_is_on_the_page_and_small(script: ModuleType) -> None:
    page = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
    for make in (script.cells, script.rooms, script.judge, script.bounds):
        name = f"images/concept-{make.__name__}.png"
        assert f"]({name})" in page and (ROOT / "docs" / name).stat().st_size < 60_000


def test_rounder_rooms_are_closer_and_the_judge_refuses_the_box(script: ModuleType) -> None:
    explainer, row = script.question()
    found = [explainer.explain(row, room=room(100 * script.RADIUS)) for room in (Box, Ball, Diamond)]
    for region in found:
        assert isinstance(region, Region)
        attack(explainer.predict, region.body, "approved")
    distances = [region.distance for region in found]
    assert distances == sorted(distances, reverse=True) and len(set(distances)) == 3
    refused = explainer.certify(found[-1].center, Box(100 * script.RADIUS), "approved")
    assert not refused and explainer.predict(refused.point[None])[0] == "rejected"
    assert len(script.judge().axes) == 2  # its own assertions hold
