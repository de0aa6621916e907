"""The plot and the pages: complete, self-contained, escaped."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pytest

from elbowroom.problem import Ball, Box, Feature, Space
from elbowroom.result import Status
from tests.support.answers import FACTUAL, make_no_region, make_region

matplotlib.use("Agg")
VOID = {"meta", "rect", "path", "circle", "br", "img", "input"}


class Outline(HTMLParser):
    """Checks that every tag is closed and collects what matters for readers."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.feed(html)
        assert not self.stack, f"unclosed: {self.stack}"

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, key, value) for key, value in attrs]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, key, value) for key, value in attrs]

    def handle_endtag(self, tag) -> None:
        assert self.stack.pop() == tag


def texts_of(ax) -> str:
    return "\n".join([ax.get_title(loc="left"), ax.get_xlabel(), *(t.get_text() for t in ax.texts)])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_plot_has_one_row_per_changed_feature() -> None:
    region = make_region()
    ax = region.plot().ax
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "salary (DM)",
        "duration (months)",
        "telephone",
        "housing",
    ]
    words = texts_of(ax)
    assert "50,110 to 54,100 DM" in words and "now 40,123.75 DM" in words and "own" in words
    assert "'rejected'" in words and "'approved'" in words
    assert "1 feature must stay within its range" in words and "1 feature stays as it is" in words
    assert {t.get_text() for t in ax.get_legend().get_texts()} == {"now", "centre of the region", "certified interval"}


def test_round_regions_are_not_drawn_as_boxes() -> None:
    region = make_region(room=Ball(0.02))
    words = " ".join(texts_of(region.plot().ax).split())
    assert "Inside the ball (blue: its extent)" in words and "Anywhere" not in words and "share one ball" in words
    assert "Alone anywhere in" in region.to_html() and "share one ball" in region._repr_html_()


def test_plot_draws_on_a_given_axes() -> None:
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    assert make_region().plot(ax).ax is ax


@pytest.mark.parametrize(
    "region",
    [
        make_region(center=FACTUAL, predicted="approved"),
        make_region(room=Ball(0.02)),
        make_region(room=Box(0)),
        make_region(Space((Feature("x"),)), np.array([0.0]), np.array([1e-300]), Box(0)),
        make_region(Space((Feature("x"),)), np.array([0.0]), np.array([1e9]), Box(1e-9)),
    ],
)
def test_odd_regions_can_be_drawn(region) -> None:
    ax = region.plot().ax
    ax.figure.canvas.draw()
    for patch in ax.patches:
        assert np.isfinite([patch.get_x(), patch.get_width()]).all()
    Outline(region.to_html())
    Outline(region._repr_html_())


def test_page_is_complete_and_self_contained(tmp_path) -> None:
    region = make_region()
    html = region.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == html
    page = Outline(html)
    assert not [(tag, key) for tag, key, _ in page.attributes if key in ("src", "href", "srcset", "action", "style")]
    assert not re.search(r"url\(|@import|https?:|fetch\(|XMLHttpRequest|eval\(|innerHTML", html), "nothing is fetched"
    assert ("html", "lang", "en") in page.attributes
    assert page.tags.count("h1") == 1 and page.tags.count("h2") >= 3 and page.tags.count("h3") == 5
    labels = [value for tag, key, value in page.attributes if tag == "svg" and key == "aria-label"]
    assert any("salary: now 40,123.75, allowed 50,110 to 54,100 DM" in label for label in labels)
    assert "prefers-color-scheme: dark" in html and "@media print" in html
    assert region.certificate.seal in html and region.certificate.fingerprint in html


def test_names_are_escaped() -> None:
    nasty = "<script>alert(1)</script>"
    region = make_region(
        Space((Feature(nasty, unit="<b>"),)), np.array([0.0]), np.array([2.0]), Box(1), predicted="<i>no</i>"
    )
    for html in (region.to_html(), region._repr_html_()):
        assert "<script>" not in html and "<b>" not in html and "<i>" not in html
        assert "&lt;script&gt;" in html


def test_notebook_view_is_a_fragment() -> None:
    html = make_region()._repr_html_()
    page = Outline(html)
    assert "html" not in page.tags and "body" not in page.tags and "table" in page.tags
    rules = re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]
    assert all(part.strip().startswith(".elbowroom-region") for part in re.findall(r"([^{}]+)\{", rules))


def test_no_region_pages(tmp_path) -> None:
    answer = make_no_region()
    Outline(answer.to_html(tmp_path / "no.html"))
    assert "No region exists" in (tmp_path / "no.html").read_text(encoding="utf-8")
    assert "none was ruled out" in make_no_region(Status.UNKNOWN, 0.0)._repr_html_()
    assert "&#39;rejected&#39;" in answer._repr_html_()
