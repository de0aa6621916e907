"""One browser for all tests: the system's Chromium, found on the path."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CURE = "no Chromium on the path: install it, for example with `apt-get install chromium`, to try the pages in a browser"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(CURE)
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture
def shown(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens a page from its text; fails if it fetches anything, logs an error or asks something."""
    contexts: list[Any] = []
    trouble: list[str] = []

    def show(html: str, width: int = 1280, height: int = 844, **options: Any) -> Any:
        file = tmp_path / f"page-{len(contexts)}.html"
        file.write_text(html, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        own = file.as_uri()
        page.on("request", lambda r: trouble.append(r.url) if r.url != own and not r.url.startswith("blob:") else None)
        page.goto(own)
        page.trouble = trouble
        return page

    yield show
    for context in contexts:
        context.close()
    assert not trouble, trouble
