"""Names and labels that an attacker would choose, in moves for groups, answers for several models, causes, promises and
verdicts: text everywhere, on the screen as well as in notebooks and pages."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from elbowroom import AllOf, Box, Causal, Explainer, Probability, Space
from tests.support.hostile import attack
from tests.support.hostile_text import CLAIM, unsafe_characters

NAMES = ["<script>alert(1)</script>", f"pay\x1b[2J\n{CLAIM}", "\u202edevorppa [bold red]x[/]"]
YES, NO = "<img src=x onerror=alert(1)>\x1b[8m", f"no\r{CLAIM}"
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(0.0, 10.0, (120, 3)).round(1), columns=NAMES)
y = np.where(X.sum(axis=1) > 15.0, YES, NO)


class Tags(HTMLParser):
    """The elements of a page, its own script and style aside."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script" and dict(attrs).keys() & {"data-by", "class"}:
            return
        self.found.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def harmless(*shown: Any) -> None:
    for answer in shown:
        for text in (str(answer), repr(answer)):
            assert not unsafe_characters(text.replace("\n", "")), text
            assert CLAIM not in text.splitlines()
        pages = [answer._repr_html_()] if hasattr(answer, "_repr_html_") else []
        pages += [answer.to_html()] if hasattr(answer, "to_html") else []
        assert pages
        for html in pages:
            assert not {"script", "img", "bold", "iframe"} & set(Tags(html).found)
            assert not unsafe_characters(html.replace("\n", ""))


@pytest.fixture(scope="module")
def tree() -> Explainer:
    space = Space.from_frame(X, units=dict.fromkeys(NAMES, "<b>EUR</b>\x1b[2J"))
    return Explainer(DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y), space)


def test_moves_for_groups(tree: Explainer) -> None:
    rows = X[tree.predict(X) == NO].head(3)
    group = tree.explain_group(rows, room=Box(0.01), target=YES)
    for certificate in group.certificates.values():
        attack(tree.predict, certificate.body, YES)
    harmless(group, tree.explain_group(rows, room=Box(40.0), target=YES), tree.actions(rows, within=2.0, room=Box(0.01), target=YES))  # fmt: skip


def test_several_models_and_verdicts(tree: Explainer) -> None:
    models = [DecisionTreeClassifier(max_depth=4, random_state=i).fit(X.iloc[i:], y[i:]) for i in range(2)]
    both = Explainer(AllOf({NAMES[0]: models[0], NAMES[1]: models[1]}), tree.space)
    row = X[(models[0].predict(X) == NO) & (models[1].predict(X) == NO)].iloc[0]
    region = both.explain(row, room=Box(0.01), target=YES)
    for model in models:
        attack(model.predict, region.body, YES)
    harmless(region, both.certify(region), both.certify(row, Box(40.0)), tree.certify(row, Box(40.0)), tree.radius(row))


def test_causes_and_promises(tree: Explainer) -> None:
    model = LogisticRegression().fit(X, y)
    row = X[model.predict(X) == NO].iloc[0]
    caused = replace(tree.space, causes=Causal({NAMES[0]: {NAMES[1]: 0.5}}))
    acted = Explainer(model, caused).explain(row, room=Box(0.01), target=YES, time_limit=20.0)
    kept = Explainer(model, tree.space).explain(row, room=Box(0.01), target=YES, keeps=Probability(0.9, sigma=0.01))
    for region in (acted, kept):
        attack(model.predict, region.body, YES)
    harmless(acted, kept)
    assert acted.actions is not None and acted.actions.any()
