"""``elbowroom serve`` from row to export, in a real browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from elbowroom import Region
from tests.support.hostile import attack

pytest.importorskip("fastapi", reason="pip install 'elbowroom[web]'")
EVIL = "debt \u202e\x1b[2J <img src=x onerror=alert(1)>"
SEEN = EVIL.replace("\u202e", "\\u202e").replace("\x1b", "\\u001b")


@contextmanager
def serving(model: Any, X: pd.DataFrame, folder: Path) -> Iterator[str]:
    """The address that the program prints."""
    joblib.dump(model, folder / "model.joblib")
    X.to_csv(folder / "train.csv", index=False)
    command = [sys.executable, "-m", "elbowroom", "serve", folder / "model.joblib", "--reference", folder / "train.csv"]
    command += ["--port", "0", "--trust-pickle", "--processes", "1"]
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None
        try:
            yield found[0]
        finally:
            server.terminate()
            server.wait(timeout=20)


@pytest.fixture(scope="module")
def served(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Any]]:
    """The address that the program prints, and the model behind it."""
    folder = tmp_path_factory.mktemp("served")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "salary": rng.uniform(1000.0, 9000.0, 400).round(),
            "age": rng.integers(18, 80, 400),
            EVIL: rng.uniform(0.0, 4000.0, 400).round(),
            "home": rng.choice(["own", "rent", "<b>free</b>"], 400),
        }
    )
    score = X["salary"] - 2.0 * X[EVIL] + 800.0 * (X["home"] == "own")
    encoder = make_column_transformer((OneHotEncoder(), ["home"]), remainder="passthrough")
    model = make_pipeline(encoder, RandomForestClassifier(10, max_depth=4, random_state=0))
    model.fit(X, np.where(score > 1000.0, "approved", "rejected"))
    with serving(model, X, folder) as address:
        yield address, model


@pytest.fixture
def opened(browser: Any, served: tuple[str, Any]) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(240_000)  # a busy machine reads models slowly
    trouble: list[str] = []
    page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    host = served[0].split("?")[0]
    page.on("request", lambda r: trouble.append(r.url) if not r.url.startswith((host, "blob:")) else None)
    page.goto(served[0])
    page.wait_for_selector("#ask:enabled")
    yield page
    context.close()
    assert trouble == []


def expect(locator: Any) -> Any:
    from playwright.sync_api import expect as expected

    return expected(locator)


def test_from_row_to_export(opened: Any, served: tuple[str, Any], tmp_path: Any) -> None:
    page, model = opened, served[1]
    assert "model.joblib" in page.locator("#about").inner_text()
    names = page.locator("#columns .name").all_inner_texts()
    assert names == ["salary", "age", SEEN, "home"] and page.locator("#columns img").count() == 0
    first = page.locator("#value-0").input_value()
    page.locator("#number").fill("3")
    page.get_by_role("button", name="Load").click()
    expect(page.locator("#value-0")).not_to_have_value(first)
    page.locator("#target").select_option("approved")
    page.locator("#value-2").fill("3900")
    page.locator("#value-0").fill("2000")
    assert page.locator("#room-means").inner_text().startswith("That is, for example, salary ± ")
    page.locator("#freeze-1").check()
    assert page.locator("#way-1").is_disabled() and page.locator("#low-1").is_disabled()
    assert page.locator("#way-0").is_enabled()
    page.locator("#way-0").select_option("increasing")
    page.locator("#radius").fill("a lot")
    assert page.locator("#room-means").inner_text() == ""
    page.locator("#radius").fill("0.02")
    page.locator("#menu").check()
    page.locator("#widen").check()
    page.locator("#case").fill("A-1 <i>")
    page.get_by_role("button", name="Find the closest region").click()
    page.wait_for_selector("#page:visible")
    answer = page.frame_locator("#page")
    answer.locator(".verdict:visible").first.wait_for()
    assert answer.locator(".verdict:visible").first.get_attribute("data-state") == "certified"
    assert "A-1 <i>" in answer.locator(".case").inner_text()
    assert "approved" in page.locator("#progress").inner_text()
    with page.expect_download() as waiting:
        page.locator("#json").click()
    waiting.value.save_as(tmp_path / "region.json")
    region = Region.from_json(tmp_path / "region.json")
    assert region.lower["age"] == region.upper["age"] and region.lower["salary"] >= 2000.0
    rows = region.sample(200)
    assert (model.predict(rows) == "approved").all()
    attack(lambda X: model.predict(region.space.table(X)), region.body, "approved")
    for link, name in (("#html", "answer.html"), ("#csv", "table.csv")):
        with page.expect_download() as waiting:
            page.locator(link).click()
        assert waiting.value.suggested_filename == name
    assert page.locator("#history li").count() >= 1
    page.locator("#history button").first.click()
    page.get_by_role("button", name="What more room costs").click()
    page.wait_for_selector("#chart svg")
    assert "Distance over radius" in page.locator("#chart svg").get_attribute("aria-label")
    assert page.locator("#page").is_hidden() and page.locator("#exports").is_hidden(), "they are of another question"
    expect(page.locator("#history li")).to_have_count(2)
    page.locator("#history button").last.click()
    page.wait_for_selector("#page:visible")
    assert page.locator("#progress").inner_text() == page.locator("#history button").last.inner_text().removeprefix(
        "A-1 <i>: "
    )
    page.locator("#history button", has_text="What more room costs").click()
    page.wait_for_selector("#chart svg")


def test_trouble_is_said(opened: Any) -> None:
    page = opened
    page.locator("#value-0").fill("a lot")
    page.get_by_role("button", name="Find the closest region").click()
    assert "salary: a lot is not a number" in page.locator("#progress").inner_text()
    page.locator("#value-0").fill("2000")
    page.locator("#seconds").fill("9999")
    page.get_by_role("button", name="Find the closest region").click()
    expect(page.locator("#progress")).to_contain_text("at most 300 s")
    page.locator("#number").fill("100000")
    page.get_by_role("button", name="Load").click()
    expect(page.locator("#progress")).to_contain_text("400 rows")


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_cut_and_axe_is_content(opened: Any, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    opened.set_viewport_size({"width": width, "height": 844})
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(opened).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"][:120]) for v in found if v["impact"] in ("serious", "critical")] == []


def test_on_a_phone_the_answer_is_brought_into_sight(opened: Any) -> None:
    opened.set_viewport_size({"width": 390, "height": 844})
    opened.get_by_role("button", name="Find the closest region").click()
    opened.wait_for_selector("#page:visible")
    top = opened.locator("#progress").bounding_box()["y"]
    assert 0.0 <= top < 422.0 and "The model said" in opened.locator("#progress").inner_text()


def test_without_the_token_nothing_is_shown(browser: Any, served: tuple[str, Any]) -> None:
    page = browser.new_page()
    told = page.goto(served[0].split("?")[0])
    assert told.status == 401 and "token" in json.loads(page.locator("body").inner_text())["error"]
    page.close()


def test_the_stop_button_brings_the_best_so_far(browser: Any, tmp_path: Any) -> None:
    """A question that would take minutes, stopped as soon as it has a region."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1500, 12)), columns=[f"x{i}" for i in range(12)])
    y = (X.to_numpy() ** 2).sum(axis=1) + rng.normal(size=1500) > 12.0
    model = GradientBoostingClassifier(n_estimators=150, max_depth=6, random_state=0, subsample=0.5).fit(X, y)
    with serving(model, X, tmp_path) as address:
        page = browser.new_page()
        page.set_default_timeout(120_000)
        page.goto(address)
        page.wait_for_selector("#ask:enabled")
        page.locator("#shape").select_option("ball")
        page.locator("#radius").fill("0.1")
        page.locator("#seconds").fill("250")
        page.get_by_role("button", name="Find the closest region").click()
        expect(page.locator("#progress")).to_contain_text(re.compile("best region at [0-9.]+, none closer than"))
        page.get_by_role("button", name="Stop").click()
        page.wait_for_selector("#page:visible")
        page.frame_locator("#page").locator(".verdict").first.wait_for()
        with page.expect_download() as waiting:
            page.locator("#json").click()
        waiting.value.save_as(tmp_path / "region.json")
        page.close()
    region = Region.from_json(tmp_path / "region.json")
    assert region.method == "interrupted" and region.status.name == "CERTIFIED"
    attack(lambda rows: model.predict(pd.DataFrame(rows, columns=X.columns)), region.body, region.target.label)
