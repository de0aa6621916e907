"""Pictures of the pages for the documentation, taken by the system's Chromium: ``python -m tools.screenshots``.

The credit story of the demonstration, so that anyone can make them again.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import joblib
from PIL import Image

from elbowroom import AtMost, Box, Explainer, Region
from elbowroom.present.credit import german_credit
from elbowroom.present.demo import german_story

IMAGES = Path(__file__).parents[1] / "docs" / "images"
DATE = "2026-11-18"
COLOURS = 200  # of a picture: enough for a page, and half of its size


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        sys.exit("no Chromium on the path: install it, for example with apt-get install chromium")
    with sync_playwright() as running:
        started = running.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


def pages() -> dict[str, str]:
    """Every page that is photographed, by name."""
    story = german_story()
    explainer = Explainer(story.model, story.space)
    about: dict[str, Any] = {"case": "A-333", "date": DATE, "model": "credit.joblib"}
    menu = explainer.menu(story.row, story.room)
    closest = menu[-1]
    free = explainer.explain(
        story.row,
        room=Box({"duration": 2, "amount": 250}, categories={"savings": ["100 to 500 DM", "500 to 1,000 DM"]}),
    )
    assert isinstance(free, Region)
    none = explainer.explain(story.row, room=Box({"duration": 30, "amount": 4000}), rules=[AtMost(1)])
    assert not none, "this room was chosen because no region is so wide"
    return {
        "menu": menu.to_html(**about),
        "wide": closest.to_html(widening=explainer.widen(closest), **about),
        "categories": free.to_html(**about),
        "none": explainer.why_not(none).to_html(**about),
    }


def serve(running: Any, folder: Path) -> None:
    """The page of the server with one question and its answer."""
    story = german_story()
    joblib.dump(story.model, folder / "credit.joblib")
    german_credit()[0].to_csv(folder / "credit.csv", index=False)
    command = [
        sys.executable,
        "-m",
        "elbowroom",
        "serve",
        f"{folder}/credit.joblib",
        "--reference",
        f"{folder}/credit.csv",
    ]
    command += ["--trust-pickle", "--port", "0", "--immutable", "age"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        page = running.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(address)
        page.wait_for_selector("#ask:enabled", timeout=120_000)
        page.fill("#number", "333")
        page.click("#load")
        page.fill("#case", "A-333")
        page.check("#widen")
        page.click("#ask")
        page.wait_for_selector("#page:visible", timeout=120_000)
        page.frame_locator("#page").locator(".verdict").first.wait_for()
        keep(page.screenshot(), "serve")
        page.close()
        server.terminate()


def keep(picture: bytes, name: str) -> None:
    small = Image.open(BytesIO(picture)).convert("RGB").quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE)
    small.save(IMAGES / f"{name}.png", optimize=True)


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    story = german_story()
    answer = Explainer(story.model, story.space).explain(story.row, room=story.room)
    assert isinstance(answer, Region)
    (IMAGES / "map.png").write_bytes(answer.map("duration", "amount").picture("png"))
    html = pages()
    with browser() as running, tempfile.TemporaryDirectory() as folder:

        def shot(name: str, page: str, width: int, height: int, scheme: str = "light", act: Any = None) -> None:
            file = Path(folder) / f"{page}.html"
            file.write_text(html[page], encoding="utf-8")
            opened = running.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            opened.goto(file.as_uri())
            if act is not None:
                act(opened)
            small = (
                Image.open(BytesIO(opened.screenshot()))
                .convert("RGB")
                .quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE)
            )
            small.save(IMAGES / f"{name}.png", optimize=True)
            opened.close()

        def beyond(page: Any) -> None:
            page.locator('[data-control="1"] input[type=text]').fill("11,200")

        shot("page", "menu", 1100, 760)
        shot("page-phone", "wide", 390, 844)
        shot("page-beyond", "wide", 1100, 760, act=beyond)
        shot("page-dark", "categories", 1100, 760, "dark")
        shot("page-none", "none", 1100, 760)
        serve(running, Path(folder))


if __name__ == "__main__":
    main()
