"""``python -m benchmarks report``: docs/results.md, a page of its own and all pictures, from the stored JSON alone."""

from __future__ import annotations

from pathlib import Path

from benchmarks.figures import FIGURES
from benchmarks.figures.speed import draw as draw_speed
from benchmarks.figures.style import save
from benchmarks.record import RESULTS
from benchmarks.report.markdown import results_page
from benchmarks.report.page import html_page
from benchmarks.report.sources import instances, read

DOCS = Path(__file__).resolve().parents[2] / "docs"


def run(out: Path | None = None) -> None:
    """Nothing is computed here. ``out`` is a folder that takes the place of docs/."""
    docs = out or DOCS
    pictures = docs / "images" / "results"
    docs.mkdir(parents=True, exist_ok=True)
    drawn = []
    records = instances()
    if records:
        save(draw_speed(records), pictures, "speed")
        drawn.append("speed")
    for entry in FIGURES:
        content = read(entry.result)
        if content is not None:
            save(entry.module.draw(content), pictures, entry.name)
            drawn.append(entry.name)
    text = results_page(drawn)
    (docs / "results.md").write_text(text)
    page = (out or RESULTS) / "results.html"
    page.write_text(html_page(text, docs))
    print(f"written: results.md, {page.name}, {len(drawn)} figures")
