"""The page of an answer in a real browser: at every width, by keyboard, dark, printed, with hostile names; and its controls
turn exactly where the region ends."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Ball, Box, Diamond, Explainer, Feature, Menu, Region, Space, Widening
from elbowroom.present.account import account_of
from elbowroom.present.controls import Control, controls_of
from tests.support.answers import make_no_region, make_raw_region, make_region
from tests.support.hostile import attack
from tests.support.hostile_text import ALL
from tests.unit.present.test_page import wide_region

WIDTHS = (390, 768, 1280)
SET = """([rows]) => rows.map((row) => {
  row.forEach((value, i) => {
    const box = document.querySelector(`[data-control="${i}"]`), select = box.querySelector("select");
    const field = select || box.querySelector("input[type=text]");
    field.value = value;
    field.dispatchEvent(new Event(select ? "change" : "input", { bubbles: true }));
  });
  return document.querySelector(".verdict").dataset.state;
})"""
FIELDS = """() => [...document.querySelectorAll("input[type=text]")].filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth).map((e) => e.value)"""
CONTRAST = """([selector, property, behind]) => {
  const light = (text) => {
    const parts = text.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const a = light(getComputedStyle(document.querySelector(selector))[property]), b = light(getComputedStyle(document.querySelector(behind)).backgroundColor);
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}"""


def state(page: Any) -> str:
    return str(page.locator(".verdict").first.get_attribute("data-state"))


def verdict(page: Any) -> str:
    return str(page.locator(".verdict [role=status]").first.inner_text())


@pytest.fixture(scope="module")
def steps() -> tuple[Explainer, pd.Series, Region, Widening]:
    """A tree with three outcomes in a row: rejected up to 3.05, approved up to 7.05, referred beyond."""
    x = np.linspace(0.0, 10.0, 101)
    X = pd.DataFrame({"x": x, "z": np.tile([0.25, 1.75, 5.0], 34)[:101]})
    label = np.where(x <= 3.0, "rejected", np.where(x <= 7.0, "approved", "referred"))
    explainer = Explainer(DecisionTreeClassifier(random_state=0).fit(X, label), Space.from_frame(X))
    row = X.iloc[5]
    region = explainer.explain(row, room=Box(0.05), target="approved")
    assert isinstance(region, Region)
    wide = region.widen()
    for answer in (region, wide.region):
        attack(explainer.predict, answer.body, "approved", [np.array([3.05, 7.05]), np.array([1.0])])
    return explainer, row, region, wide


@pytest.fixture(scope="module")
def menu() -> Menu:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(300, 3)), columns=["a", "b", "c"])
    model = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, X.sum(axis=1) > 1.7)
    explainer = Explainer(model, Space.from_frame(X))
    found = explainer.menu(X[~model.predict(X)].iloc[0], Box(0.01))
    for region in found:
        attack(explainer.predict, region.body, True)
    return found


# ---- what is seen ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_and_the_answer_comes_first(shown: Any, width: int, menu: Menu) -> None:
    answers = [make_region(room=Ball(0.02)), make_raw_region(), make_no_region(), menu]
    for answer in answers:
        page = shown(answer.to_html(case="A-17", model="credit.joblib"), width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        cut = page.evaluate(
            """(width) => [...document.querySelectorAll("main *")].filter((e) => e.checkVisibility() && !e.closest(".away"))
               .filter((e) => { const r = e.getBoundingClientRect(); return r.width && (r.right > width + 0.5 || r.left < -0.5); })
               .map((e) => e.tagName + " " + e.textContent.slice(0, 40))""",
            width,
        )
        assert cut == []
        assert page.evaluate(FIELDS) == [], "a number is longer than its field"
        sentence = page.locator(".sentence:visible").first.bounding_box()
        assert sentence["y"] + sentence["height"] <= 844, "the answer is seen without scrolling"


@pytest.mark.parametrize("width", WIDTHS)
def test_the_overview_of_a_batch_fits_and_names_its_figures(shown: Any, width: int, steps: Any) -> None:
    batch = steps[0].explain_many(pd.DataFrame({"x": [0.5, 1.0, 5.0], "z": [1.75, 0.25, 5.0]}), target="approved")
    for html in (batch.to_html(), batch.audit(["a", "b", "b"]).to_html()):
        page = shown(html, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        unnamed = page.locator("main table.dense td:not([data-label]), #rows + nav + .wide td.number:not([data-label])")
        assert unnamed.count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_stand_out(shown: Any, scheme: str) -> None:
    page = shown(make_region().to_html(), color_scheme=scheme)
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
    assert dark is (scheme == "dark")
    for selector in (".bar .room", ".bar .track", ".bar .factual"):
        for behind in ("body", ".change .row"):
            assert page.evaluate(CONTRAST, [selector, "stroke", behind]) >= 3.0, (selector, behind)
    for selector in (".case", ".bar text.below", ".verdict .word", ".now"):
        color = "fill" if "text" in selector else "color"
        behind = ".verdict" if "verdict" in selector else ".change .row" if "case" not in selector else "body"
        assert page.evaluate(CONTRAST, [selector, color, behind]) >= 4.5, selector


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(shown: Any, scheme: str, menu: Menu, steps: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    pages = {"light": [make_region(room=Ball(0.02)), make_no_region(), menu], "dark": [make_raw_region(), steps[3]]}
    for answer, width in zip(pages[scheme], (390, 768, 1280), strict=False):
        page = shown(answer.to_html(case="A-17"), width, color_scheme=scheme)
        found = Axe().run(page).response["violations"]
        serious = [(v["id"], v["nodes"][0]["html"][:120]) for v in found if v["impact"] in ("serious", "critical")]
        assert serious == []


def test_print_shows_every_answer_and_no_controls(shown: Any, menu: Menu) -> None:
    page = shown(menu.to_html())
    page.emulate_media(media="print")
    assert page.locator(".panel:visible").count() == len(menu.answers) > 1
    for hidden in (".verdict", ".try", ".tabs", ".save", "input"):
        assert page.locator(f"{hidden}:visible").count() == 0
    assert sheets(page) == len(menu.answers), "an answer with its certificate fits on one sheet"
    for answer in (make_no_region(), make_region(), make_raw_region()):
        assert sheets(shown(answer.to_html(case="A-17", model="credit.joblib"))) == 1


def test_what_does_not_fit_on_a_sheet_goes_on_as_a_whole(shown: Any) -> None:
    """The last sheet is never one with a line or two: certificate and check stay together."""
    page = shown(wide_region(14).to_html())
    assert sheets(page) == 2
    page.set_viewport_size({"width": 680, "height": 1000})  # of a sheet, without its margins
    page.emulate_media(media="print")
    assert page.locator(".proof").evaluate("(e) => getComputedStyle(e).breakInside") == "avoid"
    assert page.locator(".proof").bounding_box()["height"] > 150.0


def test_the_centre_is_told_as_in_the_text_where_that_is_certified(shown: Any) -> None:
    X = pd.DataFrame({"x": np.linspace(0.0, 10.0, 101).round(1), "z": np.tile([0.25, 1.75, 5.0], 34)[:101]})
    explainer = Explainer(DecisionTreeClassifier(random_state=0).fit(X, X["x"] > 3.0), Space.from_frame(X))
    for radius in (0.0137, 0.0):
        found = explainer.explain(X.iloc[5], room=Box(radius), target=True)
        region = found.rounded or found
        attack(explainer.predict, region.body, True, [np.array([3.05]), np.array([1.0])])
        page = shown(found.to_html())
        point = [float(page.locator(f'[data-control="{i}"] input[type=text]').input_value()) for i in range(1)]
        point.append(float(region.body.center[1]))
        assert state(page) == "certified" and region.body.contains(np.array([point]))[0]
        assert len(repr(point[0])) <= 4 and (radius == 0.0 or point[0] != region.body.center[0])
        page.get_by_role("button", name="As it is now").click()
        page.get_by_role("button", name="Centre of the region").click()
        assert state(page) == "certified" and page.evaluate(FIELDS) == []


def sheets(page: Any) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))


def test_without_scripts_everything_is_told(shown: Any, menu: Menu) -> None:
    page = shown(menu.to_html(), java_script_enabled=False)
    assert page.locator(".sentence:visible").count() == len(menu.answers)
    assert page.locator("input:visible, button:visible, .verdict:visible, select:visible").count() == 0


def test_a_page_of_300_features_can_be_moved_and_saved(shown: Any) -> None:
    region = wide_region(300)
    page = shown(region.to_html(), 390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("input[type=range]").count() == 300
    points = points_around(region, np.random.default_rng(0))[-600::20]
    states = page.evaluate(SET, [[typed(region, point) for point in points]])
    assert [found == "certified" for found in states] == region.body.contains(points).tolist()
    with page.expect_download() as saved:
        page.locator(".save").click()
    assert json.loads(saved.value.path().read_text()) == json.loads(region.to_json())


# ---- the edge ----------------------------------------------------------------------------------------------------------
def controls(region: Region) -> list[Control]:
    return [control for control in controls_of(account_of(region)) if control is not None]


def points_around(region: Region, rng: np.random.Generator) -> np.ndarray:
    """Points of the page's controls: ends and their neighbours one by one; the surface of balls and diamonds, pushed in and
    out by a few ulps; every category."""
    body, found = region.body, []
    moved = controls(region)
    numbers = [c.columns[0] for c in moved if c.bar is not None and not c.whole]
    for control in moved:
        if control.bar is None:
            for place, _, _ in control.options:
                point = body.center.copy()
                if len(control.columns) > 1:
                    point[list(control.columns)] = 0.0
                    point[control.columns[place]] = 1.0
                else:
                    point[control.columns[0]] = place
                found.append(point)
            continue
        f = control.columns[0]
        for end in (body.lower[f], body.upper[f]):
            for value in (end, np.nextafter(end, -np.inf), np.nextafter(end, np.inf), end - 1.0, end + 1.0, end + 0.5):
                point = body.center.copy()
                point[f] = value
                found.append(point)
    for _ in range(60):
        direction = rng.normal(size=len(numbers))
        norm = np.abs(direction).sum() if body.shape.value == "diamond" else np.linalg.norm(direction)
        point = body.center.copy()
        point[numbers] += direction / norm * np.where(body.axes[numbers] > 0, body.axes[numbers], 1e-3)
        for _ in range(5):
            found.append(point.copy())
            f = numbers[int(rng.integers(len(numbers)))]
            point[f] = np.nextafter(point[f], rng.choice([-np.inf, np.inf]))
    return np.array(found)


def typed(region: Region, point: np.ndarray) -> list[str]:
    return [repr(c.value_in(point)) if c.bar is not None else str(int(c.value_in(point))) for c in controls(region)]


PLAIN = Space(
    (Feature("a", scale=3.0), Feature("b", scale=0.7), Feature("c", lower=0, upper=9), Feature("k", "integer"))
)
NOW, THEN = np.array([0.0, 0.0, 5.0, 1.0]), np.array([1.1, 2.3, 4.7, 3.0])


@pytest.mark.parametrize(
    "region",
    [
        make_region(),
        make_region(room=Ball(0.02)),
        make_raw_region(),
        *(
            make_region(PLAIN, NOW, THEN, room)
            for room in (Box(0.3), Ball(2.5), Diamond(2.5), Ball(1 / 3), Diamond(0.1))
        ),
        make_region(PLAIN, NOW, THEN, Diamond({"a": 0.1, "b": 0.25})),
    ],
    ids=lambda region: f"{region.body.shape.value}-{region.radius}",
)
def test_controls_turn_exactly_where_the_region_ends(shown: Any, region: Region) -> None:
    """Also one ulp beyond: the page agrees with `Body.contains`, which decides exactly, on every point."""
    points = points_around(region, np.random.default_rng(0))
    page = shown(region.to_html())
    states = page.evaluate(SET, [[typed(region, point) for point in points]])
    said = np.array([found == "certified" for found in states])
    inside = region.body.contains(points)
    assert inside.any() and not inside.all()
    wrong = np.flatnonzero(said != inside)
    assert not wrong.size, (points[wrong[0]], said[wrong[0]])


def test_rounded_and_wide_regions_are_certified_as_well(shown: Any, steps: Any) -> None:
    explainer, _, region, wide = steps
    page = shown(region.to_html(widening=wide))
    f = explainer.space.names.index("x")
    z = float(region.body.center[1 - f])
    for value in (wide.region.body.upper[f], np.nextafter(wide.region.body.upper[f], np.inf)):
        (found,) = page.evaluate(SET, [[[repr(float(value)), repr(z)]]])
        assert (found == "certified") is bool(wide.region.body.contains(np.array([[value, z]]))[0])
    page.evaluate(SET, [[[repr(float(wide.region.body.upper[f])), repr(z)]]])
    assert "the widest intervals" in verdict(page)


def test_a_known_point_beyond_the_end_and_its_class(shown: Any, steps: Any) -> None:
    explainer, _, _, wide = steps
    page = shown(wide.to_html())
    assert state(page) == "certified"
    page.locator('[data-control="0"] input[type=text]').fill("8.5")
    assert state(page) == "open" and "Not proven" in verdict(page) and "the model says 'referred'" in verdict(page)
    page.get_by_role("button", name="Show that point").click()
    assert state(page) == "refuted" and "here the model says 'referred'" in verdict(page)
    texts = [page.locator(f'[data-control="{i}"] input[type=text]').input_value() for i in range(2)]
    assert explainer.predict(pd.DataFrame([map(float, texts)], columns=["x", "z"]))[0] == "referred"
    page.get_by_role("button", name="As it is now").click()
    assert state(page) == "now" and "the model says 'rejected'" in verdict(page)
    page.get_by_role("button", name="Centre of the region").click()
    assert state(page) == "certified"


def test_keyboard_alone_finds_the_edge(shown: Any, steps: Any) -> None:
    _, _, region, _ = steps
    page = shown(region.to_html())
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.type") == "range":
            break
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "x"
    field = page.locator('[data-control="0"] input[type=text]')
    inside = [field.input_value()]
    for _ in range(300):
        page.keyboard.press("ArrowRight")
        value = field.input_value()
        text = page.evaluate("document.activeElement.getAttribute('aria-valuetext')")
        assert text.startswith(value)
        if state(page) != "certified":
            assert "outside" in text
            break
        inside.append(value)
    assert float(inside[-1]) == region.body.upper[0] and float(value) > region.body.upper[0]
    page.keyboard.press("ArrowLeft")
    assert state(page) == "certified" and field.input_value() == inside[-1]
    page.keyboard.press("Home")
    assert state(page) != "certified"
    page.keyboard.press("End")
    assert state(page) == "open"


def test_dragging_past_the_edge(shown: Any, steps: Any) -> None:
    _, _, region, _ = steps
    page = shown(region.to_html(), 390)
    slider = page.locator('[data-control="0"] input[type=range]')
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    data = json.loads(page.locator(".region-data").first.inner_text() or page.locator(".region-data").text_content())
    low, high = data["controls"][0]["axis"]

    def at(value: float) -> tuple[float, float]:
        return box["x"] + 8 + (box["width"] - 16) * (value - low) / (high - low), box["y"] + box["height"] / 2

    page.mouse.move(*at(float(region.body.center[0])))
    page.mouse.down()
    seen = []
    for value in np.linspace(region.body.center[0], high, 25):
        page.mouse.move(*at(float(value)))
        said = float(page.locator('[data-control="0"] input[type=text]').input_value())
        seen.append((said, state(page)))
    page.mouse.up()
    assert {word for _, word in seen} == {"certified", "open"}
    assert all((word == "certified") == (said <= region.body.upper[0]) for said, word in seen)
    assert region.body.upper[0] in [said for said, _ in seen], "dragging stops at the end itself"


def test_what_cannot_be_is_said(shown: Any) -> None:
    page = shown(make_region().to_html())
    page.locator('[data-control="1"] input[type=text]').fill("60")
    assert state(page) == "open" and "Duration may only fall" in verdict(page)
    page.locator('[data-control="1"] input[type=text]').fill("14.5")
    assert "whole number" in verdict(page)
    field = page.locator('[data-control="0"] input[type=text]')
    field.fill("a lot")
    assert field.get_attribute("aria-invalid") == "true"
    page.get_by_role("button", name="Centre of the region").click()
    assert field.get_attribute("aria-invalid") is None and state(page) == "certified"
    page.locator('[data-control="3"] select').select_option(label="rent")
    assert state(page) == "open" and "Housing is another one" in verdict(page)


def test_what_was_missing_and_is_filled_in(shown: Any) -> None:
    region = replace(make_region(), filled=("salary",))
    page = shown(region.to_html())
    field = page.locator('[data-control="0"] input[type=text]')
    assert state(page) == "certified" and float(field.input_value().replace(",", "")) == round(region.body.center[1], 1)
    field.fill(repr(float(np.nextafter(region.body.lower[1], -np.inf))))
    assert state(page) == "open"
    field.fill(repr(float(region.body.lower[1])))
    assert state(page) == "certified"
    page.get_by_role("button", name="As it is now").click()
    assert state(page) == "now" and field.input_value() == ""
    page.locator('[data-control="1"] input[type=text]').fill("14")
    assert state(page) == "open" and "Salary is missing" in verdict(page)


def test_a_ball_shares_its_budget(shown: Any) -> None:
    region = make_region(PLAIN, NOW, THEN, Ball(1.0))
    page = shown(region.to_html())
    a, b = (page.locator(f'[data-control="{i}"] input[type=text]') for i in (0, 1))
    a.fill(repr(1.1 + 3.0 * 0.8))
    assert state(page) == "certified" and "64 % of the ball" in verdict(page)
    b.fill(repr(2.3 + 0.7 * 0.7))
    assert state(page) == "open" and "113 % of the ball" in verdict(page)
    rows = page.locator(".row[data-state=out]").count()
    assert rows == sum(1 for f in region.body.round_columns)
    b.fill(repr(2.3))
    assert state(page) == "certified"


# ---- tabs, files, names -------------------------------------------------------------------------------------------------
def test_tabs_by_keyboard(shown: Any, menu: Menu) -> None:
    page = shown(menu.to_html())
    assert page.locator(".panel:visible").count() == 1
    first = page.locator(".sentence:visible").inner_text()
    page.get_by_role("tab").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".sentence:visible").inner_text() != first
    assert page.get_by_role("tab", selected=True).count() == 1
    page.keyboard.press("Home")
    assert page.locator(".sentence:visible").inner_text() == first
    page.keyboard.press("End")
    assert page.locator(".panel:visible .verdict").get_attribute("data-state") == "certified"


def test_the_download_is_the_answer(shown: Any, steps: Any, tmp_path: Any) -> None:
    explainer, _, region, _ = steps
    page = shown(region.to_html(), accept_downloads=True)
    with page.expect_download() as waiting:
        page.get_by_role("button", name=re.compile("Download")).click()
    assert waiting.value.suggested_filename == "region.json"
    waiting.value.save_as(tmp_path / "region.json")
    again = Region.from_json(tmp_path / "region.json")
    assert again.to_json() == region.to_json()
    assert explainer.certify(again)


def test_hostile_names_stay_text(shown: Any) -> None:
    evil = [f"{i}{text}" for i, text in enumerate(ALL) if "\ud800" not in text and "\udfff" not in text]
    evil.append("<img src=x onerror='window.hacked = 1'>")
    for start in range(0, len(evil), 30):
        names = evil[start : start + 30]
        space = Space(tuple(Feature(name, unit=name, lower=0, upper=10) for name in names))
        region = make_region(space, np.zeros(len(names)), np.full(len(names), 5.0), Box(1.0), predicted=names[0])
        region = replace(region, method=names[-1], source=names[-1])
        page = shown(region.to_html(case=names[-1], model=names[-1]))
        assert page.evaluate("window.hacked") is None
        assert page.locator("main img, main a, main iframe, main b, main base").count() == 0
        assert page.locator(".row h3").count() == len(names)
        page.locator('[data-control="0"] input[type=text]').fill("9")
        assert state(page) == "open"
        if any("<script>" in name for name in names):
            assert "<script>alert(1)</script>" in page.locator("main").inner_text()


def test_the_policy_stops_foreign_scripts(shown: Any) -> None:
    """Even markup that did get into the page would not run."""
    page = shown(make_region().to_html())
    page.evaluate(
        """() => { const s = document.createElement("script"); s.textContent = "window.hacked = 1"; document.body.append(s);
        const holder = document.createElement("div"); holder.innerHTML = "<img src=x onerror='window.hacked = 1'>"; document.body.append(holder); }"""
    )
    page.wait_for_timeout(100)
    assert page.evaluate("window.hacked") is None
    refused = [text for text in page.trouble if "Content Security Policy" in text]
    assert len(refused) >= 2 and len(refused) == len([t for t in page.trouble if not t.endswith("/x")])
    page.trouble.clear()
