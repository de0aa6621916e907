"""The page of an answer as a file: what it holds, what may run on it, what its controls are told."""

from __future__ import annotations

import base64
import datetime
import gzip
import hashlib
import json
import re
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Ball, Box, Diamond, Explainer, Feature, InputError, NoRegion, Region, Space, Status
from tests.support.answers import FACTUAL, credit_space, make_no_region, make_raw_region, make_region
from tests.support.hostile import attack

MOST_BYTES = 150_000


def blocks(html: str, name: str) -> list[Any]:
    found = re.findall(rf'<script type="application/json" class="{name}">(.*?)</script>', html, re.DOTALL)
    return [json.loads(text) for text in found]


def steps() -> tuple[Explainer, pd.Series]:
    """A tree with three outcomes in a row: rejected up to 3, approved up to 7, referred beyond."""
    x = np.linspace(0.0, 10.0, 101)
    X = pd.DataFrame({"x": x, "y": np.tile([0.0, 1.0], 51)[:101]})
    label = np.where(x <= 3.0, "rejected", np.where(x <= 7.0, "approved", "referred"))
    return Explainer(DecisionTreeClassifier().fit(X, label), Space.from_frame(X)), X.iloc[5]


def test_nothing_but_its_own_script_and_style_may_run() -> None:
    html = make_region().to_html()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)[1]
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy and "*" not in policy
    script = re.search(r'<script data-by="elbowroom">(.*?)</script>', html, re.DOTALL)[1]
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]
    for directive, text in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in unescape(policy)
    assert html.index("Content-Security-Policy") < html.index("<style>")


def wide_region(n: int) -> Region:
    """Of n features, the first of which has to change."""
    rng = np.random.default_rng(0)
    space = Space(tuple(Feature(f"measure_{i}", lower=-50.0, upper=50.0, scale=10.0, decimals=2) for i in range(n)))
    now = rng.uniform(-9.0, 9.0, n).round(2)
    return make_region(space, now, now + np.r_[7.0, np.zeros(n - 1)], Box(0.061))


@pytest.mark.parametrize(
    "answer", [make_region(), make_raw_region(), make_no_region(Status.UNKNOWN, 0.5), wide_region(300)]
)
def test_the_answer_inside_the_page_is_the_answer(answer: Region | NoRegion) -> None:
    (document,) = blocks(answer.to_html(), "answer-json")
    document = json.loads(gzip.decompress(base64.b64decode(document))) if isinstance(document, str) else document
    assert document == json.loads(answer.to_json())
    again = type(answer).from_json(json.dumps(document))
    assert again.to_json() == answer.to_json()


def test_controls_get_the_floats_of_the_region() -> None:
    for room in (Box(0.01), Ball(0.02), Diamond(0.02)):
        region = make_region(room=room)
        (data,) = blocks(region.to_html(), "region-data")
        body, names = region.body, region.space.names
        assert data["names"] == ["salary", "duration", "telephone", "housing", "rate"]
        for name, side in zip(data["names"], data["sets"][0]["sides"], strict=True):
            if name in ("salary", "rate", "duration"):
                f = names.index(name)
                axis = float(body.axes[f]) if f in body.round_columns and not isinstance(room, Box) else None
                assert side == [body.lower[f], body.upper[f], body.center[f], axis]
        assert data["sets"][0]["sides"][3] == [0] and data["controls"][3]["now"] == 1  # own, now rent


def test_one_way_missing_and_categories() -> None:
    (data,) = blocks(make_region().to_html(), "region-data")
    duration = data["controls"][1]
    assert duration["ceiling"] == 48 and duration["axis"][1] == 48 and duration["direction"] == "may only fall"
    html = make_raw_region().to_html()
    (data,) = blocks(html, "region-data")
    assert data["names"] == ["purpose", "salary", "grade"] and data["sets"][0]["sides"][0] == [0, 1]
    assert "debt missing" in html
    grades = re.search(r"<select>.*?</select>", html.split("<h3>grade</h3>")[1], re.DOTALL)[0]
    assert "missing" not in re.sub(r"<optgroup[^>]*>", "", grades), "no value turns missing"


def test_witnesses_and_what_the_model_says_of_them() -> None:
    explainer, row = steps()
    region = explainer.explain(row, room=Box(0.05), target="approved")
    attack(explainer.predict, region.body, "approved", [np.array([3.05, 7.05]), np.array([0.5])])
    wide = region.widen()
    attack(explainer.predict, wide.region.body, "approved", [np.array([3.05, 7.05]), np.array([0.5])])
    sides = {side.said for side in (*wide.lows, *wide.highs) if side.witness is not None}
    assert sides == {"rejected", "referred"}
    for html in (region.to_html(widening=wide), wide.to_html()):
        (data,) = blocks(html, "region-data")
        said = {w["said"]: w for w in data["witnesses"]}
        assert set(said) == {"'rejected'", "'referred'"}
        for witness in data["witnesses"]:
            point = pd.DataFrame({"x": witness["point"], "y": row["y"]})
            assert f"'{explainer.predict(point)[0]}'" == witness["said"]
            x = witness["point"][0]
            assert x > witness["end"] if witness["side"] > 0 else x < witness["end"]
    assert [each["name"] for each in blocks(region.to_html(widening=wide), "region-data")[0]["sets"]][-1] == (
        "the widest intervals"
    )


def test_a_witness_that_the_page_could_not_show_is_left_out() -> None:
    """The wide region lets a column move that the page holds: a point that differs there is not the one shown."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.uniform(size=(200, 2)), columns=["x", "y"])
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, X["x"] + X["y"] > 1.0)
    explainer = Explainer(model, Space.from_frame(X))
    row = X[~model.predict(X)].iloc[0]
    region = explainer.explain(row, room=Box({"x": 0.01}))
    wide = region.widen()
    for answer in (region, wide.region):
        attack(explainer.predict, answer.body, True)
    (data,) = blocks(region.to_html(widening=wide), "region-data")
    all_names = list(explainer.space.names)
    for witness in data["witnesses"]:
        point = region.center.copy()
        for name, value in zip(data["names"], witness["point"], strict=True):
            point[name] = value
        known = [side.witness for side in (*wide.lows, *wide.highs) if side.witness is not None]
        assert any(np.array_equal(point[all_names].to_numpy(float), each) for each in known)


def test_menu_page_has_a_tab_for_each_number_of_changes(tmp_path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(300, 3)), columns=["a", "b", "c"])
    model = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, X.sum(axis=1) > 1.7)
    explainer = Explainer(model, Space.from_frame(X))
    menu = explainer.menu(X[~model.predict(X)].iloc[0], Box(0.01))
    html = menu.to_html(tmp_path / "menu.html")
    assert (tmp_path / "menu.html").read_text(encoding="utf-8") == html
    count = len(menu.answers)
    assert count > 1 and html.count('role="tab"') == count == html.count('role="tabpanel"')
    assert re.findall(r'aria-selected="(\w+)">', html) == ["true"] + ["false"] * (count - 1)
    for region in menu:
        attack(explainer.predict, region.body, True)
    assert len(blocks(html, "answer-json")) == count
    last = menu[-1].to_html(menu=menu)
    assert [tab == "true" for tab in re.findall(r'aria-selected="(\w+)">', last)].index(True) == count - 1
    with pytest.raises(InputError, match="Menu"):
        menu[-1].to_html(menu=[menu[-1]])


def test_head_of_the_page() -> None:
    html = make_region().to_html(case="A-17 <b>", date="18 November", model="credit model")
    head = html.split("<h1>")[0]
    assert "A-17 &lt;b&gt;" in head and "18 November" in head and "credit model" in head
    assert str(datetime.date.today()) in make_no_region().to_html()
    with pytest.raises(InputError, match="case=17"):
        make_region().to_html(case=17)
    with pytest.raises(InputError, match="date=5"):
        make_region().to_html(date=5)


@pytest.mark.parametrize(
    ("model", "line"),
    [
        ("", "elbowroom check region.json model.joblib --trust-pickle"),
        ("credit.ubj", "elbowroom check region.json credit.ubj"),
        ("credit.pkl", "elbowroom check region.json credit.pkl --trust-pickle"),
        ("x; rm -rf ~ .joblib", "elbowroom check region.json model.joblib --trust-pickle"),
        ("-rf.joblib", "elbowroom check region.json model.joblib --trust-pickle"),
    ],
)
def test_check_line_names_the_model_file(model: str, line: str) -> None:
    assert f"<pre>{line}</pre>" in make_region().to_html(model=model)


def test_pages_are_small_and_odd_regions_have_one() -> None:
    assert len(make_region().to_html().encode()) < MOST_BYTES
    wide = Space(tuple(Feature(f"feature {i}", lower=0, upper=100) for i in range(40)))
    region = make_region(wide, np.zeros(40), np.full(40, 50.0), Box(5.0))
    assert len(region.to_html().encode()) < MOST_BYTES
    large = wide_region(300).to_html()
    assert len(large.encode()) < MOST_BYTES and large.count('class="row brief"') > 250
    assert all(f"<h3>measure_{i}</h3>" in large for i in range(300)), "every feature is told without a script, too"
    for center, room in (
        (1e300, Box(0)),
        (1e-300, Box(0)),
        (1.0, Box(1e-300)),
        (2.0**60, Ball(1.0)),
        (0.0, Box(1e300)),
    ):
        odd = make_region(Space((Feature("x"),)), np.array([0.0]), np.array([center]), room)
        (data,) = blocks(odd.to_html(), "region-data")
        low, high = data["controls"][0]["axis"] if data["controls"] else (0, 1)
        assert low < high
    unchanged = make_region(credit_space(), FACTUAL, FACTUAL, Box(0.01)).to_html()
    assert "What has to change" not in unchanged and "What must stay within its range" in unchanged


def test_notebooks_show_explainers_certificates_and_wide_regions() -> None:
    explainer, row = steps()
    assert (
        repr(explainer)
        == "<Explainer of sklearn DecisionTreeClassifier: 2 columns, classes ['approved', 'referred', 'rejected']>"
    )
    assert "&lt;Explainer of" in explainer._repr_html_() and "<table" in explainer._repr_html_()
    region = explainer.explain(row, room=Box(0.05), target="approved")
    attack(explainer.predict, region.body, "approved", [np.array([3.05, 7.05]), np.array([0.5])])
    html = region.certificate._repr_html_()
    assert region.certificate.seal in html and "approved" in html
    assert "moved further" in region.widen()._repr_html_()
    evil = make_region(Space((Feature("<b>"),)), np.array([0.0]), np.array([2.0]), Box(1)).certificate
    assert "<b>" not in evil._repr_html_()


def test_a_page_of_several_models_says_so_and_how_all_are_checked() -> None:
    first, row = steps()
    X = pd.DataFrame({"x": np.linspace(0.0, 10.0, 101), "y": np.tile([0.0, 1.0], 51)[:101]})
    second = DecisionTreeClassifier().fit(X, np.where(X["x"] <= 4.0, "rejected", "approved"))
    models = [DecisionTreeClassifier().fit(X, first.predict(X)), second]
    region = Explainer(models, Space.from_frame(X)).explain(row, room=Box(0.01), target="approved")
    attack(models[0].predict, region.body, "approved")
    attack(second.predict, region.body, "approved")
    html = region.to_html(model="credit.joblib")
    assert "elbowroom check region.json credit.joblib --also credit-2.joblib --trust-pickle" in html
    assert "each of these 2 models" in html and "this one model" not in html
    assert "this one model" in make_region().to_html() and "--also" not in make_region().to_html()


def test_no_text_of_a_page_is_an_infinity() -> None:
    html = re.sub(r"<script.*?</script>", "", make_no_region().to_html(), flags=re.DOTALL)
    assert "none at any distance" in html and not re.search(r">\s*inf\b", html)


def test_a_tiny_gap_is_told_in_a_readable_bound() -> None:
    region = make_region()
    closer = replace(region, lower_bound=region.distance * (1.0 - 3e-8))
    assert 0.0 < closer.gap < 1e-6 and "at most 0.0001 %" in closer.to_html()
    assert "at most 0.0001 %" not in region.to_html()
