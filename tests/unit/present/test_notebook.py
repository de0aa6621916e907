"""What a notebook and a prompt show of every answer: their own words, never an address in memory."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Box, Explainer, Space, Undecided

X = pd.DataFrame({"income <b>": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "age": [30.0, 20.0, 50.0, 40.0, 25.0, 60.0]})


@pytest.fixture(scope="module")
def shown() -> dict[str, object]:
    model = DecisionTreeClassifier(random_state=0).fit(X, X["income <b>"] > 3.5)
    explainer = Explainer(model, Space.from_frame(X))
    region = explainer.explain(X.iloc[0], room=Box(0.05))
    batch = explainer.explain_many(X.iloc[:2])
    return {
        "Region": region,
        "Frontier": explainer.frontier(X.iloc[0], radii=[0.0, 0.1]),
        "Widening": region.widen(),
        "Menu": explainer.menu(X.iloc[0], Box(0.05)),
        "BatchResult": batch,
        "Audit": batch.audit(["a", "b"]),
        "Space": explainer.space,
        "Explainer": explainer,
        "Certificate": region.certificate,
        "NoRegion": explainer.explain(X.iloc[0], room=Box(50.0)),
        "WhyNot": explainer.explain(X.iloc[0], room=Box(50.0)).why_not(),
        "GroupAnswer": explainer.explain_group(X.iloc[:3], room=Box(0.01)),
        "GroupActions": explainer.actions(X.iloc[:3], within=3.0, room=Box(0.01)),
        "CommonRegion": explainer.common_region(X.iloc[:3], room=Box(0.01)),
        "Counterexample": explainer.certify(X.iloc[0], Box(50.0)),
        "Undecided": Undecided("out <b> of time"),
        "RadiusResult": explainer.radius(X.iloc[0]),
        "KeptProbability": explainer.probability_kept(region, sigma=0.01),
    }


KINDS = ("Region", "Frontier", "Widening", "Menu", "BatchResult", "Audit", "Space", "Explainer", "Certificate", "NoRegion",
         "WhyNot", "GroupAnswer", "GroupActions", "CommonRegion", "Counterexample", "Undecided", "RadiusResult", "KeptProbability")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_is_shown_in_its_own_words(shown: dict[str, object], kind: str) -> None:
    answer = shown[kind]
    assert type(answer).__name__ == kind
    page = answer._repr_html_()  # type: ignore[attr-defined]
    assert re.search(r"<(p|table|div|ul|style)\b", page) and "<b>" not in page
    assert " at 0x" not in repr(answer) and " at 0x" not in page


def test_a_frontier_begins_with_what_it_says(shown: dict[str, object]) -> None:
    page = shown["Frontier"]._repr_html_()  # type: ignore[attr-defined]
    assert page.startswith("<p>A room of radius 0 is found at distance ") and "<table" in page
    part = shown["Frontier"][["radius", "distance"]]  # type: ignore[index]
    assert type(part) is pd.DataFrame and "<p>A room" not in part._repr_html_()


def test_moves_for_a_group_are_told_with_units_and_what_is_proven() -> None:
    model = DecisionTreeClassifier(random_state=0).fit(X, X["income <b>"] > 3.5)
    explainer = Explainer(model, Space.from_frame(X, units={"income <b>": "EUR"}), labels={True: "yes"})
    answer = explainer.explain_group(X.iloc[:3], room=Box(0.01))
    assert str(answer).startswith(
        "If income <b> rose by "
    ) and " EUR for every row, the model predicts 'yes' for all 3 rows" in str(answer)
    assert "no common move that serves 3 of these rows is shorter: proven" in str(answer)
    assert "income &lt;b&gt; rose" in answer._repr_html_()
    none = explainer.explain_group(X.iloc[:3], room=Box(50.0))
    assert not none and none.sentence().startswith("No common move for all 3 rows exists, and this is proven: ")
    few = explainer.actions(X.iloc[:3], within=3.0, room=Box(0.01))
    assert str(few).splitlines()[0].endswith("are needed: proven.") or "is needed: proven." in str(few)
    assert (
        "serve" in str(few)
        and "0" in str(few).splitlines()[1]
        and few._repr_html_().count("<li>") == len(few) + bool(few.unserved)
    )
