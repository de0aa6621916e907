"""Pages about answers whose every text is hostile: names, units, groups, labels, reasons, methods, sources.

The oracle is the page of a twin with harmless texts: the same elements with the same attributes in the same order. Then
no text has become markup. Beyond that: no script but the page's own, which the policy of the page names by its digest;
data that a script reads is JSON, and the answer in it is the answer; nothing fetched from elsewhere, no character that
hides or turns text, and a file that can be written and read back.
"""

from __future__ import annotations

import base64
import gzip
import json
import random
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

from elbowroom import AtMost, Ball, Box, Diamond, ElbowroomError, LinearRule, NoRegion, Region, Space, Status, Target
from elbowroom.present.shell import asset
from elbowroom.problem import Group, Room
from tests.fuzz.kind import Outcome, accepted, failed, refused
from tests.support.answers import CENTER, FACTUAL, credit_space, make_no_region, make_region
from tests.support.hostile_text import hostile_text, unsafe_characters

READ_ALOUD: Final = frozenset(("aria-label", "title", "alt"))  # attributes that hold words of the answer
FETCHING: Final = frozenset(
    ("src", "href", "srcset", "action", "data", "poster", "background", "formaction", "xlink:href")
)
DATA: Final = "application/json"
DRAWN: Final = 0.02  # of the tries: a picture takes longer than a hundred pages


class Structure(HTMLParser):
    """The elements of a page with their attributes, and its texts."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[object] = []
        self.texts: list[str] = []
        self.fetched: list[str] = []
        self.scripts: list[tuple[str, str]] = []  # their type and text
        self._script: str | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple((name, "" if name in READ_ALOUD else value) for name, value in attrs)))
        self.fetched += [f"{tag} {name}" for name, _ in attrs if name in FETCHING or name.startswith("on")]
        self.texts += [value or "" for name, value in attrs if name in READ_ALOUD]
        if tag == "script":
            self._script = dict(attrs).get("type") or ""
            self.scripts.append((self._script, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._script = None
        self.elements.append(f"/{tag}")

    def handle_comment(self, data: str) -> None:
        self.elements.append("comment")

    def handle_decl(self, decl: str) -> None:
        self.elements.append(f"declaration {decl}")

    def handle_pi(self, data: str) -> None:
        self.elements.append("instruction")

    def unknown_decl(self, data: str) -> None:
        self.elements.append("unknown declaration")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._script is not None:
            kind, text = self.scripts[-1]
            self.scripts[-1] = (kind, text + data)


class Pages:
    name = "pages"

    def prepare(self, folder: Path) -> None:
        import matplotlib

        matplotlib.use("Agg")
        self.folder = folder

    def attempt(self, rng: random.Random) -> Outcome:
        state = rng.getrandbits(64)
        texts: list[str] = []

        def hostile() -> str:
            texts.append(hostile_text(rng) if rng.random() < 0.7 else f"plain {len(texts)}")
            return texts[-1]

        numbers = iter(range(10_000))
        try:
            answer = _answer(random.Random(state), hostile)
        except ElbowroomError as error:
            return refused(f"{texts!r:.120}: {error!s:.80}")
        twin = _answer(random.Random(state), lambda: f"plain {next(numbers)}")
        story = f"{type(answer).__name__} with {texts!r:.300}"
        try:
            return self._pages(answer, twin, story, rng)
        except ElbowroomError as error:
            return refused(f"{story}: {error!s:.80}")

    def _pages(self, answer: Region | NoRegion, twin: Region | NoRegion, story: str, rng: random.Random) -> Outcome:
        file = self.folder / "answer.html"
        pages = [(answer.to_html(file), twin.to_html()), (answer._repr_html_(), twin._repr_html_())]
        if file.read_text(encoding="utf-8") != pages[0][0]:
            return failed(story, "the file is not the page")
        for page, harmless in pages:
            trouble = _trouble(page, harmless, answer)
            if trouble is not None:
                return failed(story, trouble)
        if rng.random() < DRAWN and isinstance(answer, Region):
            answer.plot().figure.savefig(self.folder / "answer.png")
            import matplotlib.pyplot as plt

            plt.close("all")
            return accepted(f"{story}, drawn")
        return accepted(story)


def _trouble(page: str, harmless: str, answer: Region | NoRegion) -> str | None:
    found, expected = Structure(page), Structure(harmless)
    if found.elements != expected.elements:
        pairs = zip(found.elements, [*expected.elements, *found.elements], strict=False)
        where = next((i for i, (a, b) in enumerate(pairs) if a != b), len(found.elements))
        return f"markup: the page has {found.elements[where : where + 2]!r:.150}, its twin {expected.elements[where : where + 2]!r:.150}"
    foreign = [text for kind, text in found.scripts if kind != DATA and text != asset("page.js")]
    if found.fetched or foreign or page.lower().count("<script") != len(found.scripts):
        return f"the page fetches or runs something: {found.fetched} {foreign!r:.100}"
    if found.scripts and (trouble := _wrong_data(found.scripts, answer)) is not None:
        return trouble
    unsafe = unsafe_characters("".join(found.texts).replace("\t", ""))
    if unsafe:
        return f"spoof: {sorted(set(unsafe))!r:.100} on the page"
    return None


def _wrong_data(scripts: list[tuple[str, str]], answer: Region | NoRegion) -> str | None:
    """Every data block is JSON, and the last one is the answer as its file holds it."""
    try:
        documents = [json.loads(text) for kind, text in scripts if kind == DATA]
    except ValueError as error:
        return f"a data block is not JSON: {error}"
    try:
        expected = json.loads(answer.to_json())
    except ElbowroomError:
        expected = None
    found = documents[-1]
    if isinstance(found, str):  # a long answer is packed
        found = json.loads(gzip.decompress(base64.b64decode(found)))
    return None if found == expected else "the answer inside the page is another one"


# ---- answers ---------------------------------------------------------------------------------------------------------
def _answer(rng: random.Random, text: Callable[[], str]) -> Region | NoRegion:
    """An answer with a text wherever one can stand. What is drawn from ``rng`` does not depend on the texts."""
    columns = _space(text)
    names = columns.names
    room: Room = rng.choice(
        (
            Box(0.01),
            Ball(0.02),
            Diamond({names[1]: 100.0, names[7]: 0.1}),
            Box(0.01, categories={columns.groups[0].name: "any"}),
        )
    )
    rules = rng.choice(((), (AtMost(3),), (LinearRule({names[1]: 1.0, names[7]: -2.0}, high=1e6),)))
    label, said = text(), text()
    if rng.random() < 0.25:
        status = rng.choice((Status.NONE_EXISTS, Status.UNKNOWN))
        none = make_no_region(status, float("inf") if status is Status.NONE_EXISTS else 0.5, rules)
        return replace(none, reason=text(), method=text(), space=columns, target=Target(label))
    region = make_region(
        columns,
        FACTUAL,
        CENTER,
        room,
        Target(label),
        said,
        rng.choice((Status.OPTIMAL, Status.CERTIFIED)),
        rules=rules,
        gap=0.25,
    )
    certificate = replace(region.certificate, method=text(), assumptions=(text(), text()), fingerprint=text())
    return replace(region, method=text(), source=text(), certificate=certificate)


def _space(text: Callable[[], str]) -> Space:
    plain = credit_space()
    names = [text() for _ in plain.features]
    features = tuple(
        replace(feature, name=name, unit=text() if feature.unit is not None else None)
        for feature, name in zip(plain.features, names, strict=True)
    )
    return Space(features, (Group(text(), tuple(names[4:7])),))
