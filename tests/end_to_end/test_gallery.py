"""The gallery: its script runs, and the page holds every judgement that it has."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "examples" / "gallery.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["gallery"] = module
    spec.loader.exec_module(module)
    return module


def test_its_fast_part_runs() -> None:
    text = script().gallery(("iris",))
    assert text.count("\n> The model said ") == 4 and "the model predicts 'versicolor'" in text


def test_the_page_has_twenty_sentences_of_five_data_sets() -> None:
    page, gallery = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8"), script()
    assert page.count("\n> ") == len(gallery.JUDGED) == 20 and page.count("\n## ") == len(gallery.ROOMS) == 5
    for judgement in gallery.JUDGED.values():
        assert judgement and f"*{judgement}*" in page
