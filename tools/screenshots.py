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
import numpy as np
import pandas as pd
from PIL import Image
from sklearn.ensemble import GradientBoostingClassifier

from elbowroom import AtMost, Box, Explainer, Region
from elbowroom.present.credit import german_credit
from elbowroom.present.demo import german_story

IMAGES = Path(__file__).parents[1] / "docs" / "images"
DATE = "2026-11-18"
SHEET, MARGIN = (794, 1123), (57, 45)  # A4 at 96 dots per inch, and 15 and 12 mm of it
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


@contextmanager
def serving(running: Any, folder: Path, model: Any, table: pd.DataFrame, *options: str) -> Iterator[Any]:
    """The page of a server of its own."""
    joblib.dump(model, folder / "credit.joblib")
    table.to_csv(folder / "credit.csv", index=False)
    command = [
        sys.executable,
        "-m",
        "elbowroom",
        "serve",
        str(folder / "credit.joblib"),
        "--trust-pickle",
        "--port",
        "0",
    ]
    with subprocess.Popen(
        [*command, "--reference", str(folder / "credit.csv"), *options], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        page = running.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(240_000)
        page.goto(server.stdout.readline().split()[-1])
        page.wait_for_selector("#ask:enabled")
        yield page
        page.close()
        server.terminate()


def answered(page: Any) -> None:
    page.wait_for_selector("#stop", state="hidden")
    page.wait_for_selector("#page:visible")
    page.frame_locator("#page").locator(".status").first.wait_for()


def serve(running: Any, folder: Path) -> None:
    """The page of the server: the form, an answer, one without a region, what more room costs; the history on a phone."""
    with serving(running, folder, german_story().model, german_credit()[0], "--immutable", "age") as page:
        page.fill("#number", "333")
        page.click("#load")
        page.fill("#case", "A-333")
        keep(page.screenshot(), "serve-form")
        page.check("#widen")
        page.click("#ask")
        answered(page)
        keep(page.screenshot(), "serve")
        page.uncheck("#widen")
        page.fill("#radius", "0.9")
        page.fill("#changes", "1")
        page.fill("#case", "A-333, one change")
        page.click("#ask")
        page.wait_for_function("() => document.querySelectorAll('#history li').length === 2")
        answered(page)
        keep(page.screenshot(), "serve-none")
        page.fill("#radius", "0.05")
        page.click("#frontier")
        page.wait_for_selector("#chart svg")
        page.wait_for_function("() => document.querySelectorAll('#history li').length === 3")
        page.set_viewport_size({"width": 390, "height": 844})
        page.evaluate("document.getElementById('answer').scrollIntoView()")
        keep(page.screenshot(), "serve-frontier-history")


def serve_at_work(running: Any, folder: Path) -> None:
    """A question that would take minutes: both bounds while it runs, and what the stop button brings."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1500, 12)), columns=[f"x{i}" for i in range(12)]).round(2)
    y = (X.to_numpy() ** 2).sum(axis=1) + rng.normal(size=1500) > 12.0
    model = GradientBoostingClassifier(n_estimators=150, max_depth=6, random_state=0, subsample=0.5).fit(X, y)
    with serving(running, folder, model, X) as page:
        page.locator("#shape").select_option("ball")
        page.fill("#radius", "0.1")
        page.fill("#seconds", "250")
        page.click("#ask")
        page.wait_for_function(
            "() => /best region at [0-9.]+, none closer than 0[.]/.test(document.getElementById('progress').textContent)"
        )
        keep(page.screenshot(), "serve-progress")
        page.click("#stop")
        answered(page)
        keep(page.screenshot(), "serve-stopped")


def keep(picture: bytes, name: str) -> None:
    small = Image.open(BytesIO(picture)).convert("RGB").quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE)
    small.save(IMAGES / f"{name}.png", optimize=True)


def on_a_sheet(picture: bytes) -> bytes:
    """With the margins of A4 that the page's style asks for."""
    sheet, content = Image.new("RGB", SHEET, "white"), BytesIO()
    sheet.paste(Image.open(BytesIO(picture)), MARGIN)
    sheet.save(content, "PNG")
    return content.getvalue()


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    story = german_story()
    answer = Explainer(story.model, story.space).explain(story.row, room=story.room)
    assert isinstance(answer, Region)
    (IMAGES / "map.png").write_bytes(answer.map("duration", "amount").picture("png"))
    html = pages()
    with browser() as running, tempfile.TemporaryDirectory() as folder:

        def shot(
            name: str, page: str, width: int, height: int, scheme: str = "light", act: Any = None, media: str = "screen"
        ) -> None:
            file = Path(folder) / f"{page}.html"
            file.write_text(html[page], encoding="utf-8")
            opened = running.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            opened.emulate_media(media=media)
            opened.goto(file.as_uri())
            if act is not None:
                act(opened)
            keep(on_a_sheet(opened.screenshot()) if media == "print" else opened.screenshot(), name)
            opened.close()

        def beyond(page: Any) -> None:
            page.locator('[data-control="1"] input[type=text]').fill("11,200")

        def second_tab(page: Any) -> None:
            page.locator("[role=tab]").nth(1).click()

        shot("page", "menu", 1100, 760)
        shot("page-tab", "menu", 1100, 760, act=second_tab)
        shot("page-tablet", "wide", 768, 1024)
        shot("page-print", "wide", SHEET[0] - 2 * MARGIN[0], SHEET[1] - 2 * MARGIN[1], media="print")
        shot("page-phone", "wide", 390, 844)
        shot("page-beyond", "wide", 1100, 760, act=beyond)
        shot("page-dark", "categories", 1100, 760, "dark")
        shot("page-none", "none", 1100, 760)
        serve(running, Path(folder))
        serve_at_work(running, Path(folder))


if __name__ == "__main__":
    main()
